"""Adaptor of the demo institution's held-out labels (`heldout.csv`).

The labels were written from the configuration alone, before anything was trained or tuned;
`heldout.csv.sha256` was committed first. They are changed by nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from eval import table
from eval.errors import SuiteError
from eval.table import Row
from gate.load.phrases import phrase_key
from gate.records import NONE, UNRESOLVED

FOLDER = Path(__file__).parent
FILE = FOLDER / "heldout.csv"
DIGEST = FOLDER / "heldout.csv.sha256"
OUT_OF_SCOPE = "OUT_OF_SCOPE"
ALLOW, BOUNDED = "ALLOW", "bounded"
COLUMNS = ("id", "text", "action", "object_id", "session", "terminal", "note")


@dataclass(frozen=True, slots=True)
class Label:
    """One held-out text and what is right for it.

    `action` is a catalog id or OUT_OF_SCOPE; of a text that asks for nothing, or for two things, it
    is the action that is talked about first. `object_id` is a closed-list id, NONE or UNRESOLVED.
    `session` names one of the institution's example sessions, '' none. `allowed` says whether the
    request may go on to its action when nothing in the state stands against it; a write that is
    only confirmed first counts as allowed.
    """

    label_id: str
    text: str
    action: str
    object_id: str
    session: str
    allowed: bool
    note: str


def load(
    actions: Collection[str], objects: Collection[str], sessions: Collection[str], file: Path = FILE
) -> tuple[Label, ...]:
    """The labels, in file order; SuiteError on an unknown id or name, or a repeated id or text."""
    rows = table.read(file, COLUMNS)
    table.unique(rows, "id")
    table.unique(rows, "text")
    known = ((*actions, OUT_OF_SCOPE), (NONE, UNRESOLVED, *objects), ("", *sessions))
    return tuple(_label(row, *known) for row in rows)


def _label(
    row: Row, actions: tuple[str, ...], objects: tuple[str, ...], sessions: tuple[str, ...]
) -> Label:
    return Label(
        label_id=row["id"],
        text=row["text"],
        action=row.one_of("action", actions),
        object_id=row.one_of("object_id", objects),
        session=row.one_of("session", sessions),
        allowed=row.one_of("terminal", (ALLOW, BOUNDED)) == ALLOW,
        note=row["note"],
    )


def stated_digest(file: Path = DIGEST) -> str:
    """The SHA-256 that was committed before the labels; SuiteError if the file is malformed."""
    digest, _, name = table.read_text(file).strip().partition("  ")
    if name != FILE.name or len(digest) != 64:
        raise SuiteError(
            "file is no checksum line", file=str(file), fix=f"write `<sha256>  {FILE.name}`"
        )
    return digest


def unseen(labels: Iterable[Label], texts: Iterable[str]) -> tuple[Label, ...]:
    """The labels whose text is none of `texts`, case, spacing and final punctuation aside."""
    seen = {phrase_key(text) for text in texts}
    return tuple(label for label in labels if phrase_key(label.text) not in seen)
