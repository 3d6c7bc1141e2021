"""What is shown of names and texts that hold numbers of a customer's own accounts and cards."""

from __future__ import annotations

from collections.abc import Iterable

from gate.masking import KEPT, masked, masked_where, numbers
from gate.records import Entry


def shown_name(entry: Entry) -> str:
    """The display name that may be shown: an own object's numbers are masked, public ones are not."""
    return masked(entry.display_name) if entry.own else entry.display_name


def masked_in(text: str, objects: Iterable[Entry]) -> str:
    """A text of somebody's with the numbers of the own ones among `objects` masked; others stay.

    A number is theirs if one of their names holds it, or ends in the same four digits.
    """
    names = [name for o in objects if o.own for name in (o.display_name, *o.aliases)]
    held = {n.digits for name in names for n in numbers(name) if len(n.digits) >= KEPT}
    ends = {digits[-KEPT:] for digits in held}
    return masked_where(
        text, lambda digits: digits[-KEPT:] in ends or any(digits in other for other in held)
    )
