"""How one tier's answers of today compare with those of a reference period: numbers, and alarms.

Five shares (routed, out of scope, asked back, passed on, unable to answer) are compared by an exact
test on the two counts (Fisher), the confidences of each action by Kolmogorov-Smirnov. The stated rate
of false alarms is shared out evenly among all tests (Bonferroni), so that with no change an alarm of
any kind comes in at most that share of the windows looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from scipy.stats import fisher_exact, ks_2samp

from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference.calibration.watch import FALSE_ALARMS
from inference.tiers.scores import CLARIFY, LOW_CONFIDENCE, OUT_OF_DISTRIBUTION

Became = Literal["routed", "out_of_scope", "clarify", "escalation", "abstention"]
SHARES: Final[tuple[Became, ...]] = (
    "routed", "out_of_scope", "clarify", "escalation", "abstention",
)  # fmt: skip
REASONS: Final[Mapping[str, Became]] = {
    CLARIFY: "clarify",
    LOW_CONFIDENCE: "escalation",
    OUT_OF_DISTRIBUTION: "escalation",
}
"""What an abstention of a reason counts as; one of any other could not answer at all (`no_text`)."""
FEWEST: Final = 30
"""Confidences of an action in each period, below which its drift is not tested."""


class Answered(NamedTuple):
    """One answer of the tier, without any text: what became of the message, as what, how surely."""

    became: Became
    action_id: str = ""
    confidence: float = 0.0


class Share(NamedTuple):
    """A share in both periods, and the p-value of their being the same."""

    name: Became
    reference: float
    today: float
    p: float


class Drift(NamedTuple):
    """Mean confidence of one action in both periods, and the p-value of one distribution."""

    action_id: str
    reference: float
    today: float
    p: float


@dataclass(frozen=True, slots=True)
class Compared:
    """Every number, and an alarm for each that has moved more than chance allows."""

    shares: tuple[Share, ...]
    drifts: tuple[Drift, ...]
    alarms: tuple[str, ...]


def answered(answer: TierAnswer) -> Answered:
    """What counts of one answer, for example of a decision record."""
    match answer:
        case Proposal(action_id=action_id, confidence=sure):
            return Answered("routed", action_id, float(sure or 0))
        case OutOfScope():
            return Answered("out_of_scope")
        case Abstain(reason=reason):
            return Answered(REASONS.get(reason, "abstention"))
        case _:
            return Answered("escalation")


def compare(
    reference: Sequence[Answered], today: Sequence[Answered], false_alarms: float = FALSE_ALARMS
) -> Compared:
    """Compare two periods of one tier; an empty one raises no alarm."""
    shares = tuple(_share(name, reference, today) for name in SHARES)
    drifts = tuple(_drifts(reference, today))
    level = false_alarms / (len(shares) + len(drifts))
    alarms = [
        f"{s.name}: {s.reference:.1%} before, {s.today:.1%} now" for s in shares if s.p < level
    ]
    alarms += [
        f"confidence of {d.action_id}: {d.reference:.3f} before, {d.today:.3f} now"
        for d in drifts
        if d.p < level
    ]
    return Compared(shares, drifts, tuple(alarms))


def _share(name: Became, reference: Sequence[Answered], today: Sequence[Answered]) -> Share:
    counts = [sum(a.became == name for a in period) for period in (reference, today)]
    sizes = (len(reference), len(today))
    table = [[count, size - count] for count, size in zip(counts, sizes, strict=True)]
    rates = [count / size if size else 0.0 for count, size in zip(counts, sizes, strict=True)]
    return Share(name, rates[0], rates[1], float(fisher_exact(table).pvalue))


def _drifts(reference: Sequence[Answered], today: Sequence[Answered]) -> Iterable[Drift]:
    for action_id in sorted({a.action_id for a in (*reference, *today) if a.action_id}):
        before, now = (
            [a.confidence for a in period if a.action_id == action_id]
            for period in (reference, today)
        )
        if min(len(before), len(now)) >= FEWEST:
            p = float(ks_2samp(before, now).pvalue)
            yield Drift(action_id, sum(before) / len(before), sum(now) / len(now), p)
