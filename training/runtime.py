"""Export an artefact's encoder to an 8-bit ONNX graph, compare both runtimes, and name the one to serve.

    python -m training.runtime --artefact var/models/demo-tuned --data held_back.csv

The graph becomes the artefact's runtime where its accuracy on labelled texts is within `WITHIN` of
torch's; else torch stays. Both figures, and the cosines between
the vectors, stand in the manifest. The texts should be ones that the artefact has not learnt from.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from inference import artefacts, ending, sinks
from inference.artefacts import Artefact
from inference.classifiers import encoded, head
from inference.encoder import GRAPH, ONNX_INT8, TORCH
from training.errors import TrainingError
from training.labels import Example, read

WITHIN = 0.003
"""How much accuracy the 8-bit graph may lose."""
OPSET = 17


def choose(artefact: Artefact, held: Sequence[Example]) -> Artefact:
    """Add the graph and seal the folder again with the runtime to serve and the figures of both.

    Raises TrainingError without texts to compare on.
    """
    if not held:
        raise TrainingError("no held-back text to compare the runtimes on; give some")
    export(artefact.folder / encoded.ENCODER)
    kept = {k: v for k, v in artefact.manifest.items() if k not in ("files", "schema_version")}
    both = artefacts.write_manifest(artefact.folder, {**kept, "runtime": TORCH})
    found = compare(both, held)
    gap = found["accuracy"][TORCH] - found["accuracy"][ONNX_INT8]
    runtime = ONNX_INT8 if gap <= WITHIN else TORCH
    return artefacts.write_manifest(
        artefact.folder, {**kept, "runtime": runtime, "runtimes": found}
    )


def compare(artefact: Artefact, texts: Sequence[Example]) -> dict[str, Any]:
    """Accuracy of both runtimes on the texts, and how alike their vectors are."""
    asked = [text.text for text in texts]
    right, vectors = {}, {}
    for runtime in (TORCH, ONNX_INT8):
        scorer = encoded.load(artefact, runtime)
        vectors[runtime] = scorer.encoder.encode(asked)
        best = head.apply(scorer.head, vectors[runtime]).argmax(axis=1)
        hits = [scorer.labels[i] == text.label for i, text in zip(best, texts, strict=True)]
        right[runtime] = float(np.mean(hits))
    cosines = (vectors[TORCH] * vectors[ONNX_INT8]).sum(axis=1)
    shares = {"lowest": 0.0, "1%": 0.01, "10%": 0.1, "median": 0.5}
    return {
        "texts": len(texts),
        "accuracy": right,
        "cosine": {name: round(float(np.quantile(cosines, s)), 4) for name, s in shares.items()},
    }


def export(folder: Path) -> Path:
    """Write the 8-bit graph beside the weights of an encoder's folder.

    Weights are 8-bit per channel, activations 8-bit with a scale of their own per text (dynamic
    quantisation). Numbers may differ a little between processors.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "model.onnx"
        _trace(folder, plain)
        quantize_dynamic(plain, folder / GRAPH, per_channel=True, weight_type=QuantType.QInt8)
    return folder / GRAPH


def _trace(folder: Path, out: Path) -> None:
    import torch
    from transformers import AutoModel

    model: Any = AutoModel.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager"
    ).eval()
    model.pooler = None

    class Unit(torch.nn.Module):
        """One text's word pieces to its unit vector; nothing is padded, so nothing is masked."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, pieces: Any) -> Any:
            tokens = self.model(pieces, torch.ones_like(pieces)).last_hidden_state
            return torch.nn.functional.normalize(tokens.mean(dim=1), dim=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Unit(),
            (torch.tensor([[101, 2054, 2003, 102]]),),
            out,
            input_names=["pieces"],
            output_names=["vector"],
            dynamic_axes={"pieces": {1: "length"}},
            opset_version=OPSET,
            dynamo=False,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; prints the figures of both runtimes as JSON."""
    parser = argparse.ArgumentParser(description="Choose the runtime of an artefact's encoder.")
    parser.add_argument("--artefact", type=Path, required=True, help="folder of the artefact")
    parser.add_argument(
        "--data", type=Path, required=True, help="CSV with text and label, held back"
    )
    given = parser.parse_args(arguments)
    manifest = choose(artefacts.read(given.artefact), read(given.data)).manifest
    print(sinks.json_text({name: manifest[name] for name in ("runtime", "runtimes")}, indent=1))
    return 0


if __name__ == "__main__":
    ending.run(main)
