"""Recording a hosted backend: nothing personal leaves, money is capped, cassettes replay, the ledger knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from eval import hosted, personal
from eval.errors import ProposerError
from eval.opening import open_suite
from eval.suite import Suite
from gate.ledger.store import Ledger
from gate.load import load_institution
from gate.load.backends import BackendEntry, Bounds, Prices
from gate.load.institution import Institution
from inference.backends import Usage, recorded
from tests.inference.backends.fault_server import MODEL, FaultServer, Said, running
from tests.models import ROOT

PRICES = Prices("2026-11-30", "USD", Decimal("1"), Decimal("2"))
BOUNDS = Bounds(deadline_s=15, attempts=1)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with running() as told:
        yield told


@pytest.fixture
def suite() -> Suite:
    """Three cases of the demo's own development part."""
    opened = open_suite("demo:dev", Path(), root=ROOT)
    clean = [c for c in opened.cases if not personal.kinds(c.utterance)]
    return replace(opened, cases=tuple(clean[:3]))


def institution(server: FaultServer, folder: Path, **changes: Any) -> Institution:
    """The demo with one hosted backend, which is the fault server, and its ledger in `folder`."""
    demo = load_institution(ROOT / "configs/demo")
    vendor = BackendEntry(
        "vendor", "openai", f"{server.url}/v1", hosted=True, model=MODEL, identities=(MODEL,),
        form="json", constraint="json_schema", require_constrained=False, bounds=BOUNDS,
        prices=PRICES,
    )  # fmt: skip
    entry = replace(vendor, **changes)
    paths = replace(
        demo.appliance.paths,
        ledger=str(folder / "ledger.sqlite"),
        receipts=str(folder / "receipts.sqlite"),
    )
    return replace(
        demo,
        appliance=replace(demo.appliance, paths=paths),
        backends=MappingProxyType({"vendor": entry}),
    )


def record(
    server: FaultServer, suite: Suite, folder: Path, cap: str = "1", dry_run: bool = False
) -> dict[str, Any]:
    return hosted.record(
        suite,
        institution(server, folder),
        "vendor",
        cap=Decimal(cap),
        out=folder / "cassette.jsonl",
        dry_run=dry_run,
    )


def events(folder: Path) -> list[dict[str, Any]]:
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return [one.record["detail"] for one in ledger.iterate() if one.kind == "CONFIG"]


def test_dry_run_sends_nothing_and_reckons_more_than_the_real_one(
    server: FaultServer, suite: Suite, tmp_path: Path
) -> None:
    dry = record(server, suite, tmp_path, dry_run=True)
    assert (server.calls, dry["sent"], dry["would_send"]) == (0, 0, 3)
    assert not (tmp_path / "cassette.jsonl").exists()
    real = record(server, suite, tmp_path)
    assert (server.calls, real["sent"]) == (3, 3)
    assert Decimal(dry["money"]) > Decimal(real["money"]) > 0
    assert dry["tokens_in"] > real["tokens_in"]
    assert real["prices_as_of"] == "2026-11-30"


def test_cassette_replays_without_a_server_and_is_not_paid_for_twice(
    server: FaultServer, suite: Suite, tmp_path: Path
) -> None:
    record(server, suite, tmp_path)
    again = record(server, suite, tmp_path)
    assert (server.calls, again["sent"], again["kept"], again["money"]) == (3, 0, 3, "0.000000")
    cassette = recorded.load("vendor", tmp_path / "cassette.jsonl")
    assert cassette.form == "json"
    assert len(cassette.latencies) == 3


def test_every_use_is_an_event_in_the_ledger(
    server: FaultServer, suite: Suite, tmp_path: Path
) -> None:
    record(server, suite, tmp_path, dry_run=True)
    record(server, suite, tmp_path)
    found = events(tmp_path)
    assert [(e["stage"], e["dry_run"], e["sent"]) for e in found] == [
        *(("begun", True, 0), ("ended", True, 0)),
        *(("begun", False, 0), ("ended", False, 3)),
    ]
    assert {e["event"] for e in found} == {"BENCH_RECORD"}


