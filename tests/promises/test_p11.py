"""P-11: edit, reorder, insertion or deletion inside the ledger is found; a cut tail or whole rewrite
is found against an exported checkpoint; erasing a text breaks nothing.

Everything here is complete for a small ledger: every byte of every column of every record, every
pair, every place. Of the bytes of its files a sample; `make test-crash` flips them all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate.ledger.book import erase
from gate.ledger.checkpoint import add_to_witness, faults, read_witness, sign
from gate.ledger.encode import canonical
from gate.ledger.formats import Kind
from gate.ledger.outcome import Outcome, append_outcome
from gate.ledger.pseudonym import digest
from gate.ledger.replay import Status, replay_all
from gate.ledger.segment import draft
from gate.ledger.store import Head, Ledger, Stored
from gate.ledger.verify import VerifyReport, check_chain, differences, verify
from tests.faults.flips import flip, small
from tests.faults.shim import scratch
from tests.gate.ledger.samples import NOW, book_in, decided, numbered, record
from tests.gate.ledger.test_consume import decision

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    """A chain of every kind of record, over two segments."""
    path = tmp_path_factory.mktemp("chain") / "ledger.sqlite"
    with book_in(path.parent) as book:
        decision_id = record(book, numbered(1)).record["decision_id"]
        erase(book, decision_id, at=NOW, reason="asked")
        told = book.ledger.append(
            decision(2), consume=(digest(b"token"),), void=(digest(b"another"),)
        )
        append_outcome(book.ledger, told.record["decision_id"], Outcome.COMPLETED, at=NOW)
        book.ledger.rotate()
        record(book, numbered(3))
        record(book, numbered(4))
        found = list(book.ledger.iterate())
    assert verify(path).ok
    assert len(found) == 10
    return found


def found_at(report: VerifyReport) -> int:
    """Where the first problem is; 0 if there is none."""
    return 0 if report.first_problem is None else report.first_problem.sequence


def renumbered(rows: Sequence[Stored]) -> list[Stored]:
    """The rows with the numbers that their places have."""
    return [replace(row, sequence=number) for number, row in enumerate(rows, 1)]


def flipped(text: str) -> Iterator[str]:
    """The text with each of its characters changed."""
    for place, character in enumerate(text):
        yield text[:place] + chr(ord(character) ^ 1) + text[place + 1 :]


def test_p11_every_byte_of_every_record_is_checked(rows: list[Stored]) -> None:
    for place, row in enumerate(rows):
        head = Head(place, rows[place - 1].digest if place else Head().digest)
        for at, mask in itertools.product(range(len(row.data)), (0x01, 0x80, 0xFF)):
            data = bytearray(row.data)
            data[at] ^= mask
            assert not check_one(replace(row, data=bytes(data)), head)
        assert check_one(row, head)


def check_one(row: Stored, head: Head) -> bool:
    """True if a record is sound after `head`."""
    return next(differences(row, head), None) is None


def test_p11_every_character_of_every_column_is_checked(rows: list[Stored]) -> None:
    for place, row in enumerate(rows):
        changed = [
            *(replace(row, digest=text) for text in flipped(row.digest)),
            *(replace(row, previous=text) for text in flipped(row.previous)),
            *(replace(row, kind=text) for text in (*flipped(row.kind), "", "CHECKPOINT")),
            *(replace(row, key=text) for text in (*flipped(row.key or ""), "x")),
            *(replace(row, sequence=row.sequence + by) for by in (-1, 1, 100)),
            *([replace(row, key=None)] if row.key else []),
        ]
        for one in changed:
            report = check_chain([*rows[:place], one, *rows[place + 1 :]])
            assert not report.ok, one
            assert report.records == place


def test_p11_every_edit_with_a_matching_digest_is_found_by_the_next_record(
    rows: list[Stored],
) -> None:
    for place, row in enumerate(rows):
        for name, value in row.record.items():
            if name in ("format", "kind"):
                continue
            edited = {**row.record, name: "x" if value != "x" else "y"}
            data = canonical(edited)
            one = replace(row, data=data, digest=digest(data), key=row.key)
            report = check_chain([*rows[:place], one, *rows[place + 1 :]])
            if place < len(rows) - 1 or name in ("previous", "decision_id"):
                assert found_at(report) in (place + 1, place + 2), (row.kind, name)
            else:
                assert report.ok, "the last record has nobody after it"
                seen = Head(row.sequence, row.digest)
                assert found_at(check_chain([*rows[:place], one], seen)) == place + 1


def test_p11_every_pair_of_records_swapped_is_found(rows: list[Stored]) -> None:
    for one, two in itertools.combinations(range(len(rows)), 2):
        swapped = list(rows)
        swapped[one], swapped[two] = rows[two], rows[one]
        assert found_at(check_chain(swapped)) == rows[two].sequence
        assert found_at(check_chain(renumbered(swapped))) == one + 1


def test_p11_every_order_but_the_one_is_found(rows: list[Stored]) -> None:
    for order in itertools.permutations(rows[:5]):
        assert check_chain(renumbered(order)).ok == (list(order) == rows[:5])


def test_p11_every_record_dropped_is_found(rows: list[Stored]) -> None:
    for place in range(len(rows)):
        left = rows[:place] + rows[place + 1 :]
        seen = Head(rows[-1].sequence, rows[-1].digest)
        assert not check_chain(left, seen).ok
        if place < len(rows) - 1:
            assert found_at(check_chain(left)) == place + 2
            assert found_at(check_chain(renumbered(left))) == place + 1


def test_p11_every_run_of_records_dropped_is_found(rows: list[Stored]) -> None:
    for start, end in itertools.combinations(range(len(rows)), 2):
        left = rows[:start] + rows[end:]
        assert not check_chain(left).ok
        assert not check_chain(renumbered(left)).ok


def test_p11_every_record_inserted_anywhere_is_found(rows: list[Stored]) -> None:
    for place, row in itertools.product(range(len(rows)), rows):
        mixed = [*rows[:place], row, *rows[place:]]
        assert not check_chain(mixed).ok
        assert not check_chain(renumbered(mixed)).ok


def test_p11_a_forged_record_inserted_anywhere_is_found(rows: list[Stored]) -> None:
    for place in range(1, len(rows)):
        head = Head(place, rows[place - 1].digest)
        forged = draft(decision(99)).after_head(head)
        report = check_chain(renumbered([*rows[:place], forged, *rows[place:]]))
        assert found_at(report) in (place + 1, place + 2)


def test_p11_every_cut_tail_is_found_by_a_checkpoint_and_only_by_one(rows: list[Stored]) -> None:
    seen = Head(rows[-1].sequence, rows[-1].digest)
    for length in range(len(rows)):
        assert check_chain(rows[:length]).ok
        report = check_chain(rows[:length], seen)
        assert found_at(report) == length + 1
        assert f"the ledger ends at {length}; the checkpoint saw {len(rows)}" in str(report)


def test_p11_every_rewrite_from_anywhere_on_is_found_by_a_checkpoint(rows: list[Stored]) -> None:
    """Whoever holds the disk can rebuild everything from some record on; the chain is sound then."""
    for start in range(len(rows) - 1):
        forged, head = (
            list(rows[:start]),
            Head(start, rows[start - 1].digest if start else "0" * 64),
        )
        for number in range(len(rows) - start):
            row = draft(decision(1_000 + number)).after_head(head)
            forged.append(row)
            head = Head(row.sequence, row.digest)
        cut_joint = start > 0 and rows[start - 1].kind == Kind.SEALED  # and no segment begins
        assert check_chain(forged).ok is not cut_joint
        for row in rows[start:]:
            report = check_chain(forged, Head(row.sequence, row.digest))
            assert 0 < found_at(report) <= row.sequence


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of six decisions."""
    with book_in(tmp_path) as book:
        for number in range(6):
            record(book, numbered(number))
    return tmp_path / "ledger.sqlite"


