"""State and session as the stand-in tells them: from its own rows where it has them.

What a real bank would keep in other systems (risk, consents, prices) is a constant here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from inference.connectors.backoffice.bank import select

CONSTANT: Final[Mapping[str, Any]] = {
    "safety_escalation_required": False,
    "request_supported": True,
    "service_available": True,
    "request_scope_clear": True,
    "risk_tier": "low",
    "card_control_permitted": True,
    "contact_change_permitted": True,
    "fund_order_permitted": True,
    "account_closure_permitted": True,
    "fund_terms_accepted": "2026-1",
    "fund_terms_current": "2026-1",
    "fund_risk_class": "moderate",
    "suitability_confirmed": True,
    "fund_minimum": "250.00",
    "order_limit": "5000.00",
}

AGES: Final[Mapping[str, timedelta]] = {
    "price_feed_updated_at": timedelta(hours=2),
    "session_started_at": timedelta(minutes=5),
    "kyc_reviewed_at": timedelta(days=90),
    "account_opened_at": timedelta(days=900),
}


def situation(path: Path, subject: str, object_id: str | None, now: datetime) -> dict[str, Any]:
    """`{state, session}` of one member now; for an unknown subject there is no session."""
    members = select(path, "SELECT * FROM members WHERE subject = ?", subject)
    if not members:
        return {"state": {}, "session": None}
    owned = select(path, "SELECT * FROM objects WHERE subject = ?", subject)
    state = {
        **CONSTANT,
        **{name: _at(now - age) for name, age in AGES.items()},
        **_of_member(path, members[0], now),
        **_of_object(owned, object_id, now),
    }
    return {"state": state, "session": _session(members[0], owned)}


def _of_member(path: Path, member: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    day = _at(now)[:10]
    sql = "SELECT number FROM order_book WHERE subject = ? AND substr(at, 1, 10) = ?"
    today = len(select(path, sql, member["subject"], day))
    return {
        "identity_verified": _dated(True, now),
        "contact_changed_at": _at(datetime.fromisoformat(member["contact_changed_at"])),
        "address_changes_this_year": member["address_changes"],
        "orders_today": _dated(today, now),
        "pending_transactions": _dated(0, now),
    }


def _of_object(owned: list[dict[str, Any]], object_id: str | None, now: datetime) -> dict[str, Any]:
    """Facts about the member's own object, or without one about the first account."""
    things = {thing["object_id"]: thing for thing in owned}
    thing = things.get(object_id or "")
    if thing is not None and thing["object_type"] == "CARD":
        return {"card_already_frozen": _dated(thing["status"] == "frozen", now)}
    accounts = [t for t in owned if t["object_type"] == "ACCOUNT" and t["status"] == "open"]
    account = thing or (accounts[0] if accounts else None)
    if account is None:
        return {}
    return {"available_balance": _dated(f"{account['cents'] / 100:.2f}", now)}


def _session(member: Mapping[str, Any], owned: list[dict[str, Any]]) -> dict[str, Any]:
    objects = [
        {
            "object_id": thing["object_id"],
            "object_type": thing["object_type"],
            "display_name": thing["display_name"],
            "aliases": json.loads(thing["aliases"]),
        }
        for thing in owned
        if thing["status"] != "closed"
    ]
    return {
        "subject": member["subject"],
        "entitlements": json.loads(member["entitlements"]),
        "objects": objects,
    }


def _dated(value: Any, now: datetime) -> dict[str, Any]:
    return {"value": value, "as_of": _at(now)}


def _at(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
