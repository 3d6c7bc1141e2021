"""Small PDF files made by hand: one page, one font, any content stream."""

from __future__ import annotations

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
CID_NO_MAP = (
    b"<</Type/Font/Subtype/Type0/BaseFont/Odd/Encoding/Identity-H/DescendantFonts["
    b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Odd/CIDSystemInfo"
    b"<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]>>"
)
TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
    b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
    b"1 beginbfrange <0041> <007a> <0041> endbfrange endcmap end end"
)
IMAGE = (
    b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"
    b"/Length 1>>stream\n\x00\nendstream"
)


def pdf(
    content: bytes, font: bytes = HELVETICA, *, image: bool = False, cmap: bool = False
) -> bytes:
    """The bytes of a PDF whose only page draws `content` with font `/F`, image `/I`."""
    if cmap:
        font = font[:-2] + b"/ToUnicode 7 0 R>>"
    pictures = b"/XObject<</I 6 0 R>>" if image else b""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>" + pictures + b">>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        font,
        IMAGE,
        b"<</Length %d>>stream\n%s\nendstream" % (len(TO_UNICODE), TO_UNICODE),
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        len(out),
    )
    return out + head + table + trailer
