"""A folder with the RouteBR artifact's three CSV files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gate.conditions import All, Is
from gate.errors import ConfigError
from gate.lint import NO_MODE, lint
from gate.load import load
from gate.load.routebr import BOOLEANS, FILES, ON_ERROR
from gate.records import Boundary, Entry, Terminal
from tests.gate.load.folders import line_of, refused, write

SMALL = {
    "catalog.csv": (
        "action_id,service_name,description,required_object_types,allowed_boundary_states\n"
        "A1,Advice,Explains,ETF,ALLOW|CLARIFY\n"
        "A4,Support,Helps,NONE|SERVICE,ALLOW\n"
    ),
    "entity_catalog.csv": (
        "object_id,exchange,security_code,official_short_name\n"
        "SSE:510050,SSE,510050,50ETF\n"
        "SSE:510300,SSE,510300,300ETF\n"
    ),
    "boundary_rules.csv": (
        "rule_id,priority,applies_to,condition_json,decision,explanation,version\n"
        'R001,10,*,"{""safety_escalation_required"":true}",HANDOFF,"Escalation",v1\n'
        'R040,50,A1|A4,"{""entity_resolved"":false,""policy_version"":""v1""}",CLARIFY,"Open",v1\n'
        'R999,999,*,"{}",ALLOW,"Nothing else",v1\n'
    ),
}
"""An artifact of the same form, written for these tests."""


@pytest.fixture
def artifact(data_dir: Path, tmp_path: Path) -> Path:
    """The published files alone, in a folder of their own."""
    for name in FILES:
        shutil.copyfile(data_dir / "routebr" / name, tmp_path / name)
    return tmp_path


def test_published_artifact_loads_as_it_is(artifact: Path) -> None:
    configuration = load(artifact, bench=True)
    assert len(configuration.catalog.actions) == 5
    assert len(configuration.registry.entries) == 40
    assert len(configuration.rules.rules) == 9
    assert configuration.languages == ("zh",)
    assert configuration.history_role == "user"
    assert configuration.catalog.actions["A4_SUPPORT_RESPONSE"].objects == ("NONE", "SERVICE")
    assert not configuration.catalog.actions["A4_SUPPORT_RESPONSE"].object_required
    assert configuration.catalog.actions["A1_ADVISORY"].types == ("ETF",)
    assert sorted(configuration.digests) == sorted((*FILES, "languages/zh.yaml"))
    assert {w.code for w in lint(configuration)} == {NO_MODE, "unread-predicate"}


def test_published_folder_with_its_cases_loads_too(data_dir: Path) -> None:
    assert load(data_dir / "routebr", bench=True).name == "routebr"


def test_every_object_is_an_etf_named_by_code_and_short_name(tmp_path: Path) -> None:
    entries = load(write(tmp_path, SMALL), bench=True).registry.entries
    assert entries["SSE:510050"] == Entry("SSE:510050", "ETF", "50ETF", ("510050",))


def test_runtime_context_is_declared_as_state(tmp_path: Path) -> None:
    predicates = load(write(tmp_path, SMALL), bench=True).predicates
    assert set(predicates) == {*BOOLEANS, "policy_version"}
    assert {p.source for p in predicates.values()} == {"state"}
    assert predicates["entity_resolved"].type == "boolean"
    assert predicates["policy_version"].type == "text"


def test_conditions_are_equalities_that_must_all_hold(tmp_path: Path) -> None:
    rules = {r.rule_id: r for r in load(write(tmp_path, SMALL), bench=True).rules.rules}
    assert rules["R001"].when == Is("safety_escalation_required", True)
    assert rules["R040"].when == All((Is("entity_resolved", False), Is("policy_version", "v1")))
    assert rules["R040"].applies_to == ("A1", "A4")


def test_broken_state_goes_to_a_person(tmp_path: Path) -> None:
    rules = load(write(tmp_path, SMALL), bench=True).rules
    assert ON_ERROR is Boundary.HANDOFF
    assert [r.on_error for r in rules.rules] == [ON_ERROR, ON_ERROR, None]


def test_no_reserved_id_dispatches(tmp_path: Path) -> None:
    terminals = load(write(tmp_path, SMALL), bench=True).terminals
    assert Terminal.DISPATCH not in terminals.values()


def test_artifact_is_never_served(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="no mode; such a folder loads only for `gate` and `bench`"
    ):
        load(write(tmp_path, SMALL))


CATALOG, ENTITIES, RULES = FILES
CASES = [
    (CATALOG, "A4,", "A1,", "A1,Support", "action `A1` is listed twice", "remove"),
    (CATALOG, "NONE|SERVICE", "NONE|SERVICES", "SERVICES", "`SERVICES`", "did you mean `SERVICE`?"),
    (CATALOG, "description,", "", "action_id", "column `description` is missing", "first line"),
    (ENTITIES, "510300,300ETF", "510300,50ETF", "300,50ETF", "belongs to both", "one owner"),
    (ENTITIES, "SSE:510300", "SSE:510050", "510300", "listed twice", "remove"),
    (ENTITIES, "510300,300ETF", ",300ETF", ",,300ETF", "row lacks a field", "fill in"),
    (ENTITIES, ",300ETF", "", "510300", "row has 3 fields", "quotes"),
    (RULES, "R040,50", "R040,5O", "5O", "priority `5O`", "whole number"),
    (RULES, "R040,50", "R040,10", "R040", "share priority", "its own"),
    (RULES, "HANDOFF", "HANDOF", "HANDOF", "decision `HANDOF`", "did you mean `HANDOFF`?"),
    (RULES, "A1|A4", "A1|A5", "A5", "unknown action `A5`", "`A1`"),
    (RULES, "safety_escalation_required", "safety", "safety", "predicate `safety`", "use one of"),
    (RULES, '"":true', '"":1', "R001", "compared with `1`", "true or false"),
    (RULES, '""v1""', "false", "R040", "compared with `false`", "write a text"),
    (RULES, '"{}"', '"[]"', "R999", "no JSON object", "write"),
    (RULES, '"{}"', '"{"', "R999", "not JSON", "write"),
    (RULES, '"{}"', '"' + "[" * 100_000 + '"', "R999", "not JSON", "write"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "mark", "problem", "fix"), CASES)
def test_broken_artifact_names_file_line_and_fix(
    tmp_path: Path, file: str, old: str, new: str, mark: str, problem: str, fix: str
) -> None:
    assert old in SMALL[file]
    folder = write(tmp_path, {**SMALL, file: SMALL[file].replace(old, new, 1)})
    error = refused(folder, bench=True)
    assert problem in error.problem
    assert fix in error.fix
    assert (error.file, error.line) == (str(folder / file), line_of(folder, file, mark))


def test_incomplete_artifact_names_the_missing_file(tmp_path: Path) -> None:
    error = refused(write(tmp_path, {CATALOG: SMALL[CATALOG]}), bench=True)
    assert error.file == str(tmp_path / ENTITIES)
