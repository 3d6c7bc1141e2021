"""Faults of index and search: sizes, vectors, deletions, rewritten requests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval import vectors
from retrieval.chunk import Chunk
from retrieval.errors import BrokenIndexError
from retrieval.index import Index, build, delete, open_index, read_manifest
from retrieval.rerank import as_fused
from retrieval.rewrite import added, rewritten
from retrieval.search import as_asked, search, sufficient
from tests.retrieval.fakes import WordEncoder
from tests.retrieval.samples import chunk_of, corpus

ENCODER = WordEncoder()


def made(chunks: Sequence[Chunk], folder: Path, encoder: WordEncoder = ENCODER) -> Index:
    build(chunks, encoder, folder, {})
    return open_index(folder, encoder.digest)


def files(index: Index, query: str, k: int = 50, encoder: WordEncoder = ENCODER) -> list[str]:
    hits = search(index, encoder, query, entitlements=["staff"], k=k)
    return [hit.chunk.source.file for hit in hits]


def test_k_larger_than_the_index_gives_all(tmp_path: Path) -> None:
    index = made(corpus(), tmp_path)
    assert sorted(files(index, "wire", k=1000)) == sorted(c.source.file for c in corpus())
    assert files(index, "wire", k=0) == []


def test_empty_index_finds_nothing_alone_and_in_a_batch(tmp_path: Path) -> None:
    index = made([], tmp_path)
    assert index.partitions == ()
    assert [files(index, query) for query in ("wire", "", "card")] == [[], [], []]


def test_request_of_no_words_is_found_by_nobody(tmp_path: Path) -> None:
    index = made(corpus(), tmp_path)
    assert files(index, "the ?") == []


def test_zero_vector_of_a_passage_is_found_by_its_words(tmp_path: Path) -> None:
    index = made([chunk_of("a.md", ["Fees."]), chunk_of("b.md", ["Wires."])], tmp_path)
    assert files(index, "wires")[0] == "b.md"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vector_that_is_no_number_is_refused(tmp_path: Path, value: float) -> None:
    with pytest.raises(BrokenIndexError, match="not finite"):
        made(corpus(), tmp_path, WordEncoder(value=value))
    index = made(corpus(), tmp_path)
    with pytest.raises(BrokenIndexError, match="not finite"):
        files(index, "wire", encoder=WordEncoder(value=value))


def test_wrong_dimension_is_named(tmp_path: Path) -> None:
    index = made(corpus(), tmp_path)
    with pytest.raises(BrokenIndexError, match=r"shape \(1, 8\), not \(1, 16\); use the encoder"):
        files(index, "wire", encoder=WordEncoder(8))


def test_deleted_document_is_not_found_and_the_others_keep_their_names(tmp_path: Path) -> None:
    chunks = sorted(corpus(), key=lambda chunk: chunk.source.file)
    before = made(chunks, tmp_path)
    first = chunks[0].source.file
    kept = {c.chunk_id: c.text for c in chunks if c.source.file != first}
    digest = delete(tmp_path, [first])
    after = open_index(tmp_path, ENCODER.digest)
    assert after.digest == digest != before.digest
    hits = search(after, ENCODER, "wire card rate", entitlements=["staff"], k=50)
    assert {hit.chunk.chunk_id: hit.chunk.text for hit in hits} == kept
    assert read_manifest(tmp_path)[1]["tombstones"] == [first]


def test_deletion_of_an_unknown_document_changes_nothing(tmp_path: Path) -> None:
    before = made(corpus(), tmp_path).digest
    with pytest.raises(BrokenIndexError, match=r"holds no document `gone\.md`"):
        delete(tmp_path, ["gone.md"])
    assert read_manifest(tmp_path)[0] == before


def test_rebuild_forgets_deletions(tmp_path: Path) -> None:
    made(corpus(), tmp_path)
    delete(tmp_path, ["wires.md"])
    assert "wires.md" in files(made(corpus(), tmp_path), "wire")


@pytest.mark.parametrize(("rows", "kind"), [(50_000, "flat"), (50_001, "hnsw"), (500_001, "ivf")])
def test_kind_follows_from_size(rows: int, kind: str) -> None:
    assert vectors.kind_of(rows) == kind


@pytest.mark.parametrize("kind", [vectors.FLAT, vectors.HNSW, vectors.IVF])
def test_every_kind_finds_the_nearest_allowed_row_and_is_built_alike(kind: str) -> None:
    import faiss

    data = np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    index = vectors.build(data, kind)
    assert faiss.serialize_index(index).tobytes() == (
        faiss.serialize_index(vectors.build(data, kind)).tobytes()
    )
    allowed = np.ones(2000, dtype=np.bool_)
    assert vectors.nearest(index, data[7:8], 3, None)[0][0] == 7
    allowed[7] = False
    rows, scores = vectors.nearest(index, data[7:8], 3, allowed)
    exact = np.where(allowed, data @ data[7], -2)
    assert rows[0] == int(exact.argmax())
    assert scores[0] == pytest.approx(exact.max(), abs=1e-5)


def test_request_is_rewritten_with_declared_terms_alone() -> None:
    assert added("Can a bank mail me a debit card?") == ("financial institution", "access device")
    assert rewritten("Can a bank refuse?") == "Can a bank refuse? (financial institution)"
    assert rewritten("Wie spät ist es?") == "Wie spät ist es?"
    assert added("my financial institution is a bank") == ()


def test_query_form_and_reranker_are_exchangeable(tmp_path: Path) -> None:
    chunks = [
        chunk_of("a.md", ["A financial institution keeps papers."]),
        chunk_of("b.md", ["A river has a bed and water."]),
    ]
    index = made(chunks, tmp_path)
    given = {"entitlements": (), "reranker": as_fused, "weights": {"bm25": 1.0}}
    assert [h.chunk.source.file for h in search(index, ENCODER, "bank", **given)] == ["a.md"]  # type: ignore[arg-type]
    assert search(index, ENCODER, "bank", form=as_asked, **given) == ()  # type: ignore[arg-type]


def test_nothing_is_sufficient_where_nothing_is_found(tmp_path: Path) -> None:
    index = made(corpus(), tmp_path)
    assert not sufficient(())
    hits = search(
        index, ENCODER, "An outgoing wire costs $20.00. An incoming wire is free.", entitlements=()
    )
    assert hits[0].chunk.source.file == "wires.md"
    assert sufficient(hits)
    assert not sufficient(hits, hits[0].reranked + 0.01)
