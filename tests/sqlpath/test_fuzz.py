"""Fuzz: 10,000 mutated statements; 100,000 with `make fuzz-sql` (P-14)."""

from __future__ import annotations

import pytest

from tests.sqlpath.fuzz import fuzz
from tests.sqlpath.hostile import world

COUNT = 10_000


@pytest.mark.slow
def test_mutated_statements_are_refused_or_contained() -> None:
    with world() as here:
        ends = fuzz(COUNT, 20261201, here)
    assert sum(ends.values()) == COUNT + COUNT // 10
    assert ends["rows"] > COUNT // 50
    assert ends["Refuse"] > COUNT // 50
    assert ends["Unsupported"] > COUNT // 50
    assert ends["worker_lost"] + ends["busy"] < COUNT // 1000
