"""What reaches a scorer: texts that say something, and of long ones every window to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.classifiers import Weighed, lexical, reading
from inference.classifiers.reading import NO_TEXT, WINDOW, read, unreadable, windows
from tests.inference.tiny import TEXTS

COMPLAINT = (
    "I have been a member for eleven years and nobody ever told me about the new opening hours. "
    "Last week I stood in front of a closed door, in the rain, with my two children. "
    "The letter that I got afterwards was rude and said nothing about it. "
)


@dataclass
class Recording:
    """Scores by the word it finds; notes every text that reached it."""

    limit: int = 300
    labels: tuple[str, ...] = ("FREEZE", "OUT_OF_SCOPE", "BALANCE")
    given: list[str] = field(default_factory=list)

    def fits(self, text: str) -> bool:
        return len(text.encode()) <= self.limit

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        self.given.extend(texts)
        rows = {"freeze": [0.9, 0.05, 0.05], "balance": [0.05, 0.05, 0.9]}
        plain = [0.05, 0.9, 0.05]
        return np.array([next((r for w, r in rows.items() if w in t), plain) for t in texts])

    def weigh(self, texts: Sequence[str]) -> Weighed:
        return Weighed(self.scores(texts), np.array(["moon" in text for text in texts], dtype=bool))


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\n\t", "🙂🙂", "1️⃣ 2️⃣", "#️⃣", "🇩🇪", "\u200b\u200d\ufeff", "\u3164\u115f", "?!...", "—", "\u2800"],
)  # fmt: skip
def test_text_that_says_nothing_never_reaches_a_scorer(text: str) -> None:
    scorer = Recording()
    (found,) = read(scorer, [text])
    assert (found.scores, found.reason, found.windows) == (None, NO_TEXT, 0)
    assert scorer.given == []


@pytest.mark.parametrize("text", ["ok", "7", "余额", "🙂 hi", "card 1️⃣"])
def test_text_that_says_something_is_read(text: str) -> None:
    assert unreadable(text) is None
    assert read(Recording(), [text])[0].scores is not None


def test_readings_keep_their_places() -> None:
    found = read(Recording(), ["", "freeze it", COMPLAINT * 5, "🙂", "balance"])
    assert [f.reason for f in found] == [NO_TEXT, None, None, NO_TEXT, None]
    assert [int(f.scores.argmax()) for f in found if f.scores is not None] == [0, 1, 2]
    assert [f.windows > 1 for f in found] == [False, False, True, False, False]


def test_a_request_in_the_last_sentence_of_a_long_complaint_is_heard() -> None:
    scorer = Recording()
    (found,) = read(scorer, [COMPLAINT * 12 + "So freeze my card."])
    assert scorer.given[-1].endswith("freeze my card.")
    assert found.windows > 10
    assert found.scores is not None and found.scores.argmax() == 0
    assert found.scores[0] > 0.85


def test_two_requests_in_a_long_text_leave_neither_likely() -> None:
    (found,) = read(Recording(), ["Please freeze my card. " + COMPLAINT * 9 + "My balance?"])
    assert found.scores is not None
    assert found.scores.max() < 0.6


def test_a_long_text_is_out_of_scope_only_as_a_whole() -> None:
    (found,) = read(Recording(), [COMPLAINT * 9])
    assert found.scores is not None and found.scores.argmax() == 1


def test_lexical_hears_the_last_sentence() -> None:
    rows = [(t, label) for label, texts in TEXTS.items() for t in texts]
    scorer = lexical.fit([t for t, _ in rows], [label for _, label in rows])
    text = "what is the weather like. tell me a joke. who won the match. " * 40
    (found,) = read(scorer, [text + "Please freeze my card now."])
    assert found.scores is not None
    assert scorer.labels[found.scores.argmax()] == "APPLE_FREEZE"


@given(st.text(max_size=1500), st.integers(20, 400))
def test_windows_lose_nothing_but_what_says_nothing(text: str, limit: int) -> None:
    scorer = Recording(limit)
    found = windows(scorer, text) if not unreadable(text) else ()
    said = [c for c in text if c.isalnum()]
    if found:
        kept = [c for c in "".join(found) if c.isalnum()]
        assert len(kept) == len(said) or len(said) - len(kept) <= sum(
            1 for c in said if unreadable(c)
        )
    for window in found[: None if len(found) > 1 else 0]:
        assert scorer.fits(window)
        assert len(window) <= WINDOW


def test_a_window_is_cut_at_white_space_and_never_too_long() -> None:
    found = windows(Recording(), "word " * 400)
    assert all(len(w) <= WINDOW and set(w.split()) == {"word"} for w in found)
    assert sum(len(w.split()) for w in found) == 400
    assert reading.windows(Recording(), "short") == ("short",)


def test_a_long_text_is_out_of_distribution_only_as_a_whole() -> None:
    moon = "moon " * 150 + "moon. "
    found = read(Recording(), ["the moon", "freeze it", moon, moon + "Freeze my card."])
    assert [f.far for f in found] == [True, False, True, False]
    assert [f.windows > 1 for f in found] == [False, False, True, True]
