"""`state.yaml`: the predicates that rules may read, and the sources they come from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field

from gate.controller import GATE_PREDICATES
from gate.errors import ConfigError
from gate.load.fixes import did_you_mean, placed, shown
from gate.load.model import FileModel, Identifier, Model, Text, validate
from gate.load.yamlfile import Document
from gate.state import GATE, MAX_SECONDS, MAX_SKEW_S, SLOT_PREFIX, Predicate


class SourceModel(Model):
    """A trusted system that supplies state."""

    skew_s: Annotated[int, Field(ge=0, le=MAX_SKEW_S)] = 2
    """Seconds that its clock may run ahead of ours."""


class PredicateModel(Model):
    """One fact that rules may read."""

    name: Identifier
    """Name in rules and requests; `slot.NAME` for a slot, whose source is the gate."""
    type: Literal["boolean", "number", "text", "enum", "timestamp"]
    """Type of the value; nothing is coerced."""
    source: Text
    """A declared source, or `gate` for what the gate computes from the text."""
    unit: Text | None = None
    """Unit of a number; numbers are compared only within one unit."""
    values: Annotated[list[Text], Field(min_length=1)] | None = None
    """The values of an enum."""
    max_age_s: Annotated[int, Field(ge=1, le=MAX_SECONDS)] | None = None
    """Greatest age in seconds; such a value must come with `as_of`."""
    pin: bool = False
    """True if a change between the decision and its execution stops the execution."""


class StateFile(FileModel):
    """The runtime state that rules may read."""

    sources: dict[Identifier, SourceModel] = Field(default_factory=dict)
    """The systems that supply it."""
    predicates: list[PredicateModel] = Field(default_factory=list)
    """The facts."""


EMPTY: Final[Mapping[str, Predicate]] = MappingProxyType({})
"""No state: rules can read nothing."""


def read(document: Document) -> Mapping[str, Predicate]:
    """The predicates by name; ConfigError with file, line and fix."""
    file = validate(StateFile, document)
    if GATE in file.sources:
        raise document.error(
            "source `gate` is the gate itself",
            ("sources", GATE),
            "remove it; it needs no declaration",
        )
    predicates: dict[str, Predicate] = {}
    for index, model in enumerate(file.predicates):
        if model.name in predicates:
            problem = f"predicate `{model.name}` is listed twice"
            raise document.error(problem, ("predicates", index), "remove one of the two")
        _check_source(document, index, model, file.sources)
        predicates[model.name] = _predicate(document, index, model, file.sources)
    return MappingProxyType(predicates)


def _check_source(
    document: Document, index: int, model: PredicateModel, sources: Mapping[str, SourceModel]
) -> None:
    """A declared source; for the gate, a slot or a fact that it computes."""
    if model.source != GATE and model.source not in sources:
        raise document.error(
            f"predicate `{model.name}` has the undeclared source `{shown(model.source)}`",
            ("predicates", index, "source"),
            did_you_mean(model.source, (*sources, GATE)),
        )
    computed = model.name in GATE_PREDICATES or model.name.startswith(SLOT_PREFIX)
    if model.source == GATE and not computed:
        raise document.error(
            f"predicate `{model.name}` has the source `gate`, which does not compute it",
            ("predicates", index, "name"),
            did_you_mean(model.name, GATE_PREDICATES),
        )


def _predicate(
    document: Document, index: int, model: PredicateModel, sources: Mapping[str, SourceModel]
) -> Predicate:
    source = sources.get(model.source, SourceModel(skew_s=0))
    try:
        return Predicate(
            name=model.name,
            type=model.type,
            source=model.source,
            unit=model.unit,
            values=tuple(dict.fromkeys(model.values or ())),
            max_age_s=model.max_age_s,
            pin=model.pin,
            skew_s=source.skew_s,
        )
    except ConfigError as error:
        line = document.line(("predicates", index))
        raise placed(error, document.path, {model.name: [line]}) from error
