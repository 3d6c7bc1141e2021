"""How often direction alone would send a customer's question back: a read action accepts READ or
UNDECLARED, so that a question that reads as WRITE or MIXED is asked again.

`python -m eval.direction --data DIR` reads the Banking77 training messages of `DIR/train.csv` with the
demo institution's words and prints counts, never a message.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from eval import table, writes
from gate.configuration import Configuration
from gate.findings import find
from gate.load import load
from gate.records import Direction, Request
from inference import ending, sinks

MOST: Final = 0.05
"""The largest share of messages that may be sent back."""
SENT_BACK: Final = (Direction.WRITE, Direction.MIXED)


def directions(configuration: Configuration, texts: Iterable[str]) -> Mapping[Direction, int]:
    """How many of the texts read each way."""
    read = Counter(find(configuration, Request("d", "bench", text)).direction for text in texts)
    return {direction: read[direction] for direction in Direction}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if more than MOST of the messages would be sent back."""
    parser = argparse.ArgumentParser(prog="python -m eval.direction", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.csv")
    given = parser.parse_args(arguments)
    texts = [row["text"] for row in table.read(given.data / "train.csv", ("text", "category"))]
    found = directions(load(writes.DEMO), texts)
    told = [f"{direction.value:11} {count:6} of {len(texts)}" for direction, count in found.items()]
    back = sum(found[direction] for direction in SENT_BACK)
    told.append(f"sent back   {back:6} of {len(texts)}, {back / len(texts):.2%}")
    print(*map(sinks.terminal, told), sep="\n")
    return 1 if back > MOST * len(texts) else 0


if __name__ == "__main__":
    ending.run(main)
