"""`catalog.yaml`: object types and actions, and the check of what actions refer to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from gate import confirmation
from gate.catalog import Action, Catalog, ObjectType
from gate.load.fixes import did_you_mean, shown
from gate.load.model import ByLanguage, FileModel, Identifier, Model, Text, validate
from gate.load.yamlfile import Document, Loc
from gate.normalise import fold
from gate.records import NONE, Mode

Shape = Annotated[str, StringConstraints(min_length=2, max_length=60)]


Origin = Literal["text", "history", "session"]


def _usual_origins() -> list[Origin]:
    return ["text", "history"]


class ObjectTypeModel(Model):
    """A kind of object."""

    nouns: ByLanguage = Field(default_factory=dict)
    """What customers call such an object, by language."""
    shapes: list[Shape] = Field(default_factory=list)
    """Identifier shapes: 9 is a digit, A a letter, other characters stand for themselves."""
    own: bool = False
    """True if the objects are the customer's own and come from the session, not the registry."""
    kinds: ByLanguage = Field(default_factory=dict)
    """Words for a kind of such an object (credit card), by language: a customer without one is asked."""


class ActionModel(Model):
    """One service."""

    id: Identifier
    """Id in records, rules and logs."""
    name: Text
    """Name as customers know it."""
    description: Text
    """What a proposer reads."""
    mode: Literal["read", "write"] | None = None
    """What the service does to the world; an action without a mode is never served."""
    pathway: Literal["documents", "records", "connector", "none"] = "none"
    """Where the answer comes from, or where the order goes."""
    objects: Annotated[list[str], Field(min_length=1, default_factory=lambda: [NONE])]
    """Permitted object types; NONE among them makes the object optional, NONE alone forbids it."""
    object_from: Annotated[list[Origin], Field(min_length=1, default_factory=_usual_origins)]
    """Where the object may come from."""
    query: Text | None = None
    """Verified query in queries.yaml; for the pathway `records`."""
    collection: Text | None = None
    """Collection in documents.yaml; for the pathway `documents`."""
    slots: list[Text] = Field(default_factory=list)
    """Slots that the service needs, declared in slots.yaml."""
    verbs: ByLanguage = Field(default_factory=dict)
    """Verbs that ask for this write action, by language."""
    nouns: ByLanguage = Field(default_factory=dict)
    """Nouns that go with the verbs, by language."""
    weak_verbs: ByLanguage = Field(default_factory=dict)
    """Verbs that ask for it only with a noun or a name behind them, never with `it`, by language."""
    gerunds: ByLanguage = Field(default_factory=dict)
    """The verbs behind `would you mind`, by language: freezing."""
    participles: ByLanguage = Field(default_factory=dict)
    """The verbs behind `I want my card`, by language: frozen."""
    titles: dict[str, Text] = Field(default_factory=dict)
    """Name as customers know it, by language; `name` stands for a language left out."""
    confirm: dict[str, Text] = Field(default_factory=dict)
    """What a customer confirms before the write is carried out, by language; `{object}` and
    `{SLOT}` are read back, a part in square brackets only if its slot is filled."""


class CatalogFile(FileModel):
    """The services of an institution."""

    version: Text
    """Version of the catalog, for records."""
    object_types: dict[Identifier, ObjectTypeModel] = Field(default_factory=dict)
    """Kinds of objects by name."""
    actions: Annotated[list[ActionModel], Field(min_length=1)]
    """The services."""


def read(document: Document, languages: Collection[str]) -> Catalog:
    """The catalog; ConfigError with file, line and fix for whatever contradicts itself."""
    file = validate(CatalogFile, document)
    types = {n: _object_type(document, n, t, languages) for n, t in file.object_types.items()}
    actions: dict[str, Action] = {}
    for index, model in enumerate(file.actions):
        if model.id in actions:
            raise document.error(
                f"action `{model.id}` is listed twice",
                ("actions", index),
                "rename one",
            )
        actions[model.id] = _action(document, ("actions", index), model, types, languages)
    return Catalog(file.version, MappingProxyType(actions), MappingProxyType(types))


def _object_type(
    document: Document, name: str, model: ObjectTypeModel, languages: Collection[str]
) -> ObjectType:
    nouns = _words(document, ("object_types", name, "nouns"), model.nouns, languages)
    kinds = _words(document, ("object_types", name, "kinds"), model.kinds, languages)
    return ObjectType(name, nouns, tuple(model.shapes), model.own, kinds)


def _words(
    document: Document, loc: Loc, given: Mapping[str, Sequence[str]], languages: Collection[str]
) -> Mapping[str, tuple[str, ...]]:
    """Word lists by language, folded and without repeats."""
    for tag in given:
        if tag not in languages:
            fix = did_you_mean(tag, languages) + " (`languages:` in appliance.yaml lists them)"
            raise document.error(f"language `{shown(tag)}` is not configured", (*loc, tag), fix)
    words = {t: tuple(dict.fromkeys(fold(w) for w in ws)) for t, ws in given.items()}
    for tag, forms in words.items():
        if "" in forms:
            raise document.error("word without a visible character", (*loc, tag), "remove it")
    return MappingProxyType(words)


def _texts(
    document: Document, loc: Loc, given: Mapping[str, str], languages: Collection[str]
) -> Mapping[str, str]:
    for tag in given:
        if tag not in languages:
            fix = did_you_mean(tag, languages) + " (`languages:` in appliance.yaml lists them)"
            raise document.error(f"language `{shown(tag)}` is not configured", (*loc, tag), fix)
    return MappingProxyType(dict(given))


