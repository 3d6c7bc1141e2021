"""A calibrator: from a head's distribution to the probability that its best label is right.

It gives one number per text and never reorders labels: what is routed on is the best label, and a
threshold needs to know how often that one is right (top-label calibration, Gupta and Ramdas, 2022).

    none         the best label's probability as it is
    temperature  the best label's share of softmax(log p / T)         (Guo et al., 2017)
    platt        1 / (1 + exp(-(slope * logit(p) + intercept)))       (Platt, 1999)
    isotonic     a rising step line through knots, linear between     (Zadrozny and Elkan, 2002)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from inference.errors import CalibrationError

Method = Literal["none", "temperature", "platt", "isotonic"]
METHODS: tuple[Method, ...] = get_args(Method)
VERSION = 1
TINY = 1e-12
"""Smallest probability whose logarithm is taken."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """How a score is read; `texts` and `errors` say what it was fitted on, `notes` what was refused.

    `parameters` is (T,) or (slope, intercept); `knots` are (score, probability), both rising.
    """

    method: Method = "none"
    parameters: tuple[float, ...] = ()
    knots: tuple[tuple[float, float], ...] = ()
    texts: int = 0
    errors: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wanted = {"none": 0, "temperature": 1, "platt": 2, "isotonic": 0}
        if self.method not in METHODS or len(self.parameters) != wanted[self.method]:
            raise CalibrationError(f"no calibrator: `{self.method}` with {self.parameters}")
        if not np.isfinite(self.parameters).all() or not np.isfinite(self.knots).all():
            raise CalibrationError(f"calibrator `{self.method}` holds a number that is not finite")
        if self.method in ("temperature", "platt") and self.parameters[0] <= 0:
            raise CalibrationError(f"calibrator `{self.method}` would turn the order round")
        if (self.method == "isotonic") != bool(self.knots):
            raise CalibrationError(f"calibrator `{self.method}` with {len(self.knots)} knots")
        if self.knots:
            _check_knots(np.array(self.knots))


def _check_knots(knots: Floats) -> None:
    rising = np.diff(knots, axis=0)
    if (rising[:, 0] <= 0).any() or (rising[:, 1] < 0).any():
        raise CalibrationError("the knots of calibrator `isotonic` do not rise")
    if (knots < 0).any() or (knots > 1).any():
        raise CalibrationError("a knot of calibrator `isotonic` lies outside 0 to 1")


AS_IS = Calibrator()
"""Scores as they are."""


def check(probabilities: Floats) -> Floats:
    """The rows as they are; CalibrationError unless each is a distribution (n, labels)."""
    if probabilities.ndim != 2 or probabilities.shape[1] < 1:
        raise CalibrationError(f"scores have the shape {probabilities.shape}, not (texts, labels)")
    whole = np.isfinite(probabilities).all() and (probabilities >= 0).all()
    if not whole or (np.abs(probabilities.sum(axis=1) - 1) > 1e-3).any():
        raise CalibrationError("a row of scores is no distribution; give probabilities")
    return probabilities


def confidence(calibrator: Calibrator, probabilities: Floats) -> Floats:
    """Per row (n, labels) the probability that its best label is right, shape (n,)."""
    rows = check(probabilities)
    match calibrator.method:
        case "none":
            return np.asarray(rows.max(axis=1))
        case "temperature":
            return tempered(rows, calibrator.parameters[0])
        case "platt":
            slope, intercept = calibrator.parameters
            return sigmoid(slope * logit(rows.max(axis=1)) + intercept)
        case "isotonic":
            scores, chances = np.array(calibrator.knots).T
            return np.asarray(np.interp(rows.max(axis=1), scores, chances))


def tempered(probabilities: Floats, temperature: float) -> Floats:
    """The best label's share after dividing the log-probabilities by `temperature`."""
    logs = np.log(np.maximum(probabilities, TINY)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(1 / powers.sum(axis=1), dtype=np.float64)


def logit(chances: Floats) -> Floats:
    """The log odds, cut at a million to one."""
    cut = np.clip(chances, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(cut / (1 - cut)), dtype=np.float64)


def sigmoid(odds: Floats) -> Floats:
    """The probability of log odds."""
    return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def to_json(calibrator: Calibrator) -> str:
    """One line of JSON; `from_json` gives an equal calibrator."""
    return json.dumps({"schema_version": VERSION, **asdict(calibrator)}, sort_keys=True)


def from_json(text: str) -> Calibrator:
    """The calibrator of `to_json`; CalibrationError for anything else."""
    try:
        fields: Any = json.loads(text)
        if fields.pop("schema_version") != VERSION:
            raise ValueError(f"schema_version is not {VERSION}")
        return _read(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CalibrationError(f"no calibrator: {error}; fit it again") from error


def _read(fields: Mapping[str, Any]) -> Calibrator:
    return Calibrator(
        **{
            **fields,
            "parameters": tuple(float(number) for number in fields["parameters"]),
            "knots": tuple((float(score), float(chance)) for score, chance in fields["knots"]),
            "notes": tuple(str(note) for note in fields["notes"]),
        }
    )
