"""Clauses: where a text asks for something, and where it only talks about it.

A *request clause* is an imperative, a request form or a first-person wish that is neither negated
nor conditional, quoted, reported, past, or a how/whether/what-if question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gate.lexicon import (
    ANAPHOR,
    ASIDE,
    CLAUSE,
    COAXING,
    CONDITIONAL,
    CONJUNCTION,
    CONTRAST,
    CORRECTION,
    DISPOSAL,
    EXCEPTION,
    FILLER,
    GERUND,
    JOINER,
    NEGATION,
    OPENING,
    PARTICIPLE,
    PARTICLE,
    PASSIVE,
    PAST,
    QUESTION,
    READ,
    REPORTED,
    REQUEST,
    RETRACTION,
    SOFTENER,
    THIRD,
    TURN,
    WISH,
    WRITE,
    Hit,
    Lexicon,
    is_word,
)

OPENERS: Final = REQUEST | WISH
CUES: Final = READ | WRITE
FORMS: Final = OPENERS | OPENING
ASKING: Final = FORMS | CUES | NEGATION | DISPOSAL
SKIPPED: Final = FILLER | CLAUSE | JOINER | CONJUNCTION
MASKED: Final = (
    NEGATION | CONDITIONAL | QUESTION | PAST | REPORTED | CONTRAST | CONJUNCTION | THIRD | ANAPHOR
    | CUES
)  # fmt: skip
"""What an exception takes from the phrases that it touches."""
OPENED: Final = NEGATION | RETRACTION
FORMED: Final = NEGATION | QUESTION
"""What a request form or wish takes from the phrases inside it (能不能帮我 asks, 能不能 asks whether)."""


class Clause(NamedTuple):
    """A stretch of folded text [start, end) of one sentence and what it is.

    `jumps` leads over the skippable words of the text. `tags` holds the bits of all its hits.
    `asks_from` is where a request begins to govern verbs (None: the clause asks for nothing);
    `bare` tells an imperative without a request form; `aside` that the clause is negated, a question
    or somebody's report, by itself or by what it goes on with; `talk` that for any reason it only
    talks about what it names.
    """

    start: int
    end: int
    sentence: int
    hits: Sequence[Hit]
    jumps: Mapping[int, int]
    tags: int
    asks_from: int | None
    bare: bool
    question: bool
    quoted: bool
    aside: bool
    talk: bool

    @property
    def negated(self) -> bool:
        """True if a negator stands in the clause; one negates all its cues."""
        return bool(self.tags & NEGATION)

    @property
    def carries(self) -> bool:
        """True if what goes on from here is set aside too: a question, a report, a negated verb."""
        return self.aside and (self.question or not self.negated or bool(self.tags & CUES))

    @property
    def request(self) -> bool:
        """True if the clause asks for something to be done now."""
        return self.asks_from is not None and not self.talk


class _Bound(NamedTuple):
    start: int
    end: int
    sentence: int
    joined: bool


def unmasked(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without the cues inside an exception (`not only`, `if possible`, `purchase history`, ...)."""
    covers = [h for h in hits if h.tags & (EXCEPTION | OPENERS)]
    if not covers:
        return list(hits)
    kept: list[Hit] = []
    passed = 0
    for hit in hits:
        while passed < len(covers) and covers[passed].end <= hit.start:
            passed += 1
        tags, at = hit.tags, passed
        while at < len(covers) and covers[at].start < hit.end:
            tags &= ~_masked(covers[at], hit)
            at += 1
        if tags:
            kept.append(hit if tags == hit.tags else hit._replace(tags=tags))
    return kept


def _masked(cover: Hit, hit: Hit) -> int:
    """The bits that `cover` takes from `hit`; an exception keeps its own unless a longer one holds it,
    and leaves a longer verb that ends with it (put a freeze on)."""
    if cover.tags & EXCEPTION and not hit.tags & EXCEPTION:
        within = hit.tags & WRITE and hit.start < cover.start and cover.end <= hit.end
        return MASKED if cover.start < hit.end and hit.start < cover.end and not within else 0
    longer = cover.end - cover.start > hit.end - hit.start
    held = longer and cover.start <= hit.start and hit.end <= cover.end
    return (MASKED if cover.tags & EXCEPTION else FORMED) if held else 0


