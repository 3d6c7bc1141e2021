"""Adaptor of the RouteBR benchmark: reads its public CSV files as they are.

Source: the RouteBR artifact (github.com/YgcCoder/RouteBR). A data folder holds `catalog.csv`,
`entity_catalog.csv` and `boundary_rules.csv`, which the gate loads as a configuration, and the DEV
file, from which `lexical` learns. Cases come in a file of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from eval import table
from eval.case import Case, Gold
from eval.table import Row
from gate.records import NONE, UNRESOLVED, Boundary

NAME = "routebr"
DEV_FILE = "routebr_dev_120.csv"
CONFIGURATION_FILES = ("catalog.csv", "entity_catalog.csv", "boundary_rules.csv")
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
