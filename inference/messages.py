"""What the customer reads: templates of the language pack, names of options, statements as they are.

Rule ids, thresholds and reasons never reach the customer (DESIGN.md, gate semantics 11). Names and
quotes are plain text; whatever shows them (terminal, HTML) escapes them there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gate.catalog import Action
from gate.evidence import Statement
from gate.language import LanguagePack
from gate.records import Entry, Option, Terminal

OPTIONS = "{options}"


def bounded(pack: LanguagePack, terminal: Terminal, rule_id: str, names: Sequence[str] = ()) -> str:
    """The template of a reserved id, or of the terminal where a rule decided."""
    template = pack.templates.get(rule_id) or pack.templates[terminal.value]
    listed = f" {'; '.join(names)}" if names else ""
    return template.replace(OPTIONS, listed)


def option_names(options: Sequence[Option], find: Callable[[str], Entry | None]) -> tuple[str, ...]:
    """Display names of the objects that a clarification offers, each once."""
    known = (find(option.object_id) for option in options)
    return tuple(dict.fromkeys(entry.display_name for entry in known if entry is not None))


def answered(statements: Sequence[Statement]) -> str:
    """The statements, each followed by what it cites: `Sentence. [E1]`."""
    return "\n".join(f"{s.text} {''.join(f'[{i}]' for i in s.cites)}" for s in statements)


def recorded(pack: LanguagePack, action: Action, entry: Entry | None) -> str:
    """What is said of a write that was only written down: the service, and the object it is for."""
    order = action.name if entry is None else f"{action.name}: {entry.display_name}"
    return pack.templates["RECORDED"].replace("{order}", order)
