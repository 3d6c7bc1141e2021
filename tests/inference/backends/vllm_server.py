"""The real server on a CPU with SmolLM2 and a random adapter, started by scripts/serve-vllm."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.load.backends import BackendEntry, Bounds
from inference import artefacts
from tests.models import PROPOSER, ROOT, model

STARTED_S = 360
PATIENT = Bounds(deadline_s=120, queue_s=120, attempts=1)
"""For a busy machine: these tests ask what is answered, not when."""


@dataclass(frozen=True, slots=True)
class Vllm:
    """Where it listens, and the names of its model and of the adapter on it."""

    url: str
    model: str
    adapter: str

    def entry(self, form: str = "codes", adapted: bool = False) -> BackendEntry:
        """A local vLLM's entry."""
        name = self.adapter if adapted else self.model
        return BackendEntry(
            "vllm", "vllm", self.url, model=name, base=self.model if adapted else "",
            identities=(name,), form=form, constraint="structured_outputs", bounds=PATIENT,
        )  # fmt: skip


def random_adapter(folder: Path) -> Path:
    """A sealed LoRA folder of rank 8 whose weights are random, so that it changes something."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(model(PROPOSER).folder, local_files_only=True)
    config = LoraConfig(
        r=8, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    get_peft_model(base, config).save_pretrained(folder)
    artefacts.write_manifest(folder, {"name": folder.name})
    return folder


@contextmanager
def serving(scratch: Path) -> Iterator[Vllm]:
    """The server until the end of the block; the test fails with the end of its log where it cannot start."""
    adapter = random_adapter(scratch / "random-adapter")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [ROOT / "scripts/serve-vllm", "--model", model(PROPOSER).folder, "--port", str(port)]
    log = scratch / "vllm.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603
            [*line, "--adapter", adapter], stdout=subprocess.PIPE, stderr=errors, env=os.environ
        )
        try:
            told = json.loads(_ready(process, log))
            yield Vllm(told["url"], told["model"], told["adapters"][0])
        finally:
            process.terminate()
            process.wait(60)
            assert process.stdout is not None
            process.stdout.close()


def _ready(process: subprocess.Popen[bytes], log: Path) -> bytes:
    assert process.stdout is not None
    until = time.monotonic() + STARTED_S
    while time.monotonic() < until and process.poll() is None:
        if select.select([process.stdout], [], [], 1)[0] and (line := process.stdout.readline()):
            return line
    pytest.fail(f"vLLM did not start:\n{log.read_text(errors='replace')[-3000:]}")
