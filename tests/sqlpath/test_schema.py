"""`schema.yaml`: what is described, and every mistake with its line."""

from __future__ import annotations

import pytest

from gate.errors import ConfigError
from gate.load.digests import Source
from gate.load.yamlfile import parse
from sqlpath.schema import Join, Schema, read
from tests.sqlpath.conftest import SCHEMA


def described(text: str) -> Schema:
    return read(parse(Source("schema.yaml", "schema.yaml", text.encode())))


def test_tables_are_found_in_any_case() -> None:
    schema = described(SCHEMA)
    table = schema.find("ACCOUNTS")
    assert table is not None
    assert (table.name, table.scope) == ("accounts", "customer_id")
    assert table.column("Balance") is not None
    assert table.column("hidden") is None
    assert schema.find("other") is None


def test_joins_name_columns_of_both() -> None:
    text = SCHEMA.replace(
        "    scope: null\n", "    scope: null\n    joins: [{table: accounts, using: [day]}]\n"
    ).replace("{name: name, type: VARCHAR}", "{name: day, type: BIGINT}")
    assert described(text).tables["days"].joins == (Join("accounts", ("day",)),)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: days", "name: ACCOUNTS", "listed twice"),
        ("{name: as_of,", "{name: NAME,", "listed twice"),
        ("scope: customer_id", "scope: custmer_id", "did you mean `customer_id`"),
        ("name: days", "name: pg_days", "engine"),
        ("name: days", 'name: "da ys"', "days|da ys"),
        ("    scope: null\n", "", "scope"),
        (
            "    scope: null\n",
            "    scope: null\n    joins: [{table: other, using: [day]}]\n",
            "no table",
        ),
        (
            "    scope: null\n",
            "    scope: null\n    joins: [{table: accounts, using: [day]}]\n",
            "both",
        ),
        ("type: BIGINT", 'type: "BIGINT); DROP"', "type"),
        ("schema_version: 1", "schema_version: 2", "schema_version"),
    ],
)
def test_mistake_is_named_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in SCHEMA
    with pytest.raises(ConfigError, match=problem) as caught:
        described(SCHEMA.replace(old, new))
    assert "schema.yaml:" in str(caught.value)
