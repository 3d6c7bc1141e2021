"""The figures behind P-18, printed: python -m tests.promises.figures_p18."""

from __future__ import annotations

import numpy as np

from inference.calibration.bound import Scored, certify
from inference.calibration.watch import SHIFT
from tests.promises.test_p18 import (
    ALPHA,
    DELTA,
    POPULATIONS,
    RESPLITS,
    Truth,
    banking,
    broken_share,
    samples,
    shifted,
)


def main() -> None:
    """Print how often the bound is broken, void, and how much it routes."""
    for name, population in ((name, make()) for name, make in POPULATIONS.items()):
        truth = Truth(population, np.ones(len(population.best)))
        found = [
            truth.at(certify(learning, testing, ALPHA, DELTA).threshold)
            for _, learning, testing in samples(population, RESPLITS)
        ]
        broken = np.mean([wrong > ALPHA for wrong, _ in found])
        share = np.mean([coverage for _, coverage in found]) / truth.oracle(ALPHA)
        print(f"{name}: broken {broken:.3f}, coverage {share:.3f} of the oracle's")
        kinds = int(population.gold.max()) + 1
        for concentration in (30.0, 10.0, 3.0, 1.0):
            told = shifted(
                population,
                population,
                lambda rng, c=concentration, p=population, k=kinds: rng.dirichlet([c] * k)[p.gold],  # type: ignore[misc]
            )
            void = np.mean([bound.void == SHIFT for bound, _, _ in told])
            few = np.mean([bound.void == "too_few" for bound, _, _ in told])
            print(
                f"  classes reweighted, Dirichlet {concentration:g}: broken {broken_share(told):.3f},"
                f" void {void:.3f}, too few {few:.3f}"
            )
    plain, other = POPULATIONS["banking77"](), banking("reworded_")
    both = Scored(*(np.concatenate(pair) for pair in zip(plain, other, strict=True)))
    for share in (0.05, 0.1, 0.25, 0.5, 1.0):
        weights = np.repeat([1 - share, share], len(plain.best))
        told = shifted(plain, both, lambda rng, w=weights: w)  # type: ignore[misc]
        void = np.mean([bound.void == SHIFT for bound, _, _ in told])
        print(f"  reworded share {share:g}: broken {broken_share(told):.3f}, void {void:.3f}")


if __name__ == "__main__":
    main()
