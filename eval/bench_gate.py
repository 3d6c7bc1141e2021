"""How fast the gate is, as ratios within one run: `make bench-gate`.

The result, with medians, command, date and versions, is stored in `eval/results/bench_gate.json`;
exit code 1 means that a required ratio was missed. A part is a function from the folder of the
RouteBR artifact to a `Part`; `PARTS` lists them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eval.bench_decision import whole_decision, whole_decision_in_the_way
from eval.bench_locks import locks_of_writes
from eval.cedar import rules_against_cedarpy
from eval.result import host_class
from eval.scale import million_aliases, thousand_rules
from eval.timing import ROUNDS, Part, Ratio
from inference import ending, sinks

ROOT = Path(__file__).resolve().parents[1]
ROUTEBR = ROOT.parent / "shared" / "data" / "routebr"
STORED = ROOT / "eval" / "results" / "bench_gate.json"
COMMAND = "python -m eval.bench_gate"

PARTS: tuple[Callable[[Path], Part], ...] = (
    rules_against_cedarpy,
    thousand_rules,
    whole_decision,
    whole_decision_in_the_way,
    locks_of_writes,
    million_aliases,
)


def record(parts: tuple[Part, ...], date: datetime) -> dict[str, Any]:
    """The stored form of a run."""
    return {
        "schema_version": 1,
        "command": COMMAND,
        "date": date.isoformat(timespec="seconds"),
        "host": host_class(),
        "versions": {"python": sys.version.split()[0], "cedarpy": version("cedarpy")},
        "rounds": ROUNDS,
        "parts": [
            {
                **asdict(part),
                "ratios": [{**asdict(ratio), "holds": ratio.holds} for ratio in part.ratios],
                "gaps": [{**asdict(gap), "holds": gap.holds} for gap in part.gaps],
            }
            for part in parts
        ],
    }


def table(parts: tuple[Part, ...]) -> str:
    """The run for people to read."""
    lines = []
    for part in parts:
        lines.append(f"{part.name}: {part.what}")
        lines += [f"  {us:10.2f} us  {name}" for name, us in part.median_us.items()]
        for r in part.ratios:
            lines.append(f"  {r.times:10.2f} times  ({r.slow}) / ({r.fast}){_wanted(r)}")
        for g in part.gaps:
            held = "holds" if g.holds else "MISSED"
            wanted = f"at most {g.at_most:g}, {held}"
            lines.append(f"  {g.us:10.2f} us  ({g.more}) - ({g.less}): {wanted}")
    return "\n".join(lines)


def _wanted(ratio: Ratio) -> str:
    if ratio.at_least is None and ratio.at_most is None:
        return ""
    least = ratio.at_least is not None
    wanted = f"at least {ratio.at_least}" if least else f"at most {ratio.at_most}"
    return f": {wanted}, {'holds' if ratio.holds else 'MISSED'}"


def main(routebr: Path = ROUTEBR, out: Path = STORED) -> int:
    """Measure every part, print and store the run; 0, 1 if a ratio is missed, 2 without the data."""
    if not routebr.is_dir():
        problem = f"error: no RouteBR folder at `{routebr}`; put the public data there"
        print(sinks.terminal(problem), file=sys.stderr)
        return 2
    parts = tuple(part(routebr) for part in PARTS)
    out.parent.mkdir(parents=True, exist_ok=True)
    stored = sinks.json_text(record(parts, datetime.now(UTC)), indent=2)
    out.write_text(stored + "\n", encoding="utf-8")
    print(*map(sinks.terminal, table(parts).splitlines()), sep="\n")
    ratios = all(ratio.holds for part in parts for ratio in part.ratios)
    return 0 if ratios and all(gap.holds for part in parts for gap in part.gaps) else 1


if __name__ == "__main__":
    ending.run(main)
