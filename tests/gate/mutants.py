"""Hand-made mutants of the engine: each a plausible mistake, as one replacement of source text.

A mutant is loaded as a changed copy of one module and copies of those that import it, and has to
fail the battery of its module. To add one, append it to the list of its module; to cover another
module, add the module to `tests.gate.engine.PARTS` and its battery to `BATTERIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.gate import battery, controller_battery
from tests.gate.engine import Engine, changed, source_of


@dataclass(frozen=True)
class Mutant:
    """In `gate/<part>.py` the text `old`, which stands there once, becomes `new`."""

    part: str
    name: str
    old: str
    new: str


STATE = (
    Mutant("state", "undeclared_is_absent", "return Broken.UNDECLARED", "return Broken.ABSENT"),
    Mutant(
        "state",
        "undeclared_is_false",
        "    if predicate is None:\n        return Broken.UNDECLARED",
        "    if predicate is None:\n        return False",
    ),
    Mutant("state", "input_overrides_gate", "if name in state:", "if False:"),
    Mutant("state", "gate_values_for_all", "if predicate.source == GATE:", "if name in gate_values:"),
    Mutant("state", "refused_only_when_set", "if name in state:", "if state.get(name) is not None:"),
    Mutant(
        "state",
        "bare_values_are_fresh",
        "if predicate.max_age_s is not None and raw is not None:",
        "if False:",
    ),
    Mutant(
        "state",
        "extra_keys_pass",
        'if raw.keys() != {"value", "as_of"}:',
        'if not {"value", "as_of"} <= raw.keys():',
    ),
    Mutant("state", "as_of_unchecked", "    if isinstance(as_of, Broken):\n        return as_of\n", ""),
    Mutant("state", "no_age_limit", "limit is not None and now - as_of >", "False and now - as_of >"),
    Mutant(
        "state",
        "age_limit_exclusive",
        "now - as_of > timedelta(seconds=limit)",
        "now - as_of >= timedelta(seconds=limit)",
    ),
    Mutant("state", "age_backwards", "now - as_of > timedelta", "as_of - now > timedelta"),
    Mutant("state", "age_ignores_days", "now - as_of > timedelta(seconds=limit)",
           "(now - as_of).seconds > limit"),
    Mutant("state", "truthy_booleans", "(raw is True or raw is False)", "(raw in (0, 1))"),
    Mutant("state", "null_is_false", "    if raw is None:\n        return Broken.ABSENT",
           "    if raw is None:\n        return False"),
    Mutant("state", "ambiguous_is_absent", "return Broken.AMBIGUOUS", "return Broken.ABSENT"),
    Mutant("state", "enum_unchecked", "kind == TEXT or raw in predicate.values", "True"),
    Mutant("state", "texts_coerced", "if kind == BOOLEAN or type(raw) is not str:\n"
           "        return Broken.MISTYPED", "if kind == BOOLEAN:\n        return Broken.MISTYPED"),
    Mutant("state", "bool_is_number", "if type(raw) is int:", "if isinstance(raw, int):"),
    Mutant("state", "binary_floats", "Decimal(repr(raw))", "Decimal(raw)"),
    Mutant("state", "nan_passes", "return raw if raw.is_finite() else Broken.NOT_A_NUMBER",
           "return raw"),
    Mutant("state", "any_decimal_string", "if _NUMERAL.fullmatch(raw):", "if _NUMERAL.match(raw):"),
    Mutant("state", "exponents", r'[0-9]{1,40}(\.[0-9]{1,40})?")',
           r'[0-9]{1,40}(\.[0-9]{1,40})?(e[0-9]+)?")'),
    Mutant("state", "zoneless_times", "raw.utcoffset() is None", "False"),
    Mutant("state", "any_iso_time", "type(raw) is str and _RFC3339.fullmatch(raw)", "type(raw) is str"),
    Mutant("state", "bad_dates_raise", "except ValueError:", "except KeyError:"),
    Mutant("state", "future_passes", "return Broken.FUTURE if raw - now", "return raw if raw - now"),
    Mutant("state", "no_skew", "raw - now > timedelta(seconds=skew_s)", "raw > now"),
    Mutant("state", "skew_exclusive", "raw - now > timedelta(seconds=skew_s)",
           "raw - now >= timedelta(seconds=skew_s)"),
    Mutant("state", "one_skew_for_all", "_timestamp(raw, predicate.skew_s, now)",
           "_timestamp(raw, 2, now)"),
    Mutant("state", "reading_keeps_faults", "    if isinstance(value, Broken):\n"
           "        return Reading(name, None, value)\n", ""),
    Mutant("state", "boundless_skew", "if not 0 <= predicate.skew_s <= MAX_SKEW_S:", "if False:"),
    Mutant("state", "slots_from_state", "predicate.name.startswith(SLOT_PREFIX) and", "False and"),
)  # fmt: skip

CONDITIONS = (
    Mutant("conditions", "is_not", "values[predicate] == literal", "values[predicate] != literal"),
    Mutant("conditions", "in_first_only", "values[predicate] in literals",
           "values[predicate] == literals[0]"),
    Mutant("conditions", "gt_is_ge", '"gt": operator.gt', '"gt": operator.ge'),
    Mutant("conditions", "ge_is_gt", '"ge": operator.ge', '"ge": operator.gt'),
    Mutant("conditions", "lt_is_le", '"lt": operator.lt', '"lt": operator.le'),
    Mutant("conditions", "le_is_lt", '"le": operator.le', '"le": operator.lt'),
    Mutant("conditions", "any_bound", "        return all(\n            compare(",
           "        return any(\n            compare("),
    Mutant("conditions", "reference_unread",
           "                if isinstance(bound, Ref):\n"
           "                    yield mention(bound.predicate, _NUMBER)\n",
           "                pass\n"),
    Mutant("conditions", "equals_itself", "values[predicate] == values[ref.predicate]",
           "values[predicate] == values[predicate]"),
    Mutant("conditions", "second_field_unread",
           "            yield mention(ref.predicate, _ANY)\n", ""),
    Mutant("conditions", "older_inclusive", "past > older", "past >= older"),
    Mutant("conditions", "younger_inclusive", "past < younger", "past <= younger"),
    Mutant("conditions", "older_is_younger", "past > older", "past < older"),
    Mutant("conditions", "all_is_any", "all(test(values, now) for test in tests)",
           "any(test(values, now) for test in tests)"),
    Mutant("conditions", "any_is_all", "any(test(values, now) for test in tests)",
           "all(test(values, now) for test in tests)"),
    Mutant("conditions", "not_is_lost", "not test(values, now)", "test(values, now)"),
    Mutant("conditions", "not_is_unread",
           "        case Not(part):\n            yield from _mentions(part, guarded)\n",
           "        case Not(part):\n            return\n"),
    Mutant("conditions", "first_part_only", "            for part in parts:\n"
           "                yield from _mentions(part, guarded)\n",
           "            yield from _mentions(parts[0], guarded)\n"),
    Mutant("conditions", "optional_slots_required", "yield Need(condition.slot, _ANY, optional=True)",
           "yield Need(condition.slot, _ANY)"),
    Mutant("conditions", "guards_unlearned", "guarded | {condition.slot}", "guarded"),
    Mutant("conditions", "one_guard_for_all", "known.optional and need.optional",
           "known.optional or need.optional"),
    Mutant("conditions", "absent_slot_is_true",
           "values.get(slot, Broken.ABSENT) is not Broken.ABSENT and",
           "values.get(slot, Broken.ABSENT) is Broken.ABSENT or"),
    Mutant("conditions", "guarded_is_unread",
           "            yield from _mentions(condition.then, guarded | {condition.slot})\n", ""),
    Mutant("conditions", "types_unioned", "known.types & need.types", "known.types | need.types"),
    Mutant("conditions", "empty_list_accepted", "    if not parts:", "    if False:"),
    Mutant("conditions", "bool_is_a_bound", "isinstance(raw, bool) or not isinstance", "not isinstance"),
    Mutant("conditions", "unknown_enum_accepted", "if literal not in predicate.values:", "if False:"),
    Mutant("conditions", "units_ignored", "(one.type, one.unit) != (other.type, other.unit)",
           "one.type != other.type"),
)  # fmt: skip

RULES = (
    Mutant("rules", "priorities_backwards", "key=lambda rule: rule.priority",
           "key=lambda rule: -rule.priority"),
    Mutant("rules", "file_order", "sorted(distinct, key=lambda rule: rule.priority)",
           "sorted(distinct, key=lambda rule: rule.then == Boundary.ALLOW)"),
    Mutant("rules", "ties_by_id", "if above.priority == below.priority:", "if False:"),
    Mutant("rules", "default_optional",
           "if not ordered or ordered[-1].then != Boundary.ALLOW:", "if not ordered:"),
    Mutant("rules", "default_conditional", "default.when != Always() or", "False or"),
    Mutant("rules", "default_for_some", "or EVERY_ACTION not in default.applies_to", "or False"),
    Mutant("rules", "allow_anywhere", "if rule.then == Boundary.ALLOW:", "if False:"),
    Mutant("rules", "allow_on_error", "if rule.on_error == Boundary.ALLOW:", "if False:"),
    Mutant("rules", "on_error_optional", "if rule.on_error is None:", "if False:"),
    Mutant("rules", "last_content_wins",
           "elif repr(rule) == repr(kept[rule.rule_id]):", "elif True:"),
    Mutant("rules", "equal_is_identical", "elif repr(rule) == repr(kept[rule.rule_id]):",
           "elif rule == kept[rule.rule_id]:"),
    Mutant("rules", "silent_collapse", "            collapsed.append(rule.rule_id)\n",
           "            pass\n"),
    Mutant("rules", "reserved_ids", "or rule.rule_id.startswith(RESERVED_PREFIX)", "or False"),
    Mutant("rules", "applies_to_all", "EVERY_ACTION in rule.applies_to or action_id in", "True or"),
    Mutant("rules", "star_is_forgotten",
           "return EVERY_ACTION in rule.applies_to or action_id", "return action_id"),
    Mutant("rules", "no_action_no_rules",
           "            return self.everywhere", "            return ()"),
    Mutant("rules", "unnamed_action_no_rules",
           "self.named.get(action_id, self.everywhere)", "self.named.get(action_id, ())"),
    Mutant("rules", "kleene", "            if type(values[name]) not in fits:",
           "            if type(values[name]) not in fits and not step.test(values, now):"),
    Mutant("rules", "last_fault_counts", "            if type(values[name]) not in fits:\n"
           "                sound = False", "            sound = type(values[name]) in fits"),
    Mutant("rules", "types_unchecked", "if type(values[name]) not in fits:",
           "if type(values[name]) is Broken:"),
    Mutant("rules", "errors_are_false", "return PENDING if unfilled else ERROR",
           "return PENDING if unfilled else FALSE"),
    Mutant("rules", "errors_are_pending", "return PENDING if unfilled else ERROR", "return PENDING"),
    Mutant("rules", "pending_is_error", "return PENDING if unfilled else ERROR", "return ERROR"),
    Mutant("rules", "one_slot_is_enough", "    unfilled = all(\n", "    unfilled = any(\n"),
    Mutant("rules", "gate_values_pend", "fault.name.startswith(SLOT_PREFIX) and ", ""),
    Mutant("rules", "broken_slots_pend", " and fault.broken in _UNFILLED", ""),
    Mutant("rules", "ambiguous_errs", "(Broken.ABSENT, Broken.AMBIGUOUS)", "(Broken.ABSENT,)"),
    Mutant("rules", "optional_required", "value is Broken.ABSENT and name in step.optional",
           "False and name in step.optional"),
    Mutant("rules", "optional_may_be_broken", "value is Broken.ABSENT and name in step.optional",
           "name in step.optional"),
    Mutant("rules", "pending_decides", "        if outcome is PENDING:\n"
           "            pending[step.rule.rule_id] = codes\n            continue\n", ""),
    Mutant("rules", "pending_forgotten", "            pending[step.rule.rule_id] = codes\n", ""),
    Mutant("rules", "pending_allows", "    if pending:\n        codes =",
           "    if False:\n        codes ="),
    Mutant("rules", "error_takes_then", "step.rule.then if outcome is TRUE else step.on_error",
           "step.rule.then"),
    Mutant("rules", "true_takes_on_error", "step.rule.then if outcome is TRUE else step.on_error",
           "step.on_error"),
    Mutant("rules", "true_goes_on", "        if outcome is FALSE:\n",
           "        if outcome is FALSE or outcome is TRUE:\n"),
    Mutant("rules", "error_goes_on", "        if outcome is FALSE:\n",
           "        if outcome is FALSE or outcome is ERROR:\n"),
    Mutant("rules", "slots_unseen", "_with_slots(gate_values, slots) if slots else gate_values",
           "gate_values"),
    Mutant("rules", "codes_lost", "codes, tuple(pending), tuple(seen))\n    return",
           "(), tuple(pending), tuple(seen))\n    return"),
    Mutant("rules", "pending_lost", "codes, tuple(pending), tuple(seen))\n    return",
           "codes, (), tuple(seen))\n    return"),
    Mutant("rules", "trace_always", "        if trace:\n", "        if True:\n"),
    Mutant("rules", "default_untraced", "TRUE, ())) if trace else ()", "TRUE, ())) if False else ()"),
)  # fmt: skip

CONTROLLER = (
    Mutant("controller", "any_language", "if findings.language is None:", "if False:"),
    Mutant("controller", "no_rules_without_commitment",
           "    if found.allowed:\n        verdict", "    if True:\n        verdict"),
    Mutant("controller", "failed_action_forgotten",
           "return configuration.catalog.get(contract.action_id)", "return None"),
    Mutant("controller", "rules_of_no_action", "action.action_id if action else None", "None"),
    Mutant("controller", "state_always_off", "    if switches.no_state:", "    if True:"),
    Mutant("controller", "no_closing_checks", "for reserved, closes in CHECKS:",
           "for reserved, closes in ():"),
    Mutant("controller", "last_check_names_it", "for reserved, closes in CHECKS:",
           "for reserved, closes in CHECKS[::-1]:"),
    Mutant("controller", "several_requests_pass", "    (Reserved.MULTI, _multi),\n", ""),
    Mutant("controller", "direction_passes", "    (Reserved.DIRECTION, _direction),\n", ""),
    Mutant("controller", "no_action_evidence_needed", "    (Reserved.ACTION, _action),\n", ""),
    Mutant("controller", "no_object_needed", "    (Reserved.OBJECT, _object_check),\n", ""),
    Mutant("controller", "no_confidence_needed", "    (Reserved.CONFIDENCE, _confidence),\n", ""),
    Mutant("controller", "writes_on_a_question", "        (Direction.WRITE, Direction.MIXED)\n",
           "        (Direction.WRITE, Direction.MIXED, Direction.READ)\n"),
    Mutant("controller", "reads_on_an_order", "else (Direction.READ, Direction.UNDECLARED)",
           "else (Direction.READ, Direction.UNDECLARED, Direction.WRITE)"),
    Mutant("controller", "any_verb_is_evidence", "    if not mine:\n", "    if False:\n"),
    Mutant("controller", "second_write_passes",
           "    if any(not any(_contains(m, o) for m in mine) for o in others):\n",
           "    if False:\n"),
    Mutant("controller", "shared_verb_is_own", "if a.actions != (case.action.action_id,)",
           "if case.action.action_id not in a.actions"),
    Mutant("controller", "null_confidence_passes", "    if confidence is None:\n",
           "    if False and confidence is None:\n"),
    Mutant("controller", "threshold_exclusive", "confidence < threshold", "confidence <= threshold"),
    Mutant("controller", "threshold_ignored", "confidence < threshold", "False"),
    Mutant("controller", "proposed_object_wins",
           "    return Resolution(UNRESOLVED, \"PROPOSAL_DISAGREES\", options)",
           "    return Resolution(proposal.object_id, \"\")"),
    Mutant("controller", "none_is_an_object",
           "case.resolution.object_id == NONE and not case.action.object_required",
           "not case.resolution.resolved"),
    Mutant("controller", "closing_terminal_dispatches",
           "terminal = case.configuration.terminals[closing[0]]", "pass"),
    Mutant("controller", "no_options",
           "_options(case, decider, reasons) if terminal is Terminal.CLARIFY else ()", "()"),
    Mutant("controller", "nothing_stands_as_it_is",
           "    if (beside or decider in OFFERED) and not _object_check(case):\n", "    if False:\n"),
    Mutant("controller", "confirmations_are_offered",
           "    if (beside or decider in OFFERED) and not _object_check(case):\n",
           "    if not _object_check(case):\n"),
    # Confirmation.
    Mutant("controller", "no_confirmation_needed", "    (Reserved.CONFIRM, _confirm),\n", ""),
    Mutant("controller", "pins_before_confirmation",
           "    (Reserved.CONFIRM, _confirm),\n    (Reserved.STATE, _state),\n",
           "    (Reserved.STATE, _state),\n    (Reserved.CONFIRM, _confirm),\n"),
    Mutant("controller", "confirmation_before_confidence",
           "    (Reserved.CONFIDENCE, _confidence),\n    (Reserved.CONFIRM, _confirm),\n",
           "    (Reserved.CONFIRM, _confirm),\n    (Reserved.CONFIDENCE, _confidence),\n"),
    Mutant("controller", "reads_are_confirmed",
           "    if case.action.mode is not Mode.WRITE:\n        return ()\n    earlier =",
           "    earlier ="),
    Mutant("controller", "anybody_confirms",
           "    if case.situation.session is None:\n        return (\"NO_SUBJECT\",)\n", ""),
    Mutant("controller", "unconfirmed_passes",
           "        return (confirmation.NEEDED,)\n", "        return ()\n"),
    Mutant("controller", "any_confirmation_counts",
           "    if earlier.confirmed.write != _write(case):\n", "    if False:\n"),
    Mutant("controller", "actions_alone_are_compared", "earlier.confirmed.write != _write(case)",
           "earlier.confirmed.write.action_id != case.action.action_id"),
    Mutant("controller", "actions_are_not_compared", "earlier.confirmed.write != _write(case)",
           "replace(earlier.confirmed.write, action_id=case.action.action_id) != _write(case)"),
    Mutant("controller", "objects_are_not_compared", "earlier.confirmed.write != _write(case)",
           "replace(earlier.confirmed.write, object_id=_write(case).object_id) != _write(case)"),
    Mutant("controller", "slots_are_not_compared", "earlier.confirmed.write != _write(case)",
           "replace(earlier.confirmed.write, slots=_write(case).slots) != _write(case)"),
    Mutant("controller", "unfit_is_sent",
           "    if earlier.unfit:\n        return (earlier.unfit,)\n", ""),
    Mutant("controller", "done_meanwhile_is_done_again",
           "return (confirmation.DONE_MEANWHILE,) if earlier.equal is not None else ()", "return ()"),
    Mutant("controller", "open_is_asked_about",
           "    if earlier.equal is not None and earlier.equal.open:\n        return ()\n", ""),
    Mutant("controller", "done_is_open_to_confirmation",
           "    if earlier.equal is not None and earlier.equal.open:\n",
           "    if earlier.equal is not None:\n"),
    Mutant("controller", "refused_tokens_are_forgotten",
           "    if situation.earlier.refused:\n"
           "        return Reserved.CONFIRM, (situation.earlier.refused,)\n", ""),
    Mutant("controller", "refused_tokens_need_a_language",
           "    if situation.earlier.refused:\n",
           "    if situation.earlier.refused and findings.language is not None:\n"),
    # Pins and equal writes.
    Mutant("controller", "pins_pass", "    (Reserved.STATE, _state),\n", ""),
    Mutant("controller", "unknown_pins_pass", "confirmed.pins.get(name) != now[name]",
           "confirmed.pins.get(name, now[name]) != now[name]"),
    Mutant("controller", "pins_of_other_actions",
           "for name in now if confirmed.pins.get(name) != now[name]",
           "for name in confirmed.pins if confirmed.pins[name] != now.get(name)"),
    Mutant("controller", "duplicates_pass", "    (Reserved.DUPLICATE, _duplicate),\n", ""),
    Mutant("controller", "duplicates_before_pins",
           "    (Reserved.STATE, _state),\n    (Reserved.DUPLICATE, _duplicate),\n",
           "    (Reserved.DUPLICATE, _duplicate),\n    (Reserved.STATE, _state),\n"),
    Mutant("controller", "open_is_done", "or equal is None or not equal.open:",
           "or equal is None or equal.open:"),
    # The limit of clarifications.
    Mutant("controller", "one_clarification_more", "asked < most or", "asked <= most or"),
    Mutant("controller", "one_clarification_less", "asked < most or", "asked + 1 < most or"),
    Mutant("controller", "no_limit", "asked < most or", "True or"),
    Mutant("controller", "limited_confirmations", " or confirmation.asks(verdict):", ":"),
    Mutant("controller", "everything_is_limited",
           "verdict.terminal is not Terminal.CLARIFY or asked < most",
           "verdict.terminal is Terminal.DISPATCH or asked < most"),
    Mutant("controller", "limited_dispatches",
           "verdict.terminal is not Terminal.CLARIFY or asked < most",
           "verdict.terminal not in (Terminal.CLARIFY, Terminal.DISPATCH) or asked < most"),
    Mutant("controller", "limited_but_clarified",
           "terminal=configuration.terminals[Reserved.DIALOGUE],", "terminal=verdict.terminal,"),
    Mutant("controller", "limited_under_another_name",
           "rule_id=Reserved.DIALOGUE.value,", "rule_id=verdict.rule_id,"),
    Mutant("controller", "limited_but_offered", "        options=(),\n", ""),
    Mutant("controller", "limited_without_cause",
           "(\"CLARIFICATIONS_USED_UP\", verdict.rule_id)", "(\"CLARIFICATIONS_USED_UP\",)"),
)  # fmt: skip

MUTANTS = STATE + CONDITIONS + RULES + CONTROLLER
BATTERIES: Mapping[str, Callable[[Engine], None]] = {
    "state": battery.run,
    "conditions": battery.run,
    "rules": battery.run,
    "controller": controller_battery.run,
}


def survives(mutant: Mutant) -> bool:
    """Whether the mutant passes the battery of its module; ValueError if it no longer applies."""
    source = source_of(mutant.part)
    if source.count(mutant.old) != 1:
        raise ValueError(
            f"mutant `{mutant.name}`: its text stands {source.count(mutant.old)} times"
        )
    text = source.replace(mutant.old, mutant.new)
    try:
        with changed(f"mutant_{mutant.name}", mutant.part, text) as engine:
            BATTERIES[mutant.part](engine)
    except Exception:
        return False
    return True
