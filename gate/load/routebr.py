"""A folder with the three CSV files of the RouteBR artifact, as they are published.

`catalog.csv`, `entity_catalog.csv` and `boundary_rules.csv` have no modes, no state declarations
and no languages, so this loader supplies them: the eight booleans and `policy_version` as state,
every object of type ETF with its security code as alias, Chinese, and bare history strings as user
turns. Without modes the folder loads for benchmarks and the gate alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gate import registry, rules
from gate.catalog import Action, Catalog, ObjectType
from gate.conditions import All, Always, Condition, Is
from gate.configuration import Configuration, DialogueLimits, Limits
from gate.errors import ConfigError
from gate.load import csvfile, documents, language, phrases, queries
from gate.load.appliance import DEFAULT_TERMINALS, Appliance, Paths, Tier
from gate.load.csvfile import Row, Table
from gate.load.digests import CSV_BYTES, digests, read
from gate.load.fixes import did_you_mean, placed, shown
from gate.load.institution import Institution
from gate.records import NONE, Boundary, Entry
from gate.registry import Registry
from gate.rules import EVERY_ACTION, Rule, RuleSet
from gate.state import BOOLEAN, TEXT, Predicate

FILES: Final = ("catalog.csv", "entity_catalog.csv", "boundary_rules.csv")

LANGUAGE: Final = "zh"
CHANNEL: Final = "bench"
ETF: Final = "ETF"

BOOLEANS: Final = (
    "identity_verified",
    "entity_resolved",
    "action_permission",
    "service_available",
    "context_fresh",
    "safety_escalation_required",
    "request_supported",
    "request_scope_clear",
)
"""The artifact's runtime context; `entity_resolved` too is supplied there, not computed."""

PREDICATES: Final[Mapping[str, Predicate]] = MappingProxyType(
    {
        **{name: Predicate(name, BOOLEAN, "state") for name in BOOLEANS},
        "policy_version": Predicate("policy_version", TEXT, "state"),
    }
)

OBJECT_TYPES: Final[Mapping[str, ObjectType]] = MappingProxyType(
    {
        ETF: ObjectType(ETF, MappingProxyType({LANGUAGE: ("etf", "基金")}), ("999999",)),
        "TOPIC": ObjectType("TOPIC"),
        "ACCOUNT": ObjectType("ACCOUNT"),
        "SERVICE": ObjectType("SERVICE"),
    }
)
"""The artifact's object types; its registry holds ETFs alone, whose codes have six digits."""

ON_ERROR: Final = Boundary.HANDOFF
"""Terminal of every rule whose input is broken, which the artifact leaves open.

A customer cannot mend broken state, so asking back is no help; and what a rule would have said
(REJECT, DEFER) may be untrue. A person looks at it.
"""

_CATALOG = ("action_id", "service_name", "description", "required_object_types")
_ENTITIES = ("object_id", "security_code", "official_short_name")
_RULES = (
    "rule_id", "priority", "applies_to", "condition_json", "decision", "explanation", "version",
)  # fmt: skip


def is_artifact(folder: Path) -> bool:
    """True for a folder that holds one of the artifact's files and no `appliance.yaml`."""
    found = any((folder / name).exists() for name in FILES)
    return found and not (folder / "appliance.yaml").exists()


def load(folder: Path, *, bench: bool) -> Institution:
    """The folder as an institution; ConfigError with file, line and fix, always without `bench`."""
    sources = {name: read(folder, name, CSV_BYTES) for name in FILES}
    if not bench:
        raise ConfigError(
            "the artifact's actions have no mode",
            file=sources["catalog.csv"].path,
            line=1,
            fix="such a folder loads only for `gate` and `bench`; to serve, write a catalog.yaml",
        )
    catalog = _catalog(csvfile.parse(sources["catalog.csv"], _CATALOG, None))
    objects = _registry(csvfile.parse(sources["entity_catalog.csv"], _ENTITIES, None))
    ruleset = _ruleset(csvfile.parse(sources["boundary_rules.csv"], _RULES, None), catalog)
    pack, pack_source = language.load(folder, LANGUAGE)
    settings = _settings()
    configuration = Configuration(
        name=settings.name,
        catalog=catalog,
        registry=objects,
        predicates=PREDICATES,
        rules=ruleset,
        packs=MappingProxyType({LANGUAGE: pack}),
        languages=settings.languages,
        terminals=settings.terminals,
        title=settings.title,
        limits=settings.limits,
        channels=settings.channels,
        history_turns=settings.history_turns,
        history_role=settings.history_role,
        digests=digests((*sources.values(), pack_source)),
    )
    return Institution(
        folder, configuration, settings, phrases.EMPTY, queries.EMPTY, documents.EMPTY
    )


