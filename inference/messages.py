"""What the customer reads: templates of the language pack, names of options, statements as they are.

Rule ids, thresholds and reasons never reach the customer (DESIGN.md, gate semantics 11). Names and
quotes are plain text; whatever shows them (terminal, HTML) escapes them there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gate.catalog import Action, Catalog
from gate.evidence import Statement
from gate.language import LanguagePack
from gate.records import Entry, Option, Reserved, Terminal, Verdict
from inference.masking import shown_name

OPTIONS = "{options}"


def bounded(pack: LanguagePack, terminal: Terminal, rule_id: str, names: Sequence[str] = ()) -> str:
    """The template of a reserved id, or of the terminal where a rule decided."""
    template = pack.templates.get(rule_id) or pack.templates[terminal.value]
    if template.endswith(OPTIONS) and rule_id == Reserved.OBJECT and not names:
        template = pack.templates[terminal.value]  # nothing to choose from
    listed = f" {'; '.join(names)}" if names else ""
    return template.replace(OPTIONS, listed)


def option_names(
    catalog: Catalog, language: str, verdict: Verdict, find: Callable[[str], Entry | None]
) -> tuple[str, ...]:
    """What a clarification offers: objects where one action is asked about, else actions with them."""
    alone = len({option.action_id for option in verdict.options}) == 1
    names = (_option(catalog, language, o, find(o.object_id), alone) for o in verdict.options)
    return tuple(dict.fromkeys(name for name in names if name))


def _option(
    catalog: Catalog, language: str, option: Option, entry: Entry | None, alone: bool
) -> str:
    title = catalog.actions[option.action_id].title(language)
    if entry is None:
        return "" if alone else title
    return shown_name(entry) if alone else f"{title}: {shown_name(entry)}"


def answered(statements: Sequence[Statement]) -> str:
    """The statements, each followed by what it cites: `Sentence. [E1]`."""
    return "\n".join(f"{s.text} {''.join(f'[{i}]' for i in s.cites)}" for s in statements)


def order(action: Action, entry: Entry | None, slots: Sequence[str], language: str) -> str:
    """A write in a few words: the service, its object and the texts of its slots."""
    parts = [*([shown_name(entry)] if entry is not None else []), *slots]
    title = action.title(language)
    return f"{title}: {', '.join(parts)}" if parts else title


EXECUTED: Final = {
    "COMPLETED": "DONE",
    "RECORDED_ONLY": "RECORDED",
    "FAILED": "FAILED",
    "IN_DOUBT": "IN_DOUBT",
    "QUEUED": "QUEUED",
    "RESOLVED_BY_HUMAN": "HANDOFF",
}
"""The template for each way in which a write may stand."""


def executed(pack: LanguagePack, how: str, order_text: str, reference: str) -> str:
    """What is said of a confirmed write, by how it stands in the ledger."""
    template = pack.templates[EXECUTED[how]]
    return template.replace("{reference}", reference).replace("{order}", order_text)
