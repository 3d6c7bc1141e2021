"""`rules.yaml`: the priority rules, held against catalog and state; the rules without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from gate import lint, rules
from gate.catalog import Action, Catalog
from gate.conditions import Always, misfits, needs
from gate.errors import ConfigError
from gate.load.conditions import ConditionField, condition
from gate.load.fixes import did_you_mean, placed, quoted, shown
from gate.load.model import FileModel, Identifier, Model, Text, validate
from gate.load.queries import SUBJECT, Query
from gate.load.yamlfile import Document, Loc
from gate.records import Boundary, Mode
from gate.rules import EVERY_ACTION, Rule, RuleSet
from gate.state import SLOT_PREFIX, Predicate

DEFAULT_VERSION: Final = "default"

Bounded = Literal["CLARIFY", "DEFER", "HANDOFF", "REJECT"]


class RuleModel(Model):
    """One rule."""

    id: Identifier
    """Id in records and logs."""
    priority: Annotated[int, Field(ge=0, le=1_000_000)]
    """Smaller is read first; no two rules share one."""
    applies_to: Annotated[list[Text], Field(min_length=1)]
    """Action ids, or `*` for every request."""
    when: ConditionField
    """Condition; `{}` is always true."""
    then: Literal["ALLOW", "CLARIFY", "DEFER", "HANDOFF", "REJECT"]
    """What follows if it is true; only the final rule may say ALLOW."""
    on_error: Bounded | None = None
    """What follows if an input is absent, stale or mistyped; required, but for the final rule."""
    explain: Text | None = None
    """Why, in one sentence, for channels and auditors."""


class RulesFile(FileModel):
    """The priority rules."""

    version: Text
    """Version of the rules, for records."""
    rules: Annotated[list[RuleModel], Field(min_length=1)]
    """The rules; the order in the file does not matter."""


def read(document: Document, catalog: Catalog, predicates: Mapping[str, Predicate]) -> RuleSet:
    """The rules; ConfigError with file, line and fix for whatever could not be meant.

    Besides what `gate.rules.build` refuses: an unknown action or predicate, a value that a
    predicate cannot have, fields that must not be compared, and a rule that can never decide.
    """
    file = validate(RulesFile, document)
    found = [
        _rule(document, ("rules", index), model, catalog, predicates)
        for index, model in enumerate(file.rules)
    ]
    lines = document.lines_of("rules", [r.rule_id for r in found])
    try:
        built = rules.build(found, file.version)
    except ConfigError as error:
        raise placed(error, document.path, {"": [document.line(("rules",))], **lines}) from error
    _refuse_unreachable(document, built, catalog, lines)
    return built


def _rule(
    document: Document,
    loc: Loc,
    model: RuleModel,
    catalog: Catalog,
    predicates: Mapping[str, Predicate],
) -> Rule:
    for index, name in enumerate(model.applies_to):
        if name != EVERY_ACTION and name not in catalog.actions:
            problem = f"rule `{model.id}` names the action `{shown(name)}`, which the catalog lacks"
            fix = did_you_mean(name, (*catalog.actions, EVERY_ACTION))
            raise document.error(problem, (*loc, "applies_to", index), fix)
    when_at = (*loc, "when")
    try:
        when = condition(model.when)
    except ConfigError as error:
        place = document.find(when_at, quoted(error.problem))
        raise document.error(error.problem, place, error.fix) from error
    rule = Rule(
        rule_id=model.id,
        priority=model.priority,
        applies_to=tuple(dict.fromkeys(model.applies_to)),
        when=when,
        then=Boundary(model.then),
        on_error=Boundary(model.on_error) if model.on_error else None,
        explain=model.explain or "",
    )
    _check_reads(document, when_at, rule, catalog, predicates)
    return rule


def _check_reads(
    document: Document,
    loc: Loc,
    rule: Rule,
    catalog: Catalog,
    predicates: Mapping[str, Predicate],
) -> None:
    """Every predicate that the rule reads is declared, fits its use, and can have a value."""
    for name in (need.name for need in needs(rule.when)):
        if name not in predicates:
            raise document.error(
                f"rule `{rule.rule_id}` reads `{shown(name)}`, which state.yaml does not declare",
                document.find(loc, [name]),
                did_you_mean(name, predicates) if predicates else f"declare `{name}` in state.yaml",
            )
        if name.startswith(SLOT_PREFIX) and not _has_slot(rule, catalog, name):
            raise document.error(
                f"rule `{rule.rule_id}` reads `{name}`, a slot that none of its actions has",
                document.find(loc, [name]),
                "add the slot to the action in catalog.yaml, or correct `applies_to`",
            )
    for problem in misfits(rule.when, predicates):
        raise document.error(
            f"rule `{rule.rule_id}`: {problem}",
            document.find(loc, quoted(problem)[::-1]),
            "correct the rule, or the declaration in state.yaml",
        )


def _has_slot(rule: Rule, catalog: Catalog, name: str) -> bool:
    slot = name.removeprefix(SLOT_PREFIX)
    return any(
        slot in action.slots
        for action in catalog.actions.values()
        if EVERY_ACTION in rule.applies_to or action.action_id in rule.applies_to
    )


def _refuse_unreachable(
    document: Document, built: RuleSet, catalog: Catalog, lines: Mapping[str, list[int]]
) -> None:
    for lower, above in lint.unreachable(built, catalog):
        raise ConfigError(
            f"rule `{lower.rule_id}` can never decide: "
            + " or ".join(f"`{a}`" for a in above)
            + " always decides before it",
            file=document.path,
            line=lines[lower.rule_id][-1],
            fix="remove it, or give it a smaller priority than the rule before it",
        )


def default(catalog: Catalog, queries: Mapping[str, Query]) -> RuleSet:
    """The rules of an institution without `rules.yaml`: public reads only.

    Nothing was said about who may do what, so nobody may change anything or see a customer's own
    data: every action that is not declared `read`, permits an own object type or runs a query of
    the subject's scope goes to a person. Public reads have nothing to protect and are allowed.
    """
    closed = tuple(i for i, a in catalog.actions.items() if not _is_public(a, catalog, queries))
    handoff = Rule(
        "DEFAULT-HANDOFF",
        10,
        closed,
        Always(),
        Boundary.HANDOFF,
        Boundary.HANDOFF,
        "No rules are configured, so only public information is given",
    )
    allow = Rule(
        "DEFAULT-ALLOW",
        999,
        (EVERY_ACTION,),
        Always(),
        Boundary.ALLOW,
        None,
        "Public information needs no permission",
    )
    return rules.build((handoff, allow) if closed else (allow,), DEFAULT_VERSION)


def _is_public(action: Action, catalog: Catalog, queries: Mapping[str, Query]) -> bool:
    own = any(catalog.object_types[t].own for t in action.types)
    query = queries.get(action.query or "")
    personal = query is not None and query.scope == SUBJECT
    return action.mode is Mode.READ and not own and not personal
