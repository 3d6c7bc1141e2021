"""Which registered object a text is about, by the gate's own name index."""

from __future__ import annotations

from gate.normalise import fold
from gate.records import Entry
from gate.registry import Occurrence, Registry, find
from retrieval.evidence import About, Names


def names_of(registry: Registry, entry: Entry) -> Names:
    """A reader that tells whether a text names `entry`, only others of its type, or none.

    A name inside a longer registered name does not count.
    """

    def read(text: str) -> About:
        ids = {
            i
            for occurrence in _longest(find(registry.names, fold(text)))
            for i in occurrence.owners
        }
        same = {i for i in ids if registry.entries[i].object_type == entry.object_type}
        if not same:
            return About.NONE
        return About.THIS if entry.object_id in same else About.OTHER

    return read


def _longest(found: list[Occurrence]) -> list[Occurrence]:
    return [
        name
        for name in found
        if not any(
            other.start <= name.start and name.end <= other.end and other != name for other in found
        )
    ]
