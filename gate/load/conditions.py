"""The `when:` of a rule: one model per form of condition, and the way into `gate.conditions`."""

from __future__ import annotations

import difflib
import re
from decimal import Decimal
from typing import Annotated, Any, Final

import pydantic
from pydantic import AfterValidator, Discriminator, Field, PlainValidator, WithJsonSchema

from gate import conditions as ast
from gate.load.fixes import shown
from gate.load.model import Model, Number, Text, failure

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AGE = re.compile(r"([1-9][0-9]{0,8})([smhd])")


def _literal(value: Any) -> bool | Decimal | str:
    """true, false, a number or a text."""
    if isinstance(value, bool | str | Decimal):
        return value
    if isinstance(value, int):
        return Decimal(value)
    raise failure(f"`{shown(value)}` is no value", "write true, false, a number or a text")


def _seconds(value: Any) -> int:
    """An age such as `30d` in seconds."""
    found = _AGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise failure(
            f"`{shown(value)}` is no age", "write a number and s, m, h or d, such as `30d`"
        )
    return int(found[1]) * _UNITS[found[2]]


def _slot(value: str) -> str:
    if not re.fullmatch(r"slot\.[a-z][a-z0-9_]*", value):
        raise failure(f"`{shown(value)}` is no slot", "write `slot.NAME`")
    return value


Literal = Annotated[
    Any,
    PlainValidator(_literal),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "number"}, {"type": "string"}]}),
]
Age = Annotated[
    int,
    PlainValidator(_seconds),
    WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,8}[smhd]$"}),
]
Slot = Annotated[Text, AfterValidator(_slot)]


class FieldModel(Model):
    """The value of another predicate."""

    predicate: Text
    """Name of the predicate."""


def _operand(value: Any) -> str:
    return "<field>" if isinstance(value, dict) else "<number>"


Operand = Annotated[
    Annotated[Number, pydantic.Tag("<number>")] | Annotated[FieldModel, pydantic.Tag("<field>")],
    Discriminator(_operand),
]


class AlwaysModel(Model):
    """`{}`: always true."""


class IsModel(Model):
    """True if the predicate has exactly this value."""

    predicate: Text
    """Name of the predicate."""
    is_: Annotated[Literal, Field(alias="is")]
    """The value."""


class InModel(Model):
    """True if the predicate has one of these values."""

    predicate: Text
    """Name of the predicate."""
    in_: Annotated[list[Literal], Field(alias="in", min_length=1)]
    """The values, all of one type."""


class BoundsModel(Model):
    """True if the number keeps every given bound."""

    predicate: Text
    """Name of the predicate."""
    gt: Operand | None = None
    """Greater than this number or predicate."""
    ge: Operand | None = None
    """Greater than or equal to."""
    lt: Operand | None = None
    """Less than."""
    le: Operand | None = None
    """Less than or equal to."""


class EqualsModel(Model):
    """True if two predicates have the same value."""

    predicate: Text
    """Name of the predicate."""
    equals: FieldModel
    """The other predicate."""


class AgeModel(Model):
    """True if the timestamp is older, younger, or both."""

    predicate: Text
    """Name of the predicate, a timestamp."""
    older_than: Age | None = None
    """Age such as `30d`, `12h`, `15m` or `90s`."""
    younger_than: Age | None = None
    """Age such as `30d`, `12h`, `15m` or `90s`."""


class AllModel(Model):
    """True if every part is."""

    all_: Annotated[list[ConditionField], Field(alias="all", min_length=1)]
    """The parts."""


class AnyModel(Model):
    """True if at least one part is."""

    any_: Annotated[list[ConditionField], Field(alias="any", min_length=1)]
    """The parts."""


class NotModel(Model):
    """True if the part is false."""

    not_: Annotated[ConditionField, Field(alias="not")]
    """The part."""


class IfPresentModel(Model):
    """False where the slot is absent, else what `then` says."""

    if_present: Slot
    """The slot, as `slot.NAME`."""
    then: ConditionField
    """The condition that may read the slot."""


_SHAPES: Final = {
    "is": "<is>",
    "in": "<in>",
    "equals": "<equals>",
    **dict.fromkeys(("gt", "ge", "lt", "le"), "<bounds>"),
    **dict.fromkeys(("older_than", "younger_than"), "<age>"),
    "all": "<all>",
    "any": "<any>",
    "not": "<not>",
    "if_present": "<if_present>",
}
"""The form of a condition by the key that tells it; the brackets mark it as no key of a file."""


def _shape(value: Any) -> str:
    """The form that a condition has, or the nearest one, whose model then names what is wrong."""
    if not isinstance(value, dict) or not value:
        return "<always>"
    for key in _SHAPES:
        if key in value:
            return _SHAPES[key]
    others = [k for k in value if k != "predicate"]
    near = [n for k in others for n in difflib.get_close_matches(str(k), list(_SHAPES), 1, 0.5)]
    return _SHAPES[near[0]] if near else "<is>"


ConditionField = Annotated[
    Annotated[AlwaysModel, pydantic.Tag("<always>")]
    | Annotated[IsModel, pydantic.Tag("<is>")]
    | Annotated[InModel, pydantic.Tag("<in>")]
    | Annotated[BoundsModel, pydantic.Tag("<bounds>")]
    | Annotated[EqualsModel, pydantic.Tag("<equals>")]
    | Annotated[AgeModel, pydantic.Tag("<age>")]
    | Annotated[AllModel, pydantic.Tag("<all>")]
    | Annotated[AnyModel, pydantic.Tag("<any>")]
    | Annotated[NotModel, pydantic.Tag("<not>")]
    | Annotated[IfPresentModel, pydantic.Tag("<if_present>")],
    Discriminator(_shape),
]

for _model in (AllModel, AnyModel, NotModel, IfPresentModel):
    _model.model_rebuild()


def condition(model: Model) -> ast.Condition:
    """The condition that a validated model stands for; ConfigError from `gate.conditions`."""
    match model:
        case IsModel():
            return ast.Is(model.predicate, model.is_)
        case InModel():
            return ast.In(model.predicate, tuple(model.in_))
        case BoundsModel():
            bounds = (_bound(b) for b in (model.gt, model.ge, model.lt, model.le))
            return ast.Bounds(model.predicate, *bounds)
        case EqualsModel():
            return ast.Equals(model.predicate, ast.Ref(model.equals.predicate))
        case AgeModel():
            return ast.Age(model.predicate, model.older_than, model.younger_than)
        case AllModel():
            return ast.All(tuple(condition(m) for m in model.all_))
        case AnyModel():
            return ast.AnyOf(tuple(condition(m) for m in model.any_))
        case NotModel():
            return ast.Not(condition(model.not_))
        case IfPresentModel():
            return ast.IfPresent(model.if_present, condition(model.then))
    return ast.Always()


def _bound(model: Decimal | FieldModel | None) -> Decimal | ast.Ref | None:
    return ast.Ref(model.predicate) if isinstance(model, FieldModel) else model
