"""Timing in turns within one process, and what is required of the ratios.

Every ratio compares subjects that were called in turns, so that a slow or busy machine slows both.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROUNDS = 151
TURN_SECONDS = 0.001
"""How long one subject is called in one round, at least: many short turns, because a machine's
speed wanders and only neighbouring milliseconds are alike."""

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`slow` takes `times` as long as `fast`, by the median of the rounds; what is required of it."""

    slow: str
    fast: str
    times: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it is as required."""
        low = self.at_least is None or self.times >= self.at_least
        return low and (self.at_most is None or self.times <= self.at_most)


@dataclass(frozen=True, slots=True)
class Gap:
    """`more` takes `us` microseconds longer than `less`, by their medians; what is required of it."""

    more: str
    less: str
    us: float
    at_most: float

    @property
    def holds(self) -> bool:
        """Whether it is as required."""
        return self.us <= self.at_most


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison: what was measured, median microseconds per subject, ratios and gaps."""

    name: str
    what: str
    median_us: Mapping[str, float]
    ratios: tuple[Ratio, ...]
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call of each subject, one figure a round."""

    seconds: Mapping[str, tuple[float, ...]]

    def median_us(self) -> dict[str, float]:
        """Median microseconds per subject."""
        return {name: round(_median(s) * 1e6, 3) for name, s in self.seconds.items()}

    def fastest(self, prefix: str) -> str:
        """The subject with the smallest median among those whose name begins so."""
        names = [name for name in self.seconds if name.startswith(prefix)]
        return min(names, key=lambda name: _median(self.seconds[name]))

    def times(self, slow: str, fast: str) -> float:
        """The median over the rounds of how many times longer `slow` takes."""
        pairs = zip(self.seconds[slow], self.seconds[fast], strict=True)
        return round(_median(tuple(s / f for s, f in pairs)), 2)


def _median(values: tuple[float, ...]) -> float:
    return statistics.median(values)


def timed(
    calls: Mapping[str, Call],
    per_call: Mapping[str, int] | None = None,
    rounds: int | None = None,
) -> Timing:
    """Call the subjects in turns, round after round, without garbage collection in a turn.

    `per_call` says how many units of work one call of a subject does (default 1).
    """
    units = per_call or {}
    repeats = {name: _repeats(call) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS if rounds is None else rounds):
        gc.collect()
        for name, call in calls.items():
            spent = _spend(call, repeats[name])
            seconds[name].append(spent / repeats[name] / units.get(name, 1))
    return Timing({name: tuple(values) for name, values in seconds.items()})


def _repeats(call: Call) -> int:
    """How often to call in one round; the trials warm up."""
    repeats = 1
    while (spent := _spend(call, repeats)) < TURN_SECONDS:
        repeats = max(repeats * 2, int(repeats * TURN_SECONDS / max(spent, 1e-9)))
    return repeats


def _spend(call: Call, repeats: int) -> float:
    """Seconds of processor time, so that other programs on the machine do not count."""
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(repeats):
            call()
        return time.process_time() - start
    finally:
        gc.enable()
