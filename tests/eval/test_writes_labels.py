"""The sentences about writes: sealed, complete, in pairs, and about things that exist."""

from __future__ import annotations

import unicodedata
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from eval import table, writes
from eval.errors import SuiteError
from eval.suites.writes import labels
from eval.suites.writes.labels import Asked, Genuine, Slot
from gate.configuration import Configuration
from gate.load import load
from gate.records import NONE, Mode, Session

YES = {
    "imperative", "polite", "question_request", "wish", "permission", "after_reason",
    "negation_elsewhere", "politeness_if", "correction", "mixed_question", "clumsy",
}  # fmt: skip
NO = {
    "negated", "conditional", "what_if", "doubt", "ability", "how", "question", "status", "fee",
    "explanation", "problem", "past", "reported", "quoted", "other_person", "other_persons_object",
    "other_object", "other_verb", "material", "look_alike",
}  # fmt: skip


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return load(writes.DEMO)


@pytest.fixture(scope="module")
def write_actions(configuration: Configuration) -> list[str]:
    return [a.action_id for a in configuration.catalog.actions.values() if a.mode is Mode.WRITE]


@pytest.fixture(scope="module")
def sessions() -> dict[str, Session]:
    return dict(writes.sessions(writes.DEMO))


@pytest.fixture(scope="module")
def own(sessions: dict[str, Session]) -> dict[str, str]:
    """Own objects by id, with the name of the session that they belong to."""
    return {o.object_id: name for name, s in sessions.items() for o in s.objects}


@pytest.fixture(scope="module", params=labels.LANGUAGES)
def asked(request: pytest.FixtureRequest, write_actions: list[str]) -> tuple[Asked, ...]:
    return labels.asked(request.param, write_actions)


@pytest.fixture(scope="module")
def genuine(
    configuration: Configuration,
    write_actions: list[str],
    sessions: dict[str, Session],
    own: dict[str, str],
) -> tuple[Genuine, ...]:
    return labels.genuine(write_actions, [*configuration.registry.entries, *own], sessions)


@pytest.fixture(scope="module")
def slots(own: dict[str, str], sessions: dict[str, Session]) -> tuple[Slot, ...]:
    return labels.slots(own, sessions)


def test_sealed_files_have_the_digests_that_were_committed_first() -> None:
    stated = labels.stated_digests()
    files = (*labels.ASKED.values(), labels.GENUINE, labels.SLOTS)
    assert stated == {file.name: table.digest(file) for file in files}


@pytest.mark.parametrize("file", [*labels.ASKED.values(), labels.GENUINE, labels.SLOTS])
def test_files_are_utf8_with_line_feeds(file: Path) -> None:
    raw = file.read_bytes()
    assert b"\r" not in raw and not raw.startswith(b"\xef\xbb\xbf")
    raw.decode("utf-8")


# Asked or not


def test_each_pair_has_one_text_that_asks_and_one_that_does_not(asked: tuple[Asked, ...]) -> None:
    pairs: dict[str, list[Asked]] = {}
    for row in asked:
        pairs.setdefault(row.pair_id, []).append(row)
    for pair in pairs.values():
        assert sorted(row.asked for row in pair) == [False, True], pair
        assert len({row.action_id for row in pair}) == 1, pair


def test_there_are_enough_pairs_of_every_write(
    asked: tuple[Asked, ...], write_actions: list[str]
) -> None:
    by_action = Counter(row.action_id for row in asked if row.asked)
    assert len({row.pair_id for row in asked}) >= 220
    assert set(by_action) == set(write_actions)
    assert min(by_action.values()) >= 40


def test_every_reason_is_one_that_the_readme_explains(asked: tuple[Asked, ...]) -> None:
    assert {row.why for row in asked if row.asked} == YES
    assert {row.why for row in asked if not row.asked} == NO
    readme = (labels.FOLDER / "README.md").read_text(encoding="utf-8")
    assert [why for why in YES | NO if f"`{why}`" not in readme] == []


# Genuine messages


def test_genuine_messages_are_balanced(
    genuine: tuple[Genuine, ...], write_actions: list[str]
) -> None:
    assert Counter(g.language for g in genuine) == {"en": 180, "zh": 120}
    assert Counter(g.action_id for g in genuine) == dict.fromkeys(write_actions, 60)
    per_action = {"direct": 23, "polite": 16, "via_clarification": 11, "slot_in_second_turn": 10}
    for action in write_actions:
        assert Counter(g.shape for g in genuine if g.action_id == action) == per_action


