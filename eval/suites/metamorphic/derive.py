"""Derives cases from RouteBR's own sentences and from hand-written frames.

Every derived case has a state in which nothing stands against a dispatch, so that only text
findings can stop it. Words to substitute are data beside this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval import table
from eval.case import Case, Gold
from eval.derived import Derived, Expect
from eval.table import Row
from gate.records import NONE, UNRESOLVED, Entry

FOLDER = Path(__file__).parent
"""Look-alikes that the gate is known not to stop; named in every report, not among the cases."""
MENTION, SECOND = "{X}", "{Y}"
STEP = 13
"""How far apart in the registry a name and its substitute lie."""
USES = 6
"""Sentences and frames into which each look-alike is put, each."""

_SENTENCE = re.compile(r"[^。？！]*[。？！]?")


@dataclass(frozen=True, slots=True)
class Words:
    """The hand-written material: rows of `frames.csv` and so on, in file order."""

    frames: tuple[Row, ...]
    lookalikes: tuple[Row, ...]
    clauses: tuple[Row, ...]
    negations: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A case that may be dispatched, its entry, and the name by which its text mentions it ('' for
    an anaphor)."""

    case: Case
    entry: Entry
    name: str


def words(folder: Path = FOLDER) -> Words:
    """Read the hand-written material; SuiteError names file and line."""
    return Words(
        table.read(folder / "frames.csv", ("action", "kind", "expect", "text")),
        table.read(folder / "lookalikes.csv", ("name", "note")),
        table.read(folder / "clauses.csv", ("place", "text")),
        table.read(folder / "negations.csv", ("before", "after", "expect")),
    )


def derive(
    cases: Sequence[Case], entries: Mapping[str, Entry], material: Words
) -> tuple[Derived, ...]:
    """Every derived case, with a unique case id, in a fixed order."""
    allowed = [c for c in cases if c.gold.allowed]
    state = _clear_state(allowed)
    sources = [s for c in allowed for s in _source(c, entries)]
    registered = tuple(entries.values())
    made: list[Derived] = []
    for build in (_reordered, _swapped, _swapped_outside):
        made += [d for i, s in enumerate(sources) for d in build(i, s, registered)]
    made += _with_clauses(allowed, material.clauses)
    made += [d for s in sources for d in _negated(s, material.negations)]
    made += _claimed(cases, state)
    made += _lookalikes(sources, material)
    made += _framed(material.frames, registered, state)
    return tuple(_numbered(made))


def _numbered(made: Sequence[Derived]) -> Iterator[Derived]:
    for number, derived in enumerate(made, 1):
        case_id = f"META-{number:04}"
        yield replace(derived, case=replace(derived.case, case_id=case_id, pair_id=""))


def _clear_state(allowed: Sequence[Case]) -> Mapping[str, object]:
    """The state of a case that may be dispatched."""
    return allowed[0].state if allowed else {}


def _source(case: Case, entries: Mapping[str, Entry]) -> Iterator[Source]:
    entry = entries.get(case.gold.object_id)
    if entry is None:
        return
    names = sorted((entry.display_name, *entry.aliases), key=len, reverse=True)
    yield Source(case, entry, next((n for n in names if n in case.utterance), ""))


def _reordered(_: int, source: Source, __: Sequence[Entry]) -> Iterator[Derived]:
    """The last sentence goes first."""
    parts = [s.strip() for s in _SENTENCE.findall(source.case.utterance) if s.strip()]
    if len(parts) > 1:
        text = "".join((parts[-1], *parts[:-1]))
        yield _derived("clauses_reordered", source.case, Expect.SAME, text)


def _swap(source: Source, other: Entry) -> Case:
    """The case with every name of its object replaced, in text and history."""
    case = source.case

    def swapped(text: str) -> str:
        text = text.replace(source.entry.display_name, other.display_name)
        for mine, theirs in zip(source.entry.aliases, other.aliases, strict=False):
            text = text.replace(mine, theirs)
        return text

    gold = replace(case.gold, object_id=other.object_id)
    history = tuple(map(swapped, case.history))
    return replace(case, utterance=swapped(case.utterance), history=history, gold=gold)


def _swapped(index: int, source: Source, registered: Sequence[Entry]) -> Iterator[Derived]:
    """Another registered object, which is a candidate: the path must follow."""
    other = _other(index, source, registered)
    case = replace(_swap(source, other), candidates=(other.object_id,))
    yield _derived("object_swapped", case, Expect.SAME, case.utterance)


def _swapped_outside(index: int, source: Source, registered: Sequence[Entry]) -> Iterator[Derived]:
    """Another registered object, which is no candidate."""
    other = _other(index, source, registered)
    if other.object_id not in (source.case.candidates or ()):
        case = _swap(source, other)
        yield _derived("object_swapped_outside", case, Expect.BOUNDED, case.utterance)


