"""The benches: CLINC150 with out-of-scope texts, Banking77 whole and with ten texts per intent.

Only training and validation splits are read. The head never sees what is measured, nor a
near-duplicate of it; the calibrator is fitted on a slice of the training texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.intents import ablation, data, economics, groups, metrics
from eval.intents.data import TEST_MIX, Texts
from eval.intents.reliability import diagram
from eval.intents.scored import Floats, Scored
from eval.intents.subjects import Subject
from inference.calibration import fit, folds, measures
from inference.calibration.calibrator import Calibrator, confidence, to_json
from inference.tiers.scores import OUT_OF_SCOPE

CALIBRATION = 10
"""One in so many training texts is kept for the calibrator."""
PER_INTENT, DRAWS = 10, 5
SEED = 20261201


@dataclass(frozen=True, slots=True)
class Report:
    """Figures as JSON values, and the reliability diagrams by file name."""

    figures: Mapping[str, Any]
    diagrams: Mapping[str, str]


def clinc(subject: Subject, public: Path, rounds: int, out_of_scope_class: bool = True) -> Report:
    """CLINC150: train and oos_train, reported on val and oos_val for the mix of the test split.

    Without its out-of-scope class the head learns no out-of-scope text, and only a low score can keep
    one from being routed.
    """
    train, val = data.clinc(public)
    if not out_of_scope_class:
        train = train.take([i for i, n in enumerate(train.labels) if n != OUT_OF_SCOPE])
    kept, slice_ = _slice(train)
    on_slice, on_val = subject.measure(kept, [slice_, val], subject.strength)
    report = _report(subject, on_slice, on_val, TEST_MIX, rounds)
    return serving(report, subject, kept, val)


def banking(subject: Subject, public: Path, rounds: int) -> Report:
    """Banking77's training split less a tenth of its near-duplicate groups, reported on that tenth."""
    train, test = banking_split(data.banking(public))
    kept, slice_ = _slice(train)
    on_slice, on_test = subject.measure(kept, [slice_, test], subject.strength)
    report = _report(subject, on_slice, on_test, None, rounds)
    return serving(report, subject, kept, test)


def banking_split(texts: Texts) -> tuple[Texts, Texts]:
    """What is learnt from, and a tenth of the near-duplicate groups."""
    held = groups.held_back(groups.near_duplicates(texts.texts), texts.labels, 0.1, SEED)
    train, test = (texts.take(np.flatnonzero(m).tolist()) for m in (~held, held))
    return train, test


def serving(report: Report, subject: Subject, kept: Texts, asked: Texts) -> Report:
    """The report with what serving the classifier takes: milliseconds of a text, megabytes."""
    if subject.serve is None:
        return report
    scorer, read = subject.serve(kept, subject.strength)
    found = {"latency_ms": economics.latency(scorer, asked.texts), "megabytes": read}
    return Report({**report.figures, "serving": found}, report.diagrams)


def few(subject: Subject, public: Path) -> Report:
    """Ten texts per intent and its name, five draws; tested on all texts outside the draw's groups."""
    texts = data.banking(public)
    groups_of = groups.near_duplicates(texts.texts)
    accuracies = []
    for draw in range(DRAWS):
        drawn = _draw(texts.labels, draw)
        rest = np.flatnonzero(~np.isin(groups_of, groups_of[drawn])).tolist()
        kept, asked = named(texts.take(drawn)), texts.take(rest)
        (scored,) = subject.measure(kept, [asked], subject.strength)
        accuracies.append(metrics.in_scope_accuracy(scored, metrics.ones(scored)))
    mean = float(np.mean(accuracies))
    spread = float(np.std(accuracies, ddof=1))
    return Report({**_head(subject), "accuracy": mean, "sd": spread, "draws": accuracies}, {})


def named(texts: Texts) -> Texts:
    """The texts and, for each label, its name as one text more."""
    names = sorted(set(texts.labels))
    spoken = tuple(name.replace("_", " ").strip("?") for name in names)
    return Texts((*texts.texts, *spoken), (*texts.labels, *names))


