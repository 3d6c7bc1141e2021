"""Every tier answers held-out texts that no phrase and no training text holds."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from eval.suites.demo import labels
from eval.suites.demo.labels import OUT_OF_SCOPE, Label
from gate.load import Institution, load_institution
from gate.records import Abstain, OutOfScope, Proposal, TierAnswer
from inference import artefacts
from inference.question import Question
from inference.tiers import phrases
from inference.tiers.fast import FastTier
from tests.eval.test_demo_labels import DEMO, ROOT, seen_texts

LEAST = 3


@pytest.fixture(scope="module")
def institution() -> Institution:
    return load_institution(DEMO)


@pytest.fixture(scope="module")
def fresh(institution: Institution) -> tuple[Label, ...]:
    """The labels that nothing trained or listed holds."""
    sessions = yaml.safe_load((DEMO / "sessions.yaml").read_text(encoding="utf-8"))["sessions"]
    own = [o["object_id"] for s in sessions.values() for o in s["objects"]]
    configuration = institution.configuration
    objects = [*configuration.registry.entries, *own]
    every = labels.load(configuration.catalog.actions, objects, sessions)
    return labels.unseen(every, seen_texts())


@pytest.fixture(scope="module")
def answers(institution: Institution, fresh: tuple[Label, ...]) -> dict[str, TierAnswer]:
    """The fast tier's answer to each fresh label."""
    settings = next(t for t in institution.appliance.tiers if t.kind == "setfit")
    folder = ROOT / Path(settings.model or "")
    if not folder.is_dir():
        pytest.skip(f"no fast tier at {folder}; `make setup` trains it")
    tier = FastTier("fast", artefacts.read(folder), settings.threshold)
    return {x.label_id: tier.propose(Question(x.text)).answer for x in fresh}


def test_fresh_labels_are_no_phrases(institution: Institution, fresh: tuple[Label, ...]) -> None:
    """At most one of the words that nothing is offered for stands in one, and rightly so."""
    tier = phrases.build(institution.phrases)
    said = [(label, tier.propose(Question(label.text)).answer) for label in fresh]
    assert {type(answer) for _, answer in said} <= {Abstain, OutOfScope}
    outside = [label.action for label, answer in said if isinstance(answer, OutOfScope)]
    assert set(outside) <= {OUT_OF_SCOPE}


def test_fast_tier_answers_fresh_labels(
    fresh: tuple[Label, ...], answers: dict[str, TierAnswer]
) -> None:
    right = [x for x in fresh if _right(x, answers[x.label_id])]
    assert len([x for x in right if x.action != OUT_OF_SCOPE]) >= LEAST
    assert len([x for x in right if x.action == OUT_OF_SCOPE]) >= LEAST


def test_proposer_is_left_fresh_labels(
    fresh: tuple[Label, ...], answers: dict[str, TierAnswer]
) -> None:
    left = [x for x in fresh if isinstance(answers[x.label_id], Abstain)]
    assert len([x for x in left if x.action != OUT_OF_SCOPE]) >= LEAST


def _right(label: Label, answer: TierAnswer) -> bool:
    if isinstance(answer, OutOfScope):
        return label.action == OUT_OF_SCOPE
    return isinstance(answer, Proposal) and answer.action_id == label.action
