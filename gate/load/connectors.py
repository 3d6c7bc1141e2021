"""`connectors.yaml`: which connector carries out which write, and where state is read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from gate.catalog import Catalog
from gate.errors import ConfigError
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Identifier, Model, Number, Text, validate
from gate.load.services import Service, Tls, service_fault
from gate.load.yamlfile import Document, Loc
from gate.records import Mode

HTTP, OUTBOX, PLUGIN = "http", "outbox", "plugin"

Seconds = Annotated[Number, Field(gt=0, le=120)]
Life = Annotated[Number, Field(gt=0, le=86_400)]
File = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class TlsModel(Model):
    """Who the service is, and who we are to it."""

    ca_file: File
    """Certificates (PEM) of the authority that signed the service's; no other is trusted."""
    certificate_file: File | None = None
    """Our own certificate (PEM), for mutual TLS."""
    key_file: File | None = None
    """The key of our own certificate."""
    server_name: Text | None = None
    """Name in the service's certificate, where that is not its address."""


class ConnectorModel(Model):
    """One way to reach a service."""

    name: Identifier
    """Name in `actions` and in records."""
    kind: Literal["http", "outbox", "plugin"]
    """`http` asks a service, `outbox` keeps orders until they are delivered, `plugin` is yours."""
    url: Text | None = None
    """Address of the service, an IP address; for `http`."""
    secret_file: File | None = None
    """File with the secret that signs requests and answers; for `http`."""
    tls: TlsModel | None = None
    """Certificates; for `http` with an https address."""
    internal: list[Text] = Field(default_factory=list)
    """Networks besides loopback that the address may lie in, for example 10.20.0.0/16."""
    settle_s: Annotated[Number, Field(ge=0, le=600)] | None = None
    """Longest time between an effect and its sight by key, clock differences included; 5."""
    file: File | None = None
    """SQLite file of the orders; for `outbox`."""
    through: Identifier | None = None
    """The connector that delivers; for `outbox`."""
    plugin: Text | None = None
    """Name of the entry point in the group routelock.connectors; for `plugin`."""
    settings: dict[str, Any] | None = None
    """What the plug-in is given; for `plugin`."""


class AssignmentModel(Model):
    """Who carries out one action."""

    connector: Identifier
    """A connector of this file."""
    deadline_s: Seconds
    """Most seconds that the customer waits for the service."""
    valid_for_s: Life
    """Seconds after its dispatch in which the order may take effect."""


class StateSourceModel(Model):
    """The service that tells state and session."""

    url: Text
    """Address of the service, an IP address."""
    secret_file: File | None = None
    """File with the secret that signs requests and answers."""
    tls: TlsModel | None = None
    """Certificates, for an https address."""
    internal: list[Text] = Field(default_factory=list)
    """Networks besides loopback that the address may lie in."""
    deadline_s: Seconds
    """Most seconds for one reading."""
    body_bytes: Annotated[int, Field(ge=256, le=2**22)] = 65_536
    """Largest answer that is read."""


class ConnectorsFile(FileModel):
    """Connectors of the write actions, and the source of state and session."""

    connectors: list[ConnectorModel] = Field(default_factory=list)
    """Ways to reach services."""
    actions: dict[Identifier, AssignmentModel] = Field(default_factory=dict)
    """Who carries out which write action."""
    record_only: list[Identifier] = Field(default_factory=list)
    """Write actions that are recorded and reach no service."""
    state: StateSourceModel | None = None
    """Where state and session are read; without it trusted channels send them."""


@dataclass(frozen=True, slots=True)
class ConnectorEntry:
    """One declared connector; what its kind does not use is None or empty."""

    name: str
    kind: str
    service: Service | None = None
    settle_s: float = 5.0
    file: str | None = None
    through: str | None = None
    plugin: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One write action's connector and times in seconds."""

    connector: str
    deadline_s: float
    valid_for_s: float


@dataclass(frozen=True, slots=True)
class StateSource:
    """The service that tells state and session."""

    service: Service
    deadline_s: float
    body_bytes: int


@dataclass(frozen=True, slots=True)
class Connectors:
    """What `connectors.yaml` says."""

    entries: Mapping[str, ConnectorEntry] = field(default_factory=dict)
    assignments: Mapping[str, Assignment] = field(default_factory=dict)
    record_only: tuple[str, ...] = ()
    state: StateSource | None = None


EMPTY: Final = Connectors()
"""No connectors: no write action may be served."""


def read(document: Document, catalog: Catalog) -> Connectors:
    """The connectors; ConfigError with file, line and fix."""
    file = validate(ConnectorsFile, document)
    entries: dict[str, ConnectorEntry] = {}
    for index, model in enumerate(file.connectors):
        if model.name in entries:
            problem = f"connector `{model.name}` is listed twice"
            raise document.error(problem, ("connectors", index), "rename one")
        entries[model.name] = _entry(document, ("connectors", index), model)
    for index, model in enumerate(file.connectors):
        _check_through(document, ("connectors", index), model, entries)
    for action_id, assignment in file.actions.items():
        _check_action(document, ("actions", action_id), action_id, catalog)
        _check_assignment(document, ("actions", action_id), assignment, entries)
    _check_record_only(document, file, catalog)
    return Connectors(
        entries=MappingProxyType(entries),
        assignments=MappingProxyType({a: _assignment(m) for a, m in file.actions.items()}),
        record_only=tuple(file.record_only),
        state=_state(document, file.state),
    )


def uncovered(connectors: Connectors, catalog: Catalog) -> tuple[str, ...]:
    """The write actions that have neither a connector nor the mark `record_only`, in file order."""
    covered = {*connectors.assignments, *connectors.record_only}
    writes = (a for a in catalog.actions.values() if a.mode is Mode.WRITE)
    return tuple(a.action_id for a in writes if a.action_id not in covered)


