"""Tiers: what each answers, and that a broken artefact is refused rather than read."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.load.phrases import Phrase, PhraseBook, phrase_key
from gate.records import Abstain, OutOfScope, Proposal
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import store
from inference.encoder import TorchEncoder
from inference.errors import ArtefactError, AssemblyError
from inference.question import Question
from inference.tiers import phrases, scores
from inference.tiers.fast import FastTier, check_labels
from tests.inference import tiny

LOW = Decimal("0.0")


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory, encoder: TorchEncoder) -> Artefact:
    return tiny.write(tmp_path_factory.mktemp("tiny") / "router", encoder)


@pytest.fixture
def fast(artefact: Artefact) -> FastTier:
    return FastTier("fast", artefact, Decimal("0.5"))


def phrase(text: str, action_id: str) -> Phrase:
    return Phrase(phrase_key(text), action_id, "en", text)


PHRASES = phrases.build(
    PhraseBook((phrase("What is my balance?", "BALANCE"), phrase("Freeze it", "FREEZE")))
)


@pytest.mark.parametrize(
    "text", ["what is my balance", "WHAT IS  MY BALANCE!!", " what is my\u200b balance ?"]
)
def test_phrase_matches_whatever_its_case_spacing_and_final_marks(text: str) -> None:
    answer = PHRASES.propose(Question(text)).answer
    assert answer == Proposal("BALANCE", None, ("BALANCE",), Decimal(1), "phrases")


@pytest.mark.parametrize("text", ["what is my balance now", "my balance", "", "?", "balance"])
def test_other_text_is_no_phrase(text: str) -> None:
    assert PHRASES.propose(Question(text)).answer == Abstain("no_phrase", "phrases")


def test_best_label_at_the_threshold_is_proposed() -> None:
    found = scores.answer({"A": 0.6, "B": 0.3, "OUT_OF_SCOPE": 0.1}, Decimal("0.60"), "t", "b")
    assert found == Proposal("A", None, ("A", "B"), Decimal("0.600000"), "t", "b")


def test_best_label_below_the_threshold_abstains_with_the_two_best_actions() -> None:
    found = scores.answer({"A": 0.3, "OUT_OF_SCOPE": 0.5, "B": 0.2}, Decimal("0.51"), "t")
    assert found == Abstain("low_confidence", "t", ("A", "B"))


def test_out_of_scope_label_is_no_proposal() -> None:
    found = scores.answer({"A": 0.3, "OUT_OF_SCOPE": 0.7}, Decimal("0.6"), "t")
    assert found == OutOfScope("t", Decimal("0.700000"))


def test_equal_labels_are_ordered_by_name() -> None:
    assert scores.answer({"B": 0.5, "A": 0.5}, LOW, "t").topk == ("A", "B")  # type: ignore[union-attr]


@given(st.floats(0, 1))
def test_confidence_is_the_probability_to_six_places(probability: float) -> None:
    found = scores.confidence(probability)
    assert abs(found - Decimal(probability)) <= Decimal("0.0000005")
    assert found.as_tuple().exponent == -6


@given(st.dictionaries(st.sampled_from("ABCDE"), st.floats(0, 1), min_size=1))
def test_answer_below_the_threshold_is_always_an_abstention(values: dict[str, float]) -> None:
    found = scores.answer(values, Decimal("0.9"), "t")
    assert isinstance(found, Abstain) == (
        max(map(scores.confidence, values.values())) < Decimal("0.9")
    )


def distribution(tier: FastTier, text: str) -> dict[str, Decimal]:
    """Every label's probability, as the receipt has it."""
    return {k: Decimal(v) for k, v in json.loads(tier.propose(Question(text)).raw).items()}


