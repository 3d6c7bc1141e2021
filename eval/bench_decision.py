"""The whole decision, findings included: against cedarpy, and against the fast tier before it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from eval.case import request
from eval.cedar import NOW, cedar_calls
from eval.suites import routebr as suite
from eval.timing import Part, Ratio, timed
from gate.configuration import Configuration
from gate.controller import decide
from gate.findings import find
from gate.load import load, load_institution
from gate.records import Proposal, Request, Situation
from inference import artefacts, question
from inference.tiers.fast import FastTier

ROOT = Path(__file__).resolve().parents[1]
SELECT = "routebr_select_160.csv"
TEXTS = 200
"""Requests of the demo that gate and fast tier are timed on."""


def whole_decision(folder: Path) -> Part:
    """Findings and verdict of the 160 SELECT requests, against cedarpy on their actions and states."""
    configuration = load(folder, bench=True)
    known = (configuration.catalog.actions, configuration.registry.entries)
    cases = suite.load(folder / SELECT, *known)
    asked = [(request(case), _proposal(case.gold.action)) for case in cases]
    booleans = [
        (case.gold.action, {k: v for k, v in case.state.items() if isinstance(v, bool)})
        for case in cases
    ]
    gate = f"gate, {len(cases)} requests"
    calls = {
        gate: _deciding(configuration, asked),
        **cedar_calls(configuration, "requests", booleans),
    }
    timing = timed(calls, dict.fromkeys(calls, len(cases)))
    plain, cedar = "cedarpy, requests", timing.fastest("cedarpy")
    return Part(
        "whole_decision",
        "RouteBR SELECT: text read, objects found, rules and checks; cedarpy gets action and state",
        timing.median_us(),
        (
            Ratio(gate, plain, timing.times(gate, plain), at_most=3),
            Ratio(gate, cedar, timing.times(gate, cedar)),
        ),
    )


def whole_decision_in_the_way(_routebr: Path) -> Part:
    """The same for demo requests, against the time that the fast tier takes for them."""
    institution = load_institution(ROOT / "configs/demo")
    configuration = institution.configuration
    settings = next(t for t in institution.appliance.tiers if t.kind == "setfit")
    artefact = artefacts.read(ROOT / str(settings.model))
    tier = FastTier(settings.name, artefact, settings.threshold)
    with (ROOT / "training/data/demo/utterances.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][:TEXTS]
    action = next(iter(configuration.catalog.actions))
    asked = [(Request("bench", "web", text), _proposal(action)) for text in texts]
    questions = [question.of(r, configuration, find(configuration, r)) for r, _ in asked]
    timing = timed(
        {
            "gate": _deciding(configuration, asked),
            "fast tier": lambda: [tier.propose(q) for q in questions[:20]],
        },
        {"gate": len(asked), "fast tier": 20},
        rounds=15,
    )
    return Part(
        "whole_decision_in_the_way",
        "demo requests; the fast tier reads, the gate decides",
        timing.median_us(),
        (Ratio("gate", "fast tier", timing.times("gate", "fast tier"), at_most=0.1),),
    )


def _proposal(action_id: str) -> Proposal:
    return Proposal(action_id, None, (action_id,), Decimal(1), "given")


def _deciding(
    configuration: Configuration, asked: list[tuple[Request, Proposal]]
) -> Callable[[], object]:
    def run() -> None:
        for one, proposal in asked:
            situation = Situation(one.state, NOW, one.session, one.candidates)
            decide(configuration, situation, find(configuration, one), proposal)

    return run
