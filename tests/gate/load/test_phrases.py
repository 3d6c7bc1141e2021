"""`phrases.yaml`: what is refused, what a text leads to, and that every label is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.load import load_institution
from gate.load.examples import failures
from gate.load.institution import Institution
from gate.load.phrases import Command, PhraseBook
from gate.resolution import Named
from tests.gate.load.folders import GOOD, write

STATE = str(GOOD["state.yaml"]) + (
    "  - {name: alert, type: enum, values: [none, crisis], source: gate}\n"
)
RULE = """\
  - id: R-015
    priority: 15
    applies_to: ["*"]
    when: {predicate: alert, is: crisis}
    then: HANDOFF
    on_error: HANDOFF
"""
NARROW = "{all: [{predicate: alert, is: crisis}, {predicate: available, is: true}]}"
RULES = str(GOOD["rules.yaml"]) + RULE
PHRASE = """\
schema_version: 1
phrases:
  - action: FUND_PRICE
    language: en
    commands: ["[please] show the price of {object}"]
    examples:
      meant: [show the price of HGF01, Please show the price of Harbor Growth.]
      not_meant: [show the price of HGF09, buy HGF01]
contains:
  - leads_to: crisis
    language: en
    texts: [end my life]
    examples: {meant: [i will end my life], not_meant: [end my plan]}
  - leads_to: OUT_OF_SCOPE
    language: en
    texts: [tell me a joke]
    examples: {meant: [now tell me a joke], not_meant: [no joke]}
