"""Writing the files of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from eval.errors import OutputError


def write(out: Path, files: Mapping[str, str]) -> None:
    """Write texts by file name into `out`, which is made if it is missing; OutputError if it cannot
    be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise OutputError(
            f"`{out}` cannot be written: {reason}; name a folder that can be made or written"
        ) from error
