"""Train the proposer's adapter: low-rank weights that teach a small model the catalog's codes.

    routelock train proposer --config configs/demo --data training/data/demo/utterances.csv \\
        --base var/models/smollm2-135m-instruct --out configs/demo/models/proposer

Supervised (Hu et al., LoRA, 2021): for the very prompt that is served, cross-entropy on the one
token that is read, the code, over the legal codes (prefix_loss.py). Only the upper layers are
adapted, so that the lower ones are read once. A checkpoint is written every few batches, from which
the same call goes on; `minutes` stops at one.

What the adapter is worth is measured through the backend that serves it, on texts that were held
back; the thresholds come from the same texts (proposer_policy.py).
"""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gate.catalog import Catalog
from gate.load import load_institution
from inference import artefacts, prompts, sinks
from inference.artefacts import Artefact
from inference.backends import adapters, embedded
from training import proposer_policy
from training.errors import TrainingError
from training.labels import Example, read, split
from training.prefix_loss import REFRESH, Halves, Prefix
from training.router import one_thread
from training.unseen import Watch, unwatched


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result beside texts, catalog and base model."""

    layers: int = 8
    """Upper layers that are adapted."""
    rank: int = 16
    scale: float = 2.0
    """What the low-rank product is multiplied with; peft's lora_alpha is scale times rank."""
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-3
    warm_up: int = 10
    """Steps in which the rate rises."""
    fall: float = 0.4
    """Share of the steps, the last ones, in which it falls to 0."""
    max_steps: int = -1
    """Stop after so many batches; -1 trains all epochs."""
    held_back: float = 0.15
    """Share of every label's texts that is only measured and calibrated on."""
    dtype: str = "bfloat16"
    """Torch's name of what the base model's matrices are multiplied in while training."""
    seed: int = 20261201


RECIPE = Recipe()
BASE = Path("var/models/smollm2-135m-instruct")
MATRICES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
CODE = tuple(
    Path(__file__).with_name(name) for name in ("proposer.py", "prefix_loss.py", "labels.py")
)
LIBRARIES = ("torch", "transformers", "peft")
EVERY = 2 * REFRESH
"""Batches from one checkpoint to the next; going on from one then changes nothing."""
BUCKET = 20
"""Batches whose texts are drawn together and sorted by length, so that little is padded."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a catalog asks a proposer to learn: its prompt, and labels in the order of their codes."""

    static: str
    labels: tuple[str, ...]

    @staticmethod
    def of(catalog: Catalog) -> Task:
        """The closed choice with codes, as the tier makes it."""
        return Task(prompts.static_part(catalog, coded=True), tuple(prompts.label_names(catalog)))

    @property
    def codes(self) -> dict[str, str]:
        """Label to code."""
        return dict(zip(self.labels, prompts.CODES, strict=False))


def train(
    config: Path,
    data: Path,
    base: Path,
    out: Path,
    recipe: Recipe = RECIPE,
    watch: Watch = unwatched,
    minutes: float | None = None,
) -> Artefact | None:
    """Train an adapter for the catalog in `config` and put it at `out` in one step.

    None where `minutes` were over before the end: the same call goes on. Raises TrainingError for
    unusable labels, ArtefactError for a base that is not what it says.
    """
    started = time.monotonic()
    task = Task.of(load_institution(config).configuration.catalog)
    kept, held = split(_labelled(data, task), recipe.held_back, recipe.seed)
    source = artefacts.read(base)
    artefacts.verify(source)
    out.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = out.with_name(f".{out.name}.checkpoint")
    until = None if minutes is None else started + 60 * minutes
    with one_thread():
        found = fit(base, task, kept, recipe, checkpoint, watch, until)
    if found is None:
        return None
    model, seconds = found
    fields = {
        "kind": adapters.KIND,
        "codes": True,
        "codes_of": task.codes,
        "prompt": prompts.digest(task.static),
        "base": {"folder": base.as_posix(), "files": dict(adapters.identity(source))},
        "recipe": asdict(recipe),
        "inputs": inputs(data, task),
        "made_by": {
            "config": config.as_posix(),
            "data_file": data.as_posix(),
            "out": out.as_posix(),
        },
        "texts": {"trained": len(kept), "held_back": len(held)},
        "held_back_texts": sorted(adapters.text_digest(example.text) for example in held),
        "libraries": {name: version(name) for name in LIBRARIES},
        "seconds": round(seconds),
        "calibrated": False,
    }
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as scratch:
        folder = Path(scratch) / "adapter"
        _save(model, folder, base)
        made = artefacts.write_manifest(folder, fields)
        proposer_policy.finish(made, config, held, watch)
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(out)
    checkpoint.unlink(missing_ok=True)
    return artefacts.read(out)


