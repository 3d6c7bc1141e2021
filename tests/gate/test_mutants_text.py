"""P-08 for what reads text: every hand-made mutant of it dies."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.gate.mutants_text import BATTERIES, MUTANTS, PARTS, Mutant, real, source_of, survives


def test_the_modules_themselves_pass_their_batteries() -> None:
    for battery in set(BATTERIES.values()):
        battery(real())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.part}-{m.name}")
def test_mutant_dies(mutant: Mutant) -> None:
    assert not survives(mutant)


def test_every_module_has_mutants_of_different_names() -> None:
    counted = Counter(mutant.part for mutant in MUTANTS)
    assert set(counted) == set(PARTS)
    assert len({(m.part, m.name) for m in MUTANTS}) == len(MUTANTS)


def test_a_mutant_that_changes_nothing_survives() -> None:
    """The batteries die of the change, not of being loaded as copies."""
    for part in PARTS:
        line = source_of(part).split("\n")[0]
        assert survives(Mutant(part, "nothing", line, line + " "))


def test_a_mutant_that_no_longer_applies_says_so() -> None:
    with pytest.raises(ValueError, match="mutant `gone`: its text stands 0 times"):
        survives(Mutant("contract", "gone", "no such text", ""))
