"""`backends.yaml`: where proposer models run, what is accepted of them, and the bounds of one call.

A backend is on this machine, or on a declared internal address behind TLS. A `hosted` one is a
vendor's: it loads, for recorded benchmarks only, and no appliance opens with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gate.errors import ConfigError
from gate.load.appliance import Appliance
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Identifier, Model, Number, Text, validate
from gate.load.services import place_fault
from gate.load.yamlfile import Document, Loc

FILE: Final = "backends.yaml"
VLLM, OPENAI, EMBEDDED, RECORDED, SCRIPTED = "vllm", "openai", "embedded", "recorded", "scripted"
PROPOSER: Final = "proposer"
"""Kind of a tier that asks a backend of this file."""

_UNIX = re.compile(r"unix:/?[^\s:?#]+")
_HOSTED = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*/?")

Seconds = Annotated[Number, Field(gt=0, le=600)]
Share = Annotated[Number, Field(ge=0, le=10**6)]
File = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Count = Annotated[int, Field(ge=1, le=1000)]


class PricesModel(Model):
    """What a vendor asks, as published on one day."""

    as_of: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """Day of the price list, for example "2026-11-30"."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    """Currency of the prices."""
    input_per_million: Share
    """Price of a million tokens read."""
    output_per_million: Share
    """Price of a million tokens written."""


class BackendModel(Model):
    """One place where a proposer model runs."""

    name: Identifier
    """Name in tiers and in records."""
    kind: Literal["vllm", "openai", "embedded", "recorded", "scripted"]
    """`vllm` and `openai` are servers; `embedded` runs in this process; the others replay."""
    url: Text | None = None
    """Address of a server: an IP address, or `unix:` with the path of a socket."""
    hosted: bool = False
    """A vendor's server: for recorded benchmarks only."""
    model: Text | None = None
    """The model, or the adapter, by the name that the server knows it under."""
    base: Text | None = None
    """The model that `model` is an adapter of; a canary proves that the adapter is applied."""
    identities: list[Text] = Field(default_factory=list)
    """Identities that the server may report; without any, only `model`."""
    versions: list[Text] = Field(default_factory=list)
    """Versions that the server may report; without any, every one."""
    form: Literal["codes", "names", "json"] | None = None
    """What the model chooses among; `codes` for vllm, `json` for openai."""
    constraint: Literal["structured_outputs", "guided", "json_schema", "json_object"] | None = None
    """How the server is told what is legal; `guided` only for vLLM before 0.12."""
    require_constrained: bool | None = None
    """Whether a server that does not prove the constraint is refused; true unless hosted."""
    reasoning_tokens: Annotated[int, Field(ge=0, le=4096)] = 0
    """Tokens of free-form reasoning before the label; 0 is none."""
    specials: list[Text] = Field(default_factory=list)
    """Control tokens of the model besides those of common chat templates."""
    api_key_file: File | None = None
    """File with the server's key."""
    ca_file: File | None = None
    """Certificates (PEM) of the authority that signed an internal server's."""
    path: File | None = None
    """Model folder (`embedded`) or cassette (`recorded`)."""
    says: Text | None = None
    """The label that a `scripted` backend always gives, by its name in the catalog."""
    deadline_s: Seconds = Decimal(10)
    """Most seconds of one call, retries included, once it has its turn."""
    queue_s: Seconds = Decimal(2)
    """Most seconds that a call waits for its turn."""
    concurrency: Count = 32
    """Calls at the same time."""
    attempts: Annotated[int, Field(ge=1, le=5)] = 2
    """Attempts of one call, where the connection failed."""
    failures: Count = 5
    """Failures in a row after which the backend is left alone."""
    open_s: Seconds = Decimal(15)
    """Seconds for which it is left alone."""
    handshake_s: Annotated[Number, Field(gt=0, le=86_400)] = Decimal(300)
    """Seconds after which the hand-shake is made again."""
    prices: PricesModel | None = None
    """Prices of a hosted backend."""


class BackendsFile(FileModel):
    """Where proposer models run."""

    internal: list[Text] = Field(default_factory=list)
    """Networks besides this machine that a server may lie in, for example 10.20.0.0/16."""
    backends: list[BackendModel] = Field(default_factory=list)
    """The backends."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one backend: seconds, and calls at a time, attempts, failures in a row."""

    deadline_s: float = 10.0
    queue_s: float = 2.0
    concurrency: int = 32
    attempts: int = 2
    failures: int = 5
    open_s: float = 15.0
    handshake_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Prices:
    """A vendor's prices for a million tokens, on the day `as_of`."""

    as_of: str
    currency: str
    input_per_million: Decimal
    output_per_million: Decimal


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """One declared backend; what its kind does not use is empty."""

    name: str
    kind: str
    url: str = ""
    hosted: bool = False
    model: str = ""
    base: str = ""
    identities: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    form: str = "names"
    constraint: str = ""
    require_constrained: bool = True
    reasoning_tokens: int = 0
    specials: tuple[str, ...] = ()
    api_key_file: str | None = None
    ca_file: str | None = None
    path: str = ""
    says: str = ""
    bounds: Bounds = Bounds()
    prices: Prices | None = None


Backends = Mapping[str, BackendEntry]
EMPTY: Final[Backends] = MappingProxyType({})

