"""`appliance.yaml`: name, languages, limits, tiers, terminals of the reserved ids, paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gate.configuration import DialogueLimits, Limits
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Model, Number, Tag, Text, validate
from gate.load.yamlfile import Document
from gate.records import Reserved, Terminal

DEFAULT_TERMINALS: Final[Mapping[Reserved, Terminal]] = MappingProxyType(
    {
        Reserved.REQUEST: Terminal.REJECT,
        Reserved.LANGUAGE: Terminal.HANDOFF,
        Reserved.CONTRACT: Terminal.CLARIFY,
        Reserved.SCOPE: Terminal.REJECT,
        Reserved.ABSTAIN: Terminal.CLARIFY,
        Reserved.MULTI: Terminal.CLARIFY,
        Reserved.DIRECTION: Terminal.CLARIFY,
        Reserved.ACTION: Terminal.CLARIFY,
        Reserved.OBJECT: Terminal.CLARIFY,
        Reserved.SLOT: Terminal.CLARIFY,
        Reserved.CONFIDENCE: Terminal.CLARIFY,
        Reserved.CONFIRM: Terminal.CLARIFY,
        Reserved.EVIDENCE: Terminal.HANDOFF,
        Reserved.STATE: Terminal.DEFER,
        Reserved.DUPLICATE: Terminal.HANDOFF,
        Reserved.DIALOGUE: Terminal.HANDOFF,
        Reserved.DEADLINE: Terminal.DEFER,
        Reserved.STORE: Terminal.DEFER,
    }
)
"""The terminal of each reserved id that `terminals:` does not name."""

BOUNDED: Final = tuple(t.value for t in Terminal if t is not Terminal.DISPATCH)

Kind = Literal["phrases", "lexical", "linear", "setfit", "tuned", "embedded", "proposer"]
CLASSIFIERS: Final = ("lexical", "linear", "setfit", "tuned")
SCORED: Final = (*CLASSIFIERS, "embedded", "proposer")
"""Kinds whose model folder may hold a policy."""
UNSCORED: Final = ("phrases",)
"""Kinds that need no threshold."""
Relative = Annotated[str, StringConstraints(min_length=1, max_length=500)]

_LIMITS: Final = Limits()
_DIALOGUE: Final = DialogueLimits()


class TierModel(Model):
    """One tier of the cascade."""

    name: Text
    """Name of the tier in records and logs."""
    kind: Kind | None = None
    """How the tier works; may be left out for the tier named `phrases`."""
    model: Text | None = None
    """Path of the model, where the tier has one."""
    backend: Text | None = None
    """The backend of `backends.yaml` that a tier of kind `proposer` asks."""
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = None
    """Confidence below which the tier abstains; a decimal between 0 and 1. None if calibrated."""
    calibrated: bool = False
    """Whether the thresholds are those of the `policy.json` in the model's folder."""
    languages: Annotated[list[Tag], Field(min_length=1)] | None = None
    """The languages that the tier reads, where they are not all of the appliance's."""


class LimitsModel(Model):
    """Largest sizes that are accepted."""

    utterance_chars: Annotated[int, Field(ge=1, le=100_000)] = _LIMITS.utterance_chars
    """Characters of one utterance."""
    history_chars: Annotated[int, Field(ge=0, le=1_000_000)] = _LIMITS.history_chars
    """Characters of all earlier turns together."""
    body_bytes: Annotated[int, Field(ge=256, le=2**24)] = _LIMITS.body_bytes
    """Bytes of one request."""
    candidates: Annotated[int, Field(ge=0, le=100_000)] = _LIMITS.candidates
    """Entries of a candidate list."""


class DialogueModel(Model):
    """How long the appliance goes on asking."""

    clarifications: Annotated[int, Field(ge=1, le=20)] = _DIALOGUE.clarifications
    """Clarifications of one speaker within the window, after which a person takes over."""
    window_s: Annotated[int, Field(ge=60, le=86_400)] = _DIALOGUE.window_s
    """Seconds in which clarifications are counted."""
    valid_s: Annotated[int, Field(ge=60, le=86_400)] = _DIALOGUE.valid_s
    """Seconds after its opening turn in which a dialogue may go on."""
    confirm_s: Annotated[int, Field(ge=30, le=3_600)] = _DIALOGUE.confirm_s
    """Seconds in which a write may be confirmed."""