def refuse_uncovered(connectors: Connectors, catalog: Catalog, folder: Path) -> None:
    """Refuse to serve a write action that nothing would carry out; ConfigError names the first."""
    missing = uncovered(connectors, catalog)
    if missing:
        raise ConfigError(
            f"write action `{missing[0]}` has no connector",
            file=str(folder / "connectors.yaml"),
            fix="give it one under `actions:`, or list it under `record_only:`",
        )


def moved(connectors: Connectors, name: str, url: str) -> Connectors:
    """The same connectors with one service at another address, checked alike.

    For a service whose port is known only once it runs; ConfigError for an address that may not be.
    """
    entry = connectors.entries.get(name)
    if entry is None or entry.service is None:
        fix = did_you_mean(name, (n for n, e in connectors.entries.items() if e.service))
        raise ConfigError(f"no service `{shown(name)}` to move", fix=fix)
    entries = {**connectors.entries, name: replace(entry, service=_at(entry.service, url))}
    return replace(connectors, entries=MappingProxyType(entries))


def moved_state(connectors: Connectors, url: str) -> Connectors:
    """The same connectors with the state source at another address; as `moved`."""
    if connectors.state is None:
        raise ConfigError("no state source to move", fix="declare `state:` in connectors.yaml")
    service = _at(connectors.state.service, url)
    return replace(connectors, state=replace(connectors.state, service=service))


def _at(service: Service, url: str) -> Service:
    placed = replace(service, url=url)
    fault = service_fault(placed)
    if fault:
        raise ConfigError(fault.problem, fix=fault.fix)
    return placed


_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    HTTP: ("url", "secret_file", "tls", "internal", "settle_s"),
    OUTBOX: ("file", "through"),
    PLUGIN: ("plugin", "settings"),
}
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    HTTP: ("url",),
    OUTBOX: ("file", "through"),
    PLUGIN: ("plugin",),
}


def _entry(document: Document, loc: Loc, model: ConnectorModel) -> ConnectorEntry:
    for key in sorted(model.model_fields_set - {"name", "kind", *_KEYS[model.kind]}):
        problem = f"`{key}` is nothing for the kind `{model.kind}`"
        raise document.error(problem, (*loc, key), "remove it")
    for key in _NEEDED[model.kind]:
        if getattr(model, key) is None:
            problem = f"connector `{model.name}` of the kind `{model.kind}` has no `{key}`"
            raise document.error(problem, loc, f"add `{key}:`")
    service = _service(document, loc, model) if model.kind == HTTP else None
    return ConnectorEntry(
        name=model.name,
        kind=model.kind,
        service=service,
        settle_s=5.0 if model.settle_s is None else float(model.settle_s),
        file=model.file,
        through=model.through,
        plugin=model.plugin,
        settings=MappingProxyType(dict(model.settings or {})),
    )


def _service(document: Document, loc: Loc, model: ConnectorModel | StateSourceModel) -> Service:
    tls = Tls(**model.tls.model_dump()) if model.tls else None
    service = Service(str(model.url), model.secret_file, tls, tuple(model.internal))
    fault = service_fault(service)
    if fault:
        raise document.error(fault.problem, (*loc, fault.key), fault.fix)
    return service


def _assignment(model: AssignmentModel) -> Assignment:
    return Assignment(model.connector, float(model.deadline_s), float(model.valid_for_s))


def _state(document: Document, model: StateSourceModel | None) -> StateSource | None:
    if model is None:
        return None
    service = _service(document, ("state",), model)
    return StateSource(service, float(model.deadline_s), model.body_bytes)


def _check_through(
    document: Document, loc: Loc, model: ConnectorModel, entries: Mapping[str, ConnectorEntry]
) -> None:
    """An outbox delivers through a connector that reaches a service itself."""
    if model.through is None:
        return
    reaching = [n for n, e in entries.items() if e.kind != OUTBOX]
    if model.through not in reaching:
        problem = f"outbox `{model.name}` delivers through `{model.through}`, which reaches nothing"
        raise document.error(problem, (*loc, "through"), did_you_mean(model.through, reaching))


def _check_action(document: Document, loc: Loc, action_id: str, catalog: Catalog) -> None:
    action = catalog.get(action_id)
    if action is None:
        writes = [a.action_id for a in catalog.actions.values() if a.mode is Mode.WRITE]
        fix = did_you_mean(action_id, writes)
        raise document.error(f"unknown action `{action_id}`", loc, fix)
    if action.mode is not Mode.WRITE or action.pathway != "connector":
        problem = f"action `{action_id}` is no write with the pathway `connector`"
        raise document.error(problem, loc, "remove it here, or correct it in catalog.yaml")


def _check_assignment(
    document: Document, loc: Loc, model: AssignmentModel, entries: Mapping[str, ConnectorEntry]
) -> None:
    if model.connector not in entries:
        problem = f"connector `{model.connector}` is not declared"
        raise document.error(problem, (*loc, "connector"), did_you_mean(model.connector, entries))
    if model.valid_for_s < model.deadline_s:
        problem = f"`valid_for_s` is `{model.valid_for_s}`, less than the deadline"
        raise document.error(problem, (*loc, "valid_for_s"), "make it at least `deadline_s`")


def _check_record_only(document: Document, file: ConnectorsFile, catalog: Catalog) -> None:
    for index, action_id in enumerate(file.record_only):
        loc = ("record_only", index)
        _check_action(document, loc, action_id, catalog)
        if action_id in file.actions or action_id in file.record_only[:index]:
            problem = f"action `{action_id}` is listed twice"
            raise document.error(problem, loc, "remove it here or there")
