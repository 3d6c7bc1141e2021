"""The same requests as other people would type them: a shift of wording with known labels.

Openers, fillers, synonyms, contractions and slips of the keyboard; every one keeps what is asked
for. Made for English banking requests and used for measuring only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

OPENERS = (
    "hi there, ", "hello, quick question: ", "hey ", "good morning. ", "sorry to bother you, ",
    "so basically ", "ok so ", "could someone tell me, ", "not sure if this is the right place but ",
)  # fmt: skip
CLOSERS = (" thanks", " thank you!", " please help", " cheers", " asap pls", " any idea?")
OTHER_WORDS = {
    "card": "plastic", "money": "funds", "cash": "notes", "transfer": "payment across",
    "account": "acct", "charged": "billed", "fee": "surcharge", "fees": "surcharges",
    "payment": "transaction", "pay": "settle", "top up": "load", "top-up": "load", "pin": "passcode",
    "lost": "misplaced", "stolen": "taken from me", "refund": "money back", "country": "place",
    "app": "application", "atm": "cash machine", "cancel": "call off", "wrong": "incorrect",
    "want": "would like", "how do i": "what's the way to",
    "how can i": "what do i do to", "what is": "tell me", "why": "how come", "when will": "how soon will",
    "exchange rate": "conversion rate", "identity": "who i am", "verify": "confirm", "change": "alter",
    "use": "make use of", "get": "obtain", "help": "assist", "still": "as of now", "long": "much time",
}  # fmt: skip
_WORDS = re.compile(
    r"\b(" + "|".join(sorted(map(re.escape, OTHER_WORDS), key=len, reverse=True)) + r")\b"
)


def reword(text: str, rng: random.Random, strength: float = 0.5) -> str:
    """One rewording; `strength` from 0 (as it is) to 1 is the chance of each change."""
    said = _WORDS.sub(
        lambda found: OTHER_WORDS[found[0]] if rng.random() < strength else found[0], text.lower()
    )
    words = [_slip(word, rng) if rng.random() < strength / 8 else word for word in said.split()]
    said = " ".join(words)
    if rng.random() < strength:
        said = rng.choice(OPENERS) + said
    if rng.random() < strength:
        said = said.rstrip("?. ") + rng.choice(CLOSERS)
    return said


def _slip(word: str, rng: random.Random) -> str:
    """Two neighbouring letters swapped."""
    if len(word) < 4:
        return word
    at = rng.randrange(1, len(word) - 2)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def reworded(texts: Sequence[str], seed: int, strength: float = 0.5) -> list[str]:
    """A rewording of each text; the same seed gives the same."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    return [reword(text, rng, strength) for text in texts]
