"""Language packs from files: scaffold, completeness, refusals."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gate import language as core
from gate.errors import ConfigError
from gate.language import LanguagePack
from gate.load import language, yamlfile
from gate.load.digests import Source
from gate.load.scaffold import scaffold
from gate.records import Reserved
from tests.gate.load.folders import MINIMAL, line_of, refused, write

DEFAULT = (language.DEFAULT_PACKS / "en.yaml").read_text(encoding="utf-8")


def edited(tmp_path: Path, old: str, new: str) -> Path:
    assert old in DEFAULT
    own = DEFAULT.replace(old, new, 1)
    return write(tmp_path, {**MINIMAL, "languages/en.yaml": own})


def test_field_docs_cover_every_field() -> None:
    docs = language.field_docs()
    names = {f.name for f in dataclasses.fields(LanguagePack)} - {"language"}
    assert {n for n in names if docs[n]} == names


def test_scaffold_holds_every_field_and_template() -> None:
    document = yamlfile.parse(Source("xx.yaml", "xx.yaml", scaffold("xx").encode()))
    names = {f.name for f in dataclasses.fields(LanguagePack)} | {"schema_version"}
    assert set(document.data) == names
    assert set(document.data["templates"]) == set(language.TEMPLATE_IDS)
    assert {r.value for r in Reserved} < set(language.TEMPLATE_IDS)
    assert scaffold("xx").count("\n# ") >= len(names) - 3
    assert max(map(len, scaffold("xx").splitlines())) <= 100


@pytest.mark.parametrize("script", ["latin", "han"])
def test_scaffold_is_refused_until_it_is_filled_in(tmp_path: Path, script: str) -> None:
    text = scaffold("en", script).replace('""', '"x"')
    error = refused(write(tmp_path, {**MINIMAL, "languages/en.yaml": text}))
    assert "language pack `en` is incomplete" in error.problem
    assert "`write_cues`" in error.problem
    assert ("`measure_words`" in error.problem) == (script == "han")
    assert "scaffold" in error.fix


def test_default_packs_are_complete() -> None:
    for path in sorted(language.DEFAULT_PACKS.glob("*.yaml")):
        pack, source = language.load(None, path.stem)
        assert core.missing(pack, language.TEMPLATE_IDS) == ()
        assert source.name == f"languages/{path.name}"


def test_language_without_a_pack_says_which_there_are(tmp_path: Path) -> None:
    appliance = MINIMAL["appliance.yaml"] + "languages: [xx]\n"
    error = refused(write(tmp_path, {**MINIMAL, "appliance.yaml": appliance}))
    assert error.problem == "language `xx` has no pack"
    assert error.file == str(tmp_path / "languages/xx.yaml")
    assert "`en`" in error.fix and "`zh`" in error.fix


def test_language_without_a_pack_and_without_a_folder() -> None:
    with pytest.raises(ConfigError, match="language `xx` has no pack"):
        language.load(None, "xx")


@pytest.mark.parametrize(
    ("old", "new", "problem", "fix"),
    [
        ("language: en", "language: de", "`de` in the file of `en`", "`language: en`"),
        ("script: latin", "script: latn", "`script` is `latn`", "did you mean `latin`?"),
        ("joiners:", "joiner:", "unknown key `joiner`", "did you mean `joiners`?"),
        ("G-SCOPE:", "G-SCOPES:", "unknown template `G-SCOPES`", "did you mean `G-SCOPE`?"),
        ("G-STORE:", "g-store:", "unknown template `g-store`", "did you mean `G-STORE`?"),
        ("measure_words: []", 'measure_words: ["\u200b"]', "visible character", "remove"),
    ],
)
def test_broken_pack_names_line_and_fix(
    tmp_path: Path, old: str, new: str, problem: str, fix: str
) -> None:
    folder = edited(tmp_path, old, new)
    error = refused(folder)
    assert problem in error.problem
    assert fix in error.fix
    mark = new.split("\n")[0]
    assert error.line == line_of(folder, "languages/en.yaml", mark)


def test_missing_template_is_named(tmp_path: Path) -> None:
    start = DEFAULT.index("  G-STORE:")
    error = refused(edited(tmp_path, DEFAULT[start:], ""))
    assert error.problem == "language pack `en` is incomplete: `templates.G-STORE`"
