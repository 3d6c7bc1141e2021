"""From a trained tier of an institution to its sealed policy: unseen scores, the next tier, thresholds."""

from __future__ import annotations

from pathlib import Path

from gate.load import Institution
from inference.appliance import open_tier
from inference.artefacts import Artefact
from inference.calibration import policy_file
from inference.errors import ArtefactError
from inference.tiers import Tier
from training import unseen
from training.errors import TrainingError
from training.thresholds import Derived, Rule, derive, seal
from training.unseen import Unseen, Watch


def next_tier(institution: Institution, name: str, root: Path = Path()) -> Tier | None:
    """The tier that is asked after `name`, None where it is the last."""
    names = [t.name for t in institution.appliance.tiers]
    after = institution.appliance.tiers[names.index(name) + 1 :]
    return open_tier(institution, after[0], root) if after else None


def scored(
    kind: str, file: Path, data: Path, base: Path, after: Tier | None, watch: Watch
) -> Unseen:
    """The unseen scores in `file`, made anew where its sources or the next tier have changed."""
    found = unseen.load(file) if file.exists() else None
    if found is None or found.made_from != unseen.made_from(kind, data, base):
        found = unseen.measure(kind, data, base, watch)
        unseen.write(found, file)
    if after is not None and found.next_versions != dict(after.versions):
        found = unseen.ask(found, data, after, watch=watch)
        unseen.write(found, file)
    return found


def is_current(artefact: Artefact, institution: Institution, after: Tier | None) -> bool:
    """Whether an artefact's policy was derived from these costs and with this next tier."""
    try:
        derived = policy_file.described(artefact)
    except ArtefactError:
        return False
    costs = institution.costs
    return (
        derived is not None
        and costs is not None
        and derived.costs == costs.digest
        and derived.next_tier == (dict(after.versions) if after else {})
    )


def derived_from(found: Unseen, artefact: Artefact, rule: Rule) -> tuple[Derived, Artefact]:
    """Derive and seal; TrainingError where the scores are of another classifier's texts or recipe."""
    if found.made_from != artefact.manifest.get("inputs"):
        raise TrainingError(
            f"the unseen scores do not belong to `{artefact.folder}`: its labels, base model or recipe "
            "differ; run `routelock train thresholds`"
        )
    derived = derive(found.sample, rule)
    return derived, seal(artefact, derived, rule)
