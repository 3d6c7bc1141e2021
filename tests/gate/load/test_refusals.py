"""Broken folders: one clear error each, with file, line and fix."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.load import load_institution, yamlfile
from gate.load.digests import YAML_BYTES, Source
from tests.gate.load.folders import GOOD, MINIMAL, edited, line_of, refused, write

APPLIANCE, CATALOG, STATE = "appliance.yaml", "catalog.yaml", "state.yaml"
CONFIRM = '    confirm: {en: "Freeze {object}, with {amount} left?"}\n'
RULES, PHRASES, QUERIES = "rules.yaml", "phrases.yaml", "queries.yaml"
DOCUMENTS, REGISTRY = "documents.yaml", "registry.csv"

CASES = [
    # file, passage, replacement, mark of the line, problem, fix
    (APPLIANCE, "schema_version: 1\n", "", "name: corner", "`schema_version` is missing", "add"),
    (APPLIANCE, "schema_version: 1", "schema_version: 2", "schema_version", "`2`", "write `1`"),
    (APPLIANCE, "schema_version: 1", "schema_version: true", "schema_version", "`true`", "`1`"),
    (APPLIANCE, "title:", "titel:", "titel", "unknown key `titel`", "did you mean `title`?"),
    (APPLIANCE, "name: corner", "name: Corner Bank", "name: Cor", "`name` is", "correct"),
    (APPLIANCE, "[en]", "en", "languages", "`languages` is `en`, not a list", "`[a, b]`"),
    (APPLIANCE, "[en]", "[en, en]", "languages", "`en` is listed twice", "remove"),
    (APPLIANCE, "[web]", "[web, web]", "channels", "`web` is listed twice", "remove"),
    (APPLIANCE, "[web]", "[web]\nintent_channels: [wab]", "intent_", "`wab` may send", "did you mean `web`?"),
    (APPLIANCE, "[web]", "[web]\nintent_channels: [web, web]", "intent_", "`web` is listed", "remove"),
    (APPLIANCE, "{name: phrases}", "{name: phrases, languages: [en]}", "{name: ph", "of its own", "remove"),
    (APPLIANCE, "name: fast,", "name: phrases,", "setfit", "`phrases` is listed twice", "remove"),
    (APPLIANCE, "kind: setfit", "kind: setfi", "setfi", "`kind` is `setfi`", "`setfit`?"),
    (APPLIANCE, "kind: setfit, ", "", "{name: fast", "tier `fast` has no kind", "add `kind:`"),
    (APPLIANCE, '"0.60"', '"1.60"', "1.60", "`threshold` is `1.60`", "correct"),
    (APPLIANCE, '"0.60"', "high", "high", "`threshold` is `high`, not a number", "number"),
    (APPLIANCE, '"0.60"', "true", "fast", "`threshold` is `true`, not a number", "number"),
    (APPLIANCE, '"0.60"', '"0.60", calibrated: true', "0.60", "`threshold` of its own", "remove"),
    (APPLIANCE, ', threshold: "0.60"', "", "{name: fast", "has no `threshold`", "train thresholds"),
    (APPLIANCE, "{name: phrases}", "{name: phrases, calibrated: true}", "phrases", "calibrated", "only"),
    (APPLIANCE, "kind: setfit", "kind: setfit, languages: [xx]", "xx", "reads `xx`", "`en`"),
    (APPLIANCE, "kind: setfit", "kind: setfit, languages: []", "[]", "`languages`", "correct"),
    (APPLIANCE, "HANDOFF", "DISPATCH", "G-SCOPE", "is `DISPATCH`", "never dispatches"),
    (APPLIANCE, "HANDOFF", "HANDOF", "G-SCOPE", "unknown terminal `HANDOF`", "`HANDOFF`?"),
    (APPLIANCE, "G-SCOPE", "G-SCOP", "G-SCOP", "unknown reserved id `G-SCOP`", "`G-SCOPE`?"),
    (CATALOG, 'version: "3"', "version: 3", "version: 3", "`version` is `3`, not text", "quotes"),
    (CATALOG, "id: FEES", "id: FUND_PRICE", "id: FUND_PRICE", "listed twice", "rename"),
    (CATALOG, "id: FEES", "id: NONE", "id: NONE", "`NONE` is reserved", "another id"),
    (CATALOG, "id: FEES", "id: TWO WORDS", "TWO WORDS", "`id` is `TWO WORDS`", "correct"),
    (CATALOG, "mode: write", "mode: wirte", "wirte", "`mode` is `wirte`", "`write`?"),
    (CATALOG, "[NONE, FUND]", "[NONE, FUNDS]", "FUNDS", "object type `FUNDS`", "`FUND`?"),
    (CATALOG, "[NONE, FUND]", "[]", "objects: []", "`objects`", "correct"),
    (CATALOG, "pathway: records", "pathway: recrods", "recrods", "`recrods`", "`records`?"),
    (CATALOG, "query: fund_price", "query: fund_prize", "prize", "`fund_prize`", "`fund_price`?"),
    (CATALOG, "collection: fees", "collection: costs", "costs", "`costs`", "`fees`"),
    (CATALOG, "    query: fund_price\n", "", "records", "no query", "add `query:`"),
    (CATALOG, "    collection: fees\n", "", "documents", "no collection", "add `collection:`"),
    (CATALOG, "slots: [amount]", "query: q", "query: q", "has a query but", "remove `query:`"),
    (CATALOG, "slots: [amount]", "collection: c", "n: c", "collection but", "`collection:`"),
    (CATALOG, "pathway: connector", "pathway: records\n    query: q", "records", "only", "none"),
    (CATALOG, "objects: [CARD]", "objects: [FUND]", "session", "takes its object", "permit"),
    (CATALOG, "verbs: {en:", "verbs: {ne:", "verbs", "language `ne`", "use one of `en`"),
    (CATALOG, "nouns: {en: [card]}", 'nouns: {en: ["\\u200b"]}', "200b", "visible", "remove"),
    (CATALOG, CONFIRM, "", "id: FREEZE", "no text to confirm in `en`", "`{amount}`, `{object}`"),
    (CATALOG, "confirm: {en:", "confirm: {zh:", "zh", "language `zh`", "use one of `en`"),
    (CATALOG, "Freeze {object}", "Freeze it", "it, with", "adds `{object}`", "must read back"),
    (CATALOG, "{amount} left", "{amount} on {day}", "{day}", "adds `{day}`", "must read back"),
    (CATALOG, "{object}, with", "{objekt}, with", "objekt", "adds `{object}`", "must read back"),
    (CATALOG, "own: true", "own: yes", "own: yes", "`own` is `yes`, not true or false", "`true`"),
    (STATE, "name: tier", "name: available", "values", "`available` is listed twice", "remove"),
    (STATE, "type: boolean", "type: bool", "bool,", "`type` is `bool`", "`boolean`"),
    (STATE, "source: core}", "source: cora}", "cora", "undeclared source `cora`", "`core`?"),
    (STATE, "core: {skew_s: 5}", "core: {skew_s: 31}", "31", "`skew_s` is `31`", "correct"),
    (STATE, "core: {skew_s: 5}", "core: {}\n  gate: {}", "gate: {}", "gate itself", "remove"),
    (STATE, "entity_resolved", "entity_resolve", "_resolve,", "not compute", "`entity_resolved`?"),
    (STATE, "values: [low, high], ", "", "name: tier", "has 0 values", "list the values"),
    (STATE, "unit: USD, ", "unit: 5, ", "unit: 5", "`unit` is `5`, not text", "quotes"),
    (STATE, "name: terms,", "name: slot.x,", "slot.x", "is a slot", "declare its source"),
    (RULES, "  - id: R-020", "  - id: R-010", "id: R-010", "different contents", "another id"),
    (RULES, "priority: 20", "priority: 10", "R-020", "share priority `10`", "its own"),
    (RULES, "priority: 20", "priority: ten", "ten", "not a whole number", "whole number"),
    (RULES, "[FREEZE]", "[FREZE]", "[FREZE]", "names the action `FREZE`", "`FREEZE`?"),
    (RULES, "predicate: available", "predicate: availabel", "availabel", "reads", "`available`?"),
    (RULES, "is: false", "iss: false", "iss", "unknown key `iss`", "did you mean `is`?"),
    (RULES, ", is: false}", "}", "available}", "key `is` is missing", "add `is:`"),
    (RULES, "is: false", "is: [false]", "[false]", "is no value", "write true"),
    (RULES, "is: false", 'is: "false"', "predicate: avail", "of type boolean", "correct"),
    (RULES, "lt: 0}", "lt: zero}", "zero", "`lt` is `zero`, not a number", "number"),
    (RULES, "lt: 0}", "in: [1, high]}", "[1, high]", "`in` of `balance`", "one type"),
    (RULES, "lt: 0}", "lt: {predicat: x}}", "predicat:", "`predicat`", "did you mean `predicate`"),
    (RULES, "in: [high]", "in: [hihg]", "hihg", "`hihg` is not a value of `tier`", "correct"),
    (RULES, "in: [high]", "in: []", "in: []", "`in`", "correct"),
    (RULES, "older_than: 365d", "older_than: a year", "a year", "`a year` is no age", "`30d`"),
    (RULES, "older_than: 365d", "oldr_than: 3d", "oldr", "unknown key `oldr_than`", "`older_"),
    (RULES, "slot.amount, then", "amount, then", "amount, t", "`amount` is no slot", "slot.NAME"),
    (RULES, "when: {}", "when: nothing", "nothing", "not a set of keys", "`key: value`"),
    (RULES, "    on_error: HANDOFF\n", "", "R-020", "`R-020` has no on_error", "add a bounded"),
    (RULES, "on_error: HANDOFF", "on_error: ALLOW", "ALLOW\n  - id: R-030", "`ALLOW`", "use"),
    (RULES, "then: REJECT", "then: ALLOW", "R-030", "allows before the final", "only the rule"),
    (RULES, "then: ALLOW", "then: HANDOFF\n    on_error: HANDOFF", "R-999", "not allow", "add one"),
    (RULES, "id: R-999", "id: G-SCOPE", "G-SCOPE", "`G-SCOPE` is reserved", "another id"),
    (RULES, "30\n    applies_to: [FREEZE]", "30\n    applies_to: [FEES]", "if_pr", "a slot", "add"),
    (PHRASES, "action: FREEZE", "action: FREEZ", "FREEZ", "`FREEZ`", "did you mean `FREEZE`?"),
    (PHRASES, "language: en", "language: de", "de", "language `de` is not configured", "`en`"),
    (PHRASES, "- freeze my card", "- FEES.", "- FEES.", "means `FEES` and `FREEZE`", "one of"),
    (PHRASES, "- freeze my card", "- '?!'", "?!", "phrase without a word", "remove"),
    (QUERIES, "$object", "$objekt", "sql:", "uses `$objekt`", "did you mean `object`?"),
    (QUERIES, "= $object", "= 1", "parameters", "`object` of query `fund_price` is not", "remove"),
    (QUERIES, "{object: object}", "{object: subject}", "param", "no scope", "`scope: subject`"),
    (QUERIES, "scope: null", "scope: subject", "scope", "never reads the subject", "add a param"),
    (QUERIES, "{object: object}", "{object: fund}", "fund}", "`object` is `fund`", "correct"),
    (QUERIES, "{en: \"It", "{de: \"It", "{de", "language `de`", "`en`"),
    (DOCUMENTS, "fees.md", "fee.md", "fee.md", "`documents/fee.md` is not there", "add the file"),
    (DOCUMENTS, "documents/*.md", "documents/*.pdf", "pdf", "matches no file", "correct"),
    (DOCUMENTS, "documents/*.md", "../*.md", "../", "leads out of the folder", "inside"),
    (DOCUMENTS, "2026-01-01", "2026-02-30", "02-30", "not a date of the calendar", "correct"),
    (DOCUMENTS, "2026-01-01", "January", "January", "`January` is not a date", "2026-01-31"),
    (REGISTRY, "F:TWO,FUND", "F:ONE,FUND", "F:ONE", "`F:ONE` is listed twice", "remove"),
    (REGISTRY, "HVF02", "HGF01", "F:TWO", "name `hgf01` belongs to both", "one owner"),
    (REGISTRY, "HVF02", "Harbor growth fund", "F:TWO", "belongs to both", "one owner"),
    (REGISTRY, "HVF02", "X", "F:TWO", "shorter than 2", "longer name"),
    (REGISTRY, "F:TWO,FUND", "F:TWO,FUNT", "FUNT", "type `FUNT`", "did you mean `FUND`?"),
    (REGISTRY, "F:TWO,FUND", "F:TWO,CARD", "CARD", "customer's own", "session"),
    (REGISTRY, "F:TWO,FUND", ",FUND", ",FUND,Harbor Value", "`object_id` is empty", "give every"),
    (REGISTRY, "F:TWO,FUND", "NONE,FUND", "NONE", "`NONE` is reserved", "another"),
    (REGISTRY, ",HVF02", "", "F:TWO", "row has 3 fields, the header 4", "double quotes"),
    (REGISTRY, "HVF02", "a,b", "F:TWO", "row has 5 fields, the header 4", "double quotes"),
    (REGISTRY, "HVF02", '"HVF02', "F:TWO", "not valid CSV", "quotation mark"),
    (REGISTRY, "HVF02", "HVF\0", "F:TWO", "NUL character", "remove"),
    (REGISTRY, "display_name", "object_id", "object_type", "stands twice", "remove"),
    (REGISTRY, "aliases", "alias", "object_type", "unknown column `alias`", "`aliases`?"),
    (REGISTRY, "object_id,", "", "object_type", "column `object_id` is missing", "first line"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "mark", "problem", "fix"), CASES)
def test_broken_folder_names_file_line_and_fix(
    tmp_path: Path, file: str, old: str, new: str, mark: str, problem: str, fix: str
) -> None:
    folder = edited(tmp_path, file, old, new)
    error = refused(folder)
    assert problem in error.problem
    assert fix in error.fix
    assert error.file == str(folder / file)
    assert error.line == line_of(folder, file, mark), error


YAML = [
    # text of rules.yaml, line, problem, fix
    ("", 1, "holds no keys", "schema_version"),
    ("# nothing\n", 1, "holds no keys", "schema_version"),
    ("- a\n- b\n", 1, "holds no keys", "schema_version"),
    ("just words\n", 1, "holds no keys", "schema_version"),
    ("a: 1\n\tb: 2\n", 2, "tab", "spaces"),
    ("a: 1\nb: c: d\n", 2, "mapping values are not allowed", "quotes"),
    ("a: @b\n", 1, "cannot start any token", "quotes"),
    ("a: 'b\n", 2, "end of stream", "close"),
    ("a: [1\nb: 2\n", 2, "expected", "close the bracket"),
    ('a: "\\ud800"\n', 1, "escape", "single quotes"),
    ("a: b\n  c: d\n", 2, "not valid YAML", ""),
    ("a: b\nc\n", 2, "could not find expected ':'", "`key: value`"),
    ("a: b\nc", 2, "could not find expected ':'", "`key: value`"),
    ("a: 1\nb: 2\na: 3\n", 3, "key `a` is given twice", "line 1"),
    ("a: {b: 1, b: 2}\n", 1, "key `b` is given twice", "line 1"),
    ("a: &x 1\nb: *x\n", 1, "anchor `x`", "write the value out"),
    ("b: *x\n", 1, "anchor `x`", "write the value out"),
    ("a: !!python/object:os.system 1\n", 1, "tag `", "remove the tag"),
    ("a: 1\n? [b]\n: 2\n", 2, "key is not a plain word", "before the colon"),
    ("a: 1\n---\nb: 2\n", 2, "second document", "remove"),
    ("a: 1\nb: \a\n", 2, "control character `U+0007`", "remove"),
    ("a: 1\rb: 2\n", 1, "control character `U+000D`", "remove"),
    ("a: x\u2028y\n", 1, "control character `U+2028`", "remove"),
    ("a: 1\r\nb: x: y\r\n", 2, "mapping values", "quotes"),
    ("a: " + "[" * 30 + "]" * 30, 1, "nested more than", "flatter"),
    ("a: " + "[" * 3000, 1, "nesting", "flatter"),
]


@pytest.mark.parametrize(("text", "line", "problem", "fix"), YAML)
def test_broken_yaml_names_the_line(
    tmp_path: Path, text: str, line: int, problem: str, fix: str
) -> None:
    error = refused(write(tmp_path, {**GOOD, RULES: text}))
    assert error.file == str(tmp_path / RULES)
    assert (error.line, problem in error.problem, fix in error.fix) == (line, True, True), error


def test_words_of_yaml_1_1_are_texts(tmp_path: Path) -> None:
    text = b"no: yes\nday: 2026-01-01\nhex: 0x10\nold: 010\ntime: 12:30:00\nbig: 1e3\nnull: ~"
    assert yamlfile.parse(Source("f", "f", text)).data == {
        "no": "yes",
        "day": "2026-01-01",
        "hex": "0x10",
        "old": "010",
        "time": "12:30:00",
        "big": "1e3",
        "null": None,
    }


@pytest.mark.parametrize("file", [APPLIANCE, RULES, REGISTRY])
def test_file_that_is_not_utf8_names_the_line(tmp_path: Path, file: str) -> None:
    broken = GOOD[file].encode() + b"\n# Z\xfcrich\n"
    error = refused(write(tmp_path, {**GOOD, file: broken}))
    assert error.problem == "byte `0xfc` is not UTF-8"
    assert error.line == GOOD[file].count("\n") + 2
    assert error.fix == "save the file as UTF-8"


def test_utf16_file_is_refused(tmp_path: Path) -> None:
    error = refused(write(tmp_path, {**GOOD, RULES: GOOD[RULES].encode("utf-16")}))
    assert "not UTF-8" in error.problem


@pytest.mark.parametrize("file", [APPLIANCE, CATALOG])
def test_required_file_that_is_missing_is_named(tmp_path: Path, file: str) -> None:
    error = refused(write(tmp_path, {n: t for n, t in MINIMAL.items() if n != file}))
    assert (error.file, error.problem) == (str(tmp_path / file), "file is missing")
    assert f"`{file}`" in error.fix


def test_missing_folder_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").problem == "no such folder"


@pytest.mark.parametrize(
    ("stranger", "meant"),
    [
        ("rule.yaml", "`rules.yaml`"),
        ("catalog.yml", "`catalog.yaml`"),
        ("x.yaml", "another folder"),
    ],
)
def test_file_with_a_mistyped_name_is_refused(tmp_path: Path, stranger: str, meant: str) -> None:
    error = refused(write(tmp_path, {**MINIMAL, stranger: "schema_version: 1\n"}))
    assert (error.file, error.problem) == (
        str(tmp_path / stranger),
        "file is no configuration file",
    )
    assert meant in error.fix


def test_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, MINIMAL)
    (tmp_path / RULES).mkdir()
    assert refused(tmp_path).problem == "not a plain file"


def test_pipe_in_place_of_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    write(tmp_path, MINIMAL)
    os.mkfifo(tmp_path / RULES)
    assert refused(tmp_path).problem == "not a plain file"


def test_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, MINIMAL)

    def denied(*args: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    error = refused(tmp_path)
    assert error.problem == "file cannot be read: Permission denied"


def test_yaml_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    text = GOOD[RULES] + "#" * YAML_BYTES
    assert "larger than" in refused(write(tmp_path, {**GOOD, RULES: text})).problem


def test_first_error_in_file_order_is_the_one(tmp_path: Path) -> None:
    text = GOOD[CATALOG].replace("mode: read", "mode: red").replace("object_types:", "types:")
    error = refused(write(tmp_path, {**GOOD, CATALOG: text}))
    assert "unknown key `types`" in error.problem


def test_missing_final_rule_is_refused(tmp_path: Path) -> None:
    text = GOOD[RULES][: GOOD[RULES].index("  - id: R-999")]
    error = refused(write(tmp_path, {**GOOD, RULES: text}))
    assert "the final rule is `R-040` and does not allow" in error.problem
    assert "then: ALLOW" in error.fix


def test_two_final_rules_are_refused(tmp_path: Path) -> None:
    final = GOOD[RULES][GOOD[RULES].index("  - id: R-999") :].replace("999", "998")
    error = refused(write(tmp_path, {**GOOD, RULES: GOOD[RULES] + final}))
    assert "`R-998` allows before the final rule" in error.problem


def test_rule_that_can_never_decide_is_refused(tmp_path: Path) -> None:
    rule = """\
  - id: R-015
    priority: 15
    applies_to: [FEES]
    when: {predicate: available, is: false}
    then: REJECT
    on_error: REJECT
