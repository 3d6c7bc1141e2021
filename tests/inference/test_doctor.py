"""Doctor: every check is seen well and ill, and nothing that is wrong goes by as ok."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gate.errors import LedgerError
from gate.ledger.pseudonym import key_path
from inference import artefacts
from inference.doctor import CHECKS, Examined, Level, Result, examine
from inference.doctor.files import FULL, SCARCE
from inference.doctor.models import policies
from tests.gate.ledger.samples import filled
from tests.gate.ledger.test_verify import unlocked
from tests.gate.load.folders import GOOD, write
from tests.inference.test_policies import COSTS, FAST, LEXICAL, trained
from tests.models import ROOT

BOUND: Mapping[str, Any] = {"alpha": 0.05, "delta": 0.05, "void": None, "coverage": 0.81}


class Usage(NamedTuple):
    free: int


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small institution whose fast tier is lexical and calibrated; it has no model yet."""
    appliance = str(GOOD["appliance.yaml"]).replace(FAST, LEXICAL)
    files = {**GOOD, "appliance.yaml": appliance, "costs.yaml": COSTS}
    return write(tmp_path / "corner", files)


def told(folder: Path, check: str, subject: str | None = None) -> list[Result]:
    """The results of one check, or those of it about one thing."""
    one = tuple(item for item in CHECKS if item[0] == check)
    found = [r for r in examine(folder, folder.parent, one) if r.check == check]
    return [r for r in found if subject is None or r.subject == subject]


def levels(results: list[Result]) -> list[str]:
    return [result.level.value for result in results]


def test_the_demo_is_fit_to_serve() -> None:
    results = list(examine(ROOT / "configs/demo", ROOT))
    assert [r for r in results if r.level is Level.FAILED] == []
    assert {r.check for r in results} == {"configuration", *(name for name, _ in CHECKS)}
    assert all(r.fix for r in results if r.level is Level.WARNING)


def test_a_folder_that_does_not_load_is_one_failed_result(folder: Path) -> None:
    (folder / "rules.yaml").write_text("schema_version: 2\n", encoding="utf-8")
    (result,) = examine(folder, folder.parent)
    assert (result.check, result.level) == ("configuration", Level.FAILED)
    assert "rules.yaml:1" in result.found and result.fix


def test_a_check_that_raises_a_known_error_fails_and_the_others_go_on(folder: Path) -> None:
    def broken(examined: Examined) -> Iterator[Result]:
        yield Result("first", examined.institution.appliance.name, Level.OK, "seen")
        raise LedgerError("the disk is gone; mount it")

    results = list(examine(folder, folder.parent, (("first", broken), *CHECKS[-1:])))
    assert levels(results) == ["ok", "ok", "failed", "ok"]
    assert (results[2].found, results[2].fix) == ("the disk is gone", "mount it")


def test_a_check_that_fails_in_its_own_way_is_a_failed_result(folder: Path) -> None:
    def broken(examined: Examined) -> Iterator[Result]:
        yield from {"results": ()}["result"]

    (_, result) = examine(folder, folder.parent, (("own", broken),))
    assert (result.check, result.level) == ("own", Level.FAILED)
    assert result.found == "KeyError: 'result'" and result.fix


def test_what_lint_finds_is_a_warning(folder: Path) -> None:
    state = str(GOOD["state.yaml"]) + "  - {name: spare, type: boolean, source: core}\n"
    (folder / "state.yaml").write_text(state, encoding="utf-8")
    (one,) = told(folder, "lint", "unread-predicate")
    assert one.level is Level.WARNING and "spare" in one.found


def test_kept_labels_are_counted(folder: Path) -> None:
    (result,) = told(folder, "phrases")
    assert result.level is Level.OK
    assert "3 texts, 0 forms of commands, 4 of 4 labels kept" in result.found


def test_phrases_that_no_tier_reads_are_a_warning(folder: Path) -> None:
    appliance = (folder / "appliance.yaml").read_text("utf-8")
    without = appliance.replace("  - {name: phrases}\n", "")
    (folder / "appliance.yaml").write_text(without, "utf-8")
    (result, kept) = told(folder, "phrases")
    assert (result.level, kept.level) == (Level.WARNING, Level.OK)
    assert "no tier reads them" in result.found and "first tier" in result.fix


