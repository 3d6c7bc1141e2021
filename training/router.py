"""Train the fast tier: a sentence encoder tuned by contrast (SetFit), then a logistic head.

    python -m training.router --data training/data/demo/utterances.csv --out var/models/demo-router

Read it from `train` downwards. What it writes is described in inference/tiers/fast.py. The
thresholds that the tier uses are derived afterwards (sealing.py).

Method: Tunstall et al., Efficient Few-Shot Learning Without Prompts (2022), through the setfit
library, with its supervised contrastive loss (Khosla et al., 2020): every text is drawn to the
others of its label in the batch and away from the rest. The library's default builds all n² pairs
first; this is linear in the number of texts, and it was better on the demo's labels as well.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference import artefacts, ending
from inference.artefacts import Artefact
from inference.encoder import TorchEncoder
from inference.tiers.fast import Head, softmax
from inference.tiers.scores import OUT_OF_SCOPE
from training import reach, runtime
from training.errors import TrainingError
from training.labels import Example, read, split


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result. The defaults train the demo in about three minutes on one core."""

    epochs: int = 6
    batch_size: int = 32
    learning_rate: float = 1e-4
    max_steps: int = -1
    """Stop after so many batches; -1 trains all epochs."""
    bfloat16: bool = False
    """Multiply matrices in bfloat16: twice as fast on a processor with AVX512-BF16, slower on others."""
    held_back: float = 0.1
    """Share of every label's texts that is only measured on."""
    seed: int = 20261201
    head_strength: float = 3.0
    """Inverse regularisation of the head, scikit-learn's C. The tuned vectors lie so close to their
    own label's that a looser head is sure of its mistakes too."""


