"""Adaptor of the RouteBR benchmark: reads its public CSV files as they are.

Source: the RouteBR artifact (github.com/YgcCoder/RouteBR). A data folder holds `catalog.csv`,
`entity_catalog.csv` and `boundary_rules.csv`, which the gate loads as a configuration, and the DEV
file, from which `lexical` learns. Cases come in a file of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from eval import table
from eval.audit import Audit, audit
from eval.audit import digest as check_digest
from eval.case import Case, Gold
from eval.suite import Examples, Suite
from eval.table import Row
from gate.load import load as load_configuration
from gate.records import NONE, UNRESOLVED, Boundary

NAME = "routebr"
DEV_FILE = "routebr_dev_120.csv"
CONFIGURATION_FILES = ("catalog.csv", "entity_catalog.csv", "boundary_rules.csv")
NOW = datetime(2026, 8, 16, tzinfo=UTC)
"""The clock given to the gate. No predicate of RouteBR holds a time; it is fixed all the same."""

STATED = {
    "routebr_select_160.csv": "0274f632a27f02a30ea2c2d65cb99a31f43280c1352da425665583c5c9d571cc",
    "routebr_dev_120.csv": "6af5b099c8c0bce41251eea145292ec068dded4db1fa36e6a0c5ad9368a458d0",
    "catalog.csv": "f82606a3f652fc77dd609014ab238de65064fccfb2ad1e0f73e6a4f087ad631a",
    "entity_catalog.csv": "96254be4e1df92e5f4390710052ee3f2f3497a0ef7193a4b595b4dba330700f9",
    "boundary_rules.csv": "3613d23aee0e633e4202882a16d81f9870173f4ea2dbcc4e9aaa286de1a6ee67",
}
"""SHA-256 of the public files: the artifact's own manifest, and for DEV the rows as they are there."""

ALIKE = (
    "split", "utterance", "history_json", "candidate_entities_json", "gold_action",
    "gold_object_id",
)  # fmt: skip
"""What both members of a FLIP pair share; they differ in their state."""
COLUMNS = (
    "case_id",
    "split",
    "pair_id",
    "scenario_cell",
    "utterance",
    "history_json",
    "runtime_context_json",
    "candidate_entities_json",
    "gold_action",
    "gold_object_difficulty",
    "gold_object_id",
    "gold_boundary",
    "gold_final_path",
    "gold_rule_ids_json",
)


def open_suite(data: Path, file: Path) -> Suite:
    """RouteBR with the cases of `file`, audited; `data` holds configuration and DEV file.

    Raises SuiteError or ConfigError with file, line and fix.
    """
    configuration = load_configuration(data, bench=True)
    known = (configuration.catalog.actions, configuration.registry.entries)
    cases = load(file, *known)
    learnt = table.read(data / DEV_FILE, ("utterance", "gold_action"))
    for name in (*CONFIGURATION_FILES, DEV_FILE):
        check_digest(data / name, STATED)
    looked = _audit(data, file, learnt)
    texts, actions = zip(*((r["utterance"], r["gold_action"]) for r in learnt), strict=True)
    inputs = {name: table.digest(data / name) for name in CONFIGURATION_FILES}
    packs = {k: v for k, v in configuration.digests.items() if k not in inputs}
    digests = {file.name: table.digest(file), **inputs, **packs}
    examples = Examples(texts, actions, data / DEV_FILE)
    return Suite(NAME, configuration, cases, examples, digests, looked, NOW)


def _audit(data: Path, file: Path, learnt: Sequence[Row]) -> Audit:
    rows = table.read(file, COLUMNS)
    if file.resolve() == (data / DEV_FILE).resolve():
        learnt = rows
    return audit(
        rows,
        alike=ALIKE,
        boundary="gold_boundary",
        text="utterance",
        learnt=learnt,
        learnt_text="utterance",
        stated=STATED,
    )


def load(path: Path, actions: Collection[str], objects: Collection[str]) -> tuple[Case, ...]:
    """The cases of a file, in its order.

    `actions` and `objects` are the known ids. Raises SuiteError on a missing column, wrong JSON,
    an unknown id, a repeated case id, or gold columns that contradict each other.
    """
    rows = table.read(path, COLUMNS)
    table.unique(rows, "case_id")
    cases = tuple(_case(row, tuple(actions), frozenset(objects)) for row in rows)
    _check_pairs(rows)
    return cases


def _case(row: Row, actions: Sequence[str], objects: frozenset[str]) -> Case:
    if not row["utterance"].strip():
        raise row.wrong("column `utterance` is empty", "give the case a text")
    return Case(
        case_id=row["case_id"],
        split=row["split"],
        utterance=row["utterance"],
        gold=_gold(row, actions, objects),
        history=_texts(row, "history_json"),
        state=_state(row),
        candidates=_candidates(row, objects),
        pair_id=row["pair_id"],
        scenario=row["scenario_cell"],
    )


def _texts(row: Row, column: str) -> tuple[str, ...]:
    value = row.json(column)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise row.wrong(f"column `{column}` is no list of texts", 'write it as ["...", ...]')
    return tuple(value)


def _state(row: Row) -> Mapping[str, object]:
    value = row.json("runtime_context_json")
    if not isinstance(value, dict):
        raise row.wrong("column `runtime_context_json` is no object", "write it as {...}")
    return MappingProxyType(value)


def _candidates(row: Row, objects: frozenset[str]) -> tuple[str, ...]:
    value = row.json("candidate_entities_json")
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise row.wrong(
            "column `candidate_entities_json` is no list of objects", "write it as [{...}, ...]"
        )
    return tuple(_known(row, v.get("object_id"), objects) for v in value)


def _known(row: Row, object_id: object, objects: frozenset[str]) -> str:
    if not isinstance(object_id, str) or object_id not in objects:
        raise row.wrong(
            f"object `{object_id}` is not registered", "add it to entity_catalog.csv or remove it"
        )
    return object_id


def _gold(row: Row, actions: Sequence[str], objects: frozenset[str]) -> Gold:
    action = row.one_of("gold_action", actions)
    object_id = row["gold_object_id"]
    if object_id not in (NONE, UNRESOLVED):
        _known(row, object_id, objects)
    boundary = row.one_of("gold_boundary", [b.value for b in Boundary])
    path = action if boundary == Boundary.ALLOW else f"T_{boundary}"
    if row["gold_final_path"] != path:
        raise row.wrong(
            f"column `gold_final_path` holds `{row['gold_final_path']}`",
            f"action and boundary give `{path}`",
        )
    rules = _texts(row, "gold_rule_ids_json")
    return Gold(action, object_id, boundary, path, rules, row["gold_object_difficulty"])


def _check_pairs(rows: Sequence[Row]) -> None:
    """SuiteError if more than two rows share a pair id; half a pair is left to the metrics."""
    members: dict[str, int] = {}
    for row in rows:
        pair = row["pair_id"]
        members[pair] = members.get(pair, 0) + 1
        if pair and members[pair] > 2:
            raise row.wrong(f"pair `{pair}` has more than two members", "keep two of them")
