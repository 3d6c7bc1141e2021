"""The benches on small made-up data: what is learnt from, what is measured, and that they stay apart."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval.errors import ProposerError, SuiteError
from eval.intents import bench, data, groups, rewording
from eval.intents.__main__ import main
from eval.intents.data import Texts
from eval.intents.scored import Scored
from eval.intents.subjects import Subject, Vectors, choose

OUT = "OUT_OF_SCOPE"
NOUNS = {"balance": "money", "freeze": "card", "price": "fund", "oos": "weather"}


def made_up(count: int, seed: int, labels: Sequence[str] = tuple(NOUNS)) -> list[list[str]]:
    """Texts of invented words, some of which tell the label."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    rows = []
    for label in labels:
        for _ in range(count):
            words = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(5)]
            hint = label if rng.random() < 0.7 else NOUNS[label]
            words.insert(rng.randrange(6), hint)
            rows.append([" ".join(words), label])
    return rows


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("public")
    inside = ("balance", "freeze", "price")
    parts = {
        "train": made_up(40, 1, inside), "val": made_up(20, 2, inside),
        "oos_train": made_up(40, 3, ("oos",)), "oos_val": made_up(10, 4, ("oos",)),
    }  # fmt: skip
    (folder / "clinc150").mkdir()
    (folder / data.CLINC).write_text(json.dumps(parts), encoding="utf-8")
    (folder / "banking77").mkdir()
    with (folder / data.BANKING).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "category"], *made_up(40, 5, inside)])
    return folder


def test_out_of_scope_texts_get_the_tiers_label(public: Path) -> None:
    train, val = data.clinc(public)
    assert set(train.labels) == {"balance", "freeze", "price", OUT}
    assert (len(train.texts), val.labels.count(OUT)) == (160, 10)


def test_absent_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no CLINC150 data"):
        data.clinc(tmp_path)


def test_clinc_reports_figures_intervals_and_calibration(public: Path, tmp_path: Path) -> None:
    arguments = ["--kind", "lexical", "--rounds", "20", "--data", str(public)]
    assert main(["clinc", *arguments, "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    assert found["texts"]["stands_for"] == [4500, 1000]
    assert (found["texts"]["in_scope"], found["texts"]["out_of_scope"]) == (60, 10)
    assert found["figures"]["in_scope_accuracy"] > 0.7
    for name, value in found["figures"].items():
        low, high = found["intervals"][name]
        assert low - 1e-9 <= value <= high + 1e-9 or high - low < 0.5, name
    assert set(found["calibration"]) == {"as_it_is", "calibrated"}
    assert "NaN" not in (tmp_path / "metrics.json").read_text(encoding="utf-8")
    for name in ("reliability.svg", "reliability-calibrated.svg"):
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<svg")


class Spy:
    """A subject that notes what it is given."""

    def __init__(self) -> None:
        self.given: list[tuple[Texts, list[Texts]]] = []

    def measure(self, kept: Texts, asked: Sequence[Texts], strength: float) -> list[Scored]:
        self.given.append((kept, list(asked)))
        names = tuple(sorted(set(kept.labels)))
        even = 1 / len(names)
        return [Scored(names, np.full((len(a.texts), len(names)), even), a.labels) for a in asked]


@pytest.mark.parametrize("name", ["clinc", "banking", "few"])
def test_nothing_measured_or_calibrated_on_is_learnt_from(public: Path, name: str) -> None:
    spy = Spy()
    subject = Subject("spy", spy.measure, 1.0, {})
    run = {"clinc": bench.clinc, "banking": bench.banking}.get(name)
    if run is None:
        bench.few(subject, public)
    else:
        run(subject, public, 3)
    assert len(spy.given) == (bench.DRAWS if name == "few" else 1)
    for kept, asked in spy.given:
        seen = set(kept.texts)
        for part in asked:
            assert not seen & set(part.texts)
            seen |= set(part.texts)
        if name == "few":
            counts = {kept.labels.count(label) for label in set(kept.labels)}
            assert counts == {bench.PER_INTENT + 1}  # and the name


def test_near_duplicates_stay_on_one_side(public: Path) -> None:
    texts = [
        "how do i freeze my card", "how do I freeze my card?", "how do i freeze my cards",
        "what is the price of gold", "what is the price of gold today", "tell me a joke",
    ]  # fmt: skip
    found = groups.near_duplicates(texts, 0.7)
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4]
    assert len(set(found.tolist())) == 3
    many = data.banking(public)
    own = groups.near_duplicates(many.texts)
    held = groups.held_back(own, many.labels, 0.2, 0)
    assert 0.1 < held.mean() < 0.3
    assert not set(own[held].tolist()) & set(own[~held].tolist())
    assert set(np.array(many.labels)[~held]) == set(many.labels)


def test_rewording_keeps_what_is_asked_and_changes_how() -> None:
    texts = ["How do I top up my card?", "why was I charged a fee"] * 20
    found = rewording.reworded(texts, 7)
    assert found == rewording.reworded(texts, 7) != rewording.reworded(texts, 8)
    assert sum(a != b.lower() for a, b in zip(found, texts, strict=True)) > 30
    assert rewording.reworded(texts, 7, strength=0) == [t.lower() for t in texts]


def test_vectors_are_read_again_from_their_file(tmp_path: Path) -> None:
    class Encoder:
        digest = "d" * 64

        def __init__(self) -> None:
            self.given: list[str] = []

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            self.given.extend(texts)
            return np.array([[len(t), 1.0] for t in texts], dtype=np.float32)

    encoder = Encoder()
    for asked in (["a", "bcd", "a"], ["bcd", "ef"], ["ef", "a"]):
        found = Vectors(encoder, tmp_path).of(asked)  # type: ignore[arg-type]
        assert found.tolist() == [[len(t), 1] for t in asked]
    assert encoder.given == ["a", "bcd", "ef"]


def test_unknown_kind_is_answered() -> None:
    with pytest.raises(ProposerError, match="did you mean `linear`"):
        choose("linera")
    assert choose("lexical").kind == "lexical"


def test_wrong_data_folder_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["banking", "--data", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "banking77" in capsys.readouterr().err
