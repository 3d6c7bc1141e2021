"""The HTTP connector: `PUT /orders/KEY` has an order done, `GET /orders/KEY` tells what became of it.

A service answers with one of these bodies, signed, and only with the code beside it:

                                            PUT       GET
{"status": "DONE", "reference": R}          200       200   it took effect
{"status": "IN_DOUBT", "reason": CODE}      200, 202  200   it was taken on and is not decided yet
{"status": "FAILED", "reason": CODE}        4xx       200   no effect, now or later; CODE says why
{"status": "UNKNOWN"}                                 404   no order of this key was seen

Whatever else comes back, or nothing at all, leaves the order IN_DOUBT: the effect may be there.
Only a connection that was never made is a failure that may be tried again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from inference.connectors import orders
from inference.connectors.call import Answer, Endpoint, NoAnswer, call, fields
from inference.connectors.protocol import (
    NOT_TAKEN_ON,
    UNKNOWN,
    Clock,
    Order,
    Outcome,
    Prepared,
    Reason,
    Refused,
    done,
    failed,
    in_doubt,
)

TOLD: Final = range(200, 201)
TAKEN_ON: Final = range(200, 203)
REFUSING: Final = range(400, 500)

_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class HttpConnector:
    """Asks one service, for the actions that it serves; `deadline_s` is for questions by key."""

    name: str
    endpoint: Endpoint
    actions: frozenset[str]
    clock: Clock
    settle_s: float = 5.0
    deadline_s: float = 5.0
    may_repeat: bool = False

    def prepare(self, order: Order) -> Prepared | Refused:
        """The body that would be sent; the service is not asked."""
        return orders.prepare(self.name, order, self.actions)

    def execute(self, order: Order, key: str, deadline_s: float) -> Outcome:
        """Send the order once; an order that is not valid any more is not sent."""
        prepared = self.prepare(order)
        if isinstance(prepared, Refused):
            return failed(prepared.reason)
        if not orders.KEY.fullmatch(key):
            return failed(Reason.MALFORMED_ORDER)
        now = self.clock()
        if now >= order.valid_until:
            return failed(Reason.EXPIRED)
        answer = call(
            self.endpoint,
            "PUT",
            f"/orders/{key}",
            key=key,
            at=now,
            deadline_s=deadline_s,
            body=prepared.body,
        )
        if isinstance(answer, NoAnswer):
            return in_doubt(answer.reason) if answer.sent else failed(answer.reason)
        return _outcome(answer, REFUSING) or in_doubt(Reason.ANSWER_MALFORMED)

    def status(self, key: str) -> Outcome:
        """Ask what became of the key; no usable answer is IN_DOUBT."""
        if not orders.KEY.fullmatch(key):
            return failed(Reason.MALFORMED_ORDER)
        path = f"/orders/{key}"
        answer = call(
            self.endpoint, "GET", path, key=key, at=self.clock(), deadline_s=self.deadline_s
        )
        if isinstance(answer, NoAnswer):
            return in_doubt(answer.reason)
        if answer.code == 404 and answer.value == {"status": "UNKNOWN"}:
            return UNKNOWN
        return _outcome(answer, TOLD) or in_doubt(Reason.ANSWER_MALFORMED)


def _outcome(answer: Answer, failures: range) -> Outcome | None:
    """The outcome that an answer states, or None if code and body do not say one."""
    if (reference := _of(answer, "DONE", "reference", _REFERENCE, TOLD)) is not None:
        return done(reference)
    if (reason := _of(answer, "IN_DOUBT", "reason", _CODE, TAKEN_ON)) is not None:
        return in_doubt(reason)
    reason = _of(answer, "FAILED", "reason", _CODE, failures)
    if reason in NOT_TAKEN_ON:  # the request could still be delivered again by whatever carries it
        return in_doubt(reason)
    return None if reason is None else failed(reason)


def _of(answer: Answer, status: str, name: str, form: re.Pattern[str], codes: range) -> str | None:
    """The one field beside `status` in an answer of that status, code and form, or None."""
    value = fields(answer.value, "status", name)
    if value is None or value["status"] != status or answer.code not in codes:
        return None
    text = value[name]
    return text if isinstance(text, str) and form.fullmatch(text) else None