def split(lexicon: Lexicon, text: str, hits: Sequence[Hit]) -> tuple[Clause, ...]:
    """The clauses of a folded text, in order, each with its (unmasked) hits and its flags.

    A condition, a report that ends its clause, a joined imperative with a question mark (buy or
    sell?), or a question behind a colon holds for its whole sentence; a negator that ends its clause
    holds for the rest of it (do not, please, freeze it); a bare imperative, or what a joiner adds,
    goes on with what stands before it (how do i freeze, cancel it). A retraction, or a negator
    alone, takes back everything before it (freeze it. no wait), and what follows it in its sentence
    unless it corrects (no, freeze it).
    """
    quotes = quoted_spans(lexicon, text)
    jumps = _jumps(hits)
    bounds = _bounds(lexicon, text, hits, quotes, jumps)
    clauses: list[Clause] = []
    talk: set[int] = set()
    taken_back = 0
    negated = -1
    position = 0
    for bound in bounds:
        inside: list[Hit] = []
        while position < len(hits) and hits[position].start < bound.end:
            if hits[position].start >= bound.start and hits[position].end <= bound.end:
                inside.append(hits[position])
            position += 1
        inherited = NEGATION if bound.sentence == negated else 0
        previous = clauses[-1] if clauses else None
        clause = _clause(lexicon, text, bound, inside, jumps, quotes, previous, inherited)
        clauses.append(clause)
        ending = _ending(text, clause) if clause.tags & (NEGATION | REPORTED) else None
        if ending and ending.tags & NEGATION:
            negated = clause.sentence
        either = bound.joined and clause.question and not clause.tags & QUESTION
        before = text[clause.start - 1 : clause.start]
        either = either or (clause.question and before == ":" and len(clauses) > 1)
        reported = ending is not None and bool(ending.tags & REPORTED)
        if clause.tags & CONDITIONAL or either or reported or _comments(text, clauses):
            talk.add(clause.sentence)
        if (ending or clause.tags & RETRACTION) and _retracts(text, clause, ending):
            taken_back = len(clauses)
            if not _corrects(text, clause):
                talk.update(c.sentence for c in clauses)
    if not talk and not taken_back:
        return tuple(clauses)
    return tuple(
        c._replace(talk=c.talk or at < taken_back or c.sentence in talk)
        for at, c in enumerate(clauses)
    )


def _comments(text: str, clauses: Sequence[Clause]) -> bool:
    """True for a question about the words before it, in a script without spaces (冻结我的卡，收费吗)."""
    if len(clauses) < 2 or not clauses[-1].question:
        return False
    topic = clauses[-2]
    if not topic.bare or topic.asks_from is None:
        return False
    return topic.sentence == clauses[-1].sentence and not is_word(text[topic.asks_from])


def _ending(text: str, clause: Clause) -> Hit | None:
    """The negator or report behind which nothing more stands in the clause."""
    last = (h for h in clause.hits if h.tags & (NEGATION | REPORTED))
    return next((h for h in last if skip(text, h.end, clause.jumps) >= clause.end), None)


def _retracts(text: str, clause: Clause, ending: Hit | None) -> bool:
    """True for a clause that opens with a retraction, or holds a negator and nothing else."""
    first = skip(text, clause.start, {})
    opening = next((h for h in clause.hits if h.start == first and h.tags & OPENED), None)
    if opening is not None and opening.tags & RETRACTION:
        return True
    return ending is not None and bool(ending.tags & NEGATION) and ending.start == first


def _corrects(text: str, clause: Clause) -> bool:
    """True for a retraction behind which the sentence says what is wanted instead (no, freeze it)."""
    return _opens_with(clause.hits, CORRECTION, clause.start, text)


def quoted_spans(lexicon: Lexicon, text: str) -> tuple[tuple[int, int], ...]:
    """The stretches between quotation marks; an unclosed double quote runs to the end of the text."""
    spans: list[tuple[int, int]] = []
    for pair in lexicon.quotes:
        opening, closing = pair[0], pair[-1]
        if opening not in text:
            continue
        position = _quote(text, opening, 0, before=True)
        while position >= 0:
            end = _quote(text, closing, position + 1, before=False)
            if end < 0 and opening == "'":
                break
            end = len(text) if end < 0 else end
            spans.append((position, end))
            position = _quote(text, opening, end + 1, before=True)
    return tuple(spans)


def _quote(text: str, mark: str, start: int, *, before: bool) -> int:
    """The next `mark` from `start`, or -1; a single quote against a letter is an apostrophe."""
    position = text.find(mark, start)
    while mark == "'" and position >= 0:
        beside = text[position - 1 : position] if before else text[position + 1 : position + 2]
        if not beside or not is_word(beside):
            break
        position = text.find(mark, position + 1)
    return position


