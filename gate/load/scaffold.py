"""Scaffolds: files to start from, with a comment on every field."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from gate.load.language import TEMPLATE_IDS, field_docs, list_fields


def scaffold(tag: str, script: str = "latin") -> str:
    """A language pack `languages/<tag>.yaml` with every field, empty, and what each is for.

    It loads as YAML but is refused as incomplete until the lists are filled in.
    """
    docs = field_docs()
    parts = [
        _comment(
            "Every list is closed: what is not listed is no cue. Entries are compared with "
            "normalised text (case-folded, straight apostrophes), so write them plainly."
        )
        + f"schema_version: 1\nlanguage: {tag}\n\n{_comment(docs['script'])}script: {script}"
    ]
    parts.extend(f"{_comment(docs[name])}{name}: []" for name in list_fields())
    templates = "\n".join(f'  {name}: ""' for name in TEMPLATE_IDS)
    parts.append(f"{_comment(docs['templates'])}templates:\n{templates}")
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return (
        textwrap.fill(" ".join(text.split()), 96, initial_indent="# ", subsequent_indent="# ")
        + "\n"
    )


def institution(name: str) -> Mapping[str, str]:
    """The two required files of a new institution by name; together they load as they are."""
    return {
        "appliance.yaml": _APPLIANCE.format(name=name),
        "catalog.yaml": _CATALOG,
    }


_APPLIANCE = """\
# Settings of this appliance; every key is explained in configs/schemas/appliance.schema.json.
schema_version: 1
name: {name}
languages: [en]
# Channels that are trusted to send state, session and candidates.
channels: []
"""

_CATALOG = """\
# What a request may become. Everything else has a safe default: without rules.yaml public reads
# are answered, and every other action goes to a person.
schema_version: 1
version: "1"
actions:
  - id: OPENING_HOURS
    name: Opening hours
    description: When a branch or the telephone service is open.
    mode: read
"""
