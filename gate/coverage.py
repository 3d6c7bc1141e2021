"""Coverage: in a script without spaces a clause asks only if it is made of known words throughout.

把我的借记卡冻结一下 falls into known words, 骗子让我冻结借记卡 does not, and neither does 冻结借记卡的
利率. Words are found wherever they stand, so what is read here is every way to lay them end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from gate.clauses import Clause
from gate.complement import NOUNS, Reading, fits, noun_of
from gate.lexicon import (
    ACTION_NOUN,
    ANAPHOR,
    CLAUSE,
    COAXING,
    CONJUNCTION,
    FILLER,
    JOINER,
    LIGHT,
    OPENING,
    PARTICLE,
    REQUEST,
    SOFTENER,
    WISH,
    Hit,
    is_word,
)

BEFORE: Final = FILLER | REQUEST | WISH | OPENING | CLAUSE | CONJUNCTION | JOINER | LIGHT
AFTER: Final = FILLER | SOFTENER | PARTICLE | COAXING
NAME: Final = "="
"""Stands for any name of the closed lists among the heads of a noun phrase."""

Heads = frozenset[str]


class State(NamedTuple):
    """How far a way of reading has come: `owed` after a word that needs a noun behind it, `joined`
    behind an and; `heads` are the nouns of its last noun phrase."""

    position: int
    owed: bool = False
    joined: bool = False
    heads: Heads = frozenset()


Step = Callable[[State], Iterator[State]]


def asks_for(
    read: Reading, clauses: Sequence[Clause], clause: Clause, verb: Hit, actions: frozenset[str]
) -> frozenset[str]:
    """Those of `actions` whose object or noun the verb's clause names, and nothing unknown beside it.

    A clause that names nothing (请冻结) takes what the nearest clause before it names, and nothing
    where that one is not understood.
    """
    at = clauses.index(clause)
    free = actions <= read.lexicon.objectless
    front = _ways(read, clause.start, verb.start, _front(read, free, verb.start))
    front = front or _carried(read, clause, verb)
    if not front or not _led_to(read, clauses[: at + 1]):
        return frozenset()
    back = _ways(read, verb.end, clause.end, _back(read, clause.end, free))
    heads = [b.heads or f.heads for f in front for b in back]
    if not heads:
        return frozenset()
    named = [h for h in heads if h]
    if named:
        return _fitting(read, actions, named, verb.phrase in read.lexicon.weak)
    if verb.phrase in read.lexicon.weak:
        return frozenset()
    if _names_itself(read, verb):
        return actions
    before = _antecedent(read, clauses[:at])
    if before is None or (not before and clause.bare):
        return frozenset()
    return _fitting(read, actions, [before], False)


def _led_to(read: Reading, clauses: Sequence[Clause]) -> bool:
    """True if what stands before the last clause, without a mark between, is known words as well.

    下次出国我再冻结借记卡 falls into clauses before 再, and the first one says when.
    """
    last, earlier = clauses[-1], clauses[:-1]
    if not earlier or not read.text[last.start - 1].isalnum():
        return True
    before = earlier[-1]
    return bool(_ways(read, before.start, before.end, _any(read, before.end))) and _led_to(
        read, earlier
    )


def _carried(read: Reading, clause: Clause, verb: Hit) -> list[State]:
    """The ways up to a verb that a light one carries as its noun (办理储蓄账户的销户)."""
    if not any(h.tags & LIGHT and h.end <= verb.start for h in clause.hits):
        return []
    found = _reached(read, clause.start, verb.start, _front(read, False, verb.start))
    return [s for s in found if s.position >= verb.start and s.heads]


def _fitting(
    read: Reading, actions: frozenset[str], ways: Iterable[Heads], weak: bool
) -> frozenset[str]:
    """The actions that take what a way of reading names; a clause that names nothing fits all, but
    not a weak verb, which takes no anaphor either."""
    heads = {h for way in ways for h in way}
    if weak:
        heads = {
            h for h in heads if h == NAME or h in read.lexicon.nouns or h in read.lexicon.types
        }
        if not heads:
            return frozenset()
    if not heads or NAME in heads:
        return actions
    return frozenset(a for a in actions if any(fits(read.lexicon, a, h) for h in heads))


def _names_itself(read: Reading, verb: Hit) -> bool:
    """True for a verb that is a noun of the action or ends in one (销户, 锁卡)."""
    inside = (h for at in range(verb.start, verb.end) for h in read.hits.get(at, ()))
    return any(h.tags & NOUNS and h.end == verb.end for h in inside)


def _antecedent(read: Reading, earlier: Sequence[Clause]) -> Heads | None:
    """What the nearest earlier clause that says more than courtesies is about; None if not known.

    It is about a noun that something is said of (借记卡丢了), not about one that is only part of what
    is named (借记卡的短信).
    """
    for clause in reversed(earlier):
        start, end = clause.start, clause.end
        if any(not s.heads for s in _ways(read, start, end, _back(read, end, False))):
            continue
        named = [
            s.heads
            for s in _reached(read, start, end, _front(read, False, end))
            if s.heads and not s.owed and (s.position >= end or _said_of(read, s.position))
        ]
        if _ends_with_name(read, clause):
            named.append(frozenset({NAME}))
        return frozenset(h for heads in named for h in heads) or None
    return frozenset()


def _said_of(read: Reading, position: int) -> bool:
    """True if what follows is said of a thing; white space and marks do not count."""
    return read.lexicon.predicates.starting_at(read.text, position) > 0


def _ends_with_name(read: Reading, clause: Clause) -> bool:
    last = (end for start, end in read.names.items() if clause.start <= start < clause.end)
    return any(_passed(read.text, end, clause.end) == clause.end for end in last)


def _ways(read: Reading, start: int, end: int, step: Step) -> list[State]:
    """The ways to read all of [start, end) that owe nothing."""
    found = _reached(read, start, end, step)
    return [s for s in found if s.position >= end and not s.owed]


def _reached(read: Reading, start: int, end: int, step: Step) -> set[State]:
    """Every state that words laid end to end from `start` lead to, none beyond `end`."""
    first = State(_passed(read.text, start, end))
    seen, to_do = {first}, [first]
    while to_do:
        state = to_do.pop()
        if state.position >= end:
            continue
        for following in step(state):
            if following.position > end:
                continue
            moved = following._replace(position=_passed(read.text, following.position, end))
            if moved not in seen:
                seen.add(moved)
                to_do.append(moved)
    return seen


def _passed(text: str, position: int, end: int) -> int:
    """Behind white space and marks."""
    while position < end and not text[position].isalnum():
        position += 1
    return position


def _front(read: Reading, free: bool, stop: int) -> Step:
    """What may stand before the verb: courtesies, request forms, and the thing that it is done to."""

    def step(state: State) -> Iterator[State]:
        yield from _things(read, state, free)
        lexicon, text, at = read.lexicon, read.text, state.position
        for hit in read.hits.get(at, ()):
            if hit.tags & BEFORE and not state.owed:
                yield state._replace(position=hit.end)
        for end in lexicon.prepositions.all_from(text, at):
            yield State(end, owed=True, heads=state.heads)
        if free and state.heads and lexicon.origins.starting_at(text, at) > 0:
            yield State(stop, heads=state.heads)  # 把地址从…改成…

    return step


def _back(read: Reading, stop: int, free: bool) -> Step:
    """What may stand behind the verb: how far it goes, the thing, courtesies, and what it becomes."""

    def step(state: State) -> Iterator[State]:
        yield from _things(read, state, free)
        lexicon, text, at = read.lexicon, read.text, state.position
        for hit in read.hits.get(at, ()):
            if hit.tags & AFTER and not state.owed:
                yield state._replace(position=hit.end)
        for end in lexicon.completives.all_from(text, at):
            yield state._replace(position=end)
        for end in lexicon.payload_words.all_from(text, at) if free else ():
            if not state.owed and _is_value(read, end, stop):
                yield state._replace(position=stop, heads=state.heads or _named_in(read, end, stop))
        for end in lexicon.prepositions.all_from(text, at):
            yield State(end, owed=True, heads=state.heads)

    return step


def _any(read: Reading, stop: int) -> Step:
    """What may stand before or behind a verb, and declared verbs."""
    front, back = _front(read, False, stop), _back(read, stop, True)

    def step(state: State) -> Iterator[State]:
        yield from front(state)
        yield from back(state)
        for hit in read.hits.get(state.position, ()):
            if hit.phrase in read.lexicon.verbs:
                yield state._replace(position=hit.end)

    return step


def _named_in(read: Reading, start: int, stop: int) -> Heads:
    """The noun of an action in what something becomes (改成新邮箱…)."""
    for at in range(start, stop):
        for hit in read.hits.get(at, ()):
            if hit.tags & ACTION_NOUN:
                return frozenset({hit.phrase})
    return frozenset()


def _is_value(read: Reading, start: int, stop: int) -> bool:
    """True unless it speaks of another one (别的), or is itself only part of a noun (改成…的申请表)."""
    end = stop
    while end > start and not read.text[end - 1].isalnum():
        end -= 1
    other = read.lexicon.other_words.starting_at(read.text, start) > 0
    last, lexicon = read.text[end - 1 : end], read.lexicon
    described = last in lexicon.leading_words.words or last in lexicon.perfectives.words
    return not other and (described or not read.lexicon.endings.ending_at(read.text, end))


def _things(read: Reading, state: State, free: bool) -> Iterator[State]:
    """Names, nouns, amounts, and the words that stand around them."""
    lexicon, text, at = read.lexicon, read.text, state.position
    if at in read.names:
        yield _with(state, read.names[at], noun_of(read, at) or NAME)
    for hit in read.hits.get(at, ()):
        if hit.tags & (NOUNS | ANAPHOR):
            yield _with(state, hit.end, hit.phrase)
    for end in lexicon.leading_words.all_from(text, at):
        yield state._replace(position=end, owed=True)
    for end in lexicon.trailing_words.all_from(text, at):
        if not state.owed:
            yield state._replace(position=end)
    for end in lexicon.money_words.all_from(text, at):
        yield State(end, heads=state.heads)
    for end in lexicon.joining_words.all_from(text, at):
        if state.heads and not state.owed:
            yield state._replace(position=end, owed=True, joined=True)
    if at in read.amounts and (_is_order(read, at) or (free and _is_email(read, at))):
        yield state._replace(position=read.amounts[at], owed=False)
    for end in _counted(read, at, state.owed):
        yield state._replace(position=end)


def _with(state: State, end: int, phrase: str) -> State:
    """The state behind a noun; it takes the place of an earlier one unless an and joins them."""
    heads = state.heads | {phrase} if state.joined else frozenset({phrase})
    if NAME in state.heads:
        heads |= {NAME}
    return State(end, heads=heads)


def _counted(read: Reading, start: int, owed: bool) -> Iterator[int]:
    """Where numerals with a measure word end (一张); before a noun that is owed, with any unit
    (拿半年不用的资金)."""
    text, lexicon = read.text, read.lexicon
    end = start
    while end < len(text) and (text[end] in lexicon.numerals.words or text[end] in _DIGITS):
        end += 1
    if end > start:
        yield from lexicon.measures.all_from(text, end)
        yield from lexicon.order_words.all_from(text, end)
        yield from lexicon.units.all_from(text, end) if owed else ()


def _is_email(read: Reading, start: int) -> bool:
    return "@" in read.text[start : read.amounts[start]]


def _is_order(read: Reading, start: int) -> bool:
    """True for a claimed amount with a sign or with a unit of what can be ordered."""
    end = read.amounts[start]
    signed = not read.text[start].isalnum()
    return signed or bool(read.lexicon.order_words.ending_at(read.text, end))


_DIGITS: Final = frozenset("0123456789.,")


def spaceless(text: str, start: int, end: int) -> bool:
    """True if a letter of a script without spaces stands in [start, end)."""
    return any(c.isalpha() and not is_word(c) for c in text[start:end])
