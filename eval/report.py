"""A result as a page to read: sections of text and tables, written as Markdown and as HTML.

Every text passes the sink of its format. The HTML is one file without scripts or links to
elsewhere, so that it can be read offline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from eval.outcome import Outcome
from eval.result import Interval, Result, Share, Slice
from inference import sinks

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
    "th,td{border:1px solid #bbb;padding:.25rem .6rem;text-align:left}"
    "th{background:#eee}code{overflow-wrap:anywhere}"
)
MAX_WRONG = 50
"""Wrong cases that a report lists; `predictions.csv` has all of them."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, paragraphs, and at most one table with its header first."""

    title: str
    paragraphs: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


def sections(result: Result, outcomes: Sequence[Outcome]) -> tuple[Section, ...]:
    """The report of one run."""
    return (
        _summary(result),
        _figures(result),
        _slices("By split", result.by_split),
        _slices("By tier", result.by_tier),
        _effort(result),
        _owners(result),
        *([] if result.run.totals_only else [_wrong(outcomes)]),
        _inputs(result),
    )


def markdown(title: str, parts: Sequence[Section]) -> str:
    """The sections as Markdown."""
    lines = [f"# {sinks.markdown(title)}", ""]
    for part in parts:
        lines += [f"## {sinks.markdown(part.title)}", ""]
        lines += [line for text in part.paragraphs for line in (sinks.markdown(text), "")]
        if part.table:
            lines += [*_markdown_table(part.table), ""]
    return "\n".join(lines)


def _markdown_table(table: Sequence[Sequence[str]]) -> list[str]:
    rows = ["| " + " | ".join(map(sinks.markdown, row)) + " |" for row in table]
    return [rows[0], "|" + "---|" * len(table[0]), *rows[1:]]


