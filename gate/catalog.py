"""The catalog: the versioned list of services that a request may become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gate.records import NONE, Mode


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A type of object: its nouns per language, identifier shapes (9 digit, A letter), and whether
    instances come from the session (`own`) rather than from the registry.

    `kinds` are words for a kind of it (credit card, savings): where one stands and no name of the
    session holds it, the sole own object is not what was meant.
    """

    name: str
    nouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shapes: tuple[str, ...] = ()
    own: bool = False
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Action:
    """One service: what it needs, where its object may come from, what it does to the world.

    `titles` are its names, and `confirm` the texts that ask whether a write shall be carried out,
    by language; a `{name}` in the latter is a slot, `{object}` the object.
    """

    action_id: str
    name: str
    description: str
    mode: Mode | None
    pathway: str
    objects: tuple[str, ...]
    object_from: tuple[str, ...] = ("text", "history")
    slots: tuple[str, ...] = ()
    verbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weak_verbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gerunds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    participles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    query: str | None = None
    collection: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    confirm: Mapping[str, str] = field(default_factory=dict)

    def title(self, language: str) -> str:
        """Its name in that language, or the one that every action has."""
        return self.titles.get(language, self.name)

    @property
    def types(self) -> tuple[str, ...]:
        """The permitted object types, without NONE."""
        return tuple(t for t in self.objects if t != NONE)

    @property
    def object_required(self) -> bool:
        """True unless the action may run without an object."""
        return bool(self.types) and NONE not in self.objects


SLOT_TYPES = ("amount", "date", "counterparty", "email", "address", "object")


@dataclass(frozen=True, slots=True)
class SlotSpec:
    """A typed value that an action needs besides its object.

    `type` is one of SLOT_TYPES. An amount has `currencies` (ISO 4217; the first one is meant where
    the text names none), bounds that are both permitted, and at most `decimals` digits behind the
    point. An `object` is one of the session's own, of one of `object_types`. An `optional` slot may
    stay empty. `ask` is the question for it, by language.
    """

    name: str
    type: str
    optional: bool = False
    currencies: tuple[str, ...] = ()
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    decimals: int = 2
    object_types: tuple[str, ...] = ()
    ask: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Actions by id, in file order, with the object types and slots that they use."""

    version: str
    actions: Mapping[str, Action]
    object_types: Mapping[str, ObjectType] = field(default_factory=dict)
    slots: Mapping[str, SlotSpec] = field(default_factory=dict)

    def get(self, action_id: object) -> Action | None:
        """The action of that id, or None for anything else whatever its type."""
        return self.actions.get(action_id) if isinstance(action_id, str) else None

    @property
    def has_modes(self) -> bool:
        """True if every action declares read or write; without modes, direction checks are inert."""
        return all(a.mode is not None for a in self.actions.values())
