"""The error bound by hand and against scipy; what it needs at least, and what makes it void."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from inference.calibration.bound import (
    NEVER,
    Scored,
    certify,
    fewest,
    parted,
    per_action,
    sequence,
    upper_limit,
)
from inference.calibration.watch import (
    SHIFT,
    Traffic,
    current,
    new_mix,
    redrawn,
    signal,
    tightened,
    unlabelled,
)
from inference.errors import CalibrationError


def scored(sure: np.ndarray, wrong: np.ndarray, best: np.ndarray | None = None) -> Scored:
    own = np.zeros(len(sure), dtype=np.int64) if best is None else best
    return Scored(sure, own, np.where(wrong, own + 1, own), np.ones(len(sure), dtype=bool))


def clear(texts: int, errors: int = 0) -> Scored:
    """All texts equally sure; some wrong."""
    return scored(np.full(texts, 0.9), np.arange(texts) < errors)


def test_an_alpha_of_one_per_cent_needs_299_routes_without_an_error() -> None:
    assert fewest(0.01, 0.05) == 299
    assert certify(clear(50), clear(298), 0.01, 0.05).void == "too_few"
    bound = certify(clear(50), clear(299), 0.01, 0.05)
    assert (bound.void, bound.threshold, bound.routed, bound.coverage) == (None, 0.9, 299, 1.0)
    assert bound.upper <= 0.01
    assert certify(clear(50), clear(299, 1), 0.01, 0.05).threshold == NEVER
    assert certify(clear(50), clear(473, 1), 0.01, 0.05).void is None


@given(st.integers(1, 500), st.data(), st.sampled_from([0.01, 0.05, 0.2]))
def test_upper_limit_is_clopper_pearsons(routed: int, data: st.DataObject, delta: float) -> None:
    wrong = data.draw(st.integers(0, routed))
    exact = binomtest(wrong, routed, alternative="less").proportion_ci(1 - delta, method="exact")
    assert upper_limit(wrong, routed, delta) == pytest.approx(exact.high)


def test_nothing_routed_is_bounded_by_nothing() -> None:
    assert upper_limit(0, 0, 0.05) == 1.0
    nobody = clear(400)._replace(eligible=np.zeros(400, dtype=bool))
    assert certify(nobody, nobody, 0.05, 0.05).void == "too_few"


def test_the_sequence_stops_at_the_first_threshold_that_fails() -> None:
    # Good above 0.8, bad from 0.6 to 0.8, good again below: the lower part is never reached.
    sure = np.concatenate([np.full(600, 0.9), np.full(200, 0.7), np.full(5000, 0.5)])
    wrong = np.zeros(5800, dtype=bool)
    wrong[600:800] = True
    testing = scored(sure, wrong)
    learning = scored(sure[::10], np.zeros(580, dtype=bool))
    order = sequence(learning, len(sure), 0.05)
    assert list(order) == sorted(order, reverse=True)
    bound = certify(scored(sure[::10], wrong[::10]), testing, 0.05, 0.05)
    assert bound.threshold == 0.9


def test_only_the_learning_part_orders_the_thresholds() -> None:
    rng = np.random.default_rng(0)
    sure = rng.random(4000)
    sample = scored(sure, rng.random(4000) > sure)
    learning, testing = parted(sample, 1)
    assert len(learning.best) == 400 and len(testing.best) == 3600
    flipped = testing._replace(gold=testing.best)
    allowed = set(sequence(learning, 3600, 0.1))
    for part in (testing, flipped):
        assert certify(learning, part, 0.1, 0.05).threshold in {*allowed, NEVER}


def test_what_the_policy_does_not_route_is_not_counted() -> None:
    half = clear(1000, 100)._replace(eligible=np.arange(1000) >= 100)
    bound = certify(half, half, 0.01, 0.05)
    assert (bound.routed, bound.wrong, bound.coverage) == (900, 0, 0.9)


def test_a_larger_alpha_or_delta_never_routes_less() -> None:
    rng = np.random.default_rng(2)
    sure = rng.beta(4, 1, 5000)
    learning, testing = parted(scored(sure, rng.random(5000) > sure), 0)
    found = [certify(learning, testing, a, 0.05).coverage for a in (0.02, 0.05, 0.1, 0.2)]
    assert found == sorted(found) and found[-1] > found[0]


@pytest.mark.parametrize(("alpha", "delta"), [(0, 0.05), (1, 0.05), (0.05, 0), (0.05, 1.5)])
def test_shares_outside_0_to_1_are_refused(alpha: float, delta: float) -> None:
    with pytest.raises(CalibrationError):
        certify(clear(10), clear(10), alpha, delta)


def test_actions_with_too_few_texts_get_no_bound_of_their_own() -> None:
    best = np.repeat([0, 1, 2], [700, 298, 700])
    sample = scored(np.full(1698, 0.9), np.repeat([False, False, True], [700, 298, 700]), best)
    found = per_action(sample, sample, ("GOOD", "SCARCE", "BAD"), 0.01, 0.05)
    assert set(found) == {"GOOD", "BAD"}
    assert found["GOOD"].void is None and found["GOOD"].routed == 700
    assert found["BAD"].void == "too_few"


def traffic(seed: int, heat: float = 1.0, mix: tuple[float, ...] = (0.5, 0.3, 0.2)) -> Traffic:
    rng = np.random.default_rng(seed)
    return Traffic(rng.beta(5, 1, 600) ** heat, rng.choice(3, 600, p=mix))


def test_false_alarms_come_as_often_as_stated() -> None:
    alarms = [signal(traffic(s), traffic(1000 + s), 0.05).shifted for s in range(600)]
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert np.mean(alarms) > 0.005


def test_a_shift_of_scores_or_of_labels_is_seen() -> None:
    assert signal(traffic(0), traffic(1, heat=1.5)).shifted
    other = signal(traffic(0), traffic(1, mix=(0.3, 0.3, 0.4)))
    assert other.shifted and other.labels < 0.001 < other.scores


def test_rare_labels_raise_no_alarm() -> None:
    rare = Traffic(np.full(600, 0.9), np.repeat([0, 1, 2, 3], [597, 1, 1, 1]))
    common = Traffic(np.full(600, 0.9), np.zeros(600, dtype=np.int64))
    assert not signal(common, rare).shifted


def population(texts: int, mix: tuple[float, ...], seed: int) -> Scored:
    """Texts of three kinds; the last kind is often taken for the first."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(3, texts, p=mix)
    sure = rng.beta(6, 1, texts)
    wrong = rng.random(texts) < np.array([0.02, 0.05, 0.3])[gold]
    best = np.where(wrong, (gold + 1) % 3, gold)
    return Scored(sure, best, gold, np.ones(texts, dtype=bool))


