"""What leaves for a model holds no state, no session, no gold; the receipt is those very bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gate.load.requests import parse_request
from inference.appliance import open_appliance
from inference.backends import loop
from inference.backends.guarded import GuardedBackend
from inference.backends.server import ServerBackend
from inference.tiers.proposer import ProposerTier
from inference.way import answer
from tests.inference.backends.asking import entry
from tests.inference.backends.fault_server import MODEL, FaultServer
from tests.models import ROOT

SECRET = {
    "subject": "C-SECRET-77",
    "entitlements": ["vault-9"],
    "objects": [
        {
            "object_id": "CARD-SECRET-4242",
            "object_type": "CARD",
            "display_name": "Hidden card ending 4242",
        }
    ],
}
STATE = {"identity_verified": True, "risk_tier": "low", "service_available": True}
HIDDEN = (
    *("C-SECRET-77", "vault-9", "CARD-SECRET-4242", "Hidden card"),
    *("identity_verified", "risk_tier", "service_available", "req-secret-1"),
)


@pytest.mark.parametrize("form", ["codes", "names", "json"])
def test_no_body_holds_state_session_or_ids(server: FaultServer, tmp_path: Path, form: str) -> None:
    """A request through the whole way; every byte that reaches the server is walked."""
    backend = GuardedBackend(ServerBackend(entry(server, form=form)))
    opened = open_appliance(
        ROOT / "configs/demo", ROOT, lambda: datetime(2026, 12, 1, 9, tzinfo=UTC), tmp_path
    )
    with opened as appliance:
        tier = ProposerTier("proposer", backend, appliance.configuration.catalog, Decimal("0.5"))
        alone = replace(appliance, tiers=(tier,))
        line = json.dumps(
            {
                "request_id": "req-secret-1",
                "channel": "web",
                "utterance": "could somebody look at the weather for me",
                "history": [{"role": "user", "text": "hello"}],
                "state": STATE,
                "session": SECRET,
            }
        )
        ended = answer(alone, parse_request(line, appliance.configuration, "line 1"))
        (told,) = ended.routed.tried
        stored = appliance.book.ledger.get(str(ended.routed.decision_id))
        assert stored is not None
        assert stored.record["reported_model"] == MODEL
        loop.call(backend.close())
    assert len(server.asked()) == 1
    sent = server.raw[-1].decode()
    assert told.reply.sent == sent, "the receipt is not what was sent"
    for raw in server.raw:
        for hidden in HIDDEN:
            assert hidden not in raw.decode()
    body = server.asked()[0]
    assert set(body) <= {
        *("model", "messages", "temperature", "max_tokens", "logprobs", "top_logprobs"),
        *("structured_outputs", "stream", "stream_options"),
    }
