"""P-10: an answer or a hand-over happens only after its decision record is durable.

A scripted life of a ledger runs under a shim that traces every change of its files. The run is then
cut off, here at about a hundred points, and the disk left in four ways: only what was flushed is
there; everything is; everything but a part of the last write; whatever the system liked to write
back. `make test-crash` cuts it off everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gate.errors import LedgerError
from gate.ledger.formats import Kind
from gate.ledger.store import Stored
from tests.faults.disk import CRASHES, Disk, lost
from tests.faults.recovery import chain_of, crashed, points, recover
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
