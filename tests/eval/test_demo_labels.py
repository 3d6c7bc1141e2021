"""The demo institution's held-out labels: sealed, complete, and unseen by anything trained."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
import yaml

from eval import table
from eval.errors import SuiteError
from eval.suites.demo import labels
from eval.suites.demo.labels import OUT_OF_SCOPE, Label
from gate.configuration import Configuration
from gate.load import load, load_institution
from gate.load.phrases import phrase_key
from gate.records import NONE, UNRESOLVED

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "configs" / "demo"
TRAINING = ROOT / "training" / "data" / "demo"


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return load(DEMO)


@pytest.fixture(scope="module")
def sessions() -> dict[str, list[str]]:
    """Names of the example sessions and the ids of their objects."""
    text = (DEMO / "sessions.yaml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)["sessions"]
    return {name: [o["object_id"] for o in s["objects"]] for name, s in found.items()}


@pytest.fixture(scope="module")
def heldout(configuration: Configuration, sessions: dict[str, list[str]]) -> tuple[Label, ...]:
    own = [i for ids in sessions.values() for i in ids]
    objects = [*configuration.registry.entries, *own]
    return labels.load(configuration.catalog.actions, objects, sessions)


def test_labels_have_the_digest_that_was_committed_first() -> None:
    assert table.digest(labels.FILE) == labels.stated_digest()


def test_there_are_enough_labels(heldout: tuple[Label, ...], configuration: Configuration) -> None:
    by_action = Counter(label.action for label in heldout)
    assert len(heldout) >= 320
    assert by_action[OUT_OF_SCOPE] >= 50
    assert set(by_action) == {*configuration.catalog.actions, OUT_OF_SCOPE}
    assert min(by_action.values()) >= 15


def test_out_of_scope_is_never_allowed(heldout: tuple[Label, ...]) -> None:
    assert not [x for x in heldout if x.action == OUT_OF_SCOPE and x.allowed]


def test_allowed_object_is_one_that_the_action_permits(
    heldout: tuple[Label, ...], configuration: Configuration, sessions: dict[str, list[str]]
) -> None:
    for label in heldout:
        action = configuration.catalog.get(label.action)
        if action is None or not label.allowed:
            continue
        assert label.object_id != UNRESOLVED, label
        if label.object_id == NONE:
            assert not action.object_required, label
        elif label.object_id in configuration.registry.entries:
            assert configuration.registry.entries[label.object_id].object_type in action.types
        else:
            assert label.object_id in sessions[label.session], label


def test_own_data_is_allowed_only_in_a_session(
    heldout: tuple[Label, ...], configuration: Configuration
) -> None:
    writes = {a.action_id for a in configuration.catalog.actions.values() if a.mode == "write"}
    own = {*writes, "ACCOUNT_BALANCE", "TRANSACTIONS", "CARD_STATUS", "CONTACT_DETAILS"}
    assert not [x for x in heldout if x.action in own and x.allowed and not x.session]


def seen_texts() -> list[str]:
    texts = [phrase.text for phrase in load_institution(DEMO).phrases.phrases]
    for file in sorted(TRAINING.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            texts += [row["text"] for row in csv.DictReader(opened)]
    return texts


def test_three_of_each_label_are_in_no_phrase_and_no_training_text(
    heldout: tuple[Label, ...],
) -> None:
    fresh = Counter(label.action for label in labels.unseen(heldout, seen_texts()))
    assert {action: n for action, n in fresh.items() if n < 3} == {}
    assert set(fresh) == {label.action for label in heldout}


def test_almost_all_labels_are_unseen(heldout: tuple[Label, ...]) -> None:
    assert len(labels.unseen(heldout, seen_texts())) >= 0.95 * len(heldout)


def test_unseen_looks_past_case_and_final_punctuation() -> None:
    label = Label("H", "Freeze my card!", "FREEZE_CARD", NONE, "", True, "")
    assert labels.unseen([label], ["freeze  my card"]) == ()
    assert labels.unseen([label], ["freeze my cards"]) == (label,)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("H-1,text,NOPE,NONE,,ALLOW,", "`action` holds `NOPE`"),
        ("H-1,text,A,O:9,,ALLOW,", "`object_id` holds `O:9`"),
        ("H-1,text,A,NONE,eve,ALLOW,", "`session` holds `eve`"),
        ("H-1,text,A,NONE,,MAYBE,", "`terminal` holds `MAYBE`"),
    ],
)
def test_bad_label_is_refused(row: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"{','.join(labels.COLUMNS)}\n{row}\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=message):
        labels.load(["A"], ["O:1"], ["dana"], path)


def test_malformed_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sha256"
    path.write_text("abc", encoding="utf-8")
    with pytest.raises(SuiteError, match="no checksum line"):
        labels.stated_digest(path)


def test_phrase_tier_answers_texts_that_no_phrase_and_no_training_text_holds() -> None:
    """Letter by letter, that is: the tier matches whole texts, so only their surface can be new."""
    rows = table.read(labels.FOLDER / "surface.csv", ("text", "action"))
    phrases = {p.key: p.action_id for p in load_institution(DEMO).phrases.phrases}
    seen = set(seen_texts())
    fresh = [row for row in rows if row["text"] not in seen]
    assert len(fresh) >= 3
    for row in fresh:
        assert phrases[phrase_key(row["text"])] == row["action"]