def derive(config: Path, data: Path, folder: Path, watch: Watch = unwatched) -> Artefact:
    """Policy, figures and card of the adapter in `folder` anew, its weights as they are.

    Raises TrainingError where `data` is not what it was trained on: what was held back is not known.
    """
    task = Task.of(load_institution(config).configuration.catalog)
    found = artefacts.read(folder)
    if found.manifest["inputs"]["data"] != artefacts.sha256(data):
        raise TrainingError(f"`{folder}` was trained on other texts than `{data}`; train it again")
    recipe = found.manifest["recipe"]
    _, held = split(_labelled(data, task), recipe["held_back"], recipe["seed"])
    return proposer_policy.derived_anew(folder, config, held, watch)


def inputs(data: Path, task: Task) -> dict[str, str]:
    """Digests of labels, prompt and recipe; the base is named beside them."""
    code = {f"code:{path.name}": artefacts.sha256(path) for path in CODE}
    return {"data": artefacts.sha256(data), "prompt": prompts.digest(task.static), **code}


def _labelled(data: Path, task: Task) -> tuple[Example, ...]:
    found = read(data)
    strange = sorted({e.label for e in found} - {*task.labels})
    if strange:
        raise TrainingError(f"`{data}` has the label `{strange[0]}`, which catalog.yaml does not")
    return found


