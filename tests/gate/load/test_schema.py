"""The published JSON Schemas: current, sound, and in agreement with the files they describe."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gate.load import language, load, yamlfile
from gate.load.digests import Source
from gate.load.scaffold import institution
from gate.load.schema import MODELS, schema, write_schemas
from tests.gate.load.folders import GOOD, write

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = ROOT / "configs" / "schemas"


def content(path: Path) -> Any:
    """A YAML file as plain JSON values."""
    return _plain(yamlfile.parse(Source(path.name, str(path), path.read_bytes())).data)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value


def test_published_schemas_are_current(tmp_path: Path) -> None:
    written = write_schemas(tmp_path / "schemas")
    assert [p.name for p in written] == sorted(p.name for p in PUBLISHED.iterdir())
    for path in written:
        published = (PUBLISHED / path.name).read_bytes()
        assert path.read_bytes() == published, (
            f"{path.name} is stale; write_schemas of gate.load.schema writes it anew"
        )


@pytest.mark.parametrize("name", sorted(MODELS))
def test_schema_is_valid_and_describes_every_key(name: str) -> None:
    content = schema(name)
    jsonschema.Draft202012Validator.check_schema(content)
    for part in (content, *content.get("$defs", {}).values()):
        assert part["additionalProperties"] is False
        assert part["description"]
        for key, value in part["properties"].items():
            assert value.get("description") or "$ref" in value, f"{name}: {key} is not described"


@pytest.mark.parametrize("name", [n for n in sorted(MODELS) if n not in {"language", "request"}])
def test_good_and_demo_files_fit_their_schema(tmp_path: Path, name: str) -> None:
    write(tmp_path, GOOD)
    for folder in (tmp_path, ROOT / "configs" / "demo"):
        path = folder / f"{name}.yaml"
        if path.exists():
            jsonschema.validate(content(path), schema(name))


def test_default_language_packs_fit_their_schema() -> None:
    for path in sorted(language.DEFAULT_PACKS.glob("*.yaml")):
        jsonschema.validate(content(path), schema("language"))


def test_schema_refuses_what_the_loader_refuses() -> None:
    rules = _plain(yamlfile.parse(Source("r", "r", GOOD["rules.yaml"].encode())).data)
    rules["rules"][0]["when"] = {"predicate": "available", "iss": False}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(rules, schema("rules"))


def test_institution_scaffold_loads_as_it_is(tmp_path: Path) -> None:
    configuration = load(write(tmp_path, institution("corner")))
    assert configuration.name == "corner"
    assert list(configuration.catalog.actions) == ["OPENING_HOURS"]


def test_registry_of_the_demo_has_the_declared_columns() -> None:
    with (ROOT / "configs" / "demo" / "registry.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["object_id", "object_type", "display_name", "aliases"]
