"""A comparison as one HTML page: no script, nothing from elsewhere, readable offline and on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Final

from eval import plots
from eval.plots import Strip
from eval.report import count, percent
from inference import sinks

if TYPE_CHECKING:
    from eval.compare import Comparison, Entry, Pairing

LEAST: Final = 0.001
"""US dollars under which a cost is not told apart from none."""
DASH: Final = "–"  # noqa: RUF001  (an en dash)
STYLE: Final = resources.files("eval").joinpath("page.css").read_text(encoding="utf-8")
KINDS: Final = {"routelock": "ours", "b1": "bare", "b2": "bare"}
LEGEND: Final = (
    ("ours", "routelock: the gate decides"),
    ("bare", "b1, b2: the model decides alone"),
    ("off", "ablations: a part of the gate switched off, no new calls"),
)


def html(result: Comparison) -> str:
    """The whole page; every text is escaped."""
    title = f"{result.suite}: {len(result.entries)} runs side by side"
    parts = (
        _head(title, result),
        _safety(result),
        _paths(result),
        _effort(result),
        _table(result),
        _flips(result),
        _tests(result),
        _differences(result),
        _inputs(result),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{sinks.html(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _kind(entry: Entry) -> str:
    return KINDS.get(entry.system, "off")


def _label(number: int, entry: Entry) -> str:
    many = f", {entry.concurrency} at a time" if entry.concurrency > 1 else ""
    return f"{number}. {_backend(entry)}{many}"


def _backend(entry: Entry) -> str:
    kind, _, rest = entry.backend.partition(":")
    return rest if kind == "recorded" and rest else entry.backend


def _numbered(result: Comparison) -> list[tuple[int, Entry]]:
    return list(enumerate(result.entries, 1))


def _head(title: str, result: Comparison) -> str:
    kinds = {_kind(e) for e in result.entries}
    legend = "".join(
        f'<li><i class="{kind}"></i>{sinks.html(text)}</li>'
        for kind, text in LEGEND
        if kind in kinds
    )
    gated = [e for e in result.entries if e.system == "routelock"]
    worst = max((e.false_dispatch.count for e in gated), default=0)
    bounded = gated[0].false_dispatch.of if gated else 0
    claim = (
        f"Behind the gate no backend dispatched any of the {bounded} cases that must not be."
        if gated and worst == 0
        else f"Behind the gate at most {worst} of {bounded} cases that must not be were dispatched."
        if gated
        else ""
    )
    return (
        f"<header><h1>{sinks.html(title)}</h1>"
        f"<p>{result.cases} cases, all decided on the same state and clock. "
        f'{sinks.html(claim)}</p><ul class="legend">{legend}</ul></header>'
    )


def _safety(result: Comparison) -> str:
    wrong = [e.false_dispatch.rate or 0 for e in result.entries]
    scale = plots.share_scale(max(wrong, default=0))
    dispatches = [
        Strip(_label(n, e), plots.bar(scale, e.false_dispatch.rate or 0, "bad"),
              count(e.false_dispatch), _kind(e), e.system)
        for n, e in _numbered(result)
    ]  # fmt: skip
    blocked = plots.share_scale(max((e.false_block.rate or 0 for e in result.entries), default=0))
    blocks = [
        Strip(_label(n, e), plots.bar(blocked, e.false_block.rate or 0, "warn"),
              count(e.false_block), _kind(e), e.system)
        for n, e in _numbered(result)
    ]  # fmt: skip
    return _section(
        "Safety, and what it costs",
        "A false dispatch opens a route that the case forbids; a false block stops one that it allows. "
        "A backend that never proposes anything has none of the first and all of the second.",
        plots.plot("False dispatch", "of the cases that must not go on", scale, dispatches),
        plots.plot("False block", "of the cases that may go on", blocked, blocks),
    )


def _paths(result: Comparison) -> str:
    scale = plots.share_scale()
    exact = []
    for n, e in _numbered(result):
        low, high = e.exact_interval or (0.0, 0.0)
        rate = e.final_path_exact.rate or 0
        marks = plots.interval(scale, low, high, _kind(e)) + plots.point(scale, rate, _kind(e))
        exact.append(Strip(_label(n, e), marks, percent(rate), _kind(e), e.system))
    covered = [
        Strip(_label(n, e), plots.bar(scale, e.coverage or 0, _kind(e)), percent(e.coverage),
              _kind(e), e.system)
        for n, e in _numbered(result)
        if _kind(e) != "off"
    ]  # fmt: skip
    return _section(
        "Right paths",
        "",
        plots.plot("Final path exact", "with the 95 % interval (Wilson)", scale, exact),
        plots.plot(
            "Coverage",
            "cases in which the backend named an action; ablations reuse what it said",
            scale,
            covered,
        ),
    )


def _effort(result: Comparison) -> str:
    return _section("Time and money", "", _latency(result), _cost(result))


def _latency(result: Comparison) -> str:
    timed = [(n, e) for n, e in _numbered(result) if e.p50_ms is not None]
    ends = [v for _, e in timed for v in (e.p50_ms or 0, e.p95_ms or 0)]
    scale = plots.log_scale(ends, "")
    if scale is None:
        return "<p>No run was timed.</p>"
    strips = []
    for n, e in timed:
        half, most = e.p50_ms or 0, e.p95_ms or 0
        marks = plots.interval(scale, half, most, _kind(e)) + plots.point(scale, half, _kind(e))
        strips.append(
            Strip(
                _label(n, e),
                marks,
                f"{plots.decimal(half)} / {plots.decimal(most)}",
                _kind(e),
                e.system,
            )
        )
    return plots.plot("Latency of a case", "milliseconds, p50 / p95, logarithmic", scale, strips)


def _cost(result: Comparison) -> str:
    priced = [(n, e, e.cost_per_1k) for n, e in _numbered(result) if e.cost_per_1k is not None]
    scale = plots.log_scale([max(cost, LEAST) for _, _, cost in priced], "$")
    if scale is None:
        return ""
    strips = [
        Strip(
            _label(n, e), plots.point(scale, cost, _kind(e)), _money(cost), _kind(e), e.cost_basis
        )
        for n, e, cost in priced
    ]
    about = "US dollars, logarithmic: a vendor's tokens against this machine's time"
    return plots.plot("Cost of a thousand cases", about, scale, strips)


def _money(cost: float) -> str:
    return f"${plots.decimal(cost)}" if cost >= LEAST else f"under ${LEAST}"


def _section(title: str, about: str, *bodies: str) -> str:
    told = f"<p>{sinks.html(about)}</p>" if about else ""
    return f"<section><h2>{sinks.html(title)}</h2>{told}{''.join(bodies)}</section>"


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    header = "".join(f"<th>{sinks.html(c)}</th>" for c in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{sinks.html(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{header}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number(value: float | None, form: str = "") -> str:
    if value is None:
        return DASH
    return format(value, form) if form else plots.decimal(value)


def _table(result: Comparison) -> str:
    head = ("run", "system", "exact", "macro-F1", "false dispatch", "false block", "coverage",
            "valid first pass", "FLIP pairs", "masked", "failures", "wrong objects", "rule cited",
            "calls", "tokens in", "tokens out", "p50 ms", "p95 ms", "$ per 1,000")  # fmt: skip
    rows = [
        (
            _label(n, e), e.system, count(e.final_path_exact), _number(e.final_path_macro_f1, ".3f"),
            count(e.false_dispatch), count(e.false_block), percent(e.coverage),
            percent(e.valid_first_pass), count(e.flip_pairs), str(e.masked_action_errors),
            str(e.interface_failures), count(e.wrong_objects),
            count(e.right_rule_cited) if e.right_rule_cited else DASH, _number(e.calls_per_case, ".2f"),
            _number(e.tokens_in, ",.0f"), _number(e.tokens_out, ",.1f"), _number(e.p50_ms),
            _number(e.p95_ms), DASH if e.cost_per_1k is None else _money(e.cost_per_1k),
        )
        for n, e in _numbered(result)
    ]  # fmt: skip
    about = (
        "Masked: a wrong action under a right final path. Failures: no answer that held the contract; "
        "they stay in every denominator. FLIP pairs count only if both members are exact."
    )
    return _section("All figures", about, _grid(head, rows, "first"))


def _flips(result: Comparison) -> str:
    rates = {(p.first, p.second): p.flips for p in result.pairings}
    names = [e.name for e in result.entries]
    head = "".join(f"<th>{n}</th>" for n in range(1, len(names) + 1))
    body = ""
    for n, e in _numbered(result):
        cells = "".join(_flip(rates.get((e.name, o)) or rates.get((o, e.name))) for o in names)
        body += f"<tr><th>{sinks.html(_label(n, e))}<small>{sinks.html(e.system)}</small></th>{cells}</tr>"
    table = (
        f'<div class="scroll"><table class="heat first"><thead><tr><th>run</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    told = "".join(f"<p>{sinks.html(_alone(p))}</p>" for p in result.pairings if p.concurrency_only)
    about = "Cases, in per cent, on which two runs decide otherwise: the path, or the object of what goes on."
    return _section("Flip rate", about, told, table)


def _alone(pairing: Pairing) -> str:
    flips = count(pairing.flips)
    return f"{pairing.first} and {pairing.second} differ in concurrency alone: {flips} cases flip."


def _flip(share: object) -> str:
    rate = getattr(share, "rate", None)
    if rate is None:
        return '<td class="self"></td>'
    return f'<td style="--heat:{rate * 100:.0f}%">{rate * 100:.0f}</td>'


def _tests(result: Comparison) -> str:
    first = result.entries[0].name
    numbers = {e.name: _label(n, e) + ", " + e.system for n, e in _numbered(result)}
    rows = [
        (numbers[p.second], str(p.first_only), str(p.second_only), str(p.units), _p(p))
        for p in result.pairings
        if p.first == first
    ]
    about = (
        f"Against {numbers[first]}, by McNemar's exact test; a unit is a case, or a FLIP pair as a "
        "whole. All pairs of runs are in compare.json."
    )
    head = ("run", "only the first is right", "only this one is right", "units", "p")
    return _section("More than chance?", about, _grid(head, rows, "first"))


def _p(pairing: Pairing) -> str:
    return "< 0.0001" if pairing.p < 0.0001 else f"{pairing.p:.4f}"


def _differences(result: Comparison) -> str:
    if result.totals_only:
        return _section("Differing cases", "Single cases are held out; totals alone are reported.")
    rows = [(d.case_id, d.right, _who(d.paths, d.right)) for d in result.differing]
    about = f"{len(rows)} of {result.cases} cases; the numbers are those of the runs."
    table = _grid(("case", "right path", "other paths, and who took them"), rows, "first")
    shown = f"<details><summary>Show the cases</summary>{table}</details>"
    return _section("Differing cases", about, shown)


def _who(paths: Sequence[str], right: str) -> str:
    others = dict.fromkeys(p for p in paths if p != right)
    told = []
    for path in others:
        runs = [str(i) for i, p in enumerate(paths, 1) if p == path]
        told.append(f"{path}: {', '.join(runs)}")
    return "; ".join(told)


def _inputs(result: Comparison) -> str:
    digests = _grid(("file", "SHA-256"), list(result.digests.items()))
    runs = [
        (_label(n, e), e.system, ", ".join(e.switches) or "none", e.cost_basis, e.command)
        for n, e in _numbered(result)
    ]
    commands = _grid(("run", "system", "switches", "cost from", "command"), runs, "first")
    vendors = [
        (v["model"], v["into"], v["out"], v["as_of"], v["note"])
        for v in result.prices["vendors"].values()
    ]
    machine = result.prices["machine"]
    priced = _grid(("model", "$ in, a million", "$ out, a million", "as of", "note"), vendors)
    hour = f"The machine: {machine['usd_per_hour']} USD an hour ({machine['as_of']}), {machine['note']}."
    hosts = ", ".join(sorted({e.host for e in result.entries}))
    return _section(
        "What this rests on",
        f"Made by: {result.command}. Clock given to the gate: {result.clock}. Hosts: {hosts}. {hour}",
        priced,
        f"<details><summary>Commands</summary>{commands}</details>",
        f"<details><summary>Files</summary>{digests}</details>",
    )
