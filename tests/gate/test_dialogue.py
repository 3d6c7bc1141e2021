"""Dialogue: yes as a whole, one option of a closed list, the one slot that was asked for; else nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from gate.configuration import Configuration
from gate.dialogue import chosen, filled, given, is_yes, named, pick
from gate.direction import Asked, Cue
from gate.findings import Findings, find
from gate.objects import Mention, Status
from gate.records import NONE, UNRESOLVED, Direction, Entry, Option, Request, Session
from gate.slots import SlotFound
from tests.gate.small import findings
from tests.gate.texts import INSTITUTIONS, demo

OWN = (
    Entry("CARD-1", "CARD", "Debit card ending 5316", ("debit card", "5316", "借记卡"), own=True),
    Entry("CARD-2", "CARD", "Visa card ending 9024", ("visa card", "9024", "信用卡"), own=True),
    Entry("CARD-3", "CARD", "Gift card ending 7102", ("gift card", "7102", "礼品卡"), own=True),
    Entry("ACC-1", "ACCOUNT", "Savings 2 ending 4411", ("savings 2", "4411", "储蓄账户"), own=True),
)
SESSION = Session("C-1", (), OWN)
CARDS = tuple(Option("FREEZE_CARD", e.object_id) for e in OWN[:2])
PICKED = findings(direction=Direction.UNDECLARED)
"""An answer: it asks for nothing."""
ACTIONS = (Option("CARD_STATUS", "CARD-1"), Option("FREEZE_CARD", "CARD-1"))


@cache
def entries() -> dict[str, Entry]:
    return {**demo().registry.entries, **{e.object_id: e for e in OWN}}


def picked(text: str, options: Sequence[Option] = CARDS) -> str | None:
    """The object of the option that a text picks."""
    turn = find(demo(), Request("r-1", "web", text, session=SESSION))
    option = pick(demo(), options, text, turn, entries())
    assert option is None or option in options
    return option.object_id if option else None


# Yes.

YES = [
    (load, tag, phrase)
    for load in INSTITUTIONS.values()
    for tag in load().languages
    for phrase in load().packs[tag].yes_phrases
]


@pytest.mark.parametrize(("load", "tag", "phrase"), YES)
def test_every_yes_phrase_alone_is_a_yes(load: object, tag: str, phrase: str) -> None:
    configuration: Configuration = load()  # type: ignore[operator]
    assert tag in configuration.languages
    for text in (
        phrase,
        phrase.upper(),
        f"  {phrase} ",
        f"{phrase}.",
        f"{phrase}!",
        f"“{phrase}”。",
    ):
        assert is_yes(configuration, text), text


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\u3000"])
def test_an_empty_text_is_a_yes(text: str) -> None:
    assert is_yes(demo(), text)


@pytest.mark.parametrize(
    "text",
    [
        "yes, but not now", "yes but the other one", "no, the other one", "no", "not yet", "yes no",
        "yes?", "ok?", "yes ?", "correct？", "yes, what does it cost?", "confirm what", "don't confirm",
        "yes yes yes", "yes and close my account", "freeze it", ".", "...", "?", "“”", "ye s", "-", "0",
        "是的，但是", "是的吗", "是的？", "不是", "不对", "好的，不过等一下", "不确认", "确认什么", "好吗",
        "oui", "ja", "да", "はい", "👍",
    ],
)  # fmt: skip
def test_anything_more_or_else_is_no_yes(text: str) -> None:
    assert not is_yes(demo(), text)


def test_a_yes_counts_in_configured_languages_only() -> None:
    assert is_yes(INSTITUTIONS["zh"](), "是的")
    assert not is_yes(INSTITUTIONS["zh"](), "yes")


@hypothesis_given(st.sampled_from(YES), st.text(min_size=1, max_size=8), st.booleans())
def test_a_yes_with_other_words_is_none(
    case: tuple[object, str, str], more: str, before: bool
) -> None:
    """Unless all of it is another yes-phrase, or only marks that end a sentence."""
    configuration: Configuration = case[0]()  # type: ignore[operator]
    text = f"{more}{case[2]}" if before else f"{case[2]}{more}"
    if any(char.isalnum() for char in more) or "?" in more:
        phrases = {
            p for tag in configuration.languages for p in configuration.packs[tag].yes_phrases
        }
        kept = "".join(c for c in text.casefold() if c.isalnum() or c == " ").strip()
        if kept not in {"".join(c for c in p if c.isalnum() or c == " ") for p in phrases}:
            assert not is_yes(configuration, text)


# Picking.


@pytest.mark.parametrize(
    ("text", "object_id"),
    [
        ("1", "CARD-1"), ("1.", "CARD-1"), ("first", "CARD-1"), ("The first one.", "CARD-1"),
        ("2", "CARD-2"), ("option 2", "CARD-2"), ("the second", "CARD-2"), ("2nd!", "CARD-2"),
        ("第一个", "CARD-1"), ("第二张", "CARD-2"), ("选二", "CARD-2"),
        ("debit card", "CARD-1"), ("the debit card, please", "CARD-1"), ("I mean the debit card", "CARD-1"),
        ("5316", "CARD-1"), ("the one ending in 9024", "CARD-2"), ("my visa card", "CARD-2"),
        ("debit card ending 5316", "CARD-1"), ("debit card, 5316", "CARD-1"),
        ("Debit card, thanks", "CARD-1"), ("yes, the debit card", "CARD-1"),
        ("借记卡", "CARD-1"), ("就是借记卡吧", "CARD-1"), ("我的信用卡，谢谢", "CARD-2"),
        ("尾号9024", "CARD-2"),
        ("visa", "CARD-2"), ("the visa one please", "CARD-2"), ("debit", "CARD-1"),
        ("freeze my debit card", "CARD-1"), ("please freeze the visa card", "CARD-2"),
        ("冻结信用卡", "CARD-2"),
    ],
)  # fmt: skip
def test_a_turn_picks_one_option(text: str, object_id: str) -> None:
    assert picked(text) == object_id


@pytest.mark.parametrize(
    "text",
    [
        # A question.
        "the debit card?", "the first?", "first one ？", "is it the debit card?", "1?", "visa?",
        "what does freezing the debit card cost", "which one is the visa card", "借记卡吗", "借记卡？",
        "第一个可以吗",
        # Two objects, or one that was not offered.
        "the debit card and the visa card", "debit card, visa card", "debit or visa", "借记卡和信用卡",
        "the gift card", "礼品卡", "7102", "the first one, the gift card", "my savings 2",
        "the debit card and the first one",
        # Negated, contrasted, taken back.
        "not the debit card", "no, the debit card", "anything but the debit card", "debit card, no",
        "not the first one", "no", "none of them", "neither", "the other one", "never mind",
        "不是借记卡", "不要借记卡", "都不是", "别的卡", "不是第一个",
        # Somebody else's.
        "my wife's debit card", "her debit card", "my brother's card", "他的借记卡",
        # Another action, or several.
        "close my account", "buy a fund", "freeze my debit card and close my account",
        "please close the debit card", "show me the debit card", "查询借记卡",
        # Something else is said.
        "the debit card was stolen", "if it is the debit card", "I already froze the debit card",
        "the second, debit card", "debit card tomorrow", "the blue one", "maybe the debit card",
        "9999", "3", "the third one", "card", "my card", "the one", "it", "please", "", " ", ".",
        "yes", "ok", "是的", "hello", "freeze all my cards", "卡", "第三个",
    ],
)  # fmt: skip
def test_whatever_else_a_turn_says_picks_nothing(text: str) -> None:
    assert picked(text) is None


@pytest.mark.parametrize(
    "text", ["yes", "Yes, please!", "ok", "是的", "debit", "1", "the debit card"]
)
def test_a_yes_picks_the_only_option(text: str) -> None:
    assert picked(text, CARDS[:1]) == "CARD-1"


@pytest.mark.parametrize(
    "text", ["", " ", "...", "yes?", "no", "yes, but the other one", "2", "visa", "the visa card"]
)
def test_nothing_but_an_answer_picks_the_only_option(text: str) -> None:
    assert picked(text, CARDS[:1]) is None


def test_without_options_nothing_is_picked() -> None:
    for text in ("yes", "1", "debit card", ""):
        assert picked(text, ()) is None


def test_an_action_is_picked_by_its_name() -> None:
    def action(text: str) -> str | None:
        turn = find(demo(), Request("r-1", "web", text, session=SESSION))
        option = pick(demo(), ACTIONS, text, turn, entries())
        return option.action_id if option else None

    assert action("status") == "CARD_STATUS"
    assert action("the card status please") == "CARD_STATUS"
    assert action("freeze") == action("freeze my card") == "FREEZE_CARD"
    assert action("freeze my debit card") == "FREEZE_CARD"
    assert action("debit card") is None  # both are about it
    assert action("freeze status") is None
    assert action("stat") is None  # a word is read whole


def test_an_option_without_an_object_is_picked_by_its_action() -> None:
    options = (Option("CARD_HELP", NONE), Option("CARD_STATUS", "CARD-1"))
    assert picked("help", options) == picked("card help please", options) == NONE
    assert picked("help with my debit card", options) is None
    assert picked("status", options) == "CARD-1"


def test_an_option_that_the_lists_no_longer_hold_has_no_names() -> None:
    gone = (Option("FREEZE_CARD", "CARD-9"), Option("NO_SUCH", "CARD-1"))
    assert picked("freeze", gone) == "CARD-9"  # its action still has one; resolution closes
    assert picked("debit card", gone) == "CARD-1"
    assert picked("ending 9999", gone) is None


def test_two_ways_to_two_options_pick_none() -> None:
    """`2` is the number of the second option and the name of the first."""
    entry = Entry("ACC-2", "ACCOUNT", "Two", ("2",), own=True)
    options = (Option("ACCOUNT_BALANCE", "ACC-2"), Option("ACCOUNT_BALANCE", "CARD-1"))
    held = {**entries(), "ACC-2": entry}
    assert pick(demo(), options, "2", PICKED, held) is None
    assert pick(demo(), options[::-1], "2", PICKED, held) == options[0]
    named = PICKED._replace(mentions=(Mention(0, 1, ("ACC-2",), Status.OK),))
    assert pick(demo(), options, "1", named, entries()) == options[0]
    assert pick(demo(), options, "2", named, entries()) is None


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OK, Status.AMOUNT)])
def test_an_unclean_name_picks_nothing(status: Status) -> None:
    turn = PICKED._replace(mentions=(Mention(0, 10, ("CARD-1",), status),))
    assert pick(demo(), CARDS, "debit card", turn, {}) is None


def test_a_number_that_is_an_amount_names_nothing() -> None:
    turn = PICKED._replace(mentions=(Mention(0, 1, ("CARD-2",), Status.AMOUNT),))
    assert pick(demo(), CARDS, "1", turn, entries()) == CARDS[0]


def test_one_name_of_two_objects_picks_nothing_by_itself() -> None:
    turn = PICKED._replace(mentions=(Mention(0, 7, ("CARD-1", "CARD-2"), Status.OK),))
    assert pick(demo(), CARDS, "my card", turn, {}) is None


@pytest.mark.parametrize(
    "turn",
    [
        PICKED._replace(direction=Direction.READ),
        PICKED._replace(direction=Direction.MIXED),
        PICKED._replace(several_requests=True),
        PICKED._replace(unmatched=((0, 4),)),
        PICKED._replace(third_person=((0, 4),)),
        PICKED._replace(asked=(Asked(0, 3, ("CLOSE_ACCOUNT",)),)),
        PICKED._replace(asked=(Asked(0, 3, ("FREEZE_CARD",)), Asked(4, 6, ("CLOSE_ACCOUNT",)))),
        PICKED._replace(mentions=(Mention(0, 1, ("CARD-2",), Status.OK),)),
    ],
)
def test_one_finding_is_enough_to_pick_nothing(turn: Findings) -> None:
    assert pick(demo(), CARDS, "1", PICKED, entries()) == CARDS[0]
    assert pick(demo(), CARDS, "1", turn, entries()) is None


@hypothesis_given(
    st.lists(
        st.sampled_from(
            "the debit card visa 1 first second not no yes and , . ? please 借记卡 信用卡 不 是 2".split()
        ),
        max_size=5,
    ).map(" ".join)
)
def test_what_is_picked_was_said(text: str) -> None:
    """Whatever the words: a pick names its option in no other way than the option allows."""
    object_id = picked(text)
    if object_id is not None:
        said = {
            "CARD-1": ("debit", "1", "first", "借记"),
            "CARD-2": ("visa", "2", "second", "信用"),
        }
        assert any(word in text for word in said.pop(object_id))
        assert not any(word in text.split() for words in said.values() for word in words)
        assert not {"not", "no", "不", "and", "?"} & set(text.split())


# The opening turn with what was picked or given.

OPENING = findings(
    "CARD-1", "CARD-2",
    direction=Direction.WRITE,
    asked=["FREEZE_CARD"],
    cues=(Cue(0, 6, Direction.WRITE),),
    request_clauses=2,
    kinds=((3, 5),),
    slots=(SlotFound("amount", 0, 3, "500 USD", ""), SlotFound("payee", 4, 6, "", "NO_NAME")),
)  # fmt: skip


def test_a_pick_leaves_the_opening_turn_as_it_was() -> None:
    assert chosen(OPENING, findings(), CARDS[1]) == OPENING._replace(chosen="CARD-2")
    assert chosen(OPENING, findings(), Option("FEE_INFO", NONE)).chosen == NONE


def test_choosing_is_no_action_evidence_and_adds_none() -> None:
    silent = OPENING._replace(direction=Direction.READ, asked=(), cues=(), request_clauses=0)
    told = chosen(silent, findings(direction=Direction.WRITE), CARDS[0])
    assert (told.direction, told.asked, told.request_clauses) == (Direction.READ, (), 0)


def test_a_turn_that_asks_itself_is_the_evidence() -> None:
    turn = findings(
        "CARD-2",
        direction=Direction.WRITE,
        asked=[Asked(7, 9, ("FREEZE_CARD",))],
        cues=(Cue(7, 9, Direction.WRITE),),
        request_clauses=1,
    )
    silent = OPENING._replace(direction=Direction.READ, asked=(), cues=())
    told = chosen(silent, turn, CARDS[1])
    assert told == silent._replace(
        direction=Direction.WRITE,
        asked=turn.asked,
        cues=turn.cues,
        request_clauses=1,
        chosen="CARD-2",
    )


def test_slots_of_both_turns_are_kept() -> None:
    turn = findings(slots=(SlotFound("payee", 0, 4, "Anna", ""),))
    assert chosen(OPENING, turn, CARDS[0]).slots == (
        OPENING.slots[0],
        SlotFound("payee", 0, 4, "Anna", "", 1),
    )


AMOUNT = SlotFound("amount", 0, 3, "500 USD", "")
ANSWER = findings(direction=Direction.UNDECLARED, slots=(AMOUNT, SlotFound("payee", 4, 6, "A", "")))


def test_a_turn_gives_the_slot_that_was_asked_for() -> None:
    assert given("amount", "FUND_ORDER", ANSWER, ()) == (AMOUNT,)
    assert given("due", "FUND_ORDER", ANSWER, ()) == ()
    alone = (AMOUNT._replace(value="500"),)
    assert given("amount", "FUND_ORDER", findings(direction=Direction.UNDECLARED), alone) == alone
    assert given("amount", "FUND_ORDER", ANSWER, alone) == alone
    assert given("amount", "FUND_ORDER", ANSWER, ()) == (AMOUNT,)
    asking = ANSWER._replace(direction=Direction.WRITE, asked=(Asked(0, 3, ("FUND_ORDER",)),))
    assert given("amount", "FUND_ORDER", asking, ()) == (AMOUNT,)


@pytest.mark.parametrize(
    "turn",
    [
        ANSWER._replace(direction=Direction.READ),
        ANSWER._replace(direction=Direction.MIXED),
        ANSWER._replace(several_requests=True),
        ANSWER._replace(unmatched=((0, 4),)),
        ANSWER._replace(third_person=((0, 4),)),
        ANSWER._replace(asked=(Asked(0, 3, ("CLOSE_ACCOUNT",)),)),
        ANSWER._replace(mentions=(Mention(5, 9, ("CARD-1",), Status.OK),)),
        ANSWER._replace(mentions=(Mention(2, 4, ("CARD-1",), Status.OK),)),
        ANSWER._replace(mentions=(Mention(5, 9, ("CARD-1",), Status.NEGATED),)),
    ],
)
def test_a_turn_that_says_more_gives_nothing(turn: Findings) -> None:
    assert given("amount", "FUND_ORDER", turn, (AMOUNT,)) == ()


def test_a_number_that_is_the_amount_is_no_object() -> None:
    turn = ANSWER._replace(mentions=(Mention(9, 13, ("CARD-1",), Status.AMOUNT),))
    assert given("amount", "FUND_ORDER", turn, ()) == (AMOUNT,)


def test_an_own_object_may_be_the_slot_itself() -> None:
    found = SlotFound("target", 0, 9, "ACC-1", "")
    turn = findings(Mention(0, 9, ("ACC-1",), Status.OK), direction=Direction.UNDECLARED)
    assert given("target", "TRANSFER", turn._replace(slots=(found,)), ()) == (found,)
    assert given("target", "TRANSFER", turn, (found,)) == (found,)
    assert given("target", "TRANSFER", turn, ()) == ()


def test_a_slot_that_was_given_joins_the_opening_turn() -> None:
    later = (SlotFound("payee", 0, 4, "Anna", ""),)
    told = filled(OPENING, later, Option("FREEZE_CARD", "CARD-2"))
    assert told == OPENING._replace(
        slots=(OPENING.slots[0], SlotFound("payee", 0, 4, "Anna", "", 1)), chosen="CARD-2"
    )


def test_a_slot_leaves_an_earlier_choice_alone_where_the_option_has_no_object() -> None:
    assert filled(OPENING, (), Option("CHANGE_EMAIL", NONE)).chosen == ""
    assert filled(OPENING._replace(chosen=NONE), (), Option("CHANGE_EMAIL", NONE)).chosen == NONE


def test_a_second_value_for_a_slot_stays_beside_the_first() -> None:
    told = filled(OPENING, (AMOUNT._replace(value="700 USD"),), CARDS[0])
    assert [s.value for s in told.slots if s.slot == "amount"] == ["500 USD", "700 USD"]


# An object where none could be offered.


@pytest.mark.parametrize(
    ("text", "object_id"),
    [
        ("the debit card", "CARD-1"),
        ("the debit card and the visa card", None),
        ("is it the debit card?", None),
        ("the blue one", None),
    ],
)
def test_the_one_object_that_is_named_is_taken(text: str, object_id: str | None) -> None:
    turn = find(demo(), Request("r-1", "web", text, session=SESSION))
    found = named(demo(), "FREEZE_CARD", text, turn, entries())
    assert found == (Option("FREEZE_CARD", object_id) if object_id else None)


def test_of_several_requests_the_chosen_one_is_left() -> None:
    both = OPENING._replace(
        several_requests=True,
        direction=Direction.MIXED,
        asked=(*OPENING.asked, Asked(30, 36, ("CLOSE_ACCOUNT",))),
        cues=(Cue(0, 6, Direction.WRITE), Cue(30, 36, Direction.READ)),
    )
    freeze = chosen(both, findings(), CARDS[0])
    assert (freeze.several_requests, freeze.asked) == (False, OPENING.asked)
    assert freeze.direction is Direction.MIXED
    read = chosen(both, findings(), Option("CARD_STATUS", UNRESOLVED))
    assert (read.direction, read.asked, read.chosen) == (Direction.READ, (), "")
    assert read.cues == (Cue(30, 36, Direction.READ),)
