"""State and session over HTTP: one signed `GET /state?subject=..&action_id=..&object_id=..`.

The answer is `{"state": {NAME: VALUE or {"value": VALUE, "as_of": TIME}}, "session": {..} or null}`,
with names from state.yaml; what has a greatest age comes with `as_of`. The session has the form
that it has in a request.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from gate.configuration import Configuration
from gate.errors import RequestError
from gate.load.connectors import StateSource as Settings
from gate.load.model import validate_value
from gate.load.requests import SessionModel
from gate.load.requests import _session as session_of
from gate.records import NONE, UNRESOLVED, Session
from gate.state import GATE, Broken, value_of
from inference.connectors.call import Endpoint, NoAnswer, call, fields, open_endpoint
from inference.sources import Fault, Told, Unread, Untold

NAMES: Final = 1000
"""Most predicates in one answer."""


@dataclass(frozen=True, slots=True)
class HttpSource:
    """Asks one service; `nonce` gives every request a key of its own, so no old answer fits it."""

    endpoint: Endpoint
    configuration: Configuration
    clock: Callable[[], datetime]
    deadline_s: float
    body_bytes: int
    nonce: Callable[[], str] = secrets.token_urlsafe

    def read(
        self, subject: str, action_id: str | None = None, object_id: str | None = None
    ) -> Told | Untold:
        """State and session now, or the reason why there are none; never raises for an answer."""
        asked = {"subject": subject, "action_id": action_id, "object_id": _known(object_id)}
        path = "/state?" + urlencode({name: text for name, text in asked.items() if text})
        answer = call(
            self.endpoint,
            "GET",
            path,
            key=self.nonce(),
            at=self.clock(),
            deadline_s=self.deadline_s,
            body_bytes=self.body_bytes,
        )
        if isinstance(answer, NoAnswer):
            return Untold(Unread(answer.reason.value))
        if answer.code != 200:
            return Untold(Unread.REFUSED)
        return self._told(answer.value, subject)

    def _told(self, value: Any, subject: str) -> Told | Untold:
        told = fields(value, "state", "session")
        state = told["state"] if told is not None else None
        if told is None or not isinstance(state, dict) or len(state) > NAMES:
            return Untold(Unread.ANSWER_MALFORMED)
        try:
            session = _session(told["session"], self.configuration)
        except RequestError:
            return Untold(Unread.SESSION_MALFORMED)
        if session is not None and session.subject != subject:
            return Untold(Unread.SUBJECT_DIFFERS)
        now = self.clock()
        kept = {name: raw for name, raw in state.items() if _fits(self.configuration, name, raw)}
        return Told(kept, session, now, tuple(_faults(self.configuration, state, kept, now)))


def open_source(
    settings: Settings, configuration: Configuration, root: Path, clock: Callable[[], datetime]
) -> HttpSource:
    """The source that connectors.yaml declares, its files below `root`; raises AssemblyError."""
    endpoint = open_endpoint(settings.service, root)
    return HttpSource(endpoint, configuration, clock, settings.deadline_s, settings.body_bytes)


def _known(object_id: str | None) -> str | None:
    return None if object_id in (NONE, UNRESOLVED) else object_id


def _session(value: Any, configuration: Configuration) -> Session | None:
    """The session, checked like one in a request."""
    if value is None:
        return None
    model = validate_value(SessionModel, value, "state source, field session")
    return session_of(model, configuration, "state source")


def _fits(configuration: Configuration, name: str, raw: Any) -> bool:
    """True for a value that the gate may judge: declared, not the gate's own, single or dated."""
    declared = configuration.predicates.get(name)
    if declared is None or declared.source == GATE:
        return False
    return _single(raw["value"]) and _single(raw["as_of"]) if _dated(raw) else _single(raw)


def _dated(raw: Any) -> bool:
    return isinstance(raw, dict) and raw.keys() == {"value", "as_of"}


def _single(raw: Any) -> bool:
    return raw is None or isinstance(raw, bool | int | float | str)


def _faults(
    configuration: Configuration, state: Mapping[str, Any], kept: Mapping[str, Any], now: datetime
) -> list[Fault]:
    """Every told value that no rule could use now, with the gate's own code."""
    faults = []
    for name, raw in sorted(state.items()):
        value = value_of(configuration.predicates, name, {name: raw}, {}, now)
        if isinstance(value, Broken):
            faults.append(Fault(name, value.value))
        elif name not in kept:
            faults.append(Fault(name, Broken.MISTYPED.value))
    return faults
