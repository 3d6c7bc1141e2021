"""Search: who sees what, in which order, and that what is hidden moves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from inference.encoder import TorchEncoder
from retrieval.chunk import Chunk
from retrieval.index import Index, build, open_index
from retrieval.search import Hit, search
from tests.retrieval.samples import TODAY, TOMORROW, chunk_of, corpus

Build = object


@pytest.fixture(scope="module")
def index(encoder: TorchEncoder, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return made(corpus(), encoder, tmp_path_factory.mktemp("index"))


def made(chunks: Sequence[Chunk], encoder: TorchEncoder, folder: Path) -> Index:
    build(chunks, encoder, folder, {})
    return open_index(folder, encoder.digest)


def files(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.source.file for hit in hits]


def test_best_passage_comes_first(index: Index, encoder: TorchEncoder) -> None:
    hits = search(index, encoder, "what does an outgoing wire cost", entitlements=["staff"])
    assert files(hits)[0] == "wires.md"
    assert {name: place.rank for name, place in hits[0].channels.items()} == {
        "dense": 1,
        "title": 1,
        "bm25": 1,
    }
    assert hits[0].reranked == max(hit.reranked for hit in hits)


@pytest.mark.parametrize(
    ("entitlements", "seen"),
    [
        ([], {"cards.md", "wires.md"}),
        (["member"], {"cards.md", "wires.md", "loans.md"}),
        (["staff"], {"cards.md", "wires.md", "loans.md", "secret.md"}),
        (["public"], {"cards.md", "wires.md"}),
        (["Staff", "STAFF "], {"cards.md", "wires.md"}),
    ],
)
def test_only_what_the_asker_may_see_is_found(
    index: Index, encoder: TorchEncoder, entitlements: list[str], seen: set[str]
) -> None:
    hits = search(index, encoder, "wire above $9,999", entitlements=entitlements, k=50)
    assert set(files(hits)) == seen


QUERIES = ["wire", "two persons", "rate of a loan", "card", "nothing of the kind", "$9,999", "五"]


@pytest.mark.parametrize("entitlements", [[], ["member"]])
def test_hidden_documents_move_nothing(
    index: Index, encoder: TorchEncoder, tmp_path: Path, entitlements: list[str]
) -> None:
    held = {*entitlements, "public"}
    seen = [c for c in corpus() if held.intersection(c.source.labels)]
    without = made(seen, encoder, tmp_path)
    for query in QUERIES:
        found = search(index, encoder, query, entitlements=entitlements, k=50)
        assert found == search(without, encoder, query, entitlements=entitlements, k=50)


def test_document_without_labels_is_seen_by_nobody(encoder: TorchEncoder, tmp_path: Path) -> None:
    index = made([chunk_of("a.md", ["a wire"], labels=())], encoder, tmp_path)
    assert search(index, encoder, "a wire", entitlements=["", "public", "staff"]) == ()


def test_collection_keeps_to_its_documents(encoder: TorchEncoder, tmp_path: Path) -> None:
    chunks = [
        chunk_of("a.md", ["wires are fast"], collections=("fees",)),
        chunk_of("b.md", ["wires are fast"], collections=("fees", "loans")),
        chunk_of("c.md", ["wires are fast"]),
    ]
    index = made(chunks, encoder, tmp_path)
    found = search(index, encoder, "wires", entitlements=[], collection="loans")
    assert files(found) == ["b.md"]
    assert files(search(index, encoder, "wires", entitlements=[], collection="cards")) == []


def test_document_of_tomorrow_is_not_found_today(encoder: TorchEncoder, tmp_path: Path) -> None:
    chunks = [
        chunk_of("new.md", ["a wire costs $25"], effective_from=TOMORROW),
        chunk_of("old.md", ["a wire costs $20"], effective_to=TODAY),
    ]
    index = made(chunks, encoder, tmp_path)
    assert files(search(index, encoder, "wire", entitlements=[], on=TODAY)) == ["old.md"]
    assert files(search(index, encoder, "wire", entitlements=[], on=TOMORROW)) == ["new.md"]


def test_more_than_there_is_gives_what_there_is(index: Index, encoder: TorchEncoder) -> None:
    assert len(search(index, encoder, "wire", entitlements=["staff"], k=10_000)) == len(corpus())


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_blank_query_finds_nothing(index: Index, encoder: TorchEncoder, query: str) -> None:
    assert search(index, encoder, query, entitlements=["staff"]) == ()


def test_empty_index_finds_nothing(encoder: TorchEncoder, tmp_path: Path) -> None:
    assert search(made([], encoder, tmp_path), encoder, "wire", entitlements=["staff"]) == ()


def test_words_that_nobody_has_still_rank_by_meaning(index: Index, encoder: TorchEncoder) -> None:
    hits = search(index, encoder, "zzz qqq", entitlements=[])
    assert all("bm25" not in hit.channels for hit in hits)
    assert {hit.channels["dense"].rank for hit in hits} == set(range(1, len(hits) + 1))


def test_equal_documents_are_ordered_by_name(encoder: TorchEncoder, tmp_path: Path) -> None:
    chunks = [chunk_of(f"{name}.md", ["the same text"], "H") for name in "cab"]
    found = search(made(chunks, encoder, tmp_path), encoder, "text", entitlements=[])
    assert files(found) == ["a.md", "b.md", "c.md"]


def test_every_sentence_is_scored(index: Index, encoder: TorchEncoder) -> None:
    for hit in search(index, encoder, "outgoing wire cost", entitlements=[]):
        assert len(hit.sentences) == len(hit.chunk.sentences)
        assert all(-1.001 <= score <= 1.001 for score in hit.sentences)
