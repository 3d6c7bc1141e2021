"""The index on disk: one partition per set of access labels, sealed by a manifest of digests.

    <folder>/current                      name of the version in use, replaced in one step
    <folder>/<version>/manifest.json      digests of every part; <version> is the manifest's own
    <folder>/<version>/p0/chunks.jsonl    passages with their places
    <folder>/<version>/p0/dense.faiss     FAISS over the passages' vectors, kind by size
    <folder>/<version>/p0/titles.faiss    FAISS over titles and headings; titles.npy: passage -> row
    <folder>/<version>/p0/bm25/           BM25 over the same passages
    <folder>/<version>/p0/sentences.npy   a vector per sentence under its heading, for quoting

A deletion is a new version whose manifest lists the file as a tombstone and whose parts are the old
ones; `build` forgets it. Passages are known by ids of our own, never by their rows.

A partition knows nothing of the others, not even word frequencies: what somebody may not see cannot
move a score that they do see. There are no times in here, so equal inputs give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval import lexical, vectors
from retrieval.chunk import Chunk
from retrieval.document import Block, Source
from retrieval.errors import BrokenIndexError
from retrieval.protocols import Encoder, Vectors
from retrieval.vectors import Mask, Rows

if TYPE_CHECKING:
    from bm25s import BM25
    from faiss import Index as DenseIndex

SCHEMA_VERSION = 2
CURRENT, MANIFEST = "current", "manifest.json"
CHUNKS, DENSE, LEXICAL, SENTENCES = "chunks.jsonl", "dense.faiss", "bm25", "sentences.npy"
TITLES, TITLE_ROWS = "titles.faiss", "titles.npy"
AGAIN = "build it again with `routelock index build`"


@dataclass(frozen=True, slots=True)
class Partition:
    """Passages that the same people may see, with their two indexes; row i is `chunks[i]`.

    `sentences[i]` holds the vectors of that chunk's sentences, shape (sentences, dimensions);
    `title_rows[i]` is the row of its title in `titles`. `alive[i]` is False after its deletion.
    """

    labels: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    dense: DenseIndex
    titles: DenseIndex
    title_rows: Rows
    bm25: BM25
    sentences: tuple[Vectors, ...]
    alive: Mask
    days: NDArray[np.int64]
    """First and last day in force as ordinals, shape (chunks, 2)."""

    def wanted(self, collection: str | None, on: date | None) -> Mask:
        """The rows that may be found: not deleted, of the collection, in force on that day."""
        rows = self.alive
        if on is not None:
            rows = rows & (self.days[:, 0] <= on.toordinal()) & (on.toordinal() <= self.days[:, 1])
        if collection is not None:
            rows = rows & np.array([collection in c.source.collections for c in self.chunks])
        return rows


@dataclass(frozen=True, slots=True)
class Index:
    """One whole, verified version; `digest` names it, `encoder` the weights it was made with."""

    digest: str
    encoder: str
    dimensions: int
    partitions: tuple[Partition, ...]
    documents: Mapping[str, str]

    def visible(self, entitlements: Sequence[str]) -> tuple[Partition, ...]:
        """Partitions that share a label with the asker; `public` is everybody's."""
        held = {*entitlements, "public"}
        return tuple(part for part in self.partitions if held.intersection(part.labels))


