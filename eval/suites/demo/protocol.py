"""The demo institution under the RouteBR protocol: DEV, SELECT and CONFIRM in English.

A case is a text, a session and a state; the state is one in which nothing stands against the right
action, with the changes that the case names. Members of a FLIP pair say the same in two states.
CONFIRM opens only for the one stored result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eval import table, writes
from eval.audit import audit
from eval.audit import digest as check_digest
from eval.case import OUT_OF_SCOPE, Case, Gold
from eval.errors import SuiteError
from eval.suite import Examples, Suite
from eval.table import Row
from gate.load import load_institution
from gate.records import NONE, UNRESOLVED, Boundary, Session

NAME: Final = "demo"
FOLDER: Final = Path(__file__).parent / "parts"
SUMS: Final = "SHA256SUMS"
PARTS: Final = ("dev", "select", "confirm")
SEALED: Final = "confirm"
EXAMPLES: Final = Path("training/data/demo/utterances.csv")
CONFIG: Final = Path("configs/demo")
COLUMNS: Final = (
    "case_id", "split", "pair_id", "utterance", "history_json", "session", "changes_json",
    "gold_action", "gold_object_id", "gold_boundary", "gold_rule_ids_json",
)  # fmt: skip
ALIKE: Final = (
    "split",
    "utterance",
    "history_json",
    "session",
    "gold_action",
    "gold_object_id",
)
SPLITS: Final = ("MAIN", "FLIP", "ENTITY")


def open_suite(
    part: str, *, unseal: bool = False, config: Path = CONFIG, root: Path = Path()
) -> Suite:
    """One part, audited against its digest, the training texts and the other parts.

    SuiteError for an unknown part, for CONFIRM without `unseal`, and for a broken file.
    """
    if part not in PARTS:
        raise SuiteError(f"no part is called `{part}`", file=NAME, fix=f"use {', '.join(PARTS)}")
    if part == SEALED and not unseal:
        raise SuiteError(
            "part `confirm` is sealed", file=str(FOLDER), fix="give --unseal for the final figure"
        )
    institution = load_institution(root / config)
    configuration, sessions = institution.configuration, writes.sessions(root / config)
    file = FOLDER / f"{part}.csv"
    stated = sums()
    for other in PARTS:
        check_digest(FOLDER / f"{other}.csv", stated)
    rows = table.read(file, COLUMNS)
    table.unique(rows, "case_id")
    learnt = table.read(root / EXAMPLES, ("text", "label"))
    looked = audit(
        rows,
        alike=ALIKE,
        boundary="gold_boundary",
        text="utterance",
        learnt=learnt,
        learnt_text="text",
        stated=stated,
    )
    calm = writes.clear()
    own = [e.object_id for s in sessions.values() for e in s.objects]
    objects = frozenset((*configuration.registry.entries, *own, NONE, UNRESOLVED))
    actions = tuple(configuration.catalog.actions)
    cases = tuple(_case(row, calm, sessions, actions, objects) for row in rows)
    texts, labels = zip(*((r["text"], r["label"]) for r in learnt), strict=True)
    return Suite(
        name=f"{NAME}-{part}",
        configuration=configuration,
        cases=cases,
        examples=Examples(texts, labels, root / EXAMPLES),
        digests={file.name: table.digest(file), **configuration.digests},
        audit=looked,
        now=calm.now,
        institution=institution,
        totals_only=part != "dev",
        root=root,
    )


def sums(folder: Path = FOLDER) -> Mapping[str, str]:
    """The SHA-256 of every part, as committed; SuiteError for a malformed line."""
    file = folder / SUMS
    found = {}
    for number, line in enumerate(table.read_text(file).splitlines(), 1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise SuiteError(
                "line is no checksum", file=str(file), line=number, fix="write `<sha256>  <name>`"
            )
        found[name] = digest
    missing = [f"{part}.csv" for part in PARTS if f"{part}.csv" not in found]
    if missing:
        raise SuiteError(f"`{missing[0]}` has no digest", file=str(file), fix="add its line")
    return MappingProxyType(found)


def _case(
    row: Row,
    calm: writes.Clear,
    sessions: Mapping[str, Session],
    actions: Collection[str],
    objects: frozenset[str],
) -> Case:
    action = row.one_of("gold_action", (*actions, OUT_OF_SCOPE))
    if row["gold_object_id"] not in objects:
        raise row.wrong(
            f"object `{row['gold_object_id']}` is in no list", "use an id of registry or session"
        )
    boundary = row.one_of("gold_boundary", [b.value for b in Boundary])
    path = action if boundary == Boundary.ALLOW else f"T_{boundary}"
    state = {**calm.of(action), **_changes(row, calm.state)}
    name = row.one_of("session", ("", *sessions))
    return Case(
        case_id=row["case_id"],
        split=row.one_of("split", SPLITS),
        utterance=row["utterance"],
        gold=Gold(action, row["gold_object_id"], boundary, path, _texts(row, "gold_rule_ids_json")),
        history=_texts(row, "history_json"),
        state=MappingProxyType(state),
        session=sessions.get(name),
        pair_id=row["pair_id"],
    )


def _texts(row: Row, column: str) -> tuple[str, ...]:
    value = row.json(column)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise row.wrong(f"column `{column}` is no list of texts", 'write it as ["...", ...]')
    return tuple(value)


def _changes(row: Row, known: Mapping[str, object]) -> Mapping[str, object]:
    value = row.json("changes_json")
    if not isinstance(value, dict):
        raise row.wrong("column `changes_json` is no object", "write it as {...}")
    for name in value:
        if name not in known:
            raise row.wrong(f"`{name}` is no predicate of the state", "use one of clear.yaml")
    return value