class PathsModel(Model):
    """Where the appliance keeps its files; relative to where it runs."""

    ledger: Relative | None = None
    """SQLite file of the chained decision records."""
    receipts: Relative | None = None
    """SQLite file of texts and raw model outputs."""
    index: Relative | None = None
    """Folder of the document index."""
    database: Relative | None = None
    """DuckDB file of the records pathway."""
    documents: Relative = "documents"
    """Folder of the documents, inside the institution's folder."""


class ApplianceFile(FileModel):
    """Settings of one institution's appliance."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    """Short name: small letters, digits, `-` and `_`."""
    title: Text | None = None
    """Name as customers know it."""
    languages: Annotated[list[Tag], Field(min_length=1, default_factory=lambda: ["en"])]
    """Configured languages; the first one is the default."""
    history_turns: Annotated[int, Field(ge=0, le=50)] = 4
    """At most this many earlier turns are looked at."""
    history_role: Literal["user"] | None = None
    """`user` lets a channel send bare strings as history."""
    channels: list[Text] = Field(default_factory=list)
    """Channels that are trusted to send state, session and candidates."""
    intent_channels: list[Text] = Field(default_factory=list)
    """Those among `channels` that may also say which action is meant, such as a menu or a button."""
    tiers: list[TierModel] = Field(default_factory=lambda: [TierModel(name="phrases")])
    """The cascade, first tier first."""
    limits: LimitsModel = LimitsModel()
    """How large a request may be."""
    dialogue: DialogueModel = DialogueModel()
    """How often a speaker is asked back, and how long an answer counts."""
    terminals: dict[str, str] = Field(default_factory=dict)
    """Bounded terminal of each reserved id; an id left out keeps its default."""
    paths: PathsModel = PathsModel()
    """Where the appliance keeps its files."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of the cascade; `threshold` is None where the tier has none of its own, `languages`
    where it reads all of the appliance's."""

    name: str
    kind: str
    model: str | None = None
    threshold: Decimal | None = None
    calibrated: bool = False
    languages: tuple[str, ...] | None = None
    backend: str | None = None


@dataclass(frozen=True, slots=True)
class Paths:
    """Files and folders of the appliance, relative to where it runs."""

    ledger: str
    receipts: str
    index: str
    database: str
    documents: str


@dataclass(frozen=True, slots=True)
class Appliance:
    """The settings of `appliance.yaml`, complete with defaults."""

    name: str
    title: str
    languages: tuple[str, ...]
    history_turns: int
    history_role: str | None
    channels: tuple[str, ...]
    tiers: tuple[Tier, ...]
    limits: Limits
    dialogue: DialogueLimits
    terminals: Mapping[Reserved, Terminal]
    paths: Paths
    intent_channels: tuple[str, ...] = ()

    @property
    def thresholds(self) -> Mapping[str, Decimal]:
        """The confidence below which each tier abstains, for the tiers that have a threshold."""
        return MappingProxyType(
            {t.name: t.threshold for t in self.tiers if t.threshold is not None}
        )


def read(document: Document) -> Appliance:
    """The appliance's settings; ConfigError with file, line and fix."""
    file = validate(ApplianceFile, document)
    _refuse_repeats(document, "languages", file.languages)
    _refuse_repeats(document, "channels", file.channels)
    _refuse_repeats(document, "intent_channels", file.intent_channels)
    _check_intent_channels(document, file)
    _refuse_repeats(document, "tiers", [t.name for t in file.tiers])
    return Appliance(
        name=file.name,
        title=file.title or file.name,
        languages=tuple(file.languages),
        history_turns=file.history_turns,
        history_role=file.history_role,
        channels=tuple(file.channels),
        tiers=tuple(
            _tier(document, index, tier, file.languages) for index, tier in enumerate(file.tiers)
        ),
        limits=Limits(**file.limits.model_dump()),
        dialogue=DialogueLimits(**file.dialogue.model_dump()),
        terminals=_terminals(document, file.terminals),
        paths=_paths(file.name, file.paths),
        intent_channels=tuple(file.intent_channels),
    )


def _check_intent_channels(document: Document, file: ApplianceFile) -> None:
    for index, channel in enumerate(file.intent_channels):
        if channel not in file.channels:
            problem = f"`{shown(channel)}` may send intents but is no trusted channel"
            fix = did_you_mean(channel, file.channels) + "; `channels:` lists those"
            raise document.error(problem, ("intent_channels", index), fix)


