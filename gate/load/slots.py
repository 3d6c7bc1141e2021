"""`slots.yaml`: the typed values that actions need besides their object, and who may refer to them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gate.catalog import Action, Catalog, ObjectType, SlotSpec
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Number, Text, validate
from gate.load.queries import Query
from gate.load.yamlfile import Document, Loc
from gate.state import NUMBER, SLOT_PREFIX, TEXT, TIMESTAMP, Predicate

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]

PREDICATE_TYPES: Final[Mapping[str, str]] = MappingProxyType({"amount": NUMBER, "date": TIMESTAMP})
"""What rules read a slot as; every other type is text."""


class SlotModel(Model):
    """One typed value that actions may need."""

    name: Name
    """Name that actions and rules (`slot.NAME`) use."""
    type: Literal["amount", "date", "counterparty", "email", "address", "object"]
    """What the text must hold."""
    optional: bool = False
    """True if an action runs without it; a text that is there but unusable still asks back."""
    currencies: Annotated[list[Currency], Field(min_length=1)] | None = None
    """Currencies of an amount (ISO 4217); the first is meant where the text names none."""
    minimum: Number | None = None
    """Smallest amount that is accepted."""
    maximum: Number | None = None
    """Largest amount that is accepted."""
    decimals: Annotated[int, Field(ge=0, le=8)] | None = None
    """Most digits behind an amount's decimal point; 2 if left out."""
    object_types: Annotated[list[str], Field(min_length=1)] | None = None
    """Own object types of the catalog that an `object` may have."""
    ask: dict[str, Text] = Field(default_factory=dict)
    """What the customer is asked where it is missing, by language."""


class SlotsFile(FileModel):
    """The typed values that actions may need besides their object."""

    slots: list[SlotModel] = Field(default_factory=list)
    """The slots."""


OBJECT: Final = "object"
"""The place of an action's object in the text that confirms it, so no slot's name."""

EMPTY: Final[Mapping[str, SlotSpec]] = MappingProxyType({})
"""No slots: no action may name one."""

_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "currencies": "amount",
        "minimum": "amount",
        "maximum": "amount",
        "decimals": "amount",
        "object_types": "object",
    }
)
"""Keys with the only type that they go with."""


def read(document: Document, types: Mapping[str, ObjectType]) -> Mapping[str, SlotSpec]:
    """The slots by name; ConfigError with file, line and fix."""
    file = validate(SlotsFile, document)
    specs: dict[str, SlotSpec] = {}
    for index, model in enumerate(file.slots):
        loc = ("slots", index)
        if model.name in specs:
            raise document.error(f"slot `{model.name}` is listed twice", loc, "rename one")
        if model.name == OBJECT:
            raise document.error(f"slot `{OBJECT}` has a reserved name", loc, "rename it")
        problem = _contradiction(model) or _range(model)
        if problem:
            key, what, fix = problem
            raise document.error(f"slot `{model.name}` {what}", (*loc, key), fix)
        _check_types(document, loc, model, types)
        specs[model.name] = _spec(model)
    return MappingProxyType(specs)


def _spec(model: SlotModel) -> SlotSpec:
    return SlotSpec(
        name=model.name,
        type=model.type,
        optional=model.optional,
        currencies=tuple(dict.fromkeys(model.currencies or ())),
        minimum=model.minimum,
        maximum=model.maximum,
        decimals=2 if model.decimals is None else model.decimals,
        object_types=tuple(dict.fromkeys(model.object_types or ())),
        ask=MappingProxyType(dict(model.ask)),
    )


def _contradiction(model: SlotModel) -> tuple[str, str, str] | None:
    """The key, the problem and the fix of a key that does not fit the type, or of one that lacks."""
    for key, kind in _OF.items():
        if getattr(model, key) is not None and model.type != kind:
            return key, f"of type `{model.type}` has `{key}`", f"remove `{key}:`"
    if model.type == "amount" and model.currencies is None:
        return "type", "is an amount without currencies", "add `currencies: [USD]`"
    if model.type == "object" and model.object_types is None:
        return "type", "is an object without types", "add `object_types:`"
    return None


def _range(model: SlotModel) -> tuple[str, str, str] | None:
    low, high = model.minimum, model.maximum
    if high is not None and high <= 0:
        return "maximum", f"has the maximum `{high}`", "write a positive amount"
    if low is not None and low < 0:
        return "minimum", f"has the minimum `{low}`", "write 0 or more"
    if low is not None and high is not None and high < low:
        return "maximum", f"has the maximum `{high}` below its minimum `{low}`", "swap the two"
    return None


