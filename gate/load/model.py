"""The base of every file's model, and validation errors in our words: file, line and fix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from gate.errors import RequestError
from gate.load.fixes import did_you_mean, shown
from gate.load.yamlfile import Document, Loc

_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")


def failure(problem: str, fix: str, key: str = "") -> PydanticCustomError:
    """A validation error with its own fix; `key` names the offending key inside the value.

    Pydantic takes no half of a surrogate pair, which a parsed key may hold.
    """
    whole = key.encode("utf-8", "replace").decode("utf-8")
    return PydanticCustomError(
        "routelock", "{problem}", {"problem": problem, "fix": fix, "key": whole}
    )


class Model(BaseModel):
    """A mapping of declared keys and no others; nothing is coerced."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        protected_namespaces=(),
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        """Refuse an unknown key, with the nearest known one."""
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key in value if isinstance(value, dict) else ():
            if key not in known:
                raise failure(
                    f"unknown key `{shown(key)}`", did_you_mean(str(key), known), str(key)
                )
        return value


def _version(value: Any) -> Any:
    """The one version that is read; pydantic alone would take `true` for 1."""
    if type(value) is not int or value != 1:
        raise failure(f"`schema_version` is `{shown(value)}`", "write `1`")
    return value


class FileModel(Model):
    """A whole file."""

    schema_version: Annotated[Literal[1], BeforeValidator(_version)]
    """Version of the file format; 1."""


def _decimal(value: Any) -> Any:
    """A whole number, a decimal or a decimal string as Decimal; anything else is left to fail."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    return value


def _identifier(value: str) -> str:
    if value.startswith("G-") or value in {"NONE", "UNRESOLVED", "OUT_OF_SCOPE"}:
        raise failure(f"`{value}` is reserved", "choose another id")
    return value


Number = Annotated[
    Decimal,
    BeforeValidator(_decimal),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}]}
    ),
]
"""A decimal: a number, or its digits in quotes."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""Some text, not empty."""

Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An id or a name in a request."""

Identifier = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$", max_length=100),
    AfterValidator(_identifier),
]
"""An id: letters, digits and `_ . : -`; never one that the gate reserves."""

Tag = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
"""A language tag: `en`, `zh`, `pt-BR`."""

ByLanguage = dict[Tag, list[Text]]
"""Lists of words by language tag."""

M = TypeVar("M", bound=Model)


def validate(model: type[M], document: Document) -> M:
    """The document as `model`; ConfigError for the first thing in file order that does not fit."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        details = min(found, key=lambda d: document.line(_walk(document.data, d)))
        problem, fix = explain(details)
        raise document.error(problem, _walk(document.data, details), fix) from error


def validate_value(model: type[M], value: Any, where: str) -> M:
    """A JSON object as `model`; RequestError for the first thing that does not fit."""
    if not isinstance(value, dict):
        fix = "write one JSON object"
        raise RequestError(f"`{shown(value)}` is no JSON object", where=where, fix=fix)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        problem, fix = explain(details)
        path = ".".join(str(step) for step in (*details["loc"], _key(details)) if step != "")
        raise RequestError(problem, where=field_of(where, path), fix=fix) from error


def field_of(where: str, path: str) -> str:
    """`where`, narrowed to the field at a dotted path, which may hold a key that somebody sent."""
    return f"{where}, field {shown(path)}" if path else where


def _key(details: ErrorDetails) -> str:
    """The offending key inside the value, for errors of our own."""
    return str(details.get("ctx", {}).get("key", ""))


def _walk(data: Any, details: ErrorDetails) -> Loc:
    """Pydantic's location as a path into the data; names of union members are skipped."""
    path: list[str | int] = []
    for step in (*details["loc"], _key(details)):
        if isinstance(data, Mapping) and step in data:
            data = data[str(step)]
        elif isinstance(data, Sequence) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            continue
        path.append(step)
    return tuple(path)


_WANTED = {
    "string_type": ("text", "write a text; put a number or `true` in quotes"),
    "bool_type": ("true or false", "write `true` or `false`"),
    "int_type": ("a whole number", "write a whole number without quotes"),
    "is_instance_of": ("a number", "write a number"),
    "decimal_type": ("a number", "write a number"),
    "list_type": ("a list", "write a list, for example `[a, b]`"),
    "dict_type": ("a set of keys", "write `key: value` lines"),
    "model_type": ("a set of keys", "write `key: value` lines"),
}


def explain(details: ErrorDetails) -> tuple[str, str]:
    """Problem and fix of one validation error."""
    kind, context, value = details["type"], details.get("ctx", {}), shown(details["input"])
    name = shown(_name(details["loc"]))
    if kind == "routelock":
        return context["problem"], context["fix"]
    if kind == "missing":
        return f"key `{name}` is missing", f"add `{name}:`"
    if kind in _WANTED:
        wanted, fix = _WANTED[kind]
        return f"`{name}` is `{value}`, not {wanted}", fix
    if kind == "literal_error":
        return f"`{name}` is `{value}`", _choices(value, context["expected"])
    return f"`{name}` is `{value}`: {_lower(details['msg'])}", "correct the value"


def _name(loc: Sequence[str | int]) -> str:
    """The last key of a location, without list positions and names of union members."""
    keys = [step for step in loc if isinstance(step, str) and not step.startswith("<")]
    return keys[-1] if keys else "the value"


def _choices(value: str, expected: str) -> str:
    words = re.findall(r"'([^']*)'", expected)
    return did_you_mean(value, words) if words else f"write `{expected}`"


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
