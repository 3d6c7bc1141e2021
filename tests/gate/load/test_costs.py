"""`costs.yaml`: every action has its damage, in one unit, and what is wrong is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.errors import ConfigError
from gate.load import costs, digests, load_institution
from gate.load.digests import Source
from gate.load.yamlfile import parse
from tests.gate.load.folders import MINIMAL
from tests.gate.load.folders import write as write_files

ROOT = Path(__file__).resolve().parents[3]
GOOD = """\
schema_version: 1
unit: US cents
small: "0.02"
large: 0.50
clarify: 15
damage:
  READ: 80
  FREEZE: 1000
  OUT_OF_SCOPE: 120
limits:
  wrong_routes: "0.01"
"""
ACTIONS = ("READ", "FREEZE")


def write(folder: Path, text: str = GOOD) -> Path:
    (folder / "costs.yaml").write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> costs.Costs:
    source = digests.read(folder, costs.FILE, digests.YAML_BYTES)
    return costs.read(parse(source), ACTIONS, source.digest)


def test_good_file(tmp_path: Path) -> None:
    found = read(write(tmp_path))
    assert found == costs.Costs(
        "US cents", 0.02, 0.5, 15.0, {"READ": 80.0, "FREEZE": 1000.0, "OUT_OF_SCOPE": 120.0},
        costs.CostLimits(wrong_routes=0.01), Source("costs.yaml", "", GOOD.encode()).digest,
    )  # fmt: skip


def test_costs_are_part_of_the_configuration() -> None:
    institution = load_institution(ROOT / "configs" / "demo")
    found = institution.costs
    assert found is not None
    assert institution.configuration.digests["costs.yaml"] == found.digest
    assert min(found.damage.values()) > found.clarify > found.large > found.small


def test_no_file_is_no_costs(tmp_path: Path) -> None:
    institution = load_institution(write_files(tmp_path, MINIMAL))
    assert institution.costs is None
    assert "costs.yaml" not in institution.configuration.digests


@pytest.mark.parametrize(
    ("old", "new", "mark", "problem", "fix"),
    [
        ("schema_version: 1", "schema_version: 2", "schema_version", "`2`", "write `1`"),
        ("unit: US cents\n", "", "schema_version", "`unit` is missing", "add `unit:`"),
        ("large: 0.50", "larg: 0.50", "larg", "unknown key `larg`", "`large`?"),
        ("clarify: 15", "clarify: -1", "clarify", "`clarify` is `-1`", "correct"),
        ("clarify: 15", "clarify: much", "clarify", "`clarify` is `much`, not a number", "number"),
        ("clarify: 15", "clarify: true", "clarify", "`true`, not a number", "number"),
        ("  READ: 80\n", "", "damage", "`damage` lacks `READ`", "add `READ:`"),
        ("  OUT_OF_SCOPE: 120\n", "", "damage", "lacks `OUT_OF_SCOPE`", "add"),
        ("FREEZE:", "FREZE:", "FREZE", "`FREZE`, which the catalog lacks", "`FREEZE`?"),
        ("FREEZE: 1000", "FREEZE: 0", "FREEZE", "as if a wrong route did not", "above 0"),
        ("FREEZE: 1000", "FREEZE: 1000\n  FREEZE: 1", "FREEZE: 1\n", "given twice", "line 8"),
        ('wrong_routes: "0.01"', 'wrong_routes: "1.01"', "wrong", "`wrong_routes` is", "correct"),
        ('wrong_routes: "0.01"', 'wrong: "0.01"', "wrong:", "unknown key `wrong`", "wrong_routes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, mark: str, problem: str, fix: str
) -> None:
    text = GOOD.replace(old, new, 1)
    with pytest.raises(ConfigError) as caught:
        read(write(tmp_path, text))
    error = caught.value
    lines = text.splitlines(keepends=True)
    assert error.line in {i for i, line in enumerate(lines, 1) if mark in line}
    assert problem in error.problem
    assert fix in error.fix
