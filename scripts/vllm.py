"""Starts vLLM's OpenAI-compatible server over a verified local model folder, and says when it is warm.

    scripts/serve-vllm --model var/models/smollm2-135m-instruct --port 8000

One JSON line on stdout when the server is ready; the server's own log goes to stderr. It listens on
loopback or a Unix socket, nowhere else. The GPU profile has not been run on a GPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gate.load.backends import VLLM, BackendEntry
from inference import artefacts
from inference.backends import wire
from inference.backends.handshake import Status, shake
from inference.backends.server import ServerBackend
from inference.errors import ArtefactError
from scripts import environment, terminal

ROOT: Final = Path(__file__).resolve().parents[1]
PYTHON: Final = ROOT / ".venv-vllm/bin/python"
READY_S: Final = 300
RANKS: Final = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks of adapters that vLLM can be told."""
SMALL: Final = {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "2"}
"""Of the CPU profile; what is set outside goes before."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model or adapter folder under the name that the server knows it by."""

    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Serving:
    """What is served, where, and how."""

    model: Served
    adapters: tuple[Served, ...]
    profile: str
    url: str
    tensor_parallel: int = 1
    data_parallel: int = 1
    context: int = 4096


def served(folder: Path, name: str | None, pinned: bool) -> Served:
    """A verified folder's name, with the first digits of its digest where it is pinned."""
    artefact = artefacts.read(folder)
    artefacts.verify(artefact)
    plain = name or folder.resolve().name
    return Served(f"{plain}@{artefact.digest[:12]}" if pinned else plain, folder.resolve())


def command(serving: Serving) -> list[str]:
    """The server's command line."""
    model = serving.model
    if serving.profile == "gpu":
        line = [str(PYTHON.parent / "vllm"), "serve", str(model.folder)]
        line += ["--tensor-parallel-size", str(serving.tensor_parallel)]
        line += ["--data-parallel-size", str(serving.data_parallel)]
    else:
        line = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server"]
        line += ["--model", str(model.folder), "--dtype", "float32", "--enforce-eager"]
    line += ["--served-model-name", model.name, "--enable-prefix-caching"]
    line += ["--max-logprobs", str(wire.SERVER_LOGPROBS), "--max-model-len", str(serving.context)]
    line += ["--disable-uvicorn-access-log", "--no-enable-log-requests"]
    if serving.url.startswith("unix:"):
        line += ["--uds", serving.url.removeprefix("unix:")]
    else:
        line += ["--host", "127.0.0.1", "--port", serving.url.rpartition(":")[2]]
    if serving.adapters:
        line += ["--enable-lora", "--max-lora-rank", str(_rank(serving.adapters)), "--lora-modules"]
        line += [f"{one.name}={one.folder}" for one in serving.adapters]
    return line


def _rank(adapters: Sequence[Served]) -> int:
    """The least rank that vLLM can be told and that holds every adapter's."""
    ranks = []
    for one in adapters:
        told = json.loads((one.folder / "adapter_config.json").read_text(encoding="utf-8"))
        ranks.append(int(told["r"]))
    return next((rank for rank in RANKS if rank >= max(ranks)), RANKS[-1])


def variables(profile: str, outside: Mapping[str, str]) -> dict[str, str]:
    """The server's environment: offline, silent, small on a CPU."""
    small = SMALL if profile == "cpu" else {}
    return {"VLLM_LOGGING_LEVEL": "WARNING", **small, **outside, **environment.OFFLINE}


def entries(serving: Serving) -> tuple[BackendEntry, ...]:
    """The model and its adapters as backends, for the hand-shakes that warm the server."""
    names = [(serving.model.name, "")] + [(a.name, serving.model.name) for a in serving.adapters]
    return tuple(
        BackendEntry(
            "warm-up", VLLM, serving.url, model=name, base=base, identities=(name,), form="codes",
            constraint="structured_outputs",
        )
        for name, base in names
    )  # fmt: skip


async def warm(entry: BackendEntry) -> Status:
    """The hand-shake: it makes the first log-probability call, which takes vLLM 20 s on a CPU."""
    server = ServerBackend(entry)
    try:
        return await shake(server, READY_S)
    finally:
        await server.close()
        await asyncio.sleep(0)


def wait_until_warm(serving: Serving, process: subprocess.Popen[bytes]) -> None:
    """Return when every model has passed its hand-shake; ArtefactError with the reason if not in time."""
    until = time.monotonic() + READY_S
    for entry in entries(serving):
        status = asyncio.run(warm(entry))
        while status.reason.startswith("backend_down") and time.monotonic() < until:
            if process.poll() is not None:
                raise ArtefactError(f"vLLM ended with code {process.returncode}; its log says why")
            time.sleep(1)
            status = asyncio.run(warm(entry))
        if status.reason:
            raise ArtefactError(f"`{entry.model}` is {status.health}: {status.reason}")


def serve(serving: Serving) -> int:
    """Run the server until it ends or a signal comes; 0 after a signal."""
    if not PYTHON.exists():
        raise ArtefactError("no .venv-vllm; run `scripts/setup-vllm`")
    process = subprocess.Popen(  # noqa: S603
        command(serving), env=variables(serving.profile, os.environ), stdout=sys.stderr
    )
    stopped = []

    def stop(number: int, _: object) -> None:
        stopped.append(number)
        process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        wait_until_warm(serving, process)
        told = {"url": serving.url, "model": serving.model.name, "profile": serving.profile}
        terminal.json_line({**told, "adapters": [a.name for a in serving.adapters]})
        sys.stdout.flush()
        code = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(30)
    return 0 if stopped else code


def arguments(line: Sequence[str] | None) -> Serving:
    """What the command line asks for; folders are verified."""
    reader = argparse.ArgumentParser(
        prog="scripts/serve-vllm",
        description="Serve a local model folder with vLLM, on this machine only.",
        epilog="example: scripts/serve-vllm --model var/models/smollm2-135m-instruct --port 8000",
    )
    reader.add_argument("--model", type=Path, required=True, help="model folder with a manifest")
    reader.add_argument("--name", help="its name; the folder's if left out")
    reader.add_argument("--adapter", type=Path, action="append", default=[], help="LoRA folder")
    reader.add_argument("--pinned", action="store_true", help="names end in @ and 12 digest digits")
    where = reader.add_mutually_exclusive_group()
    where.add_argument("--port", type=int, default=8000, help="port on 127.0.0.1")
    where.add_argument("--socket", type=Path, help="Unix socket in place of a port")
    reader.add_argument("--profile", choices=("cpu", "gpu"), default="cpu", help="gpu: not yet run")
    reader.add_argument("--tensor-parallel", type=int, default=1, help="GPUs of one copy")
    reader.add_argument("--data-parallel", type=int, default=1, help="copies")
    reader.add_argument("--context", type=int, default=4096, help="tokens of prompt and answer")
    told = reader.parse_args(line)
    return Serving(
        served(told.model, told.name, told.pinned),
        tuple(served(folder, None, told.pinned) for folder in told.adapter),
        told.profile,
        f"unix:{told.socket}" if told.socket else f"http://127.0.0.1:{told.port}",
        told.tensor_parallel,
        told.data_parallel,
        told.context,
    )


def main() -> int:
    """Serve; exit code 2 with a clear error for a folder that may not be served."""
    try:
        return serve(arguments(None))
    except ArtefactError as error:
        terminal.tell(f"error: {error}")
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
