"""Confirmations, dialogues and equal writes, found again in the ledger.

A token is made from the appliance key and the salt of the decision that gives it out, so that it
cannot be guessed, and is bound to everything that the decision's record says. Nothing else is kept:
what it stands for is read from record and receipt, and it is used up by a `CONSUMED` record.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gate import confirmation
from gate.configuration import Configuration
from gate.errors import LedgerError
from gate.findings import Findings, find
from gate.ledger.book import Book
from gate.ledger.continuation import Left, continuation_of, left_of
from gate.ledger.encode import Json, moment, plain
from gate.ledger.formats import TOKEN
from gate.ledger.outcome import Outcome, standing
from gate.ledger.pseudonym import digest, keyed
from gate.ledger.receipts import (
    Receipt,
    request_from_receipt,
    tier_answer_from_receipt,
)
from gate.ledger.record import identify
from gate.records import Confirmed, Equal, Request, Reserved, Terminal, TierAnswer, Turn, Write

UNKNOWN, EXPIRED, USED, RECONFIGURED = (
    "TOKEN_UNKNOWN",
    "TOKEN_EXPIRED",
    "TOKEN_USED",
    "CONFIGURATION_CHANGED",
)
"""Why a token confirms nothing. One of somebody else looks like one that never was."""

CONFIRM, DIALOGUE = "confirm", "dialogue"
RECENT: Final = 200
"""Decisions of one speaker that are looked at when clarifications are counted."""


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier decision, read again: its record, its receipt, and what it left for this turn."""

    decision_id: str
    record: Mapping[str, Json]
    receipt: Receipt
    left: Left

    @property
    def decided_at(self) -> datetime:
        """When it was decided."""
        return moment(self.record["decided_at"])


def issue(key: bytes, purpose: str, decision_id: str, salt: bytes) -> str:
    """The token by which a later turn names that decision: `CONFIRM` or `DIALOGUE`."""
    return f"{decision_id}.{keyed(key, purpose, [decision_id, salt.hex()])}"


def token_digest(token: str) -> str:
    """What the ledger keeps of a token."""
    return digest(token.encode("utf-8", "surrogatepass"))


def _named(book: Book, purpose: str, token: str, request: Request) -> Past | None:
    """The decision that gave the token out, to the same subject on the same channel; else None."""
    decision_id, _, _ = token.partition(".")
    stored = book.ledger.get(decision_id) if token.isascii() else None
    if stored is None or book.key is None:
        return None
    record = stored.current
    receipt = book.receipts.get(record["text_commitment"])
    if not isinstance(receipt, Receipt):
        return None
    genuine = issue(book.key, purpose, decision_id, receipt.salt)
    if not hmac.compare_digest(genuine, token):
        return None
    same_subject = identify(book.key, request).subject == record["subject"]
    if not same_subject or receipt.request["channel"] != plain(request.channel):
        return None
    return Past(decision_id, record, receipt, left_of(receipt.context))


def confirmed(
    book: Book, versions: Mapping[str, str], request: Request, now: datetime
) -> Past | str:
    """The decision whose confirmation the request's token gives, or why it confirms nothing."""
    token = request.confirm_token or ""
    earlier = _named(book, CONFIRM, token, request)
    if earlier is None or earlier.left.write is None:
        return UNKNOWN
    if book.ledger.find(f"{TOKEN}{token_digest(token)}") is not None:
        return USED
    if now >= moment(earlier.record["confirm"]["expires_at"]):
        return EXPIRED
    return earlier if earlier.record["versions"] == dict(versions) else RECONFIGURED


def open_dialogue(book: Book, request: Request, now: datetime) -> Past | None:
    """The clarification that the request's dialogue id names; a foreign or expired one is absent."""
    earlier = _named(book, DIALOGUE, request.dialogue_id or "", request)
    told = None if earlier is None else earlier.record["dialogue"]
    if told is None or "expires_at" not in told or now >= moment(told["expires_at"]):
        return None
    return earlier


def findings_of(configuration: Configuration, earlier: Past) -> Findings:
    """What an earlier decision was made from: the findings of its dialogue, or of its own text."""
    went_on = continuation_of(earlier.receipt.context)
    request = request_from_receipt(earlier.record, earlier.receipt)
    return went_on.findings or find(configuration, request, went_on.recognised)


def answer_of(earlier: Past) -> TierAnswer:
    """The tier's answer that an earlier decision was made from; LedgerError if it has none."""
    answer = tier_answer_from_receipt(earlier.receipt)
    if answer is None:
        raise LedgerError(f"decision `{earlier.decision_id}` has no tier result; ask anew")
    return answer


