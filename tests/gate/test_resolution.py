"""Resolution: the one object of an action, from findings and closed lists alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gate.catalog import Action
from gate.direction import Asked
from gate.findings import EarlierTurn, Findings, find, from_core, to_core
from gate.load import load
from gate.objects import Mention, Status
from gate.records import NONE, UNRESOLVED, Direction, Entry, Request, Session, Situation
from gate.resolution import Resolution, closed_lists, entry_of, resolve
from tests.gate.demo import DEMO
from tests.gate.texts import NOW

REGISTRY = {i: Entry(i, t, i) for i, t in (("F1", "FUND"), ("F2", "FUND"), ("L1", "LOAN"))}
CARD, OTHER = (Entry(i, "CARD", i, own=True) for i in ("C1", "C2"))
ONE, TWO = Session("s", (), (CARD,)), Session("s", (), (CARD, OTHER))

NOTHING = Findings(None, Direction.UNDECLARED, (), (), 0, False, (), (), (), (), (), ())


def action(*objects: str, source: Sequence[str] = ("text", "history")) -> Action:
    return Action("A", "a", "a", None, "none", objects, tuple(source))


def mention(*owners: str, status: Status = Status.OK, start: int = 0) -> Mention:
    return Mention(start, start + 2, owners, status)


def found(
    wanted: Action,
    *mentions: Mention,
    session: Session | None = None,
    candidates: tuple[str, ...] | None = None,
    **rest: object,
) -> Resolution:
    findings = NOTHING._replace(mentions=mentions, **rest)
    return resolve(wanted, findings, Situation({}, NOW, session, candidates), REGISTRY)


def turn(*mentions: Mention, user: bool = True, unmatched: bool = False) -> EarlierTurn:
    return EarlierTurn(user, mentions, ((0, 1),) if unmatched else ())


FUND = action("FUND")
OPTIONAL = action("LOAN", NONE)
NEVER = action(NONE)
OWN = action("CARD", source=("text", "session"))
SESSION_ONLY = action("CARD", source=("session",))
HISTORY_ONLY = action("FUND", source=("history",))
REFERS = {"anaphors": ((0, 2),), "referring": ((0, 2),)}
POINTS = {"anaphors": ((0, 2),)}


def test_one_clean_mention_is_the_object() -> None:
    assert found(FUND, mention("F1")) == Resolution("F1", "")
    assert found(FUND, mention("F1")).resolved
    assert found(FUND, mention("F1"), mention("F1", start=5)) == Resolution("F1", "")


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OK, Status.AMOUNT)])
def test_a_faulty_mention_is_offered_and_never_taken(status: Status) -> None:
    assert found(FUND, mention("F1", status=status)) == Resolution(
        UNRESOLVED, status.value, ("F1",)
    )


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OK, Status.AMOUNT)])
def test_a_faulty_mention_beside_a_clean_one_makes_it_unclear(status: Status) -> None:
    both = found(FUND, mention("F1"), mention("F2", status=status, start=4))
    assert both == Resolution(UNRESOLVED, status.value, ("F1", "F2"))
    same = found(FUND, mention("F1"), mention("F1", status=status, start=4))
    assert same == Resolution(UNRESOLVED, status.value, ("F1",))


def test_an_amount_is_no_mention() -> None:
    amount = mention("F2", status=Status.AMOUNT)
    assert found(FUND, mention("F1", start=4), amount) == Resolution("F1", "")
    assert found(FUND, amount) == Resolution(UNRESOLVED, "NO_OBJECT")
    assert found(OPTIONAL, amount) == Resolution(NONE, "")


def test_several_objects_are_offered_as_far_as_permitted() -> None:
    three = (mention("F1"), mention("L1", start=4), mention("F2", start=8))
    assert found(FUND, *three) == Resolution(UNRESOLVED, "SEVERAL_OBJECTS", ("F1", "F2"))
    assert found(FUND, *three, candidates=("F2", "L1")).options == ("F2",)


def test_a_type_that_is_not_permitted_is_never_ignored() -> None:
    assert found(FUND, mention("L1")) == Resolution(UNRESOLVED, "TYPE_NOT_PERMITTED")
    assert found(NEVER, mention("L1")) == Resolution(UNRESOLVED, "TYPE_NOT_PERMITTED")
    assert found(OWN, mention("L1"), session=ONE) == Resolution(UNRESOLVED, "TYPE_NOT_PERMITTED")


def test_an_id_of_no_list_is_never_the_object() -> None:
    assert found(FUND, mention("F9")) == Resolution(UNRESOLVED, "TYPE_NOT_PERMITTED")
    assert found(FUND, mention("F9", status=Status.AFFIX)).options == ()


def test_an_unknown_identifier_closes() -> None:
    unmatched = {"unmatched": ((4, 8),)}
    assert found(FUND, mention("F1"), **unmatched) == Resolution(
        UNRESOLVED, "NOT_REGISTERED", ("F1",)
    )
    for wanted in (FUND, OPTIONAL, NEVER, OWN):
        assert found(wanted, session=ONE, **unmatched).reason == "NOT_REGISTERED"


def test_somebody_elses_closes() -> None:
    theirs = {"third_person": ((4, 8),)}
    assert found(FUND, mention("F1"), **theirs) == Resolution(UNRESOLVED, "SOMEBODY_ELSES")
    for wanted in (FUND, OPTIONAL, NEVER, OWN):
        assert found(wanted, session=ONE, **theirs).reason == "SOMEBODY_ELSES"


def test_candidates_narrow() -> None:
    assert found(FUND, mention("F1"), candidates=("F1",)) == Resolution("F1", "")
    assert found(FUND, mention("F1"), candidates=("F2",)).reason == "NOT_A_CANDIDATE"
    assert found(FUND, mention("F1"), candidates=()).reason == "NOT_A_CANDIDATE"
    assert found(OPTIONAL, candidates=()) == Resolution(NONE, "")
    assert found(OWN, session=ONE, candidates=()).reason == "NOT_A_CANDIDATE"
    assert found(OWN, session=ONE, candidates=("C1",)) == Resolution("C1", "")


def test_sources_are_those_that_the_action_declares() -> None:
    assert found(HISTORY_ONLY, mention("F1")) == Resolution(UNRESOLVED, "NOT_FROM_TEXT", ("F1",))
    assert found(SESSION_ONLY, mention("C1"), session=TWO) == Resolution("C1", "")
    assert found(SESSION_ONLY, mention("F1"), session=TWO).reason == "NOT_FROM_TEXT"
    assert found(FUND, history=(turn(mention("F1")),), **REFERS) == Resolution("F1", "")
    assert found(OWN, session=ONE, history=(turn(mention("C1")),), **REFERS).reason == (
        "NOT_FROM_HISTORY"
    )


def test_the_sole_own_object_is_the_default() -> None:
    assert found(OWN, session=ONE) == Resolution("C1", "")
    assert found(OWN, session=TWO) == Resolution(UNRESOLVED, "SEVERAL_OWN_OBJECTS", ("C1", "C2"))
    assert found(OWN, session=Session("s")) == Resolution(UNRESOLVED, "NO_OBJECT")
    assert found(OWN) == Resolution(UNRESOLVED, "NO_OBJECT")
    assert found(action("CARD", source=("text",)), session=ONE) == Resolution(
        UNRESOLVED, "NO_OBJECT"
    )


def test_a_kind_that_no_own_name_holds_takes_no_default() -> None:
    kinds = {"kinds": ((0, 2),)}
    assert found(OWN, session=ONE, **kinds) == Resolution(
        UNRESOLVED, "NOT_AMONG_OWN_OBJECTS", ("C1",)
    )
    assert found(OWN, session=TWO, **kinds).reason == "SEVERAL_OWN_OBJECTS"
    assert found(OWN, mention("C1"), session=ONE, **kinds) == Resolution("C1", "")
    assert found(FUND, **kinds).reason == "NO_OBJECT"


def test_a_deictic_takes_the_default_only_if_nothing_was_named() -> None:
    assert found(OWN, session=ONE, **REFERS) == Resolution("C1", "")
    for earlier in (turn(mention("L1")), turn(unmatched=True), turn(mention("L1"), user=False)):
        assert found(OWN, session=ONE, history=(earlier,), **REFERS).reason == "NOT_FROM_HISTORY"
    assert found(action("CARD", NONE, source=("text",)), **REFERS).reason == "NOT_FROM_HISTORY"


def test_an_antecedent_must_be_the_only_one() -> None:
    def after(*turns: EarlierTurn, wanted: Action = FUND) -> Resolution:
        return found(wanted, history=turns, **REFERS)

    first, second = turn(mention("F1")), turn(mention("F2"))
    assert after(first) == Resolution("F1", "")
    assert after(first, turn(), first) == Resolution("F1", "")
    assert after(first, second) == Resolution(UNRESOLVED, "SEVERAL_ANTECEDENTS", ("F1", "F2"))
    assert after() == Resolution(UNRESOLVED, "NO_ANTECEDENT")
    assert after(turn(mention("F1"), user=False)).reason == "NO_ANTECEDENT"
    assert after(turn(mention("L1"))).reason == "TYPE_NOT_PERMITTED"
    assert after(first, turn(unmatched=True)).reason == "NOT_REGISTERED"
    assert after(first, turn(unmatched=True, user=False)) == Resolution("F1", "")
    unclear = turn(mention("F1", status=Status.AFFIX))
    assert after(unclear) == Resolution(UNRESOLVED, "NAME_AFFIX", ("F1",))
    assert after(first, unclear).reason == "NAME_AFFIX"
    assert after(first, turn(mention("F2", status=Status.AMOUNT))) == Resolution("F1", "")
    assert after(turn(mention("F1", status=Status.AMOUNT))).reason == "NO_ANTECEDENT"
    assert after(turn(mention(status=Status.MIXED))).reason == "NO_ANTECEDENT"


def test_another_speakers_object_makes_the_antecedent_unclear() -> None:
    def after(*said: EarlierTurn) -> Resolution:
        return found(FUND, history=said, **POINTS)

    first, other = turn(mention("F1")), turn(mention("F2"), user=False)
    assert after(first, other) == Resolution(UNRESOLVED, "NAMED_BY_ANOTHER_SPEAKER", ("F1",))
    assert after(other, first) == Resolution("F1", "")
    assert after(first, other, first) == Resolution("F1", "")
    assert after(first, turn(mention("F1"), user=False)) == Resolution("F1", "")
    assert after(first, turn(mention("L1"), user=False)) == Resolution("F1", "")
    assert after(first, turn(mention("F9"), user=False)) == Resolution("F1", "")
    amount = turn(mention("F2", status=Status.AMOUNT), user=False)
    assert after(first, amount) == Resolution("F1", "")


def test_a_negated_anaphor_refers_to_nothing() -> None:
    history = (turn(mention("F1")),)
    assert found(FUND, history=history, set_aside=((0, 2),), **REFERS).reason == (
        "NEGATED_OR_CONTRASTED"
    )


def test_a_bare_pronoun_refers_only_where_something_was_named() -> None:
    assert found(OPTIONAL, **POINTS) == Resolution(NONE, "")
    assert found(OPTIONAL, **REFERS).reason == "NO_ANTECEDENT"
    assert found(OPTIONAL, history=(turn(mention("L1")),), **POINTS) == Resolution("L1", "")
    assert found(OPTIONAL, history=(turn(unmatched=True),), **POINTS).reason == "NOT_REGISTERED"


def test_the_current_turn_goes_before_history_and_session() -> None:
    history = (turn(mention("F2")),)
    assert found(FUND, mention("F1"), history=history, **POINTS) == Resolution("F1", "")
    assert found(OWN, mention("L1"), session=ONE).reason == "TYPE_NOT_PERMITTED"


def test_own_objects_stand_before_registered_ones_of_the_same_id() -> None:
    own = Entry("F1", "CARD", "mine", own=True)
    lists = closed_lists(REGISTRY, Session("s", (), (own,)))
    assert entry_of(lists, "F1") is own
    assert entry_of(lists, "F2") is REGISTRY["F2"]
    assert entry_of(lists, "F9") is None
    assert closed_lists(REGISTRY, None) == (REGISTRY, {})


def test_neither_none_nor_unresolved_is_resolved() -> None:
    assert not Resolution(NONE, "").resolved
    assert not Resolution(UNRESOLVED, "X").resolved
    assert Asked(0, 1, ("A",)).actions == ("A",)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("please freeze my card", "CARD-1002-1"),
        ("please freeze my debit card", "CARD-1002-1"),
        ("please freeze my credit card", UNRESOLVED),
    ],
)
def test_a_kind_that_no_own_object_is_of_is_no_default(text: str, status: str) -> None:
    configuration = load(DEMO)
    own = (
        Entry("CARD-1002-1", "CARD", "Debit card ending 3380", ("debit card", "3380"), own=True),
    )
    asked = Request("r", "web", text, session=Session("C-1002", (), own))
    findings = find(configuration, asked)
    situation = Situation({}, NOW, asked.session, None)
    action = configuration.catalog.actions["FREEZE_CARD"]
    entries = configuration.registry.entries
    assert resolve(action, findings, situation, entries).object_id == status
    assert from_core(to_core(findings)) == findings
