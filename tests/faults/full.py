"""Crashes and failures in full size: `make test-crash`.

A life of a ledger is cut off after every change of its files, and the disk left in every way (P-10);
so is a life of writes before a running bank, whose effects must be the ledger's after settling;
every plan of failures is suffered, at many places (P-12); every byte of the files of a small ledger is
flipped (P-11: `quiet` flips change nothing that anybody reads). The counts are stored in
`eval/results/crash.json`; exit code 1 and a line per breach if a promise was broken.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.result import host_class
from tests.faults import settling
from tests.faults.flips import flip, small
from tests.faults.plans import plans, suffer, survive
from tests.faults.recovery import chain_of, crashed, points, recover
from tests.faults.shim import ROOT, build, run, scratch

STORED = ROOT / "eval" / "results" / "crash.json"
COMMAND = "python -m tests.faults.full"
SIZE, SEEDS, WRITE_SEEDS = 3, range(4), range(2)
STRUCK = tuple((after, times, 1 + 3 * (after % 2)) for after in range(12) for times in (1, 2, -1))


def crashes() -> tuple[dict[str, Any], list[str]]:
    """Every crash of one life."""
    with scratch() as folder:
        life = run(build(folder), folder / "run", "tests.faults.scripted", str(SIZE))
        whole = chain_of(life.folder)
    images: Counter[str] = Counter()
    breaches = []
    for left in crashed(life, points(life, None, SEEDS)):
        images[left.point.crash] += 1
        try:
            recover(left, life.folder, whole)
        except Exception as error:
            breaches.append(f"{left.point}: {type(error).__name__}: {error}")
    counts = {"changes": len(life.changes), "records": len(whole), "images": dict(images)}
    return counts, breaches


def writes() -> tuple[dict[str, Any], list[str]]:
    """Every crash of one life of writes, settled."""
    images: Counter[str] = Counter()
    breaches, effects = [], 0
    with settling.lived() as life:
        for left in crashed(life.run, points(life.run, None, WRITE_SEEDS)):
            try:
                done = settling.recover(left, life)
                images[left.point.crash] += done.banks
                effects += done.effects
            except Exception as error:
                breaches.append(f"{left.point}: {type(error).__name__}: {error}")
        counts = {
            "changes": len(life.run.changes),
            "records": len(life.whole),
            "orders": len(life.orders),
            "images": dict(images),
            "effects_after": effects,
        }
    return counts, breaches


def failures() -> tuple[dict[str, Any], list[str]]:
    """Every plan, and a crash when it is lifted."""
    done, results = suffer(plans(STRUCK))
    images, breaches = 0, []
    for seed, one in enumerate(results):
        try:
            assert not one["again"], one["again"]
            assert one["problem"] is None, one["problem"]
            images += survive(done, one, seed)
        except Exception as error:
            breaches.append(f"{one}: {type(error).__name__}: {error}")
    counts = {
        "plans": len(results),
        "struck": sum(one["struck"] for one in results),
        "acknowledged": sum(one["acknowledged"] for one in results),
        "refused": sum(len(one["refused"]) for one in results),
        "images": images,
    }
    return counts, breaches


def flips() -> tuple[dict[str, Any], list[str]]:
    """Every byte of the files of a small ledger, with every bit of it changed and with one."""
    counts = {"bytes": 0, "tried": 0, "quiet": 0}
    breaches = []
    with scratch() as folder:
        path = folder / "ledger.sqlite"
        rows = small(path)
        for file in (path, folder / "ledger.000002.sqlite"):
            size = file.stat().st_size
            counts["bytes"] += size
            for mask in (0xFF, 0x01):
                done = flip(path, file, rows, range(size), mask)
                counts["tried"] += done.tried
                counts["quiet"] += done.quiet
                breaches += [f"{file.name}: {breach}" for breach in done.breaches]
    return counts, breaches


def main(out: Path = STORED) -> int:
    """Crash, fail, flip, store the counts; 0, or 1 if a promise was broken."""
    (crashed_, broken), (failed, spoilt), (flipped, unseen) = crashes(), failures(), flips()
    settled, unsettled = writes()
    result = {
        "schema_version": 1,
        "command": COMMAND,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": host_class(),
        "crashes": {**crashed_, "breaches": len(broken)},
        "writes": {**settled, "breaches": len(unsettled)},
        "failures": {**failed, "breaches": len(spoilt)},
        "flips": {**flipped, "breaches": len(unseen)},
    }
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    for breach in (*broken, *unsettled, *spoilt, *unseen):
        print(breach, file=sys.stderr)
    return 1 if broken or unsettled or spoilt or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