def test_new_mix_is_found_from_best_labels_alone() -> None:
    labelled = population(6000, (0.6, 0.3, 0.1), 1)
    today = population(6000, (0.2, 0.3, 0.5), 2)
    weights = new_mix(labelled, today.best)
    found = [weights[labelled.gold == kind].mean() for kind in range(3)]
    assert found == pytest.approx([0.2 / 0.6, 1.0, 0.5 / 0.1], rel=0.15)


def test_redrawn_texts_have_the_new_mix() -> None:
    labelled = population(20_000, (0.6, 0.3, 0.1), 1)
    weights = np.array([1 / 3, 1.0, 5.0])[labelled.gold]
    drawn = redrawn(labelled, weights, 0)
    shares = np.bincount(drawn.gold) / len(drawn.gold)
    assert shares == pytest.approx([0.2, 0.3, 0.5], abs=0.03)
    assert not signal(unlabelled(drawn), unlabelled(population(4000, (0.2, 0.3, 0.5), 5))).shifted


def test_under_a_new_mix_the_bound_is_derived_anew() -> None:
    labelled = population(6000, (0.6, 0.3, 0.1), 1)
    learning, testing = parted(labelled, 0)
    same = current(
        learning, testing, unlabelled(population(1000, (0.6, 0.3, 0.1), 3)), 0.1, 0.05, 0
    )
    assert same == certify(learning, testing, 0.1, 0.05)
    harder = [
        current(
            learning, testing, unlabelled(population(1000, (0.2, 0.3, 0.5), seed)), 0.1, 0.05, 0
        )
        for seed in range(4, 24)
    ]
    anew = [bound for bound in harder if bound.void != SHIFT]
    assert len(anew) >= 17  # the others by a false alarm
    assert all(b.texts < same.texts and b.threshold > same.threshold for b in anew)


def test_any_other_shift_voids_the_bound_and_tightens_the_threshold() -> None:
    labelled = population(6000, (0.6, 0.3, 0.1), 1)
    learning, testing = parted(labelled, 0)
    old = certify(learning, testing, 0.1, 0.05)
    today = unlabelled(population(1000, (0.6, 0.3, 0.1), 3))
    bound = current(learning, testing, today._replace(confidence=today.confidence**3), 0.1, 0.05, 0)
    assert bound.void == SHIFT
    assert 1 - bound.threshold == pytest.approx((1 - old.threshold) / 2)


def test_tightening_halves_the_room_and_never_opens() -> None:
    assert tightened(0.9) == pytest.approx(0.95)
    assert tightened(1.0) == 1.0
    assert tightened(NEVER) == NEVER
