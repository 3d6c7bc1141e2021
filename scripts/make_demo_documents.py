"""Write the two demo documents that are not plain text: one PDF and one DOCX, the same every time.

Run it after an edit of the texts below: `python scripts/make_demo_documents.py`. Both files are
kept in the repository, so nothing else needs this script.
"""

import io
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import docx

DOCUMENTS = Path(__file__).parent.parent / "configs" / "demo" / "documents"
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)

# A block is a kind (title, heading, item or text) and its text.
Block = tuple[str, str]

ELECTRONIC_TRANSFERS: Sequence[Block] = (
    ("title", "Electronic transfers: your rights and ours"),
    (
        "text",
        "This notice sums up the agreement on electronic transfers for personal accounts. It "
        "covers debit card purchases, ATM withdrawals, direct deposits, automatic debits, "
        "external transfers and transfers in the app. It does not cover wires and checks.",
    ),
    ("heading", "Records of your transfers"),
    (
        "text",
        "You can get a receipt for every transfer of more than $15 at an ATM or a terminal. A "
        "statement is made for every month in which there was a transfer, and at least once a "
        "quarter. For a direct deposit that comes at least every 60 days, the app shows whether "
        "it has arrived, or you can ask at 1-800-555-0116.",
    ),
    ("heading", "Stopping an automatic debit"),
    (
        "text",
        "If you have told us in advance to make regular payments out of your account, you can stop "
        "any of them. Tell us at least three business days before the payment, by telephone, in "
        "the app or in writing. We may ask for a written confirmation within 14 days. The fee for "
        "a stop payment order is $18.00. If you order a stop in time and we pay nevertheless, we "
        "are liable for your losses.",
    ),
    (
        "text",
        "If a regular payment varies in amount, the company that you pay should tell you at least "
        "ten days before each payment when it will be made and how much it will be.",
    ),
    ("heading", "If you find an error"),
    (
        "text",
        "Tell us as soon as you can, and no later than 60 days after we sent the first statement "
        "on which the error appeared. Tell us your name and the last four digits of the account, "
        "what the error is and why you believe it is one, and the amount. Call 1-800-555-0142, "
        "use the app, or write to Harbor Light Disputes, 12 Pilot Lane, Port Ellery, ME 04099.",
    ),
    (
        "text",
        "We look into it within 10 business days, or 20 if the account is less than 30 days old. "
        "If we need more time, we credit the account for the amount that you think is wrong and "
        "may take up to 45 days, or 90 for new accounts, point-of-sale purchases and transfers "
        "that began outside the United States. We tell you the result within three business days "
        "after we have finished.",
    ),
    ("heading", "Your liability"),
    (
        "text",
        "Tell us at once if your card or PIN is lost or stolen. If you tell us within two business "
        "days after you learn of it, you can lose no more than $50. If you do not, and we could "
        "have stopped the use, you can lose as much as $500. If a statement shows transfers that "
        "you did not make and you do not tell us within 60 days after it was sent, you may not get "
        "back what was taken after the 60 days.",
    ),
    ("heading", "Our liability"),
    (
        "text",
        "If we do not complete a transfer on time or in the right amount, we are liable for your "
        "losses. There are exceptions: the account did not hold enough money through no fault of "
        "ours, the ATM had no cash, the terminal was plainly out of order, or a flood, fire or "
        "the like stopped us although we had taken reasonable care.",
    ),
    ("heading", "Privacy"),
    (
        "text",
        "We tell others about your transfers only to complete them, to confirm that an account "
        "exists and is in order, to obey a court or an agency, or with your written permission.",
    ),
)

