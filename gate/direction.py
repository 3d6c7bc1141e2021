"""Direction and action evidence: what the text itself asks for, whatever a model proposes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gate import complement as complement_reading
from gate import coverage as coverage_reading
from gate.clauses import Clause
from gate.complement import NOUNS, Reading, Span, is_head, reading
from gate.government import VERBS, governed
from gate.lexicon import (
    CONJUNCTION,
    JOINER,
    PARTICLE,
    QUESTION,
    READ,
    WRITE,
    Hit,
    Lexicon,
)
from gate.records import Direction

Names = tuple[Sequence[Span], Sequence[Span]]


class Cue(NamedTuple):
    """A verb or phrase at folded [start, end) that points one way."""

    start: int
    end: int
    direction: Direction


class Asked(NamedTuple):
    """A declared verb inside a request clause: the write actions that declare it.

    `actions` are those for which it is evidence: the only one that declares the verb, or those
    of which a declared noun stands in the same clause.
    """

    start: int
    end: int
    actions: tuple[str, ...]


def read(
    lexicon: Lexicon, text: str, clauses: Sequence[Clause], hits: Sequence[Hit], names: Names
) -> tuple[tuple[Cue, ...], tuple[Asked, ...]]:
    """Cues of both directions, and action evidence: declared verbs that a request governs.

    A write verb is a WRITE cue only where a request governs it; in negated, conditional, quoted,
    reported, past and asking clauses it is a READ cue; elsewhere (a noun, a title) it is none.
    It is evidence only if what it asks to be done to is an object, a noun of the action or an
    anaphor, and nothing unknown stands beside it. `names` gives the spans of names and of claimed amounts.
    """
    done_to: Reading | None = None
    cues: list[Cue] = []
    asked: list[Asked] = []
    for clause in clauses:
        if not clause.tags & (READ | VERBS | QUESTION | PARTICLE):
            continue
        ruling = governed(lexicon, clause, text) if clause.tags & VERBS and clause.request else ()
        cues.extend(Cue(h.start, h.end, Direction.WRITE) for h in ruling)
        cues.extend(_reads(clause))
        declared = [h for h in ruling if h.phrase in lexicon.verbs]
        if declared:
            done_to = done_to or reading(lexicon, text, hits, *names)
            asked.extend(_asked(lexicon, clauses, clause, done_to, declared))
    return tuple(cues), tuple(asked)


def _reads(clause: Clause) -> list[Cue]:
    kinds = 0 if clause.negated else READ
    kinds |= WRITE if clause.talk else 0
    kinds |= 0 if clause.quoted else QUESTION
    kinds |= PARTICLE if clause.question and not clause.quoted else 0
    return [Cue(h.start, h.end, Direction.READ) for h in clause.hits if h.tags & kinds]


def _asked(
    lexicon: Lexicon,
    clauses: Sequence[Clause],
    clause: Clause,
    done_to: Reading,
    declared: Sequence[Hit],
) -> list[Asked]:
    found: list[Asked] = []
    topic = _topic(clauses, clause)
    spaceless = coverage_reading.spaceless(done_to.text, clause.start, clause.end)
    for hit in declared:
        actions = lexicon.verbs[hit.phrase]
        if len(actions) > 1:
            owners = _owners_of_nouns(lexicon, clause.hits)
            actions &= owners or _owners_before(done_to, clauses[: clauses.index(clause)])
        if actions and spaceless:
            actions = coverage_reading.asks_for(done_to, clauses, clause, hit, actions)
        elif actions:
            span = (clause.start, clause.end)
            actions = complement_reading.asks_for(done_to, hit, span, topic, actions)
        if actions:
            found.append(Asked(hit.start, hit.end, tuple(sorted(actions))))
    return found


def _topic(clauses: Sequence[Clause], clause: Clause) -> Span | None:
    """The clause right before it in its sentence, where that asks for nothing and is not set aside."""
    at = clauses.index(clause)
    before = clauses[at - 1] if at else None
    if before is None or before.sentence != clause.sentence or before.talk or before.quoted:
        return None
    return (before.start, before.end) if before.asks_from is None else None


def _owners_before(read: Reading, earlier: Sequence[Clause]) -> frozenset[str]:
    """The actions of the nouns in the nearest earlier clause that names anything (my email has
    changed, please update it); what the verb is done to must then point back."""
    for clause in reversed(earlier):
        nouns = [h for h in clause.hits if h.tags & NOUNS]
        if nouns or clause.quoted:
            spaceless = coverage_reading.spaceless(read.text, clause.start, clause.end)
            heads = [h for h in nouns if (spaceless or is_head(read, h)) and not clause.quoted]
            return _owners_of_nouns(read.lexicon, heads)
    return frozenset()


def _owners_of_nouns(lexicon: Lexicon, hits: Sequence[Hit]) -> frozenset[str]:
    """The actions that declare a noun among them, longest nouns only (e-mail address, address)."""
    nouns = [h for h in hits if h.phrase in lexicon.nouns]
    longest = (n for n in nouns if not any(_holds(o, n) for o in nouns))
    return frozenset(a for n in longest for a in lexicon.nouns[n.phrase])


def _holds(outer: Hit, inner: Hit) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def direction(found: Sequence[Cue]) -> Direction:
    """READ, WRITE, both (MIXED) or neither (UNDECLARED)."""
    kinds = {c.direction for c in found}
    if len(kinds) == 2:
        return Direction.MIXED
    return kinds.pop() if kinds else Direction.UNDECLARED


def several_requests(text: str, clauses: Sequence[Clause]) -> bool:
    """True if a declared conjunction joins two clauses that each ask for something, or a joiner two
    commands to tell something, no mark between them (show my balance and list my transactions).

    Commands behind a mark may be about one thing (先看波动，再说明统计区间). A write beside a read
    is no such case: its confirmation says that the question is not answered.
    """
    joints = [i for i, c in enumerate(clauses) if c.tags & CONJUNCTION]
    if any(_asks_any(clauses[:i]) and _asks_any(clauses[i:]) for i in joints):
        return True
    pairs = pairwise(clauses)
    return any(_commands_to_tell(a) and _commands_to_tell(b) and _joined(text, b) for a, b in pairs)


def _joined(text: str, clause: Clause) -> bool:
    unmarked = text[: clause.start].rstrip()[-1:].isalnum()
    return unmarked and any(h.start == clause.start and h.tags & JOINER for h in clause.hits)


def _commands_to_tell(clause: Clause) -> bool:
    """True for a bare imperative whose own verb asks for information."""
    if not (clause.request and clause.bare):
        return False
    return any(h.start == clause.asks_from and h.tags & READ for h in clause.hits)


def _asks_any(clauses: Sequence[Clause]) -> bool:
    return any(_asks(c) or _read_cue(c) for c in clauses if not c.quoted)


def _asks(clause: Clause) -> bool:
    """True for a request or a question, also where it goes on with an earlier question."""
    return clause.question or (clause.asks_from is not None and not clause.negated)


def _read_cue(clause: Clause) -> bool:
    return not clause.negated and bool(clause.tags & READ)
