"""PDF files for tests."""


def pdf(
    content: bytes, *, pages: int = 1, page: bytes = b"", trailer: bytes = b"", filters: bytes = b""
) -> bytes:
    """Return a PDF in Basque with a content stream on each page.

    `page` are further entries of each page, `trailer` those of the trailer. `filters` are the
    filters that the content stream names.
    """
    kids = b" ".join(b"%d 0 R" % (10 + number) for number in range(pages))
    stream = b"/Length %d" % len(content) + (b"/Filter" + filters if filters else b"")
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R/Lang(eu)>>",
        2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        5: b"<</Title(Kaixo  mundua)>>",
        4: b"<<%s>>stream\n%s\nendstream" % (stream, content),
    }
    common = b"/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents 4 0 R"
    for number in range(pages):
        objects[10 + number] = b"<</Type/Page/Parent 2 0 R%s%s>>" % (common, page)
    body, places = b"%PDF-1.7\n", {}
    for number, text in objects.items():
        places[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    size = max(objects) + 1
    rows = b"".join(b"%010d 00000 n \n" % places.get(number, 0) for number in range(1, size))
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, rows)
    ends = b"/Root 1 0 R/Info 5 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (trailer, len(body))
    return body + table + b"trailer <</Size %d" % size + ends


def text_of(line: str) -> bytes:
    """Return the content stream of a page with a line."""
    return b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % line.encode("cp1252")