def _bounds(
    lexicon: Lexicon,
    text: str,
    hits: Sequence[Hit],
    quotes: Sequence[tuple[int, int]],
    jumps: Mapping[int, int],
) -> list[_Bound]:
    """Marks and quotation marks end a clause; clause words, and joiners before a verb, open one."""
    cuts = {m.end(): m.group() in lexicon.ends for m in lexicon.marks.finditer(text)}
    cuts.update((p + 1, False) for span in quotes for p in span if p < len(text))
    opens = _opens(text, hits, jumps)
    bounds: list[_Bound] = []
    start, sentence, joined = 0, 0, opens.get(0, False)
    for position in sorted({*cuts, *opens, len(text)}):
        if text[start:position].strip():
            bounds.append(_Bound(start, position, sentence, joined))
        if position > start:
            start, joined = position, False
        joined = opens.get(position, joined)
        sentence += cuts.get(position, False)
    return bounds


def _opens(text: str, hits: Sequence[Hit], jumps: Mapping[int, int]) -> dict[int, bool]:
    """Where clauses open, and whether by a joiner: that opens one only before a request or verb, and
    not inside a negator (不再)."""
    asking = {h.start for h in hits if h.tags & ASKING}
    found: dict[int, bool] = {}
    negator, verb = 0, False
    for hit in hits:
        if (
            hit.tags & (CLAUSE | CONJUNCTION)
            or (hit.tags & ASIDE and verb)
            or (hit.tags & JOINER and hit.start >= negator and skip(text, hit.end, jumps) in asking)
        ):
            found[hit.start] = not hit.tags & (CLAUSE | ASIDE)
        verb = verb or bool(hit.tags & CUES)
        if hit.tags & NEGATION:
            negator = max(negator, hit.end)
    return found


def _jumps(hits: Sequence[Hit]) -> dict[int, int]:
    """From where a skippable word starts to where the longest one there ends."""
    return {h.start: h.end for h in reversed(hits) if h.tags & SKIPPED and _passable(h.tags)}


def _passable(tags: int) -> bool:
    return not tags & CUES and bool(tags & FILLER or not tags & OPENERS)


def skip(text: str, position: int, jumps: Mapping[int, int]) -> int:
    """The position after white space, punctuation and skippable words that start at `position`."""
    size = len(text)
    while position < size:
        if position in jumps:
            position = jumps[position]
        elif text[position].isalnum() or text[position] in "\"'":
            break
        else:
            position += 1
    return position


def _clause(
    lexicon: Lexicon,
    text: str,
    bound: _Bound,
    inside: Sequence[Hit],
    jumps: Mapping[int, int],
    quotes: Sequence[tuple[int, int]],
    previous: Clause | None,
    inherited: int,
) -> Clause:
    start, end, sentence, joined = bound
    quoted = any(a < start <= b for a, b in quotes) if quotes else False
    if not (inside or inherited or joined or (previous and text[previous.end - 1] == ":")):
        return Clause(
            start, end, sentence, inside, jumps, 0, None, False, False, quoted, False, quoted
        )
    tags = inherited
    for hit in inside:
        tags |= hit.tags
    asks_from, bare = _asks(lexicon, text, start, inside, jumps, tags)
    asks_back = asks_from is not None and not tags & OPENERS and text[end - 1] == "?"
    question = bool(tags & QUESTION) or asks_back
    question = question or (bool(tags & PARTICLE) and not _coaxes(tags))
    aside = question or bool(tags & (NEGATION | REPORTED))
    if previous is not None and previous.sentence == sentence:
        turns = bool(tags & TURN) and _opens_with(inside, TURN, start, text)
        joins = joined and asks_from is None
        aside = aside or _goes_on(text, previous, bare, joins, turns, inside, lexicon.verbs)
    talk = aside or quoted or (bool(tags & PAST) and _past(inside, asks_from, bare))
    return Clause(
        start, end, sentence, inside, jumps, tags, asks_from, bare, question, quoted, aside, talk
    )


def _coaxes(tags: int) -> bool:
    """True if a particle at the end asks for the thing itself: behind a request form (能帮我…吗), or
    where it agrees on what is said (把…冻结好吗)."""
    return bool(tags & REQUEST or (tags & COAXING and tags & (SOFTENER | DISPOSAL)))


def _opens_with(inside: Sequence[Hit], tags: int, start: int, text: str) -> bool:
    first = skip(text, start, {})
    return any(h.start == first and h.tags & tags for h in inside)


def _goes_on(
    text: str,
    previous: Clause,
    bare: bool,
    joined: bool,
    turns: bool,
    inside: Sequence[Hit],
    verbs: Mapping[str, frozenset[str]],
) -> bool:
    """True if the clause goes on with a question, a report or a negated verb before it in its sentence.

    A word that turns from what is negated (don't close it, just freeze my card) ends the negation.

    In a script without spaces only a joiner or the mark of a list goes on with a negated verb: 别冻结、
    注销 negates both, 不要冻结，注销 one of them.
    """
    mark = text[previous.end - 1]
    if bare and turns and not previous.question and not previous.tags & REPORTED:
        return False
    if mark == ":":
        return previous.aside or bool(previous.tags & READ) or _is_label(text, previous)
    if bare and not joined and mark == "," and _only_negated(text, previous):
        return False
    if bare and not joined and _states(text, previous, inside, verbs):
        return False
    return previous.carries and (bare or joined)


