"""Who is told what: a customer reads what the institution says, everybody else also why.

DESIGN.md, gate semantics 11. A customer's line is a closed list of keys, so that "not permitted" and
"does not exist" look the same, and so that a key which is added later is not told by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from gate.errors import RequestError
from gate.load.fixes import did_you_mean, shown


class Role(StrEnum):
    """For whom a line is written."""

    USER = "user"
    CHANNEL = "channel"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"


AS_IT_IS: Final = ("decision_id", "message", "confirm", "dialogue_id")
"""Keys of a line that a customer gets unchanged, where the line has them."""

CITED: Final = ("id", "title", "version", "headings", "paragraph", "page", "as_of")
"""Keys of a citation that a customer gets; neither file names, query ids nor digests."""


def disclosed(line: Mapping[str, Any], role: str) -> dict[str, Any]:
    """The part of a route's or answer's JSON line that a role gets; RequestError for no such role.

    A user gets how it ended (`terminal`), `decision_id`, `message`, `citations`, the names offered
    (`options`), `confirm` and `dialogue_id`; the other roles get the whole line.
    """
    if role not in list(Role):
        known = [r.value for r in Role]
        raise RequestError(
            f"`{shown(role)}` is no role", where="--role", fix=did_you_mean(role, known)
        )
    if role != Role.USER:
        return dict(line)
    told = {"terminal": line.get("ended", line)["terminal"]}
    told |= {key: line[key] for key in AS_IT_IS if key in line}
    if "offered" in line:
        told["options"] = list(line["offered"])
    if "citations" in line:
        told["citations"] = [_cited(citation) for citation in line["citations"]]
    return told


def _cited(citation: Mapping[str, Any]) -> dict[str, Any]:
    """A citation as a customer reads it; a title that is only its source's id is left out."""
    untitled = citation.get("title") == citation.get("source")
    return {
        key: citation[key] for key in CITED if key in citation and not (key == "title" and untitled)
    }
