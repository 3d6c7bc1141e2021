"""Institution folders for tests: one small good one, and edits that break it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gate.errors import ConfigError
from gate.load import load_institution

APPLIANCE = """\
schema_version: 1
name: corner
title: Corner Bank
languages: [en]
channels: [web]
tiers:
  - {name: phrases}
  - {name: fast, kind: setfit, model: var/models/fast, threshold: "0.60"}
terminals:
  G-SCOPE: HANDOFF
"""

CATALOG = """\
schema_version: 1
version: "3"
object_types:
  FUND:
    nouns: {en: [Fund, funds]}
    shapes: ["AAA99"]
  CARD:
    nouns: {en: [card]}
    own: true
actions:
  - id: FUND_PRICE
    name: Fund price
    description: Latest price of one fund
    mode: read
    pathway: records
    objects: [FUND]
    query: fund_price
  - id: FEES
    name: Fees
    description: What things cost
    mode: read
    pathway: documents
    objects: [NONE, FUND]
    collection: fees
  - id: FREEZE
    name: Freeze a card
    description: Freeze one card
    mode: write
    pathway: connector
    objects: [CARD]
    object_from: [text, session]
    slots: [amount]
    verbs: {en: [Freeze, block]}
    nouns: {en: [card]}
    confirm: {en: "Freeze {object}, with {amount} left?"}
"""

REGISTRY = """\
object_id,object_type,display_name,aliases
F:ONE,FUND,Harbor Growth Fund,HGF01|harbor growth
F:TWO,FUND,Harbor Value Fund,HVF02
"""

STATE = """\
schema_version: 1
sources:
  core: {skew_s: 5}
predicates:
  - {name: available, type: boolean, source: core}
  - {name: balance, type: number, unit: USD, source: core, max_age_s: 60}
  - {name: minimum, type: number, unit: USD, source: core, pin: true}
  - {name: tier, type: enum, values: [low, high], source: core}
  - {name: reviewed_at, type: timestamp, source: core}
  - {name: terms, type: text, source: core}
  - {name: terms_now, type: text, source: core}
  - {name: entity_resolved, type: boolean, source: gate}
  - {name: slot.amount, type: number, unit: USD, source: gate}
"""

RULES = """\
schema_version: 1
version: "2"
rules:
  - id: R-010
    priority: 10
    applies_to: ["*"]
    when: {predicate: available, is: false}
    then: DEFER
    on_error: DEFER
    explain: Not available
  - id: R-020
    priority: 20
    applies_to: [FREEZE]
    when:
      any:
        - {predicate: balance, lt: 0}
        - all:
            - {predicate: tier, in: [high]}
            - {not: {predicate: terms, equals: {predicate: terms_now}}}
        - {predicate: reviewed_at, older_than: 365d}
    then: HANDOFF
    on_error: HANDOFF
  - id: R-030
    priority: 30
    applies_to: [FREEZE]
    when: {if_present: slot.amount, then: {predicate: slot.amount, gt: {predicate: minimum}}}
    then: REJECT
    on_error: CLARIFY
  - id: R-040
    priority: 40
    applies_to: [FUND_PRICE]
    when: {predicate: entity_resolved, is: false}
    then: CLARIFY
    on_error: CLARIFY
  - id: R-999
    priority: 999
    applies_to: ["*"]
    when: {}
    then: ALLOW
"""

SLOTS = """\
schema_version: 1
slots:
  - {name: amount, type: amount, currencies: [USD], minimum: "0.01", maximum: 1000000}
  - {name: day, type: date, optional: true}
  - {name: card, type: object, object_types: [CARD], optional: true}
"""

PHRASES = """\
schema_version: 1
phrases:
  - action: FEES
    language: en
    texts: ["What does it cost?", "fees"]
    examples: {meant: ["What does it cost?"], not_meant: [what does he cost]}
  - action: FREEZE
    language: en
    texts:
      - freeze my card
    examples: {meant: [Freeze my card!], not_meant: [freeze my account]}
"""

QUERIES = """\
schema_version: 1
queries:
  - id: fund_price
    sql: SELECT price FROM prices WHERE fund_id = $object
    parameters: {object: object}
    scope: null
    answer: {en: "It costs {price}."}
"""

DOCUMENTS = """\
schema_version: 1
collections:
  fees: ["documents/*.md"]
documents:
  - file: documents/fees.md
    title: Fees
    version: "1"
    effective_from: 2026-01-01
    labels: [public]
"""

GOOD: Mapping[str, str] = {
    "appliance.yaml": APPLIANCE,
    "catalog.yaml": CATALOG,
    "registry.csv": REGISTRY,
    "state.yaml": STATE,
    "rules.yaml": RULES,
    "slots.yaml": SLOTS,
    "phrases.yaml": PHRASES,
    "queries.yaml": QUERIES,
    "documents.yaml": DOCUMENTS,
    "documents/fees.md": "# Fees\n",
}
"""Every file of the small good folder."""

MINIMAL: Mapping[str, str] = {
    "appliance.yaml": "schema_version: 1\nname: tiny\n",
    "catalog.yaml": """\
schema_version: 1
version: "1"
object_types:
  CARD: {own: true}
actions:
  - {id: HOURS, name: Hours, description: When it is open, mode: read}
  - {id: MOVE, name: Move, description: Move house, mode: write, confirm: {en: "Move?"}}
  - {id: MY_CARD, name: My card, description: Its state, mode: read, objects: [CARD]}
""",
}
"""The two required files alone."""


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files into the folder and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def edited(folder: Path, file: str, old: str, new: str) -> Path:
    """The good folder with one passage of one file changed."""
    assert GOOD[file].count(old) >= 1, f"{old!r} is not in {file}"
    return write(folder, {**GOOD, file: GOOD[file].replace(old, new, 1)})


def refused(folder: Path, *, bench: bool = False) -> ConfigError:
    """The one error with which a folder refuses to load; it names a file and a fix."""
    with pytest.raises(ConfigError) as caught:
        load_institution(folder, bench=bench)
    error = caught.value
    assert error.file and error.fix, error
    assert Path(error.file).name, error
    assert "\n" not in str(error)
    assert not str(error).endswith(".")
    return error


def line_of(folder: Path, file: str, mark: str) -> int:
    """The line of the last place where `mark` stands in a file."""
    text = (folder / file).read_text(encoding="utf-8")
    return text.count("\n", 0, text.rindex(mark)) + 1
