"""What a machine with an NVIDIA GPU makes of the parts that learn and propose: one JSON object.

    scripts/gpu-check                          on a GPU; exit code 2 where there is none
    scripts/gpu-check --server http://127.0.0.1:8000 --served smollm2-135m-instruct
    scripts/gpu-check --cpu                    the same paths with a tiny random model: no figures

Closed choice against the JSON form, in this process and on a vLLM server where one is named; the
embedded proposer in bfloat16 against float32; two supervised steps and two of DPO. It has not been
run on a GPU yet. After `SECONDS` no further part is begun.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from gate.catalog import Catalog
from gate.errors import RoutelockError
from gate.load import load_institution
from gate.load.backends import VLLM, BackendEntry
from inference import artefacts, prompts
from inference.artefacts import Artefact
from inference.backends import Backend, embedded
from inference.backends.embedded import EmbeddedBackend
from inference.backends.server import ServerBackend
from inference.question import Question
from scripts import environment, terminal

SECONDS: Final = 420
CONFIG: Final = Path("configs/demo")
MODEL: Final = Path("var/models/smollm2-135m-instruct")
TEXTS: Final = (
    "what is my balance",
    "freeze my card ending 1234 please",
    "how much does a wire abroad cost",
    "the latest price of the bond fund",
    "tell me a joke",
    "I moved, my new address is 5 Main Street",
)
STEPS: Final = 2


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured on: device, numbers there, model, catalog and how often a text is asked."""

    device: str
    dtype: str
    model: Artefact
    catalog: Catalog
    rounds: int
    server: BackendEntry | None = None

    @property
    def coded(self) -> str:
        """The static part of the closed choice."""
        return prompts.static_part(self.catalog, coded=True)

    @property
    def codes(self) -> str:
        """Its codes, one character each."""
        return prompts.CODES[: len(self.catalog.actions) + 1]

    def open(self, dtype: str) -> EmbeddedBackend:
        """The model as a proposer that chooses codes."""
        fields = {**self.model.manifest, "codes": True}
        sealed = Artefact(self.model.folder, self.model.digest, fields)
        return EmbeddedBackend("embedded", sealed, dtype=dtype, device=self.device)


def choice_against_json(bench: Bench) -> Mapping[str, Any]:
    """Milliseconds of one closed choice and of spelling a JSON proposal, both behind a kept prefix."""
    backend = bench.open(bench.dtype)
    closed = [_timed(bench, partial(_weigh, backend, bench, text)) for text in _asked(bench)]
    spelt = [_timed(bench, spelling) for spelling in _spellings(backend, bench)]
    told = {"closed_ms": _median(closed), "json_ms": _median(spelt)}
    return {**told, "ratio": round(told["json_ms"] / told["closed_ms"], 1)}


def _weigh(backend: EmbeddedBackend, bench: Bench, text: str) -> tuple[float, ...]:
    asked = prompts.prompt(bench.coded, Question(text))
    return backend.weigh(asked, bench.codes).probabilities


def _spellings(backend: EmbeddedBackend, bench: Bench) -> list[Callable[[], object]]:
    """For each text, decoding a legal JSON proposal token by token, as a constrained engine would."""
    import torch

    action = next(iter(bench.catalog.actions))
    legal = json.dumps({"action_id": action, "object_id": "UNRESOLVED", "topk": [action]})
    static = prompts.json_part(bench.catalog)
    tokenizer, model = backend._load()
    prefix = backend._prefix(static)
    answer = tokenizer.encode(legal, add_special_tokens=False)

    def spell(text: str) -> None:
        cache = embedded._copied(prefix.cache)
        tail = backend._tail(prefix, prompts.prompt(static, Question(text)))
        with torch.inference_mode():
            for ids in (tail, *([token] for token in answer)):
                tokens = torch.tensor([ids], device=model.device)
                out = model(tokens, cache=cache, use_cache=True, logits_to_keep=1)
                out.logits[0, -1].argmax().item()

    spell(TEXTS[0])
    return [partial(spell, text) for text in _asked(bench)]


