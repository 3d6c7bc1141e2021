"""Resolution: the one object that a committed action may use, from findings and closed lists alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gate.catalog import Action
from gate.findings import Findings
from gate.objects import Mention, Status
from gate.records import NONE, UNRESOLVED, Entry, Session, Situation


@dataclass(frozen=True, slots=True)
class Resolution:
    """`object_id` is a closed-list id, NONE or UNRESOLVED; `options` are what a clarification may offer."""

    object_id: str
    reason: str
    options: tuple[str, ...] = ()

    @property
    def resolved(self) -> bool:
        """True for an object of the closed lists."""
        return self.object_id not in (NONE, UNRESOLVED)


Lists = Mapping[str, Entry]


def closed_lists(registry: Lists, session: Session | None) -> tuple[Lists, Lists]:
    """The registry's entries and the session's own, by id."""
    own = {e.object_id: e for e in session.objects} if session else {}
    return registry, own


def entry_of(lists: tuple[Lists, Lists], object_id: str) -> Entry | None:
    """The entry of that id: the session's own first, then the registry's."""
    return lists[1].get(object_id) or lists[0].get(object_id)


class Named(NamedTuple):
    """A name at [start, end) of the current turn that is evidence, and its type; never which one."""

    start: int
    end: int
    object_type: str


def named(findings: Findings, lists: tuple[Lists, Lists]) -> tuple[Named, ...]:
    """The names that may serve as evidence for an object, by type, as a tier may see them."""
    found = ((m, entry_of(lists, m.owners[0])) for m in findings.mentions if m.status is Status.OK)
    return tuple(Named(m.start, m.end, entry.object_type) for m, entry in found if entry)


def resolve(
    action: Action, findings: Findings, situation: Situation, registry: Lists
) -> Resolution:
    """The object that the text (or history, or session) gives the action, and why.

    One that the customer picked from stored options stands, as long as the closed lists hold it.
    """
    lists = closed_lists(registry, situation.session)
    if findings.chosen:
        return _chosen(action, findings.chosen, situation, lists)
    named = [m for m in findings.mentions if m.status is not Status.AMOUNT]
    if named:
        return _from_text(action, findings, situation, lists, named)
    if findings.unmatched:
        return _unresolved(action, situation, lists, "NOT_REGISTERED", ())
    if findings.third_person:
        return _unresolved(action, situation, lists, "SOMEBODY_ELSES", ())
    if _refers(findings):
        return _from_history(action, findings, situation, lists)
    return _from_session(action, findings, situation, lists)


def _chosen(
    action: Action, object_id: str, situation: Situation, lists: tuple[Lists, Lists]
) -> Resolution:
    if object_id != NONE:
        return _permitted(action, situation, lists, object_id)
    if action.object_required:
        return _unresolved(action, situation, lists, "NO_OBJECT", ())
    return Resolution(NONE, "")


def _from_text(
    action: Action,
    findings: Findings,
    situation: Situation,
    lists: tuple[Lists, Lists],
    named: list[Mention],
) -> Resolution:
    ids = _distinct(named)
    faulty = [m for m in named if m.status is not Status.OK]
    if len(ids) > 1:
        reason = faulty[0].status.value if faulty else "SEVERAL_OBJECTS"
        return _unresolved(action, situation, lists, reason, ids)
    if faulty:
        return _unresolved(action, situation, lists, faulty[0].status.value, ids)
    if findings.unmatched:
        return _unresolved(action, situation, lists, "NOT_REGISTERED", ids)
    if findings.third_person:
        return _unresolved(action, situation, lists, "SOMEBODY_ELSES", ())
    own = ids[0] in lists[1]
    if "text" not in action.object_from and not (own and "session" in action.object_from):
        return _unresolved(action, situation, lists, "NOT_FROM_TEXT", ids)
    return _permitted(action, situation, lists, ids[0])


def _permitted(
    action: Action, situation: Situation, lists: tuple[Lists, Lists], object_id: str
) -> Resolution:
    """The object if the action permits its type and the candidates hold it."""
    entry = entry_of(lists, object_id)
    if entry is None or entry.object_type not in action.types:
        return _unresolved(action, situation, lists, "TYPE_NOT_PERMITTED", ())
    if situation.candidates is not None and object_id not in situation.candidates:
        return _unresolved(action, situation, lists, "NOT_A_CANDIDATE", ())
    return Resolution(object_id, "")


def _refers(findings: Findings) -> bool:
    """True if the turn points back at an object: a typed anaphor, or any anaphor with something to point at."""
    return bool(findings.referring) or (bool(findings.anaphors) and _named_earlier(findings))


def _named_earlier(findings: Findings) -> bool:
    return any(t.mentions or t.unmatched for t in findings.history)


def _from_history(
    action: Action, findings: Findings, situation: Situation, lists: tuple[Lists, Lists]
) -> Resolution:
    if "history" not in action.object_from:
        if action.object_required and not _named_earlier(findings):
            return _from_session(action, findings, situation, lists)  # freeze this card
        return _unresolved(action, situation, lists, "NOT_FROM_HISTORY", ())
    if findings.set_aside:
        return _unresolved(action, situation, lists, Status.NEGATED.value, ())
    if any(t.unmatched for t in findings.history if t.user):
        return _unresolved(action, situation, lists, "NOT_REGISTERED", ())
    turns = [(i, m) for i, t in enumerate(findings.history) if t.user for m in t.mentions]
    turns = [(i, m) for i, m in turns if m.status is not Status.AMOUNT]
    ids = _distinct(m for _, m in turns)
    if not ids:
        return _unresolved(action, situation, lists, "NO_ANTECEDENT", ())
    faulty = [m for _, m in turns if m.status is not Status.OK]
    if len(ids) > 1 or faulty:
        reason = faulty[0].status.value if faulty else "SEVERAL_ANTECEDENTS"
        return _unresolved(action, situation, lists, reason, ids)
    if _named_by_others(action, findings, lists, turns[-1][0], ids[0]):
        return _unresolved(action, situation, lists, "NAMED_BY_ANOTHER_SPEAKER", ids)
    return _permitted(action, situation, lists, ids[0])


def _named_by_others(
    action: Action, findings: Findings, lists: tuple[Lists, Lists], after: int, antecedent: str
) -> bool:
    """True if a non-user turn after the antecedent names another object that the action permits."""
    others = (m for t in findings.history[after + 1 :] if not t.user for m in t.mentions)
    for object_id in _distinct(m for m in others if m.status is not Status.AMOUNT):
        entry = entry_of(lists, object_id)
        if object_id != antecedent and entry is not None and entry.object_type in action.types:
            return True
    return False


def _from_session(
    action: Action, findings: Findings, situation: Situation, lists: tuple[Lists, Lists]
) -> Resolution:
    """No object is named: the sole own object where the action takes one from the session, else none."""
    if not action.object_required:
        return Resolution(NONE, "")
    own = [i for i, e in lists[1].items() if e.object_type in action.types]
    if "session" not in action.object_from or not own:
        return _unresolved(action, situation, lists, "NO_OBJECT", ())
    if len(own) > 1 or findings.kinds:
        reason = "SEVERAL_OWN_OBJECTS" if len(own) > 1 else "NOT_AMONG_OWN_OBJECTS"
        return _unresolved(action, situation, lists, reason, own)
    return _permitted(action, situation, lists, own[0])


def _unresolved(
    action: Action,
    situation: Situation,
    lists: tuple[Lists, Lists],
    reason: str,
    ids: Iterable[str],
) -> Resolution:
    """UNRESOLVED, offering those of `ids` that the action and the candidates permit."""
    options = tuple(i for i in ids if _permits(action, situation, lists, i))
    return Resolution(UNRESOLVED, reason, options)


def _permits(
    action: Action, situation: Situation, lists: tuple[Lists, Lists], object_id: str
) -> bool:
    entry = entry_of(lists, object_id)
    listed = situation.candidates is None or object_id in situation.candidates
    return entry is not None and entry.object_type in action.types and listed


def _distinct(named: Iterable[Mention]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(i for m in named for i in m.owners))
