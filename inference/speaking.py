"""What is said where a request ends bounded, in the language it was read in."""

from __future__ import annotations

from dataclasses import replace

from gate.language import LanguagePack
from gate.records import Entry, Reserved
from gate.resolution import closed_lists
from gate.resolution import entry_of as listed
from gate.slots import open_in
from inference import messages
from inference.appliance import Appliance
from inference.routed import BOUNDED, Answered, Routed


def pack_of(appliance: Appliance, routed: Routed) -> LanguagePack:
    """The words of the language that the request was read in, or of the default one."""
    configuration = appliance.configuration
    language = routed.findings.language
    return configuration.packs[language] if language else configuration.pack


def entry_of(appliance: Appliance, routed: Routed, object_id: str) -> Entry | None:
    """The entry of that id in the registry or in the session of the request."""
    lists = closed_lists(appliance.configuration.registry.entries, routed.request.session)
    return listed(lists, object_id)


def offered(appliance: Appliance, routed: Routed) -> tuple[str, ...]:
    """The names of a clarification's options, as the customer reads them."""
    return messages.option_names(
        appliance.configuration.catalog,
        pack_of(appliance, routed).language,
        routed.verdict,
        lambda object_id: entry_of(appliance, routed, object_id),
    )


def bounded(appliance: Appliance, routed: Routed) -> Answered:
    """The end of a request that was not dispatched: a question to confirm, or its template."""
    verdict, pack = routed.verdict, pack_of(appliance, routed)
    message = routed.question
    if message is None:
        names = offered(appliance, routed)
        several = len({option.action_id for option in verdict.options}) > 1
        rule_id = Reserved.MULTI.value if several else verdict.rule_id
        message = _asked(appliance, routed) or messages.bounded(
            pack, verdict.terminal, rule_id, names
        )
    return Answered(
        routed, verdict.terminal, verdict.rule_id, BOUNDED, message, reasons=verdict.reason_codes
    )


def _asked(appliance: Appliance, routed: Routed) -> str | None:
    """The question for the first slot that is open, where it has one in that language."""
    if routed.verdict.rule_id != Reserved.SLOT:
        return None
    specs = appliance.configuration.catalog.slots
    language = pack_of(appliance, routed).language
    names = open_in(routed.verdict.reason_codes)
    first = next((specs[name] for name in names if name in specs), None)
    return None if first is None else first.ask.get(language)


def closed(
    appliance: Appliance,
    routed: Routed,
    reserved: Reserved,
    reasons: tuple[str, ...],
    said: str | None = None,
) -> Answered:
    """The end of a request that was dispatched and still ends bounded."""
    terminal = appliance.configuration.terminals[reserved]
    message = said or messages.bounded(pack_of(appliance, routed), terminal, reserved.value)
    return Answered(routed, terminal, reserved.value, BOUNDED, message, reasons=reasons)


def not_durable(appliance: Appliance, routed: Routed, problem: str, reason: str) -> Answered:
    """The end where the ledger could not be written or read: nothing is said of what was done."""
    return closed(appliance, replace(routed, problem=problem), Reserved.STORE, (reason,))