@pytest.mark.parametrize("order", [tuple(tiny.TEXTS), tuple(sorted(tiny.TEXTS))])
def test_labels_keep_their_probabilities_whatever_their_order(
    tmp_path: Path, encoder: TorchEncoder, order: tuple[str, ...]
) -> None:
    tier = FastTier("fast", tiny.write(tmp_path / "router", encoder, order), Decimal("0.5"))
    assert tier.labels == order
    for label, texts in tiny.TEXTS.items():
        for text in texts:
            found = distribution(tier, text)
            assert max(found, key=lambda name: found[name]) == label
            assert abs(sum(found.values()) - 1) < Decimal("0.00001")


def test_fast_tier_proposes_without_an_object(fast: FastTier) -> None:
    reply = fast.propose(Question("please freeze my card"))
    assert isinstance(reply.answer, Proposal)
    assert (reply.answer.action_id, reply.answer.object_id) == ("APPLE_FREEZE", None)
    assert reply.answer.topk == ("APPLE_FREEZE", "ZEBRA_BALANCE")
    assert set(json.loads(reply.raw)) == set(tiny.TEXTS)


def test_fast_tier_knows_what_is_out_of_scope(fast: FastTier) -> None:
    assert isinstance(fast.propose(Question("tell me another joke")).answer, OutOfScope)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "🙂🙂", "\u200b\u200d\ufeff", "?!...", "—"])
def test_text_without_a_letter_or_digit_abstains_before_encoding(text: str) -> None:
    fields = {"kind": "setfit", "labels": ["A", "B"], "libraries": store.libraries(), "files": {}}
    absent = Artefact(Path("/nowhere"), "0", fields)
    answer = FastTier("fast", absent, LOW).propose(Question(text)).answer
    assert answer == Abstain("no_text", "fast")


def test_text_longer_than_the_encoder_reads_is_scored_to_its_end_and_flagged(
    fast: FastTier,
) -> None:
    assert fast.propose(Question("freeze my card " * 80)).flags == ()
    complaint = "Nobody told me about it, and the weather was bad as well. " * 40
    reply = fast.propose(Question(complaint + "Please lock my card now."))
    assert reply.flags == ("long_text",)
    scores_of = {k: Decimal(v) for k, v in json.loads(reply.raw).items()}
    assert max(scores_of, key=lambda name: scores_of[name]) == "APPLE_FREEZE"


def test_fast_tier_names_its_model(fast: FastTier, artefact: Artefact) -> None:
    assert fast.versions == {"model:fast": artefact.digest}


@pytest.mark.parametrize("part", ["head.safetensors", "encoder/config.json", "encoder/vocab.txt"])
def test_changed_part_is_refused(tmp_path: Path, encoder: TorchEncoder, part: str) -> None:
    artefact = tiny.write(tmp_path / "router", encoder)
    path = artefact.folder / part
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ArtefactError, match=part):
        FastTier("fast", artefact, LOW).propose(Question("text"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"kind": "proposer"}, "no setfit or tuned or linear or lexical artefact"),
        ({"labels": ["A", "A"]}, "twice"),
        ({"labels": ["A", "B"]}, "differ in number"),
        ({"format": 0}, "format `0`"),
        ({"libraries": {"scikit-learn": "1.3.2"}}, r"scikit-learn `1\.3\.2`"),
        ({"libraries": {}}, "scikit-learn `None`"),
    ],
)
def test_manifest_that_does_not_fit_is_refused(
    artefact: Artefact, tmp_path: Path, fields: dict[str, object], problem: str
) -> None:
    (tmp_path / "head.safetensors").write_bytes((artefact.folder / "head.safetensors").read_bytes())
    other = artefacts.write_manifest(tmp_path, {**artefact.manifest, **fields})
    with pytest.raises(ArtefactError, match=problem):
        FastTier("fast", other, LOW).propose(Question("text"))


def test_label_that_is_no_action_is_refused(fast: FastTier) -> None:
    check_labels(fast, ["APPLE_FREEZE", "ZEBRA_BALANCE", "MORE"])
    with pytest.raises(AssemblyError, match="ZEBRA_BALANCE"):
        check_labels(fast, ["APPLE_FREEZE"])
