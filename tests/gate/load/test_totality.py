"""Whatever is done to a folder's files, it loads or is refused with file, line and fix."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.errors import ConfigError
from gate.load import load_institution
from gate.load.scaffold import scaffold
from gate.records import Boundary
from tests.gate.load.folders import GOOD, write

FILES = [name for name in GOOD if name.endswith((".yaml", ".csv"))]
VALUES = ["", "null", "true", "7", "-1", "1.5", "[]", "{}", "[[]]", "{a: {b: c}}", '"*"', "'", "@"]


def broken(folder: Path, name: str, content: bytes) -> None:
    """Load the good folder with one other file content: it loads, or one clear error says why not."""
    path = folder / name
    path.write_bytes(content)
    try:
        rules = load_institution(folder).configuration.rules
    except ConfigError as error:
        assert Path(error.file).exists(), error
        assert error.problem and error.fix, error
        assert (
            error.line is None
            or 1 <= error.line <= content.count(b"\n") + 1
            or (Path(error.file) != path)
        ), error
        assert "\n" not in str(error) and len(str(error)) < 1000, error
    else:
        assert [r.rule_id for r in rules.rules if r.then is Boundary.ALLOW] == [
            rules.default.rule_id
        ]
    finally:
        path.write_text(GOOD[name], encoding="utf-8")


def mutations(text: str) -> Iterator[str]:
    """Every line deleted, doubled and moved up, every key renamed, every value replaced."""
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        before, after = lines[:index], lines[index + 1 :]
        yield "".join(before + after)
        yield "".join([*before, line, line, *after])
        yield "".join([line, *before, *after])
        yield "".join([*before, " " + line, *after])
        yield "".join([*before, line.replace(",", ""), *after])
        yield "".join([*before, re.sub(r"(\w+):", r"x\1:", line, count=1), *after])
        for value in VALUES:
            yield "".join([*before, re.sub(r": .+", f": {value}", line, count=1), *after])


@pytest.mark.parametrize("name", FILES)
def test_every_small_change_loads_or_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, GOOD)
    changed = sorted(set(mutations(GOOD[name])))
    for text in random.Random(7).sample(changed, min(len(changed), 150)):  # noqa: S311
        broken(tmp_path, name, text.encode())


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_load_or_are_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    write(tmp_path, GOOD)
    good = GOOD[name].encode()
    start = data.draw(st.integers(0, len(good)))
    length = data.draw(st.integers(0, 12))
    junk = data.draw(st.binary(max_size=12) | st.text(max_size=6).map(lambda t: t.encode("utf-8")))
    broken(tmp_path, name, good[:start] + junk + good[start + length :])


def test_any_missing_file_loads_or_is_refused(tmp_path: Path) -> None:
    for name in GOOD:
        folder = write(tmp_path / name, {n: t for n, t in GOOD.items() if n != name})
        with contextlib.suppress(ConfigError):
            load_institution(folder)


def test_scaffold_of_any_tag_is_yaml() -> None:
    for tag in ("fr", "pt-BR", "no"):
        assert f"language: {tag}\n" in scaffold(tag)
