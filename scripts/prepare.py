"""Builds what the demo runs on: database, document index, fast tier, thresholds; each if out of date.

    python -m scripts.prepare

Every artefact keeps the digests of what it was made from. One whose digests still hold is left
alone, so a second run only compares.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gate.errors import RoutelockError
from gate.load import Institution, load_institution
from gate.load.appliance import Tier
from inference import artefacts, demo, stores
from inference.appliance import ENCODER
from inference.connectors import signing
from inference.encoder import TorchEncoder
from inference.errors import ArtefactError
from scripts import environment, terminal

DEMO = Path("configs/demo")
LABELS = Path("training/data/demo/utterances.csv")
UNSEEN = Path("training/data/demo/unseen.jsonl")


def prepare(root: Path = Path()) -> None:
    """Bring the demo's artefacts under `root`/var up to date, in order of their cost."""
    institution = load_institution(root / DEMO)
    paths = institution.appliance.paths
    back_office(institution, root)
    database(institution, root / paths.database)
    index(institution, root / paths.index, root / ENCODER)
    for tier in institution.appliance.tiers:
        if tier.kind == "setfit" and tier.model is not None:
            router(root / tier.model, root / LABELS, root / ENCODER)
            if tier.calibrated:
                thresholds(institution, tier, root)


def back_office(institution: Institution, root: Path) -> None:
    """Make the secrets that the demo's stand-in of the bank and the appliance share."""
    services = (entry.service for entry in institution.connectors.entries.values())
    for service in services:
        if service is not None and service.secret_file:
            path = root / service.secret_file
            _step("secret", path, path.exists(), partial(signing.new_secret, path))


def database(institution: Institution, path: Path) -> None:
    """Build the records database."""
    current = stores.database_is_current(path, demo.database_inputs(institution))
    _step("database", path, current, lambda: demo.build_database(institution, path))


def index(institution: Institution, folder: Path, base: Path) -> None:
    """Build the document index."""
    encoder = TorchEncoder(artefacts.read(base))
    current = stores.index_is_current(institution, encoder, folder)
    _step("index", folder, current, lambda: stores.build_index(institution, encoder, folder))


def router(out: Path, labels: Path, base: Path) -> None:
    """Train the fast tier."""
    _step("router", out, _router_is_current(out, labels, base), lambda: _train(out, labels, base))


def _train(out: Path, labels: Path, base: Path) -> None:
    from training.router import train

    train(labels, base, out)


def thresholds(institution: Institution, tier: Tier, root: Path) -> None:
    """Derive the fast tier's thresholds from the demo's costs."""
    from training import sealing
    from training.thresholds import Rule

    folder = root / str(tier.model)
    after = sealing.next_tier(institution, tier.name, root)

    def derive() -> None:
        base, data = root / ENCODER, root / LABELS
        found = sealing.scored(tier.kind, root / UNSEEN, data, base, after, terminal.steps)
        rule = Rule.of(root / DEMO, None, found.next_versions)
        sealing.derived_from(found, artefacts.read(folder), rule)

    current = sealing.is_current(artefacts.read(folder), institution, after)
    _step("policy", folder, current, derive)


def _router_is_current(out: Path, labels: Path, base: Path) -> bool:
    from training.router import inputs

    try:
        trained = artefacts.read(out)
        artefacts.verify(trained)
    except ArtefactError:
        return False
    return bool(trained.manifest.get("inputs") == inputs(labels, artefacts.read(base)))


def _step(name: str, path: Path, current: bool, build: Callable[[], object]) -> None:
    started = time.monotonic()
    if not current:
        terminal.say(f"      building the {name} in {path}")
        build()
    done = "is up to date" if current else f"built in {time.monotonic() - started:.0f} s"
    terminal.say(f"      {name} {done}")


def main() -> int:
    """Exit code 2 with one clear error where something cannot be built."""
    environment.apply()
    try:
        prepare()
    except RoutelockError as error:
        terminal.tell(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
