"""Ingest: what each format gives, with its places, and what is refused by name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import docx
import pytest

from retrieval.errors import IngestError
from retrieval.ingest import read
from tests.models import ROOT
from tests.retrieval.samples import source

DEMO = ROOT / "configs/demo"


def blocks(folder: Path, file: str) -> list[tuple[str, tuple[str, ...], int, int | None]]:
    found = read(folder, source(file)).blocks
    return [(b.text, b.headings, b.paragraph, b.page) for b in found]


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


MARKDOWN = """\
# Fees

In force from *January*
2026, see [here](https://example.org).

## Cards

- A new card is free.
- A second one costs $7.50.

| What | Fee |
|------|-----|
| Wire | **$20** |

### Abroad

One percent.

## Loans

```
40 USD
```
"""


def test_markdown_keeps_headings_items_and_rows(tmp_path: Path) -> None:
    assert blocks(tmp_path, write(tmp_path, "fees.md", MARKDOWN)) == [
        ("In force from January 2026, see here.", ("Fees",), 1, None),
        ("A new card is free.", ("Fees", "Cards"), 2, None),
        ("A second one costs $7.50.", ("Fees", "Cards"), 3, None),
        ("What | Fee", ("Fees", "Cards"), 4, None),
        ("Wire | $20", ("Fees", "Cards"), 5, None),
        ("One percent.", ("Fees", "Cards", "Abroad"), 6, None),
        ("40 USD", ("Fees", "Loans"), 7, None),
    ]


HTML = """\
<!DOCTYPE html><html><head><title>T</title><style>p {color: red}</style></head><body>
<nav><ul><li>Menu</li></ul></nav>
<h1>Disputes</h1><p>You have <b>60</b> days.<br>Not more.</p>
<script>alert("no")</script>
<h2>How</h2><ul><li>Call us<ul><li>by phone</li></ul></li><li><p>Write</p></li></ul>
<table><tr><th>Step</th><th>Days</th></tr><tr><td><p>Review</p></td><td>10</td></tr></table>
</body></html>
"""


def test_html_gives_each_text_once_without_menus_and_scripts(tmp_path: Path) -> None:
    assert blocks(tmp_path, write(tmp_path, "disputes.html", HTML)) == [
        ("You have 60 days. Not more.", ("Disputes",), 1, None),
        ("Call us", ("Disputes", "How"), 2, None),
        ("by phone", ("Disputes", "How"), 3, None),
        ("Write", ("Disputes", "How"), 4, None),
        ("Step | Days", ("Disputes", "How"), 5, None),
        ("Review | 10", ("Disputes", "How"), 6, None),
    ]


def test_docx_keeps_title_headings_and_rows(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Loans", 0)
    document.add_heading("Rates", 1)
    document.add_paragraph("The rate is 5.9 percent.")
    document.add_heading("Papers", 2)
    document.add_paragraph("A photo ID", style="List Bullet")
    document.add_heading("Fees", 1)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Late", "$30"
    document.save(str(tmp_path / "loans.docx"))
    assert blocks(tmp_path, "loans.docx") == [
        ("The rate is 5.9 percent.", ("Loans", "Rates"), 1, None),
        ("A photo ID", ("Loans", "Rates", "Papers"), 2, None),
        ("Late | $30", ("Loans", "Fees"), 3, None),
    ]


def test_pdf_finds_headings_by_size_and_counts_pages() -> None:
    found = blocks(DEMO, "documents/disputes/electronic-transfers-notice.pdf")
    title = "Electronic transfers: your rights and ours"
    assert [b[1] for b in found[:3]] == [
        (title,),
        (title, "Records of your transfers"),
        (title, "Stopping an automatic debit"),
    ]
    assert [b[2] for b in found] == list(range(1, len(found) + 1))
    assert {b[3] for b in found} <= {1, 2}
    assert "no later than 60 days" in found[3][0]


@pytest.mark.parametrize(
    "path", sorted(p for p in (DEMO / "documents").rglob("*") if p.is_file()), ids=lambda p: p.name
)
def test_every_demo_document_is_read(path: Path) -> None:
    document = read(DEMO, source(path.relative_to(DEMO).as_posix()))
    assert document.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert all(block.headings for block in document.blocks)
    assert all(block.text == " ".join(block.text.split()) for block in document.blocks)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.md", b"", "no text was found"),
        ("a.md", b"# Only a heading\n", "no text was found"),
        ("a.html", b"<html><body></body></html>", "no text was found"),
        ("a.md", b"caf\xe9", "not UTF-8 at byte 3"),
        ("a.html", b"\xff\xfe<p>x</p>", "not UTF-8 at byte 0"),
        ("a.pdf", b"%PDF-1.7 nonsense", "not a readable PDF"),
        ("a.pdf", b"", "not a readable PDF"),
        ("a.docx", b"PK\x03\x04 nonsense", "not a readable DOCX"),
        ("a.docx", b"", "not a readable DOCX"),
        ("a.xls", b"x", "unknown kind"),
    ],
)
def test_unusable_file_is_named(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestError, match=problem) as caught:
        read(tmp_path, source(name))
    assert f"`{name}`" in str(caught.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"cannot be read.*documents\.yaml"):
        read(tmp_path, source("gone.md"))


def test_page_without_text_is_named(tmp_path: Path) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    writer.write(str(tmp_path / "scan.pdf"))
    with pytest.raises(IngestError, match="page 1 holds no text"):
        read(tmp_path, source("scan.pdf"))