def check_confirmations(document: Document, catalog: Catalog, languages: Collection[str]) -> None:
    """Refuse a write without a text that reads all of it back, in every configured language."""
    writes = [a for a in catalog.actions.values() if a.mode is Mode.WRITE]
    for action in writes:
        index = list(catalog.actions).index(action.action_id)
        for tag in languages:
            _check_confirmation(document, ("actions", index), action, tag)


def _check_confirmation(document: Document, loc: Loc, action: Action, tag: str) -> None:
    wanted = sorted(confirmation.wanted(action))
    places = ", ".join(f"`{{{name}}}`" for name in wanted) or "no place"
    text = action.confirm.get(tag)
    if text is None:
        problem = f"write action `{action.action_id}` has no text to confirm in `{tag}`"
        raise document.error(problem, loc, f"add `confirm: {{{tag}: ...}}` with {places}")
    odd = sorted(confirmation.places(text).symmetric_difference(wanted))
    if odd:
        problem = f"text to confirm `{action.action_id}` in `{tag}` misses or adds `{{{odd[0]}}}`"
        raise document.error(problem, (*loc, "confirm", tag), f"it must read back {places}")


def _action(
    document: Document,
    loc: Loc,
    model: ActionModel,
    types: Mapping[str, ObjectType],
    languages: Collection[str],
) -> Action:
    for position, name in enumerate(model.objects):
        if name != NONE and name not in types:
            raise document.error(
                f"action `{model.id}` names the object type `{shown(name)}`, which is not declared",
                (*loc, "objects", position),
                did_you_mean(name, (*types, NONE)),
            )
    problem = _contradiction(model, types)
    if problem:
        raise document.error(f"action `{model.id}` {problem[1]}", (*loc, problem[0]), problem[2])
    return Action(
        action_id=model.id,
        name=model.name,
        description=model.description,
        mode=Mode(model.mode) if model.mode else None,
        pathway=model.pathway,
        objects=tuple(dict.fromkeys(model.objects)),
        object_from=tuple(dict.fromkeys(model.object_from)),
        slots=tuple(dict.fromkeys(model.slots)),
        verbs=_words(document, (*loc, "verbs"), model.verbs, languages),
        nouns=_words(document, (*loc, "nouns"), model.nouns, languages),
        weak_verbs=_words(document, (*loc, "weak_verbs"), model.weak_verbs, languages),
        gerunds=_words(document, (*loc, "gerunds"), model.gerunds, languages),
        participles=_words(document, (*loc, "participles"), model.participles, languages),
        titles=_texts(document, (*loc, "titles"), model.titles, languages),
        confirm=_texts(document, (*loc, "confirm"), model.confirm, languages),
        query=model.query,
        collection=model.collection,
    )


def _contradiction(
    model: ActionModel, types: Mapping[str, ObjectType]
) -> tuple[str, str, str] | None:
    """The key, the problem and the fix of keys that do not go together; None if they all do."""
    own = any(types[o].own for o in model.objects if o != NONE)
    if "session" in model.object_from and not own:
        return (
            "object_from",
            "takes its object from the session but permits no `own: true` type",
            ("remove `session` or permit such a type"),
        )
    if model.pathway == "records" and model.query is None:
        return "pathway", "has the pathway `records` but no query", "add `query:`"
    if model.pathway == "documents" and model.collection is None:
        return "pathway", "has the pathway `documents` but no collection", "add `collection:`"
    if model.query is not None and model.pathway != "records":
        return "query", f"has a query but the pathway `{model.pathway}`", "remove `query:`"
    if model.collection is not None and model.pathway != "documents":
        return (
            "collection",
            f"has a collection but the pathway `{model.pathway}`",
            ("remove `collection:`"),
        )
    if model.mode == "write" and model.pathway in {"records", "documents"}:
        return (
            "pathway",
            f"writes, but its pathway `{model.pathway}` can only read",
            ("use `connector` or `none`"),
        )
    return None


def check_references(
    document: Document,
    catalog: Catalog,
    queries: Collection[str],
    collections: Collection[str],
) -> None:
    """Refuse an action that names a query or a collection that is not there."""
    _check(document, catalog, "query", queries, "queries.yaml", lambda a: a.query)
    _check(document, catalog, "collection", collections, "documents.yaml", lambda a: a.collection)


def _check(
    document: Document,
    catalog: Catalog,
    key: str,
    known: Collection[str],
    file: str,
    of: Callable[[Action], str | None],
) -> None:
    for index, action in enumerate(catalog.actions.values()):
        name = of(action)
        if name is not None and name not in known:
            raise document.error(
                f"action `{action.action_id}` names the {key} `{shown(name)}`, which {file} lacks",
                ("actions", index, key),
                did_you_mean(name, known) if known else f"declare it in {file}",
            )


def require_modes(document: Document, catalog: Catalog) -> None:
    """Refuse an action without a mode; such a catalog loads for benchmarks and the gate alone."""
    for index, action in enumerate(catalog.actions.values()):
        if action.mode is None:
            raise document.error(
                f"action `{action.action_id}` has no mode",
                ("actions", index),
                "add `mode: read` or `mode: write`; only `gate` and `bench` do without",
            )
