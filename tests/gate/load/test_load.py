"""What a good folder loads to, and the safe defaults of what it leaves out."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gate.conditions import Age, All, AnyOf, Bounds, Equals, IfPresent, In, Is, Not, Ref
from gate.errors import ConfigError
from gate.lint import lint
from gate.load import load, load_institution
from gate.load.appliance import DEFAULT_TERMINALS
from gate.load.phrases import PhraseBook
from gate.records import Boundary, Entry, Mode, Reserved, Terminal
from gate.rules import evaluate
from tests.gate.load.folders import GOOD, MINIMAL, write

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[3]


def test_good_folder_loads_every_file(tmp_path: Path) -> None:
    institution = load_institution(write(tmp_path, GOOD))
    configuration = institution.configuration
    assert (configuration.name, configuration.title) == ("corner", "Corner Bank")
    assert configuration.languages == ("en",)
    assert configuration.channels == ("web",)
    assert configuration.catalog.version == "3"
    assert list(configuration.catalog.actions) == ["FUND_PRICE", "FEES", "FREEZE"]
    assert configuration.thresholds == {"fast": Decimal("0.60")}
    assert configuration.terminals[Reserved.SCOPE] is Terminal.HANDOFF
    assert configuration.terminals[Reserved.OBJECT] is Terminal.CLARIFY
    assert [t.kind for t in institution.appliance.tiers] == ["phrases", "setfit"]
    assert [t.languages for t in institution.appliance.tiers] == [None, None]
    assert institution.appliance.paths.ledger == "var/corner/ledger.sqlite"
    assert institution.folder == tmp_path
    assert lint(configuration) == ()


def test_tier_may_read_some_of_the_languages_only(tmp_path: Path) -> None:
    appliance = GOOD["appliance.yaml"].replace("kind: setfit", "kind: setfit, languages: [en]")
    tiers = load_institution(write(tmp_path, {**GOOD, "appliance.yaml": appliance})).appliance.tiers
    assert [t.languages for t in tiers] == [None, ("en",)]


def test_catalog_words_are_folded_and_defaults_filled(tmp_path: Path) -> None:
    catalog = load(write(tmp_path, GOOD)).catalog
    freeze = catalog.actions["FREEZE"]
    assert freeze.mode is Mode.WRITE
    assert freeze.verbs == {"en": ("freeze", "block")}
    assert freeze.object_from == ("text", "session")
    assert catalog.actions["FEES"].object_from == ("text", "history")
    assert catalog.object_types["FUND"].nouns == {"en": ("fund", "funds")}
    assert catalog.object_types["CARD"].own


def test_blank_lines_of_a_registry_are_passed_over(tmp_path: Path) -> None:
    registry = GOOD["registry.csv"].replace("\nF:TWO", "\r\n\r\nF:TWO") + "\n\n"
    entries = load(write(tmp_path, {**GOOD, "registry.csv": registry})).registry.entries
    assert list(entries) == ["F:ONE", "F:TWO"]


def test_registry_keeps_names_as_written(tmp_path: Path) -> None:
    entries = load(write(tmp_path, GOOD)).registry.entries
    assert entries["F:ONE"] == Entry(
        "F:ONE", "FUND", "Harbor Growth Fund", ("HGF01", "harbor growth")
    )


def test_predicates_have_type_unit_age_and_skew(tmp_path: Path) -> None:
    predicates = load(write(tmp_path, GOOD)).predicates
    balance = predicates["balance"]
    assert (balance.type, balance.unit, balance.max_age_s) == ("number", "USD", 60)
    assert (balance.skew_s, balance.pin) == (5, False)
    assert predicates["minimum"].pin
    assert predicates["tier"].values == ("low", "high")
    assert predicates["slot.amount"].source == "gate"


def test_rules_read_every_form_of_condition(tmp_path: Path) -> None:
    rules = load(write(tmp_path, GOOD)).rules
    when = {rule.rule_id: rule.when for rule in rules.rules}
    assert rules.version == "2"
    assert when["R-010"] == Is("available", False)
    assert when["R-020"] == AnyOf(
        (
            Bounds("balance", lt=Decimal(0)),
            All((In("tier", ("high",)), Not(Equals("terms", Ref("terms_now"))))),
            Age("reviewed_at", older=365 * 86_400),
        )
    )
    assert when["R-030"] == IfPresent("slot.amount", Bounds("slot.amount", gt=Ref("minimum")))


def test_decimals_keep_their_digits(tmp_path: Path) -> None:
    rules = GOOD["rules.yaml"].replace("balance, lt: 0}", 'balance, lt: 0.10, ge: "-12.50"}')
    loaded = load(write(tmp_path, {**GOOD, "rules.yaml": rules})).rules
    bounds = next(r for r in loaded.rules if r.rule_id == "R-020").when
    assert isinstance(bounds, AnyOf)
    assert bounds.parts[0] == Bounds("balance", lt=Decimal("0.10"), ge=Decimal("-12.50"))


def test_phrases_queries_and_documents(tmp_path: Path) -> None:
    institution = load_institution(write(tmp_path, GOOD))
    assert [(p.action_id, p.key) for p in institution.phrases.phrases] == [
        ("FEES", "what does it cost"),
        ("FEES", "fees"),
        ("FREEZE", "freeze my card"),
    ]
    query = institution.queries["fund_price"]
    assert query.parameters == {"object": "object"}
    assert query.scope is None
    assert query.answer == {"en": "It costs {price}."}
    fees = institution.documents.entries["documents/fees.md"]
    assert fees.effective_from == date(2026, 1, 1)
    assert fees.effective_to is None
    assert fees.labels == ("public",)
    assert institution.documents.collections == {"fees": ("documents/*.md",)}
    assert institution.documents.sufficient is None


def test_least_score_of_an_answer_is_read(tmp_path: Path) -> None:
    documents = GOOD["documents.yaml"] + 'sufficient: "0.98"\n'
    institution = load_institution(write(tmp_path, {**GOOD, "documents.yaml": documents}))
    assert institution.documents.sufficient == Decimal("0.98")


def test_digests_name_every_file_that_was_read(tmp_path: Path) -> None:
    digests = load(write(tmp_path, GOOD)).digests
    assert sorted(digests) == sorted(
        [n for n in GOOD if not n.startswith("documents/")] + ["languages/en.yaml"]
    )
    for name in ("rules.yaml", "registry.csv"):
        assert digests[name] == hashlib.sha256(GOOD[name].encode()).hexdigest()


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    marked = {n: b"\xef\xbb\xbf" + GOOD[n].encode() for n in ("appliance.yaml", "registry.csv")}
    assert load(write(tmp_path, {**GOOD, **marked})).name == "corner"


def test_two_files_are_enough(tmp_path: Path) -> None:
    institution = load_institution(write(tmp_path, MINIMAL))
    configuration = institution.configuration
    assert configuration.languages == ("en",)
    assert configuration.channels == ()
    assert configuration.predicates == {}
    assert configuration.registry.entries == {}
    assert configuration.terminals == DEFAULT_TERMINALS
    assert set(DEFAULT_TERMINALS) == set(Reserved)
    assert Terminal.DISPATCH not in DEFAULT_TERMINALS.values()
    assert institution.phrases == PhraseBook()
    assert institution.queries == {}
    assert institution.documents.entries == {}
    assert [t.name for t in institution.appliance.tiers] == ["phrases"]


@pytest.mark.parametrize(
    ("action", "boundary"),
    [
        ("HOURS", Boundary.ALLOW),
        ("MOVE", Boundary.HANDOFF),
        ("MY_CARD", Boundary.HANDOFF),
    ],
)
def test_without_rules_only_public_reads_are_allowed(
    tmp_path: Path, action: str, boundary: Boundary
) -> None:
    rules = load(write(tmp_path, MINIMAL)).rules
    assert evaluate(rules, action, {}, {}, {}, {}, NOW).boundary is boundary


def test_without_rules_a_query_about_the_customer_is_not_public(tmp_path: Path) -> None:
    files = {n: GOOD[n] for n in GOOD if n not in {"rules.yaml", "state.yaml"}}
    files["queries.yaml"] = (
        GOOD["queries.yaml"]
        .replace("$object", "$object AND owner = $who")
        .replace("{object: object}", "{object: object, who: subject}")
        .replace("null", "subject")
    )
    rules = load(write(tmp_path, files)).rules
    assert evaluate(rules, "FUND_PRICE", {}, {}, {}, {}, NOW).boundary is Boundary.HANDOFF
    assert evaluate(rules, "FEES", {}, {}, {}, {}, NOW).boundary is Boundary.ALLOW


def test_without_rules_and_with_public_reads_alone_nothing_is_closed(tmp_path: Path) -> None:
    catalog = "\n".join(MINIMAL["catalog.yaml"].splitlines()[:-2]) + "\n"
    rules = load(write(tmp_path, {**MINIMAL, "catalog.yaml": catalog})).rules
    assert [r.rule_id for r in rules.rules] == ["DEFAULT-ALLOW"]


def test_without_rules_an_action_without_a_mode_is_closed(tmp_path: Path) -> None:
    catalog = MINIMAL["catalog.yaml"].replace("open, mode: read", "open")
    folder = write(tmp_path, {**MINIMAL, "catalog.yaml": catalog})
    rules = load(folder, bench=True).rules
    assert evaluate(rules, "HOURS", {}, {}, {}, {}, NOW).boundary is Boundary.HANDOFF


def test_an_action_without_a_mode_loads_for_the_bench_alone(tmp_path: Path) -> None:
    catalog = MINIMAL["catalog.yaml"].replace("open, mode: read", "open")
    folder = write(tmp_path, {**MINIMAL, "catalog.yaml": catalog})
    assert not load(folder, bench=True).catalog.has_modes
    with pytest.raises(ConfigError, match=r"catalog\.yaml:6: action `HOURS` has no mode; add"):
        load(folder)


def test_file_order_of_rules_does_not_matter(tmp_path: Path) -> None:
    head, *rules = GOOD["rules.yaml"].split("  - id: ")
    turned = head + "".join("  - id: " + r for r in reversed(rules))
    one = load(write(tmp_path / "one", GOOD)).rules
    other = load(write(tmp_path / "other", {**GOOD, "rules.yaml": turned})).rules
    assert one.rules == other.rules


def test_identical_duplicate_rules_collapse(tmp_path: Path) -> None:
    head, first, *rest = GOOD["rules.yaml"].split("  - id: ")
    twice = head + "".join("  - id: " + r for r in (first, first, *rest))
    configuration = load(write(tmp_path, {**GOOD, "rules.yaml": twice}))
    assert configuration.rules.collapsed == ("R-010",)


def test_an_institutions_own_pack_replaces_the_default_as_a_whole(tmp_path: Path) -> None:
    default = (ROOT / "configs" / "languages" / "en.yaml").read_text(encoding="utf-8")
    own = default.replace("yes_phrases:", "yes_phrases: [Aye aye]\nx_phrases:")
    own = own[: own.index("x_phrases:")] + own[own.index("templates:") :]
    configuration = load(write(tmp_path, {**MINIMAL, "languages/en.yaml": own}))
    assert configuration.pack.yes_phrases == ("aye aye",)
    assert configuration.digests["languages/en.yaml"] == hashlib.sha256(own.encode()).hexdigest()


def test_default_packs_are_complete_and_folded() -> None:
    from gate.load import language
    from gate.normalise import fold

    for tag in ("en", "zh"):
        pack, _ = language.load(None, tag)
        for name in language.list_fields():
            words = getattr(pack, name)
            assert words == tuple(dict.fromkeys(fold(w) for w in words)), (tag, name)


def test_demo_folder_loads_without_a_warning() -> None:
    institution = load_institution(ROOT / "configs" / "demo")
    assert len(institution.configuration.registry.entries) >= 40
    assert len(institution.configuration.rules.rules) >= 12
    assert lint(institution.configuration) == ()
