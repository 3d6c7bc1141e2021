"""`documents.yaml`: collections, and the title, date and labels of each document."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from gate.load.fixes import shown
from gate.load.model import FileModel, Identifier, Model, Number, Text, failure, validate
from gate.load.yamlfile import Document, Loc

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _date(value: object) -> object:
    """A date from its text; anything else fails with a fix."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise failure(f"`{shown(value)}` is not a date", "write it as 2026-01-31")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise failure(f"`{value}` is not a date of the calendar", "correct it") from error


def _inside(value: str) -> str:
    """A path that stays inside the institution's folder."""
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        raise failure(
            f"`{shown(value)}` leads out of the folder",
            "write a path inside it, with `/`",
        )
    return value


Day = Annotated[date, BeforeValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]
Inside = Annotated[Text, AfterValidator(_inside)]


class DocumentModel(Model):
    """One document."""

    file: Inside
    """Path inside the institution's folder."""
    title: Text
    """Title in citations."""
    version: Text
    """Version of the document."""
    effective_from: Day
    """First day on which it holds."""
    effective_to: Day | None = None
    """Last day on which it holds."""
    labels: list[Text] = Field(default_factory=list)
    """Who may read it; nobody where there is none."""


class DocumentsFile(FileModel):
    """The documents that answers may cite."""

    collections: dict[Identifier, Annotated[list[Inside], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    """File patterns by collection."""
    documents: list[DocumentModel] = Field(default_factory=list)
    """The documents."""
    sufficient: Number | None = None
    """Least score of the best passage for anything to be answered; no such bound where it is left out."""


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One document as declared; `labels` are the entitlements of which a reader needs one."""

    file: str
    title: str
    version: str
    effective_from: date
    effective_to: date | None
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """File patterns by collection, documents by file, and the least score of an answer."""

    collections: Mapping[str, tuple[str, ...]]
    entries: Mapping[str, DocumentEntry]
    sufficient: Decimal | None = None


EMPTY = Documents(MappingProxyType({}), MappingProxyType({}))
"""No documents: nothing can be cited."""


def read(document: Document, folder: Path) -> Documents:
    """Collections and documents; ConfigError with file, line and fix, also for a missing file."""
    file = validate(DocumentsFile, document)
    for name, patterns in file.collections.items():
        for index, pattern in enumerate(patterns):
            _check_pattern(document, ("collections", name, index), folder, pattern)
    entries: dict[str, DocumentEntry] = {}
    for index, model in enumerate(file.documents):
        _check_document(document, ("documents", index), folder, model, entries)
        entries[model.file] = DocumentEntry(
            model.file,
            model.title,
            model.version,
            model.effective_from,
            model.effective_to,
            tuple(dict.fromkeys(model.labels)),
        )
    collections = {name: tuple(patterns) for name, patterns in file.collections.items()}
    return Documents(MappingProxyType(collections), MappingProxyType(entries), file.sufficient)


def _check_pattern(document: Document, loc: Loc, folder: Path, pattern: str) -> None:
    if not glob.glob(pattern, root_dir=folder, recursive=True):
        raise document.error(
            f"pattern `{shown(pattern)}` matches no file",
            loc,
            "correct it or add the files",
        )


def _check_document(
    document: Document,
    loc: Loc,
    folder: Path,
    model: DocumentModel,
    entries: Mapping[str, DocumentEntry],
) -> None:
    if model.file in entries:
        problem = f"document `{shown(model.file)}` is listed twice"
        raise document.error(problem, loc, "remove one of the two")
    if not (folder / model.file).is_file():
        problem = f"document `{shown(model.file)}` is not there"
        raise document.error(problem, (*loc, "file"), "add the file or correct the path")
    if model.effective_to is not None and model.effective_to < model.effective_from:
        problem = f"document `{shown(model.file)}` ends before it begins"
        raise document.error(problem, (*loc, "effective_to"), "correct one of the two dates")
