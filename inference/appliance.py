"""The appliance: everything that one institution's requests go through, opened once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from gate.configuration import Configuration
from gate.ledger.book import Book, open_book
from gate.load import Institution, load_institution
from gate.load.appliance import Tier as TierSettings
from inference import artefacts, stores
from inference.backends.embedded import EmbeddedBackend
from inference.connectors import Connector
from inference.connectors.record import RecordOnly
from inference.encoder import TorchEncoder
from inference.errors import AssemblyError
from inference.pathways import Documents
from inference.tiers import Tier
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
    connector: Connector
    book: Book
    versions: Mapping[str, str]
    clock: Clock

    @property
    def configuration(self) -> Configuration:
        """The gate's configuration."""
        return self.institution.configuration

    def close(self) -> None:
        """Close ledger, receipts and database."""
        self.book.close()
        if self.database is not None:
            self.database.close()

    def __enter__(self) -> Appliance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_appliance(
    config: Path, root: Path = Path(), clock: Clock = utc_now, ledger_dir: Path | None = None
) -> Appliance:
    """Open the appliance of the institution in `config`.

    Relative paths of appliance.yaml start at `root`; `ledger_dir` keeps ledger and receipts in
    another folder. No model is loaded before a request needs it. Raises ConfigError, ArtefactError,
    BrokenIndexError, SnapshotError, LedgerError or AssemblyError, each with what to do.
    """
    institution = load_institution(config)
    tiers = tuple(_tier(institution, root, settings) for settings in institution.appliance.tiers)
    documents = _documents(institution, root)
    database = _database(institution, root)
    return Appliance(
        institution=institution,
        tiers=tiers,
        documents=documents,
        database=database,
        connector=RecordOnly(),
        book=_book(institution, root, ledger_dir),
        versions=_versions(institution, tiers, documents, database),
        clock=clock,
    )


def _tier(institution: Institution, root: Path, settings: TierSettings) -> Tier:
    match settings.kind:
        case "phrases":
            return build_phrases(institution.phrases, settings.name)
        case "setfit":
            fast = FastTier(settings.name, _model(settings, root), _threshold(settings))
            check_labels(fast, institution.configuration.catalog.actions)
            return fast
        case "embedded":
            backend = EmbeddedBackend("embedded", _model(settings, root))
            catalog = institution.configuration.catalog
            return ProposerTier(settings.name, backend, catalog, _threshold(settings))
        case kind:
            raise AssemblyError(
                f"tier `{settings.name}` has the kind `{kind}`, which cannot serve yet; "
                "use phrases, setfit or embedded in appliance.yaml"
            )


def _model(settings: TierSettings, root: Path) -> artefacts.Artefact:
    if settings.model is None:
        raise AssemblyError(f"tier `{settings.name}` has no `model`; add it to appliance.yaml")
    return artefacts.read(root / settings.model)


def _threshold(settings: TierSettings) -> Decimal:
    if settings.threshold is None:
        raise AssemblyError(f"tier `{settings.name}` has no `threshold`; add it to appliance.yaml")
    return settings.threshold


def _documents(institution: Institution, root: Path) -> Documents | None:
    if not institution.documents.entries:
        return None
    encoder = TorchEncoder(artefacts.read(root / ENCODER))
    folder = root / institution.appliance.paths.index
    return Documents(stores.open_index(folder, encoder), encoder)


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
