"""Build the demo institution's database: invented members, accounts and prices, always the same.

Everything follows from one seed and the registry; no clock is read. Amounts are whole cents (or,
for prices, whole cents per share) until they are written, so no float can round differently
elsewhere.
"""

import csv
import os
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import duckdb

SEED = 20261201
LAST_DAY = date(2026, 11, 30)
FIRST_BOOKING = date(2026, 1, 2)
FIRST_PRICE = date(2024, 1, 2)
CUSTOMERS = 400

Row = tuple[object, ...]

TABLES = {
    "customers": (
        "customer_id VARCHAR PRIMARY KEY, full_name VARCHAR, email VARCHAR, phone VARCHAR, "
        "street VARCHAR, city VARCHAR, state VARCHAR, postal_code VARCHAR, member_since DATE"
    ),
    "accounts": (
        "account_id VARCHAR PRIMARY KEY, customer_id VARCHAR, name VARCHAR, kind VARCHAR, "
        "number VARCHAR, balance DECIMAL(12,2), available DECIMAL(12,2), currency VARCHAR, "
        "as_of DATE, opened_on DATE"
    ),
    "cards": (
        "card_id VARCHAR PRIMARY KEY, customer_id VARCHAR, account_id VARCHAR, name VARCHAR, "
        "number VARCHAR, status VARCHAR, issued_on DATE, expires_on DATE"
    ),
    "transactions": (
        "transaction_id BIGINT PRIMARY KEY, customer_id VARCHAR, account_id VARCHAR, "
        "booked_on DATE, description VARCHAR, category VARCHAR, amount DECIMAL(12,2), "
        "currency VARCHAR"
    ),
    "standing_orders": (
        "order_id VARCHAR PRIMARY KEY, customer_id VARCHAR, account_id VARCHAR, payee VARCHAR, "
        "amount DECIMAL(12,2), currency VARCHAR, day_of_month INTEGER, started_on DATE"
    ),
    "fund_prices": (
        "fund_id VARCHAR, name VARCHAR, price DECIMAL(12,2), currency VARCHAR, as_of DATE, "
        "PRIMARY KEY (fund_id, as_of)"
    ),
    "fees": (
        "fee_id VARCHAR PRIMARY KEY, service VARCHAR, amount DECIMAL(12,2), unit VARCHAR, "
        "charged_per VARCHAR, effective_from DATE"
    ),
}

FIRST_NAMES = (
    "Dana Marcus Priya Tomas Keiko Ana Jonah Leila Ruth Omar Greta Felix Imani Noel Sofia Wade "
    "Elena Hugo Mina Carl Tessa Amir Joan Pavel Rosa Ike Nadia Glen Vera Luis"
).split()
LAST_NAMES = (
    "Whitfield Oyelaran Brandt Castellano Novak Iyer Lindqvist Okafor Pruitt Hale Moreau Tanaka "
    "Delgado Strand Whelan Kaplan Ferris Osei Vance Bellamy Rourke Sandoval Kim Thorne Abbott "
    "Marsh Quill Danner Eaton Yates"
).split()
STREETS = (
    "Gull Street",
    "Pilot Lane",
    "Breakwater Road",
    "Cannery Row",
    "Spruce Hill",
    "Fog Court",
)
TOWNS = (
    ("Port Ellery", "ME", "04099", "207"),
    ("Saltmarsh", "ME", "04098", "207"),
    ("Hadley Point", "NH", "03899", "603"),
    ("Cormorant Bay", "MA", "01999", "978"),
)

# description, category, smallest and largest amount in cents, how often it is drawn
PURCHASES = (
    ("Tidewater Grocery", "groceries", 900, 14500, 9),
    ("Corner Bakery", "food", 350, 2400, 8),
    ("Lantern Diner", "food", 1100, 6800, 6),
    ("Coastal Fuel", "transport", 1800, 7600, 5),
    ("Port Ellery Ferry", "transport", 400, 1900, 3),
    ("Anchor Hardware", "home", 700, 21000, 3),
    ("Bright Bay Electric", "utilities", 4200, 17900, 2),
    ("Harbor Water Works", "utilities", 1900, 6400, 1),
    ("Northline Mobile", "utilities", 2500, 9900, 2),
    ("Puffin Books", "shopping", 800, 7200, 2),
    ("Seaglass Clothing", "shopping", 1500, 18500, 2),
    ("ATM withdrawal", "cash", 2000, 20000, 3),
    ("Breakwater Pharmacy", "health", 500, 8800, 2),
    ("Streamline Video", "subscriptions", 999, 1999, 2),
)
PAYEES = (
    "Spruce Hill Apartments",
    "Port Ellery Child Care",
    "Bright Bay Electric",
    "Own savings",
    "Cormorant Gym",
    "Lighthouse Food Bank",
)
CARD_STATES = ("active",) * 16 + ("frozen", "frozen", "in the mail", "expired")

