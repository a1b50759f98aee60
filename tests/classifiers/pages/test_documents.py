"""Documents that are no HTML: their text, links and language, and their limits."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from langfocus.classifiers.pages import documents
from langfocus.classifiers.pages.documents import DocumentError, kind_of, page_of, read_document
from langfocus.classifiers.pages.methods.composite import shipped

LINE = "Egun on, hau euskarazko testu bat da."
WORD = (
    "<w:document xmlns:w='w'><w:p><w:t>Egun</w:t><w:t> on</w:t></w:p><w:p>Agur</w:p></w:document>"
)
RELATED = (
    "<Relationships><Relationship TargetMode='External' Target='http://a.eus/'/></Relationships>"
)
LAUGHS = "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(12))


def pdf(content: bytes, *, pages: int = 1, page: bytes = b"", trailer: bytes = b"") -> bytes:
    kids = b" ".join(b"%d 0 R" % (10 + number) for number in range(pages))
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R/Lang(eu)>>",
        2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        4: b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
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
    end = b"trailer <</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (size, trailer, len(body))
    return body + table + end


def text_of(line: str) -> bytes:
    return b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % line.encode()


def zipped(members: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in members.items():
            package.writestr(name, text)
    return file.getvalue()


def test_a_pdf_has_text_by_page_links_and_a_language() -> None:
    pytest.importorskip("pypdfium2")
    link = b"/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a.eus/b)>>>>]"
    found = read_document(pdf(text_of(LINE), pages=2, page=link))
    assert found.parts == (LINE, LINE)
    assert (found.links, found.language, found.is_cut) == (("http://a.eus/b",), "eu", False)


def test_a_pdf_is_read_up_to_its_limit_of_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(documents, "MAX_PAGES", 3)
    found = read_document(pdf(b"", pages=9))
    assert (found.parts, found.text, found.is_cut) == (("", "", ""), "", True)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (pdf(b"")[:200], "damaged"),
        (b"%PDF-1.7\n", "damaged"),
        (
            pdf(
                b"",
                trailer=b"/Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(a)(a)]"
                % (b"x" * 32, b"y" * 32),
            ),
            "encrypted",
        ),
    ],
)
def test_an_unreadable_pdf_has_a_reason(body: bytes, reason: str) -> None:
    pytest.importorskip("pypdfium2")
    with pytest.raises(DocumentError, match=f"^{reason}$"):
        read_document(body)


def test_a_docx_has_its_paragraphs_and_its_external_links() -> None:
    members = {"word/document.xml": WORD, "word/_rels/document.xml.rels": RELATED}
    found = read_document(zipped(members))
    assert (found.kind, found.text, found.links) == ("docx", "Egun on\nAgur", ("http://a.eus/",))


def test_an_epub_has_each_chapter_once_in_reading_order() -> None:
    chapter = "<html xml:lang='eu'><head><title>x</title></head><p>{}</p></html>"
    found = read_document(
        zipped(
            {
                "META-INF/container.xml": "<c><rootfile full-path='O/c.opf'/></c>",
                "O/c.opf": "<p><item id='a' href='a.x'/><item id='b' href='b.x'/>"
                "<itemref idref='b'/><itemref idref='a'/><itemref idref='b'/></p>",
                "O/a.x": chapter.format("bi"),
                "O/b.x": chapter.format("bat"),
            }
        )
    )
    assert (found.kind, found.parts, found.language) == ("epub", ("bat", "bi"), "eu")


def test_an_odt_has_text_and_links() -> None:
    text = "<d xmlns:t='t'><t:p>Kaixo <t:a xlink:href='http://a.eus/'>mundua</t:a></t:p></d>"
    found = read_document(
        zipped({"content.xml": text.replace("xmlns:t", "xmlns:xlink='x' xmlns:t")})
    )
    assert (found.kind, found.text, found.links) == ("odt", "Kaixo mundua", ("http://a.eus/",))


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE a [<!ENTITY a 'lol'>{LAUGHS}]><a>&m;</a>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<p>" * 1_000_000,
        f"<a>{' ' * 30_000_000}</a>",
    ],
    ids=["entities", "files", "nesting", "bytes"],
)
def test_a_hostile_member_ends_at_the_limits(text: str) -> None:
    found = read_document(zipped({"word/document.xml": text}))
    assert (found.text, found.is_cut) == ("", True)


@pytest.mark.parametrize("body", [b"PK\x03\x04" * 100, zipped({"a.txt": "a"}), b"<html>", b""])
def test_other_files_are_no_documents(body: bytes) -> None:
    with pytest.raises(DocumentError):
        read_document(body)


def test_the_first_bytes_name_the_kind() -> None:
    kinds = [kind_of(body) for body in (b"\n%PDF-1.4", b"PK\x03\x04", b"<p>%PDF-1.4", b"")]
    assert kinds == ["pdf", "zip", None, None]


def test_a_document_is_identified_like_a_page() -> None:
    text = "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 60
    members = {"word/document.xml": f"<p>{text}</p>", "word/_rels/document.xml.rels": RELATED}
    page = page_of(read_document(zipped(members)), "http://a.eus/b.docx")
    assert shipped().identify(page).language == "de"
    assert (page.parser, page.links, len(page.text) <= 2_000) == ("docx", ["http://a.eus/"], True)


def test_a_scan_without_text_has_no_label() -> None:
    pytest.importorskip("pypdfium2")
    page = page_of(read_document(pdf(b"", pages=3)), "http://a.eus/b.pdf")
    label = shipped().identify(page)
    assert (label.language, label.reason) == (None, "no text")
