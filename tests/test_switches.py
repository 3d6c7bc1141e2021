"""Ablation switches are for `eval` alone: no serving code sets one."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVING = ("gate", "inference", "retrieval", "sqlpath", "scripts", "training")
REPLAYED = "gate/ledger/encode.py"
"""Reads the switches of a stored decision back, to make it again."""


def test_only_eval_sets_a_switch() -> None:
    setting: list[str] = []
    for folder in SERVING:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                called = node.func if isinstance(node, ast.Call) else None
                named = getattr(called, "id", getattr(called, "attr", ""))
                if named == "Switches" and (node.args or node.keywords):  # type: ignore[attr-defined]
                    setting.append(name)
    assert setting == [REPLAYED]
