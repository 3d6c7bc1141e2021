"""RouteBR's files into typed cases; one clear error for each kind of bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.case import ask, request
from eval.errors import SuiteError
from eval.suites import routebr
from gate.records import Turn
from tests.eval.examples import ROW, load, write_cases


def test_case_holds_what_the_row_says(tmp_path: Path) -> None:
    (case,) = load(write_cases(tmp_path / "c.csv", {"pair_id": "P1"}))
    assert case.utterance == "what is O1 worth"
    assert case.history == ("about O1",)
    assert case.state == {"identity_verified": True}
    assert case.candidates == ("O:1",)
    assert (case.split, case.pair_id, case.scenario) == ("MAIN", "P1", "cell")
    assert (case.gold.action, case.gold.object_id, case.gold.final_path) == ("A1", "O:1", "A1")
    assert case.gold.rule_ids == ("R999",)


def test_request_holds_turns_of_the_user(tmp_path: Path) -> None:
    (case,) = load(write_cases(tmp_path / "c.csv", {}))
    assert request(case).history == (Turn("user", "about O1"),)
    assert request(case).request_id == "T-1"
    assert ask(case).history == ("about O1",)


def test_no_candidates_is_not_every_candidate(tmp_path: Path) -> None:
    (case,) = load(write_cases(tmp_path / "c.csv", {"candidate_entities_json": "[]"}))
    assert case.candidates == ()


def test_byte_order_mark_and_extra_columns_are_accepted(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c.csv", {"note": "x"}, columns=(*ROW, "note"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path)[0].case_id == "T-1"


BAD = {
    "wrong_json": ({"history_json": "[oops"}, "is not JSON", 3),
    "nan": ({"runtime_context_json": '{"x": NaN}'}, "`NaN` is no JSON number", 3),
    "history_of_numbers": ({"history_json": "[1]"}, "no list of texts", 3),
    "state_no_object": ({"runtime_context_json": "[]"}, "is no object", 3),
    "candidates_no_objects": ({"candidate_entities_json": '["O:1"]'}, "no list of objects", 3),
    "unknown_candidate": (
        {"candidate_entities_json": '[{"object_id": "O:9"}]'}, "`O:9` is not registered", 3,
    ),
    "unknown_action": ({"gold_action": "A9"}, "`gold_action` holds `A9`", 3),
    "unknown_object": ({"gold_object_id": "O:9"}, "`O:9` is not registered", 3),
    "unknown_boundary": ({"gold_boundary": "MAYBE"}, "`gold_boundary` holds `MAYBE`", 3),
    "contradiction": ({"gold_boundary": "DEFER"}, "action and boundary give `T_DEFER`", 3),
    "duplicate_id": ({"case_id": "T-1"}, "`T-1` stands already on line 2", 3),
    "no_id": ({"case_id": ""}, "`case_id` is empty", 3),
    "no_text": ({"utterance": " "}, "`utterance` is empty", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_row_is_refused_with_file_line_and_fix(name: str, tmp_path: Path) -> None:
    change, message, line = BAD[name]
    path = write_cases(tmp_path / "cases.csv", {}, {"case_id": "T-2", **change})
    with pytest.raises(SuiteError) as caught:
        load(path)
    assert f"{path}:{line}: " in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.fix


def test_three_members_of_a_pair_are_refused(tmp_path: Path) -> None:
    rows = ({"case_id": f"T-{n}", "pair_id": "P1"} for n in range(3))
    with pytest.raises(SuiteError, match="more than two members"):
        load(write_cases(tmp_path / "c.csv", *rows))


def test_line_is_where_a_row_begins(tmp_path: Path) -> None:
    rows = ({"utterance": "two\nlines"}, {"case_id": "T-2", "gold_action": "A9"})
    with pytest.raises(SuiteError) as caught:
        load(write_cases(tmp_path / "c.csv", *rows))
    assert caught.value.line == 4


@pytest.mark.parametrize("column", routebr.COLUMNS)
def test_missing_column_is_refused(column: str, tmp_path: Path) -> None:
    columns = tuple(c for c in ROW if c != column)
    with pytest.raises(SuiteError, match=rf":1: columns are missing: `{column}`"):
        load(write_cases(tmp_path / "c.csv", {}, columns=columns))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no rows"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"case_id,case_id\n", "columns are missing"),
    ],
)
def test_broken_file_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(content)
    with pytest.raises(SuiteError, match=message):
        load(path)


def test_header_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="holds no rows"):
        load(write_cases(tmp_path / "c.csv"))


def test_repeated_column_is_refused(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c.csv", {}, columns=(*ROW, "split"))
    with pytest.raises(SuiteError, match="`split` stands twice"):
        load(path)


def test_short_row_is_refused(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c.csv", {})
    path.write_text(path.read_text(encoding="utf-8") + "T-2,MAIN\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=r":3: row has 2 cells"):
        load(path)


def test_unclosed_quote_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c.csv", {})
    path.write_text(path.read_text(encoding="utf-8") + '"T-2,MAIN\n', encoding="utf-8")
    with pytest.raises(SuiteError, match=r":3: row is not CSV"):
        load(path)


def test_non_utf8_names_the_line(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c.csv", {})
    path.write_bytes(path.read_bytes() + b"\xe9")
    with pytest.raises(SuiteError, match=r":3: byte `0xe9` is not UTF-8"):
        load(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="cannot be read"):
        load(tmp_path / "absent.csv")
