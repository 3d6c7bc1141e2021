"""The demo institution under the RouteBR protocol: sealed, whole, unseen; DEV decided as stated."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval import metrics, run
from eval.audit import digest
from eval.case import OUT_OF_SCOPE
from eval.errors import SuiteError
from eval.opening import open_suite
from eval.outcome import Outcome
from eval.proposers.answer import Answer, Backing
from eval.suite import Suite
from eval.suites.demo import labels, protocol
from eval.systems import gated, open_system
from gate.records import OutOfScope, Proposal, Switches

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"dev": (60, 8), "select": (80, 10), "confirm": (120, 16)}
NEAR = 0.8
"""Share of words in common from which two texts are near-duplicates."""


def rows(part: str) -> list[dict[str, str]]:
    with (protocol.FOLDER / f"{part}.csv").open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.fixture(scope="module")
def dev() -> Suite:
    return protocol.open_suite("dev", root=ROOT)


@pytest.mark.parametrize("part", protocol.PARTS)
def test_part_has_the_digest_that_was_committed(part: str) -> None:
    assert digest(protocol.FOLDER / f"{part}.csv", protocol.sums())


@pytest.mark.parametrize("part", protocol.PARTS)
def test_part_has_its_size_and_whole_pairs(part: str) -> None:
    found = rows(part)
    pairs = Counter(r["pair_id"] for r in found if r["pair_id"])
    assert (len(found), len(pairs)) == SIZES[part]
    assert set(pairs.values()) == {2}
    assert {r["pair_id"] != "" for r in found if r["split"] == "FLIP"} == {True}


@pytest.mark.parametrize("part", ["dev", "select"])
def test_part_is_audited_and_covers_every_action(part: str) -> None:
    suite = protocol.open_suite(part, root=ROOT)
    assert suite.audit.pairs == SIZES[part][1]
    assert (suite.audit.overlap, suite.audit.half_pairs, suite.audit.sealed) == (0, 0, True)
    actions = {c.gold.action for c in suite.cases}
    assert actions == {*suite.configuration.catalog.actions, OUT_OF_SCOPE}
    assert suite.totals_only is (part != "dev")


def test_confirm_is_sealed() -> None:
    with pytest.raises(SuiteError, match="sealed"):
        open_suite("demo:confirm", Path(), root=ROOT)


def test_unknown_part_is_refused() -> None:
    with pytest.raises(SuiteError, match="no part is called"):
        open_suite("demo:test", Path(), root=ROOT)


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", text.lower()))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from strings(part)


def known() -> list[str]:
    """Texts that something learns from or matches, and the other held-out ones."""
    with (ROOT / protocol.EXAMPLES).open(encoding="utf-8", newline="") as opened:
        learnt = [r["text"] for r in csv.DictReader(opened)]
    with labels.FILE.open(encoding="utf-8", newline="") as opened:
        heldout = [r["text"] for r in csv.DictReader(opened)]
    return [*learnt, *heldout]


def test_no_text_is_a_near_duplicate_of_what_is_learnt_from() -> None:
    seen = [words(text) for text in known()]
    near = [
        row["case_id"]
        for part in protocol.PARTS
        for row in rows(part)
        if any(
            len(words(row["utterance"]) & w) / len(words(row["utterance"]) | w) >= NEAR
            for w in seen
        )
    ]
    assert near == []


def test_no_text_is_a_phrase_of_the_institution() -> None:
    raw = yaml.safe_load((ROOT / "configs/demo/phrases.yaml").read_text(encoding="utf-8"))
    phrases = {words(text) for text in strings(raw)}
    texts = [row["utterance"] for part in protocol.PARTS for row in rows(part)]
    assert [text for text in texts if words(text) in phrases] == []


def test_parts_share_no_near_duplicates() -> None:
    texts = {row["utterance"]: part for part in protocol.PARTS for row in rows(part)}
    listed = [(words(text), part) for text, part in texts.items()]
    assert not [
        (a, b)
        for i, (a, p) in enumerate(listed)
        for b, q in listed[:i]
        if p != q and len(a & b) / len(a | b) >= NEAR
    ]


class Right:
    """A proposer that is always right; it shows what the gate alone makes of the cases."""

    name = "right"
    switches = Switches(ignore_confidence=True)
    backing = Backing()

    def __init__(self, suite: Suite) -> None:
        self.gold = {c.case_id: c.gold.action for c in suite.cases}

    def propose(self, ask: Any) -> Answer:
        action = self.gold[ask.case_id]
        if action == OUT_OF_SCOPE:
            return Answer(OutOfScope("right"))
        return Answer(Proposal(action, None, (action,), None, "right"))


def decided(suite: Suite, switches: Switches | None = None) -> tuple[Outcome, ...]:
    return run.decided(suite.cases, gated("routelock", suite, Right(suite), switches), None, 1)


@pytest.mark.parametrize("part", ["dev", "select"])
def test_gate_dispatches_nothing_that_is_bounded_when_the_action_is_right(part: str) -> None:
    suite = protocol.open_suite(part, root=ROOT)
    found = decided(suite)
    assert metrics.false_dispatch(found).count == 0
    assert metrics.flip_pairs(found).exact == SIZES[part][1]


def test_named_rule_is_the_one_that_decides_on_dev(dev: Suite) -> None:
    by_state = [o for o in decided(dev) if o.case.gold.rule_ids[0].startswith("R-0")]
    assert len(by_state) >= 5
    assert [o.case.case_id for o in by_state if o.verdict.rule_id not in o.case.gold.rule_ids] == []


def test_without_state_rules_every_prohibited_member_goes_on(dev: Suite) -> None:
    found = decided(dev, Switches(no_state=True, ignore_confidence=True))
    prohibited = [o for o in found if o.case.pair_id and not o.case.gold.allowed]
    assert (len(prohibited), sum(o.dispatched for o in prohibited)) == (8, 8)


def test_without_objects_every_object_sensitive_case_is_blocked(dev: Suite) -> None:
    found = decided(dev, Switches(no_objects=True, ignore_confidence=True))
    sensitive = [o for o in found if o.case.gold.allowed and o.case.gold.object_id != "NONE"]
    assert len(sensitive) >= 15
    assert [o.case.case_id for o in sensitive if o.dispatched] == []


def test_lexical_on_dev_dispatches_nothing_that_is_bounded(dev: Suite) -> None:
    found = run.decided(dev.cases, open_system("routelock", dev, "lexical"), None, 1)
    assert metrics.false_dispatch(found).count == 0
    assert metrics.wrong_objects(found).count == 0
    assert (metrics.coverage(found).rate or 0) > 0.6


def broken(folder: Path, monkeypatch: pytest.MonkeyPatch, column: str, value: str) -> SuiteError:
    """What the loader says of DEV with one cell of its third row changed."""
    for part in protocol.PARTS:
        found = rows(part)
        if part == "dev":
            found[2][column] = value
        with (folder / f"{part}.csv").open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, protocol.COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    sums = [
        f"{hashlib.sha256((folder / f'{p}.csv').read_bytes()).hexdigest()}  {p}.csv"
        for p in protocol.PARTS
    ]
    (folder / protocol.SUMS).write_text("\n".join(sums) + "\n", encoding="utf-8")
    monkeypatch.setattr(protocol, "FOLDER", folder)
    monkeypatch.setattr(protocol.sums, "__defaults__", (folder,))
    with pytest.raises(SuiteError) as caught:
        protocol.open_suite("dev", root=ROOT)
    return caught.value


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("case_id", "D-MAIN-001", "stands already on line 2"),
        ("gold_action", "FLY", "`gold_action` holds `FLY`"),
        ("gold_object_id", "FUND:NONE", "is in no list"),
        ("gold_boundary", "MAYBE", "`gold_boundary` holds `MAYBE`"),
        ("split", "OTHER", "`split` holds `OTHER`"),
        ("session", "nobody", "`session` holds `nobody`"),
        ("changes_json", "{", "is not JSON"),
        ("changes_json", "[]", "is no object"),
        ("changes_json", json.dumps({"mood": "good"}), "`mood` is no predicate"),
        ("history_json", '{"a": 1}', "is no list of texts"),
    ],
)
def test_broken_cell_is_refused_with_file_line_and_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, value: str, says: str
) -> None:
    error = broken(tmp_path, monkeypatch, column, value)
    assert (error.line, says in error.problem, bool(error.fix)) == (4, True, True)
    assert error.file.endswith("dev.csv")


def test_changed_part_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "sums", lambda: {f"{p}.csv": "0" * 64 for p in protocol.PARTS})
    with pytest.raises(SuiteError, match="SHA-256"):
        protocol.open_suite("dev", root=ROOT)


@pytest.mark.parametrize("text", ["abc  dev.csv\n", f"{'0' * 64}  dev.csv\n"])
def test_broken_checksums_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / protocol.SUMS).write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=r"no checksum|no digest"):
        protocol.sums(tmp_path)