def html(title: str, parts: Sequence[Section]) -> str:
    """The sections as one self-contained HTML page; every text is escaped."""
    body = "\n".join(_html_section(part) for part in parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{sinks.html(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{sinks.html(title)}</h1>\n{body}\n</body></html>\n"
    )


def _html_section(part: Section) -> str:
    texts = "".join(f"<p>{sinks.html(text)}</p>" for text in part.paragraphs)
    if not part.table:
        return f"<h2>{sinks.html(part.title)}</h2>{texts}"
    head, *rows = part.table
    header = "".join(f"<th>{sinks.html(c)}</th>" for c in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{sinks.html(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    table = f"<table><tr>{header}</tr>{body}</table>"
    return f"<h2>{sinks.html(part.title)}</h2>{texts}{table}"


def percent(share: float | None) -> str:
    """A fraction as a percentage with one decimal; a dash for nothing."""
    return "–" if share is None else f"{share * 100:.1f} %"  # noqa: RUF001  (an en dash)


def count(share: Share) -> str:
    """`count/of`."""
    return f"{share.count}/{share.of}"


def _between(interval: Interval | None) -> str:
    if interval is None:
        return "–"  # noqa: RUF001  (an en dash)
    return f"{percent(interval[0])} to {percent(interval[1])}"


def _summary(result: Result) -> Section:
    run = result.run
    off = ", ".join(run.switches) or "none: every check is on"
    inert = ", ".join(run.inert) or "none"
    texts = [
        f"{result.cases} cases of {run.suite}, system {run.system}, backend {run.backend}.",
        f"Switches set: {off}.",
        f"Checks that the configuration cannot make: {inert}.",
    ]
    if result.published_paths is not None:
        same = count(result.published_paths)
        texts.append(f"Final paths equal to the published ones: {same}.")
    if run.concurrency > 1:
        texts.append(f"{run.concurrency} cases at a time.")
    if result.citations is not None:
        texts.append(f"Right rule cited: {count(result.citations)}.")
    if run.incomplete_pairs:
        texts.append(f"Pairs with one member only, not counted: {', '.join(run.incomplete_pairs)}.")
    return Section("What was run", tuple(texts))


def _figures(result: Result) -> Section:
    between = {name: _between(interval) for name, interval in result.intervals.items()}
    rows = [
        ("final path exact", percent(result.final_path_exact), between["final_path_exact"]),
        ("final path macro-F1", percent(result.final_path_macro_f1), ""),
        ("action accuracy", percent(result.action_accuracy), between["action_accuracy"]),
        ("object accuracy", percent(result.object_accuracy), between["object_accuracy"]),
        ("false dispatch", count(result.false_dispatch), between["false_dispatch"]),
        ("false block", count(result.false_block), between["false_block"]),
        ("wrong object dispatched", count(result.wrong_objects), ""),
        (
            "FLIP pairs exact",
            f"{result.flip_pairs.exact}/{result.flip_pairs.of}",
            between["flip_pairs"],
        ),
        ("wrong action under a right path", str(result.masked_action_errors), ""),
        ("coverage", percent(result.coverage), between["coverage"]),
    ]
    return Section("Figures", (), (("figure", "value", "95 % interval (Wilson)"), *rows))


def _slices(title: str, slices: Mapping[str, Slice]) -> Section:
    head = ("", "cases", "exact", "action", "object", "false dispatch", "false block", "coverage")
    rows = [
        (
            name, str(s.cases), percent(s.final_path_exact), percent(s.action_accuracy),
            percent(s.object_accuracy), count(s.false_dispatch), count(s.false_block),
            percent(s.coverage),
        )
        for name, s in slices.items()
    ]  # fmt: skip
    return Section(title, (), (head, *rows))


def _effort(result: Result) -> Section:
    rows = [
        ("valid at the first pass", percent(result.valid_first_pass)),
        ("interface failures", str(result.interface_failures)),
        ("repairs", str(result.repairs)),
        ("fallbacks", str(result.fallbacks)),
        ("cases in which several rules hold", str(result.multi_rule_matches)),
        ("calls per case", _number(result.calls_per_case)),
        ("tokens in per case", _number(result.tokens_per_case.into)),
        ("tokens out per case", _number(result.tokens_per_case.out)),
        ("latency p50, ms", _number(result.latency_ms.p50)),
        ("latency p95, ms", _number(result.latency_ms.p95)),
        ("cost per 1,000 cases, USD", _number(result.cost_per_1k)),
    ]
    return Section("Effort", (), (("figure", "value"), *rows))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"  # noqa: RUF001  (an en dash)


def _owners(result: Result) -> Section:
    rows = [(name, str(number)) for name, number in asdict(result.errors_by_owner).items()]
    return Section("Wrong final paths by what made them wrong", (), (("owner", "cases"), *rows))


def _wrong(outcomes: Sequence[Outcome]) -> Section:
    wrong = [o for o in outcomes if not o.exact]
    if not wrong:
        return Section("Wrong cases", ("None.",))
    more = len(wrong) - MAX_WRONG
    texts = (f"{more} more are in predictions.csv.",) if more > 0 else ()
    head = ("case", "right path", "path", "right object", "object", "decided by", "reasons")
    rows = [
        (
            o.case.case_id, o.case.gold.final_path, o.path, o.case.gold.object_id,
            o.verdict.object_id, o.verdict.rule_id, ", ".join(o.verdict.reason_codes),
        )
        for o in wrong[:MAX_WRONG]
    ]  # fmt: skip
    return Section("Wrong cases", texts, (head, *rows))


def _inputs(result: Result) -> Section:
    run = result.run
    texts = (
        f"Command: {run.command}",
        f"Host: {run.host}. Clock given to the gate: {run.clock}.",
        "Seeds: " + (", ".join(f"{k} {v}" for k, v in run.seeds.items()) or "none") + ".",
    )
    return Section("Inputs", texts, (("file", "SHA-256"), *run.digests.items()))