def server_choice_against_json(bench: Bench) -> Mapping[str, Any]:
    """The same two forms on a vLLM server, by their wall time."""
    if bench.server is None:
        return {"skipped": "no --server"}
    found: dict[str, float] = {}
    for form in ("codes", "json"):
        entry = BackendEntry(**{**_fields(bench.server), "form": form})
        found[form] = _median(asyncio.run(_served(ServerBackend(entry), bench, form)))
    ratio = round(found["json"] / found["codes"], 1)
    return {"closed_ms": found["codes"], "json_ms": found["json"], "ratio": ratio}


def _fields(entry: BackendEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__dataclass_fields__}


async def _served(backend: Backend, bench: Bench, form: str) -> list[float]:
    static = bench.coded if form == "codes" else prompts.json_part(bench.catalog)
    codes = tuple(bench.codes) if form == "codes" else tuple(prompts.label_names(bench.catalog))
    taken = []
    for text in (TEXTS[0], *_asked(bench)):
        started = time.perf_counter()
        await backend.choose(prompts.prompt(static, Question(text)), codes)
        taken.append((time.perf_counter() - started) * 1000)
    return taken[1:]


def embedded_bfloat16(bench: Bench) -> Mapping[str, Any]:
    """The embedded proposer in bfloat16: time, and how far its distributions are from float32's."""
    exact, rough = bench.open("float32"), bench.open("bfloat16")
    pairs = [(_weigh(exact, bench, t), _weigh(rough, bench, t)) for t in TEXTS]
    gaps = [max(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs]
    same = sum(a.index(max(a)) == b.index(max(b)) for a, b in pairs)
    taken = [_timed(bench, partial(_weigh, rough, bench, text)) for text in _asked(bench)]
    told = {"ms": _median(taken), "largest_gap": round(max(gaps), 4)}
    return {**told, "same_best": same, "of": len(pairs)}


def supervised_steps(bench: Bench) -> Mapping[str, Any]:
    """Steps of the adapter's recipe, two codes as gold in turn: seconds and losses."""
    from training.prefix_loss import Halves, Prefix
    from training.proposer import Learning, Recipe, Rows, with_adapter

    tokenizer, model = embedded.load(bench.model.folder, bench.dtype, bench.device)
    recipe = Recipe(batch_size=len(TEXTS), epochs=STEPS, max_steps=STEPS)
    tuned = with_adapter(model, recipe)
    prefix = Prefix.of(tokenizer, bench.coded, tuple(bench.codes))
    requests = tuple(prefix.request(tokenizer, text) for text in TEXTS)
    rows = Rows(requests, tuple(i % 2 for i in range(len(TEXTS))))
    halves = Halves(model, prefix, max(0, model.config.num_hidden_layers - recipe.layers))
    learning = Learning.of(tuned, recipe, STEPS)
    started = time.perf_counter()
    losses = [round(learning.step(halves, batch, rows), 4) for batch in rows.batches(recipe)]
    return {"losses": losses, "seconds": round(time.perf_counter() - started, 2)}


def preference_steps(bench: Bench) -> Mapping[str, Any]:
    """Steps of DPO with low-rank weights: seconds and losses."""
    from datasets import Dataset
    from peft import LoraConfig
    from trl.trainer.dpo_config import DPOConfig
    from trl.trainer.dpo_trainer import DPOTrainer

    tokenizer, model = embedded.load(bench.model.folder, bench.dtype, bench.device)
    pairs = [{"prompt": f"{t}\nService:", "chosen": "A", "rejected": "B"} for t in TEXTS[:4]]
    with tempfile.TemporaryDirectory() as scratch:
        settings = DPOConfig(
            output_dir=scratch,
            max_steps=STEPS,
            per_device_train_batch_size=2,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=bench.device == "cpu",
            bf16=False,
            dataloader_pin_memory=bench.device != "cpu",
        )
        trainer = DPOTrainer(
            model,
            args=settings,
            train_dataset=Dataset.from_list(pairs),
            processing_class=tokenizer,
            peft_config=LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
        )
        started = time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):  # stdout is for one JSON object
            trainer.train()
        seconds = time.perf_counter() - started
        losses = [round(e["loss"], 4) for e in trainer.state.log_history if "loss" in e]
    return {"losses": losses, "seconds": round(seconds, 2)}