def _check_types(
    document: Document, loc: Loc, model: SlotModel, types: Mapping[str, ObjectType]
) -> None:
    own = [name for name, kind in types.items() if kind.own]
    for position, name in enumerate(model.object_types or ()):
        if name not in own:
            what = (
                "is not one of the session's (`own: true`)" if name in types else "is not declared"
            )
            raise document.error(
                f"slot `{model.name}` names the object type `{shown(name)}`, which {what}",
                (*loc, "object_types", position),
                did_you_mean(name, own) if own else "declare an own type in catalog.yaml",
            )


def check_actions(document: Document, catalog: Catalog, specs: Mapping[str, SlotSpec]) -> None:
    """Refuse an action that names an undeclared slot, or two that no text tells apart."""
    for index, action in enumerate(catalog.actions.values()):
        loc = ("actions", index, "slots")
        for position, name in enumerate(action.slots):
            if name not in specs:
                raise document.error(
                    f"action `{action.action_id}` names the slot `{shown(name)}`, "
                    "which slots.yaml lacks",
                    (*loc, position),
                    did_you_mean(name, specs) if specs else "declare it in slots.yaml",
                )
        clash = _clash(action, [specs[name] for name in action.slots])
        if clash:
            raise document.error(
                f"action `{action.action_id}` {clash}", loc, "no text tells them apart: remove one"
            )


def _clash(action: Action, specs: list[SlotSpec]) -> str | None:
    for one, other in combinations(specs, 2):
        shared = set(one.object_types) & set(other.object_types)
        if one.type == other.type and (shared or one.type != "object"):
            return f"needs the slots `{one.name}` and `{other.name}`, both of type `{one.type}`"
    for spec in specs:
        for name in set(spec.object_types) & set(action.types):
            return f"takes an object of type `{name}`, and so does its slot `{spec.name}`"
    return None


def check_predicates(
    document: Document, predicates: Mapping[str, Predicate], specs: Mapping[str, SlotSpec]
) -> None:
    """Refuse a `slot.NAME` predicate without its slot, of another type, or in more than one currency."""
    for index, predicate in enumerate(predicates.values()):
        if not predicate.name.startswith(SLOT_PREFIX):
            continue
        loc = ("predicates", index)
        spec = specs.get(predicate.name.removeprefix(SLOT_PREFIX))
        if spec is None:
            raise document.error(
                f"predicate `{predicate.name}` has no slot in slots.yaml",
                (*loc, "name"),
                did_you_mean(predicate.name, [SLOT_PREFIX + n for n in specs])
                if specs
                else "declare it in slots.yaml",
            )
        wanted = PREDICATE_TYPES.get(spec.type, TEXT)
        if predicate.type != wanted:
            raise document.error(
                f"predicate `{predicate.name}` is `{predicate.type}`, its slot `{spec.type}`",
                (*loc, "type"),
                f"write `type: {wanted}`",
            )
        _check_unit(document, loc, predicate, spec)


def _check_unit(document: Document, loc: Loc, predicate: Predicate, spec: SlotSpec) -> None:
    """Rules compare plain numbers: an amount that they read has one currency, which is its unit."""
    if spec.type != "amount":
        return
    if len(spec.currencies) > 1:
        raise document.error(
            f"predicate `{predicate.name}` reads an amount in {len(spec.currencies)} currencies",
            loc,
            "leave the slot one currency, or do not read it in rules",
        )
    if predicate.unit not in (None, *spec.currencies):
        raise document.error(
            f"predicate `{predicate.name}` has the unit `{predicate.unit}`, "
            f"its slot is in `{spec.currencies[0]}`",
            (*loc, "unit"),
            f"write `unit: {spec.currencies[0]}`",
        )


def check_queries(
    document: Document, queries: Mapping[str, Query], specs: Mapping[str, SlotSpec]
) -> None:
    """Refuse a query parameter that is supplied from an undeclared slot."""
    for index, query in enumerate(queries.values()):
        for name, supplied in query.parameters.items():
            slot = supplied.removeprefix(SLOT_PREFIX)
            if supplied.startswith(SLOT_PREFIX) and slot not in specs:
                raise document.error(
                    f"parameter `{name}` of query `{query.query_id}` reads `{supplied}`, "
                    "which slots.yaml lacks",
                    ("queries", index, "parameters", name),
                    did_you_mean(slot, specs) if specs else "declare it in slots.yaml",
                )
