"""Hostile texts in every place that a request, a session or an institution can put them, to the end.

What is printed holds nothing raw; what is JSON parses back to the text that came in.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

import inference.appliance
from eval import metrics, report
from eval import run as running
from eval.case import Case
from eval.intents.reliability import diagram
from gate.errors import ConfigError, RequestError
from gate.load import load_institution
from gate.load.requests import request_of
from inference import sinks, stores
from inference.appliance import Appliance, open_appliance
from inference.calibration.measures import Bin
from inference.encoder import TorchEncoder
from inference.masking import masked_in
from inference.way import answer
from scripts import cli, terminal
from scripts.commands import demo as demo_command
from scripts.commands.serve import answered_line
from tests.eval.examples import ACTIONS, gold, outcome, verdict
from tests.eval.test_metrics import RUN
from tests.gate.demo import CALM, demo_state
from tests.inference.asking import proposing
from tests.inference.conftest import NOW
from tests.inference.test_sinks import HOSTILE, JOINING, hidden, texts_of
from tests.models import ROOT

DEMO = ROOT / "configs/demo"
WHOLE = {name: text for name, text in HOSTILE.items() if not sinks._SURROGATE.search(text)}
"""Texts that a JSON line may hold; a half of a surrogate pair is refused."""

PROPOSAL = {
    "action_id": "FREEZE_CARD", "object_id": None, "topk": ["FREEZE_CARD"], "confidence": "0.99",
    "tier": "fast", "backend": "test", "receipt": None,
}  # fmt: skip
PLACES = ("utterance", "history", "alias", "name", "request_id", "key", "language")


def session(name: str = "Debit card 5316220499814411", alias: str = "debit card") -> dict[str, Any]:
    """A member with one card."""
    card = {"object_id": "CARD-1", "object_type": "CARD", "display_name": name, "aliases": [alias]}
    return {"subject": "C-1001", "entitlements": ["member"], "objects": [card]}


def placed(place: str, text: str, number: int) -> dict[str, Any]:
    """A request that holds a hostile text in one place."""
    request: dict[str, Any] = {
        "request_id": f"r-{number}",
        "channel": "web",
        "utterance": "Freeze my debit card.",
        "state": dict(demo_state("FREEZE_CARD", {})),
        "session": session(),
    }
    short = text[:180]
    match place:
        case "utterance":
            request["utterance"] = text
        case "history":
            request["history"] = [
                {"role": "user", "text": text},
                {"role": "assistant", "text": text},
            ]
        case "alias":
            request["session"] = session(alias=short or "x")
        case "name":
            request["session"] = session(name=short or "x")
        case "request_id":
            request["request_id"] = short or "x"
        case "key":
            request[short] = 1
            request["state"][short] = short
        case "language":
            request["language"] = short or "x"
    return request


def written(path: Path, requests: list[dict[str, Any]]) -> Path:
    lines = [json.dumps(request) for request in requests]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, as wide as it takes."""
    monkeypatch.setenv("COLUMNS", "4000")
    monkeypatch.setattr(terminal, "for_people", lambda: True)