def test_a_write_without_verbs_in_a_language_is_a_warning(folder: Path) -> None:
    assert levels(told(folder, "languages")) == ["ok"]
    appliance = (folder / "appliance.yaml").read_text("utf-8")
    (folder / "appliance.yaml").write_text(appliance.replace("[en]", "[en, zh]"), "utf-8")
    catalog = (folder / "catalog.yaml").read_text("utf-8")
    confirm = 'confirm: {en: "Freeze {object}, with {amount} left?"'
    changed = catalog.replace(confirm, confirm + ', zh: "冻结{object}，剩{amount}吗？"')
    (folder / "catalog.yaml").write_text(changed, "utf-8")
    queries = (folder / "queries.yaml").read_text("utf-8")
    changed = queries.replace('{price}."}', '{price}.", zh: "{price}"}')
    (folder / "queries.yaml").write_text(changed, "utf-8")
    (zh,) = told(folder, "languages", "zh")
    assert zh.level is Level.WARNING and "`FREEZE`" in zh.found and "catalog.yaml" in zh.fix


CONNECTORS = """\
schema_version: 1
connectors:
  - {name: bank, kind: http, url: "http://127.0.0.1:1", secret_file: bank.key}
actions:
  FREEZE: {connector: bank, deadline_s: 5, valid_for_s: 30}
"""


def test_every_write_needs_a_connector_and_that_its_secret(folder: Path) -> None:
    (missing,) = told(folder, "connectors")
    assert (missing.subject, missing.level) == ("FREEZE", Level.FAILED)
    (folder / "connectors.yaml").write_text(CONNECTORS, "utf-8")
    (bank,) = told(folder, "connectors")
    assert bank.level is Level.FAILED and "bank.key" in bank.found
    (folder.parent / "bank.key").write_text("secret", "utf-8")
    (bank,) = told(folder, "connectors")
    assert bank.level is Level.OK and "1 writes" in bank.found
    (folder / "connectors.yaml").write_text("schema_version: 1\nrecord_only: [FREEZE]\n", "utf-8")
    assert levels(told(folder, "connectors")) == ["warning"]


def test_a_tier_needs_its_sealed_model(folder: Path) -> None:
    assert levels(told(folder, "tiers")) == ["ok", "failed"]
    made = trained(folder)
    assert levels(told(folder, "tiers")) == ["ok", "ok"]
    manifest = dict(made.manifest)
    with (made.folder / "policy.json").open("a", encoding="utf-8") as part:
        part.write(" ")
    (fast,) = told(folder, "tiers", "fast")
    assert fast.level is Level.FAILED and "policy.json" in fast.found and fast.fix
    old = {**manifest, "libraries": {"scikit-learn": "1.6.1"}}
    artefacts.write_manifest(made.folder, {k: v for k, v in old.items() if k != "files"})
    (fast,) = told(folder, "tiers", "fast")
    assert fast.level is Level.FAILED and "1.6.1" in fast.found


def sealed(folder: Path, report: Mapping[str, Any]) -> list[Result]:
    """What is said of a policy that a manifest reports."""
    model = folder.parent / "var/models/fast"
    model.mkdir(parents=True, exist_ok=True)
    (model / "policy.json").write_text("{}", "utf-8")
    artefacts.write_manifest(model, {"kind": "lexical", "policy": report})
    return told(folder, "policies", "fast")


def test_a_policy_is_told_with_its_bound(folder: Path) -> None:
    (kept,) = sealed(folder, {"problems": [], "bound": BOUND})
    assert kept.level is Level.OK
    assert "at most 5% with confidence 95%, at coverage 81.0%" in kept.found


def test_a_void_bound_and_a_pointless_tier_are_warnings(folder: Path) -> None:
    void = {**BOUND, "void": "too few routed texts"}
    problems = [
        "`FEES`: tau is -0.100, so every message is routed",
        "coverage is 0.30%: next to nothing",
    ]
    found = sealed(folder, {"problems": problems, "bound": void})
    assert levels(found) == ["warning"] * 3
    assert "void: too few routed texts" in found[2].found
    (unstated,) = sealed(folder, {"problems": []})
    assert unstated.level is Level.WARNING and "void: not stated" in unstated.found


@pytest.mark.parametrize(
    ("threshold", "answered", "word"),
    [("0", 0.9, "whatever its score"), ("0.99", 0.001, "pointless"), ("0.6", 0.9, "uncalibrated")],
)
def test_a_fixed_threshold_is_told(
    tmp_path: Path, threshold: str, answered: float, word: str
) -> None:
    appliance = str(GOOD["appliance.yaml"]).replace('"0.60"', f'"{threshold}"')
    folder = write(tmp_path / "corner", {**GOOD, "appliance.yaml": appliance})
    model = tmp_path / "var/models/fast"
    model.mkdir(parents=True)
    (model / "head").write_text("", "utf-8")
    artefacts.write_manifest(model, {"kind": "setfit", "held_back": {"answered": answered}})
    (result,) = told(folder, "policies", "fast")
    assert result.level is Level.WARNING and word in result.found and result.fix


