"""Model folders: what differs from its manifest is refused before it is read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from inference import artefacts
from inference.errors import ArtefactError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "weights").write_bytes(b"\x00\x01")
    (tmp_path / "head").write_bytes(b"\x02")
    artefacts.write_manifest(tmp_path, {"kind": "test"})
    return tmp_path


def test_whole_folder_verifies(folder: Path) -> None:
    artefacts.verify(artefacts.read(folder))


def test_digest_is_that_of_the_manifest(folder: Path) -> None:
    digest = hashlib.sha256((folder / artefacts.MANIFEST).read_bytes()).hexdigest()
    assert artefacts.read(folder).digest == digest


def test_manifest_names_every_file(folder: Path) -> None:
    manifest = artefacts.read(folder).manifest
    assert set(manifest["files"]) == {"encoder/weights", "head"}
    assert manifest["kind"] == "test"


@pytest.mark.parametrize("change", ["flip", "remove", "add"])
def test_changed_folder_is_refused(folder: Path, change: str) -> None:
    artefact = artefacts.read(folder)
    match change:
        case "flip":
            (folder / "encoder" / "weights").write_bytes(b"\x00\x00")
        case "remove":
            (folder / "head").unlink()
        case "add":
            (folder / "encoder" / "extra").touch()
    with pytest.raises(ArtefactError, match="run `scripts/setup`"):
        artefacts.verify(artefact)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": {}}', '{"files": 3}'])
def test_manifest_without_files_is_refused(folder: Path, text: str) -> None:
    (folder / artefacts.MANIFEST).write_text(text)
    with pytest.raises(ArtefactError, match=r"manifest\.json"):
        artefacts.read(folder)


def test_absent_folder_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="run `scripts/setup`"):
        artefacts.read(tmp_path / "absent")
