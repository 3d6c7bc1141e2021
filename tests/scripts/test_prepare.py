"""Preparation: each artefact is built once, and again only when something it is made from changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from gate.load import Institution, load_institution
from inference import artefacts
from scripts import prepare
from sqlpath import execute
from tests.models import ENCODER, MODELS, ROOT, ROUTER, model


@pytest.fixture
def institution() -> Institution:
    """The demo with one document, which is indexed in a moment."""
    whole = load_institution(ROOT / "configs/demo")
    name = "documents/payments/wires.md"
    one = MappingProxyType({name: whole.documents.entries[name]})
    return replace(whole, documents=replace(whole.documents, entries=one))


def test_database_is_built_once(
    institution: Institution, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bank.duckdb"
    prepare.database(institution, path)
    assert "built in" in capsys.readouterr().out
    prepare.database(institution, path)
    assert capsys.readouterr().out == "      database is up to date\n"
    path.write_bytes(path.read_bytes()[:-1])
    prepare.database(institution, path)
    assert "built in" in capsys.readouterr().out
    execute.read_snapshot(path)


def test_index_is_built_once(
    institution: Institution, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = model(ENCODER).folder
    prepare.index(institution, tmp_path, base)
    assert "built in" in capsys.readouterr().out
    prepare.index(institution, tmp_path, base)
    assert capsys.readouterr().out == "      index is up to date\n"
    (tmp_path / "current").unlink()
    prepare.index(institution, tmp_path, base)
    assert "built in" in capsys.readouterr().out


def test_router_is_up_to_date_after_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    model(ROUTER)
    prepare.router(MODELS / ROUTER, ROOT / prepare.LABELS, model(ENCODER).folder)
    assert capsys.readouterr().out == "      router is up to date\n"


@pytest.mark.parametrize("change", ["absent", "flipped", "other labels"])
def test_router_is_trained_when_something_changed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: str,
) -> None:
    trained: list[Path] = []
    monkeypatch.setattr(prepare, "_train", lambda out, labels, base: trained.append(out))
    out, labels = tmp_path / "router", ROOT / prepare.LABELS
    if change != "absent":
        out.mkdir()
        for path in model(ROUTER).folder.iterdir():
            (out / path.name).symlink_to(path)
    if change == "flipped":
        (out / "head.safetensors").unlink()
        (out / "head.safetensors").write_bytes(b"other")
    if change == "other labels":
        labels = tmp_path / "labels.csv"
        labels.write_text("text,label\n")
    prepare.router(out, labels, model(ENCODER).folder)
    assert trained == [out]
    assert "building the router" in capsys.readouterr().out


def test_failure_is_one_line_and_exit_code_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert prepare.main() == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not any(tmp_path.iterdir())
    assert artefacts.MANIFEST == "manifest.json"
