"""The look at a suite's files before anything runs: reads, changes nothing, refuses what is broken.

A loader checks each row (ids, label domains, JSON, references); here is what rows must be to each
other: pairs alike in all but their state, no text shared with what is learnt from, and bytes that
are those of the stated digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval import table
from eval.errors import SuiteError
from eval.table import Row


@dataclass(frozen=True, slots=True)
class Audit:
    """What the audit found in files that it let pass.

    `overlap` counts texts that stand among the examples, too; more than none only where both are
    one file. `half_pairs` have one member in the file. `sealed` says whether a digest was stated for
    the file: it then matches.
    """

    cases: int
    pairs: int
    half_pairs: int
    overlap: int
    sealed: bool


def audit(
    rows: Sequence[Row],
    *,
    alike: Sequence[str],
    boundary: str,
    text: str,
    learnt: Sequence[Row],
    learnt_text: str,
    stated: Mapping[str, str],
) -> Audit:
    """Look at the rows of one file; SuiteError with file, line and fix for the first fault.

    `alike` are the columns in which the members of a pair must agree, `boundary` the one in which
    exactly one of them says ALLOW; `learnt` are the rows from which something is learnt, and
    `stated` maps file names to their SHA-256.
    """
    file = Path(rows[0].file)
    sealed = digest(file, stated)
    pairs = _pairs(rows)
    whole = [members for members in pairs.values() if len(members) == 2]
    for members in whole:
        _pair(members, alike, boundary)
    overlap = _overlap(rows, text, learnt, learnt_text)
    return Audit(len(rows), len(whole), len(pairs) - len(whole), overlap, sealed)


def digest(file: Path, stated: Mapping[str, str]) -> bool:
    """True if a digest is stated for a file of that name and the file has it; SuiteError if not."""
    if file.name not in stated:
        return False
    found = table.digest(file)
    if found != stated[file.name]:
        raise SuiteError(
            f"bytes have the SHA-256 {found[:12]}..., stated is {stated[file.name][:12]}...",
            file=str(file),
            line=1,
            fix="restore the file, or give changed cases another name",
        )
    return True


def _pairs(rows: Sequence[Row]) -> dict[str, list[Row]]:
    pairs: dict[str, list[Row]] = {}
    for row in rows:
        if row["pair_id"]:
            pairs.setdefault(row["pair_id"], []).append(row)
    for pair, members in pairs.items():
        if len(members) > 2:
            raise members[2].wrong(f"pair `{pair}` has more than two members", "keep two of them")
    return pairs


def _pair(members: Sequence[Row], alike: Sequence[str], boundary: str) -> None:
    """SuiteError unless both say the same and one of them, only, may be dispatched."""
    first, second = members
    for column in alike:
        if first[column] != second[column]:
            raise second.wrong(
                f"column `{column}` differs from line {first.line}, the other member of pair "
                f"`{second['pair_id']}`",
                "the members of a pair differ in their state alone",
            )
    allowed = sum(row[boundary] == "ALLOW" for row in members)
    if allowed != 1:
        raise second.wrong(
            f"{allowed} members of pair `{second['pair_id']}` may be dispatched",
            "a pair has one that may and one that may not",
        )


def _overlap(rows: Sequence[Row], text: str, learnt: Sequence[Row], learnt_text: str) -> int:
    """How many texts are learnt from; SuiteError where they come from another file."""
    known = {row[learnt_text].strip(): row for row in learnt}
    shared = [row for row in rows if row[text].strip() in known]
    for row in shared:
        other = known[row[text].strip()]
        if other.file != row.file:
            raise row.wrong(
                f"column `{text}` stands in {other.file}:{other.line}, which is learnt from",
                "take the text out of one of the two files",
            )
    return len(shared)
