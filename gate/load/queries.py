"""`queries.yaml`: the closed list of verified, parameterised queries."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Identifier, Model, Tag, Text, validate
from gate.load.yamlfile import Document, Loc

OBJECT, SUBJECT = "object", "subject"

_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_LITERAL = re.compile(r"'(?:[^']|'')*'")

Sql = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Supplied = Annotated[str, StringConstraints(pattern=r"^(object|subject|slot\.[a-z][a-z0-9_]*)$")]


class QueryModel(Model):
    """One verified query."""

    id: Identifier
    """Id that actions name."""
    sql: Sql
    """One read-only SELECT; values reach it only as `$name` parameters."""
    parameters: dict[str, Supplied] = Field(default_factory=dict)
    """What each parameter is: `object` (the gate's id), `subject` (the customer) or `slot.NAME`."""
    scope: Literal["subject"] | None = None
    """`subject` refuses without a session."""
    answer: Annotated[dict[Tag, Text], Field(min_length=1)]
    """Sentence per row and language, with `{column}` for values."""
    empty: dict[Tag, Text] = Field(default_factory=dict)
    """Sentence for no rows, by language."""


class QueriesFile(FileModel):
    """The verified queries."""

    queries: list[QueryModel] = Field(default_factory=list)
    """The queries."""


@dataclass(frozen=True, slots=True)
class Query:
    """One verified query; `parameters` maps a parameter to `object`, `subject` or `slot.NAME`."""

    query_id: str
    sql: str
    parameters: Mapping[str, str]
    scope: str | None
    answer: Mapping[str, str]
    empty: Mapping[str, str]


EMPTY: Final[Mapping[str, Query]] = MappingProxyType({})
"""No queries: nothing can be looked up."""


def read(document: Document, languages: Collection[str]) -> Mapping[str, Query]:
    """The queries by id; ConfigError with file, line and fix."""
    file = validate(QueriesFile, document)
    queries: dict[str, Query] = {}
    for index, model in enumerate(file.queries):
        loc = ("queries", index)
        if model.id in queries:
            raise document.error(f"query `{model.id}` is listed twice", loc, "remove or rename one")
        _check_parameters(document, loc, model)
        _check_languages(document, loc, model, languages)
        queries[model.id] = Query(
            model.id,
            model.sql,
            MappingProxyType(dict(model.parameters)),
            model.scope,
            MappingProxyType(dict(model.answer)),
            MappingProxyType(dict(model.empty)),
        )
    return MappingProxyType(queries)


def _check_parameters(document: Document, loc: Loc, model: QueryModel) -> None:
    """The SQL's parameters are exactly the declared ones; a subject needs the subject's scope."""
    used = set(_PARAMETER.findall(_LITERAL.sub("''", model.sql)))
    for name in sorted(used - set(model.parameters)):
        problem = f"query `{model.id}` uses `${name}`, which is no declared parameter"
        fix = did_you_mean(name, model.parameters) if model.parameters else f"declare `{name}:`"
        raise document.error(problem, (*loc, "sql"), fix)
    for name, supplied in model.parameters.items():
        here = (*loc, "parameters", name)
        if name not in used:
            problem = f"parameter `{shown(name)}` of query `{model.id}` is not used"
            raise document.error(problem, here, "remove it, or use it in the SQL")
        if supplied == SUBJECT and model.scope != SUBJECT:
            problem = f"query `{model.id}` reads the subject but has no scope"
            raise document.error(problem, here, "add `scope: subject`")
    if model.scope == SUBJECT and SUBJECT not in model.parameters.values():
        problem = f"query `{model.id}` has the scope `subject` but never reads the subject"
        raise document.error(problem, (*loc, "scope"), "add a parameter whose value is `subject`")


def _check_languages(
    document: Document, loc: Loc, model: QueryModel, languages: Collection[str]
) -> None:
    for key, given in (("answer", model.answer), ("empty", model.empty)):
        for tag in given:
            if tag not in languages:
                problem = f"language `{tag}` of query `{model.id}` is not configured"
                raise document.error(problem, (*loc, key, tag), did_you_mean(tag, languages))
    for tag in languages:
        if tag not in model.answer:
            problem = f"query `{model.id}` has no answer in the language `{tag}`"
            raise document.error(problem, (*loc, "answer"), f"add `{tag}:` to its answer")
