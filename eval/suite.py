"""A suite opened: the cases, the configuration that decides them, and what learns beside them.

Suites, systems and backends are three axes: any backend may stand behind any system on any suite
that both can serve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from eval.audit import Audit
from eval.case import Case
from gate.configuration import Configuration
from gate.load.institution import Institution


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their actions from which a classifier may learn; never those of the cases."""

    texts: tuple[str, ...]
    actions: tuple[str, ...]
    file: Path


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases with everything that decides them.

    `now` is the clock given to the gate. `institution` is where the suite has a whole one, with
    tiers of its own; None for RouteBR's three files. `totals_only` keeps single cases out of
    reports: they are held out.
    """

    name: str
    configuration: Configuration
    cases: tuple[Case, ...]
    examples: Examples
    digests: Mapping[str, str]
    audit: Audit
    now: datetime
    institution: Institution | None = None
    totals_only: bool = False
    root: Path = field(default=Path())

    @property
    def labels(self) -> Sequence[str]:
        """The actions that a final path may name."""
        return tuple(self.configuration.catalog.actions)

    @property
    def bounded_by_text(self) -> bool:
        """True where the text alone may bound a case, so that the gate reads it for gold too."""
        return self.institution is not None