def test_cap_stops_before_it_is_passed(server: FaultServer, suite: Suite, tmp_path: Path) -> None:
    most = Decimal(record(server, suite, tmp_path / "dry", dry_run=True)["money"]) / 3
    real = hosted.cost(PRICES, Usage(1, 50, 2))
    told = record(server, suite, tmp_path, cap=str(most + real))
    assert (told["sent"], told["left_out"]) == (2, {"spending_cap": 1})
    assert Decimal(told["money"]) == 2 * real
    assert record(server, suite, tmp_path / "none", cap="0")["sent"] == 0


def test_prompt_with_personal_data_stays_here(
    server: FaultServer, suite: Suite, tmp_path: Path
) -> None:
    leaking = replace(suite.cases[0], utterance="call me on +41 79 555 01 02 about a wire")
    told = record(server, replace(suite, cases=(leaking, suite.cases[1])), tmp_path)
    assert told["left_out"] == {"personal_data": 1}
    assert server.calls == 1
    assert all(b"555" not in raw for raw in server.raw)


def test_failed_call_is_counted_as_if_it_had_been_charged(
    server: FaultServer, suite: Suite, tmp_path: Path
) -> None:
    server.behave = lambda body: Said((b"{}",), 500)
    told = record(server, suite, tmp_path)
    assert told["left_out"] == {"backend_error": 3}
    assert Decimal(told["money"]) > 0
    assert not (tmp_path / "cassette.jsonl").exists()


@pytest.mark.parametrize(
    ("changes", "why"), [({"hosted": False}, "not hosted"), ({"prices": None}, "no `prices`")]
)
def test_only_a_hosted_backend_with_prices_is_recorded(
    server: FaultServer, suite: Suite, tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    declared = institution(server, tmp_path, **changes)
    for name, reason in (("vendor", why), ("other", "declares no `other`")):
        with pytest.raises(ProposerError, match=reason):
            hosted.record(suite, declared, name, cap=Decimal(1), out=tmp_path / "c", dry_run=True)


def test_sealed_suite_may_not_leave(server: FaultServer, suite: Suite, tmp_path: Path) -> None:
    with pytest.raises(ProposerError, match="sealed"):
        record(server, replace(suite, totals_only=True), tmp_path)
    assert server.calls == 0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("what does a wire cost", ()),
        ("price of 510300 today", ()),
        ("send it to anna@example.com", ("email",)),
        ("anna at example dot com", ("email",)),
        ("my number is 079 555 01 02", ("number",)),
        ("card 4111 1111 1111 1111", ("number",)),
        ("\uff11\uff12\uff13\uff14\uff15\uff16\uff17", ("number",)),
        ("CH93 0076 2011 6238 5295 7", ("iban", "number")),
        ("my ssn is 123-45-6789", ("identity", "number")),
        ("my name is Anna", ("name",)),
        ("我叫李雷", ("name",)),
        ("I was born in May", ("birthday",)),
        ("ship to 12 Elm Street", ("address",)),
        ("北京市长安路 12 号", ("address",)),
    ],
)
def test_what_looks_personal(text: str, kinds: tuple[str, ...]) -> None:
    assert personal.kinds(text) == kinds


def test_reckoned_tokens_are_no_less_than_the_real_ones(suite: Suite) -> None:
    """By the embedded model's own tokenizer, for English and Chinese."""
    from transformers import AutoTokenizer

    from inference import prompts
    from inference.question import Question
    from tests.models import PROPOSER, model

    tokenizer = AutoTokenizer.from_pretrained(model(PROPOSER).folder, local_files_only=True)
    static = prompts.json_part(suite.configuration.catalog)
    for text in ("what does a wire cost", "基金今天的价格是多少，能不能告诉我"):
        prompt = prompts.prompt(static, Question(text))
        real = len(tokenizer.encode(prompt.static + prompt.dynamic))
        assert (hosted.reckoned(prompt).tokens_in or 0) >= real
