"""`policy.json` in an artefact's folder: calibrator, margin and thresholds, with what they come from."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from inference.artefacts import Artefact
from inference.calibration import calibrator
from inference.calibration.policy import Policy
from inference.calibration.thresholds import NextTier, Threshold
from inference.errors import ArtefactError, CalibrationError

FILE: Final = "policy.json"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Described:
    """What an artefact's manifest says of its policy: digests of the file and of its costs, and the
    next tier whose answers were measured, by the digests that it decided with (none: assumed)."""

    digest: str
    costs: str
    next_tier: Mapping[str, str]

    def versions(self, tier: str) -> dict[str, str]:
        """What a decision names of it (P-20)."""
        return {f"policy:{tier}": self.digest, f"costs:{tier}": self.costs}


def described(artefact: Artefact) -> Described | None:
    """The policy of an artefact by its manifest alone, None where it has none; ArtefactError where
    file and report are not both there."""
    digest, report = artefact.manifest["files"].get(FILE), artefact.manifest.get("policy")
    if digest is None and report is None:
        return None
    if (
        digest is not None
        and isinstance(report, Mapping)
        and {"costs", "next_versions"} <= {*report}
    ):
        return Described(str(digest), str(report["costs"]), dict(report["next_versions"]))
    raise ArtefactError(
        f"`{artefact.folder}` does not say where its {FILE} comes from; derive it again with "
        "`routelock train thresholds`"
    )


def write(folder: Path, policy: Policy, costs_digest: str) -> None:
    """Write the policy beside the classifier that it was chosen for."""
    content = {
        "schema_version": VERSION,
        "costs": costs_digest,
        "calibrator": json.loads(calibrator.to_json(policy.calibrator)),
        "margin": policy.margin,
        "floor": policy.floor,
        "thresholds": [asdict(threshold) for threshold in policy.thresholds.values()],
    }
    (folder / FILE).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")


def read(folder: Path, labels: Collection[str]) -> Policy | None:
    """The policy of a folder, None where it has none; CalibrationError unless it fits `labels`."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        if content["schema_version"] != VERSION:
            raise ValueError(f"schema_version is not {VERSION}")
        thresholds = [_threshold(fields) for fields in content["thresholds"]]
        found = Policy(
            {threshold.label: threshold for threshold in thresholds},
            calibrator.from_json(json.dumps(content["calibrator"])),
            float(content["margin"]),
            float(content["floor"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CalibrationError(f"`{path}` is no policy: {error}; derive it again") from error
    missing = [label for label in labels if label not in found.thresholds]
    if missing or not (0 <= found.margin <= 1 and found.floor >= 0):
        raise CalibrationError(f"`{path}` does not fit its classifier; derive it again")
    return found


def _threshold(fields: Mapping[str, Any]) -> Threshold:
    measured = NextTier(**fields["next_tier"])
    found = Threshold(**{**fields, "next_tier": measured})
    if not all(isinstance(n, int | float) and n == n for n in (found.tau, found.escalate)):
        raise ValueError(f"tau of `{found.label}` is no number")
    return found
