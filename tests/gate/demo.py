"""The demo institution's calm state: every predicate has a value, and every action is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path

from gate.configuration import Configuration
from gate.load import load
from tests.gate.engine import ago, dated

DEMO = Path(__file__).resolve().parents[2] / "configs" / "demo"

CALM: dict[str, object] = {
    "safety_escalation_required": False,
    "request_supported": True,
    "service_available": True,
    "request_scope_clear": True,
    "price_feed_updated_at": ago(hours=1),
    "identity_verified": dated(True),
    "session_started_at": ago(minutes=5),
    "risk_tier": "low",
    "card_control_permitted": True,
    "card_already_frozen": dated(False),
    "contact_change_permitted": True,
    "contact_changed_at": ago(days=100),
    "address_changes_this_year": 1,
    "fund_order_permitted": True,
    "kyc_reviewed_at": ago(days=100),
    "fund_terms_accepted": "v3",
    "fund_terms_current": "v3",
    "fund_risk_class": "moderate",
    "suitability_confirmed": False,
    "fund_minimum": "100.00",
    "order_limit": 5000,
    "orders_today": dated(1),
    "available_balance": dated("1000.00"),
    "account_closure_permitted": True,
    "pending_transactions": dated(0),
    "account_opened_at": ago(days=400),
}
CALM_SLOTS: Mapping[str, Mapping[str, object]] = {"FUND_ORDER": {"amount": Decimal(100)}}
"""What the text of a calm request gives an action's slots that rules read, by name."""

EMPTY_ACCOUNT = {"available_balance": dated("0.00")}
CALM_OF: Mapping[str, Mapping[str, object]] = {"CLOSE_ACCOUNT": EMPTY_ACCOUNT}
"""What differs from CALM where an action asks for the opposite."""


@cache
def demo() -> Configuration:
    """The demo institution, loaded once."""
    return load(DEMO)


def demo_state(action: str, change: Mapping[str, object]) -> dict[str, object]:
    """The calm state of an action, with some values changed."""
    return {**CALM, **CALM_OF.get(action, {}), **change}
