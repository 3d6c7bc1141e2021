"""The five writes of the stand-in: each changes the bank's rows, or says in a code why it does not."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,189}")
_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")

NOT_FOUND: Final = "NOT_FOUND"
"""What is not the member's own looks like what does not exist."""

Effect = Callable[[sqlite3.Connection, Mapping[str, Any], datetime], str | None]


def freeze_card(
    connection: sqlite3.Connection, order: Mapping[str, Any], now: datetime
) -> str | None:
    """Freeze one of the member's cards."""
    status = _status(connection, order, "CARD")
    if status is None:
        return NOT_FOUND
    if status == "frozen":
        return "ALREADY_FROZEN"
    _set_status(connection, order, "frozen")
    return None


def close_account(
    connection: sqlite3.Connection, order: Mapping[str, Any], now: datetime
) -> str | None:
    """Close one of the member's accounts, if it is empty."""
    if _status(connection, order, "ACCOUNT") != "open":
        return NOT_FOUND
    sql = "SELECT cents FROM objects WHERE object_id = ?"
    if connection.execute(sql, (order["object_id"],)).fetchone()["cents"] != 0:
        return "NOT_EMPTY"
    _set_status(connection, order, "closed")
    return None


def change_email(
    connection: sqlite3.Connection, order: Mapping[str, Any], now: datetime
) -> str | None:
    """Change the member's e-mail address to the slot `email`."""
    email = order["slots"].get("email")
    if not isinstance(email, str) or not _EMAIL.fullmatch(email):
        return "SLOT_MISSING"
    sql = "UPDATE members SET email = ?, contact_changed_at = ? WHERE subject = ?"
    return _one(connection.execute(sql, (email, _at(now), order["subject"])))


def change_address(
    connection: sqlite3.Connection, order: Mapping[str, Any], now: datetime
) -> str | None:
    """Change the member's postal address to the slot `address`."""
    address = order["slots"].get("address")
    if not isinstance(address, str) or not 0 < len(address) <= 500:
        return "SLOT_MISSING"
    sql = (
        "UPDATE members SET address = ?, contact_changed_at = ?, "
        "address_changes = address_changes + 1 WHERE subject = ?"
    )
    return _one(connection.execute(sql, (address, _at(now), order["subject"])))


def fund_order(
    connection: sqlite3.Connection, order: Mapping[str, Any], now: datetime
) -> str | None:
    """Enter an order to buy into the book, for the slot `amount` of value and currency."""
    amount = order["slots"].get("amount")
    if not isinstance(amount, dict) or amount.keys() != {"value", "currency"}:
        return "SLOT_MISSING"
    value, currency = amount["value"], amount["currency"]
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value) or Decimal(value) == 0:
        return "AMOUNT_REFUSED"
    if currency != "USD":
        return "CURRENCY_REFUSED"
    member = "SELECT 1 FROM members WHERE subject = ?"
    known = connection.execute(member, (order["subject"],)).fetchone()
    if known is None or not order["object_id"]:
        return NOT_FOUND
    row = (order["subject"], order["object_id"], value, currency, _at(now))
    sql = "INSERT INTO order_book (subject, fund_id, amount, currency, at) VALUES (?, ?, ?, ?, ?)"
    connection.execute(sql, row)
    return None


EFFECTS: Final[Mapping[str, Effect]] = {
    "FREEZE_CARD": freeze_card,
    "CLOSE_ACCOUNT": close_account,
    "CHANGE_EMAIL": change_email,
    "CHANGE_ADDRESS": change_address,
    "FUND_ORDER": fund_order,
}
"""The writes by action. None from one of them means that it was done."""


def _status(
    connection: sqlite3.Connection, order: Mapping[str, Any], object_type: str
) -> str | None:
    """The status of the order's object, if it is the member's own and of that type."""
    sql = "SELECT status FROM objects WHERE object_id = ? AND subject = ? AND object_type = ?"
    row = connection.execute(sql, (order["object_id"], order["subject"], object_type)).fetchone()
    return None if row is None else str(row["status"])


def _set_status(connection: sqlite3.Connection, order: Mapping[str, Any], status: str) -> None:
    sql = "UPDATE objects SET status = ? WHERE object_id = ?"
    connection.execute(sql, (status, order["object_id"]))


def _one(cursor: sqlite3.Cursor) -> str | None:
    return None if cursor.rowcount == 1 else NOT_FOUND


def _at(now: datetime) -> str:
    return now.astimezone(UTC).isoformat()
