"""Building the index of an institution: every fault is named, equal documents are indexed once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from gate.load import Institution, load_institution
from gate.load.documents import DocumentEntry
from inference import stores
from retrieval.errors import BrokenIndexError
from retrieval.search import search
from tests.models import ROOT
from tests.retrieval.fakes import WordEncoder
from tests.retrieval.samples import TODAY, TOMORROW

ENCODER = WordEncoder()


def institution(folder: Path, texts: dict[str, str], **fields: object) -> Institution:
    """The demo with these documents instead of its own."""
    whole = load_institution(ROOT / "configs/demo")
    entries = {}
    for file, text in texts.items():
        (folder / file).write_text(text)
        entry = DocumentEntry(file, file, "1", TODAY, None, ("public",))
        entries[file] = replace(entry, **fields)  # type: ignore[arg-type]
    declared = replace(whole.documents, entries=MappingProxyType(entries), collections={})
    return replace(whole, folder=folder, documents=declared)


def test_build_names_every_file_that_cannot_be_read_and_leaves_the_index(tmp_path: Path) -> None:
    texts = {"a.md": "A wire costs $20.", "b.md": "A card is free.", "c.md": "A loan costs more."}
    declared = institution(tmp_path, texts)
    before = stores.build_index(declared, ENCODER, tmp_path / "index")
    assert (before.documents, before.duplicates) == (3, {})
    (tmp_path / "a.md").unlink()  # as if it disappeared while the build was on its way
    (tmp_path / "c.md").write_bytes(b"\xff\xfe")
    with pytest.raises(BrokenIndexError, match="2 document") as caught:
        stores.build_index(declared, ENCODER, tmp_path / "index")
    assert "`a.md`: cannot be read" in str(caught.value)
    assert "`c.md`: not UTF-8" in str(caught.value)
    assert stores.open_index(tmp_path / "index", ENCODER).digest == before.digest


def test_equal_documents_are_indexed_once(tmp_path: Path) -> None:
    text = "A wire costs $20."
    declared = institution(tmp_path, {"a.md": text, "b.md": text, "c.md": "A card is free."})
    built = stores.build_index(declared, ENCODER, tmp_path / "index")
    assert (built.documents, built.duplicates) == (2, {"b.md": "a.md"})
    opened = stores.open_index(tmp_path / "index", ENCODER)
    found = search(opened, ENCODER, "wire", entitlements=(), k=9)
    assert [hit.chunk.source.file for hit in found][:1] == ["a.md"]
    assert "b.md" not in [hit.chunk.source.file for hit in found]


def test_equal_bytes_with_other_labels_are_two_documents(tmp_path: Path) -> None:
    declared = institution(tmp_path, {"a.md": "A wire costs $20.", "b.md": "A wire costs $20."})
    entries = dict(declared.documents.entries)
    entries["b.md"] = replace(entries["b.md"], labels=("staff",))
    declared = replace(declared, documents=replace(declared.documents, entries=entries))
    assert stores.build_index(declared, ENCODER, tmp_path / "index").duplicates == {}


def test_document_in_force_from_tomorrow_is_found_from_tomorrow(tmp_path: Path) -> None:
    declared = institution(tmp_path, {"a.md": "A wire costs $20."}, effective_from=TOMORROW)
    stores.build_index(declared, ENCODER, tmp_path / "index")
    opened = stores.open_index(tmp_path / "index", ENCODER)
    assert search(opened, ENCODER, "wire", entitlements=(), on=TODAY) == ()
    assert len(search(opened, ENCODER, "wire", entitlements=(), on=TOMORROW)) == 1
