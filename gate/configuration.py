"""One loaded, validated configuration: everything that a decision may depend on besides its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gate.alerts import Alert
from gate.catalog import Catalog
from gate.errors import ConfigError
from gate.language import LanguagePack
from gate.lexicon import Lexicon, compile_lexicon
from gate.records import Reserved, Terminal
from gate.registry import Registry
from gate.rules import RuleSet
from gate.slotwords import SlotWords, compile_words
from gate.state import Predicate


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest sizes that are accepted; characters, bytes, items."""

    utterance_chars: int = 2000
    history_chars: int = 4000
    body_bytes: int = 65536
    candidates: int = 200


@dataclass(frozen=True, slots=True)
class DialogueLimits:
    """How long the appliance goes on asking; seconds.

    After `clarifications` of one speaker within `window_s` a person takes over. A dialogue ends
    `valid_s` after its opening turn, a confirmation `confirm_s` after it was asked for.
    """

    clarifications: int = 3
    window_s: int = 900
    valid_s: int = 900
    confirm_s: int = 300


@dataclass(frozen=True, slots=True)
class Configuration:
    """Catalog, registry, state, rules and words of one institution, with the digest of every file.

    `thresholds` maps a tier's name to the confidence below which `G-CONFIDENCE` closes; a tier
    that is not listed has no threshold of its own and closes on a null confidence.
    `channels` may send state, session and candidates, those of `intent_channels` an intent too.
    `digests` maps a file name to the SHA-256 of its bytes.
    `lexicon`, `shapes` and `slot_words` are compiled from packs and catalog when the record is made.
    """

    name: str
    catalog: Catalog
    registry: Registry
    predicates: Mapping[str, Predicate]
    rules: RuleSet
    packs: Mapping[str, LanguagePack]
    languages: tuple[str, ...]
    terminals: Mapping[Reserved, Terminal]
    title: str = ""
    thresholds: Mapping[str, Decimal] = field(default_factory=dict)
    limits: Limits = Limits()
    dialogue: DialogueLimits = DialogueLimits()
    channels: tuple[str, ...] = ()
    intent_channels: tuple[str, ...] = ()
    alerts: tuple[Alert, ...] = ()
    history_turns: int = 4
    history_role: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    lexicon: Lexicon = field(init=False, repr=False)
    shapes: tuple[str, ...] = field(init=False, repr=False)
    slot_words: SlotWords = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile what every request needs, once; ConfigError if a reserved id could dispatch."""
        for reserved in Reserved:
            if self.terminals.get(reserved) in (None, Terminal.DISPATCH):
                raise ConfigError(
                    f"`{reserved}` has no bounded terminal", fix="give it one under `terminals:`"
                )
        lexicon = compile_lexicon((self.packs[tag] for tag in self.languages), self.catalog)
        shapes = (s for t in self.catalog.object_types.values() for s in t.shapes)
        object.__setattr__(self, "lexicon", lexicon)
        object.__setattr__(self, "shapes", tuple(dict.fromkeys(shapes)))
        slot_words = compile_words(self.packs[tag] for tag in self.languages)
        object.__setattr__(self, "slot_words", slot_words)

    @property
    def pack(self) -> LanguagePack:
        """The default language's pack."""
        return self.packs[self.languages[0]]
