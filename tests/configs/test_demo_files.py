"""The demo institution's files agree with each other and with the database built from them."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path
from typing import Any

import docx
import duckdb
import pytest
import yaml

from gate.lint import lint
from gate.load.institution import load
from scripts import make_demo_documents
from sqlpath import demo_data

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "configs" / "demo"
READS = {"ACCOUNT_BALANCE", "TRANSACTIONS", "CARD_STATUS", "CONTACT_DETAILS", "FUND_PRICE"}
EXAMPLES = {
    "fund_price": {"object": "FUND:HLGRX"},
    "account_balance": {"subject": "C-1001", "object": "ACC-1001-1"},
    "transactions": {"subject": "C-1001", "object": "ACC-1001-1"},
    "card_status": {"subject": "C-1001", "object": "CARD-1001-2"},
    "contact_details": {"subject": "C-1001"},
}
# Amounts with cents in the documents that are no fee: the share, worked examples, limits.
OTHER_AMOUNTS = {"$1.00", "$10.00", "$200.00", "$206.00"}


def parsed(name: str) -> Any:
    return yaml.safe_load((DEMO / name).read_text(encoding="utf-8"))


def registry() -> list[dict[str, str]]:
    with (DEMO / "registry.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def actions(mode: str | None = None) -> dict[str, Any]:
    listed = {a["id"]: a for a in parsed("catalog.yaml")["actions"]}
    return {k: a for k, a in listed.items() if mode in (None, a["mode"])}


def text_files() -> list[Path]:
    return [p for p in sorted(DEMO.glob("documents/*/*")) if p.suffix in {".md", ".html"}]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "bank.duckdb"
    demo_data.build(path, registry())
    return path


@pytest.fixture
def connection(database: Path) -> Any:
    with duckdb.connect(str(database), read_only=True) as opened:
        yield opened


def answers(connection: Any, query: dict[str, Any], values: dict[str, str]) -> list[dict[str, Any]]:
    bound = {name: values[source] for name, source in query["parameters"].items()}
    result = connection.execute(query["sql"], bound)
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def query(query_id: str) -> dict[str, Any]:
    return next(q for q in parsed("queries.yaml")["queries"] if q["id"] == query_id)


def test_folder_loads_without_a_warning() -> None:
    configuration = load(DEMO, bench=False).configuration
    assert [str(warning) for warning in lint(configuration)] == []


def test_catalog_has_the_sixteen_actions() -> None:
    assert set(actions()) == {
        *("CARD_HELP", "FEE_INFO", "PAYMENT_HELP", "DISPUTE_HELP", "LOAN_INFO", "FUND_FACTS"),
        *READS,
        *("FREEZE_CARD", "CHANGE_EMAIL", "CHANGE_ADDRESS", "FUND_ORDER", "CLOSE_ACCOUNT"),
    }


def test_descriptions_are_one_sentence_each() -> None:
    for action in actions().values():
        assert action["description"].endswith(".")
        assert ". " not in action["description"], action["id"]


def test_registry_counts_and_names() -> None:
    rows = registry()
    types = [row["object_type"] for row in rows]
    assert (types.count("FUND"), types.count("LOAN")) == (32, 10)
    names = [
        name.casefold()
        for row in rows
        for name in (row["display_name"], *filter(None, row["aliases"].split("|")))
    ]
    assert len(names) == len(set(names))
    tickers = [row["object_id"].removeprefix("FUND:") for row in rows[:32]]
    assert [row["aliases"].split("|")[0] for row in rows[:32]] == tickers


def test_records_actions_and_queries_belong_together() -> None:
    named = {a["query"] for a in actions().values() if a["pathway"] == "records"}
    assert named == {q["id"] for q in parsed("queries.yaml")["queries"]} == set(EXAMPLES)


def test_documents_actions_and_collections_belong_together() -> None:
    named = {a["collection"] for a in actions().values() if a["pathway"] == "documents"}
    assert named == set(parsed("documents.yaml")["collections"])


def test_every_write_has_identity_permission_and_service_rules() -> None:
    rules = parsed("rules.yaml")["rules"]
    for action_id in actions("write"):
        mine = [r for r in rules if r["applies_to"] == ["*"] or action_id in r["applies_to"]]
        read = " ".join(str(rule["when"]) for rule in mine)
        for needed in ("identity_verified", "_permitted", "service_available"):
            assert needed in read, (action_id, needed)


def test_document_questions_need_four_state_values() -> None:
    rules = [r for r in parsed("rules.yaml")["rules"] if "CARD_HELP" in r["applies_to"]]
    assert rules == []
    everywhere = [
        r for r in parsed("rules.yaml")["rules"] if r["applies_to"] == ["*"] and r["when"]
    ]
    assert len(everywhere) == 5


def test_safety_is_read_first_and_the_final_rule_allows() -> None:
    ordered = sorted(parsed("rules.yaml")["rules"], key=lambda rule: rule["priority"])
    assert len(ordered) >= 14
    assert ordered[0]["when"] == {"predicate": "safety_escalation_required", "is": True}
    assert (ordered[-1]["id"], ordered[-1]["then"]) == ("R-999", "ALLOW")


def test_phrases_are_reads() -> None:
    phrases = parsed("phrases.yaml")["phrases"]
    assert {phrase["action"] for phrase in phrases} == set(actions("read"))
    assert sum(len(phrase.get("texts", ())) for phrase in phrases) >= 30


def test_documents_are_listed_exactly_once() -> None:
    listed = [d["file"] for d in parsed("documents.yaml")["documents"]]
    present = [p.relative_to(DEMO).as_posix() for p in DEMO.glob("documents/*/*")]
    assert sorted(listed) == sorted(present)
    assert len(listed) >= 25
    suffixes = [Path(file).suffix for file in listed]
    assert (suffixes.count(".pdf"), suffixes.count(".docx")) == (1, 1)
    assert suffixes.count(".html") >= 3


def test_text_documents_have_substance() -> None:
    for path in text_files():
        words = len(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")).split())
        assert 150 <= words <= 700, (path.name, words)


def test_binary_documents_are_what_their_script_writes() -> None:
    pdf = make_demo_documents.pdf_bytes(make_demo_documents.ELECTRONIC_TRANSFERS)
    stored = DEMO / "documents/disputes/electronic-transfers-notice.pdf"
    assert stored.read_bytes() == pdf
    word = docx.Document(str(DEMO / "documents/loans/mortgage-papers.docx"))
    texts = [text for _, text in make_demo_documents.MORTGAGE_PAPERS]
    assert [paragraph.text for paragraph in word.paragraphs] == texts


def test_every_fund_has_one_section_with_its_facts() -> None:
    text = "\n".join(p.read_text(encoding="utf-8") for p in (DEMO / "documents/funds").iterdir())
    sections = re.findall(r"^## (.+) \((\w{5})\)\n\n(.+)$", text, flags=re.MULTILINE)
    funds = {(row["display_name"], row["object_id"][5:]) for row in registry()[:32]}
    assert len(sections) == 32
    assert {(name, ticker) for name, ticker, _ in sections} == funds
    for name, _, body in sections:
        for fact in ("Risk class:", "Expense ratio:", "Minimum purchase: $", "Dividends:"):
            assert fact in body, (name, fact)


def test_every_loan_is_named_in_a_document() -> None:
    text = "\n".join(p.read_text(encoding="utf-8") for p in text_files())
    for row in registry()[32:]:
        assert row["display_name"] in text


def test_fee_schedule_and_fee_table_agree() -> None:
    schedule = (DEMO / "documents/fees/fee-schedule.md").read_text(encoding="utf-8")
    for _, service, hundredths, unit, _ in demo_data.FEES:
        amount = demo_data.money(hundredths)
        shown = f"{amount} percent" if unit == "percent" else f"${amount}"
        assert shown in schedule, service


def test_every_amount_with_cents_is_a_fee() -> None:
    fees = {f"${demo_data.money(fee[2])}" for fee in demo_data.FEES} | OTHER_AMOUNTS
    for path in text_files():
        amounts = set(re.findall(r"\$\d[\d,]*\.\d\d", path.read_text(encoding="utf-8")))
        assert amounts <= fees, (path.name, amounts - fees)


def test_build_replaces_a_file_with_equal_rows_every_time(database: Path, tmp_path: Path) -> None:
    again = tmp_path / "it's here" / "bank.duckdb"
    again.parent.mkdir()
    again.write_bytes(b"an old file")
    demo_data.build(again, list(reversed(registry())))
    assert digest(again) == digest(database)
    assert [p.name for p in again.parent.iterdir()] == ["bank.duckdb"]


def test_failed_build_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.duckdb"
    path.write_bytes(b"an old file")
    twice = [row for row in registry() if row["object_type"] == "FUND"] * 2
    with pytest.raises(duckdb.Error):
        demo_data.build(path, twice)
    assert path.read_bytes() == b"an old file"
    assert [p.name for p in tmp_path.iterdir()] == ["bank.duckdb"]


def digest(path: Path) -> str:
    with duckdb.connect(str(path), read_only=True) as opened:
        tables = {
            name: sorted(map(repr, opened.execute(f"SELECT * FROM {name}").fetchall()))  # noqa: S608
            for name in demo_data.TABLES
        }
    return hashlib.sha256(repr(tables).encode()).hexdigest()


def test_tables_have_their_rows(connection: Any) -> None:
    counts = {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608
        for name in demo_data.TABLES
    }
    days = len(list(demo_data.business_days(demo_data.FIRST_PRICE, demo_data.LAST_DAY)))
    assert counts["customers"] == 400
    assert counts["transactions"] >= 30_000
    assert counts["fund_prices"] == 32 * days
    assert counts["fees"] == len(demo_data.FEES)
    assert min(counts.values()) > 0


def test_schema_file_describes_the_tables(connection: Any) -> None:
    described = {
        table["name"]: [(column["name"], column["type"]) for column in table["columns"]]
        for table in parsed("schema.yaml")["tables"]
    }
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall()
    built: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in rows:
        built.setdefault(table, []).append((column, kind))
    assert described == built


def test_database_funds_are_the_registry(connection: Any) -> None:
    found = connection.execute("SELECT DISTINCT fund_id, name FROM fund_prices").fetchall()
    assert set(found) == {(r["object_id"], r["display_name"]) for r in registry()[:32]}
    assert connection.execute("SELECT min(price) > 0, max(as_of) FROM fund_prices").fetchone() == (
        True,
        demo_data.LAST_DAY,
    )


def test_balances_are_the_sum_of_the_transactions(connection: Any) -> None:
    wrong = connection.execute(
        "SELECT a.account_id FROM accounts AS a JOIN transactions AS t USING (account_id) "
        "GROUP BY a.account_id, a.balance HAVING sum(t.amount) <> a.balance"
    ).fetchall()
    assert wrong == []


@pytest.mark.parametrize("query_id", EXAMPLES)
def test_query_answers_from_a_read_only_database(connection: Any, query_id: str) -> None:
    rows = answers(connection, query(query_id), EXAMPLES[query_id])
    assert rows
    for row in rows:
        assert "{" not in query(query_id)["answer"]["en"].format(**row)


@pytest.mark.parametrize("query_id", EXAMPLES)
def test_query_shows_no_full_number(connection: Any, query_id: str) -> None:
    for row in answers(connection, query(query_id), EXAMPLES[query_id]):
        for column, value in row.items():
            digits = re.sub(r"\D", "", str(value)) if column not in {"phone", "address"} else ""
            assert len(digits) < 10, column


@pytest.mark.parametrize("query_id", ["account_balance", "transactions", "card_status"])
def test_query_finds_nothing_of_somebody_else(connection: Any, query_id: str) -> None:
    theirs = {**EXAMPLES[query_id], "subject": "C-1002"}
    assert query(query_id)["scope"] == "subject"
    assert answers(connection, query(query_id), theirs) == []


def test_sessions_are_members_of_the_database(connection: Any) -> None:
    for session in parsed("sessions.yaml")["sessions"].values():
        subject = session["subject"]
        found = connection.execute(
            "SELECT account_id, name || ' ending ' || right(number, 4) FROM accounts "
            "WHERE customer_id = $1 UNION ALL "
            "SELECT card_id, name || ' ending ' || right(number, 4) FROM cards "
            "WHERE customer_id = $1",
            [subject],
        ).fetchall()
        assert set(found) == {(o["object_id"], o["display_name"]) for o in session["objects"]}
