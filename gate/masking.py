"""Masking: of a long number in the name of somebody's own account or card only the end is shown."""

from __future__ import annotations

import re
from typing import Final

KEPT: Final = 4
"""Digits that stay readable."""

_NUMBER: Final = re.compile(r"\d(?:[ .\u00a0-]?\d){4,}")


def masked(text: str) -> str:
    """`text` with every number of more than four digits cut to its last four, separators or not."""
    return _NUMBER.sub(_last, text)


def _last(number: re.Match[str]) -> str:
    digits = [char for char in number[0] if char.isdigit()]
    return "\u2022\u2022\u2022\u2022" + "".join(digits[-KEPT:])
