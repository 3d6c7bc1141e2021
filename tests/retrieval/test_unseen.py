"""What a reader of the file does not see is not indexed; what cannot be read is refused by name."""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import pytest

from retrieval.errors import IngestError
from retrieval.ingest import read
from tests.retrieval.pdfs import CID_NO_MAP, pdf
from tests.retrieval.samples import source

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def texts(folder: Path, name: str, content: bytes | str) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    return [block.text for block in read(folder, source(name)).blocks]


def refused(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    with pytest.raises(IngestError) as caught:
        read(folder, source(name))
    assert f"`{name}`" in str(caught.value)
    return str(caught.value)


def word(folder: Path, body: str, name: str = "a.docx", prefix: str = "") -> bytes:
    """A DOCX whose document part is `body`."""
    path = folder / "made.docx"
    docx.Document().save(str(path))
    part = f'<?xml version="1.0"?>{prefix}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    with zipfile.ZipFile(path) as old:
        parts = {p: old.read(p) for p in old.namelist()}
    parts["word/document.xml"] = part.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for key, content in parts.items():
            new.writestr(key, content)
    return path.read_bytes()


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


SEEN = "<w:p>" + run("The fee is 5 dollars.") + "</w:p>"


@pytest.mark.parametrize(
    "hidden",
    [
        f"<w:del>{run('gone', '').replace('w:t>', 'w:delText>')}</w:del>",
        f"<w:del>{run('gone')}</w:del>",
        f"<w:moveFrom>{run('gone')}</w:moveFrom>",
        run("gone", "<w:vanish/>"),
        run("gone", "<w:webHidden/>"),
        run("gone", '<w:color w:val="FFFFFF"/>'),
        "<w:r><w:instrText>gone</w:instrText></w:r>",
        '<w:commentRangeStart w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>',
    ],
)
def test_docx_leaves_out_what_is_deleted_or_hidden(tmp_path: Path, hidden: str) -> None:
    body = f"{SEEN}<w:p>{hidden}{run('It rises in May.')}</w:p>"
    assert texts(tmp_path, "a.docx", word(tmp_path, body)) == [
        "The fee is 5 dollars.",
        "It rises in May.",
    ]


@pytest.mark.parametrize(
    "shown",
    [
        f"<w:ins>{run('Kept.')}</w:ins>",
        f"<w:moveTo>{run('Kept.')}</w:moveTo>",
        run("Kept.", '<w:vanish w:val="0"/>'),
        run("Kept.", '<w:color w:val="FFFFFF"/><w:shd w:fill="000080"/>'),
        f"<w:hyperlink>{run('Kept.')}</w:hyperlink>",
        f"<w:sdt><w:sdtContent>{run('Kept.')}</w:sdtContent></w:sdt>",
    ],
)
def test_docx_keeps_what_is_inserted_or_set_on_a_dark_ground(tmp_path: Path, shown: str) -> None:
    assert texts(tmp_path, "a.docx", word(tmp_path, f"{SEEN}<w:p>{shown}</w:p>"))[1:] == ["Kept."]


def table(inner: str) -> str:
    return f"<w:tbl><w:tr><w:tc><w:p>{run('Row')}</w:p>{inner}<w:p/></w:tc></w:tr></w:tbl>"


def test_docx_reads_nested_tables_row_by_row(tmp_path: Path) -> None:
    inner = table("").replace("Row", "Inner")
    assert texts(tmp_path, "a.docx", word(tmp_path, table(inner))) == ["Row", "Inner"]


def test_docx_with_tables_nested_without_end_is_named(tmp_path: Path) -> None:
    body = ""
    for _ in range(70):
        body = table(body)
    assert "nested deeper than 64" in refused(tmp_path, "a.docx", word(tmp_path, body))


def test_docx_with_a_document_type_is_named(tmp_path: Path) -> None:
    prefix = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    assert "declares a document type" in refused(
        tmp_path, "a.docx", word(tmp_path, SEEN, prefix=prefix)
    )


def test_zip_bomb_is_named_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("word/document.xml", b"0" * 30_000_000)
    assert "zip bomb" in refused(tmp_path, "bomb.docx", path.read_bytes())
    with zipfile.ZipFile(path, "w") as bomb:
        for number in range(10_001):
            bomb.writestr(f"{number}", b"")
    assert "10001 parts" in refused(tmp_path, "bomb.docx", path.read_bytes())


HIDDEN_HTML = [
    "<p hidden>gone</p>",
    "<p style='display: none'>gone</p>",
    "<p style='visibility:hidden'>gone</p>",
    "<span style='font-size:0px'>gone</span>",
    "<p style='color:#ffffff'>gone</p>",
    "<p style='color: white; margin: 0'>gone</p>",
    "<p class='x'>gone</p>",
    "<del>gone</del><s>gone</s>",
    "<!-- gone -->",
    "<template><p>gone</p></template>",
]


@pytest.mark.parametrize("hidden", HIDDEN_HTML)
def test_html_leaves_out_what_is_hidden(tmp_path: Path, hidden: str) -> None:
    page = f"<style>.x {{ display:none }} a:hover {{ color: white }}</style><p>Seen.</p>{hidden}"
    assert texts(tmp_path, "a.html", page) == ["Seen."]


@pytest.mark.parametrize(
    "page",
    [
        "<p>Seen.</p><p style='color:#fff;background:#000'>Kept.</p>",
        "<p>Seen.</p><div>Kept.</div>",
        "<p>Seen.</p>Kept.",
        "<p>Seen.</p><p style='font-size:0.9em'>Kept.</p>",
        "<p>Seen.</p><p style='background-color: white'>Kept.</p>",
    ],
)
def test_html_keeps_every_text_that_is_seen(tmp_path: Path, page: str) -> None:
    assert texts(tmp_path, "a.html", page) == ["Seen.", "Kept."]


def test_html_nested_without_end_is_named(tmp_path: Path) -> None:
    page = "<div>" * 3000 + "x" + "</div>" * 3000
    assert "nested" in refused(tmp_path, "a.html", page.encode())


def test_markdown_leaves_out_deletions_and_comments(tmp_path: Path) -> None:
    text = (
        "Five ~~six~~ dollars.\n\n<!-- gone -->\n\n<table><tr><td>A</td><td>B</td></tr></table>\n"
    )
    assert texts(tmp_path, "a.md", text) == ["Five dollars.", "A | B"]


PAGE = b"BT /F 12 Tf 50 700 Td (The fee is five dollars.) Tj ET\n"


@pytest.mark.parametrize(
    "hidden",
    [
        b"1 1 1 rg BT /F 12 Tf 50 600 Td (gone) Tj ET",
        b"1 g BT /F 12 Tf 50 600 Td [(go) 10 (ne)] TJ ET",
        b"0 0 0 0 k BT /F 12 Tf 50 600 Td (gone) Tj ET",
        b"BT 3 Tr /F 12 Tf 50 600 Td (gone) Tj ET",
        b"BT /F 0.5 Tf 50 600 Td (gone) Tj ET",
        b"q 1 1 1 rg BT /F 12 Tf 50 600 Td (gone) Tj ET Q",
    ],
)
def test_pdf_leaves_out_white_and_invisible_text(tmp_path: Path, hidden: bytes) -> None:
    assert texts(tmp_path, "a.pdf", pdf(PAGE + hidden)) == ["The fee is five dollars."]


@pytest.mark.parametrize(
    "shown",
    [
        b"0 0 0.5 rg 40 590 300 30 re f 1 1 1 rg BT /F 12 Tf 50 600 Td (Kept.) Tj ET",
        b"q 1 1 1 rg Q BT /F 12 Tf 50 600 Td (Kept.) Tj ET",
        b"1 1 1 rg 0 g BT /F 12 Tf 50 600 Td (Kept.) Tj ET",
    ],
)
def test_pdf_keeps_white_text_on_a_dark_ground(tmp_path: Path, shown: bytes) -> None:
    assert texts(tmp_path, "a.pdf", pdf(PAGE + shown))[1:] == ["Kept."]


def test_recognised_text_below_a_scan_is_kept(tmp_path: Path) -> None:
    layer = b"q 600 0 0 800 0 0 cm /I Do Q BT 3 Tr /F 12 Tf 50 600 Td (Recognised.) Tj ET"
    assert texts(tmp_path, "a.pdf", pdf(layer, image=True)) == ["Recognised."]


def test_font_that_names_its_characters_is_read_and_one_that_does_not_is_named(
    tmp_path: Path,
) -> None:
    codes = "".join(f"{ord(c):04x}" for c in "Thefeeisfivedollars")
    drawn = f"BT /F 12 Tf 50 700 Td <{codes}> Tj ET".encode()
    assert texts(tmp_path, "a.pdf", pdf(drawn, CID_NO_MAP, cmap=True)) == ["Thefeeisfivedollars"]
    assert "does not say which characters" in refused(tmp_path, "b.pdf", pdf(drawn, CID_NO_MAP))


def test_characters_without_a_meaning_are_a_loss(tmp_path: Path) -> None:
    codes = "".join(f"{n:04x}" for n in range(0x41, 0x5B))
    cmap = b"<0041> <007a> <0041>"
    made = pdf(f"BT /F 12 Tf 50 700 Td <{codes}> Tj ET".encode(), CID_NO_MAP, cmap=True)
    assert cmap in made
    private = made.replace(cmap, b"<0041> <007a> <e041>")
    assert "letters could be read" in refused(tmp_path, "a.pdf", private)


def test_page_without_text_is_recognised_where_tesseract_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = pdf(b"q 600 0 0 800 0 0 cm /I Do Q", image=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "page 1 holds no text; install tesseract" in refused(tmp_path, "a.pdf", scan)
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\n/bin/cat >/dev/null\necho 'The fee is five dollars.'\n")
    program.chmod(0o755)
    assert texts(tmp_path, "a.pdf", scan) == ["The fee is five dollars."]
    program.write_text("#!/bin/sh\nexit 3\n")
    assert "tesseract ended with 3" in refused(tmp_path, "a.pdf", scan)


def test_file_that_is_too_large_is_named_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as large:
        large.truncate(300_000_000)
    with pytest.raises(IngestError, match="larger than 67108864 bytes"):
        read(tmp_path, source("large.txt"))


def test_text_has_paragraphs_and_underlined_headings(tmp_path: Path) -> None:
    text = (
        "Fees\n====\nA wire costs\ntwenty dollars.\n\nA card is free.\n\nLoans\n-----\nFrom 5 %.\n"
    )
    (tmp_path / "a.txt").write_text(text)
    found = read(tmp_path, source("a.txt")).blocks
    assert [(b.text, b.headings) for b in found] == [
        ("A wire costs twenty dollars.", ("Fees",)),
        ("A card is free.", ("Fees",)),
        ("From 5 %.", ("Fees", "Loans")),
    ]


def test_faq_rows_are_blocks_below_their_question(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        'id,Question,Answer\n1,"What, now?",Call us.\n2,"为什么？",因为。\n'
    )
    found = read(tmp_path, source("a.csv")).blocks
    assert [(b.text, b.headings) for b in found] == [
        ("Call us.", ("What, now?",)),
        ("因为。", ("为什么？",)),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a,b\n1,2\n", "no single column `question`"),
        (b"question,answer\nx\n", "line 2: 1 cells"),
        (b"question,answer\nx,\n", "line 2: question or answer is empty"),
        (b'question,answer\nx,"y\n', "not CSV"),
    ],
)
def test_faq_with_a_fault_names_the_line(tmp_path: Path, content: bytes, problem: str) -> None:
    assert problem in refused(tmp_path, "a.csv", content)


def test_text_with_zero_bytes_is_named(tmp_path: Path) -> None:
    assert "zero bytes" in refused(tmp_path, "a.txt", b"a\0b")


def test_head_of_a_paragraph_and_an_opening_sentence_lead_what_is_nested(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Rules\n\n(a) *Fees.* A fee is due. It is charged if:\n\n  - (1) *Late.* It is late; or\n\n"
        "  - (2) The account is closed.\n\n(b) *Rates.* None.\n"
    )
    found = read(tmp_path, source("a.md")).blocks
    assert [(b.headings[1:], b.opening) for b in found] == [
        (("(a) Fees.",), ""),
        (("(a) Fees.", "(1) Late."), "It is charged if:"),
        (("(a) Fees.",), "It is charged if:"),
        (("(b) Rates.",), ""),
    ]
