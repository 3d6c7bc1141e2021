"""The whole result of one benchmark run, as one documented type; `metrics.json` is its JSON.

Shares are fractions from 0 to 1, latencies milliseconds, money US dollars. None means that nothing
was there to measure, never zero.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from inference import sinks

SCHEMA_VERSION = 2
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of` cases."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share; None of nothing."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Pairs:
    """FLIP pairs of which both members have the right final path."""

    exact: int
    of: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Mean tokens per case into and out of the backend; `in` and `out` in JSON."""

    into: float | None
    out: float | None


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds a case takes in the backend."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Errors:
    """Wrong final paths by what made them wrong; each is counted once, the first that fits.

    `adapter`: the answer broke the contract. `catalog_or_proposer`: another action was proposed.
    `registry`: another object was taken. `state`: the right action and object, too, end elsewhere
    under the given state and rules. `controller`: all else.
    """

    adapter: int = 0
    catalog_or_proposer: int = 0
    registry: int = 0
    state: int = 0
    controller: int = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """The main figures of a part of the cases."""

    cases: int
    final_path_exact: float | None
    action_accuracy: float | None
    object_accuracy: float | None
    false_dispatch: Share
    false_block: Share
    coverage: float | None


@dataclass(frozen=True, slots=True)
class Run:
    """What was run on what: enough to repeat it.

    `digests` maps every input file to its SHA-256, `host` is a class of machine without a name,
    `inert` are the checks that the configuration cannot make, `clock` is the time that the gate
    was given. `audit` is what the look at the suite's files found, `concurrency` how many cases
    were decided at a time; `totals_only` keeps single cases out of reports.
    """

    suite: str
    system: str
    backend: str
    switches: tuple[str, ...]
    inert: tuple[str, ...]
    digests: Mapping[str, str]
    seeds: Mapping[str, int]
    host: str
    clock: str
    command: str
    incomplete_pairs: tuple[str, ...] = ()
    audit: Mapping[str, int | bool] = field(default_factory=dict)
    concurrency: int = 1
    totals_only: bool = False
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Result:
    """Every figure of one run.

    `false_dispatch` is over cases whose right boundary is a terminal, `false_block` over those that
    may be dispatched. `masked_action_errors` counts wrong actions under a right final path.
    `coverage` is the share of cases for which the tier committed to an action. `multi_rule_matches`
    counts cases in which more than one blocking rule holds. `wrong_objects` counts dispatches of
    another object than the right one, which a final path cannot show. `published_paths` compares
    with the final paths that a recording states; None where it states none. `interface_failures`
    counts cases without an answer that held the contract; they stay in every denominator.
    `citations` are the cases in which a system without the gate cites the right rule.
    """

    cases: int
    final_path_exact: float | None
    final_path_macro_f1: float | None
    action_accuracy: float | None
    object_accuracy: float | None
    masked_action_errors: int
    false_dispatch: Share
    false_block: Share
    flip_pairs: Pairs
    valid_first_pass: float | None
    repairs: int
    fallbacks: int
    multi_rule_matches: int
    calls_per_case: float | None
    tokens_per_case: Tokens
    latency_ms: Latency
    cost_per_1k: float | None
    coverage: float | None
    wrong_objects: Share
    by_split: Mapping[str, Slice]
    by_tier: Mapping[str, Slice]
    errors_by_owner: Errors
    published_paths: Share | None
    intervals: Mapping[str, Interval | None]
    interface_failures: int = 0
    citations: Share | None = None
    run: Run = field(kw_only=True)


def to_json(result: Result) -> str:
    """The result as JSON text, in the order of its fields, with shares to six places."""
    value = asdict(result)
    value["tokens_per_case"] = {
        "in": result.tokens_per_case.into,
        "out": result.tokens_per_case.out,
    }
    return sinks.json_text(_rounded(value), indent=2) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return value


def host_class() -> str:
    """The kind of machine, without its name: system, processor, cores, Python."""
    version = ".".join(platform.python_version_tuple()[:2])
    cores = os.cpu_count() or 0
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {version}"