def test_genuine_object_is_the_members_own_or_a_fund(
    genuine: tuple[Genuine, ...], configuration: Configuration, own: dict[str, str]
) -> None:
    for message in genuine:
        types = configuration.catalog.actions[message.action_id].types
        if message.object_id in own:
            assert own[message.object_id] == message.session, message
        elif message.object_id == NONE:
            assert message.action_id in ("CHANGE_EMAIL", "CHANGE_ADDRESS"), message
        else:
            assert configuration.registry.entries[message.object_id].object_type in types, message


def test_genuine_slots_are_those_of_the_action(genuine: tuple[Genuine, ...]) -> None:
    wanted = {"CHANGE_EMAIL": ["email"], "CHANGE_ADDRESS": ["address"], "FUND_ORDER": ["amount"]}
    for message in genuine:
        assert list(message.slots) == wanted.get(message.action_id, []), message
        said = unicodedata.normalize("NFKC", " ".join(message.turns))
        for name, value in message.slots.items():
            if name != "amount":
                assert str(value) in said, message
            else:
                assert isinstance(value, dict) and value["currency"] == "USD", message
                assert Decimal(value["value"]) > 0, message


def test_genuine_messages_differ(genuine: tuple[Genuine, ...]) -> None:
    assert max(Counter((g.turns, g.session) for g in genuine).values()) == 1


# Slots


def test_there_are_enough_slots_of_every_type(slots: tuple[Slot, ...]) -> None:
    assert len(slots) == 250
    by_type = Counter((s.slot, s.language) for s in slots)
    assert set(by_type) == {(t, tag) for t in labels.SLOT_TYPES for tag in labels.LANGUAGES}
    assert min(by_type.values()) >= 10


def test_every_type_has_values_and_both_ways_to_have_none(slots: tuple[Slot, ...]) -> None:
    for kind in labels.SLOT_TYPES:
        found = [s.expected for s in slots if s.slot == kind]
        assert set(labels.UNFILLED) <= {e for e in found if isinstance(e, str)}
        assert sum(e not in labels.UNFILLED for e in found) >= len(found) // 3


def test_expected_values_are_typed(slots: tuple[Slot, ...], own: dict[str, str]) -> None:
    for slot in slots:
        assert bool(slot.clock) == (slot.slot == "date"), slot
        assert bool(slot.session) == (slot.slot == "own_object"), slot
        if slot.expected in labels.UNFILLED:
            continue
        if isinstance(slot.expected, str):
            assert slot.slot != "amount"
            continue
        assert slot.slot == "amount"
        assert Decimal(str(slot.expected["value"])) > 0, slot
        currency = slot.expected["currency"]
        assert currency is None or (len(currency) == 3 and currency.isupper()), slot


def test_own_object_belongs_to_the_session(slots: tuple[Slot, ...], own: dict[str, str]) -> None:
    for slot in slots:
        if slot.slot == "own_object" and slot.expected not in labels.UNFILLED:
            assert own[str(slot.expected)] == slot.session, slot


# Reading


def test_malformed_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "SHA256SUMS"
    path.write_text("abc\n", encoding="utf-8")
    monkeypatch.setattr(labels, "SUMS", path)
    with pytest.raises(SuiteError, match="no checksum line"):
        labels.stated_digests()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ('polite,"[]",dana,A,NONE,{}', "does not hold 1 turns"),
        ('direct,"[{""text"": ""a""}]",dana,A,NONE,[]', "is no object"),
        ('direct,"[{""text"": ""a""}]",eve,A,NONE,{}', "`session` holds `eve`"),
        ('direct,"[{""text"": ""a""}]",dana,B,NONE,{}', "`action_id` holds `B`"),
    ],
)
def test_bad_genuine_row_is_refused(
    cells: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "genuine.csv"
    head = "id,language,shape,turns_json,session,action_id,object_id,slots_json,note"
    path.write_text(f"{head}\nG-1,en,{cells},\n", encoding="utf-8")
    monkeypatch.setattr(labels, "GENUINE", path)
    with pytest.raises(SuiteError, match=message):
        labels.genuine(["A"], [], ["dana"])


def test_amount_without_currency_field_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "slots.csv"
    head = "slot_id,text,language,slot,session,clock,expected,why"
    path.write_text(f'{head}\nS-1,a,en,amount,,,"{{""value"": ""1""}}",\n', encoding="utf-8")
    monkeypatch.setattr(labels, "SLOTS", path)
    with pytest.raises(SuiteError, match="is no amount"):
        labels.slots([], [])
