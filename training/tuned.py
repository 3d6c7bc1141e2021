"""Tune the whole sentence encoder with cross-entropy: encoder and classification head learn together.

    python -m training.tuned --data training/data/demo/utterances.csv --out var/models/demo-tuned

This is plain supervised fine-tuning, not contrastive: for thousands of texts it is cheaper than
pairs and its scores are better. The head starts as the logistic regression on the frozen vectors
(Kumar et al., Fine-Tuning can Distort Pretrained Features, 2022), so that the encoder is not bent
by a head that knows nothing yet. Head and encoder then move together, the rate rising for a tenth
of the steps and falling to 0. Word embeddings stay as they are (see README.md, Departures).

Work grows with the number of texts; after every epoch a checkpoint is written, from which the same
call goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded, head
from inference.classifiers.head import Head
from inference.encoder import MAX_TOKENS, TorchEncoder
from training import reach, runtime
from training.errors import TrainingError
from training.labels import Example, read, split
from training.router import one_thread


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result beside texts, labels and encoder."""

    epochs: int = 4
    least_steps: int = 300
    """A small set is gone over more often than `epochs`, until so many batches are done."""
    batch_size: int = 32
    learning_rate: float = 1e-4
    head_rate: float = 1e-3
    """Learning rate of the head, whose weights are a hundred times larger."""
    warm_up: float = 0.1
    """Share of the steps in which the rates rise."""
    decay: float = 0.01
    """AdamW's weight decay, on matrices of the encoder alone."""
    strength: float = 1.0
    """Inverse regularisation of the head's start, scikit-learn's C. A start that fits the texts already
    leaves the encoder nothing to learn."""
    max_steps: int = -1
    """Stop after so many batches; -1 trains all epochs."""
    held_back: float = 0.1
    """Share of every label's texts that is only measured on."""
    bfloat16: bool = False
    """Multiply matrices in bfloat16: twice as fast on a processor with AVX512-BF16, slower on others."""
    seed: int = 20261201


RECIPE = Recipe()
BASE = Path("var/models/all-minilm-l6-v2")
CODE = (Path(__file__), Path(__file__).with_name("labels.py"))
BUCKET = 50
"""Batches whose texts are drawn together and sorted by length, so that little is padded."""


