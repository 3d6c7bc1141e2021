"""Language packs: `configs/languages/<tag>.yaml`, or an institution's own file of that name."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, create_model

from gate import language
from gate.errors import ConfigError
from gate.language import LanguagePack
from gate.load.digests import YAML_BYTES, Source, read, read_if_present
from gate.load.fixes import did_you_mean, shown
from gate.load.model import FileModel, Tag, Text, validate
from gate.load.yamlfile import Document, parse
from gate.normalise import fold
from gate.records import Reserved

DEFAULT_PACKS: Final = Path(__file__).resolve().parents[2] / "configs" / "languages"
"""The packs that come with the product; `configs` stands beside `gate`, installed or not."""

TEMPLATE_IDS: Final = (
    *(r.value for r in Reserved),
    "CLARIFY",
    "DEFER",
    "HANDOFF",
    "REJECT",
    "RECORDED",
    "DONE",
    "QUEUED",
    "IN_DOUBT",
    "FAILED",
    "CONFIRM-UNANSWERED",
    "CONFIRM-AGAIN",
)
"""Templates that a complete pack has: one per reserved id, one per bounded terminal, what is said of a
confirmed order (written down only, done, kept for delivery, in doubt, failed), and what may follow the
question that asks for a confirmation."""


def field_docs() -> Mapping[str, str]:
    """What each field of `LanguagePack` is for: the text under it in `gate/language.py`."""
    body = ast.parse(inspect.getsource(LanguagePack)).body[0].body  # type: ignore[attr-defined]
    docs: dict[str, str] = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            docs[field.target.id] = str(text.value) if isinstance(text, ast.Constant) else ""
    return docs


def list_fields() -> tuple[str, ...]:
    """The names of the word lists, in the order of the record."""
    other = {"language", "script", "templates"}
    return tuple(f.name for f in dataclasses.fields(LanguagePack) if f.name not in other)


def _model() -> type[FileModel]:
    docs = field_docs()
    fields: dict[str, Any] = {
        "language": (Tag, Field(description="Language tag; the file's name.")),
        "script": (Literal["latin", "han"], Field(description=docs["script"])),
    }
    for name in list_fields():
        fields[name] = (list[Text], Field(default=[], description=docs[name]))
    templates = Annotated[dict[str, Text], Field(description=docs["templates"])]
    fields["templates"] = (templates, {})
    return create_model("LanguageFile", __base__=FileModel, __doc__=language.__doc__, **fields)


LanguageFile: Final = _model()


def load(folder: Path | None, tag: str) -> tuple[LanguagePack, Source]:
    """The pack of `tag`, the institution's own before the default one, and the file it came from.

    ConfigError with file, line and fix if there is none, or if it is incomplete.
    """
    source = _source(folder, tag)
    document = parse(source)
    pack = read_pack(document, tag)
    lacking = language.missing(pack, TEMPLATE_IDS)
    if lacking:
        raise document.error(
            f"language pack `{tag}` is incomplete: " + ", ".join(f"`{n}`" for n in lacking),
            (),
            "fill in what is missing; `scaffold` in gate/load prints every field with its meaning",
        )
    return pack, source


def _source(folder: Path | None, tag: str) -> Source:
    name = f"languages/{tag}.yaml"
    own = read_if_present(folder, name, YAML_BYTES) if folder else None
    if own:
        return own
    if not (DEFAULT_PACKS / f"{tag}.yaml").exists():
        known = sorted(p.stem for p in DEFAULT_PACKS.glob("*.yaml"))
        raise ConfigError(
            f"language `{tag}` has no pack",
            file=str((folder or DEFAULT_PACKS.parent) / name),
            fix=f"add the file, or {did_you_mean(tag, known)}",
        )
    found = read(DEFAULT_PACKS, f"{tag}.yaml", YAML_BYTES)
    return Source(name, found.path, found.data)


def read_pack(document: Document, tag: str) -> LanguagePack:
    """The pack, complete or not, with every word folded and no word twice in a list."""
    file = validate(LanguageFile, document).model_dump()
    if file["language"] != tag:
        problem = f"language is `{file['language']}` in the file of `{tag}`"
        raise document.error(problem, ("language",), f"write `language: {tag}`")
    lists = {name: _folded(document, name, file[name]) for name in list_fields()}
    for key in file["templates"]:
        if key not in TEMPLATE_IDS:
            fix = did_you_mean(key, TEMPLATE_IDS)
            raise document.error(f"unknown template `{shown(key)}`", ("templates", key), fix)
    return LanguagePack(tag, file["script"], templates=file["templates"], **lists)


def _folded(document: Document, name: str, words: list[str]) -> tuple[str, ...]:
    folded = tuple(fold(w) for w in words)
    if "" in folded:
        loc = (name, folded.index(""))
        raise document.error(f"word without a visible character in `{name}`", loc, "remove it")
    return tuple(dict.fromkeys(folded))
