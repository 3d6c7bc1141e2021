"""What a pathway brings back: statements, the closed list of evidence they cite, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

from gate.evidence import Evidence, Statement


@dataclass(frozen=True, slots=True)
class Citation:
    """Where one entry of the evidence stands.

    `source` is a document's file or a verified query's id, `digest` the SHA-256 of the file or of
    the data snapshot; `paragraph` counts from 1 through the document.
    """

    evidence_id: str
    source: str
    title: str
    digest: str
    version: str = ""
    headings: tuple[str, ...] = ()
    paragraph: int | None = None
    page: int | None = None
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A pathway's result before it is decided on and checked.

    `score` is how well the best evidence fits, 0 to 1; None where it is certain. `refusal` is the
    reason code of a pathway that answers nothing, which may still cite why; `said` what the
    institution says in that case.
    """

    statements: tuple[Statement, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    citations: Mapping[str, Citation] = field(default_factory=lambda: MappingProxyType({}))
    score: float | None = None
    refusal: str | None = None
    said: str | None = None

    @property
    def cited(self) -> tuple[Citation, ...]:
        """The citations of the statements, each once, in order."""
        ids = dict.fromkeys(i for s in self.statements for i in s.cites)
        return tuple(self.citations[i] for i in ids if i in self.citations)


def refused(reason: str, said: str | None = None) -> Draft:
    """A draft without an answer."""
    return Draft(refusal=reason, said=said)