def build(
    chunks: Sequence[Chunk], encoder: Encoder, folder: Path, inputs: Mapping[str, str]
) -> str:
    """Write a new version and make it current; returns its digest.

    `inputs` maps a name to the digest of whatever the index was made from and is kept in the
    manifest. The version in use stays untouched until the new one is whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as scratch:
        fresh = Path(scratch) / "version"
        fresh.mkdir()
        sizes: dict[str, int] = {}
        for number, (labels, members) in enumerate(_grouped(chunks)):
            sizes[f"p{number}"] = len(members)
            _write_partition(fresh / f"p{number}", labels, members, encoder)
        version = _seal(fresh, chunks, encoder, inputs, sizes)
        if not (folder / version).exists():
            fresh.rename(folder / version)
    _make_current(folder, version)
    return version


def _grouped(chunks: Sequence[Chunk]) -> list[tuple[tuple[str, ...], list[Chunk]]]:
    groups: dict[tuple[str, ...], list[Chunk]] = {}
    for item in sorted(chunks, key=lambda c: (c.source.file, c.blocks[0].paragraph, c.chunk_id)):
        groups.setdefault(tuple(sorted(set(item.source.labels))), []).append(item)
    return sorted(groups.items())


def _write_partition(
    folder: Path, labels: tuple[str, ...], chunks: Sequence[Chunk], encoder: Encoder
) -> None:
    import faiss

    folder.mkdir()
    texts = [item.indexed_text for item in chunks]
    dense = vectors.build(_encoded(encoder, texts))
    faiss.write_index(dense, str(folder / DENSE))
    names = sorted({item.heading_text for item in chunks})
    faiss.write_index(vectors.build(_encoded(encoder, names)), str(folder / TITLES))
    places = {name: row for row, name in enumerate(names)}
    rows = np.array([places[item.heading_text] for item in chunks], dtype=np.int64)
    np.save(folder / TITLE_ROWS, rows, allow_pickle=False)
    spoken = [_spoken(item, *place) for item in chunks for place in item.sentences]
    np.save(folder / SENTENCES, _encoded(encoder, spoken), allow_pickle=False)
    lexical.build(texts, folder / LEXICAL)
    lines = [json.dumps({"labels": list(labels)}), *(_line(item) for item in chunks)]
    (folder / CHUNKS).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _spoken(item: Chunk, block: Block, sentence: str) -> str:
    """A sentence as it is embedded: the heading often says what it is about."""
    heading = block.headings[-1] if block.headings else item.source.title
    return f"{heading}: {sentence}"


def _encoded(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    return vectors.checked(encoder.encode(texts), len(texts), encoder.dimensions)


def _line(item: Chunk) -> str:
    fields = asdict(item)
    for name in ("effective_from", "effective_to"):
        day = fields["source"][name]
        fields["source"][name] = day and day.isoformat()
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def delete(folder: Path, files: Sequence[str]) -> str:
    """Make a version current in which these files are not found; returns its digest.

    Raises BrokenIndexError for a file that the index does not hold. The words of a deleted file
    still count in BM25's frequencies until the index is built again.
    """
    version, manifest = read_manifest(folder)
    for file in files:
        if file not in manifest["documents"]:
            raise BrokenIndexError(f"`{folder}` holds no document `{file}`; name one it holds")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as scratch:
        fresh = Path(scratch) / "version"
        shutil.copytree(folder / version, fresh, copy_function=os.link)
        (fresh / MANIFEST).unlink()
        tombstones = sorted({*manifest["tombstones"], *files})
        changed = _written(fresh, {**manifest, "tombstones": tombstones})
        if not (folder / changed).exists():
            fresh.rename(folder / changed)
    _make_current(folder, changed)
    return changed


def _seal(
    folder: Path,
    chunks: Sequence[Chunk],
    encoder: Encoder,
    inputs: Mapping[str, str],
    sizes: Mapping[str, int],
) -> str:
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "encoder": encoder.digest,
        "dimensions": encoder.dimensions,
        "kinds": {part: vectors.kind_of(number) for part, number in sizes.items()},
        "chunks": len(chunks),
        "documents": {item.source.file: item.sha256 for item in chunks},
        "inputs": dict(inputs),
        "tombstones": [],
        "files": _digests(folder),
    }
    return _written(folder, manifest)


def _written(folder: Path, manifest: Mapping[str, object]) -> str:
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _make_current(folder: Path, version: str) -> None:
    staged = folder / f".{CURRENT}"
    staged.write_text(version + "\n", encoding="ascii")
    os.replace(staged, folder / CURRENT)
    for other in folder.iterdir():
        if other.is_dir() and other.name != version:
            shutil.rmtree(other)


def read_manifest(folder: Path) -> tuple[str, dict[str, Any]]:
    """The current version's digest and manifest, its parts not yet checked.

    Raises BrokenIndexError where there is none or where it is not the one that `current` names.
    """
    try:
        version = (folder / CURRENT).read_text(encoding="ascii").strip()
        text = (folder / version / MANIFEST).read_bytes()
        manifest = json.loads(text)
    except (OSError, ValueError) as error:
        raise BrokenIndexError(f"`{folder}` holds no index: {error}; {AGAIN}") from error
    if hashlib.sha256(text).hexdigest() != version:
        raise BrokenIndexError(f"`{folder}`: {MANIFEST} was changed; {AGAIN}")
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise BrokenIndexError(f"`{folder}`: schema_version is not {SCHEMA_VERSION}; {AGAIN}")
    return version, dict(manifest)


def open_index(folder: Path, encoder_digest: str) -> Index:
    """Load the current version after comparing every part with the manifest.

    Raises BrokenIndexError for a changed, missing or additional part, or for another encoder.
    """
    version, manifest = read_manifest(folder)
    if manifest["encoder"] != encoder_digest:
        raise BrokenIndexError(f"`{folder}` was made with another encoder; {AGAIN}")
    actual, expected = _digests(folder / version), manifest["files"]
    changed = sorted(k for k in {*actual, *expected} if actual.get(k) != expected.get(k))
    if changed:
        raise BrokenIndexError(f"`{folder}`: `{changed[0]}` is not what was built; {AGAIN}")
    parts = sorted((folder / version).glob("p*"), key=lambda path: int(path.name[1:]))
    dead = frozenset(manifest["tombstones"])
    partitions = tuple(_open_partition(path, dead) for path in parts)
    return Index(version, encoder_digest, manifest["dimensions"], partitions, manifest["documents"])


def _open_partition(folder: Path, dead: frozenset[str]) -> Partition:
    import faiss

    head, *lines = (folder / CHUNKS).read_text(encoding="utf-8").splitlines()
    chunks = tuple(_parsed(json.loads(line)) for line in lines)
    dense, bm25 = faiss.read_index(str(folder / DENSE)), lexical.load(folder / LEXICAL)
    counts = [len(item.sentences) for item in chunks]
    spoken: Vectors = np.load(folder / SENTENCES, allow_pickle=False)
    rows: Rows = np.load(folder / TITLE_ROWS, allow_pickle=False)
    sizes = (dense.ntotal, bm25.scores["num_docs"], len(rows), len(spoken))
    if sizes != (len(chunks), len(chunks), len(chunks), sum(counts)):
        raise BrokenIndexError(f"`{folder}`: its parts differ in size; {AGAIN}")
    return Partition(
        labels=tuple(json.loads(head)["labels"]),
        chunks=chunks,
        dense=dense,
        titles=faiss.read_index(str(folder / TITLES)),
        title_rows=rows,
        bm25=bm25,
        sentences=tuple(np.split(spoken, np.cumsum(counts)[:-1])),
        alive=np.array([item.source.file not in dead for item in chunks], dtype=np.bool_),
        days=np.array([_days(item.source) for item in chunks], dtype=np.int64).reshape(-1, 2),
    )


def _days(source: Source) -> tuple[int, int]:
    first, last = source.effective_from or date.min, source.effective_to or date.max
    return first.toordinal(), last.toordinal()


def _parsed(fields: dict[str, Any]) -> Chunk:
    source = fields["source"]
    return Chunk(
        chunk_id=fields["chunk_id"],
        source=Source(
            file=source["file"],
            title=source["title"],
            version=source["version"],
            labels=tuple(source["labels"]),
            collections=tuple(source["collections"]),
            effective_from=_day(source["effective_from"]),
            effective_to=_day(source["effective_to"]),
        ),
        sha256=fields["sha256"],
        blocks=tuple(
            Block(b["text"], tuple(b["headings"]), b["paragraph"], b["page"], b["opening"])
            for b in fields["blocks"]
        ),
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
