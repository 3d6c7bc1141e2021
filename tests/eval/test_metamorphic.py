"""The metamorphic suite: derivations by hand, the judgement, and no false dispatch in any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval import metamorphic
from eval.case import Case
from eval.derived import Derived, Expect, Judged, judge
from eval.metamorphic import MetamorphicResult
from eval.suites.metamorphic import derive
from gate.records import Entry
from tests.eval.examples import gold, verdict

ENTRIES = {
    e.object_id: e
    for e in (
        Entry("O:1", "ETF", "甲基金", ("111111",)),
        Entry("O:2", "ETF", "乙基金", ("222222",)),
        Entry("O:3", "ETF", "丙基金", ("333333",)),
    )
}
CASE = Case(
    "S-1", "MAIN", "请查询甲基金的资料。我不急。", gold("A1"), state={"clear": True},
    candidates=("O:1", "O:2"),
)  # fmt: skip
ANAPHOR = replace(
    CASE, case_id="S-2", utterance="请查询它的资料。", history=("我问甲基金（111111）。",)
)
OPEN = replace(
    CASE,
    case_id="S-3",
    utterance="请查询那只。",
    gold=gold("A1", "UNRESOLVED", "CLARIFY"),
    state={},
)


@pytest.fixture(scope="module")
def made() -> tuple[Derived, ...]:
    return derive.derive((CASE, ANAPHOR, OPEN), ENTRIES, derive.words())


def of_kind(made: tuple[Derived, ...], kind: str, source: str) -> Derived:
    return next(d for d in made if d.kind.startswith(kind) and d.source == source)


def test_last_sentence_goes_first(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "clauses_reordered", "S-1")
    assert found.case.utterance == "我不急。请查询甲基金的资料。"
    assert found.expect is Expect.SAME


def test_swapped_object_is_the_new_gold(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "object_swapped", "S-2")
    assert found.case.gold.object_id == "O:3"
    assert found.case.history == ("我问丙基金（333333）。",)
    assert found.case.candidates == ("O:3",)


def test_swap_outside_the_candidates_is_bounded(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "object_swapped_outside", "S-2")
    assert found.case.candidates == ("O:1", "O:2")
    assert found.expect is Expect.BOUNDED


def test_negated_request_is_bounded(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "negation_added", "S-1")
    assert found.case.utterance == "请不要查询甲基金的资料。我不急。"
    assert not found.case.gold.allowed


def test_claimed_resolution_gets_the_clear_state(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "resolution_claimed", "S-3")
    assert found.case.state == {"clear": True}
    assert found.expect is Expect.BOUNDED


def test_lookalike_takes_the_place_of_the_name(made: tuple[Derived, ...]) -> None:
    found = of_kind(made, "lookalike", "白酒ETF")
    assert found.case.utterance == "请查询白酒ETF的资料。我不急。"
    assert found.case.candidates is None


def test_derived_ids_are_unique_and_texts_are_not_empty(made: tuple[Derived, ...]) -> None:
    assert len({d.case.case_id for d in made}) == len(made)
    assert all(d.case.utterance for d in made)
    assert not any("{" in d.case.utterance for d in made)


SAME = Derived("k", "s", Expect.SAME, CASE)
BOUNDED = replace(SAME, expect=Expect.BOUNDED)
SAFE = replace(SAME, expect=Expect.SAFE)


@pytest.mark.parametrize(
    ("derived", "path", "object_id", "judged"),
    [
        (SAME, "A1", "O:1", Judged.AS_EXPECTED),
        (SAME, "T_CLARIFY", "UNRESOLVED", Judged.FALSE_BLOCK),
        (SAME, "A2", "O:1", Judged.WRONG_ROUTE),
        (SAME, "A1", "O:2", Judged.FALSE_DISPATCH),
        (BOUNDED, "T_REJECT", "O:1", Judged.AS_EXPECTED),
        (BOUNDED, "A1", "O:1", Judged.FALSE_DISPATCH),
        (SAFE, "T_CLARIFY", "O:1", Judged.AS_EXPECTED),
        (SAFE, "A1", "O:1", Judged.AS_EXPECTED),
        (SAFE, "A2", "O:1", Judged.WRONG_ROUTE),
        (SAFE, "A1", "O:2", Judged.FALSE_DISPATCH),
    ],
)
def test_judgement(derived: Derived, path: str, object_id: str, judged: Judged) -> None:
    assert judge(derived, verdict(path, object_id=object_id)) is judged


@pytest.fixture(scope="module")
def result(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> MetamorphicResult:
    folder = data_dir / "routebr"
    files = [folder / "routebr_dev_120.csv", folder / "routebr_select_160.csv"]
    return metamorphic.run(folder, files, "lexical", tmp_path_factory.mktemp("metamorphic"))


def test_hundreds_of_cases_are_derived(result: MetamorphicResult) -> None:
    assert result.cases >= 300
    kinds = {t.kind.split(":")[0] for t in result.proposed.by_kind}
    assert kinds >= {"negation_added", "clauses_reordered", "irrelevant_clause", "object_swapped",
                     "lookalike", "paraphrase", "english", "traditional"}  # fmt: skip


def test_no_false_dispatch_whatever_is_proposed(result: MetamorphicResult) -> None:
    assert [t for t in result.proposed.by_kind if t.false_dispatch] == []
    assert [t for t in result.right_action_given.by_kind if t.false_dispatch] == []


def test_false_blocks_are_counted_over_what_must_dispatch(result: MetamorphicResult) -> None:
    must = sum(t.cases for t in result.proposed.by_kind if t.expect == "same")
    assert result.proposed.false_block.of == must
    assert result.right_action_given.false_block.count <= result.proposed.false_block.count


def test_gate_follows_when_the_sentence_changes_around_the_object(
    result: MetamorphicResult,
) -> None:
    for tally in result.right_action_given.by_kind:
        if tally.kind in ("clauses_reordered", "object_swapped", "irrelevant_clause"):
            assert tally.as_expected == tally.cases, tally