"""
FILES = {**GOOD, "state.yaml": STATE, "rules.yaml": RULES}


def loaded(folder: Path, phrases: str, **files: str) -> Institution:
    given = {name.replace("_yaml", ".yaml"): text for name, text in files.items()}
    return load_institution(write(folder, {**FILES, "phrases.yaml": phrases, **given}))


@pytest.fixture
def book(tmp_path: Path) -> PhraseBook:
    return loaded(tmp_path, PHRASE).phrases


def test_a_command_is_its_forms_for_every_permitted_type(book: PhraseBook) -> None:
    assert {(c.before, c.object_type, c.after) for c in book.commands} == {
        ("show the price of", "FUND", ""),
        ("please show the price of", "FUND", ""),
    }
    assert [(a.name, a.words) for a in book.alerts] == [("crisis", ("end my life",))]
    assert book.scope == ("tell me a joke",)


def test_a_command_matches_around_a_name_of_its_type_alone(book: PhraseBook) -> None:
    text = "Show the price of HGF01?"
    assert book.meant(text, [Named(18, 23, "FUND")]) == ("FUND_PRICE",)
    assert book.meant(text, [Named(18, 23, "CARD")]) == ()
    assert book.meant(text, [Named(17, 23, "FUND")]) == ("FUND_PRICE",)
    assert book.meant(text, [Named(14, 23, "FUND")]) == ()
    assert book.meant(text, []) == ()


@given(st.text(max_size=40))
def test_a_command_never_matches_without_a_name_that_the_gate_found(text: str) -> None:
    book = PhraseBook(
        commands=(Command("show the price of", "FUND", "", "FUND_PRICE", "en", "text"),)
    )
    assert book.meant(f"show the price of {text}", ()) == ()
    assert book.meant(text, ()) == ()


LABEL_FAULTS = [
    ("meant: [show the price of HGF01,", "meant: [price of HGF01,", "leads to nothing, not to"),
    ("not_meant: [show the price of HGF09,", "not_meant: [show the price of HVF02,", "but is labelled"),
    ("not_meant: [end my plan]", "not_meant: [end my life insurance]", "but is labelled `not_meant`"),
    ("meant: [i will end my life]", "meant: [end]", "leads to nothing"),
    ("meant: [now tell me a joke]", "meant: [tell a joke]", "leads to nothing"),
    ("not_meant: [no joke]", "not_meant: ['tell me a joke, no']", "but is labelled"),
    ("show the price of HGF01,", "'show the price of HGF01, tell me a joke',", "`OUT_OF_SCOPE`, not to"),
    ('commands: ["[please]', 'texts: [end my life now]\n    commands: ["[please]', "`crisis`, not to"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "problem"), LABEL_FAULTS)
def test_a_label_that_is_not_kept_does_not_load(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in PHRASE
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, PHRASE.replace(old, new, 1))
    assert problem in caught.value.problem
    assert caught.value.file.endswith("phrases.yaml") and caught.value.line


FAULTS = [
    ("{object}", "{object:CARD}", "does not permit `CARD`", "FUND"),
    ("{object}", "{object:FOND}", "does not permit `FOND`", "FUND"),
    ("{object}", "{thing}", "no place for a name", "{object}"),
    ("show the price of {object}", "", "command without a word|phrase without a word", ""),
    ("[please] show the price of {object}", "[please] {object}", "command without a word", "bare name"),
    ("leads_to: crisis", "leads_to: FEES", "leads_to", ""),
    ("leads_to: crisis", "leads_to: none", "no bounded end", "alert"),
    ("leads_to: crisis", "leads_to: DISPATCH", "leads_to", ""),
    ("leads_to: crisis", "leads_to: panic", "`panic` is no value of the predicate", "state.yaml"),
    ("texts: [end my life]", "texts: ['?!']", "words without a word", "letters"),
    ("texts: [end my life]", "texts: [x]", "words without a word", "letters"),
    ("texts: [end my life]", "texts: [Tell me a JOKE]", "means `crisis` and `OUT_OF_SCOPE`", "one of"),
    ("action: FUND_PRICE", "action: FREEZE_IT", "which the catalog lacks", "FREEZE"),
    ("language: en\n    commands", "language: zh\n    commands", "`zh` is not configured", "en"),
    ('commands: ["[please] show the price of {object}"]', "texts: []", "without texts and commands", "add"),
    ("      not_meant: [show the price of HGF09, buy HGF01]\n", "", "`not_meant` is missing", "add"),
    ("examples:\n      meant", "examples:\n      own: {FUND: [x]}\n      meant", "customer's own", "CARD"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "problem", "fix"), FAULTS)
def test_what_could_not_be_meant_does_not_load(
    tmp_path: Path, old: str, new: str, problem: str, fix: str
) -> None:
    assert old in PHRASE
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, PHRASE.replace(old, new, 1))
    assert any(part in caught.value.problem for part in problem.split("|")), caught.value.problem
    assert fix in caught.value.fix
    assert caught.value.file.endswith("phrases.yaml")


def test_an_action_that_a_pattern_could_name_is_refused(tmp_path: Path) -> None:
    """An action id in small letters looks like an alert."""
    catalog = str(GOOD["catalog.yaml"]).replace("id: FEES", "id: fees")
    with pytest.raises(ConfigError, match="`fees`, which is no bounded end"):
        loaded(tmp_path, PHRASE.replace("leads_to: crisis", "leads_to: fees"), catalog_yaml=catalog)


@pytest.mark.parametrize(
    "rule",
    [
        "",
        RULE.replace('["*"]', "[FEES]"),
        RULE.replace("is: crisis", "is: none"),
        RULE.replace("{predicate: alert, is: crisis}", NARROW),
    ],
)  # fmt: skip
def test_an_alert_that_no_rule_closes_on_for_every_request_does_not_load(
    tmp_path: Path, rule: str
) -> None:
    rules = str(GOOD["rules.yaml"]) + rule
    with pytest.raises(ConfigError, match="no rule for every request closes on the alert `crisis`"):
        loaded(tmp_path, PHRASE, rules_yaml=rules)


@pytest.mark.parametrize("when", ["in: [crisis]", "is: crisis"])
def test_an_alert_that_a_rule_closes_on_loads(tmp_path: Path, when: str) -> None:
    rules = RULES.replace("alert, is: crisis", f"alert, {when}")
    institution = loaded(tmp_path, PHRASE, rules_yaml=rules)
    assert [a.name for a in institution.configuration.alerts] == ["crisis"]
    assert list(failures(institution.phrases, institution.configuration)) == []
    assert len(institution.phrases.examples) == 8


def test_an_alert_from_elsewhere_than_the_gate_does_not_load(tmp_path: Path) -> None:
    state = STATE.replace("crisis], source: gate", "crisis], source: core")
    with pytest.raises(ConfigError, match="is no value of the predicate `alert`"):
        loaded(tmp_path, PHRASE, state_yaml=state)


def test_one_wording_of_two_actions_does_not_load(tmp_path: Path) -> None:
    twice = PHRASE.replace(
        "contains:",
        "  - action: FEES\n    language: en\n    commands: ['show [me] the price of {object:FUND}']\n"
        "    examples: {meant: [x], not_meant: [y]}\ncontains:",
    )
    with pytest.raises(ConfigError, match="means `FUND_PRICE` and `FEES`"):
        loaded(tmp_path, twice)


def test_a_whole_text_that_is_another_actions_command_does_not_load(tmp_path: Path) -> None:
    twice = PHRASE.replace(
        "contains:",
        "  - action: FEES\n    language: en\n    texts: [show the price of HVF02]\n"
        "    examples: {meant: [show the price of hvf02], not_meant: [y]}\ncontains:",
    )
    with pytest.raises(ConfigError, match="leads to `FEES` and `FUND_PRICE`, not to `FEES`"):
        loaded(tmp_path, twice)


APPLIANCE = str(GOOD["appliance.yaml"])
FAST = '  - {name: fast, kind: setfit, model: var/models/fast, threshold: "0.60"}\n'


def test_a_tier_of_phrases_is_the_first(tmp_path: Path) -> None:
    """Behind another one, words that end a request would come too late."""
    late = APPLIANCE.replace(FAST, "").replace(
        "  - {name: phrases}\n", FAST + "  - {name: phrases}\n"
    )
    with pytest.raises(ConfigError, match="tier `phrases` of phrases is not the first"):
        loaded(tmp_path, PHRASE, appliance_yaml=late)


def test_intents_need_a_tier_that_reads_them(tmp_path: Path) -> None:
    without = APPLIANCE.replace("  - {name: phrases}\n", "")
    assert loaded(tmp_path / "a", PHRASE, appliance_yaml=without).phrases.commands
    asking = without.replace("[web]", "[web]\nintent_channels: [web]")
    with pytest.raises(ConfigError, match="channels may send intents, but no tier reads them"):
        loaded(tmp_path / "b", PHRASE, appliance_yaml=asking)
