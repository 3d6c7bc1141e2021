"""Building and opening what the pathways read: the document index and the records database."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from gate.load import Institution
from gate.load.documents import DocumentEntry
from gate.load.queries import Query
from inference.artefacts import sha256
from retrieval import answer, chunk, document, index, ingest, lexical, vectors
from retrieval.document import Document, Source
from retrieval.errors import BrokenIndexError, IngestError
from retrieval.formats import docx, html, markdown, pdf, pieces, text
from retrieval.index import Index
from retrieval.protocols import Encoder
from sqlpath import execute, queries
from sqlpath.errors import SnapshotError
from sqlpath.execute import Database, Snapshot

INDEX_CODE = (
    *(answer, chunk, document, index, ingest, lexical, vectors),
    *(docx, html, markdown, pdf, pieces, text),
)


def sources(institution: Institution) -> tuple[Source, ...]:
    """The declared documents with their collections, in file order."""
    collections = _collections(institution)
    entries = institution.documents.entries.values()
    return tuple(_source(entry, collections.get(entry.file, ())) for entry in entries)


def _collections(institution: Institution) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, patterns in institution.documents.collections.items():
        for pattern in patterns:
            for file in glob.glob(pattern, root_dir=institution.folder, recursive=True):
                found[file] = tuple(dict.fromkeys((*found.get(file, ()), name)))
    return found


def _source(entry: DocumentEntry, collections: tuple[str, ...]) -> Source:
    return Source(
        file=entry.file,
        title=entry.title,
        version=entry.version,
        labels=entry.labels,
        collections=collections,
        effective_from=entry.effective_from,
        effective_to=entry.effective_to,
    )


def index_inputs(institution: Institution, encoder: Encoder) -> dict[str, str]:
    """Digests of everything that the index is made from."""
    files = {e.file: sha256(institution.folder / e.file) for e in sources(institution)}
    code = {f"code:{m.__name__}": sha256(Path(str(m.__file__))) for m in INDEX_CODE}
    declared = institution.configuration.digests.get("documents.yaml", "")
    return {**files, **code, "documents.yaml": declared, "encoder": encoder.digest}


@dataclass(frozen=True, slots=True)
class Built:
    """A new index: its digest, how many documents it holds, and which were the same as another."""

    digest: str
    documents: int
    duplicates: Mapping[str, str]


def build_index(institution: Institution, encoder: Encoder, folder: Path) -> Built:
    """Ingest every declared document and make the new index current.

    A document that equals an earlier one in bytes, labels, collections and days is indexed once.
    BrokenIndexError names every document that cannot be read; the index in use then stays.
    """
    documents, problems = [], []
    for source in sources(institution):
        try:
            documents.append(ingest.read(institution.folder, source))
        except IngestError as error:
            problems.append(str(error))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise BrokenIndexError(f"{len(problems)} document(s) cannot be read:\n{listed}")
    kept, duplicates = _distinct(documents)
    chunks = [part for item in kept for part in chunk.chunk(item)]
    digest = index.build(chunks, encoder, folder, index_inputs(institution, encoder))
    return Built(digest, len(kept), duplicates)


def _distinct(documents: Sequence[Document]) -> tuple[list[Document], dict[str, str]]:
    first: dict[object, Document] = {}
    duplicates = {}
    for item in documents:
        alike = replace(item.source, file="", title="", version="")
        known = first.setdefault((item.sha256, alike), item)
        if known is not item:
            duplicates[item.source.file] = known.source.file
    return list(first.values()), duplicates


def index_is_current(institution: Institution, encoder: Encoder, folder: Path) -> bool:
    """True if the index in `folder` is whole and was made from exactly these inputs."""
    try:
        _, manifest = index.read_manifest(folder)
        if manifest["inputs"] != index_inputs(institution, encoder):
            return False  # its parts may be of another form
        open_index(folder, encoder)
    except BrokenIndexError:
        return False
    return True


def open_index(folder: Path, encoder: Encoder) -> Index:
    """The verified index in `folder`; raises BrokenIndexError."""
    return index.open_index(folder, encoder.digest)


def seal_database(
    path: Path, build: Callable[[Path], None], as_of: date, inputs: Mapping[str, str]
) -> Snapshot:
    """Build a database with `build` and seal it with a manifest."""
    execute.manifest_path(path).unlink(missing_ok=True)
    build(path)
    return execute.write_manifest(path, as_of, inputs)


def database_is_current(path: Path, inputs: Mapping[str, str]) -> bool:
    """True if the database is whole and was made from exactly these inputs."""
    try:
        execute.read_snapshot(path)
        return execute.read_inputs(path) == dict(inputs)
    except SnapshotError:
        return False


def open_database(path: Path) -> Database:
    """The verified database, read-only; raises SnapshotError."""
    return Database.open(path)


def check_queries(listed: Iterable[Query], path: Path) -> str:
    """Prepare every verified query against the database; returns the data snapshot's digest."""
    database = open_database(path)
    try:
        queries.check(listed, database)
        return database.snapshot.digest
    finally:
        database.close()
