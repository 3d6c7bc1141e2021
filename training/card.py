"""The model card of an adapter, in Markdown, from its manifest's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEMPLATE = """\
# Proposer adapter

Low-rank weights for `{base}` that teach it one prompt: which of the catalog's {labels} labels a
request asks for, answered by one code. Made by

```
routelock train proposer --config {config} --data {data_file} --base {base} --out {out}
```

| what | |
|---|---|
| base model | {base_files} |
| labels' file, SHA-256 | `{data}` |
| prompt, SHA-256 | `{prompt}` |
| texts | {trained} trained on, {held_back} held back |
| recipe | rank {rank} on the upper {layers} layers; {epochs} epochs, batches of {batch_size} |
| rate, seed | {learning_rate:g}, {seed} |
| loss | cross-entropy of the one code token over the legal codes |
| size | {bytes} bytes, float16 |
| time | {seconds} seconds on two shared cores |
| libraries | {libraries} |

## Figures

On the held-back texts, through the backend that serves it ({backend}): accuracy {accuracy}.
{policy}
## Limits

- English, short requests, the prompt and the catalog that it was trained for; with others it refuses to open.
- History was not in its training texts.
- Texts are held back at random within their label, so rewordings of one sentence may stand on both
  sides and the figures are kinder than strangers would be.
- The confidence is calibrated for this backend and prompt; another backend must give the same
  distributions, or be calibrated anew.
"""

POLICY = """\
Calibrated by {calibrator}; under the thresholds from costs.yaml {routed:.1%} of them are routed, of
these {wrong_routes:.1%} wrongly, and {clarify:.1%} are asked back.
"""


def of(fields: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    policy = fields.get("policy")
    told = (
        "" if policy is None else POLICY.format(**policy["rates"], calibrator=policy["calibrator"])
    )
    return TEMPLATE.format(
        **{**fields["recipe"], **fields["texts"], **fields["made_by"]},
        base=fields["base"]["folder"],
        base_files=", ".join(f"`{n}` {d}" for n, d in fields["base"]["files"].items()),
        labels=len(fields["codes_of"]),
        data=fields["inputs"]["data"],
        prompt=fields["prompt"],
        bytes=fields["bytes"],
        seconds=fields["seconds"],
        libraries=", ".join(f"{n} {v}" for n, v in fields["libraries"].items()),
        accuracy=fields["held_back"]["accuracy"],
        backend="embedded, float32",
        policy=told,
    )
