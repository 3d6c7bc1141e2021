"""The launcher's command lines: this machine only, offline, and nothing but sealed folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inference import artefacts
from inference.backends import wire
from inference.errors import ArtefactError
from scripts import environment, vllm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sealed folder that stands for a model."""
    made = tmp_path / "small-model"
    made.mkdir()
    (made / "weights").write_text("w", encoding="utf-8")
    artefacts.write_manifest(made, {"name": "small-model"})
    return made


def adapter(tmp_path: Path, name: str, rank: int) -> Path:
    made = tmp_path / name
    made.mkdir()
    (made / "adapter_config.json").write_text(json.dumps({"r": rank}), encoding="utf-8")
    artefacts.write_manifest(made, {"name": name})
    return made


def line(*more: str) -> list[str]:
    return vllm.command(vllm.arguments(more))


def after(found: list[str], option: str) -> str:
    return found[found.index(option) + 1]


def test_cpu_profile_is_float32_eager_and_on_loopback(folder: Path) -> None:
    found = line("--model", str(folder), "--port", "8123")
    assert found[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    assert (after(found, "--host"), after(found, "--port")) == ("127.0.0.1", "8123")
    assert after(found, "--dtype") == "float32"
    assert {"--enforce-eager", "--enable-prefix-caching"} <= set(found)
    assert after(found, "--max-logprobs") == str(wire.SERVER_LOGPROBS)
    assert after(found, "--served-model-name") == "small-model"
    assert "--enable-lora" not in found


def test_gpu_profile_takes_parallel_copies_and_no_cpu_options(folder: Path) -> None:
    found = line(
        "--model", str(folder), "--profile", "gpu", "--tensor-parallel", "2", "--data-parallel", "4"
    )
    assert found[0].endswith("vllm")
    assert found[1] == "serve"
    assert (after(found, "--tensor-parallel-size"), after(found, "--data-parallel-size")) == (
        "2",
        "4",
    )
    assert not {"--enforce-eager", "--dtype"} & set(found)
    assert after(found, "--host") == "127.0.0.1"


def test_socket_in_place_of_a_port(folder: Path) -> None:
    found = line("--model", str(folder), "--socket", "var/vllm.sock")
    assert after(found, "--uds") == "var/vllm.sock"
    assert not {"--host", "--port"} & set(found)


def test_adapters_are_named_and_the_rank_holds_the_greatest(folder: Path, tmp_path: Path) -> None:
    one, two = adapter(tmp_path, "one", 4), adapter(tmp_path, "two", 12)
    found = line("--model", str(folder), "--adapter", str(one), "--adapter", str(two))
    assert found[-2:] == [f"one={one}", f"two={two}"]
    assert after(found, "--max-lora-rank") == "16"
    entries = vllm.entries(vllm.arguments(["--model", str(folder), "--adapter", str(one)]))
    assert [(e.model, e.base) for e in entries] == [("small-model", ""), ("one", "small-model")]


def test_pinned_name_holds_the_digest(folder: Path) -> None:
    name = vllm.arguments(["--model", str(folder), "--pinned"]).model.name
    assert name == f"small-model@{artefacts.read(folder).digest[:12]}"


def test_changed_or_unsealed_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "weights").write_text("changed", encoding="utf-8")
    for path in (folder, tmp_path / "absent"):
        with pytest.raises(ArtefactError):
            vllm.arguments(["--model", str(path)])


@pytest.mark.parametrize("profile", ["cpu", "gpu"])
def test_server_is_offline_whatever_stands_outside(profile: str) -> None:
    found = vllm.variables(profile, {"HF_HUB_OFFLINE": "0", "PATH": "/bin", "OMP_NUM_THREADS": "7"})
    assert environment.OFFLINE.items() <= found.items()
    assert (found["PATH"], found["OMP_NUM_THREADS"]) == ("/bin", "7")
    assert ("VLLM_CPU_KVCACHE_SPACE" in found) == (profile == "cpu")


def test_lock_leaves_out_what_breaks_transformers_and_has_the_declared_version() -> None:
    lines = (vllm.ROOT / "requirements-vllm-cpu.lock").read_text(encoding="utf-8").splitlines()
    pins = dict(one.split("==") for one in lines if one and not one.startswith("#"))
    assert not {"torchvision", "torchaudio", "torchcodec"} & set(pins)
    assert pins["vllm-cpu"] == "0.32.0"
    assert pins["torch"] == "2.13.0"
