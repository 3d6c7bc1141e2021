"""Calibrators: what each does, when each is refused, and that a record is all there is to one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.calibration import measures
from inference.calibration.calibrator import (
    AS_IS,
    METHODS,
    Calibrator,
    confidence,
    from_json,
    to_json,
)
from inference.calibration.fit import SIZES, allowed, choose, cross_fitted, fit
from inference.errors import CalibrationError
from tests.inference.calibration.samples import tempered

PAIR = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
RISING = Calibrator("isotonic", knots=((0.5, 0.4), (0.9, 0.7)))


def gap(scores: np.ndarray, right: np.ndarray) -> float:
    return measures.ece(measures.adaptive_bins(scores, right))


def test_values_by_hand() -> None:
    assert confidence(AS_IS, PAIR) == pytest.approx([0.8, 0.5, 0.9])
    # odds 4, 1 and 9 to the power of 1/2
    assert confidence(Calibrator("temperature", (2.0,)), PAIR) == pytest.approx([2 / 3, 0.5, 0.75])
    assert confidence(Calibrator("platt", (1.0, 0.0)), PAIR) == pytest.approx([0.8, 0.5, 0.9])
    assert confidence(Calibrator("platt", (0.5, 0.0)), PAIR) == pytest.approx([2 / 3, 0.5, 0.75])
    assert confidence(RISING, PAIR) == pytest.approx([0.625, 0.4, 0.7])


@pytest.mark.parametrize(
    ("heat", "method"), [(3.0, "temperature"), (3.0, "platt"), (3.0, "isotonic")]
)
def test_overconfident_scores_come_to_keep_their_word(heat: float, method: str) -> None:
    shown, right, _ = tempered(6000, 5, heat, 1)
    fresh, fresh_right, _ = tempered(6000, 5, heat, 2)
    fitted = fit(method, shown, right)  # type: ignore[arg-type]
    assert fitted.method == method
    assert gap(fresh.max(axis=1), fresh_right) > 0.05
    assert gap(confidence(fitted, fresh), fresh_right) < 0.03


def test_temperature_is_found() -> None:
    shown, right, _ = tempered(6000, 5, 3.0, 1)
    assert fit("temperature", shown, right).parameters[0] == pytest.approx(3.0, rel=0.05)


@given(st.sampled_from(METHODS), st.integers(0, 2**32 - 1))
def test_confidences_are_chances_and_keep_the_order_of_scores(method: str, seed: int) -> None:
    made = {
        "none": AS_IS,
        "temperature": Calibrator("temperature", (0.7,)),
        "platt": Calibrator("platt", (2.0, -1.0)),
        "isotonic": RISING,
    }[method]
    rows = np.random.default_rng(seed).dirichlet([0.3] * 2, 50)
    found = confidence(made, rows)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[np.argsort(rows.max(axis=1))]) >= -1e-12).all()


def test_size_decides_what_is_allowed() -> None:
    assert allowed(99, 50) == ("none",)
    assert allowed(100, 9) == ("none",)
    assert allowed(100, 10) == ("none", "temperature")
    assert allowed(500, 30) == ("none", "temperature", "platt")
    assert allowed(2000, 100) == METHODS
    assert allowed(2000, 2000) == ("none",)  # a sample without a right text says nothing either


@pytest.mark.parametrize("method", [m for m in METHODS if m != "none"])
def test_too_few_errors_keep_scores_as_they_are_and_say_so(method: str) -> None:
    texts = SIZES[method].texts  # type: ignore[index]
    rows = np.tile([0.7, 0.3], (texts, 1))
    right = np.arange(texts) >= SIZES[method].errors - 1  # type: ignore[index]
    fitted = fit(method, rows, right)  # type: ignore[arg-type]
    assert fitted.method == "none"
    assert f"{method} refused" in fitted.notes[0] and "T = 1" in fitted.notes[0]
    assert confidence(fitted, PAIR) == pytest.approx([0.8, 0.5, 0.9])


def test_temperature_at_the_edge_is_refused() -> None:
    # Scores that are right by chance whatever they say: no finite temperature is high enough.
    rows = np.tile([0.999, 0.001], (400, 1))
    fitted = fit("temperature", rows, np.arange(400) % 2 == 0)
    assert (fitted.method, fitted.errors) == ("none", 200)
    assert "edge" in fitted.notes[0]


def test_scores_that_mislead_are_refused_by_platt() -> None:
    scores = np.linspace(0.5, 0.99, 1000)
    right = np.random.default_rng(0).random(1000) > scores
    fitted = fit("platt", np.stack([scores, 1 - scores], axis=1), right)
    assert fitted.method == "none" and "slope" in fitted.notes[0]


def test_isotonic_is_never_certain() -> None:
    scores = np.linspace(0.51, 0.99, 3000)
    right = scores > 0.6
    fitted = fit("isotonic", np.stack([scores, 1 - scores], axis=1), right)
    assert fitted.method == "isotonic"
    assert 0 < fitted.knots[0][1] < 0.01 and 0.99 < fitted.knots[-1][1] < 1


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_weights_count_as_copies(method: str) -> None:
    shown, right, _ = tempered(2500, 5, 3.0, 8)
    copies = np.where(right, 1, 3)
    rows = np.repeat(np.arange(2500), copies)
    weighted = fit(method, shown, right, copies.astype(float))  # type: ignore[arg-type]
    copied = fit(method, shown[rows], right[rows])  # type: ignore[arg-type]
    plain = fit(method, shown, right)  # type: ignore[arg-type]
    fresh = tempered(500, 5, 3.0, 9)[0]
    apart = np.abs(confidence(weighted, fresh) - confidence(copied, fresh)).max()
    assert apart < 0.03 < np.abs(confidence(weighted, fresh) - confidence(plain, fresh)).max()


def test_choice_keeps_the_simplest_that_is_as_good() -> None:
    shown, right, _ = tempered(3000, 5, 1.0, 3)
    assert choose(shown, right).method == "none"
    shown, right, _ = tempered(3000, 5, 3.0, 3)
    assert choose(shown, right).method == "temperature"
    few = choose(shown[:60], right[:60])
    assert few.method == "none" and len(few.notes) == 3


def test_cross_fitting_never_uses_a_text_for_itself() -> None:
    # Every text of one half is an outlier for a calibrator that has not seen it.
    shown, right, _ = tempered(2500, 5, 3.0, 4)
    out = cross_fitted("isotonic", shown, right, 5, 0)
    seen = confidence(fit("isotonic", shown, right), shown)
    assert measures.nll(out, right) > measures.nll(seen, right)
    flipped = right.copy()
    flipped[7] = ~flipped[7]
    assert cross_fitted("temperature", shown, right, 5, 0) != pytest.approx(
        cross_fitted("temperature", shown, flipped, 5, 0)
    )


@pytest.mark.parametrize(
    "calibrator",
    [AS_IS, RISING, Calibrator("temperature", (1.5,), texts=9, errors=1, notes=("why",)),
     Calibrator("platt", (1.0, -0.25))],
)  # fmt: skip
def test_a_record_survives_json(calibrator: Calibrator) -> None:
    assert from_json(to_json(calibrator)) == calibrator


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema_version", 2),
        ("method", "beta"),
        ("method", "isotonic"),
        ("parameters", []),
        ("parameters", [0.0]),
        ("parameters", [float("nan")]),
        ("parameters", ["x"]),
        ("knots", [[0.1, 0.2]]),
        ("extra", 1),
    ],
)
def test_broken_record_is_refused(key: str, value: object) -> None:
    fields = json.loads(to_json(Calibrator("temperature", (1.5,))))
    with pytest.raises(CalibrationError):
        from_json(json.dumps({**fields, key: value}))


@pytest.mark.parametrize(
    "knots", [((0.5, 0.6), (0.4, 0.7)), ((0.5, 0.6), (0.6, 0.5)), ((0.5, 1.2),)]
)
def test_knots_must_rise_within_their_range(knots: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(CalibrationError):
        Calibrator("isotonic", knots=knots)


@pytest.mark.parametrize("rows", [[[0.5, 0.4]], [[float("nan"), 1.0]], [[1.5, -0.5]], [0.5, 0.5]])
def test_what_is_no_distribution_is_refused(rows: list[object]) -> None:
    with pytest.raises(CalibrationError):
        confidence(AS_IS, np.array(rows))
