"""A language pack: the closed word lists that the gate's findings are computed from.

Every entry is stored normalised (see `gate.normalise`). Adding a language is adding a file, never code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LanguagePack:
    """Word lists of one language; the field names are the keys of `configs/languages/<tag>.yaml`."""

    language: str
    script: str
    """`latin` (words are separated by spaces) or `han` (they are not)."""

    clause_marks: Words = ()
    """Punctuation that ends a clause, sentence ends included."""
    sentence_ends: Words = ()
    """The marks among them that end a sentence."""
    clause_words: Words = ()
    """Words that open a new clause (but, and then, so, ...)."""
    joiners: Words = ()
    """Words that open a new clause only before a request or a verb (and, or, 并, ...)."""
    conjunctions: Words = ()
    """Phrases that join a second request (and also, plus can you, ...)."""

    fillers: Words = ()
    """Words skipped before an imperative (hi, ok, please, now, ...)."""
    request_forms: Words = ()
    """Forms that ask for something to be done (can you, please, ...)."""
    wishes: Words = ()
    """First-person wishes (i want to, i would like to, ...)."""

    gerund_forms: Words = ()
    """Those among the request forms that a verb in -ing follows (would you mind, ...)."""
    participle_forms: Words = ()
    """Those among the forms that an object and a participle may follow (i want ... frozen)."""
    asides: Words = ()
    """Phrases that open a remark of its own behind a verb, mark or not (i don't, i no longer)."""
    passive_forms: Words = ()
    """Forms between an object and a participle or a verb in -ing (my card needs to be frozen)."""
    corrections: Words = ()
    """The retractions behind which the sentence goes on with what is wanted (no, i mean, ...)."""
    turns: Words = ()
    """Words that turn from what is negated to what is asked for, where a clause begins (just, only)."""

    openings: Words = ()
    """Forms that ask only where a clause begins (need to, you must, i have to, ...)."""

    negations: Words = ()
    """Negators; one negates every cue of its clause. Forms without apostrophe included."""
    exceptions: Words = ()
    """Phrases inside which no cue counts but their own (not only, if possible, purchase history)."""
    topics: Words = ()
    """Words that only name what the next clause is about (as for, regarding, ...)."""
    contrasts: Words = ()
    """Words that set aside what follows (instead of, rather than, except, ...)."""
    conditionals: Words = ()
    """Words that make a clause conditional (if, unless, once, ...)."""
    reported: Words = ()
    """Words that report somebody's words or wish (he said, she asked me to, ...)."""
    past: Words = ()
    """Words that put a clause in the past (yesterday, i already, ...)."""
    questions: Words = ()
    """How, whether and what-if questions: they ask about a thing, not for it."""
    quotes: Words = ()
    """Pairs of opening and closing quotation marks, two characters each."""

    read_cues: Words = ()
    """Verbs and phrases that ask for information."""
    write_cues: Words = ()
    """Generic verbs of change (change, cancel, buy, ...); declared verbs of actions come from the catalog."""

    light_verbs: Words = ()
    """Verbs among the write cues that only carry the one behind them (提交, 办理, ...)."""
    verb_endings: Words = ()
    """What right behind a verb makes it no request: done, a description, a noun (了, 的, history)."""
    determiners: Words = ()
    """Words that may stand before a noun without changing it (my, the, this, entire, ...)."""
    followers: Words = ()
    """Words that may follow a noun without making it part of another one (to, right, because, ...)."""
    genitives: Words = ()
    """Words that tie a noun to its owner (of)."""
    amount_joiners: Words = ()
    """Words between an amount and the thing it is spent on (of, in, worth); Han: what is spent (资金)."""
    quantifiers: Words = ()
    """Words that make a noun phrase speak of more, less or other than the one thing (every, no, other)."""
    explainers: Words = ()
    """Words behind a noun phrase that open a remark about it (that, because, i, ...)."""
    payloads: Words = ()
    """Words that open what something is changed to (to, with)."""
    order_units: Words = ()
    """Units of what can be ordered (dollars, shares)."""
    retractions: Words = ()
    """Words that take back what was said before them (never mind, no wait, ...)."""
    prepositions: Words = ()
    """Han only: words that open what may stand between a request form and its verb (把, 为, 在, ...)."""
    predicates: Words = ()
    """Han only: words that begin what is said of a thing (不, 被, 丢, ...), never of a part of it."""
    origins: Words = ()
    """Han only: the prepositions among them before what something is changed from (从, 由)."""
    disposals: Words = ()
    """Han only: the prepositions among them that name what is to be dealt with; one asks where a clause
    begins (把, 将)."""
    softeners: Words = ()
    """Han only: words right behind a verb that make it a request (一下, 吧)."""
    question_particles: Words = ()
    """Words at the end that make a question, but a request behind a request form (吗, 好不好)."""
    coordinators: Words = ()
    """Han only: words between two nouns that are both meant (和, 与)."""
    coaxing: Words = ()
    """Those at the end that agree on a request where a softener or disposal makes one (好吗)."""
    completives: Words = ()
    """Han only: words right behind a verb that say how far it goes (掉, 住, 起来)."""
    perfectives: Words = ()
    """Han only: those that tell of what is done, or in a disposal of what is to be done (了)."""

    anaphors: Words = ()
    """Phrases that refer back (it, that one, ...); `{noun}` stands for any noun of an object type."""
    third_person: Words = ()
    """Possessives of somebody else before a noun, or with it as `{noun}` (his, {noun} of my wife, ...)."""
    context_words: Words = ()
    """Han only: words that may stand to the left of a name."""
    own_marks: Words = ()
    """Han only: words that may stand to the left of the customer's own thing alone (尾号)."""
    name_prefixes: Words = ()
    """Words before a name that make it part of a longer one."""
    name_suffixes: Words = ()
    """Words after a name that make it part of a longer one."""
    measure_words: Words = ()
    """Han only: measure words that follow a numeral."""
    numerals: Words = ()
    """Numerals written as words or characters."""
    calendar: Words = ()
    """Names of months and days; an answer may not change them."""
    amount_units: Words = ()
    """Units after a number that make it an amount or a quantity, never an identifier."""
    amount_prefixes: Words = ()
    """Signs before a number that make it an amount (dollar sign, ...)."""
    street_words: Words = ()
    """Words that end a postal address behind its number (street, road, ...); no identifier then."""
    yes_phrases: Words = ()
    """Whole utterances that confirm."""
    ordinals: Words = ()
    """How the first, the second, ... of several options is picked; forms of one place joined by a bar."""
    choosing: Words = ()
    """Words that may stand beside the words of an option when it is picked (the, one, ending in)."""

    numbers: Words = ()
    """Number words by value, `5|five`; Han characters too (`10|十|拾`)."""
    currencies: Words = ()
    """Signs and words by currency, `USD|$|dollars`; a word of two currencies is neither of them alone."""
    shared_signs: Words = ()
    """Signs of several currencies ($): a code beside one says which."""
    minor_units: Words = ()
    """Parts of a currency unit, `0.01|cent|cents`."""
    shares: Words = ()
    """Words for a part or the whole of something (half, all of it): an amount is never guessed from one."""
    approximations: Words = ()
    """Words before a value that make it approximate (about, 大约)."""
    approximations_after: Words = ()
    """The same behind a value (or so, 左右)."""
    bounds: Words = ()
    """Words before an amount that make it a bound (at most, 不超过)."""
    bounds_after: Words = ()
    """The same behind an amount (or more, 以内)."""
    range_words: Words = ()
    """Words between the ends of a range (to, 到)."""
    range_openers: Words = ()
    """Words before the first end of a range (between)."""
    choice_words: Words = ()
    """Words between two values of which one is meant, or both (or, and, 或)."""
    rates: Words = ()
    """Words behind an amount that make it one of many (each, a month, 每份)."""
    recurrences: Words = ()
    """Words that make an order one of many, wherever they stand (every month, 每月)."""
    quantities: Words = ()
    """Units of pieces beside which an amount may be a price (shares, 份)."""
    minus_words: Words = ()
    """Words before an amount that make it negative (minus, 负)."""
    identifier_words: Words = ()
    """Words before a number that name a thing by it (account, ending in, 尾号)."""
    value_leads: Words = ()
    """Words right before a value that is given (to, of, is, 改成); any other neighbour leaves it unclear."""
    value_follows: Words = ()
    """Words right behind a bare number that is given as an amount (of, into, 的)."""
    former_leads: Words = ()
    """Words right before a value that is to be replaced (from, old, 从)."""
    new_leads: Words = ()
    """Words right before the value that it is replaced by (to, with, 改成)."""
    street_names: Words = ()
    """More words that end a street, where they are capitalised (Close, Quay)."""
    value_nouns: Words = ()
    """Nouns right before a value that may be the old or the new one (my address 12 Gull Street)."""
    address_joiners: Words = ()
    """Words behind a street that go on with its place (in, near)."""
    copulas: Words = ()
    """Words between what a value is called and the value (is, 是)."""
    new_follows: Words = ()
    """The same behind the new value (设为)."""
    own_leads: Words = ()
    """Words right before the noun of an own object that is meant as the only one (my, 我的)."""
    relative_days: Words = ()
    """Days by distance from today, `1|tomorrow`."""
    weekdays: Words = ()
    """Weekdays from Monday, `1|monday|mon`."""
    months: Words = ()
    """Months, `1|january|jan`."""
    durations: Words = ()
    """Units of a distance in days or months, `D7|weeks`, `M1|个月`."""
    durations_before: Words = ()
    """Words before a distance from now (in)."""
    durations_after: Words = ()
    """Words behind a distance from now (from now, 后)."""
    shifts: Words = ()
    """This week, month or year and those after it, `W1|next week`, `M1|下个月`, `Y1|明年`."""
    unclear_days: Words = ()
    """Words before a weekday that leave open which one is meant (next, last)."""
    unclear_after: Words = ()
    """The same behind a day (week, after next)."""
    day_joiners: Words = ()
    """Words between a distance and the day that it is counted from (from, after)."""
    spans: Words = ()
    """Stretches of time that are no day (this weekend, 月底)."""
    day_bounds: Words = ()
    """Words before a day that make it a bound (before, by, until)."""
    day_bounds_after: Words = ()
    """The same behind a day (前, 之前)."""
    payee_leads: Words = ()
    """Words right before the name of who is paid (to, 转给)."""
    payee_verbs: Words = ()
    """Han only: verbs behind the name of who is paid (转, 汇)."""
    no_names: Words = ()
    """Pronouns and relations, which name nobody (her, my brother, 他)."""
    name_parts: Words = ()
    """Lower-case words inside names (van, de)."""
    address_ends: Words = ()
    """Han only: how a postal address ends (号, 室)."""
    value_closers: Words = ()
    """What may stand behind a value at the end of a text (please, 谢谢, 吧)."""

    templates: Mapping[str, str] = field(default_factory=dict)
    """Message per reserved id and per terminal."""


REQUIRED = (
    "clause_marks",
    "sentence_ends",
    "clause_words",
    "joiners",
    "conjunctions",
    "fillers",
    "request_forms",
    "wishes",
    "negations",
    "conditionals",
    "reported",
    "past",
    "questions",
    "quotes",
    "read_cues",
    "write_cues",
    "anaphors",
    "third_person",
    "numerals",
    "amount_units",
    "yes_phrases",
    "contrasts",
)
"""Lists that a complete pack must not leave empty."""

REQUIRED_HAN = ("context_words", "name_suffixes", "measure_words")
"""Lists that a complete pack of script `han` must not leave empty either."""


def missing(pack: LanguagePack, template_ids: tuple[str, ...]) -> tuple[str, ...]:
    """What an incomplete pack lacks: names of empty lists and `templates.<id>` entries."""
    names = REQUIRED + (REQUIRED_HAN if pack.script == "han" else ())
    lists = tuple(n for n in names if not getattr(pack, n))
    return lists + tuple(f"templates.{t}" for t in template_ids if not pack.templates.get(t))
