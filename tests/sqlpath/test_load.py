"""Loading: only what is declared, as it is declared, whole or not at all."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import duckdb
import pytest
import sqlalchemy
from typer.testing import CliRunner

from gate.errors import ConfigError
from scripts.cli import app
from sqlpath import load_plan
from sqlpath.errors import LoadError
from sqlpath.execute import Database, manifest_path, read_snapshot
from sqlpath.load import KEY_BYTES, load

KEY = b"k" * KEY_BYTES
CSV = """id,customer,name,ssn,city,balance,booked
A1,C2,Ann,111-22,Rye,10.50,2026-01-02
A2,C1,Bob,333-44,Ayr,11.25,2026-03-04
A3,C2,Ann,555-66,Rye,,2026-02-03
A4,C1,Cyd,777-88,,9999999.00,2026-01-05
A5,C1,Dee,999-00,Ayr,12.00,2026-01-06
"""
PLAN = """schema_version: 1
as_of: "2026-11-30"
max_age_days: 7
tables:
  - name: accounts
    source: accounts.csv
    sort: customer
    watermark: booked
    columns:
      - {name: id, policy: keep, required: true}
      - {name: customer, policy: keep}
      - {name: name, policy: pseudonymise}
      - {name: city, policy: code}
      - {name: ssn, policy: drop}
      - {name: balance, policy: keep, type: "DECIMAL(12,2)"}
      - {name: booked, policy: keep, type: DATE}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "accounts.csv").write_text(CSV)
    path = tmp_path / "load.yaml"
    path.write_text(PLAN)
    return path


def changed(plan: Path, old: str, new: str) -> Path:
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    return plan


def rows(target: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(target), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_columns_become_what_their_policy_says(plan: Path, tmp_path: Path) -> None:
    target = tmp_path / "out/bank.duckdb"
    load(load_plan.load(plan), target, KEY)
    found = rows(target, "SELECT * FROM accounts ORDER BY id")
    assert [row[0] for row in found] == ["A1", "A2", "A3", "A4", "A5"]
    assert [row[3] for row in found] == [2, 1, 2, None, 1]
    names = [row[2] for row in found]
    assert names[0] == names[2] != names[1]
    assert all(len(str(name)) == 24 and "Ann" not in str(name) for name in names)
    content = target.read_bytes()
    for absent in (b"111-22", b"999-00", b"Cyd", b"Rye"):
        assert absent not in content


def test_pseudonyms_follow_the_key(plan: Path, tmp_path: Path) -> None:
    names = []
    for number, key in enumerate((KEY, KEY, b"another key, longer")):
        target = tmp_path / f"{number}.duckdb"
        load(load_plan.load(plan), target, key)
        names.append(rows(target, "SELECT name FROM accounts ORDER BY id"))
    assert names[0] == names[1] != names[2]


def test_rows_of_one_subject_lie_together(plan: Path, tmp_path: Path) -> None:
    load(load_plan.load(plan), tmp_path / "bank.duckdb", KEY)
    found = rows(tmp_path / "bank.duckdb", "SELECT customer FROM accounts")
    assert found == [("C1",)] * 3 + [("C2",)] * 2


def test_reports_say_types_missing_and_outliers(plan: Path, tmp_path: Path) -> None:
    _, (report,) = load(load_plan.load(plan), tmp_path / "bank.duckdb", KEY)
    assert (report.rows, report.watermark, report.undeclared) == (5, "2026-03-04", ())
    by_name = {column.name: column for column in report.columns}
    assert set(by_name) == {"id", "customer", "name", "city", "balance", "booked"}
    balance = by_name["balance"]
    assert (balance.kind, balance.missing, balance.distinct, balance.outliers) == (
        "DECIMAL(12,2)",
        1,
        4,
        0,
    )
    assert (by_name["city"].missing, by_name["city"].outliers) == (1, None)


def test_a_number_far_outside_is_counted(plan: Path, tmp_path: Path) -> None:
    with (tmp_path / "accounts.csv").open("a") as stream:
        stream.writelines(f"B{n},C1,x,y,z,{10 + n % 3},2026-01-01\n" for n in range(20))
    _, (report,) = load(load_plan.load(plan), tmp_path / "bank.duckdb", KEY)
    assert [c.outliers for c in report.columns if c.name == "balance"] == [1]


def test_undeclared_columns_are_dropped_and_named(plan: Path, tmp_path: Path) -> None:
    path = changed(plan, "      - {name: ssn, policy: drop}\n", "")
    _, (report,) = load(load_plan.load(path), tmp_path / "bank.duckdb", KEY)
    assert report.undeclared == ("ssn",)
    assert b"111-22" not in (tmp_path / "bank.duckdb").read_bytes()


def test_database_opens_sealed_with_its_day(plan: Path, tmp_path: Path) -> None:
    target = tmp_path / "bank.duckdb"
    snapshot, _ = load(load_plan.load(plan), target, KEY)
    assert (snapshot.as_of, snapshot.max_age_days) == (date(2026, 11, 30), 7)
    with Database.open(target) as database:
        assert database.snapshot == snapshot
        assert database.run("q", "SELECT count(*) FROM accounts", {}).rows == ((5,),)
    assert not snapshot.is_stale(date(2026, 12, 7))
    assert snapshot.is_stale(date(2026, 12, 8))


def test_refresh_replaces_the_file_and_leaves_an_open_one_alone(plan: Path, tmp_path: Path) -> None:
    target = tmp_path / "bank.duckdb"
    first, _ = load(load_plan.load(plan), target, KEY)
    with Database.open(target) as database:
        (tmp_path / "accounts.csv").write_text(CSV + "A6,C3,Eve,1,Rye,1.00,2026-05-05\n")
        second, _ = load(load_plan.load(plan), target, KEY)
        assert database.run("q", "SELECT count(*) FROM accounts", {}).rows == ((5,),)
        assert database.snapshot == first != second
    with Database.open(target) as database:
        assert database.run("q", "SELECT count(*) FROM accounts", {}).rows == ((6,),)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("type: DATE", "type: INTEGER", "column `booked` of `accounts` has 5 values"),
        ("type: DATE", "type: NOSUCHTYPE", "type `NOSUCHTYPE` is unknown"),
        (
            "{name: customer, policy: keep}",
            "{name: customer, policy: keep, type: BIGINT}",
            "5 values",
        ),
        ("{name: city, policy: code}", "{name: city, policy: code, required: true}", "1 missing"),
        ("source: accounts.csv", "source: absent.csv", "missing"),
        ("{name: city, policy: code}", "{name: town, policy: code}", "no column `town`"),
    ],
)
def test_what_does_not_fit_stops_the_load_and_keeps_the_old_file(
    plan: Path, tmp_path: Path, old: str, new: str, problem: str
) -> None:
    target = tmp_path / "bank.duckdb"
    load(load_plan.load(plan), target, KEY)
    before = read_snapshot(target)
    with pytest.raises(LoadError, match=problem) as caught:
        load(load_plan.load(changed(plan, old, new)), target, KEY)
    assert not any(value in str(caught.value) for value in ("A1", "Ann", "Rye", "2026-01-02"))
    assert read_snapshot(target) == before


