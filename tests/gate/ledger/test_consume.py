"""A confirmation token is used once, in the transaction of the decision that uses it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gate.errors import LedgerError
from gate.ledger.book import write
from gate.ledger.formats import FIELDS, Kind
from gate.ledger.pseudonym import digest, new_salt
from gate.ledger.record import event, identify, seal, use_of
from gate.ledger.segment import chain
from gate.ledger.store import DuplicateRequest, Ledger, TokenUsed, draft
from gate.ledger.verify import verify
from tests.gate.ledger.samples import (
    NOW,
    PROPOSAL,
    REQUEST,
    book_in,
    decided,
    numbered,
    record,
    salt_of,
)

ROOT = Path(__file__).parents[3]
TOKEN = digest(b"token-1")
OTHER = digest(b"token-2")
THIRD = digest(b"token-3")


def decision(number: int) -> dict[str, Any]:
    """A sealed decision."""
    request = numbered(number)
    identity = identify(b"k" * 32, request)
    clear = decided(request, PROPOSAL, NOW)
    return seal(clear, identity=identity, salt=salt_of(request), text_commitment=f"t-{number}")


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """A new ledger."""
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened


def test_the_decision_and_what_it_consumed_are_chained_together(ledger: Ledger) -> None:
    appended = ledger.append(decision(1), consume=(TOKEN,))
    first, second = ledger.iterate()
    assert (appended.sequence, appended.digest) == (1, first.digest)
    assert appended.record == first.record
    assert second.record == {
        "format": 1,
        "kind": "CONSUMED",
        "at": first.record["decided_at"],
        "decision_id": first.record["decision_id"],
        "token": TOKEN,
        "previous": first.digest,
    }
    assert second.key == f"token:{TOKEN}"
    assert ledger.head().sequence == 2
    assert ledger.append(decision(2), consume=(OTHER,)).sequence == 3
    assert verify(ledger.path).ok


def test_a_used_token_is_refused_and_nothing_is_written(ledger: Ledger) -> None:
    first = ledger.append(decision(1), consume=(TOKEN,))
    with pytest.raises(TokenUsed, match="was used; ask for a new confirmation") as caught:
        ledger.append(decision(2), consume=(TOKEN,))
    assert caught.value.decision_id == first.record["decision_id"]
    assert caught.value.stored.sequence == 2
    assert TOKEN not in str(caught.value)
    assert ledger.head().sequence == 2
    assert ledger.get(decision(2)["decision_id"]) is None
    assert ledger.append(decision(2), consume=(OTHER,)).sequence == 3


def test_the_same_decision_again_is_a_duplicate_and_no_replay_of_a_token(ledger: Ledger) -> None:
    ledger.append(decision(1), consume=(TOKEN,))
    for tokens in ((TOKEN,), (OTHER,), (), (OTHER, TOKEN)):
        with pytest.raises(DuplicateRequest):
            ledger.append(decision(1), consume=tokens)
    assert ledger.find(f"token:{OTHER}") is None, "a refused decision uses no token up"
    assert ledger.head().sequence == 2


def test_a_token_is_used_once_within_one_transaction(ledger: Ledger) -> None:
    items = [
        (draft(decision(n)), draft(use_of(Kind.CONSUMED, decision(n), token)))
        for n, token in ((1, TOKEN), (2, TOKEN), (1, OTHER), (3, OTHER))
    ]
    with ledger._file.writing() as connection:
        answers = chain(connection, items, {})
    assert [type(a).__name__ for a in answers] == [
        "Appended",
        "TokenUsed",
        "DuplicateRequest",
        "Appended",
    ]
    assert [s.kind for s in ledger.iterate()] == ["DECISION", "CONSUMED"] * 2


def test_one_decision_uses_up_several_tokens_or_none(ledger: Ledger) -> None:
    asked = ledger.append(decision(1), consume=(TOKEN,), void=(OTHER, THIRD))
    assert [(s.kind, s.key) for s in ledger.iterate(2)] == [
        ("CONSUMED", f"token:{TOKEN}"),
        ("VOIDED", f"token:{OTHER}"),
        ("VOIDED", f"token:{THIRD}"),
    ]
    uses = [s.record for s in ledger.iterate(2)]
    assert {use["decision_id"] for use in uses} == {asked.record["decision_id"]}
    free = digest(b"token-4")
    for uses_up in ({"consume": (free, THIRD)}, {"void": (free, THIRD)}, {"consume": (THIRD,)}):
        with pytest.raises(TokenUsed) as caught:
            ledger.append(decision(2), **uses_up)
        assert (caught.value.token, caught.value.stored.kind) == (THIRD, "VOIDED")
        assert caught.value.decision_id == asked.record["decision_id"]
    assert ledger.head().sequence == 4
    assert ledger.append(decision(2), consume=(free,)).sequence == 5
    assert verify(ledger.path).ok


@pytest.mark.parametrize(
    ("consume", "void"), [((TOKEN, TOKEN), ()), ((TOKEN,), (TOKEN,)), ((), (OTHER, OTHER))]
)
def test_a_token_named_twice_is_refused_alone(
    ledger: Ledger, consume: tuple[str, ...], void: tuple[str, ...]
) -> None:
    with pytest.raises(LedgerError, match="a token is named twice"):
        ledger.append(decision(1), consume=consume, void=void)
    assert ledger.head().sequence == 0


@pytest.mark.parametrize("argument", ["consume", "void"])
def test_a_lone_digest_is_not_taken_for_a_list_of_letters(ledger: Ledger, argument: str) -> None:
    lone: Any = {argument: TOKEN}
    with pytest.raises(LedgerError, match="pass a tuple of digests"):
        ledger.append(decision(1), **lone)


def test_of_many_who_confirm_at_once_one_is_dispatched(tmp_path: Path) -> None:
    def confirm(number: int) -> str:
        request = numbered(number)
        clear = decided(request, PROPOSAL, NOW)
        try:
            written = write(
                book,
                request=request,
                tier_answer=PROPOSAL,
                clear=clear,
                salt=new_salt(),
                consume=(TOKEN,),
            )
        except TokenUsed:
            return "refused"
        return "replayed" if written.replayed else "dispatched"

    with book_in(tmp_path) as book, ThreadPoolExecutor(32) as pool:
        ends = list(pool.map(confirm, [n // 2 for n in range(64)]))
        assert ends.count("dispatched") == 1
        assert ends.count("replayed") <= 1
        assert ends.count("refused") >= 62
        assert [s.kind for s in book.ledger.iterate()] == ["DECISION", "CONSUMED"]
    assert verify(tmp_path / "ledger.sqlite").ok


CONFIRM = """
    import sys
    from pathlib import Path
    from gate.ledger.store import Ledger, TokenUsed
    from tests.gate.ledger.test_consume import decision
    from gate.ledger.pseudonym import digest
    with Ledger.open(Path(sys.argv[1]) / "ledger.sqlite") as ledger:
        for number in range(30):
            try:
                ledger.append(decision({first} + number), consume=(digest(str(number).encode()),))
                print(number)
            except TokenUsed:
                pass