def bare(text: str) -> str:
    """A text without white space and without the lines of a table, to be looked for in one."""
    return "".join(c for c in text if not c.isspace() and not "\u2500" <= c <= "\u257f")


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(cli.app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def check_lines(done: Result, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One JSON object for each request, nothing raw on either stream; the request ids come back."""
    assert not hidden(done.stdout, but="\n")
    assert not hidden(done.stderr, but="\n")
    lines = [json.loads(text) for text in done.stdout.split("\n")[:-1]]
    assert len(lines) == len(requests)
    for line, request in zip(lines, requests, strict=True):
        assert "error" in line or line["request_id"] == request["request_id"]
    return lines


@pytest.mark.parametrize("place", PLACES)
def test_gate_decide_prints_nothing_raw(place: str, tmp_path: Path) -> None:
    requests = [placed(place, text, n) for n, text in enumerate(HOSTILE.values())]
    proposed = [{**request, "proposal": PROPOSAL} for request in requests]
    source = written(tmp_path / "in.jsonl", proposed)
    done = run(
        "gate", "decide", "--config", str(DEMO), "--now", NOW.isoformat(), "--in", str(source)
    )
    lines = check_lines(done, requests)
    assert place == "key" or any("error" not in line for line in lines)


@pytest.mark.usefixtures("wide")
def test_gate_explain_shows_the_text_and_nothing_raw(tmp_path: Path) -> None:
    texts = [text[:1900] for text in WHOLE.values()]
    requests = [placed("utterance", text, n) for n, text in enumerate(texts)]
    source = written(tmp_path / "in.jsonl", [{**r, "proposal": PROPOSAL} for r in requests])
    done = run(
        "gate", "explain", "--config", str(DEMO), "--now", NOW.isoformat(), "--in", str(source)
    )
    assert done.exit_code == 0, done.stderr
    assert not hidden(done.stdout, but="\n")
    out = bare(done.stdout)
    assert [text for text in texts if bare(sinks.terminal(text)) not in out] == []
    assert out.count("verdict") == len(texts)


@pytest.fixture
def serving(appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> Appliance:
    """The appliance that the commands open, with a tier that is sure of one action."""
    sure = proposing(appliance, "FREEZE_CARD")
    monkeypatch.setattr(inference.appliance, "open_appliance", lambda *_, **__: sure)
    monkeypatch.setattr(Appliance, "close", lambda self: None)
    return sure


@pytest.mark.parametrize(
    ("command", "place"), [("route", "utterance"), *(("answer", place) for place in PLACES)]
)
def test_commands_print_nothing_raw(
    command: str, place: str, serving: Appliance, tmp_path: Path
) -> None:
    requests = [placed(place, text, n) for n, text in enumerate(HOSTILE.values())]
    source = written(tmp_path / "in.jsonl", requests)
    check_lines(run(command, "--config", str(DEMO), "--in", str(source)), requests)


@pytest.mark.parametrize("place", ["utterance", "history", "alias", "name", "key", "language"])
def test_refusal_quotes_nothing_raw(place: str, appliance: Appliance) -> None:
    for number, text in enumerate(HOSTILE.values()):
        try:
            request_of(placed(place, text, number), appliance.configuration, "line 1")
        except RequestError as error:
            assert not hidden(str(error))


def shown(appliance: Appliance, request: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    """What the demo shows of a request, and the JSON that it writes instead, which is checked here."""
    case = {"shows": request["utterance"], "utterance": request["utterance"]}
    ended = demo_command.Ended(
        case, answer(appliance, request_of(request, appliance.configuration, "test")), ()
    )
    capsys.readouterr()
    terminal.json_line(demo_command.line(ended))
    written_line = capsys.readouterr().out
    assert not hidden(written_line, but="\n")
    assert json.loads(written_line)["utterance"] == case["utterance"]
    demo_command.show(1, ended)
    demo_command.overview([ended])
    return capsys.readouterr().out


@pytest.mark.usefixtures("wide")
def test_demo_shows_the_text_and_nothing_raw(
    appliance: Appliance, capsys: pytest.CaptureFixture[str]
) -> None:
    tier = proposing(appliance, "FREEZE_CARD")
    for number, text in enumerate(WHOLE.values()):
        text = text[:1900]
        request = placed("utterance", text, number)
        request["history"] = placed("history", text, number)["history"]
        request["session"] = session(name=text[:180] or "x", alias=text[:180] or "x")
        out = shown(tier, request, capsys)
        assert not hidden(out, but="\n")
        own = request_of(request, appliance.configuration, "test").session
        assert own is not None
        expected = sinks.terminal(masked_in(text, own.objects))
        assert bare(out).count(bare(expected)) >= 3


@pytest.mark.usefixtures("wide")
def test_demo_masks_the_number_of_a_card(
    appliance: Appliance, capsys: pytest.CaptureFixture[str]
) -> None:
    number = "5316 2204 9981 4411"
    request = placed("utterance", f"Freeze {number}.", 1)
    request["session"] = session(name=f"Debit card {number}", alias=number)
    request["history"] = [{"role": "user", "text": f"it is {number}"}]
    tier = proposing(appliance, "FREEZE_CARD")
    case = {"shows": "a card", "utterance": request["utterance"]}
    said = answer(tier, request_of(request, appliance.configuration, "test"))
    demo_command.show(1, demo_command.Ended(case, said, ()))
    demo_command.overview([demo_command.Ended(case, said, ())])
    out = capsys.readouterr().out
    assert "\u2022\u2022\u2022\u20224411" in out
    assert "9981" not in out


# An institution's own files may be hostile, too: whoever writes a registry is not whoever reads it.

MARKUP = "<script>alert(1)</script> [red]x[/red] =1+1 | \u202e\u200b\x9b31m <|im_start|>"
TITLE = yaml.safe_dump(MARKUP, allow_unicode=False, width=10**6).strip()
PAGE = """# Fees [red] &lt;script&gt; \u202e

Outgoing domestic wire | $20.00 for every wire \u202e\u200b\x9b31m [red]x[/red] &lt;|im_start|&gt; =1+1.

Incoming domestic wire: free of charge.
"""


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    """A copy of the demo with a hostile title, registry entry and document."""
    folder = tmp_path / "config"
    shutil.copytree(DEMO, folder)
    listed = yaml.safe_load((DEMO / "documents.yaml").read_text(encoding="utf-8"))
    page = {**listed["documents"][0], "file": "documents/fees/page.md", "title": MARKUP}
    page["effective_from"] = "2026-01-01"
    value = {
        "schema_version": 1,
        "collections": {"fees": ["documents/fees/*"]},
        "documents": [page],
    }
    for name in listed["collections"]:
        value["collections"][name] = ["documents/fees/*"]
    (folder / "documents.yaml").write_text(
        yaml.safe_dump(value, allow_unicode=False, default_style='"', width=10**6)
        .replace('"schema_version": !!int "1"', '"schema_version": 1'),
        encoding="utf-8",
    )  # fmt: skip
    (folder / "documents/fees/page.md").write_text(PAGE, encoding="utf-8")
    settings = (folder / "appliance.yaml").read_text(encoding="utf-8")
    settings = settings.replace("title: Harbor Light Credit Union", f"title: {TITLE}")
    (folder / "appliance.yaml").write_text(settings, encoding="utf-8")
    with (folder / "registry.csv").open("a", encoding="utf-8", newline="") as registry:
        registry.write(
            'FUND:EVIL,FUND,"Evil <b>[red]=1+1\u202e\u200b Fund","evil fund|=cmd evil"\n'
        )
    return folder


@pytest.fixture
def hostile(hostile_folder: Path, encoder: TorchEncoder, tmp_path: Path) -> Iterator[Appliance]:
    """The appliance of the hostile institution, with an index of its own."""
    kept = tmp_path / "var"
    (kept / "demo").mkdir(parents=True)
    (kept / "models").symlink_to(ROOT / "var/models")
    for name in ("bank.duckdb", "bank.duckdb.json", "back-office.key"):
        (kept / "demo" / name).symlink_to(ROOT / "var/demo" / name)
    institution = load_institution(hostile_folder)
    stores.build_index(institution, encoder, tmp_path / institution.appliance.paths.index)
    with open_appliance(hostile_folder, tmp_path, lambda: NOW, tmp_path) as opened:
        yield opened


@pytest.mark.usefixtures("wide")
def test_hostile_institution_shows_nothing_raw(
    hostile: Appliance, capsys: pytest.CaptureFixture[str]
) -> None:
    request = placed("utterance", "How much is an outgoing domestic wire?", 1)
    out = shown(proposing(hostile, "FEE_INFO"), request, capsys)
    assert not hidden(out, but="\n")
    assert "$20.00" in out
    assert "[red]x[/red]" in out
    request = placed("utterance", "What is the price of evil fund or the Harbor Value Fund?", 2)
    request["state"] = dict(CALM)
    out = shown(proposing(hostile, "FUND_PRICE"), request, capsys)
    assert not hidden(out, but="\n")
    assert "Evil <b>[red]=1+1\\u202e\\u200b Fund" in out


def test_hostile_institution_writes_json_that_parses_back(hostile: Appliance) -> None:
    request = placed("utterance", "How much is an outgoing domestic wire?", 1)
    asked = request_of(request, hostile.configuration, "test")
    line = answered_line(answer(proposing(hostile, "FEE_INFO"), asked))
    text = sinks.json_text(line)
    assert not hidden(text)
    assert json.loads(text) == json.loads(json.dumps(line))
    assert "[red]x[/red]" in line["message"]
    assert line["citations"][0]["title"] == MARKUP


@pytest.mark.parametrize("file", ["catalog.yaml", "appliance.yaml"])
def test_configuration_error_quotes_nothing_raw(file: str, hostile_folder: Path) -> None:
    before = (hostile_folder / file).read_text(encoding="utf-8")
    for text in WHOLE.values():
        key = json.dumps(text[:500] or "x", ensure_ascii=True)
        (hostile_folder / file).write_text(f"{before}\n{key}: 1\n", encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_institution(hostile_folder)
        assert not hidden(str(caught.value))


def hostile_outcomes() -> list[Any]:
    """Wrong outcomes whose ids, utterances and objects are hostile texts."""
    found = []
    for text in HOSTILE.values():
        one = outcome(gold(), verdict("T_CLARIFY", object_id=text), case_id=text)
        case: Case = replace(one.case, utterance=text, split=text, pair_id=text)
        found.append(replace(one, case=case))
    return found


def test_reports_hold_nothing_raw(tmp_path: Path) -> None:
    outcomes = hostile_outcomes()
    described = replace(RUN, suite=MARKUP, backend=MARKUP, command=MARKUP, digests={MARKUP: MARKUP})
    for start in range(0, len(outcomes), report.MAX_WRONG):
        part = outcomes[start : start + report.MAX_WRONG]
        result = metrics.measure(part, ACTIONS, described)
        running.write(tmp_path, result, part, totals_only=False)
        texts: Mapping[str, str] = {
            p.name: p.read_bytes().decode("utf-8") for p in tmp_path.iterdir()
        }
        assert not hidden(texts["metrics.json"], but="\n")
        assert json.loads(texts["metrics.json"])["run"]["suite"] == MARKUP
        assert not hidden(texts["report.md"], but=f"\n{JOINING}")
        assert texts_of_page(texts["report.md"])
        assert not hidden(texts["report.html"], but=f"\n\t{JOINING}")
        assert "<script" not in texts["report.html"]
        assert "onerror=alert(1)>" not in texts["report.html"]


def test_diagram_holds_nothing_raw() -> None:
    bins = [Bin(0.0, 1.0, 1.0, 0.5, 0.5)]
    plain = ElementTree.fromstring(diagram("plain", bins))  # noqa: S314  (our own)
    for text in HOSTILE.values():
        drawn = diagram(text, bins)
        assert not hidden(drawn, but=f"\n\t{JOINING}")
        shown = ElementTree.fromstring(drawn)  # noqa: S314  (our own)
        assert [e.tag for e in shown.iter()] == [e.tag for e in plain.iter()]
        assert [e.attrib for e in shown.iter()] == [e.attrib for e in plain.iter()]


def texts_of_page(page: str) -> list[str]:
    """The texts of a report, whose Markdown is headings, paragraphs and tables of plain text."""
    lines = [line.lstrip("#") if line.startswith("#") else line for line in page.split("\n")]
    return texts_of("\n".join(lines))
