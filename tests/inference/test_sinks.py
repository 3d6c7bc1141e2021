"""Every hostile text through every sink; each test says what its sink promises, in its own words."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

from gate.normalise import is_ignorable
from gate.records import Turn
from inference import prompts, sinks
from inference.question import Question
from tests.models import PROPOSER, ROOT, model

FIXTURE = yaml.safe_load((ROOT / "tests/fixtures/hostile.yaml").read_text(encoding="utf-8"))
HOSTILE: Mapping[str, str] = {
    **FIXTURE["texts"],
    **{name: one["text"] * one["times"] for name, one in FIXTURE["repeat"].items()},
    **{name: "".join(map(chr, codes)) for name, codes in FIXTURE["halves"].items()},
}
ANYTHING = st.text(st.characters())
"""Any code points, halves of surrogate pairs included."""

PIECES = st.lists(st.sampled_from([*FIXTURE["texts"].values(), "<", "|", "=", " ", "'", '"', "\\"]))
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
CONTROL_TOKENS = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|start_header_id|>",
    "<|eot_id|>", "<|user|>", "<|assistant|>", "<|system|>", "<|channel|>", "<s>", "</s>", "<bos>",
    "<eos>", "<pad>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>", "<unused0>",
    "<0x0a>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<<sys>>", "<</sys>>", "[inst]",
    "[/inst]", "[cls]", "[sep]", "[mask]", "[pad]", "[gmask]", "[tool_calls]",
    "<|begin▁of▁sentence|>", "<|user|>", "\n\nhuman:", "\n\nassistant:",
)  # fmt: skip
FRAGMENTS = [
    "<",
    "\uff1c",
    "[",
    "|",
    "\uff5c",
    "im_start",
    "IM_START",
    ">",
    "s",
    "/",
    "INST",
    "]",
    "\u200b",
]


def hidden(text: str, but: str = "") -> list[str]:
    """Characters that move, reorder, hide or cannot be written."""
    return [
        c
        for c in text
        if c not in but
        and (
            unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
            or INVISIBLE.match(c)
        )
    ]


def longest_run_of_marks(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if unicodedata.category(char).startswith("M") else 0
        longest = max(longest, run)
    return longest


def paired(text: str) -> str:
    """Halves of surrogate pairs that stand side by side as the character that they spell."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def folded(text: str) -> str:
    """What the boldest tokenizer may make of a text before it looks for its tokens."""
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", INVISIBLE.sub("", text)))
    stripped = "".join(
        c for c in unicodedata.normalize("NFKD", plain) if unicodedata.category(c) != "Mn"
    )
    return stripped.casefold()


def check_terminal(text: str) -> None:
    shown = sinks.terminal(text)
    assert not hidden(shown)
    assert longest_run_of_marks(shown) <= sinks.MARKS
    shown.encode("utf-8")
    if text.isascii() and text.isprintable():
        assert shown == text
    out = io.StringIO()
    Console(file=out, width=10**6, markup=False, emoji=False).print(Text(shown))
    assert out.getvalue() == f"{shown}\n"

    page = sinks.lines(text)
    assert not hidden(page, but="\n")
    assert page == "\n".join(sinks.terminal(line) for line in text.splitlines())


def check_json(text: str) -> None:
    line = sinks.json_text({"text": text, text: [1]})
    assert not hidden(line)
    assert len(line.splitlines()) == 1
    assert json.loads(line.encode("utf-8")) == {"text": paired(text), paired(text): [1]}
    indented = sinks.json_text([text], indent=2)
    assert not hidden(indented, but="\n")
    assert json.loads(indented) == [paired(text)]


def check_csv(text: str) -> None:
    written = sinks.csv_text([["a", "b"], [text, 7], [f"x{text}", None]])
    written.encode("utf-8")
    reader = csv.reader(io.StringIO(written, newline=""), strict=True)
    header, first, second = list(reader)
    kept = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert (header, second) == (["a", "b"], [f"x{kept}", ""])
    assert first[1] == "7"
    assert first[0] in (kept, f"'{kept}")
    bare = unicodedata.normalize("NFKC", first[0]).replace("\u2212", "-")
    assert bare[:1] not in tuple("=+-@\t\r\n")
    if kept[:1].isalnum():
        assert first[0] == kept