# fee_id, service, amount in hundredths of the unit, unit, charged per
FEES = (
    ("WIRE-DOM-OUT", "Outgoing domestic wire", 2000, "USD", "wire"),
    ("WIRE-DOM-IN", "Incoming domestic wire", 0, "USD", "wire"),
    ("WIRE-INT-OUT", "Outgoing international wire", 3800, "USD", "wire"),
    ("WIRE-INT-IN", "Incoming international wire", 1000, "USD", "wire"),
    ("TRANSFER-RUSH", "Same-day external transfer", 500, "USD", "transfer"),
    ("OVERDRAFT", "Overdraft, item paid", 2200, "USD", "item"),
    ("RETURNED", "Item returned unpaid", 1500, "USD", "item"),
    ("STOP-PAYMENT", "Stop payment order", 1800, "USD", "order"),
    ("CASHIERS-CHECK", "Cashier's check", 600, "USD", "check"),
    ("PAPER-STATEMENT", "Paper statement", 200, "USD", "month"),
    ("STATEMENT-COPY", "Copy of an old statement", 300, "USD", "statement"),
    ("DORMANT", "Dormant account", 500, "USD", "month"),
    ("EARLY-CLOSE", "Account closed within 90 days", 2500, "USD", "account"),
    ("ATM-OTHER", "ATM outside the network", 250, "USD", "withdrawal"),
    ("ATM-ABROAD", "ATM abroad", 400, "USD", "withdrawal"),
    ("FOREIGN", "Purchase or withdrawal in a foreign currency", 100, "percent", "amount"),
    ("CARD-REPLACE", "Second replacement card within 12 months", 750, "USD", "card"),
    ("CARD-RUSH", "Rush delivery of a card", 2400, "USD", "card"),
    ("CASH-ADVANCE", "Cash advance on a credit card", 300, "percent", "amount"),
    ("CASH-ADVANCE-MIN", "Cash advance on a credit card, at least", 800, "USD", "advance"),
    ("CARD-LATE", "Late credit card payment", 2500, "USD", "payment"),
    ("LOAN-LATE", "Late loan payment", 3000, "USD", "payment"),
    ("MORTGAGE-APPLICATION", "Mortgage application", 39500, "USD", "application"),
    ("HELOC-YEAR", "Home Equity Line of Credit, after the first year", 5000, "USD", "year"),
    ("FUND-PHONE", "Fund order placed by telephone", 1000, "USD", "order"),
)
FEES_EFFECTIVE = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Account:
    """One deposit account before its balance is known."""

    account_id: str
    customer_id: str
    name: str
    kind: str
    number: str
    opened_on: date


@dataclass(frozen=True, slots=True)
class Card:
    """One card; `account_id` is None for a credit card."""

    card_id: str
    customer_id: str
    account_id: str | None
    name: str
    number: str
    status: str
    issued_on: date


def build(path: Path, registry_rows: Iterable[Mapping[str, str]]) -> None:
    """Write the demo database to `path`, replacing whatever is there in one step.

    `registry_rows` are the rows of `registry.csv` (column name to text); the funds among them get
    prices. Every call with the same registry writes identical rows. Raises `OSError` where the
    folder cannot be written and `duckdb.Error` where a row does not fit its table; the old file
    then stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    tables = rows(registry_rows)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        fresh = Path(folder) / path.name
        _write(fresh, tables)
        os.replace(fresh, path)


def rows(registry_rows: Iterable[Mapping[str, str]]) -> dict[str, list[Row]]:
    """Return every table's rows, in the column order of `TABLES`; nothing is written."""
    rng = random.Random(SEED)  # noqa: S311 - invented data, not a secret
    customers = list(_customers(rng))
    ids = [str(row[0]) for row in customers]
    accounts = [account for customer in ids for account in _accounts(rng, customer)]
    cards = [card for customer in ids for card in _cards(rng, customer, accounts)]
    bookings = [booking for account in accounts for booking in _bookings(rng, account)]
    return {
        "customers": customers,
        "accounts": _with_balances(rng, accounts, bookings),
        "cards": [_card_row(card) for card in cards],
        "transactions": _numbered(bookings),
        "standing_orders": list(_standing_orders(rng, accounts)),
        "fund_prices": _prices(rng, registry_rows),
        "fees": [_fee_row(*fee) for fee in FEES],
    }


