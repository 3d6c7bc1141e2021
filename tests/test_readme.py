"""What the README says can be typed, can be typed."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
import typer

from scripts.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_python_lines_print_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```\n", README, re.DOTALL)
    assert len([text for text in code.splitlines() if text.strip()]) <= 12
    shown = re.search(r"```python\n.*?```\n\nprints\n\n```\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102  (our own README)
    assert printed.getvalue() == shown.group(1)


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"^make ([a-z-]+)", README, re.MULTILINE)))
)
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_both_commands_of_the_readme_are_make_targets() -> None:
    assert {"demo", "test"} <= set(re.findall(r"^make ([a-z-]+)", README, re.MULTILINE))


def known() -> set[tuple[str, ...]]:
    root = typer.main.get_command(app)
    names: set[tuple[str, ...]] = set()
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        names.add((name,))
        names.update((name, child) for child in getattr(command, "commands", {}))
    return names


@pytest.mark.parametrize("row", re.findall(r"^\| (`routelock .*?) \|", README, re.MULTILINE))
def test_every_command_of_the_table_exists(row: str) -> None:
    group: tuple[str, ...] = ()
    for cell in re.findall(r"`([a-z ]+)`", row):
        words = tuple(cell.removeprefix("routelock ").split())
        path = words if cell.startswith("routelock ") or len(words) > 1 else (*group, *words)
        if cell.startswith("routelock ") or len(words) > 1:
            group = words[:-1]
        assert path in known(), f"routelock {' '.join(path)}"


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
