"""One institution's folder: which files it may hold, and everything read from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from gate.catalog import Catalog, SlotSpec
from gate.configuration import Configuration
from gate.errors import ConfigError
from gate.language import LanguagePack
from gate.load import (
    appliance,
    backends,
    catalog,
    connectors,
    costs,
    documents,
    examples,
    language,
    phrases,
    queries,
    registry,
    rules,
    slots,
    state,
)
from gate.load.appliance import Appliance
from gate.load.backends import Backends
from gate.load.connectors import Connectors
from gate.load.costs import Costs
from gate.load.digests import CSV_BYTES, YAML_BYTES, Source, digests, read, read_if_present
from gate.load.documents import Documents
from gate.load.fixes import nearest
from gate.load.phrases import PhraseBook
from gate.load.queries import Query
from gate.load.yamlfile import Document, parse
from gate.registry import Registry
from gate.rules import RuleSet
from gate.state import Predicate

REQUIRED: Final = ("appliance.yaml", "catalog.yaml")

FILES: Final = (
    *REQUIRED,
    "backends.yaml",
    "connectors.yaml",
    "costs.yaml",
    "documents.yaml",
    "facts.yaml",
    "phrases.yaml",
    "queries.yaml",
    "registry.csv",
    "rules.yaml",
    "schema.yaml",
    "sessions.yaml",
    "slots.yaml",
    "state.yaml",
)
"""Every configuration file that a folder may hold; other parts read some of them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Institution:
    """Everything that a folder says: the gate's configuration and what the other parts need.

    `appliance` holds tiers and paths; phrases, queries and documents are for their tiers and
    pathways, connectors who carries out writes, costs what thresholds are derived from (None: no
    `costs.yaml`), backends where proposers run; `folder` is where relative document paths begin.
    """

    folder: Path
    configuration: Configuration
    appliance: Appliance
    phrases: PhraseBook
    queries: Mapping[str, Query]
    documents: Documents
    connectors: Connectors = connectors.EMPTY
    costs: Costs | None = None
    backends: Backends = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads files of the folder and remembers them for their digests."""

    folder: Path
    sources: list[Source]

    def required(self, name: str) -> Document:
        source = read(self.folder, name, YAML_BYTES)
        self.sources.append(source)
        return parse(source)

    def optional(self, name: str, reading: Callable[[Document], T], default: T) -> T:
        """What `reading` makes of the file, or the default where there is none."""
        source = read_if_present(self.folder, name, YAML_BYTES)
        if source is None:
            return default
        self.sources.append(source)
        return reading(parse(source))

    def registry(self, types: Catalog) -> Registry:
        source = read_if_present(self.folder, "registry.csv", CSV_BYTES)
        if source is None:
            return registry.EMPTY
        self.sources.append(source)
        return registry.read(source, types.object_types)

    def costs(self, services: Catalog) -> Costs | None:
        source = read_if_present(self.folder, costs.FILE, YAML_BYTES)
        if source is None:
            return None
        self.sources.append(source)
        return costs.read(parse(source), services.actions, source.digest)

    def packs(self, tags: Collection[str]) -> Mapping[str, LanguagePack]:
        packs: dict[str, LanguagePack] = {}
        for tag in tags:
            packs[tag], source = language.load(self.folder, tag)
            self.sources.append(source)
        return MappingProxyType(packs)


def load(folder: Path, *, bench: bool) -> Institution:
    """Everything in a YAML folder; ConfigError with file, line and fix for the first thing wrong.

    `bench` accepts actions without a mode, which are never served.
    """
    _refuse_strangers(folder)
    reader = _Reader(folder, [])
    settings_file = reader.required("appliance.yaml")
    settings = appliance.read(settings_file)
    models = reader.optional(backends.FILE, backends.read, backends.EMPTY)
    backends.check_tiers(settings_file, settings, models)
    phrases.check_tiers(settings_file, settings)
    packs = reader.packs(settings.languages)
    services_file = reader.required("catalog.yaml")
    services = catalog.read(services_file, settings.languages)
    if not bench:
        catalog.require_modes(services_file, services)
    types = services.object_types
    specs = reader.optional("slots.yaml", lambda d: slots.read(d, types), slots.EMPTY)
    slots.check_actions(services_file, services, specs)
    services = replace(services, slots=specs)
    listed = reader.optional(
        "queries.yaml", lambda d: _queries(d, settings.languages, specs), queries.EMPTY
    )
    papers = reader.optional("documents.yaml", lambda d: documents.read(d, folder), documents.EMPTY)
    catalog.check_references(services_file, services, listed, papers.collections)
    if not bench:
        catalog.check_confirmations(services_file, services, settings.languages)
    carriers = reader.optional(
        "connectors.yaml", lambda d: connectors.read(d, services), connectors.EMPTY
    )
    texts = reader.optional(
        "phrases.yaml", lambda d: phrases.read(d, services, settings.languages), phrases.EMPTY
    )
    weighed = reader.costs(services)
    objects = reader.registry(services)
    predicates = reader.optional("state.yaml", lambda d: _state(d, specs), state.EMPTY)
    ruleset = _rules(reader, services, listed, predicates)
    examples.check_alerts(texts, predicates, ruleset)
    configuration = Configuration(
        name=settings.name,
        catalog=services,
        registry=objects,
        predicates=predicates,
        rules=ruleset,
        packs=packs,
        languages=settings.languages,
        terminals=settings.terminals,
        title=settings.title,
        thresholds=settings.thresholds,
        limits=settings.limits,
        dialogue=settings.dialogue,
        channels=settings.channels,
        intent_channels=settings.intent_channels,
        alerts=texts.alerts,
        history_turns=settings.history_turns,
        history_role=settings.history_role,
        digests=digests(reader.sources),
    )
    examples.check(texts, configuration)
    return Institution(
        folder, configuration, settings, texts, listed, papers, carriers, weighed, models
    )


def _queries(
    document: Document, languages: Collection[str], specs: Mapping[str, SlotSpec]
) -> Mapping[str, Query]:
    found = queries.read(document, languages)
    slots.check_queries(document, found, specs)
    return found


def _state(document: Document, specs: Mapping[str, SlotSpec]) -> Mapping[str, Predicate]:
    found = state.read(document)
    slots.check_predicates(document, found, specs)
    return found


def _rules(
    reader: _Reader,
    services: Catalog,
    listed: Mapping[str, Query],
    predicates: Mapping[str, Predicate],
) -> RuleSet:
    found = reader.optional("rules.yaml", lambda d: rules.read(d, services, predicates), None)
    return found or rules.default(services, listed)


def _refuse_strangers(folder: Path) -> None:
    """Refuse a file whose name looks like a configuration file but is none (`rule.yaml`)."""
    stems = {Path(name).stem: name for name in FILES}
    for path in sorted(folder.iterdir()):
        if path.suffix in {".yaml", ".yml"} and path.name not in FILES:
            near = nearest(path.stem, stems)
            fix = f"did you mean `{stems[near]}`?" if near else "move it to another folder"
            raise ConfigError("file is no configuration file", file=str(path), fix=fix)