def _settings() -> Appliance:
    return Appliance(
        name="routebr",
        title="RouteBR",
        languages=(LANGUAGE,),
        history_turns=4,
        history_role="user",
        channels=(CHANNEL,),
        tiers=(Tier("phrases", "phrases"),),
        limits=Limits(),
        dialogue=DialogueLimits(),
        terminals=DEFAULT_TERMINALS,
        paths=Paths(
            "var/routebr/ledger.sqlite",
            "var/routebr/receipts.sqlite",
            "var/routebr/index",
            "var/routebr/database.duckdb",
            "documents",
        ),
    )


def _catalog(table: Table) -> Catalog:
    """The actions; the catalog's version is the beginning of its digest."""
    actions: dict[str, Action] = {}
    for row in table.rows:
        action_id = row.fields["action_id"]
        if action_id in actions:
            raise table.error(
                f"action `{shown(action_id)}` is listed twice", row.line, "remove one"
            )
        objects = tuple(dict.fromkeys(row.fields["required_object_types"].split("|")))
        for name in objects:
            if name != NONE and name not in OBJECT_TYPES:
                problem = f"unknown object type `{shown(name)}`"
                raise table.error(problem, row.line, did_you_mean(name, (*OBJECT_TYPES, NONE)))
        actions[action_id] = Action(
            action_id=action_id,
            name=row.fields["service_name"],
            description=row.fields["description"],
            mode=None,
            pathway="none",
            objects=objects,
        )
    version = table.source.digest[:12]
    return Catalog(version, MappingProxyType(actions), OBJECT_TYPES)


def _registry(table: Table) -> Registry:
    lines: dict[str, list[int]] = {}

    def entries() -> Iterator[Entry]:
        for row in table.rows:
            object_id, code, name = (row.fields[c] for c in _ENTITIES)
            if not (object_id and code and name):
                fix = "fill in object_id, security_code and official_short_name"
                raise table.error("row lacks a field", row.line, fix)
            lines.setdefault(object_id, []).append(row.line)
            yield Entry(object_id, ETF, name, (code,))

    try:
        return registry.build(entries())
    except ConfigError as error:
        raise error if error.file else placed(error, table.source.path, lines) from error


def _ruleset(table: Table, catalog: Catalog) -> RuleSet:
    lines: dict[str, list[int]] = {}
    found: list[Rule] = []
    for row in table.rows:
        rule = _rule(table, row, catalog)
        lines.setdefault(rule.rule_id, []).append(row.line)
        found.append(rule)
    version = "+".join(sorted({r.version for r in found}))
    try:
        return rules.build(found, version)
    except ConfigError as error:
        raise placed(error, table.source.path, lines) from error


def _rule(table: Table, row: Row, catalog: Catalog) -> Rule:
    fields = row.fields
    if not fields["priority"].isascii() or not fields["priority"].isdigit():
        problem = f"priority `{shown(fields['priority'])}` is no whole number"
        raise table.error(problem, row.line, "write a whole number")
    if fields["decision"] not in {b.value for b in Boundary}:
        problem = f"unknown decision `{shown(fields['decision'])}`"
        raise table.error(problem, row.line, did_you_mean(fields["decision"], Boundary))
    applies_to = tuple(dict.fromkeys(fields["applies_to"].split("|")))
    for name in applies_to:
        if name != EVERY_ACTION and name not in catalog.actions:
            problem = f"rule `{shown(fields['rule_id'])}` names the unknown action `{shown(name)}`"
            raise table.error(problem, row.line, did_you_mean(name, (*catalog.actions, "*")))
    decision = Boundary(fields["decision"])
    return Rule(
        rule_id=fields["rule_id"],
        priority=int(fields["priority"]),
        applies_to=applies_to,
        when=_condition(table, row),
        then=decision,
        on_error=None if decision is Boundary.ALLOW else ON_ERROR,
        explain=fields["explanation"],
        version=fields["version"],
    )


def _condition(table: Table, row: Row) -> Condition:
    """`{}`, or an object of booleans and texts that must all be equal."""
    try:
        wanted: Any = json.loads(row.fields["condition_json"])
    except (ValueError, RecursionError) as error:
        raise table.error("condition is not JSON", row.line, 'write `{"name":true}`') from error
    if not isinstance(wanted, dict):
        raise table.error("condition is no JSON object", row.line, 'write `{"name":true}`')
    parts = tuple(_equal(table, row, name, value) for name, value in wanted.items())
    if not parts:
        return Always()
    return parts[0] if len(parts) == 1 else All(parts)


def _equal(table: Table, row: Row, name: str, value: Any) -> Is:
    if name not in PREDICATES:
        problem = f"condition reads the unknown predicate `{shown(name)}`"
        raise table.error(problem, row.line, did_you_mean(name, PREDICATES))
    wanted = bool if PREDICATES[name].type == BOOLEAN else str
    if type(value) is not wanted:
        fix = "write true or false" if wanted is bool else "write a text"
        raise table.error(f"`{name}` is compared with `{shown(value)}`", row.line, fix)
    return Is(name, value)
