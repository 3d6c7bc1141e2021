"""From any text to its scores: what says nothing is refused, what is long is cut in windows.

Windows end at a sentence's end, and the last sentence has one of its own, because a long complaint
often asks at its end. An action that one window asks for counts, whatever stands around it; a text
is out of scope only if every window is. So each action has the highest score of its windows,
out-of-scope its lowest, and the row is scaled to sum to 1: two windows that ask for two things
leave neither with a high score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gate.normalise import fold
from inference.classifiers import Scorer, Weighed
from inference.tiers.scores import OUT_OF_SCOPE

NO_TEXT = "no_text"
WINDOW = 120
"""Most characters of a window, about the length of a training text."""

_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")
_SENTENCE = re.compile(r".+?(?:[.!?;\n]+(?=\s|$)|[。！？；…]+|$)\s*", re.DOTALL)


class Reading(NamedTuple):
    """One text's distribution, or the reason why it has none; `windows` above 1 flags a long text.

    `far`: it is out of distribution, a long text if every window of it is.
    """

    scores: NDArray[np.float64] | None
    reason: str | None = None
    windows: int = 1
    far: bool = False


def unreadable(text: str) -> str | None:
    """The reason why a text says nothing: no letter and no digit beside emoji and invisible marks."""
    kept = text if text.isascii() else fold(_KEYCAP.sub("", text))  # ASCII has nothing to fold away
    return None if any(char.isalnum() for char in kept) else NO_TEXT


def read(scorer: Scorer, texts: Sequence[str]) -> list[Reading]:
    """A reading per text, in one call of the scorer; no unreadable text reaches it."""
    cut = [() if unreadable(text) else windows(scorer, text) for text in texts]
    flat = [window for own in cut for window in own]
    nothing = Weighed(np.empty((0, len(scorer.labels))), np.empty(0, dtype=bool))
    rows, far = scorer.weigh(flat) if flat else nothing
    readings, start = [], 0
    for own in cut:
        mine = slice(start, start + len(own))
        start += len(own)
        readings.append(
            Reading(_together(rows[mine], scorer.labels), None, len(own), bool(far[mine].all()))
            if own
            else Reading(None, NO_TEXT, 0)
        )
    return readings


def windows(scorer: Scorer, text: str) -> tuple[str, ...]:
    """The text itself where the scorer reads it whole, else its readable windows in order."""
    if scorer.fits(text):
        return (text,)
    *before, last = _SENTENCE.findall(text) or [text]
    packed = [*_pack(scorer, before), *_pack(scorer, [last])]
    return tuple(window for window in packed if not unreadable(window))


def _pack(scorer: Scorer, sentences: Sequence[str]) -> Iterator[str]:
    """Sentences joined as long as they stay within one window."""
    window = ""
    for piece in (p for sentence in sentences for p in _pieces(scorer, sentence)):
        if window and (len(window) + len(piece) > WINDOW or not scorer.fits(window + piece)):
            yield window
            window = ""
        window += piece
    yield window


def _pieces(scorer: Scorer, sentence: str) -> Iterator[str]:
    """A sentence in pieces that are short enough, cut at white space where there is some."""
    if len(sentence) <= WINDOW and (len(sentence) < 2 or scorer.fits(sentence)):
        yield sentence
        return
    middle = min(WINDOW, (len(sentence) + 1) // 2)
    space = sentence.rfind(" ", middle // 2, middle)
    at = space + 1 if space > 0 else middle
    yield from _pieces(scorer, sentence[:at])
    yield from _pieces(scorer, sentence[at:])


def _together(rows: NDArray[np.float64], labels: Sequence[str]) -> NDArray[np.float64]:
    if len(rows) == 1:
        return np.asarray(rows[0])
    outside = np.array([label == OUT_OF_SCOPE for label in labels])
    joint = np.where(outside, rows.min(axis=0), rows.max(axis=0))
    return np.asarray(joint / joint.sum(), dtype=np.float64)
