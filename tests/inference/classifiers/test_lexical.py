"""The lexical classifier: agrees with scikit-learn, is refused unless whole, unchanged and readable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from gate.normalise import fold
from inference import artefacts
from inference.artefacts import Artefact
from inference.classifiers import lexical, ngrams
from inference.errors import ArtefactError
from tests.inference.tiny import TEXTS

ROWS = [(text, label) for label, texts in TEXTS.items() for text in texts]
TEXTS_ONLY = [text for text, _ in ROWS]
LABELS_ONLY = [label for _, label in ROWS]


@pytest.fixture(scope="module")
def scorer() -> lexical.Lexical:
    return lexical.fit(TEXTS_ONLY, LABELS_ONLY)


@pytest.fixture
def saved(tmp_path: Path, scorer: lexical.Lexical) -> Artefact:
    return lexical.save(scorer, tmp_path / "lexical", {"calibrated": False})


@pytest.mark.parametrize("lengths", [(1, 3), (2, 5)])
@pytest.mark.parametrize("at_least", [1, 2])
def test_vectors_equal_scikit_learns(lengths: tuple[int, int], at_least: int) -> None:
    theirs = TfidfVectorizer(
        analyzer="char", ngram_range=lengths, sublinear_tf=True, min_df=at_least, preprocessor=fold
    ).fit(TEXTS_ONLY)
    ours = ngrams.learn(TEXTS_ONLY, lengths, at_least)
    assert list(ours.columns) == list(theirs.get_feature_names_out())
    assert np.allclose(
        ngrams.matrix(ours, TEXTS_ONLY).toarray(), theirs.transform(TEXTS_ONLY).toarray()
    )


@pytest.mark.parametrize("kept", [None, {"ZEBRA_BALANCE", "APPLE_FREEZE"}])
def test_prediction_and_probabilities_agree_on_every_training_row(kept: set[str] | None) -> None:
    # Two labels too: there scikit-learn keeps a single row of coefficients.
    rows = [(t, label) for t, label in ROWS if kept is None or label in kept]
    texts, labels = [t for t, _ in rows], [label for _, label in rows]
    scorer = lexical.fit(texts, labels)
    vectors = ngrams.matrix(scorer.vocabulary, texts)
    theirs = LogisticRegression(C=10.0, max_iter=2000, random_state=0).fit(vectors, labels)
    scores = scorer.scores(texts)
    assert scorer.labels == tuple(theirs.classes_)
    assert np.allclose(scores, theirs.predict_proba(vectors), atol=1e-9)
    assert [scorer.labels[i] for i in scores.argmax(axis=1)] == list(theirs.predict(vectors))
    assert [scorer.labels[i] for i in scores.argmax(axis=1)] == labels


def test_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = (
        lexical.save(lexical.fit(TEXTS_ONLY, LABELS_ONLY), tmp_path / name, {})
        for name in ("one", "other")
    )
    assert one.digest == other.digest


def test_what_is_loaded_scores_as_what_was_saved(saved: Artefact, scorer: lexical.Lexical) -> None:
    loaded = lexical.load(artefacts.read(saved.folder))
    texts = [*TEXTS_ONLY, "something else", "中文", "x"]
    assert loaded.labels == scorer.labels
    assert (loaded.scores(texts) == scorer.scores(texts)).all()


def test_text_without_a_known_run_gets_the_intercepts_alone(scorer: lexical.Lexical) -> None:
    assert scorer.scores(["ъ"])[0] == pytest.approx(
        np.exp(scorer.head.intercepts) / np.exp(scorer.head.intercepts).sum()
    )


def test_invisible_marks_and_case_change_nothing(scorer: lexical.Lexical) -> None:
    plain, odd = scorer.scores(["freeze my card", "FREEZE\u200b  my\u00a0 card"])
    assert (plain == odd).all()


def test_one_label_is_refused() -> None:
    with pytest.raises(ArtefactError, match="at least two"):
        lexical.fit(["a", "b"], ["A", "A"])


@pytest.mark.parametrize("part", ["head.safetensors", "vocabulary.json"])
def test_a_part_alone_or_a_changed_byte_is_refused(saved: Artefact, part: str) -> None:
    path = saved.folder / part
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match=part):
        lexical.load(saved)
    path.unlink()
    with pytest.raises(ArtefactError, match=part):
        lexical.load(saved)


def test_parts_without_a_manifest_are_refused(saved: Artefact) -> None:
    (saved.folder / "manifest.json").unlink()
    with pytest.raises(ArtefactError, match=r"manifest\.json"):
        artefacts.read(saved.folder)


def test_a_stranger_beside_the_parts_is_refused(saved: Artefact) -> None:
    (saved.folder / "head.pkl").write_bytes(b"cos\nsystem\n")
    with pytest.raises(ArtefactError, match=r"head\.pkl"):
        lexical.load(saved)


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda m: m.update(kind="setfit"), "no lexical artefact"),
    (lambda m: m.update(format=0), "format `0`"),
    (lambda m: m.update(format=2), "format `2`"),
    (lambda m: m["libraries"].update({"scikit-learn": "1.6.1"}), "scikit-learn `1.6.1`"),
    (lambda m: m["libraries"].update({"scikit-learn": "2.0"}), "scikit-learn `2.0`"),
    (lambda m: m["libraries"].update({"scikit-learn": "new"}), "scikit-learn `new`"),
    (lambda m: m.pop("libraries"), "scikit-learn `None`"),
    (lambda m: m["labels"].pop(), "head and labels differ"),
    (lambda m: m["labels"].__setitem__(0, m["labels"][1]), "none of them twice"),
]


@pytest.mark.parametrize(("change", "problem"), CHANGES)
def test_manifest_that_does_not_fit_is_refused(
    saved: Artefact, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    manifest = json.loads((saved.folder / "manifest.json").read_text(encoding="utf-8"))
    change(manifest)
    (saved.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ArtefactError, match=problem):
        lexical.load(artefacts.read(saved.folder))


def test_an_older_head_is_refused_before_a_part_is_read(saved: Artefact) -> None:
    manifest = json.loads((saved.folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["libraries"]["scikit-learn"] = "1.2.0"
    (saved.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for part in ("head.safetensors", "vocabulary.json"):
        (saved.folder / part).unlink()
    with pytest.raises(ArtefactError, match=r"1\.2\.0"):
        lexical.load(artefacts.read(saved.folder))
