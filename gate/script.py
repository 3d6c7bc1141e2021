"""The language that a text is read in: the stated one, or the configured one of its script.

Which language of a script it is, no list of words can tell: that is recognised outside of the gate
and comes in as one more input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.configuration import Configuration
from gate.lexicon import QUESTION, READ, REQUEST, WISH, WRITE

ADDRESSED: Final = READ | WRITE | REQUEST | WISH | QUESTION
"""Cues that tell a text to be written in a configured language, whatever names it holds."""

LATIN: Final = "latin"
HAN: Final = "han"
JAPANESE: Final = "japanese"
OTHER: Final = "other"


class _Scripts(dict[int, str]):
    """Code point -> one letter for its script; nothing for what is no letter."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        script = ""
        if char.isalpha():
            han = "\u3400" <= char <= "\u9fff" or char >= "\U00020000"
            latin = char < "\u0250" or "\u1e00" <= char <= "\u1eff"
            hiragana = "\u3041" <= char <= "\u3096"
            script = "h" if han else "l" if latin else "j" if hiragana else "o"
        self[code] = script
        return script


_SCRIPTS = _Scripts()


def counts(folded: str) -> Mapping[str, int]:
    """Letters of a folded text by script; a Han character counts as two."""
    letters = folded.translate(_SCRIPTS)
    return {
        HAN: 2 * letters.count("h"),
        LATIN: letters.count("l"),
        JAPANESE: letters.count("j"),
        OTHER: letters.count("o"),
    }


def main_script(letters: Mapping[str, int]) -> str | None:
    """The script of most letters; None for less than two letters, which say nothing.

    Two letters of hiragana, at least half as many as there are Han characters, are Japanese, unless
    most letters are Latin; fewer are a name (给佐藤さくら转账五百元).
    """
    if sum(letters.values()) < 2:
        return None
    hiragana, han = letters[JAPANESE], letters[HAN]
    if hiragana > 1 and 4 * hiragana >= han and letters[LATIN] < han + hiragana:
        return JAPANESE
    return max(letters, key=lambda script: letters[script])


def language(
    configuration: Configuration, stated: str | None, recognised: str, folded: str, tags: int
) -> str | None:
    """The configured language that a text is read in, or None.

    The stated language if configured; none where `recognised` is the tag of another one; else the
    first configured one that writes the main script. A text with a cue of a configured language
    (pay Иванова) is not judged by a script that none of them writes, unless that is Japanese, whose
    Han words are cues too; `tags` are those of all its hits.
    """
    if stated is not None:
        return stated if stated in configuration.languages else None
    if recognised and recognised not in map(primary, configuration.languages):
        return None
    letters = counts(folded)
    script = main_script(letters)
    if script is None:
        return configuration.languages[0]
    by_script = {configuration.packs[t].script: t for t in reversed(configuration.languages)}
    if script == OTHER and tags & ADDRESSED:
        script = max(by_script, key=lambda known: letters[known])
    return by_script.get(script)


def primary(tag: str) -> str:
    """The language of a tag without its region (pt of pt-BR)."""
    return tag.split("-")[0]