def test_a_missing_model_is_told_once(folder: Path) -> None:
    assert told(folder, "policies") == [] == told(folder, "costs")
    assert levels(told(folder, "tiers", "fast")) == ["failed"]


def test_thresholds_of_other_costs_fail(folder: Path) -> None:
    trained(folder)
    assert levels(told(folder, "costs")) == ["ok"]
    (folder / "costs.yaml").write_text(COSTS.replace("clarify: 15", "clarify: 16"), "utf-8")
    (result,) = told(folder, "costs")
    assert result.level is Level.FAILED and "costs.yaml changed" in result.found


@pytest.mark.parametrize("check", ["index", "database"])
def test_what_is_declared_and_not_built_fails(folder: Path, check: str) -> None:
    (result,) = told(folder, check)
    assert result.level is Level.FAILED and result.fix
    catalog = (folder / "catalog.yaml").read_text("utf-8")
    for line in ("pathway: documents", "collection: fees", "pathway: records", "query: fund_price"):
        catalog = catalog.replace(f"    {line}\n", "")
    (folder / "catalog.yaml").write_text(catalog, "utf-8")
    (folder / "documents.yaml").unlink()
    (folder / "queries.yaml").unlink()
    assert levels(told(folder, check)) == ["ok"]


def test_documents_of_another_day_are_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inference.stores.index_inputs", lambda *_: {"documents.yaml": "other"})
    one = tuple(item for item in CHECKS if item[0] == "index")
    (_, result) = examine(ROOT / "configs/demo", ROOT, one)
    assert result.level is Level.WARNING and "other documents" in result.found


def ledger_of(folder: Path, count: int = 3) -> Path:
    """A ledger of some decisions where appliance.yaml of `folder` says."""
    home = folder.parent / "var/corner"
    home.mkdir(parents=True)
    path = filled(home, count)
    assert path == home / "ledger.sqlite"
    return path


def test_a_sound_ledger_is_read_again(folder: Path) -> None:
    assert "none yet" in told(folder, "ledger")[0].found
    ledger_of(folder)
    (result,) = told(folder, "ledger")
    assert result.level is Level.OK and result.found.startswith("3 records")


@pytest.mark.parametrize("quick", [1, 5_000])
def test_a_changed_record_is_found(
    folder: Path, quick: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inference.doctor.files.QUICK", quick)
    with unlocked(ledger_of(folder)) as connection:
        (data,) = connection.execute("SELECT bytes FROM ledger WHERE sequence = 3").fetchone()
        changed = data.replace(b"CARD_STATUS", b"CARD_STATUT")
        assert changed != data
        connection.execute("UPDATE ledger SET bytes = ? WHERE sequence = 3", (changed,))
    (result,) = told(folder, "ledger")
    assert result.level is Level.FAILED and "record 3" in result.found
    assert "ledger verify" in result.fix


@pytest.mark.parametrize("part", ["ledger.sqlite", "receipts.sqlite", "ledger.key"])
def test_a_missing_part_of_the_book_fails(folder: Path, part: str) -> None:
    path = ledger_of(folder)
    assert key_path(path).name == "ledger.key"
    (path.parent / part).unlink()
    (result,) = told(folder, "ledger")
    assert result.level is Level.FAILED and part.split(".")[0] in result.found


def test_a_ledger_whose_lock_is_gone_fails(folder: Path) -> None:
    path = ledger_of(folder)
    with closing(sqlite3.connect(path)) as connection:
        (name,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchone()
        connection.execute(f"DROP TRIGGER {name}")
    (result,) = told(folder, "ledger")
    assert result.level is Level.FAILED and "the file was changed" in result.found


@pytest.mark.parametrize(
    ("free", "level"),
    [
        (SCARCE, Level.OK),
        (SCARCE - 1, Level.WARNING),
        (FULL, Level.WARNING),
        (FULL - 1, Level.FAILED),
    ],
)
def test_a_full_disk_fails(
    folder: Path, free: int, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free))
    (result,) = told(folder, "disk")
    assert result.level is level
    assert bool(result.fix) is (level is not Level.OK)


def test_policies_look_at_nothing_but_manifests(folder: Path) -> None:
    from gate.load import load_institution

    examined = Examined(load_institution(folder), folder.parent)
    assert list(policies(examined)) == []
