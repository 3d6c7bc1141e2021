"""What looks like personal data in a text: nothing that does leaves for a hosted model.

It errs towards finding: a text that is held back is only a case that is not recorded.
"""

from __future__ import annotations

import re
from typing import Final

from gate.masking import numbers

LONG: Final = 7
"""Digits of a number, separators left out, from which it may be a telephone, card or account number."""

_PATTERNS: Final = (
    ("email", re.compile(r"[^\s@<>]+@[^\s@<>]+\.[^\s@<>]{2,}|\S+\s+at\s+\S+\s+dot\s+\S+", re.I)),
    ("iban", re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){3,8}\b")),
    ("identity", re.compile(r"(?<!\d)\d{17}[\dXx](?!\d)|\b\d{3}-\d{2}-\d{4}\b")),
    ("address", re.compile(r"\b\d{1,5}\s+[A-Z]\w+\s+(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln)\b")),
    ("address", re.compile(r"[\u4e00-\u9fff]{2,}(?:路|街|巷)\s*\d+\s*号")),
    ("birthday", re.compile(r"\b(?:born|birth(?:day|date)?|dob)\b|出生|生日", re.I)),
    ("name", re.compile(r"\b(?:my name is|i am called|mr\.?|mrs\.?|ms\.?)\s+[A-Z]", re.I)),
    ("name", re.compile(r"我叫|我是[\u4e00-\u9fff]{2,3}[，,]")),
)  # fmt: skip


def kinds(text: str) -> tuple[str, ...]:
    """The kinds of personal data that a text seems to hold, sorted; none for a clean one."""
    found = {kind for kind, pattern in _PATTERNS if pattern.search(text)}
    if any(len(number.digits) >= LONG for number in numbers(text)):
        found.add("number")
    return tuple(sorted(found))