MORTGAGE_PAPERS: Sequence[Block] = (
    ("title", "Papers for a mortgage application"),
    (
        "text",
        "The same papers are needed for the 30-Year Fixed Mortgage, the 15-Year Fixed Mortgage, "
        "the 5/1 Adjustable-Rate Mortgage and the First Harbor Home Mortgage. Upload them under "
        "Loans, then My application, or bring them to a branch. Every borrower needs an own set.",
    ),
    ("heading", "Identity"),
    ("item", "a photo ID that has not expired"),
    ("item", "the Social Security number or taxpayer number"),
    ("item", "addresses of the last two years, with the landlord's name if you rented"),
    ("heading", "Income"),
    ("item", "pay stubs of the last 30 days"),
    ("item", "W-2 forms of the last two years"),
    ("item", "for the self-employed: two full tax returns and a profit and loss statement"),
    ("item", "for pensions and benefits: the letter that awards them"),
    ("item", "child support or alimony only if you want it to be counted"),
    ("heading", "Savings and debts"),
    ("item", "all pages of the last two statements of every account that pays for the home"),
    ("item", "an explanation of every deposit above $1,000 that is not pay"),
    ("item", "for a gift: a letter of the giver that nothing has to be paid back"),
    ("item", "the latest statements of student, car and other loans"),
    ("heading", "The home"),
    ("item", "the signed purchase contract, with all later changes"),
    ("item", "the name of the title company or lawyer"),
    ("item", "an offer of homeowner's insurance, at the latest two weeks before closing"),
    ("item", "for a condominium: the yearly budget of the association"),
    ("heading", "What happens next"),
    (
        "text",
        "Within three business days after the application you get an estimate of all costs. The "
        "application fee of $395.00 is due only after that, and it is waived for the First Harbor "
        "Home Mortgage. The appraisal takes about ten days. An underwriter may ask for more; "
        "please answer within five business days so that the rate lock of 45 days is enough.",
    ),
    (
        "text",
        "Do not change jobs, open a credit card or buy a car between application and closing "
        "without talking to us. We look at the credit report once more on the day before closing.",
    ),
    ("heading", "How long we keep papers"),
    (
        "text",
        "Papers of an application that did not become a loan are kept for 25 months and then "
        "destroyed. Papers of a loan are kept until seven years after it was paid off.",
    ),
)

# Points on a US letter page: font, size, line height, space above, characters a line.
STYLES = {
    "title": ("F2", 18, 22, 0, 60),
    "heading": ("F2", 13, 16, 12, 80),
    "item": ("F1", 10, 13, 2, 100),
    "text": ("F1", 10, 13, 5, 100),
}
TOP, LEFT, BOTTOM = 730, 60, 60


def main() -> None:
    """Write both files under `configs/demo/documents`."""
    pdf = DOCUMENTS / "disputes" / "electronic-transfers-notice.pdf"
    pdf.write_bytes(pdf_bytes(ELECTRONIC_TRANSFERS))
    word = DOCUMENTS / "loans" / "mortgage-papers.docx"
    word.write_bytes(docx_bytes(MORTGAGE_PAPERS))


def docx_bytes(blocks: Sequence[Block]) -> bytes:
    """Return a Word file with headings and lists, without the time of writing in it."""
    document = docx.Document()
    styles = {"title": "Title", "heading": "Heading 1", "item": "List Bullet", "text": "Normal"}
    for kind, text in blocks:
        document.add_paragraph(text, style=styles[kind])
    document.core_properties.author = "Harbor Light Credit Union"
    document.core_properties.title = blocks[0][1]
    document.core_properties.created = WRITTEN
    document.core_properties.modified = WRITTEN
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_times(buffer.getvalue())


def pdf_bytes(blocks: Sequence[Block]) -> bytes:
    """Return a PDF 1.4 file with a text layer in the built-in Helvetica fonts (ASCII only)."""
    pages = [page.encode("ascii") for page in _pages(blocks)]
    kids = " ".join(f"{5 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    for index, page in enumerate(pages):
        objects.append(_page_object(6 + 2 * index))
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(page), page))
    return _pdf_file(objects)


def _page_object(content: int) -> bytes:
    fonts = "<< /Font << /F1 3 0 R /F2 4 0 R >> >>"
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {fonts} "
        f"/Contents {content} 0 R >>"
    ).encode("ascii")


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    out += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(out)


def _pages(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield one content stream per page; a heading never ends a page."""
    lines: list[str] = []
    height = TOP
    for kind, text in blocks:
        font, size, leading, above, width = STYLES[kind]
        wrapped = textwrap.wrap(f"- {text}" if kind == "item" else text, width)
        needed = above + leading * (len(wrapped) + (2 if kind == "heading" else 0))
        if height - needed < BOTTOM:
            yield "\n".join(lines)
            lines, height = [], TOP
        height -= above
        for line in wrapped:
            height -= leading
            lines.append(f"BT /{font} {size} Tf {LEFT} {height} Td ({_escaped(line)}) Tj ET")
    yield "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _without_times(archive: bytes) -> bytes:
    """Return the zip archive with all members dated alike: equal texts give equal bytes."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            member = zipfile.ZipInfo(name, WRITTEN.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(member, source.read(name))
    return out.getvalue()


if __name__ == "__main__":
    main()
