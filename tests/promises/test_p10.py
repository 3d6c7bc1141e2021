"""P-10: an answer or a hand-over happens only after its decision record is durable.

A scripted life of a ledger runs under a shim that traces every change of its files. The run is then
cut off, here at about a hundred points, and the disk left in four ways: only what was flushed is
there; everything is; everything but a part of the last write; whatever the system liked to write
back. `make test-crash` cuts it off everywhere. A second life confirms writes before a running bank:
after every crash a new process settles what is open, and the bank's effects are the ledger's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from gate.errors import LedgerError
from gate.ledger.formats import Kind
from gate.ledger.store import Stored
from tests.faults import settling
from tests.faults.disk import CRASHES, Disk, lost
from tests.faults.recovery import chain_of, crashed, points, recover
from tests.faults.settling import Lived
from tests.faults.shim import Run, build, run, scratch

PER_CRASH = 30
"""Points of each kind of crash."""


def lived(*arguments: str) -> tuple[Run, list[Stored]]:
    """One run of the script that is not cut off, its files gone, and what it recorded."""
    with scratch() as folder:
        done = run(build(folder), folder / "run", "tests.faults.scripted", *arguments)
        return done, chain_of(done.folder)


@pytest.fixture(scope="module")
def run_and_chain() -> tuple[Run, list[Stored]]:
    """A sound run."""
    return lived()


@pytest.fixture
def life(run_and_chain: tuple[Run, list[Stored]]) -> Run:
    """How its files changed."""
    return run_and_chain[0]


@pytest.fixture
def whole(run_and_chain: tuple[Run, list[Stored]]) -> list[Stored]:
    """What it recorded."""
    return run_and_chain[1]


def test_p10_the_script_does_everything_that_changes_a_ledger(
    life: Run, whole: Sequence[Stored]
) -> None:
    kinds = {row.kind for row in whole}
    assert kinds == set(Kind) - {Kind.CHECKPOINT, Kind.CONFIG}
    assert {change.op for change in life.changes} >= set("OWTSDLUR")
    folded = [c for c in life.changes if c.op == "W" and c.path.endswith("/ledger.sqlite")]
    assert len(folded) > 20, "the log is folded into the file within the run"


@pytest.mark.parametrize("crash", CRASHES)
def test_p10_after_every_crash_the_ledger_is_a_prefix_with_all_that_was_acknowledged(
    life: Run, whole: Sequence[Stored], crash: str
) -> None:
    chosen = [point for point in points(life, PER_CRASH) if point.crash == crash]
    assert len(chosen) >= PER_CRASH
    found = [recover(left, life.folder, whole) for left in crashed(life, chosen)]
    assert len(set(found)) > 5, "the points lie all over the run"


def test_p10_at_the_moment_of_every_acknowledgement_its_record_is_on_the_disk(
    life: Run, whole: Sequence[Stored]
) -> None:
    """The bytes themselves, flushed: not what some cache would show."""
    disk, acknowledged = Disk(), 0
    for change in life.changes:
        disk.follow([change])
        if change.op == "W" and change.path.endswith("/acks"):
            image = lost(disk, None)  # type: ignore[arg-type]
            told = disk.shown("/acks").decode().splitlines()[-1]
            row = next((r for r in whole if r.digest in told), None)
            if row is not None:
                files = [data for path, data in image.items() if "/ledger." in path]
                assert row.digest.encode() in b"".join(files)
                acknowledged += 1
    assert acknowledged > 30


@pytest.mark.parametrize("flush", ["NORMAL", "OFF"])
def test_p10_a_ledger_that_flushes_less_is_caught(flush: str) -> None:
    """These crashes would tell: the same checks fail where a record is not flushed."""
    life, whole = lived("1", flush)
    caught = 0
    for left in crashed(life, [p for p in points(life, PER_CRASH) if p.crash in ("lost", "mixed")]):
        try:
            recover(left, life.folder, whole)
        except (AssertionError, LedgerError):
            caught += 1
    assert caught > 5


# ---- writes --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def writes() -> Iterator[Lived]:
    """A life of writes, and the bank that it left."""
    with settling.lived() as life:
        yield life


def test_p10_the_life_of_writes_ends_in_every_way(writes: Lived) -> None:
    records = [row.record for row in writes.whole]
    ends = Counter(r["status"] for r in records if r["kind"] == Kind.OUTCOME)
    assert ends == {"COMPLETED": 4, "IN_DOUBT": 3}
    assert {row.kind for row in writes.whole} >= {Kind.CONSUMED, Kind.VOIDED, Kind.ERASURE}
    assert len(writes.effects) == len(writes.orders) == 4, "one order reached nobody yet"


@pytest.mark.parametrize("crash", CRASHES)
def test_p10_after_every_crash_the_banks_effects_are_the_ledgers(writes: Lived, crash: str) -> None:
    places = (*points(writes.run, PER_CRASH), *settling.departures(writes.run))
    chosen = sorted((p for p in places if p.crash == crash), key=lambda point: point.at)
    found = [settling.recover(left, writes) for left in crashed(writes.run, chosen)]
    assert len(found) >= PER_CRASH
    assert sum(one.banks == 2 for one in found) == 6, "six times an order was on its way"
    assert sum(one.effects for one in found) > 0, "some order was delivered after the crash"


def test_p10_writes_on_a_ledger_that_flushes_less_are_caught() -> None:
    """These crashes would tell: an order leaves before its decision is on the disk."""
    caught: Counter[str] = Counter()
    with settling.lived("OFF") as life:
        chosen = [p for p in points(life.run, PER_CRASH) if p.crash in ("lost", "mixed")]
        for left in crashed(life.run, chosen):
            try:
                settling.recover(left, life)
            except (AssertionError, LedgerError) as error:
                caught[str(error).partition("\n")[0]] += 1
    assert sum(caught.values()) > 5
