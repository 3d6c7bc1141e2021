"""The appliance: everything that one institution's requests go through, opened once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from gate.configuration import Configuration
from gate.ledger.book import Book, open_book
from gate.load import Institution, backends, load_institution
from gate.load.appliance import Tier as TierSettings
from gate.load.connectors import Connectors
from inference import artefacts, stores
from inference.backends import opening
from inference.backends.embedded import EmbeddedBackend
from inference.calibration.policy_file import Described
from inference.connectors.roster import Roster, open_roster
from inference.encoder import TorchEncoder
from inference.errors import AssemblyError
from inference.pathways import Documents
from inference.recognition import Recogniser
from inference.sources import StateSource
from inference.sources.http import open_source
from inference.tiers import Tier
from inference.tiers.cascade import InLanguages
from inference.tiers.fast import FastTier, check_labels
from inference.tiers.phrases import build as build_phrases
from inference.tiers.proposer import ProposerTier
from sqlpath import queries
from sqlpath.execute import Database

ENCODER = Path("var/models/all-minilm-l6-v2")
"""The sentence encoder of the document index, relative to where the appliance runs."""

CODE = ("gate", "inference", "retrieval", "sqlpath")
"""The packages whose source decides what becomes of a request."""

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Appliance:
    """The loaded parts; `versions` names the digest of every one of them (P-20)."""

    institution: Institution
    tiers: tuple[Tier, ...]
    documents: Documents | None
    database: Database | None
    roster: Roster
    source: StateSource | None
    book: Book
    versions: Mapping[str, str]
    clock: Clock
    recogniser: Recogniser

    @property
    def configuration(self) -> Configuration:
        """The gate's configuration."""
        return self.institution.configuration

    def close(self) -> None:
        """Close ledger, receipts, outboxes and database."""
        self.book.close()
        self.roster.close()
        if self.database is not None:
            self.database.close()

    def __enter__(self) -> Appliance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def as_declared(connectors: Connectors) -> Connectors:
    """Services at the addresses that connectors.yaml declares."""
    return connectors


def open_appliance(
    config: Path,
    root: Path = Path(),
    clock: Clock = utc_now,
    ledger_dir: Path | None = None,
    placed: Callable[[Connectors], Connectors] = as_declared,
) -> Appliance:
    """Open the appliance of the institution in `config`.

    Relative paths of appliance.yaml and connectors.yaml start at `root`; `ledger_dir` keeps ledger,
    receipts and outboxes in another folder; `placed` may move services whose port is known only
    once they run. No model is loaded before a request needs it, and no service has to run yet.
    Raises ConfigError, ArtefactError, BrokenIndexError, SnapshotError, LedgerError or
    AssemblyError, each with what to do.
    """
    institution = load_institution(config)
    connectors = placed(institution.connectors)
    configuration = institution.configuration
    tiers = open_tiers(institution, root)
    documents = _documents(institution, root)
    database = _database(institution, root)
    recogniser = Recogniser(configuration)
    state = connectors.state
    source = None if state is None else open_source(state, configuration, root, clock)
    return Appliance(
        institution=institution,
        tiers=tiers,
        documents=documents,
        database=database,
        roster=open_roster(
            connectors, configuration.catalog, institution.folder, root, clock, ledger_dir
        ),
        source=source,
        book=_book(institution, root, ledger_dir),
        versions={**_versions(institution, tiers, documents, database), **recogniser.versions},
        clock=clock,
        recogniser=recogniser,
    )


def open_tiers(institution: Institution, root: Path = Path()) -> tuple[Tier, ...]:
    """The cascade of appliance.yaml, each tier with what it decides with; errors as `open_appliance`."""
    tiers = tuple(open_tier(institution, one, root) for one in institution.appliance.tiers)
    check_policies(institution, tiers)
    return tiers


def open_tier(institution: Institution, settings: TierSettings, root: Path = Path()) -> Tier:
    """The tier, kept from texts in a language that it does not read."""
    tier = _tier(institution, root, settings)
    return tier if settings.languages is None else InLanguages(tier, settings.languages)