_SERVER = frozenset(
    {
        *("url", "hosted", "model", "base", "identities", "versions", "form", "constraint"),
        *("require_constrained", "reasoning_tokens", "specials", "api_key_file", "ca_file"),
        *("attempts", "failures", "open_s", "handshake_s", "prices"),
    }
)
_ALL = frozenset({"name", "kind", "deadline_s", "queue_s", "concurrency"})
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    VLLM: _ALL | _SERVER,
    OPENAI: _ALL | _SERVER,
    EMBEDDED: _ALL | {"path"},
    RECORDED: _ALL | {"path"},
    SCRIPTED: _ALL | {"says"},
}
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    VLLM: ("url", "model"),
    OPENAI: ("url", "model"),
    EMBEDDED: ("path",),
    RECORDED: ("path",),
    SCRIPTED: ("says",),
}
_CONSTRAINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "codes": ("structured_outputs", "guided"),
    "names": ("structured_outputs", "guided"),
    "json": ("structured_outputs", "json_schema", "json_object"),
}


def read(document: Document) -> Backends:
    """The backends by name; ConfigError with file, line and fix."""
    file = validate(BackendsFile, document)
    entries: dict[str, BackendEntry] = {}
    for index, model in enumerate(file.backends):
        loc: Loc = ("backends", index)
        if model.name in entries:
            raise document.error(f"backend `{model.name}` is listed twice", loc, "rename one")
        entries[model.name] = _entry(document, loc, model, tuple(file.internal))
    return MappingProxyType(entries)


def check_tiers(document: Document, settings: Appliance, backends: Backends) -> None:
    """Refuse a tier of `appliance.yaml` that asks a backend which `backends.yaml` lacks."""
    for index, tier in enumerate(settings.tiers):
        if tier.backend is not None and tier.backend not in backends:
            problem = f"tier `{shown(tier.name)}` asks the backend `{shown(tier.backend)}`"
            fix = f"declare it in {FILE}"
            if backends:
                fix = f"{did_you_mean(tier.backend, backends)}; {FILE} declares them"
            raise document.error(f"{problem}, which is not declared", ("tiers", index), fix)


def refuse_elsewhere(entry: BackendEntry, folder: Path) -> None:
    """Refuse to serve or train with a vendor's server or a test double; ConfigError says why."""
    if entry.hosted or entry.kind == SCRIPTED:
        what = "is hosted by a vendor" if entry.hosted else "is a test double"
        raise ConfigError(
            f"backend `{entry.name}` {what} and may not serve",
            file=str(folder / FILE),
            fix="name a backend on this machine or on an internal address; "
            "hosted ones are for `routelock bench record`",
        )


def _entry(
    document: Document, loc: Loc, model: BackendModel, internal: tuple[str, ...]
) -> BackendEntry:
    for key in sorted(model.model_fields_set - _KEYS[model.kind]):
        problem = f"`{key}` is nothing for the kind `{model.kind}`"
        raise document.error(problem, (*loc, key), "remove it")
    for key in _NEEDED[model.kind]:
        if getattr(model, key) is None:
            problem = f"backend `{model.name}` of the kind `{model.kind}` has no `{key}`"
            raise document.error(problem, loc, f"add `{key}:`")
    if model.url is not None:
        _check_place(document, loc, model, internal)
    form = model.form or {VLLM: "codes", OPENAI: "json"}.get(model.kind, "names")
    constraint = _constraint(document, loc, model, form) if model.url else ""
    required = model.require_constrained
    return BackendEntry(
        name=model.name,
        kind=model.kind,
        url=(model.url or "").rstrip("/"),
        hosted=model.hosted,
        model=model.model or "",
        base=model.base or "",
        identities=tuple(model.identities) or ((model.model,) if model.model else ()),
        versions=tuple(model.versions),
        form=form,
        constraint=constraint,
        require_constrained=not model.hosted if required is None else required,
        reasoning_tokens=model.reasoning_tokens,
        specials=tuple(model.specials),
        api_key_file=model.api_key_file,
        ca_file=model.ca_file,
        path=model.path or "",
        says=model.says or "",
        bounds=_bounds(model),
        prices=Prices(**model.prices.model_dump()) if model.prices else None,
    )


def _bounds(model: BackendModel) -> Bounds:
    return Bounds(
        deadline_s=float(model.deadline_s),
        queue_s=float(model.queue_s),
        concurrency=model.concurrency,
        attempts=model.attempts,
        failures=model.failures,
        open_s=float(model.open_s),
        handshake_s=float(model.handshake_s),
    )


def _check_place(
    document: Document, loc: Loc, model: BackendModel, internal: tuple[str, ...]
) -> None:
    url = str(model.url)
    if model.hosted:
        if not _HOSTED.fullmatch(url):
            problem = f"address `{shown(url)}` of a hosted backend is no https address"
            raise document.error(problem, (*loc, "url"), "write `https://NAME/PATH`")
        return
    if url.startswith("unix:"):
        if not _UNIX.fullmatch(url):
            problem = f"`{shown(url)}` names no socket"
            raise document.error(problem, (*loc, "url"), "write `unix:/run/name.sock`")
        return
    fault = place_fault(url, internal)
    if fault is not None:
        where = ("internal",) if fault.key == "internal" else (*loc, fault.key)
        fix = fault.fix
        if fault.key == "url":
            fix += "; a vendor's server needs `hosted: true` and is for benchmarks only"
        raise document.error(fault.problem, where, fix)
    if url.startswith("https:") and model.ca_file is None:
        problem = f"https address of `{model.name}` without `ca_file`"
        raise document.error(problem, (*loc, "url"), "add `ca_file:`")


def _constraint(document: Document, loc: Loc, model: BackendModel, form: str) -> str:
    fitting = _CONSTRAINTS[form]
    given = model.constraint or (
        "json_schema" if model.kind == OPENAI and form == "json" else fitting[0]
    )
    if given not in fitting:
        problem = f"constraint `{given}` does not fit the form `{form}`"
        raise document.error(problem, (*loc, "constraint"), did_you_mean(given, fitting))
    return given
