"""The gate at scale: a thousand rules of which twenty apply, a million registered names."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from eval.errors import EvalError
from eval.timing import Part, Ratio, timed
from gate import registry
from gate.conditions import Always, Is
from gate.normalise import normalise
from gate.records import Boundary, Entry
from gate.rules import EVERY_ACTION, Rule, build, evaluate
from gate.state import BOOLEAN, Predicate

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def thousand_rules(routebr: Path) -> Part:
    """Twenty rules that apply, alone and among a thousand; nothing of RouteBR is used."""
    predicates = {f"p{n}": Predicate(f"p{n}", BOOLEAN, "core") for n in range(40)}
    state = dict.fromkeys(predicates, False)
    rules = [_numbered(n, f"ACT-{n % 50}") for n in range(1000)]
    default = _default(10_000)
    large = build([*rules, default], "large")
    small = build([r for r in rules if "ACT-7" in r.applies_to] + [default], "small")
    if len(small.rules) != 21 or large.applicable("ACT-7") != small.rules:
        raise EvalError("the two rule sets do not apply the same rules")
    timing = timed(
        {
            "20 rules": lambda: evaluate(small, "ACT-7", predicates, state, {}, {}, NOW),
            "20 of 1000 rules": lambda: evaluate(large, "ACT-7", predicates, state, {}, {}, NOW),
        }
    )
    times = timing.times("20 of 1000 rules", "20 rules")
    return Part(
        "thousand_rules",
        "20 applicable rules of one predicate each, none true",
        timing.median_us(),
        (Ratio("20 of 1000 rules", "20 rules", times, at_most=10),),
    )


def _numbered(number: int, action: str) -> Rule:
    condition = Is(f"p{number % 40}", True)
    return Rule(f"R-{number}", number, (action,), condition, Boundary.REJECT, Boundary.HANDOFF)


def _default(priority: int) -> Rule:
    return Rule("R-DEFAULT", priority, (EVERY_ACTION,), Always(), Boundary.ALLOW, None)


ALIASES = 1_000_000
GIGABYTES = 1.5
TEXTS = (
    "what is the price of meridian 000123 growth fund today, and is it a good time",
    "please tell me about HX000042 and nothing else",
    "I would like to understand what my bank can do for me when I travel abroad",
    "帮我查一下海岸000777ETF的公开资料，重点是收益来源，并标出数据口径。",
)


def million_aliases(_routebr: Path) -> Part:
    """Names found in a text among forty entries and among a million names; memory of the process."""
    small = registry.build(_entries(40)).names
    large = registry.build(_entries(ALIASES // 4)).names
    texts = [normalise(text).folded for text in TEXTS]
    timing = timed(
        {
            "160 names": lambda: [registry.find(small, t) for t in texts],
            f"{ALIASES} names": lambda: [registry.find(large, t) for t in texts],
        },
        {"160 names": len(texts), f"{ALIASES} names": len(texts)},
    )
    times = timing.times(f"{ALIASES} names", "160 names")
    gigabytes = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 3)
    return Part(
        "million_aliases",
        f"{len(large.owners)} names; the process took {gigabytes} GB at most",
        timing.median_us(),
        (
            Ratio(f"{ALIASES} names", "160 names", times, at_most=10),
            Ratio("gigabytes", "1", gigabytes, at_most=GIGABYTES),
        ),
    )


def _entries(count: int) -> Iterator[Entry]:
    """Entries of four names each: two families in English, a code, one in Chinese."""
    for n in range(count):
        names = (f"Meridian {n:06d} Growth Fund", f"HX{n:06d}", f"海岸{n:06d}ETF")
        yield Entry(f"FUND:{n}", "FUND", f"Meridian {n:06d}", names)