def with_adapter(model: Any, recipe: Recipe) -> Any:
    """The model with fresh low-rank weights on its upper layers, which alone will learn."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(recipe.seed)
    count = model.config.num_hidden_layers
    config = LoraConfig(
        r=recipe.rank,
        lora_alpha=round(recipe.scale * recipe.rank),
        target_modules=list(MATRICES),
        layers_to_transform=list(range(max(0, count - recipe.layers), count)),
        layers_pattern="layers",
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)


@dataclass(frozen=True, slots=True)
class Learning:
    """Everything that a step changes, and what the lower layers made of the texts read so far."""

    parameters: list[Any]
    optimiser: Any
    schedule: Any
    lower: dict[int, Any]

    @staticmethod
    def of(tuned: Any, recipe: Recipe, steps: int) -> Learning:
        """The start of `steps` batches: the rate rises, stays, and falls to 0."""
        import torch

        parameters = [p for p in tuned.parameters() if p.requires_grad]
        optimiser = torch.optim.AdamW(parameters, lr=recipe.learning_rate, weight_decay=0.0)
        last = max(1.0, steps * recipe.fall)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda n: min((n + 1) / recipe.warm_up, (steps - n) / last, 1.0)
        )
        return Learning(parameters, optimiser, schedule, {})

    def step(self, halves: Halves, batch: Sequence[int], rows: Rows) -> float:
        """One batch; returns its loss."""
        import torch

        new = [i for i in batch if i not in self.lower]
        if new:
            found = halves.lower([rows.requests[i] for i in new])
            self.lower.update(zip(new, found, strict=True))
        loss = halves.loss([self.lower[i] for i in batch], [rows.gold[i] for i in batch])
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.schedule.step()
        return float(loss.detach())


@dataclass(frozen=True, slots=True)
class Rows:
    """Tokens of each request behind the prefix, and the place of its label."""

    requests: tuple[list[int], ...]
    gold: tuple[int, ...]

    def batches(self, recipe: Recipe) -> list[list[int]]:
        """Places of the rows in batches of like length, every epoch in an order of its own."""
        rng = random.Random(recipe.seed)  # noqa: S311 - reproducible, not secret
        size, found = recipe.batch_size, []
        for _ in range(recipe.epochs):
            order = rng.sample(range(len(self.gold)), len(self.gold))
            for start in range(0, len(order), size * BUCKET):
                bucket = order[start : start + size * BUCKET]
                alike = sorted(bucket, key=lambda i: len(self.requests[i]))
                parts = [alike[i : i + size] for i in range(0, len(alike), size)]
                found += rng.sample(parts, len(parts))
        return found[: recipe.max_steps] if recipe.max_steps >= 0 else found


def fit(
    base: Path,
    task: Task,
    examples: Sequence[Example],
    recipe: Recipe,
    checkpoint: Path,
    watch: Watch = unwatched,
    until: float | None = None,
) -> tuple[Any, float] | None:
    """The adapted model and the seconds that it took; None where the time was over first."""
    started = time.monotonic()
    tokenizer, model = embedded.load(base, recipe.dtype)
    tuned = with_adapter(model, recipe)
    prefix = Prefix.of(tokenizer, task.static, list(task.codes.values()))
    requests = tuple(prefix.request(tokenizer, e.text) for e in examples)
    rows = Rows(requests, tuple(task.labels.index(e.label) for e in examples))
    batches = rows.batches(recipe)
    learning, name = Learning.of(tuned, recipe, len(batches)), _key(base, task, examples, recipe)
    first, spent = _resume(checkpoint, name, learning)
    halves = Halves(model, prefix, max(0, model.config.num_hidden_layers - recipe.layers))
    for step in watch(range(first, len(batches)), "batches", len(batches) - first):
        learning.step(halves, batches[step], rows)
        if (step + 1) % EVERY == 0 or step + 1 == len(batches):
            _keep(checkpoint, name, step + 1, spent + time.monotonic() - started, learning)
            if until is not None and time.monotonic() > until and step + 1 < len(batches):
                return None
    halves.whole()
    return tuned, spent + time.monotonic() - started


def _key(base: Path, task: Task, examples: Sequence[Example], recipe: Recipe) -> str:
    """What a checkpoint must be of to be gone on from."""
    rows = [[e.text, e.label] for e in examples]
    found = [artefacts.read(base).digest, task.static, asdict(recipe), rows]
    return hashlib.sha256(sinks.json_text(found).encode()).hexdigest()


def _keep(path: Path, name: str, steps: int, seconds: float, learning: Learning) -> None:
    import torch

    new = path.with_name(path.name + ".new")
    state = {
        "key": name,
        "steps": steps,
        "seconds": seconds,
        "parameters": learning.parameters,
        "optimiser": learning.optimiser.state_dict(),
        "schedule": learning.schedule.state_dict(),
        "lower": learning.lower,
    }
    torch.save(state, new)
    new.replace(path)


def _resume(path: Path, name: str, learning: Learning) -> tuple[int, float]:
    """Steps and seconds that are done, their state loaded; 0 where the checkpoint is of another call."""
    import torch

    if not path.exists():
        return 0, 0.0
    kept = torch.load(path, weights_only=True)
    if kept["key"] != name:
        return 0, 0.0
    with torch.no_grad():
        for own, saved in zip(learning.parameters, kept["parameters"], strict=True):
            own.copy_(saved)
    learning.optimiser.load_state_dict(kept["optimiser"])
    learning.schedule.load_state_dict(kept["schedule"])
    learning.lower.update(kept["lower"])
    return int(kept["steps"]), float(kept["seconds"])


def _save(tuned: Any, folder: Path, base: Path) -> None:
    """The adapter as peft and vLLM read it, in float16, with the base's path as it was given."""
    import torch

    for parameter in tuned.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.float16)
    tuned.peft_config["default"].base_model_name_or_path = base.as_posix()
    tuned.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)  # the card is written by hand
