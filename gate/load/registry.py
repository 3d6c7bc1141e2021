"""`registry.csv`: the closed list of public objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate import registry
from gate.catalog import ObjectType
from gate.errors import ConfigError
from gate.load import csvfile
from gate.load.digests import Source
from gate.load.fixes import did_you_mean, placed, shown
from gate.records import NONE, UNRESOLVED, Entry
from gate.registry import Registry

REQUIRED = ("object_id", "object_type", "display_name")
OPTIONAL = ("aliases",)

EMPTY = registry.build(())
"""The registry of an institution without `registry.csv`: nothing can be named."""


def read(source: Source, types: Mapping[str, ObjectType]) -> Registry:
    """The registry; ConfigError with file, line and fix, also for two owners of one name."""
    table = csvfile.parse(source, REQUIRED, OPTIONAL)
    lines: dict[str, list[int]] = {}
    try:
        return registry.build(_entries(table, types, lines))
    except ConfigError as error:
        raise error if error.file else placed(error, source.path, lines) from error


def _entries(
    table: csvfile.Table, types: Mapping[str, ObjectType], lines: dict[str, list[int]]
) -> Iterator[Entry]:
    """Entries as they are read; `lines` collects the line of every id."""
    for row in table.rows:
        entry = _entry(table, row, types)
        lines.setdefault(entry.object_id, []).append(row.line)
        yield entry


def _entry(table: csvfile.Table, row: csvfile.Row, types: Mapping[str, ObjectType]) -> Entry:
    for column in REQUIRED:
        if not row.fields[column]:
            raise table.error(f"`{column}` is empty", row.line, f"give every object an {column}")
    object_id, name = row.fields["object_id"], row.fields["object_type"]
    if object_id in {NONE, UNRESOLVED}:
        raise table.error(f"object id `{object_id}` is reserved", row.line, "choose another id")
    if name not in types:
        problem = f"object `{shown(object_id)}` has the type `{shown(name)}`, which is not declared"
        raise table.error(problem, row.line, did_you_mean(name, types))
    if types[name].own:
        raise table.error(
            f"object `{shown(object_id)}` has the type `{name}`, which is the customer's own",
            row.line,
            "remove the row; such objects come with the session",
        )
    aliases = (a.strip() for a in row.fields.get("aliases", "").split("|"))
    return Entry(object_id, name, row.fields["display_name"], tuple(a for a in aliases if a))
