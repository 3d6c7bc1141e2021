"""Every figure of a result, computed from outcomes; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from eval.outcome import Outcome, final_path
from eval.result import (
    Errors,
    Interval,
    Latency,
    Pairs,
    Result,
    Run,
    Share,
    Slice,
    Tokens,
)
from eval.statistics import macro_f1, mean, percentile, wilson
from gate.records import Terminal

Outcomes = Sequence[Outcome]
TERMINAL_PATHS = tuple(f"T_{t}" for t in Terminal if t is not Terminal.DISPATCH)


def measure(outcomes: Outcomes, actions: Sequence[str], run: Run) -> Result:
    """The whole result; `actions` and the four terminals are the labels of the macro-F1."""
    answers = [o.answer for o in outcomes]
    shares = {name: share(outcomes) for name, share in SHARES.items()}
    paths = [(o.case.gold.final_path, o.path) for o in outcomes]
    latencies = [a.latency_ms for a in answers if a.latency_ms is not None]
    pairs = flip_pairs(outcomes)
    return Result(
        cases=len(outcomes),
        final_path_exact=shares["final_path_exact"].rate,
        final_path_macro_f1=macro_f1(paths, (*actions, *TERMINAL_PATHS)),
        action_accuracy=shares["action_accuracy"].rate,
        object_accuracy=shares["object_accuracy"].rate,
        masked_action_errors=sum(o.exact and not o.action_right for o in outcomes),
        false_dispatch=shares["false_dispatch"],
        false_block=shares["false_block"],
        flip_pairs=pairs,
        valid_first_pass=shares["valid_first_pass"].rate,
        repairs=sum(o.answer.repairs + bool(o.verdict.repair) for o in outcomes),
        fallbacks=sum(a.fallback for a in answers),
        multi_rule_matches=sum(len(o.true_rules) > 1 for o in outcomes),
        calls_per_case=mean([a.calls for a in answers]),
        tokens_per_case=Tokens(
            mean([a.tokens_in for a in answers if a.tokens_in is not None]),
            mean([a.tokens_out for a in answers if a.tokens_out is not None]),
        ),
        latency_ms=Latency(percentile(latencies, 50), percentile(latencies, 95)),
        cost_per_1k=_cost_per_1k(outcomes),
        coverage=shares["coverage"].rate,
        wrong_objects=wrong_objects(outcomes),
        by_split=_slices(outcomes, lambda o: o.case.split),
        by_tier=_slices(outcomes, lambda o: o.answer.given.tier),
        errors_by_owner=errors_by_owner(outcomes),
        published_paths=published_paths(outcomes),
        intervals=_intervals({**shares, "flip_pairs": Share(pairs.exact, pairs.of)}),
        interface_failures=sum(o.failed for o in outcomes),
        citations=citations(outcomes),
        run=run,
    )


def final_path_exact(outcomes: Outcomes) -> Share:
    """Cases with the right final path."""
    return Share(sum(o.exact for o in outcomes), len(outcomes))


def action_accuracy(outcomes: Outcomes) -> Share:
    """Cases with the right committed action."""
    return Share(sum(o.action_right for o in outcomes), len(outcomes))


def object_accuracy(outcomes: Outcomes) -> Share:
    """Cases with the right object, UNRESOLVED and NONE included."""
    return Share(sum(o.object_right for o in outcomes), len(outcomes))


def false_dispatch(outcomes: Outcomes) -> Share:
    """Dispatches among the cases whose right boundary is a terminal."""
    bounded = [o for o in outcomes if not o.case.gold.allowed]
    return Share(sum(o.dispatched for o in bounded), len(bounded))


def false_block(outcomes: Outcomes) -> Share:
    """Terminals among the cases that may be dispatched."""
    allowed = [o for o in outcomes if o.case.gold.allowed]
    return Share(sum(not o.dispatched for o in allowed), len(allowed))


def valid_first_pass(outcomes: Outcomes) -> Share:
    """Answers that held the contract without a repair."""
    return Share(sum(o.valid_first_pass for o in outcomes), len(outcomes))


def coverage(outcomes: Outcomes) -> Share:
    """Cases for which the tier committed to an action."""
    return Share(sum(o.committed for o in outcomes), len(outcomes))


def wrong_objects(outcomes: Outcomes) -> Share:
    """Dispatches of another object than the right one."""
    dispatched = [o for o in outcomes if o.dispatched]
    return Share(sum(not o.object_right for o in dispatched), len(dispatched))


SHARES: Mapping[str, Callable[[Outcomes], Share]] = {
    "final_path_exact": final_path_exact,
    "action_accuracy": action_accuracy,
    "object_accuracy": object_accuracy,
    "false_dispatch": false_dispatch,
    "false_block": false_block,
    "valid_first_pass": valid_first_pass,
    "coverage": coverage,
}


def flip_pairs(outcomes: Outcomes) -> Pairs:
    """Pairs of which both members are exact; a pair with one member here is not counted."""
    whole = [members for members in _pairs(outcomes).values() if len(members) == 2]
    return Pairs(sum(all(o.exact for o in members) for members in whole), len(whole))


def incomplete_pairs(outcomes: Outcomes) -> tuple[str, ...]:
    """Ids of pairs of which one member is missing."""
    return tuple(pair for pair, members in _pairs(outcomes).items() if len(members) != 2)


def _pairs(outcomes: Outcomes) -> dict[str, list[Outcome]]:
    pairs: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.case.pair_id:
            pairs.setdefault(outcome.case.pair_id, []).append(outcome)
    return pairs


def published_paths(outcomes: Outcomes) -> Share | None:
    """Final paths equal to the published ones; None where none is published."""
    stated = [o for o in outcomes if o.answer.published_path is not None]
    if not stated:
        return None
    return Share(sum(o.path == o.answer.published_path for o in stated), len(stated))


def citations(outcomes: Outcomes) -> Share | None:
    """Cases in which a cited rule is the right one; None where none is cited."""
    cited = [o for o in outcomes if o.cited is not None]
    if not cited:
        return None
    return Share(sum(o.cited in o.case.gold.rule_ids for o in cited), len(outcomes))


def errors_by_owner(outcomes: Outcomes) -> Errors:
    """Wrong final paths by owner."""
    return Errors(**Counter(owner(o) for o in outcomes if not o.exact))


def owner(outcome: Outcome) -> str:
    """What made a final path wrong: the first reason that fits, in the order of the flow."""
    if outcome.verdict.first_failed_contract:
        return "adapter"
    if not outcome.action_right:
        return "catalog_or_proposer"
    if not outcome.object_right:
        return "registry"
    if final_path(outcome.with_gold) != outcome.case.gold.final_path:
        return "state"
    return "controller"


def _cost_per_1k(outcomes: Outcomes) -> float | None:
    """Dollars per thousand cases; None unless every case states its cost."""
    costs = [o.answer.cost_usd for o in outcomes if o.answer.cost_usd is not None]
    average = mean(costs)
    return average * 1000 if average is not None and len(costs) == len(outcomes) else None


def _slices(outcomes: Outcomes, key: Callable[[Outcome], str]) -> Mapping[str, Slice]:
    names = dict.fromkeys(map(key, outcomes))
    return {name: _slice([o for o in outcomes if key(o) == name]) for name in names}


def _slice(outcomes: Outcomes) -> Slice:
    return Slice(
        cases=len(outcomes),
        final_path_exact=final_path_exact(outcomes).rate,
        action_accuracy=action_accuracy(outcomes).rate,
        object_accuracy=object_accuracy(outcomes).rate,
        false_dispatch=false_dispatch(outcomes),
        false_block=false_block(outcomes),
        coverage=coverage(outcomes).rate,
    )


def _intervals(shares: Mapping[str, Share]) -> Mapping[str, Interval | None]:
    return {name: wilson(share.count, share.of) for name, share in shares.items()}
