"""The closed list of verified queries: parameters come from gate and session, never from a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from gate.load.queries import OBJECT, SUBJECT, Query
from gate.records import NONE, UNRESOLVED, Session
from sqlpath.errors import QueryError, SnapshotError
from sqlpath.execute import Database

SLOT = "slot."


def bind(
    query: Query, object_id: str, session: Session | None, slots: Mapping[str, object]
) -> dict[str, object]:
    """The values of a query's parameters.

    `object` is the object that the gate resolved, `subject` the session's verified one. Raises
    QueryError where a value is not there: a query never runs with less than it declares.
    """
    if query.scope == SUBJECT and session is None:
        raise QueryError("no_session", query.query_id)
    return {
        name: _value(query, supplied, object_id, session, slots)
        for name, supplied in query.parameters.items()
    }


def _value(
    query: Query,
    supplied: str,
    object_id: str,
    session: Session | None,
    slots: Mapping[str, object],
) -> object:
    if supplied == SUBJECT and session is not None:
        return session.subject
    if supplied == OBJECT:
        if object_id in (NONE, UNRESOLVED):
            raise QueryError("no_object", query.query_id)
        return object_id
    name = supplied.removeprefix(SLOT)
    if name not in slots:
        raise QueryError("no_session" if supplied == SUBJECT else "no_slot", query.query_id)
    return slots[name]


def fields(template: str) -> tuple[str, ...]:
    """The column names that a template uses; SnapshotError for anything but plain `{column}`."""
    names: list[str] = []
    for _, name, spec, conversion in Formatter().parse(template):
        if name is None:
            continue
        if not name.isidentifier() or spec or conversion:
            raise SnapshotError(
                f"`{{{name}}}` is no column name; write `{{column}}` in queries.yaml"
            )
        names.append(name)
    return tuple(names)


def check(queries: Iterable[Query], database: Database) -> None:
    """Run every query once with null parameters and compare its columns with its templates.

    Raises SnapshotError for a query that does not run here or a template that names no column.
    """
    for query in queries:
        try:
            columns = database.run(
                query.query_id, query.sql, dict.fromkeys(query.parameters)
            ).columns
        except QueryError as error:
            raise SnapshotError(
                f"query `{query.query_id}` does not run on `{database.path}`; correct queries.yaml"
            ) from error
        for template in query.answer.values():
            for name in fields(template):
                if name not in columns:
                    raise SnapshotError(
                        f"query `{query.query_id}` has no column `{name}`; use one of {columns}"
                    )