def _other(index: int, source: Source, registered: Sequence[Entry]) -> Entry:
    others = [e for e in registered if e.object_id != source.entry.object_id]
    return others[(index * STEP) % len(others)]


def _with_clauses(allowed: Sequence[Case], clauses: Sequence[Row]) -> Iterator[Derived]:
    """An irrelevant clause before or after."""
    for index, case in enumerate(allowed):
        row = clauses[index % len(clauses)]
        before = row.one_of("place", ("before", "after", "expect")) == "before"
        parts = (row["text"], case.utterance) if before else (case.utterance, row["text"])
        yield _derived("irrelevant_clause", case, Expect.SAME, "".join(parts))


def _negated(source: Source, negations: Sequence[Row]) -> Iterator[Derived]:
    """The request is negated (bounded), or a clause beside it (safe)."""
    text = source.case.utterance
    mention = source.name or "它"
    for row in negations:
        before = row["before"].replace(MENTION, mention)
        if before in text:
            after = text.replace(before, row["after"].replace(MENTION, mention), 1)
            expect = _expect(row)
            yield _derived(f"negation_added: {expect}", source.case, expect, after)
            return


def _claimed(cases: Sequence[Case], state: Mapping[str, object]) -> Iterator[Derived]:
    """Texts without one clear object under a state that says it is resolved."""
    for case in cases:
        if case.gold.object_id == UNRESOLVED:
            clear = replace(case, state=state)
            yield _derived("resolution_claimed", clear, Expect.BOUNDED, case.utterance)


def _lookalikes(sources: Sequence[Source], material: Words) -> Iterator[Derived]:
    """A name that is not registered in place of one that is, every object being a candidate."""
    named = [s for s in sources if s.name]
    frames = [r for r in material.frames if r["kind"] == "paraphrase" and MENTION in r["text"]]
    for index, row in enumerate(material.lookalikes):
        for use in range(USES):
            source = named[(index * USES + use) * STEP % len(named)]
            text = source.case.utterance.replace(source.name, row["name"])
            yield _lookalike(source.case, text, row)
            frame = frames[(index * USES + use) * STEP % len(frames)]
            text = frame["text"].replace(MENTION, row["name"])
            gold = _gold(frame["action"], UNRESOLVED, Expect.BOUNDED)
            yield _lookalike(replace(source.case, gold=gold), text, row)


def _lookalike(case: Case, text: str, row: Row) -> Derived:
    free = replace(case, candidates=None, history=())
    kind = f"lookalike: {row['note']}"
    return _derived(kind, free, Expect.BOUNDED, text, source=row["name"])


def _framed(
    frames: Sequence[Row], registered: Sequence[Entry], state: Mapping[str, object]
) -> Iterator[Derived]:
    """Hand-written sentences, each with two display names and one code (or once without object)."""
    for index, frame in enumerate(frames):
        for name in _namings(frame):
            entry, second = (registered[(index * 3 + k) % len(registered)] for k in (0, STEP))
            yield _frame(frame, entry, name(entry), name(second), state)
            if MENTION not in frame["text"]:
                break


Naming = Callable[[Entry], str]


def _namings(frame: Row) -> tuple[Naming, ...]:
    """English and Traditional frames take codes alone: names are written in Simplified Chinese."""
    codes = frame["kind"] in ("english", "traditional")
    return (_code,) if codes else (_display, _code)


def _display(entry: Entry) -> str:
    return entry.display_name


def _code(entry: Entry) -> str:
    return entry.aliases[0]


def _frame(
    frame: Row, entry: Entry, name: str, second: str, state: Mapping[str, object]
) -> Derived:
    expect = _expect(frame)
    text = frame["text"].replace(MENTION, name).replace(SECOND, second)
    object_id = entry.object_id if MENTION in frame["text"] else NONE
    case = Case(
        case_id="",
        split="META",
        utterance=text,
        gold=_gold(frame["action"], object_id, expect),
        state=state,
        candidates=None if object_id != NONE else (),
    )
    return _derived(frame["kind"], case, expect, text, source=f"frames.csv:{frame.line}")


def _expect(row: Row) -> Expect:
    return Expect(row.one_of("expect", [e.value for e in Expect]))


def _gold(action: str, object_id: str, expect: Expect) -> Gold:
    """A bounded case has UNRESOLVED for its object and CLARIFY for its terminal."""
    if expect is Expect.BOUNDED:
        return Gold(action, UNRESOLVED, "CLARIFY", "T_CLARIFY")
    return Gold(action, object_id, "ALLOW", action)


def _derived(kind: str, case: Case, expect: Expect, text: str, source: str = "") -> Derived:
    gold = case.gold
    if expect is Expect.BOUNDED and gold.allowed:
        gold = _gold(gold.action, UNRESOLVED, expect)
    return Derived(
        kind, source or case.case_id, expect, replace(case, utterance=text, gold=gold, split="META")
    )
