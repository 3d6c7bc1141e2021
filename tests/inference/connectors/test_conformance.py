"""The published checks: ours pass them, and each broken promise fails one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from inference.connectors import conformance
from inference.connectors.conformance import Bench, NonConforming
from inference.connectors.http import HttpConnector
from inference.connectors.outbox import Outbox
from inference.connectors.plugin import Guarded
from tests.inference.connectors.offices import BackOffice, new_key, now, order
from tests.inference.connectors.toy import Toy, bench

Check = Callable[[Bench], None]
each_check = pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda c: c.__name__)


def office_bench(office: BackOffice, connector: HttpConnector | Outbox) -> Bench:
    return Bench(
        connector=connector,
        order=order,
        key=new_key,
        effects=office.effects,
        clock=now,
        slow=lambda seconds: office.fail_next(f"delay-before:{seconds}"),
    )


@each_check
def test_http_connector_conforms(
    check: Check, office: BackOffice, connector: HttpConnector
) -> None:
    check(office_bench(office, connector))


@each_check
def test_outbox_conforms(check: Check, office: BackOffice, outbox: Outbox) -> None:
    check(office_bench(office, replace(outbox, lease_s=10.0)))


@each_check
def test_sound_connector_of_another_house_conforms(check: Check) -> None:
    toy = Toy()
    check(replace(bench(toy), connector=Guarded("toy", toy, 0.0)))
    check(replace(bench(toy), slow=None))


@pytest.mark.parametrize(
    ("wrong", "fails"),
    [
        ("effect on prepare", "prepare_has_no_effect"),
        ("prepare differs", "prepare_has_no_effect"),
        ("does nothing", "one_order_has_one_effect"),
        ("no reference", "one_order_has_one_effect"),
        ("no outcome", "one_order_has_one_effect"),
        ("twice", "same_key_has_no_second_effect"),
        ("new reference", "same_key_has_no_second_effect"),
        ("whole body", "later_decision_under_the_same_key_is_the_same_order"),
        ("any order", "other_order_under_the_same_key_is_refused"),
        ("races", "parallel_calls_under_one_key_have_one_effect"),
        ("forgets", "status_tells_by_key"),
        ("knows all", "status_tells_by_key"),
        ("effect on status", "status_tells_by_key"),
        ("any action", "unknown_action_is_refused"),
        ("floats", "malformed_order_is_refused"),
        ("expired", "expired_order_has_no_effect"),
        ("deadline", "deadline_is_honoured"),
    ],
)
def test_every_broken_promise_fails_its_check(wrong: str, fails: str) -> None:
    check = next(c for c in conformance.CHECKS if c.__name__ == fails)
    with pytest.raises(NonConforming) as caught:
        check(bench(Toy(wrong)))
    assert str(caught.value)


def test_connector_that_raises_fails() -> None:
    for check in (conformance.one_order_has_one_effect, conformance.expired_order_has_no_effect):
        with pytest.raises(ValueError, match="no"):
            check(bench(Toy("raises")))
