"""The index on disk: same bytes from same inputs, whole or refused, replaced in one step."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from inference.encoder import TorchEncoder
from retrieval import lexical
from retrieval.errors import BrokenIndexError
from retrieval.index import build, open_index, read_manifest
from retrieval.protocols import Vectors
from tests.retrieval.samples import corpus


@pytest.fixture(scope="module")
def built(encoder: TorchEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    build(corpus(), encoder, folder, {"documents": "1"})
    return folder


def copied(built: Path, folder: Path) -> Path:
    for path in built.rglob("*"):
        target = folder / path.relative_to(built)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def parts(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_same_chunks_in_any_order_give_the_same_bytes(
    built: Path, tmp_path: Path, encoder: TorchEncoder
) -> None:
    build(corpus()[::-1], encoder, tmp_path, {"documents": "1"})
    assert parts(tmp_path) == parts(built)


def test_partitions_follow_the_labels(built: Path, encoder: TorchEncoder) -> None:
    opened = open_index(built, encoder.digest)
    assert [part.labels for part in opened.partitions] == [
        ("member", "staff"),
        ("public",),
        ("staff",),
    ]
    assert sum(len(part.chunks) for part in opened.partitions) == len(corpus())


def test_opened_chunks_equal_the_built_ones(built: Path, encoder: TorchEncoder) -> None:
    opened = open_index(built, encoder.digest)
    found = {c.chunk_id: c for part in opened.partitions for c in part.chunks}
    assert found == {c.chunk_id: c for c in corpus()}


def test_manifest_names_documents_inputs_and_encoder(built: Path, encoder: TorchEncoder) -> None:
    version, manifest = read_manifest(built)
    assert manifest["encoder"] == encoder.digest
    assert manifest["inputs"] == {"documents": "1"}
    assert set(manifest["documents"]) == {c.source.file for c in corpus()}
    assert (built / version).is_dir()


PARTS = [
    "p0/chunks.jsonl", "p0/dense.faiss", "p0/sentences.npy", "p1/bm25/vocab.index.json",
    "p1/bm25/data.csc.index.npy", "manifest.json",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_flipped_byte_is_refused(
    built: Path, tmp_path: Path, encoder: TorchEncoder, part: str
) -> None:
    folder = copied(built, tmp_path)
    path = folder / read_manifest(folder)[0] / part
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(BrokenIndexError, match="routelock index build"):
        open_index(folder, encoder.digest)


@pytest.mark.parametrize("part", PARTS)
def test_missing_part_is_refused(
    built: Path, tmp_path: Path, encoder: TorchEncoder, part: str
) -> None:
    folder = copied(built, tmp_path)
    (folder / read_manifest(folder)[0] / part).unlink()
    with pytest.raises(BrokenIndexError):
        open_index(folder, encoder.digest)


def test_added_part_is_refused(built: Path, tmp_path: Path, encoder: TorchEncoder) -> None:
    folder = copied(built, tmp_path)
    (folder / read_manifest(folder)[0] / "p0" / "extra").touch()
    with pytest.raises(BrokenIndexError, match="extra"):
        open_index(folder, encoder.digest)


def test_other_encoder_is_refused(built: Path) -> None:
    with pytest.raises(BrokenIndexError, match="another encoder"):
        open_index(built, "0" * 64)


def test_newer_schema_is_refused(built: Path, tmp_path: Path, encoder: TorchEncoder) -> None:
    folder = copied(built, tmp_path)
    version, manifest = read_manifest(folder)
    text = json.dumps({**manifest, "schema_version": 3})
    (folder / version / "manifest.json").write_text(text)
    renamed = hashlib.sha256(text.encode()).hexdigest()
    (folder / version).rename(folder / renamed)
    (folder / "current").write_text(renamed)
    with pytest.raises(BrokenIndexError, match="schema_version"):
        open_index(folder, encoder.digest)


def test_absent_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenIndexError, match="holds no index"):
        read_manifest(tmp_path)


def test_rebuild_replaces_the_version_and_keeps_no_other(
    built: Path, tmp_path: Path, encoder: TorchEncoder
) -> None:
    folder = copied(built, tmp_path)
    old = read_manifest(folder)[0]
    new = build(corpus()[:2], encoder, folder, {"documents": "2"})
    assert new != old
    assert sorted(p.name for p in folder.iterdir()) == sorted(["current", new])
    assert sum(len(p.chunks) for p in open_index(folder, encoder.digest).partitions) == 2


class Broken:
    """An encoder whose vectors are not what they should be."""

    digest = "0" * 64
    dimensions = 4

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def encode(self, texts: object) -> Vectors:
        return self.vectors


@pytest.mark.parametrize(
    "vectors",
    [
        np.full((1, 4), np.nan, dtype=np.float32),
        np.ones((1, 3), dtype=np.float32),
        np.ones((9, 4), dtype=np.float32),
    ],
)
def test_failing_build_leaves_the_version_in_use(
    built: Path, tmp_path: Path, encoder: TorchEncoder, vectors: Vectors
) -> None:
    folder = copied(built, tmp_path)
    with pytest.raises(BrokenIndexError, match="the encoder gave"):
        build(corpus()[:1], Broken(vectors), folder, {})
    assert parts(folder) == parts(built)
    open_index(folder, encoder.digest)


def test_empty_index_opens_and_holds_nothing(tmp_path: Path, encoder: TorchEncoder) -> None:
    build([], encoder, tmp_path, {})
    assert open_index(tmp_path, encoder.digest).partitions == ()


def test_words_keep_numbers_and_drop_function_words() -> None:
    text = "The bank's $1,250.50 fee, isn't it? Überweisung 转账"
    assert lexical.words(text) == ["bank", "1,250.50", "fee", "isn", "t", "überweisung", "转账"]