def _refuse_repeats(document: Document, key: str, names: list[str]) -> None:
    for name, lines in document.lines_of(key, names).items():
        if len(lines) > 1:
            index = len(names) - 1 - names[::-1].index(name)
            raise document.error(
                f"`{shown(name)}` is listed twice in `{key}`", (key, index), "remove one of the two"
            )


def _tier(document: Document, index: int, tier: TierModel, configured: list[str]) -> Tier:
    kind = tier.kind or ("phrases" if tier.name == "phrases" else None)
    if kind is None:
        raise document.error(
            f"tier `{shown(tier.name)}` has no kind",
            ("tiers", index),
            "add `kind:`, for example setfit",
        )
    for position, tag in enumerate(tier.languages or ()):
        if tag not in configured:
            raise document.error(
                f"tier `{shown(tier.name)}` reads `{shown(tag)}`, which is not configured",
                ("tiers", index, "languages", position),
                did_you_mean(tag, configured) + "; `languages:` lists them",
            )
    _check_threshold(document, index, tier, kind)
    if (tier.backend is not None) != (kind == "proposer"):
        problem = f"tier `{shown(tier.name)}` of kind `{kind}` has "
        problem += "no `backend`" if tier.backend is None else "a `backend`"
        fix = "only tiers of kind `proposer` ask a backend of backends.yaml, and each names one"
        raise document.error(problem, ("tiers", index), fix)
    languages = None if tier.languages is None else tuple(tier.languages)
    return Tier(
        tier.name, kind, tier.model, tier.threshold, tier.calibrated, languages, tier.backend
    )


def _check_threshold(document: Document, index: int, tier: TierModel, kind: str) -> None:
    """Refuse two sources of one threshold, and none where a model needs one."""
    if tier.calibrated and kind not in SCORED:
        raise document.error(
            f"tier `{shown(tier.name)}` of kind `{kind}` is said to be calibrated",
            ("tiers", index, "calibrated"),
            f"only {', '.join(SCORED)} have a policy; write `calibrated: false`",
        )
    if tier.calibrated and tier.threshold is not None:
        raise document.error(
            f"tier `{shown(tier.name)}` is calibrated and has a `threshold` of its own",
            ("tiers", index, "threshold"),
            "remove `threshold`: the policy in the model's folder has one for each action",
        )
    if kind not in UNSCORED and not tier.calibrated and tier.threshold is None:
        raise document.error(
            f"tier `{shown(tier.name)}` has no `threshold`",
            ("tiers", index),
            'add one, for example `threshold: "0.60"`, or derive a policy with '
            "`routelock train thresholds` and write `calibrated: true`",
        )


def _terminals(document: Document, given: Mapping[str, str]) -> Mapping[Reserved, Terminal]:
    """The defaults with what is given laid over them; DISPATCH is refused by name."""
    terminals = dict(DEFAULT_TERMINALS)
    for key, value in given.items():
        loc = ("terminals", key)
        if key not in {r.value for r in Reserved}:
            fix = did_you_mean(key, (r.value for r in Reserved))
            raise document.error(f"unknown reserved id `{shown(key)}`", loc, fix)
        if value == Terminal.DISPATCH:
            fix = "a reserved id never dispatches; use one of " + ", ".join(BOUNDED)
            raise document.error(f"terminal of `{key}` is `DISPATCH`", loc, fix)
        if value not in BOUNDED:
            problem = f"unknown terminal `{shown(value)}` of `{key}`"
            raise document.error(problem, loc, did_you_mean(value, BOUNDED))
        if key == Reserved.DIALOGUE and value == Terminal.CLARIFY:
            fix = "clarifications end there; use HANDOFF"
            raise document.error(f"terminal of `{key}` is `CLARIFY`", loc, fix)
        terminals[Reserved(key)] = Terminal(value)
    return MappingProxyType(terminals)


def _paths(name: str, given: PathsModel) -> Paths:
    return Paths(
        ledger=given.ledger or f"var/{name}/ledger.sqlite",
        receipts=given.receipts or f"var/{name}/receipts.sqlite",
        index=given.index or f"var/{name}/index",
        database=given.database or f"var/{name}/database.duckdb",
        documents=given.documents,
    )
