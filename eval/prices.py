"""What a case costs: a vendor's price of tokens against a machine's price of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml

from eval import table
from eval.errors import SuiteError

MILLION = 1_000_000
SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Vendor:
    """US dollars for a million tokens in and out, as published on a day."""

    model: str
    into: Decimal
    out: Decimal
    as_of: str
    note: str


@dataclass(frozen=True, slots=True)
class Prices:
    """Vendors by backend, and what an hour of the machine costs."""

    vendors: Mapping[str, Vendor]
    per_hour: Decimal
    as_of: str
    note: str


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars for a thousand cases, and what that rests on."""

    per_1k: float | None
    basis: str


def read(file: Path) -> Prices:
    """The price table; SuiteError with what is wrong in it."""
    raw = yaml.safe_load(table.read_text(file))
    try:
        machine = raw["machine"]
        vendors = {v["backend"]: _vendor(v) for v in raw["vendors"]}
        per_hour = _price(machine["usd_per_hour"])
        return Prices(vendors, per_hour, _day(machine["as_of"]), str(machine.get("note", "")))
    except (KeyError, TypeError, ValueError, InvalidOperation) as error:
        raise SuiteError(
            f"file is no price table: {error!r}",
            file=str(file),
            fix="write it like eval/prices.yaml, prices and days in quotes",
        ) from error


def _vendor(raw: Mapping[str, Any]) -> Vendor:
    prices = (_price(raw["input_per_million"]), _price(raw["output_per_million"]))
    return Vendor(str(raw["model"]), *prices, _day(raw["as_of"]), str(raw.get("note", "")))


def _price(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or value < 0:
        raise ValueError(f"`{text}` is no price")
    return value


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def by_tokens(prices: Prices, backend: str, into: float | None, out: float | None) -> Cost | None:
    """The cost at a vendor's prices; None of a backend that is no vendor's."""
    vendor = prices.vendors.get(backend)
    if vendor is None:
        return None
    if into is None or out is None:
        return Cost(None, "no token counts")
    each = (float(vendor.into) * into + float(vendor.out) * out) / MILLION
    return Cost(each * 1000, f"{vendor.model}, prices of {vendor.as_of}")


def by_time(prices: Prices, mean_ms: float | None, concurrency: int) -> Cost:
    """The cost of the machine's time; `mean_ms` is the mean latency of a case."""
    if mean_ms is None:
        return Cost(None, "not timed")
    each = mean_ms / 1000 / concurrency * float(prices.per_hour) / SECONDS_PER_HOUR
    return Cost(each * 1000, f"this machine at {prices.per_hour} USD an hour ({prices.as_of})")
