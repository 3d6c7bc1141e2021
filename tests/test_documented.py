"""Every setting that a file may hold is explained where an editor shows it, and in a README."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = sorted((ROOT / "configs/schemas").glob("*.schema.json"))


def settings(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every property of a schema and of its definitions, by dotted path."""
    for name, part in schema.get("properties", {}).items():
        yield f"{path}.{name}".lstrip("."), part
    for name, part in schema.get("$defs", {}).items():
        yield from settings(part, name)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda p: p.name)
def test_every_setting_is_described(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    bare = [name for name, part in settings(schema) if not part.get("description")]
    assert not [name for name in bare if name.split(".")[-1] != "schema_version"], bare


def test_every_kind_of_file_is_named_in_the_readme() -> None:
    readme = (ROOT / "configs/README.md").read_text(encoding="utf-8")
    files = {p.name.removesuffix(".schema.json") for p in SCHEMAS} - {"request", "language"}
    assert files
    assert [name for name in files if f"{name}.yaml" not in readme] == []


@pytest.mark.parametrize(
    "folder",
    [
        "gate",
        "gate/load",
        "gate/ledger",
        "inference",
        "retrieval",
        "sqlpath",
        "training",
        "eval",
        "configs",
        "scripts",
        "tests",
    ],
)
def test_every_folder_says_what_it_keeps(folder: str) -> None:
    readme = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    assert "Where to add the next thing" in readme
