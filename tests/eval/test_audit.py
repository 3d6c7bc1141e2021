"""The look at a suite's files before anything runs: each fault is refused with file, line and fix."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from eval import table
from eval.audit import Audit, audit
from eval.errors import SuiteError
from eval.suites.routebr import ALIKE
from tests.eval.examples import ROW, write_cases

FIRST = {"case_id": "F-1", "pair_id": "P-1", "utterance": "may I"}
BOUNDED = {"gold_boundary": "DEFER", "gold_final_path": "T_DEFER"}
SECOND = {**FIRST, **BOUNDED, "case_id": "F-2"}


def look(
    path: Path, *rows: Mapping[str, str], learnt: Path | None = None, stated: str = ""
) -> Audit:
    file = write_cases(path / "cases.csv", *rows)
    learning = table.read(
        learnt or write_cases(path / "dev.csv", {"utterance": "else"}), tuple(ROW)
    )
    return audit(
        table.read(file, tuple(ROW)),
        alike=ALIKE,
        boundary="gold_boundary",
        text="utterance",
        learnt=learning,
        learnt_text="utterance",
        stated={"cases.csv": stated} if stated else {},
    )


def refused(path: Path, *rows: Mapping[str, str], **more: object) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        look(path, *rows, **more)  # type: ignore[arg-type]
    return caught.value


def test_sound_file_is_counted(tmp_path: Path) -> None:
    assert look(tmp_path, {}, FIRST, SECOND) == Audit(3, 1, 0, 0, sealed=False)


def test_half_a_pair_is_counted_and_let_pass(tmp_path: Path) -> None:
    assert look(tmp_path, {}, FIRST) == Audit(2, 0, 1, 0, sealed=False)


@pytest.mark.parametrize("column", ["utterance", "history_json", "gold_action", "gold_object_id"])
def test_members_of_a_pair_that_differ_in_more_than_state(tmp_path: Path, column: str) -> None:
    error = refused(tmp_path, {}, FIRST, {**SECOND, column: '"other"'})
    assert (error.line, column in error.problem, "P-1" in error.problem) == (4, True, True)
    assert error.file.endswith("cases.csv")


@pytest.mark.parametrize(("first", "second", "allowed"), [({}, {}, "2"), (BOUNDED, BOUNDED, "0")])
def test_pair_without_exactly_one_allowed_member(
    tmp_path: Path, first: Mapping[str, str], second: Mapping[str, str], allowed: str
) -> None:
    error = refused(tmp_path, {**FIRST, **first}, {**FIRST, "case_id": "F-2", **second})
    assert error.line == 3
    assert error.problem.startswith(f"{allowed} members of pair `P-1`")


def test_third_member_of_a_pair(tmp_path: Path) -> None:
    error = refused(tmp_path, FIRST, SECOND, {**SECOND, "case_id": "F-3"})
    assert (error.line, "more than two members" in error.problem) == (4, True)


def test_text_that_is_learnt_from(tmp_path: Path) -> None:
    learnt = write_cases(tmp_path / "dev.csv", {"utterance": " may I "})
    error = refused(tmp_path, {}, FIRST, learnt=learnt)
    assert (error.line, "dev.csv:2" in error.problem) == (3, True)


def test_learning_file_as_cases_is_counted_as_overlap(tmp_path: Path) -> None:
    file = write_cases(tmp_path / "cases.csv", {}, FIRST)
    assert look(tmp_path, {}, FIRST, learnt=file).overlap == 2


def test_bytes_that_are_not_those_of_the_stated_digest(tmp_path: Path) -> None:
    error = refused(tmp_path, {}, stated="0" * 64)
    assert (error.line, "SHA-256" in error.problem) == (1, True)


def test_bytes_of_the_stated_digest_are_sealed(tmp_path: Path) -> None:
    file = write_cases(tmp_path / "cases.csv", {})
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    before = file.stat().st_mtime_ns
    found = audit(
        table.read(file, tuple(ROW)),
        alike=ALIKE,
        boundary="gold_boundary",
        text="utterance",
        learnt=(),
        learnt_text="utterance",
        stated={"cases.csv": digest},
    )
    assert found.sealed
    assert file.stat().st_mtime_ns == before