def confirmation_of(earlier: Past) -> Confirmed:
    """What was confirmed, as it was read back; LedgerError if the decision asked for nothing."""
    left = earlier.left
    if left.write is None or left.pins is None:
        raise LedgerError(f"decision `{earlier.decision_id}` asked for no confirmation")
    return Confirmed(earlier.decision_id, left.write, left.pins)


def turns_of(earlier: Past) -> tuple[str, ...]:
    """The decisions of a dialogue, that one included."""
    return (*continuation_of(earlier.receipt.context).turns, earlier.decision_id)


def history(book: Book, turns: tuple[str, ...]) -> tuple[Turn, ...]:
    """The customer's own turns of a dialogue; those whose text was erased are left out."""
    return tuple(Turn("user", text) for text in _texts(book, turns))


def _texts(book: Book, turns: tuple[str, ...]) -> Iterator[str]:
    for decision_id in turns:
        stored = book.ledger.get(decision_id)
        if stored is None:
            continue
        receipt = book.receipts.get(stored.current["text_commitment"])
        if isinstance(receipt, Receipt):
            yield request_from_receipt(stored.current, receipt).utterance


# ---- who asks, and for what ----------------------------------------------------------------------


def speaker(book: Book, request: Request) -> str | None:
    """A keyed digest of channel and subject; None for a request without a session."""
    if book.key is None or request.session is None:
        return None
    return keyed(book.key, "speaker", [plain(request.channel), plain(request.session.subject)])


def intent(book: Book, request: Request, write: Write) -> str | None:
    """A keyed digest of a write and its subject; equal writes of one subject have the same."""
    if book.key is None or request.session is None:
        return None
    slots = [list(slot) for slot in write.slots]
    subject = plain(request.session.subject)
    return keyed(book.key, "intent", [subject, write.action_id, write.object_id, slots])


def clarifications(book: Book, who: str | None, since: datetime) -> int:
    """How often a speaker was asked since then and since the last dispatch; confirmations apart."""
    recent = book.receipts.by_speaker(who, since, RECENT) if who else []
    known = book.ledger.find_all(recent) if recent else {}
    count = 0
    for record in (known[i].current for i in recent if i in known):
        if record["terminal"] == Terminal.DISPATCH:
            return count
        count += record["terminal"] == Terminal.CLARIFY and not _asked_to_confirm(record)
    return count


def _asked_to_confirm(record: Mapping[str, Json]) -> bool:
    return (
        record["rule_id"] == Reserved.CONFIRM and record["reason_codes"][0] in confirmation.ASKING
    )


@dataclass(frozen=True, slots=True)
class Same:
    """What the ledger knows of one write of one subject: digests of tokens that may still confirm
    it, dispatches without an end, and those that were done with the time."""

    tokens: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    done: tuple[tuple[str, str], ...] = ()

    def equal(self, since: datetime | None) -> Equal | None:
        """The equal write that stands in the way: one without an end, or one done since then."""
        if self.open:
            return Equal(self.open[-1], open=True)
        later = [one for one in self.done if since is not None and moment(one[1]) > since]
        return Equal(later[-1][0], open=False, done_at=later[-1][1]) if later else None


def same(book: Book, wanted: str | None, now: datetime) -> Same:
    """Everything of the same intent, oldest first."""
    tokens: list[str] = []
    unended: list[str] = []
    done: list[tuple[str, str]] = []
    for decision_id in book.receipts.by_intent(wanted) if wanted else ():
        stored = book.ledger.get(decision_id)
        if stored is None:
            continue
        record = stored.current
        if record["terminal"] == Terminal.DISPATCH:
            ended = _done_at(book, decision_id)
            if ended is None:
                unended.append(decision_id)
            elif ended:
                done.append((decision_id, ended))
        elif _asked_to_confirm(record) and now < moment(record["confirm"]["expires_at"]):
            tokens += _unused(book, decision_id, record)
    return Same(tuple(tokens), tuple(unended), tuple(done))


def _done_at(book: Book, decision_id: str) -> str | None:
    """When a dispatch was done; empty if it was not carried out, None if its end is not known."""
    match standing(book.ledger, decision_id):
        case None | Outcome.IN_DOUBT:
            return None
        case Outcome.COMPLETED | Outcome.RECORDED_ONLY:
            found = book.ledger.find(f"executed:{decision_id}")
            return "" if found is None else str(found.current["at"])
        case _:
            return ""


def _unused(book: Book, decision_id: str, record: Mapping[str, Json]) -> Iterator[str]:
    receipt = book.receipts.get(record["text_commitment"])
    if isinstance(receipt, Receipt) and book.key is not None:
        token = token_digest(issue(book.key, CONFIRM, decision_id, receipt.salt))
        if book.ledger.find(f"{TOKEN}{token}") is None:
            yield token


def window(configuration: Configuration, now: datetime) -> datetime:
    """Since when clarifications are counted."""
    return now - timedelta(seconds=configuration.dialogue.window_s)