def _states(
    text: str, previous: Clause, inside: Sequence[Hit], verbs: Mapping[str, frozenset[str]]
) -> bool:
    """True for a negated statement that has nothing to do with the verb behind it (i did not make
    this purchase, freeze my card): no command, no wish, and no verb of the same action."""
    if previous.question or previous.tags & (REPORTED | FORMS) or not previous.negated:
        return False
    if _opens_with(previous.hits, NEGATION, previous.start, text):
        return False
    mine = {a for h in inside for a in verbs.get(h.phrase, ())}
    return not any(mine & verbs.get(h.phrase, frozenset()) for h in previous.hits)


def _only_negated(text: str, clause: Clause) -> bool:
    """True for a clause without spaces that a negator alone sets aside."""
    aside = clause.question or bool(clause.tags & REPORTED)
    return clause.negated and not aside and not is_word(text[skip(text, clause.start, {})])


LABEL: Final = 2
"""Words before a colon that are taken for a label (subject, draft, dry run)."""


def _is_label(text: str, clause: Clause) -> bool:
    """True for a word or two, or a request without a verb, that the colon makes a heading."""
    words = text[clause.start : clause.end - 1].split()
    named = skip(text, clause.start, clause.jumps) < clause.end - 1
    return named and (len(words) <= LABEL or bool(clause.tags & OPENERS and not clause.tags & CUES))


def _past(inside: Sequence[Hit], asks_from: int | None, bare: bool) -> bool:
    """True if the clause tells of the past; behind the verb of a request form it tells of a thing."""
    if asks_from is None or bare:
        return True
    verb = next((h.start for h in inside if h.start >= asks_from and h.tags & CUES), None)
    return verb is None or any(h.tags & PAST and h.start < verb for h in inside)


def _asks(
    lexicon: Lexicon,
    text: str,
    start: int,
    inside: Sequence[Hit],
    jumps: Mapping[int, int],
    tags: int,
) -> tuple[int | None, bool]:
    """Where the clause's request begins to govern verbs, and whether it is a bare imperative."""
    if not tags & (CUES | FORMS | PASSIVE):
        return None, False
    first = skip(text, start, jumps)
    leading = [h for h in inside if h.start == first]
    if any(h.tags & READ and h.tags & FILLER for h in leading):
        after = skip(text, leading[0].end, jumps)
        leading = [h for h in inside if h.start == after and h.tags & FORMS] or leading
    if any(h.tags & (CUES | DISPOSAL) for h in leading):
        return first, not any(h.tags & OPENERS and h.end <= first for h in inside)
    form = next((h for h in leading if h.tags & FORMS), None)
    form = form or next((h for h in inside if h.tags & OPENERS), None)
    if form is None:
        softened = _softened(lexicon, text, inside) if lexicon.spaceless else None
        softened = softened or (_passive(text, inside, jumps) if tags & PASSIVE else None)
        return softened, softened is not None
    forms = {h.start: h.end for h in reversed(inside) if h.tags & FORMS}
    end = form.end
    while (following := skip(text, end, jumps)) in forms:
        end = forms[following]
    return end, False


def _passive(text: str, inside: Sequence[Hit], jumps: Mapping[int, int]) -> int | None:
    """The end of a form that a declared participle or gerund follows (my card needs to be frozen)."""
    done = {h.start for h in inside if h.tags & (PARTICIPLE | GERUND)}
    forms = (h for h in inside if h.tags & PASSIVE)
    return next((h.end for h in forms if skip(text, h.end, jumps) in done), None)


def _softened(lexicon: Lexicon, text: str, inside: Sequence[Hit]) -> int | None:
    """Where a verb stands that what is right behind it makes a request: a softener (我的卡冻结一下), or
    what something becomes (邮箱改成…, not 邮箱改成了…)."""
    soft = {h.start for h in inside if h.tags & SOFTENER}
    for hit in inside:
        if hit.tags & WRITE and not is_word(text[hit.start]):
            end = hit.end
            while end not in soft and (ends := lexicon.completives.all_from(text, end)):
                end = ends[0]
            becomes = max(lexicon.payload_words.all_from(text, hit.end), default=-1)
            done = becomes > 0 and lexicon.perfectives.starting_at(text, becomes) > 0
            if end in soft or (becomes > 0 and not done):
                return hit.start
    return None