def test_p11_a_witness_elsewhere_finds_what_the_ledger_itself_cannot_show(
    path: Path, tmp_path: Path
) -> None:
    witness = tmp_path / "elsewhere" / "witness.jsonl"
    with book_in(tmp_path) as book:
        for number in range(10, 14):
            record(book, numbered(number))
            add_to_witness(witness, sign(book.ledger.head(), NOW, KEY))
    seen = read_witness(witness)
    assert list(faults(seen, KEY.public_key())) == []
    heads = [one.head for one in seen]
    assert verify(path, witness=heads).ok
    (tmp_path / "forged").mkdir()
    with book_in(tmp_path / "forged") as book:
        for number in range(20):
            record(book, numbered(number, utterance="what was never said"))
    forged = tmp_path / "forged" / "ledger.sqlite"
    assert verify(forged).ok
    report = verify(forged, witness=heads)
    assert found_at(report) == heads[0].sequence == 7
    stranger = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
    lies = [sign(one.head, NOW, stranger) for one in seen]
    assert len(list(faults(lies, KEY.public_key()))) == 4


@pytest.mark.parametrize(("which", "mask"), [(0, 0xFF), (1, 0xFF), (0, 0x01), (1, 0x01)])
def test_p11_a_flipped_byte_of_a_file_is_found_or_changes_nothing(which: int, mask: int) -> None:
    with scratch() as folder:
        rows = small(folder / "ledger.sqlite")
        file = [folder / "ledger.sqlite", folder / "ledger.000002.sqlite"][which]
        places = range(which, file.stat().st_size, 41)
        flips = flip(folder / "ledger.sqlite", file, rows, places, mask)
    assert flips.breaches == ()
    assert flips.tried == len(places)
    assert flips.tried - flips.quiet > 30


def test_p11_erasing_any_text_breaks_nothing(path: Path, tmp_path: Path) -> None:
    with Ledger.read(path) as ledger:
        before = list(ledger.iterate())
    witness = [Head(row.sequence, row.digest) for row in before]
    for number, row in enumerate(before, 1):
        with book_in(tmp_path) as book:
            assert erase(book, str(row.key), at=NOW, reason="asked") == 1
            statuses: list[Any] = [one.status for one in replay_all(book, decided)]
        assert statuses == [Status.ERASED] * number + [Status.SAME] * (6 - number)
        report = verify(path, witness=witness)
        assert (report.ok, report.records) == (True, 6 + number)
    with Ledger.read(path) as ledger:
        rows = list(ledger.iterate())
    assert rows[:6] == before
    assert {row.kind for row in rows[6:]} == {Kind.ERASURE}