"""


def test_of_two_processes_one_uses_a_token(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", textwrap.dedent(CONFIRM.format(first=n)), str(tmp_path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in (100, 200)
    ]
    used = [line for one in running for line in one.communicate(timeout=60)[0].split()]
    assert sorted(used, key=int) == [str(n) for n in range(30)]
    report = verify(tmp_path / "ledger.sqlite")
    assert (report.ok, report.records) == (True, 60)


def test_the_way_of_a_book_leaves_a_refused_decision_unrecorded(tmp_path: Path) -> None:
    with book_in(tmp_path) as book:
        for number, expected in ((1, None), (2, TokenUsed)):
            request = numbered(number)
            clear = decided(request, PROPOSAL, NOW)
            more: Any = {"tier_answer": PROPOSAL, "clear": clear, "salt": new_salt()}
            if expected is None:
                write(book, request=request, consume=(TOKEN,), **more)
            else:
                with pytest.raises(expected):
                    write(book, request=request, consume=(TOKEN,), **more)
        assert book.ledger.head().sequence == 2
        again = record(book, numbered(2))
        assert (again.sequence, again.replayed) == (3, False)


@pytest.mark.parametrize("token", ["", "token-1", TOKEN.upper(), TOKEN[:-1], TOKEN + "0", "g" * 64])
def test_a_token_itself_is_not_taken_for_its_digest(ledger: Ledger, token: str) -> None:
    with pytest.raises(LedgerError, match="is given by its digest") as caught:
        ledger.append(decision(1), consume=(token,))
    assert not token or token not in str(caught.value)
    assert ledger.head().sequence == 0


def test_only_a_decision_consumes_a_token(ledger: Ledger) -> None:
    note = event(Kind.CONFIG, NOW, versions={}, detail={})
    with pytest.raises(LedgerError, match="a `CONFIG` uses no token up; pass a decision"):
        ledger.append(note, consume=(TOKEN,))


@pytest.mark.parametrize("kind", [Kind.CONSUMED, Kind.VOIDED])
def test_a_used_token_has_its_fields_and_no_text(kind: Kind) -> None:
    made = use_of(kind, decision(1), TOKEN)
    assert {*made, "previous"} == FIELDS[kind]
    assert REQUEST.utterance not in str(made)


@pytest.mark.parametrize("taken", ["a", "b"])
def test_keys_that_must_not_be_taken_keep_a_record_out(ledger: Ledger, taken: str) -> None:
    note = event(Kind.CONFIG, NOW, versions={}, detail={})
    ledger.append(event(Kind.ERASURE, NOW, decision_id=taken, reason="asked"))
    with pytest.raises(DuplicateRequest, match=f"key `erasure:{taken}` is taken"):
        ledger.append(note, unless=["erasure:a", "erasure:b"])
    assert ledger.append(note, unless=["erasure:c"]).sequence == 2