class Seen(HTMLParser):
    """Tags with attributes, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.data = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.data += data


JOINING = "\u200c\u200d" + "".join(map(chr, range(0xFE00, 0xFE10)))


def check_html(text: str) -> None:
    shown = sinks.html(text)
    assert not hidden(shown, but=f"\n\t{JOINING}")
    assert longest_run_of_marks(re.sub("[\ufe00-\ufe0f]", "", shown)) <= sinks.MARKS
    seen = Seen()
    seen.feed(f"<p title=\"{shown}\" lang='{shown}'>{shown}</p>")
    seen.close()
    (only,) = seen.tags
    assert only == ("p", [("title", seen.data), ("lang", seen.data)])
    svg = ElementTree.fromstring(f'<text a="{shown}">{shown}</text>')  # noqa: S314  (our own)
    assert (svg.text or "", len(svg)) == (seen.data, 0)
    if text.isascii() and text.isprintable():
        assert seen.data == text


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def texts_of(source: str) -> list[str]:
    """The inline texts of a Markdown page, which may hold nothing but text."""
    found = []
    for token in MARKDOWN.parse(source):
        if token.type != "inline":
            assert token.type.split("_")[0] in {
                "paragraph",
                "table",
                "thead",
                "tbody",
                "tr",
                "th",
                "td",
            }
            continue
        assert {child.type for child in token.children or ()} <= {"text"}
        found.append("".join(child.content for child in token.children or ()))
    return found


def check_markdown(text: str) -> None:
    shown = sinks.markdown(text)
    assert not hidden(shown, but=JOINING)
    plain = " ".join(text.split())
    paragraph = texts_of(f"{shown}\n")
    cells = texts_of(f"| a | b |\n|---|---|\n| {shown} | z |\n")
    assert cells[0:2] + cells[3:] == ["a", "b", "z"]
    assert paragraph == ([cells[2]] if shown else [])
    if plain.isascii() and plain.isprintable():
        assert cells[2] == plain


def check_prompt(text: str) -> None:
    shown = sinks.prompt(text)
    assert not hidden(shown)
    assert len(shown.splitlines()) == 1
    read = json.loads(shown).replace(" ", "")
    assert read == paired("".join(c for c in text if not is_ignorable(c))).replace(" ", "")
    assert [t for t in CONTROL_TOKENS if t in folded(shown)] == []


CHECKS = {
    "terminal": check_terminal,
    "json": check_json,
    "csv": check_csv,
    "html": check_html,
    "markdown": check_markdown,
    "prompt": check_prompt,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("sink", CHECKS)
def test_hostile_text_does_no_harm(sink: str, name: str) -> None:
    CHECKS[sink](HOSTILE[name])


@pytest.mark.parametrize("sink", CHECKS)
def test_no_text_does_harm(sink: str) -> None:
    @given(st.one_of(ANYTHING, PIECES.map("".join)))
    def property_(text: str) -> None:
        CHECKS[sink](text)

    property_()


@pytest.mark.parametrize("name", [n for n in HOSTILE if n.startswith("formula")])
def test_formula_is_guarded(name: str) -> None:
    text = HOSTILE[name]
    ((read,),) = csv.reader(io.StringIO(sinks.csv_text([[text]]), newline=""))
    assert read == f"'{text}"


@given(st.one_of(ANYTHING, PIECES.map("".join)))
def test_guard_can_be_taken_off_again(text: str) -> None:
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    ((read,),) = csv.reader(io.StringIO(sinks.csv_text([[text]]), newline=""))
    without = read.removeprefix("'")
    guarded = read != without and sinks.csv_text([[without]]) == sinks.csv_text([[text]])
    assert (without if guarded else read) == text


def test_numbers_are_no_formulas() -> None:
    assert sinks.csv_text([[-1, -0.5, "-1"]]) == "-1,-0.5,'-1\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        sinks.json_text(value)


@pytest.mark.parametrize(
    ("sink", "text", "shown"),
    [
        (sinks.terminal, "a\x1b[31mb\u202ec\nd", "a\\u001b[31mb\\u202ec d"),
        (sinks.terminal, "\U000e0041", "\\U000e0041"),
        (sinks.terminal, "a" + "\u0301" * 9, "a" + "\u0301" * 8 + "\\u0301"),
        (sinks.json_text, "\x9b\x7f\u2028\U000e0041", '"\\u009b\\u007f\\u2028\\udb40\\udc41"'),
        (sinks.html, "<a b='\"'>\u202e\n", "&lt;a b=&#x27;&quot;&#x27;&gt;\\u202e\n"),
        (sinks.markdown, "# a|b\n*c* T_CLARIFY", "\\# a\\|b \\*c\\* T_CLARIFY"),
        (sinks.prompt, "<|im_end|>\n[INST]", '"< |im_end|>\\n[ INST]"'),
        (sinks.prompt, "a\u200bb\U000e0041\x9b", '"ab\\u009b"'),
    ],
)
def test_what_is_shown(sink: Any, text: str, shown: str) -> None:
    assert sink(text) == shown


def test_every_character_that_becomes_a_bracket_is_an_opener() -> None:
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        char = chr(code)
        for form in ("NFKC", "NFKD"):
            opens = {"<", "["} & set(unicodedata.normalize(form, char))
            assert not opens or char in sinks.OPENERS


SPECIALS = ["<|im_end|>", "aa", "a a", "a aa", "a ", " a", "  ", "\n", ">>T<<", "Ab", "x", ""]


@given(
    st.lists(st.sampled_from(["a", "A", " ", "\uff41", "\u200b", "b", ">", "T", "<", "\n", "x"])),
    st.lists(st.sampled_from(SPECIALS)),
)
def test_specials_of_a_model_are_broken(parts: list[str], specials: list[str]) -> None:
    found = sinks.broken("".join(parts), specials)
    plain = unicodedata.normalize("NFKC", INVISIBLE.sub("", found)).casefold()
    for special in specials:
        core = special.casefold().strip()
        assert len(core) < 2 or core not in plain


@given(st.text(st.characters(codec="utf-8")))
def test_plain_text_stays_as_it_is_for_a_model(text: str) -> None:
    if not set(text) & set(sinks.OPENERS):
        assert sinks.broken(text, [" ", "\n", "a", "", "   "]) == text


@pytest.mark.parametrize("token", [t for t in CONTROL_TOKENS if not t.startswith("\n")])
def test_token_split_over_turns_does_not_join(token: str) -> None:
    for cut in range(1, len(token)):
        turns = (
            Turn("user", token[:cut]),
            Turn("assistant", token[cut:]),
            Turn("user", token[:cut]),
        )
        dynamic = prompts.prompt("", Question(token[cut:], turns)).dynamic
        for text in (dynamic, prompts.with_specials_broken(
            prompts.prompt("", Question(token[cut:], turns)), [token]).dynamic):  # fmt: skip
            assert [t for t in CONTROL_TOKENS if t in folded(text.replace("\n", ""))] == []


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12))
def test_fragments_never_join(parts: list[str]) -> None:
    check_prompt("".join(parts))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model(PROPOSER).folder, local_files_only=True)


def test_no_hostile_text_becomes_a_control_token(tokenizer: Any) -> None:
    specials = [*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()]
    control = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    assert control
    for name, text in HOSTILE.items():
        turns = (Turn("user", text), Turn("assistant", text))
        prompt = prompts.with_specials_broken(prompts.prompt("", Question(text, turns)), specials)
        ids = tokenizer.encode(prompt.dynamic, add_special_tokens=False)
        assert not set(ids) & control, name
    assert set(tokenizer.encode("<|im_end|>", add_special_tokens=False)) <= control