def _slice(train: Texts) -> tuple[Texts, Texts]:
    names = {label: i for i, label in enumerate(sorted(set(train.labels)))}
    strata = np.array([names[label] for label in train.labels], dtype=np.int64)
    held = next(folds.parts(strata, CALIBRATION, SEED))
    kept, slice_ = (train.take(np.flatnonzero(m).tolist()) for m in (~held, held))
    return kept, slice_


def _draw(labels: Sequence[str], seed: int) -> list[int]:
    rng = np.random.default_rng([SEED, seed])
    own = np.array(labels)
    picked = [
        rng.choice(np.flatnonzero(own == name), PER_INTENT, replace=False)
        for name in sorted(set(own))
    ]
    return sorted(np.concatenate(picked).tolist())


def _head(subject: Subject) -> dict[str, Any]:
    return {"kind": subject.kind, "strength": subject.strength, "digests": subject.digests}


def _report(
    subject: Subject, slice_: Scored, tested: Scored, mix: tuple[int, int] | None, rounds: int
) -> Report:
    # The slice as it is: weighed for the mix, its ten out-of-scope texts would be a fifth of it, and
    # on CLINC150 that left every calibrator within chance of none.
    calibrator = fit.choose(slice_.probabilities, slice_.right, seed=SEED)
    sure = confidence(calibrator, tested.probabilities)
    plain = tested.probabilities.max(axis=1)
    weights = metrics.weights_of(tested, mix)
    drawn = {**metrics.FIGURES, **_errors_of(sure)}
    found = metrics.intervals(tested, mix, drawn, rounds, seed=SEED)
    per_class = metrics.per_class(tested, weights)
    figures = {
        **_head(subject),
        "texts": {
            "calibration": len(slice_.gold),
            "in_scope": int(tested.in_scope.sum()),
            "out_of_scope": int((~tested.in_scope).sum()),
            "stands_for": mix,
        },
        "accuracy_on_calibration": float(slice_.right.mean()),
        "figures": {n: _known(f(tested, weights)) for n, f in metrics.FIGURES.items()},
        "intervals": {n: [_known(end) for end in interval] for n, interval in found.items()},
        "calibrator": to_json(calibrator),
        "calibration": {
            "as_it_is": metrics.calibration(tested, plain, weights),
            "calibrated": metrics.calibration(tested, sure, weights),
        },
        "worst_recall": _worst(per_class),
        "policies": ablation.figures(slice_, tested, weights, SEED),
    }
    return Report(figures, _diagrams(tested, plain, sure, weights, calibrator))


def _errors_of(sure: Floats) -> dict[str, metrics.Figure]:
    """The calibration errors of calibrated confidences as figures, so that they get intervals too.

    A sample's calibration error is never negative and so is too large on average, the more the smaller
    the sample: the interval lies rather high.
    """

    def error(name: str) -> metrics.Figure:
        return lambda scored, weights: metrics.calibration(scored, sure, weights)[name]

    return {name: error(name) for name in ("ece_in_scope", "ece_mixed")}


def _worst(per_class: Mapping[str, metrics.ClassFigures]) -> list[dict[str, Any]]:
    """The five labels of lowest recall."""
    found = sorted((c.recall, label, c.support) for label, c in per_class.items() if c.support)
    return [{"label": label, "recall": r, "texts": texts} for r, label, texts in found[:5]]


def _known(value: float) -> float | None:
    """A figure as JSON can hold it: None where there is nothing to count."""
    return None if math.isnan(value) else value


def _diagrams(
    tested: Scored, plain: Floats, sure: Floats, weights: Floats, calibrator: Calibrator
) -> dict[str, str]:
    def drawn(title: str, scores: Floats) -> str:
        return diagram(title, measures.equal_bins(scores, tested.right, weights=weights))

    return {
        "reliability.svg": drawn("scores as they are", plain),
        "reliability-calibrated.svg": drawn(f"calibrated ({calibrator.method})", sure),
    }