def money(cents: int) -> str:
    """Return whole cents as a decimal text with two places: -1234 is `-12.34`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def business_days(first: date, last: date) -> Iterator[date]:
    """Yield Monday to Friday from `first` to `last`, both included; holidays are not modelled."""
    day = first
    while day <= last:
        if day.weekday() < 5:
            yield day
        day += timedelta(days=1)


def _write(path: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    with duckdb.connect(str(path)) as connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            _copy(connection, name, tables[name], path.parent / f"{name}.csv")
        connection.execute("CHECKPOINT")


def _copy(
    connection: duckdb.DuckDBPyConnection, name: str, table: Sequence[Row], staging: Path
) -> None:
    """Load `table` through a staging file: row-by-row inserts are a hundred times slower."""
    with staging.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    source = str(staging).replace("'", "''")
    connection.execute(f"COPY {name} FROM '{source}' (FORMAT csv, HEADER false)")


def _customers(rng: random.Random) -> Iterator[Row]:
    for number in range(1001, 1001 + CUSTOMERS):
        first = FIRST_NAMES[(number - 1001) % len(FIRST_NAMES)]
        shift = (number - 1001) // len(FIRST_NAMES)
        last = LAST_NAMES[(number - 1001 + shift) % len(LAST_NAMES)]
        town, state, postal_code, area = TOWNS[rng.randrange(len(TOWNS))]
        yield (
            f"C-{number}",
            f"{first} {last}",
            f"{first}.{last}@example.org".lower(),
            # Only 555-0100 to 555-0199 are set aside for invented numbers.
            f"{area}-555-01{number % 100:02d}",
            f"{rng.randrange(1, 240)} {STREETS[rng.randrange(len(STREETS))]}",
            town,
            state,
            postal_code,
            _day_between(rng, date(2004, 3, 1), date(2025, 9, 30)),
        )


def _accounts(rng: random.Random, customer: str) -> Iterator[Account]:
    suffix = customer.removeprefix("C-")
    for index, (name, kind, ending) in enumerate(_account_plan(rng, customer), start=1):
        yield Account(
            account_id=f"ACC-{suffix}-{index}",
            customer_id=customer,
            name=name,
            kind=kind,
            number=f"88{rng.randrange(10**4):04d}{ending}",
            opened_on=_day_between(rng, date(2015, 1, 5), date(2025, 10, 31)),
        )


def _account_plan(rng: random.Random, customer: str) -> list[tuple[str, str, str]]:
    """Name, kind and last four digits; the demo's members are fixed, everyone else is drawn."""
    checking, savings = ("Everyday Checking", "checking"), ("Rainy Day Savings", "savings")
    if customer == "C-1001":
        return [(*checking, "4411"), (*savings, "7702")]
    if customer == "C-1002":
        return [(*checking, "2208")]
    if customer == "C-1003":
        return []
    drawn = [checking, savings] if rng.randrange(10) < 6 else [checking]
    return [(name, kind, f"{rng.randrange(10**4):04d}") for name, kind in drawn]


def _cards(rng: random.Random, customer: str, accounts: Sequence[Account]) -> Iterator[Card]:
    suffix = customer.removeprefix("C-")
    checking = next(
        (a.account_id for a in accounts if (a.customer_id, a.kind) == (customer, "checking")), None
    )
    for index, (name, ending, status) in enumerate(_card_plan(rng, customer), start=1):
        yield Card(
            card_id=f"CARD-{suffix}-{index}",
            customer_id=customer,
            account_id=checking if name == "Debit card" else None,
            name=name,
            # No card network issues numbers that begin with 9.
            number=f"990000{rng.randrange(10**6):06d}{ending}",
            status=status,
            issued_on=_day_between(rng, date(2023, 1, 9), date(2026, 10, 30)),
        )


def _card_plan(rng: random.Random, customer: str) -> list[tuple[str, str, str]]:
    if customer == "C-1001":
        return [("Debit card", "5316", "active"), ("Visa credit card", "9024", "active")]
    if customer == "C-1002":
        return [("Debit card", "3380", "active")]
    if customer == "C-1003":
        return []
    names = ["Debit card", "Visa credit card"] if rng.randrange(10) < 4 else ["Debit card"]
    return [(n, f"{rng.randrange(10**4):04d}", _one_of(rng, CARD_STATES)) for n in names]


def _card_row(card: Card) -> Row:
    expires = date(card.issued_on.year + 5, card.issued_on.month, 1) - timedelta(days=1)
    if card.status == "expired":
        expires = date(2026, 9, 30)
    return (
        card.card_id,
        card.customer_id,
        card.account_id,
        card.name,
        card.number,
        card.status,
        card.issued_on,
        expires,
    )


