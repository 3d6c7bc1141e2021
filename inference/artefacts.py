"""Model folders: a manifest with the digest of every file, compared before anything is loaded.

    <folder>/manifest.json   {"files": {"<path>": "<sha256>", ...}, ...}

The manifest's own SHA-256 names the model in decisions (P-20); reading it needs no weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.errors import ArtefactError

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Artefact:
    """A model folder by its manifest; `digest` is the manifest's SHA-256."""

    folder: Path
    digest: str
    manifest: Mapping[str, Any]


def read(folder: Path, fix: str = "run `scripts/setup`") -> Artefact:
    """Read a model folder's manifest; raises ArtefactError with `fix` where there is none."""
    try:
        data = (folder / MANIFEST).read_bytes()
        manifest = json.loads(data)
        files = manifest["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtefactError(f"`{folder}` holds no readable {MANIFEST}: {error}; {fix}") from error
    if not isinstance(files, dict) or not files:
        raise ArtefactError(f"`{folder / MANIFEST}` lists no files; {fix}")
    return Artefact(folder, hashlib.sha256(data).hexdigest(), manifest)


def verify(artefact: Artefact) -> None:
    """Compare every file with the manifest; ArtefactError for a changed, missing or new one."""
    actual = digests(artefact.folder)
    expected = artefact.manifest["files"]
    odd = sorted(k for k in {*actual, *expected} if actual.get(k) != expected.get(k))
    if odd:
        raise ArtefactError(
            f"`{artefact.folder / odd[0]}` is not what its {MANIFEST} says; "
            f"delete `{artefact.folder}` and run `scripts/setup`"
        )


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below `folder` except its manifest, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256(path) for name, path in names.items() if name != MANIFEST}


def sha256(path: Path) -> str:
    """SHA-256 of one file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_manifest(folder: Path, fields: Mapping[str, Any]) -> Artefact:
    """Seal a folder: `fields` plus the digest of every file in it."""
    manifest = {"schema_version": 1, **fields, "files": digests(folder)}
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return read(folder)
