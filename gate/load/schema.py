"""The published JSON Schemas, one per file, written from the models that read the files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gate.load.appliance import ApplianceFile
from gate.load.backends import BackendsFile
from gate.load.catalog import CatalogFile
from gate.load.connectors import ConnectorsFile
from gate.load.costs import CostsFile
from gate.load.documents import DocumentsFile
from gate.load.language import LanguageFile
from gate.load.model import Model
from gate.load.phrases import PhrasesFile
from gate.load.queries import QueriesFile
from gate.load.requests import RequestModel
from gate.load.rules import RulesFile
from gate.load.slots import SlotsFile
from gate.load.state import StateFile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

MODELS: Final[Mapping[str, type[Model]]] = {
    "appliance": ApplianceFile,
    "backends": BackendsFile,
    "catalog": CatalogFile,
    "connectors": ConnectorsFile,
    "costs": CostsFile,
    "documents": DocumentsFile,
    "language": LanguageFile,
    "phrases": PhrasesFile,
    "queries": QueriesFile,
    "request": RequestModel,
    "rules": RulesFile,
    "slots": SlotsFile,
    "state": StateFile,
}
"""Models by the name of their schema; `request` is one line of JSONL."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one file; a fresh mapping."""
    return {"$schema": DIALECT, **MODELS[name].model_json_schema(by_alias=True)}


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write `<name>.schema.json` for every model into `folder`; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(_write(folder / f"{name}.schema.json", schema(name)) for name in sorted(MODELS))


def _write(path: Path, content: Mapping[str, Any]) -> Path:
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
