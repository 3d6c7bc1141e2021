"""Dialogue: what a later turn does to an earlier one. Closed choice over stored options, no model.

A turn says yes as a whole, picks exactly one stored option, or gives the one slot that was asked
for, or the object where there was none to offer. Whatever else it says makes it a new request,
without anything of the dialogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gate.configuration import Configuration
from gate.direction import direction
from gate.findings import Findings
from gate.normalise import fold
from gate.objects import Mention, Status
from gate.records import NONE, UNRESOLVED, Direction, Entry, Option
from gate.slots import SlotFound, merge

_MARKS: Final = " .,;:!()\"'。、「」"
"""What may stand around the words of an answer, folded; a question mark makes it none."""


def is_yes(configuration: Configuration, utterance: str) -> bool:
    """True for an empty text, or one that as a whole is a yes-phrase of a configured language."""
    folded = fold(utterance)
    said = " ".join(word.strip(_MARKS) for word in folded.split())
    packs = (configuration.packs[tag] for tag in configuration.languages)
    return not folded or any(said in pack.yes_phrases for pack in packs)


def is_question(utterance: str) -> bool:
    """True for a text with a question mark, which answers nothing."""
    return "?" in fold(utterance)


def pick(
    configuration: Configuration,
    options: Sequence[Option],
    utterance: str,
    turn: Findings,
    entries: Mapping[str, Entry],
) -> Option | None:
    """The one stored option that a turn picks, or None; `entries` are the closed lists by id.

    By its number, by a yes where there is one option, by its object's name, by the name of its
    action, or by words that all belong to one option only. Ways that lead to two options pick none.
    """
    if is_question(utterance) or not _only_answers(turn):
        return None
    text = fold(utterance).strip(_MARKS)
    ways = (
        _by_number(configuration, options, text),
        options[0] if len(options) == 1 and text and is_yes(configuration, text) else None,
        _by_object(configuration, options, utterance, turn, entries),
        _by_words(configuration, options, text, entries),
    )
    found = _sole(dict.fromkeys(option for option in ways if option is not None))
    if found is None or not _asks_no_other(turn, found.action_id):
        return None
    return found if all(found.object_id in m.owners for m in _named(turn)) else None


def named(
    configuration: Configuration,
    action_id: str,
    utterance: str,
    turn: Findings,
    entries: Mapping[str, Entry],
) -> Option | None:
    """The action with the one object that a turn names, where nothing could be offered before."""
    ids = dict.fromkeys(owner for m in _named(turn) for owner in m.owners)
    options = tuple(Option(action_id, object_id) for object_id in ids)
    return pick(configuration, options, utterance, turn, entries) if len(ids) == 1 else None


def _only_answers(turn: Findings) -> bool:
    """False for a turn that asks a question, asks for several things or speaks of somebody else."""
    asking = turn.direction in (Direction.READ, Direction.MIXED)
    return not (asking or turn.several_requests or turn.unmatched or turn.third_person)


def _named(turn: Findings) -> list[Mention]:
    return [m for m in turn.mentions if m.status is not Status.AMOUNT]


def _asks_no_other(turn: Findings, action_id: str) -> bool:
    return all(action_id in asked.actions for asked in turn.asked)


def _by_number(configuration: Configuration, options: Sequence[Option], text: str) -> Option | None:
    for tag in configuration.languages:
        for place, words in enumerate(configuration.packs[tag].ordinals):
            if text in words.split("|"):
                return options[place] if place < len(options) else None
    return None


def _by_object(
    configuration: Configuration,
    options: Sequence[Option],
    utterance: str,
    turn: Findings,
    entries: Mapping[str, Entry],
) -> Option | None:
    """The option whose object the turn names, if it names one, cleanly, and says nothing else."""
    named = _named(turn)
    if any(m.status is not Status.OK for m in named):
        return None
    ids = {owner for m in named for owner in m.owners}
    for mention in reversed(named):
        utterance = f"{utterance[: mention.start]} {utterance[mention.end :]}"
    beside = tuple(_content(configuration, fold(utterance)))
    return _sole(
        o
        for o in options
        if o.object_id in ids and all(_names(configuration, o, entries, w) for w in beside)
    )


def _by_words(
    configuration: Configuration,
    options: Sequence[Option],
    text: str,
    entries: Mapping[str, Entry],
) -> Option | None:
    """The only option to whose names every word of the text belongs, words of choosing left out."""
    words = tuple(_content(configuration, text))
    if not words:
        return None
    return _sole(o for o in options if all(_names(configuration, o, entries, w) for w in words))


def _content(configuration: Configuration, text: str) -> Iterator[str]:
    """Words of a spaced script one by one, what stands between them in Han as it is."""
    skipped = sorted({w for t in configuration.languages for w in configuration.packs[t].choosing})
    for part in text.split():
        word = part.strip(_MARKS)
        if word in skipped:
            continue
        for choosing in sorted(skipped, key=len, reverse=True):
            if not choosing.isascii():
                word = word.replace(choosing, "")
        if word:
            yield word


def _names(
    configuration: Configuration, option: Option, entries: Mapping[str, Entry], word: str
) -> bool:
    """True if a name of the option holds the word: whole in a spaced script, anywhere in Han."""
    action = configuration.catalog.get(option.action_id)
    entry = entries.get(option.object_id)
    names = [fold(action.title(tag)) for tag in configuration.languages] if action else []
    if entry is not None:
        names += [fold(name) for name in (entry.display_name, *entry.aliases)]
    if word.isascii():
        return any(word in name.split() for name in names)
    return any(word in name for name in names)


def _sole(found: Iterable[Option]) -> Option | None:
    kept = list(found)
    return kept[0] if len(kept) == 1 else None


def chosen(opening: Findings, turn: Findings, option: Option) -> Findings:
    """The opening turn's findings with the option that a later turn picked.

    Where that turn asks for something itself, its words are the action evidence; choosing is none.
    What else the opening turn asks for is left: of several requests one was chosen.
    """
    spoken = turn if turn.asked else opening
    asked = tuple(a for a in spoken.asked if option.action_id in a.actions)
    cues, way = spoken.cues, spoken.direction
    if spoken.asked and not asked:
        cues = tuple(c for c in cues if c.direction is not Direction.WRITE)
        way = direction(cues)
    return opening._replace(
        direction=way,
        cues=cues,
        asked=asked,
        request_clauses=spoken.request_clauses,
        several_requests=False,
        slots=merge(_slots_of(opening, option.action_id), turn.slots),
        chosen="" if option.object_id == UNRESOLVED else option.object_id,
    )


def _slots_of(opening: Findings, action_id: str) -> tuple[SlotFound, ...]:
    """The opening turn's slots; where it asks for another write too, those behind the chosen one's words.

    A value behind the other's words was said of that one, or of neither.
    """
    others = [a.start for a in opening.asked if action_id not in a.actions]
    if not others:
        return opening.slots
    own = [a.start for a in opening.asked if action_id in a.actions]
    return tuple(s for s in opening.slots if s.turn or _last(own, s.start) > _last(others, s.start))


def _last(starts: Sequence[int], place: int) -> int:
    """The last of the starts that is not behind a place, or -1."""
    return max((start for start in starts if start <= place), default=-1)


def given(
    slot: str, action_id: str, turn: Findings, alone: Sequence[SlotFound]
) -> tuple[SlotFound, ...]:
    """What a turn says for the slot that was asked for; nothing if it says or asks more than that.

    `alone` is the turn read as the answer for exactly that slot, which counts more than what it
    says by itself.
    """
    found = tuple(alone) or tuple(s for s in turn.slots if s.slot == slot)
    beside = any(
        not any(f.start <= m.start and m.end <= f.end for f in found) for m in _named(turn)
    )
    if not _only_answers(turn) or beside or not _asks_no_other(turn, action_id):
        return ()
    return found


def filled(opening: Findings, found: Sequence[SlotFound], option: Option) -> Findings:
    """The opening turn's findings with a slot that a later turn gave."""
    return opening._replace(
        slots=merge(opening.slots, found),
        chosen=option.object_id if option.object_id != NONE else opening.chosen,
    )
