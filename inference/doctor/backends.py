"""Checks of the proposer backends: which may serve, and whether each server passes its hand-shake."""

from __future__ import annotations

from collections.abc import Iterator

from gate.errors import ConfigError
from gate.load import backends as declared
from gate.load.backends import BackendEntry
from inference.backends import loop
from inference.backends.handshake import Health, Status, shake
from inference.backends.server import ServerBackend
from inference.doctor.result import Examined, Level, Result, failed

CHECK = "backends"


def backends(examined: Examined) -> Iterator[Result]:
    """The backend of every tier that asks one: a server is asked for its hand-shake, now."""
    institution = examined.institution
    asked = [tier.backend for tier in institution.appliance.tiers if tier.backend is not None]
    if not asked:
        yield Result(CHECK, "backends.yaml", Level.OK, "no tier asks one")
    for name in dict.fromkeys(asked):
        entry = institution.backends[name]
        try:
            declared.refuse_elsewhere(entry, institution.folder)
        except ConfigError as error:
            yield from failed(CHECK, name, error)
            continue
        if entry.kind in (declared.VLLM, declared.OPENAI):
            yield _shaken(entry, loop.call(_shake(ServerBackend(entry, examined.root))))
        else:
            yield Result(CHECK, name, Level.OK, f"{entry.kind}, in this process")


async def _shake(server: ServerBackend) -> Status:
    try:
        return await shake(server)
    finally:
        await server.close()


def _shaken(entry: BackendEntry, status: Status) -> Result:
    """A hand-shake as a line; a server that proves no constraint is a warning only where none is required."""
    if status.health is Health.HEALTHY:
        told = f"{status.health}, `{status.identity}`"
        version = f", version {status.version}" if status.version else ""
        return Result(CHECK, entry.name, Level.OK, f"{told}{version}")
    usable = status.usable(entry.require_constrained)
    level = Level.WARNING if usable else Level.FAILED
    fix = "start the server, or correct backends.yaml; until then its tier abstains"
    return Result(CHECK, entry.name, level, f"{status.health}: {status.reason}", fix)