def _tier(institution: Institution, root: Path, settings: TierSettings) -> Tier:
    match settings.kind:
        case "phrases":
            return build_phrases(institution.phrases, settings.name)
        case "lexical" | "linear" | "setfit" | "tuned":
            return _classifier(institution, root, settings)
        case "embedded":
            model = _model(settings, root)
            backend = EmbeddedBackend("embedded", model, root)
            catalog = institution.configuration.catalog
            return ProposerTier(settings.name, backend, catalog, settings.threshold, model)
        case backends.PROPOSER:
            entry = institution.backends[str(settings.backend)]
            asked = opening.open_serving(entry, root, institution)
            catalog = institution.configuration.catalog
            own = None if settings.model is None else _model(settings, root)
            return ProposerTier(settings.name, asked, catalog, settings.threshold, own)
        case kind:
            raise AssemblyError(
                f"tier `{settings.name}` has the kind `{kind}`, which cannot serve yet; "
                "use phrases, lexical, linear, setfit, tuned or embedded in appliance.yaml"
            )


def _classifier(institution: Institution, root: Path, settings: TierSettings) -> FastTier:
    """The tier of a classifier's artefact; AssemblyError where it is not the one that is declared."""
    artefact = _model(settings, root)
    if artefact.manifest.get("kind") != settings.kind:
        raise AssemblyError(
            f"tier `{settings.name}` has the kind `{settings.kind}`, but `{artefact.folder}` holds "
            f"`{artefact.manifest.get('kind')}`; correct `kind` or `model` in appliance.yaml"
        )
    fast = FastTier(settings.name, artefact, settings.threshold)
    check_labels(fast, institution.configuration.catalog.actions)
    return fast


def check_policies(institution: Institution, tiers: Sequence[Tier]) -> None:
    """Raise AssemblyError where thresholds are derived from other costs than those of costs.yaml, or
    from the answers of another next tier than the one that is asked."""
    costs = "" if institution.costs is None else institution.costs.digest
    for place, tier in enumerate(tiers):
        derived = _policy_of(tier)
        if derived is None:
            continue
        after = tiers[place + 1].versions if place + 1 < len(tiers) else {}
        changed = "costs.yaml" if derived.costs != costs else ""
        if not changed and derived.next_tier and derived.next_tier != dict(after):
            changed = "the tier after it"
        if changed:
            raise AssemblyError(
                f"the thresholds of tier `{tier.name}` were derived before {changed} changed; derive "
                "them again with `routelock train thresholds`"
            )


def _policy_of(tier: Tier) -> Described | None:
    inner = tier.tier if isinstance(tier, InLanguages) else tier
    return inner.derived if isinstance(inner, FastTier | ProposerTier) else None


def _model(settings: TierSettings, root: Path) -> artefacts.Artefact:
    if settings.model is None:
        raise AssemblyError(f"tier `{settings.name}` has no `model`; add it to appliance.yaml")
    return artefacts.read(root / settings.model)


def _documents(institution: Institution, root: Path) -> Documents | None:
    if not institution.documents.entries:
        return None
    encoder = TorchEncoder(artefacts.read(root / ENCODER))
    folder = root / institution.appliance.paths.index
    opened = stores.open_index(folder, encoder)
    return Documents(opened, encoder, institution.documents.sufficient)


def _database(institution: Institution, root: Path) -> Database | None:
    if not institution.queries:
        return None
    database = stores.open_database(root / institution.appliance.paths.database)
    queries.check(institution.queries.values(), database)
    return database


def _book(institution: Institution, root: Path, ledger_dir: Path | None) -> Book:
    paths = institution.appliance.paths
    ledger, receipts = root / paths.ledger, root / paths.receipts
    if ledger_dir is not None:
        ledger, receipts = ledger_dir / ledger.name, ledger_dir / receipts.name
    return open_book(ledger, receipts)


def _versions(
    institution: Institution,
    tiers: tuple[Tier, ...],
    documents: Documents | None,
    database: Database | None,
) -> Mapping[str, str]:
    versions = {**institution.configuration.digests, "code": code_digest()}
    for tier in tiers:
        versions.update(tier.versions)
    if documents is not None:
        versions.update(index=documents.index.digest, encoder=documents.encoder.digest)
    if database is not None:
        versions["database"] = database.snapshot.digest
    return MappingProxyType(dict(sorted(versions.items())))


def code_digest() -> str:
    """SHA-256 over name and content of every source file that decides or answers."""
    root = Path(__file__).resolve().parents[1]
    total = hashlib.sha256()
    for path in sorted(p for package in CODE for p in (root / package).rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()} {artefacts.sha256(path)}\n".encode())
    return total.hexdigest()