def train(data: Path, base: Path, out: Path, recipe: Recipe = Recipe()) -> Artefact:
    """Train on `data`, starting from the encoder `base`, and put the artefact at `out` in one step.

    Raises TrainingError for unusable labels, ArtefactError for a base that is not what it says.
    """
    started = time.monotonic()
    encoder = artefacts.read(base)
    artefacts.verify(encoder)
    kept, held = split(read(data), recipe.held_back, recipe.seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as scratch:
        made = build(base, kept, recipe, Path(scratch) / "artefact")
        fields = {k: v for k, v in made.manifest.items() if k not in ("files", "schema_version")}
        more = {
            "inputs": inputs(data, encoder),
            "texts": {"trained": len(kept), "held_back": len(held)},
            "held_back": measure(made.folder, fields["labels"], held),
            "seconds": round(time.monotonic() - started),
        }
        chosen = runtime.choose(artefacts.write_manifest(made.folder, {**fields, **more}), held)
        reach.mark(chosen, kept, held)
        shutil.rmtree(out, ignore_errors=True)
        made.folder.rename(out)
    return artefacts.read(out)


def build(base: Path, examples: Sequence[Example], recipe: Recipe, folder: Path) -> Artefact:
    """Train on all of `examples` and write a new artefact to `folder`.

    Raises TrainingError where what was saved predicts otherwise than what was trained.
    """
    model = fit(base, examples, recipe)
    labels = save(model, folder)
    fields = {
        "kind": "setfit",
        "labels": labels,
        "recipe": asdict(recipe),
        "texts": {"trained": len(examples)},
        "calibrated": False,
        "libraries": {name: version(name) for name in LIBRARIES},
    }
    made = artefacts.write_manifest(folder, fields)
    agree(model, folder, labels, [example.text for example in examples[:AGREE]])
    return made


LIBRARIES = ("setfit", "sentence-transformers", "transformers", "torch", "scikit-learn")
CODE = tuple(
    Path(__file__).with_name(name) for name in ("router.py", "labels.py", "runtime.py", "reach.py")
)
AGREE = 2000
"""Texts on which the saved artefact is compared with the trained one."""


def inputs(data: Path, base: Artefact) -> dict[str, str]:
    """Digests of everything that the artefact is made from: labels, base model, this recipe."""
    code = {f"code:{path.name}": artefacts.sha256(path) for path in CODE}
    return {"data": artefacts.sha256(data), "base": base.digest, **code}


def fit(base: Path, examples: Sequence[Example], recipe: Recipe) -> Any:
    """The tuned model: all layers above the word embeddings, then the head on the tuned vectors."""
    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer
    from setfit import SetFitModel, Trainer, TrainingArguments
    from setfit.compat import BatchSamplers
    from setfit.losses import SupConLoss
    from sklearn.linear_model import LogisticRegression

    body: Any = SentenceTransformer(str(base), device="cpu", local_files_only=True)
    # Half of the weights are word embeddings. A thousand texts touch few of them, and leaving them
    # as they are saves a third of the time.
    body[0].auto_model.embeddings.requires_grad_(False)
    head = LogisticRegression(C=recipe.head_strength, max_iter=1000, random_state=recipe.seed)
    names = sorted({example.label for example in examples})
    model = SetFitModel(model_body=body, model_head=head, labels=names)
    dataset = Dataset.from_dict(
        {"text": [e.text for e in examples], "label": [names.index(e.label) for e in examples]}
    )
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            output_dir=scratch,
            loss=SupConLoss,
            batch_size=recipe.batch_size,
            num_epochs=recipe.epochs,
            max_steps=recipe.max_steps,
            body_learning_rate=recipe.learning_rate,
            seed=recipe.seed,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
        contrast = trainer.st_trainer.args
        # A text alone in its label has nothing to be drawn to and would give NaN; setfit 1.2 means
        # to choose this sampler but compares the loss with its class and never does.
        contrast.batch_sampler = BatchSamplers.GROUP_BY_LABEL
        contrast.dataloader_pin_memory = False  # there is no device to pin it for
        with one_thread(), torch.autocast("cpu", torch.bfloat16, enabled=recipe.bfloat16):
            trainer.train()
    return model


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and the linear algebra to one thread: the sums, and the model, depend on their number."""
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def save(model: Any, folder: Path) -> list[str]:
    """Write encoder and head; returns the labels in the head's own order."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    model.model_body.save(str(folder / "encoder"), create_model_card=False)
    head = model.model_head
    arrays = {
        "coefficients": np.ascontiguousarray(head.coef_, dtype=np.float64),
        "intercepts": np.ascontiguousarray(head.intercept_, dtype=np.float64),
    }
    save_file(arrays, folder / "head.safetensors")
    return [model.labels[number] for number in head.classes_]


def measure(folder: Path, labels: Sequence[str], held: Sequence[Example]) -> dict[str, float]:
    """Figures of the saved artefact on the held-back texts, at THRESHOLD."""
    probabilities = _predict(folder, [example.text for example in held])
    gold = np.array([labels.index(example.label) for example in held])
    best, sure = probabilities.argmax(1), probabilities.max(1) >= THRESHOLD
    scope = gold != labels.index(OUT_OF_SCOPE) if OUT_OF_SCOPE in labels else gold >= 0
    return {
        "texts": len(held),
        "accuracy": _share(best == gold),
        "accuracy_in_scope": _share((best == gold)[scope]),
        "answered": _share(sure),
        "accuracy_where_answered": _share((best == gold)[sure]),
    }


THRESHOLD = 0.60
"""The threshold that the figures are given for; a tier's own are derived."""


def _share(hits: NDArray[np.bool_]) -> float:
    return round(float(hits.mean()), 4) if len(hits) else 0.0


def _predict(folder: Path, texts: Sequence[str]) -> NDArray[np.float64]:
    from safetensors.numpy import load_file

    arrays = load_file(folder / "head.safetensors")
    sealed = Artefact(folder, "", {"files": artefacts.digests(folder)})
    vectors = TorchEncoder(sealed, folder / "encoder").encode(texts)
    return softmax(Head(arrays["coefficients"], arrays["intercepts"]), vectors)


def agree(model: Any, folder: Path, labels: Sequence[str], texts: Sequence[str]) -> None:
    """Raise TrainingError where what was saved does not predict what was trained, on every text."""
    saved = _predict(folder, texts)
    trained = model.predict_proba(list(texts), as_numpy=True)
    classes = [labels[i] for i in saved.argmax(1)]
    gap = float(np.abs(saved - trained).max())
    if gap > 1e-4 or classes != list(model.predict(list(texts))):
        raise TrainingError(f"the saved artefact is {gap:.6f} away from the trained one; report it")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the manifest's figures as JSON."""
    parser = argparse.ArgumentParser(description="Train the fast tier.")
    parser.add_argument("--data", type=Path, required=True, help="CSV with text and label")
    parser.add_argument("--base", type=Path, default=Path("var/models/all-minilm-l6-v2"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the artefact")
    given = parser.parse_args(arguments)
    manifest = train(given.data, given.base, given.out).manifest
    keys = ("labels", "texts", "held_back", "runtime", "runtimes", "seconds")
    print(json.dumps({key: manifest[key] for key in keys}, indent=1))
    return 0


if __name__ == "__main__":
    ending.run(main)
