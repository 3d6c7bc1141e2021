"""Adaptor of the <name> suite: one sentence on what it measures and where its cases come from.

Copy this folder, rename it, and change what is marked. An adaptor does one thing: it turns the
suite's own files into `Case` records, whose gold part nothing under test can read.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from eval import table
from eval.case import Case, Gold
from eval.table import Row
from gate.records import NONE, UNRESOLVED, Boundary

NAME = "template"  # change: the suite's name in results
COLUMNS = ("case_id", "split", "utterance", "gold_action", "gold_object_id", "gold_boundary")


def load(path: Path, actions: Collection[str], objects: Collection[str]) -> tuple[Case, ...]:
    """The cases of a file, in its order; SuiteError names file and line of the first bad row."""
    rows = table.read(path, COLUMNS)
    table.unique(rows, "case_id")
    known = (tuple(actions), (NONE, UNRESOLVED, *objects))
    return tuple(_case(row, *known) for row in rows)


def _case(row: Row, actions: tuple[str, ...], objects: tuple[str, ...]) -> Case:
    """Change: the columns of your suite, state and session if it has them."""
    action = row.one_of("gold_action", actions)
    boundary = row.one_of("gold_boundary", [b.value for b in Boundary])
    path = action if boundary == Boundary.ALLOW else f"T_{boundary}"
    gold = Gold(action, row.one_of("gold_object_id", objects), boundary, path)
    return Case(row["case_id"], row["split"], row["utterance"], gold)