PARTS: Final[Mapping[str, Callable[[Bench], Mapping[str, Any]]]] = {
    "choice_against_json": choice_against_json,
    "server_choice_against_json": server_choice_against_json,
    "embedded_bfloat16": embedded_bfloat16,
    "supervised_steps": supervised_steps,
    "preference_steps": preference_steps,
}


def check(bench: Bench, clock: Callable[[], float] = time.monotonic) -> dict[str, Any]:
    """Every part's figures, or why it has none; no part stops another."""
    started = clock()
    found: dict[str, Any] = {}
    for name, part in PARTS.items():
        if clock() - started > SECONDS:
            found[name] = {"skipped": f"{SECONDS} s are over"}
            continue
        try:
            found[name] = part(bench)
        except Exception as error:  # whatever a driver or a library raises is the finding
            found[name] = {"failed": f"{type(error).__name__}: {error}"}
    return {**found, "seconds": round(clock() - started, 1)}


def _asked(bench: Bench) -> list[str]:
    return list(TEXTS) * bench.rounds


def _timed(bench: Bench, work: Callable[[], object]) -> float:
    """Milliseconds, the device's own work included."""
    import torch

    started = time.perf_counter()
    work()
    if bench.device != "cpu":
        torch.cuda.synchronize()
    return (time.perf_counter() - started) * 1000


def _median(taken: Sequence[float]) -> float:
    return round(statistics.median(taken), 3)


def tiny_model(folder: Path, tokenizer: Path = MODEL, layers: int = 2) -> Artefact:
    """A causal model of a few small random layers with the packaged tokenizer; the same every time."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copyfile(tokenizer / name, folder / name)
    words = json.loads((tokenizer / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return artefacts.write_manifest(folder, {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one JSON object; 1 where a part failed, 2 without a GPU or a model."""
    environment.apply()
    reader = argparse.ArgumentParser(
        prog="scripts/gpu-check", description=(__doc__ or "").split("\n")[0]
    )
    reader.add_argument("--cpu", action="store_true", help="a dry run with a tiny random model")
    reader.add_argument("--model", type=Path, default=MODEL, help="model folder with a manifest")
    reader.add_argument("--server", help="address of a vLLM server on this machine")
    reader.add_argument("--served", default=MODEL.name, help="the name that it serves the model by")
    given = reader.parse_args(arguments)
    import torch

    if not given.cpu and not torch.cuda.is_available():
        terminal.tell(
            "error: torch sees no NVIDIA GPU here; run it on a machine with one and a CUDA build of "
            "torch, or try its paths with --cpu"
        )
        return 2
    try:
        catalog = load_institution(CONFIG).configuration.catalog
        with tempfile.TemporaryDirectory() as scratch:
            model = tiny_model(Path(scratch) / "tiny") if given.cpu else artefacts.read(given.model)
            server = _entry(given.server, given.served) if given.server else None
            device, rounds = ("cpu", 1) if given.cpu else ("cuda", 20)
            found = check(Bench(device, "bfloat16", model, catalog, rounds, server))
    except RoutelockError as error:
        terminal.tell(f"error: {error}")
        return 2
    where = {"device": "cpu, dry run" if given.cpu else torch.cuda.get_device_name()}
    libraries = {name: version(name) for name in ("torch", "transformers", "peft", "trl")}
    terminal.json_line({**where, "libraries": libraries, **found})
    return 1 if any("failed" in part for part in found.values() if isinstance(part, dict)) else 0


def _entry(url: str, model: str) -> BackendEntry:
    return BackendEntry(
        "gpu-check",
        VLLM,
        url.rstrip("/"),
        model=model,
        identities=(model,),
        form="codes",
        constraint="structured_outputs",
    )


if __name__ == "__main__":
    sys.exit(main())