"""
    text = GOOD[RULES].replace("  - id: R-020", rule + "  - id: R-020")
    error = refused(write(tmp_path, {**GOOD, RULES: text}))
    assert error.problem == "rule `R-015` can never decide: `R-010` always decides before it"
    assert error.line == line_of(tmp_path, RULES, "R-015")
    assert "smaller priority" in error.fix


def test_rule_that_reads_where_nothing_is_declared_is_refused(tmp_path: Path) -> None:
    files = {n: t for n, t in GOOD.items() if n != STATE}
    error = refused(write(tmp_path, files))
    assert "reads `available`, which state.yaml does not declare" in error.problem
    assert error.fix == "declare `available` in state.yaml"


def test_query_without_parameters_that_uses_one_is_refused(tmp_path: Path) -> None:
    error = refused(edited(tmp_path, QUERIES, "    parameters: {object: object}\n", ""))
    assert error.fix == "declare `object:`"


def test_dollar_in_an_sql_text_is_no_parameter(tmp_path: Path) -> None:
    folder = edited(tmp_path, QUERIES, "$object", "$object AND note = '$us it''s $5'")
    assert "$us" in load_institution(folder).queries["fund_price"].sql


def test_query_without_an_answer_in_a_language_is_refused(tmp_path: Path) -> None:
    files = {
        **GOOD,
        APPLIANCE: GOOD[APPLIANCE].replace("[en]", "[en, zh]"),
    }
    error = refused(write(tmp_path, files))
    assert error.problem == "query `fund_price` has no answer in the language `zh`"


@pytest.mark.parametrize(("file", "key"), [(QUERIES, "query"), (DOCUMENTS, "collection")])
def test_reference_into_a_file_that_is_not_there_is_refused(
    tmp_path: Path, file: str, key: str
) -> None:
    error = refused(write(tmp_path, {n: t for n, t in GOOD.items() if n != file}))
    assert f"names the {key} " in error.problem
    assert error.fix == f"declare it in {file}"


def test_duplicate_query_and_document_are_refused(tmp_path: Path) -> None:
    query = GOOD[QUERIES] + GOOD[QUERIES][GOOD[QUERIES].index("  - id") :]
    document = GOOD[DOCUMENTS] + GOOD[DOCUMENTS][GOOD[DOCUMENTS].index("  - file") :]
    error = refused(write(tmp_path, {**GOOD, QUERIES: query}))
    assert (error.problem, error.line) == ("query `fund_price` is listed twice", 8)
    error = refused(write(tmp_path, {**GOOD, DOCUMENTS: document}))
    assert (error.problem, error.line) == ("document `documents/fees.md` is listed twice", 10)


def test_document_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    text = GOOD[DOCUMENTS] + "    effective_to: 2025-12-31\n"
    error = refused(write(tmp_path, {**GOOD, DOCUMENTS: text}))
    assert (error.problem, error.line) == ("document `documents/fees.md` ends before it begins", 10)


def test_empty_registry_file_is_refused(tmp_path: Path) -> None:
    error = refused(write(tmp_path, {**GOOD, REGISTRY: ""}))
    assert (error.problem, error.line) == ("column `object_id` is missing", 1)


def test_registry_line_is_right_behind_a_quoted_line_break(tmp_path: Path) -> None:
    text = GOOD[REGISTRY].replace("Harbor Growth Fund", '"Harbor\nGrowth Fund"') + "F:X,FUNT,A,\n"
    error = refused(write(tmp_path, {**GOOD, REGISTRY: text}))
    assert error.line == 5