@pytest.mark.parametrize("key", [None, b"", b"short"])
def test_pseudonyms_need_a_key(plan: Path, tmp_path: Path, key: bytes | None) -> None:
    with pytest.raises(LoadError, match="key"):
        load(load_plan.load(plan), tmp_path / "bank.duckdb", key)


def test_parquet_gives_the_same_rows(plan: Path, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT * FROM '{tmp_path}/accounts.csv') TO '{tmp_path}/accounts.parquet'"  # noqa: S608
        )
    load(load_plan.load(plan), tmp_path / "csv.duckdb", KEY)
    load(
        load_plan.load(changed(plan, "accounts.csv", "accounts.parquet")),
        tmp_path / "parquet.duckdb",
        KEY,
    )
    both = [
        rows(tmp_path / f"{n}.duckdb", "SELECT * FROM accounts ORDER BY id")
        for n in ("csv", "parquet")
    ]
    assert both[0] == both[1]


def test_another_database_is_read_through_sqlalchemy(plan: Path, tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/source.sqlite")
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                "CREATE TABLE held (id TEXT, customer TEXT, name TEXT, city TEXT, balance NUMERIC, "
                "booked DATE, x TEXT)"
            )
        )
        connection.execute(
            sqlalchemy.text(
                "INSERT INTO held VALUES ('A1', 'C1', 'Ann', NULL, 12.5, '2026-01-02', 'never read')"
            )
        )
    engine.dispose()
    plan.write_text(
        PLAN.replace("source: accounts.csv", "source: held").replace(
            "tables:\n", f"database: sqlite:///{tmp_path}/source.sqlite\ntables:\n"
        )
    )
    load(load_plan.load(plan), tmp_path / "bank.duckdb", KEY)
    (row,) = rows(
        tmp_path / "bank.duckdb",
        "SELECT id, customer, city, CAST(balance AS VARCHAR), booked FROM accounts",
    )
    assert row == ("A1", "C1", None, "12.50", date(2026, 1, 2))
    plan.write_text(plan.read_text().replace("source: held", "source: absent"))
    with pytest.raises(LoadError, match="cannot be read"):
        load(load_plan.load(plan), tmp_path / "bank.duckdb", KEY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('as_of: "2026-11-30"', "as_of: today"),
        ("source: accounts.csv", "source: accounts.txt"),
        ("sort: customer", "sort: ssn"),
        ("watermark: booked", "watermark: name"),
        ("policy: code", "policy: guess"),
        ("{name: city,", "{name: ID,"),
        ("type: DATE", 'type: "DATE); DROP TABLE x"'),
    ],
)
def test_plan_that_is_wrong_is_refused(plan: Path, old: str, new: str) -> None:
    with pytest.raises(ConfigError, match=r"load\.yaml"):
        load_plan.load(changed(plan, old, new))


@pytest.mark.parametrize("age", ["old", True, 1.5])
def test_manifest_with_a_strange_age_is_refused(plan: Path, tmp_path: Path, age: object) -> None:
    from sqlpath.errors import SnapshotError

    target = tmp_path / "bank.duckdb"
    load(load_plan.load(plan), target, KEY)
    manifest = json.loads(manifest_path(target).read_text())
    manifest_path(target).write_text(json.dumps({**manifest, "max_age_days": age}))
    with pytest.raises(SnapshotError):
        read_snapshot(target)


def test_command_loads_and_reports(plan: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    arguments = [
        "--plan",
        str(plan),
        "--to",
        str(tmp_path / "bank.duckdb"),
        "--key",
        str(tmp_path / "key"),
    ]
    result = CliRunner().invoke(app, ["sql", "load", *arguments])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["as_of"] == "2026-11-30"
    assert said["digest"] == read_snapshot(tmp_path / "bank.duckdb").digest
    assert [table["rows"] for table in said["tables"]] == [5]
