"""Statements of the records pathway from outside it: what a statement would get, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gate.load import load_institution
from sqlpath import load as loading
from sqlpath import load_plan, schema
from sqlpath.admit import Admit, NeedsPermission, Refuse, Unsupported, Verdict, admit
from sqlpath.errors import QueryError
from sqlpath.execute import Database
from sqlpath.schema import Schema
from sqlpath.scope import Scoped, scope


def judge(config: Path, text: str, *, verified_subject: bool) -> Mapping[str, object]:
    """Admission's verdict on a statement over an institution's described tables, without running it.

    Keys: `verdict`, and `tables`, `reason` and `node`, `table`, or `what` and `node`. Raises
    ConfigError or SnapshotError.
    """
    institution = load_institution(config)
    described = schema.load(config)
    with Database.open(Path(institution.appliance.paths.database)) as database:
        parsed = database.parse(text)
    return shown(admit(text, parsed, described, verified_subject=verified_subject))


def not_admitted(config: Path) -> Mapping[str, Mapping[str, object]]:
    """The verified queries that admission would not let through as a stranger's, each with its verdict.

    They are reviewed and run as written; one that is listed here reads more than schema.yaml describes,
    or a table with a scope although the query declares none. Empty without a schema.yaml.
    """
    institution = load_institution(config)
    if not (config / schema.FILE).exists():
        return {}
    described = schema.load(config)
    found: dict[str, Mapping[str, object]] = {}
    with Database.open(Path(institution.appliance.paths.database)) as database:
        for query in institution.queries.values():
            verdict = admit(
                query.sql,
                database.parse(query.sql),
                described,
                verified_subject=query.scope is not None,
                parameters=frozenset(query.parameters),
            )
            if not isinstance(verdict, Admit):
                found[query.query_id] = shown(verdict)
    return found


def shown(verdict: Verdict) -> Mapping[str, object]:
    """A verdict as names and values."""
    match verdict:
        case Admit(tables=tables):
            return {"verdict": "admit", "tables": [table.name for table in tables]}
        case Refuse(reason=reason, node=node):
            return {"verdict": "refuse", "reason": reason, "node": node}
        case NeedsPermission(table=table):
            return {"verdict": "needs_permission", "table": table}
        case Unsupported(what=what, node=node):
            return {"verdict": "unsupported", "what": what, "node": node}


def judged(
    database: Database,
    described: Schema,
    text: str,
    parameters: frozenset[str],
    rows: int,
    now: datetime,
) -> Scoped:
    """A statement from text to what may run: parsed, admitted, scoped. Raises QueryError."""
    verdict = admit(
        text, database.parse(text), described, verified_subject=True, parameters=parameters
    )
    if not isinstance(verdict, Admit):
        raise QueryError("not_admitted", text[:40])
    return scope(verdict, described, rows, now)


def described(config: Path) -> Schema:
    """The described tables of an institution's folder; ConfigError with file, line and fix."""
    return schema.load(config)


def load(plan: Path, target: Path, key: bytes | None) -> Mapping[str, object]:
    """Load a plan's tables into a sealed database; its digest, day and reports. Raises LoadError."""
    snapshot, reports = loading.load(load_plan.load(plan), target, key)
    as_of = snapshot.as_of.isoformat() if snapshot.as_of else None
    return {"digest": snapshot.digest, "as_of": as_of, "tables": loading.shown(reports)}