def train(data: Path, base: Path, out: Path, recipe: Recipe = RECIPE) -> Artefact:
    """Train on `data`, starting from the encoder `base`, and put the artefact at `out` in one step.

    The runtime to serve with is chosen on the held-back texts (runtime.py). Raises TrainingError for
    unusable labels, ArtefactError for a base that is not what it says.
    """
    kept, held = split(read(data), recipe.held_back, recipe.seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as scratch:
        made = build(base, kept, recipe, Path(scratch) / "artefact", _checkpoint(out))
        fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
        inputs = {**fields["inputs"], "data": artefacts.sha256(data)}
        more = {"inputs": inputs, "held_back": measure(made, held)}
        chosen = runtime.choose(artefacts.write_manifest(made.folder, {**fields, **more}), held)
        reach.mark(chosen, kept, held)
        shutil.rmtree(out, ignore_errors=True)
        made.folder.rename(out)
    _checkpoint(out).unlink(missing_ok=True)
    return artefacts.read(out)


def build(
    base: Path, examples: Sequence[Example], recipe: Recipe, folder: Path, checkpoint: Path
) -> Artefact:
    """Tune on all of `examples` and write a new artefact to `folder`.

    Goes on from `checkpoint` where that is of the same call; raises TrainingError where what was
    saved predicts otherwise than what was trained.
    """
    started = time.monotonic()
    encoder = artefacts.read(base)
    artefacts.verify(encoder)
    labels = [example.label for example in examples]
    start, names = head.fit(
        TorchEncoder(encoder).encode([e.text for e in examples]),
        labels,
        recipe.strength,
        recipe.seed,
    )
    tuned = Tuned.start(base, start)
    rows = Rows.of(tuned.tokenizer, examples, names)
    with one_thread():
        _run(tuned, rows, recipe, checkpoint, key(encoder, examples, recipe))
    code = {f"code:{path.name}": artefacts.sha256(path) for path in CODE}
    fields = {
        "recipe": asdict(recipe),
        "inputs": {"base": encoder.digest, **code},
        "texts": {"trained": len(examples)},
        "calibrated": False,
        "seconds": round(time.monotonic() - started),
    }
    made = _save(tuned, names, base, folder, fields)
    agree(tuned, made, [e.text for e in examples[:AGREE]])
    return made


AGREE = 2000
"""Texts on which the saved artefact is compared with the trained one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Word pieces of each text and the place of its label."""

    pieces: tuple[list[int], ...]
    gold: NDArray[np.int64]

    @staticmethod
    def of(tokenizer: Any, examples: Sequence[Example], names: Sequence[str]) -> Rows:
        """The examples as the encoder reads them."""
        texts = [example.text for example in examples]
        found = tokenizer(texts, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        place = {name: i for i, name in enumerate(names)}
        return Rows(tuple(found), np.array([place[e.label] for e in examples], dtype=np.int64))

    def batches(self, recipe: Recipe, epoch: int) -> list[NDArray[np.int64]]:
        """Places of all rows in batches of like length, in a random order of their own per epoch."""
        rng = np.random.default_rng([recipe.seed, epoch])
        order = rng.permutation(len(self.pieces))
        size = recipe.batch_size
        found = []
        for start in range(0, len(order), size * BUCKET):
            bucket = order[start : start + size * BUCKET]
            alike = bucket[np.argsort([len(self.pieces[i]) for i in bucket], kind="stable")]
            found += [alike[i : i + size] for i in range(0, len(alike), size)]
        return [found[i] for i in rng.permutation(len(found))]


@dataclass(frozen=True, slots=True)
class Tuned:
    """Encoder and head while they learn; logits are `head` on the unit vectors, as they are served."""

    tokenizer: Any
    encoder: Any
    head: Any

    @staticmethod
    def start(base: Path, fitted: Head) -> Tuned:
        """The encoder of a folder, with a fitted head on it."""
        import torch
        from transformers import AutoModel, AutoTokenizer

        encoder: Any = AutoModel.from_pretrained(base, local_files_only=True)
        encoder.embeddings.requires_grad_(False)
        layer = torch.nn.Linear(fitted.coefficients.shape[1], len(fitted.intercepts))
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(fitted.coefficients))
            layer.bias.copy_(torch.tensor(fitted.intercepts))
        tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
        return Tuned(tokenizer, encoder, layer)

    def logits(self, pieces: Sequence[list[int]], bfloat16: bool) -> Any:
        """A tensor (len(pieces), labels)."""
        import torch

        batch = self.tokenizer.pad({"input_ids": list(pieces)}, return_tensors="pt")
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            tokens = self.encoder(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        mean = (tokens.float() * mask).sum(1) / mask.sum(1)
        return self.head(torch.nn.functional.normalize(mean, dim=1))

    def fitted(self) -> Head:
        """The head as arrays."""
        weight, bias = (p.detach().numpy() for p in (self.head.weight, self.head.bias))
        return head.from_arrays(weight.astype(np.float64), bias)


def _run(tuned: Tuned, rows: Rows, recipe: Recipe, checkpoint: Path, name: str) -> None:
    import torch
    from tqdm import tqdm

    per_epoch = -(-len(rows.pieces) // recipe.batch_size)
    epochs = max(recipe.epochs, -(-recipe.least_steps // per_epoch))
    total = per_epoch * epochs
    optimiser: Any = torch.optim.AdamW(_groups(tuned, recipe), fused=True)
    rise = max(1, round(total * recipe.warm_up))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(step / rise, (total - step) / max(1, total - rise))
    )
    state = {"encoder": tuned.encoder, "head": tuned.head, "optimiser": optimiser, "rate": schedule}
    first = _resume(checkpoint, name, state)
    stop = total if recipe.max_steps < 0 else min(total, recipe.max_steps)
    with tqdm(total=stop, initial=min(first * per_epoch, stop), unit="batch") as bar:
        for epoch in range(first, epochs):
            torch.manual_seed(recipe.seed + epoch)
            tuned.encoder.train()
            for batch in rows.batches(recipe, epoch)[: max(0, stop - bar.n)]:
                loss = _loss(tuned, rows, batch, recipe)
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(tuned.encoder.parameters(), 1.0)
                optimiser.step()
                schedule.step()
                bar.set_postfix(epoch=epoch + 1, loss=f"{loss.item():.3f}", refresh=False)
                bar.update()
            _keep(checkpoint, name, epoch + 1, state)
    tuned.encoder.eval()


def _loss(tuned: Tuned, rows: Rows, batch: NDArray[np.int64], recipe: Recipe) -> Any:
    import torch

    logits = tuned.logits([rows.pieces[i] for i in batch], recipe.bfloat16)
    return torch.nn.functional.cross_entropy(logits, torch.tensor(rows.gold[batch]))


def _groups(tuned: Tuned, recipe: Recipe) -> list[dict[str, Any]]:
    own = [p for p in tuned.encoder.encoder.parameters() if p.requires_grad]
    return [
        {
            "params": [p for p in own if p.ndim > 1],
            "lr": recipe.learning_rate,
            "weight_decay": recipe.decay,
        },
        {
            "params": [p for p in own if p.ndim == 1],
            "lr": recipe.learning_rate,
            "weight_decay": 0.0,
        },
        {"params": list(tuned.head.parameters()), "lr": recipe.head_rate, "weight_decay": 0.0},
    ]


def key(base: Artefact, examples: Sequence[Example], recipe: Recipe) -> str:
    """What a checkpoint must be of to be gone on from: base, texts, labels, recipe and code."""
    rows = [[example.text, example.label] for example in examples]
    code = [artefacts.sha256(path) for path in CODE]
    whole = sinks.json_text([base.digest, asdict(recipe), code, rows])
    return hashlib.sha256(whole.encode()).hexdigest()


def _checkpoint(out: Path) -> Path:
    return out.with_name(f".{out.name}.checkpoint")


def _keep(path: Path, name: str, epochs: int, state: dict[str, Any]) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    parts = {name: part.state_dict() for name, part in state.items()}
    torch.save({"key": name, "epochs": epochs, **parts}, new)
    new.replace(path)


def _resume(path: Path, name: str, state: dict[str, Any]) -> int:
    """Epochs that are done, their state loaded; 0 where the checkpoint is of another call."""
    import torch

    if not path.exists():
        return 0
    kept = torch.load(path, weights_only=True)
    if kept["key"] != name:
        return 0
    for part in state:
        state[part].load_state_dict(kept[part])
    return int(kept["epochs"])


def _save(
    tuned: Tuned, names: Sequence[str], base: Path, folder: Path, fields: dict[str, Any]
) -> Artefact:
    """The encoder as the base's folder with the tuned weights, and the head."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".encoder-") as scratch:
        own = Path(scratch) / "encoder"
        shutil.copytree(base, own, ignore=shutil.ignore_patterns(artefacts.MANIFEST))
        tuned.encoder.save_pretrained(own)
        sealed = Artefact(own, "", {})
        return encoded.save(names, tuned.fitted(), sealed, folder, fields, encoded.TUNED)


def agree(tuned: Tuned, made: Artefact, texts: Sequence[str]) -> None:
    """Raise TrainingError where what was saved predicts otherwise than what was trained."""
    import torch

    saved = encoded.load(made).scores(texts)
    pieces = tuned.tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
    with torch.inference_mode():
        parts = [tuned.logits(part, False) for part in _parts(pieces)]
    trained = head.softmax(torch.cat(parts).numpy().astype(np.float64))
    gap = float(np.abs(saved - trained).max())
    if gap > 1e-4:
        raise TrainingError(f"the saved artefact is {gap:.6f} away from the trained one; report it")


def _parts(pieces: Sequence[list[int]]) -> Iterator[Sequence[list[int]]]:
    for start in range(0, len(pieces), 32):
        yield pieces[start : start + 32]


def measure(made: Artefact, held: Sequence[Example]) -> dict[str, float]:
    """Accuracy of the saved artefact on the held-back texts."""
    scorer = encoded.load(made)
    best = scorer.scores([e.text for e in held]).argmax(axis=1)
    right = [scorer.labels[i] == e.label for i, e in zip(best, held, strict=True)]
    return {"texts": len(held), "accuracy": round(float(np.mean(right)), 4)}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the manifest's figures as JSON."""
    parser = argparse.ArgumentParser(description="Tune encoder and head with cross-entropy.")
    parser.add_argument("--data", type=Path, required=True, help="CSV with text and label")
    parser.add_argument("--base", type=Path, default=BASE, help="the sentence encoder")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefact")
    parser.add_argument("--epochs", type=int, default=RECIPE.epochs, help="times over all texts")
    parser.add_argument("--bfloat16", action="store_true", help="for processors that have it")
    given = parser.parse_args(arguments)
    recipe = Recipe(epochs=given.epochs, bfloat16=given.bfloat16)
    manifest = train(given.data, given.base, given.out, recipe).manifest
    shown = ("labels", "texts", "held_back", "runtime", "runtimes", "seconds")
    print(sinks.json_text({name: manifest.get(name) for name in shown}, indent=1))
    return 0


if __name__ == "__main__":
    ending.run(main)