def _bookings(rng: random.Random, account: Account) -> Iterator[Row]:
    """Yield `(customer, account, day, description, category, cents)` in order of the day."""
    key = (account.customer_id, account.account_id)
    opening = rng.randrange(40000, 900000)
    yield (*key, FIRST_BOOKING, "Balance carried forward", "opening", opening)
    income = rng.randrange(70000, 160000)
    for day in business_days(FIRST_BOOKING + timedelta(days=1), LAST_DAY):
        if account.kind == "savings":
            yield from _savings_day(rng, key, day)
        else:
            yield from _checking_day(rng, key, day, income)


def _savings_day(rng: random.Random, key: tuple[str, str], day: date) -> Iterator[Row]:
    if rng.randrange(12) == 0:
        yield (*key, day, "Transfer from checking", "transfer", rng.randrange(2500, 40000))
    if (day + timedelta(days=1)).month != day.month:
        yield (*key, day, "Dividend on savings", "dividend", rng.randrange(50, 2200))


def _checking_day(
    rng: random.Random, key: tuple[str, str], day: date, income: int
) -> Iterator[Row]:
    if day.weekday() == 4 and day.isocalendar().week % 2 == 0:
        yield (*key, day, "Payroll direct deposit", "income", income)
    if (day - timedelta(days=3 if day.weekday() == 0 else 1)).month != day.month:
        yield (*key, day, "Rent", "housing", -income * 19 // 20)
    if rng.randrange(100) < 70:
        description, category, low, high = _purchase(rng)
        step = 2000 if category == "cash" else 1
        yield (*key, day, description, category, -rng.randrange(low, high, step))


def _purchase(rng: random.Random) -> tuple[str, str, int, int]:
    ticket = rng.randrange(sum(purchase[4] for purchase in PURCHASES))
    for description, category, low, high, weight in PURCHASES:
        if ticket < weight:
            return description, category, low, high
        ticket -= weight
    raise AssertionError("the weights of PURCHASES do not add up")


def _with_balances(
    rng: random.Random, accounts: Sequence[Account], bookings: Sequence[Row]
) -> list[Row]:
    totals: dict[str, int] = {account.account_id: 0 for account in accounts}
    for _, account_id, _, _, _, cents in bookings:
        totals[str(account_id)] += int(str(cents))
    return [_account_row(account, totals[account.account_id], _held(rng)) for account in accounts]


def _held(rng: random.Random) -> int:
    """Cents of card holds not booked yet: none for three accounts in four."""
    return rng.randrange(500, 9000) if rng.randrange(4) == 0 else 0


def _account_row(account: Account, balance: int, held: int) -> Row:
    return (
        account.account_id,
        account.customer_id,
        account.name,
        account.kind,
        account.number,
        money(balance),
        money(balance - held),
        "USD",
        LAST_DAY,
        account.opened_on,
    )


def _numbered(bookings: Sequence[Row]) -> list[Row]:
    ordered = sorted(bookings, key=lambda booking: str(booking[2]))
    return [
        (number, *booking[:5], money(int(str(booking[5]))), "USD")
        for number, booking in enumerate(ordered, start=1)
    ]


def _standing_orders(rng: random.Random, accounts: Sequence[Account]) -> Iterator[Row]:
    for account in accounts:
        if account.kind != "checking" or rng.randrange(3) == 0:
            continue
        yield (
            account.account_id.replace("ACC", "SO"),
            account.customer_id,
            account.account_id,
            _one_of(rng, PAYEES),
            money(rng.randrange(10, 900) * 100),
            "USD",
            rng.randrange(1, 29),
            _day_between(rng, date(2022, 1, 1), date(2026, 8, 31)),
        )


def _prices(rng: random.Random, registry_rows: Iterable[Mapping[str, str]]) -> list[Row]:
    funds = sorted(
        (row["object_id"], row["display_name"])
        for row in registry_rows
        if row["object_type"] == "FUND"
    )
    return [price for fund_id, name in funds for price in _price_walk(rng, fund_id, name)]


def _price_walk(rng: random.Random, fund_id: str, name: str) -> Iterator[Row]:
    """Yield a random walk in whole cents; a money market fund stays at one dollar."""
    steady = "Money Market" in name
    cents, swing = (100, 0) if steady else (rng.randrange(900, 9000), rng.randrange(20, 130))
    for day in business_days(FIRST_PRICE, LAST_DAY):
        yield (fund_id, name, money(cents), "USD", day)
        cents = max(100, cents * (10_003 + rng.randrange(-swing, swing + 1)) // 10_000)


def _fee_row(fee_id: str, service: str, hundredths: int, unit: str, charged_per: str) -> Row:
    return (fee_id, service, money(hundredths), unit, charged_per, FEES_EFFECTIVE)


def _one_of(rng: random.Random, choices: Sequence[str]) -> str:
    return choices[rng.randrange(len(choices))]


def _day_between(rng: random.Random, first: date, last: date) -> date:
    return first + timedelta(days=rng.randrange((last - first).days + 1))
