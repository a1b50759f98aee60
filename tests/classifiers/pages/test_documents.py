"""Documents that are no HTML: their text, links and language, and their limits."""

import io
import zipfile
import zlib
from collections.abc import Mapping

import pytest

from langfocus.classifiers.pages import documents
from langfocus.classifiers.pages.documents import Document, parse_document, read_document
from langfocus.classifiers.pages.parse import ParsedPage
from tests.support.pdf import pdf, text_of

LINE = "Egun on, hau euskarazko testu bat da."
WORD = (
    "<w:document xmlns:w='w'><w:p><w:t>Egun</w:t><w:tab/><w:t>on</w:t></w:p>"
    "<w:p>Agur<w:instrText>PAGE</w:instrText></w:p></w:document>"
)
RELATED = (
    "<Relationships><Relationship TargetMode='External' Target='http://a.eus/'/>"
    "<Relationship Target='http://a.eus/style'/></Relationships>"
)
CORE = "<c><dc:title xmlns:dc='d'>Agurra</dc:title></c>"
LAUGHS = "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(12))
DOCX, RELATIONS = "word/document.xml", "word/_rels/document.xml.rels"


def zipped(members: Mapping[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as package:
        for name, text in members.items():
            package.writestr(name, text)
    return file.getvalue()


def epub(**chapters: str) -> bytes:
    items = "".join(f"<item id='{name}' href='{name}.x'/>" for name in chapters)
    order = "".join(f"<itemref idref='{name}'/>" for name in (*reversed(chapters), *chapters))
    about = "<dc:title xmlns:dc='d'>Bi</dc:title><dc:language xmlns:dc='d'>eu</dc:language>"
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<c><rootfile full-path='O/c.opf'/></c>",
            "O/c.opf": f"<package>{about}{items}{order}</package>",
            **{f"O/{name}.x": text for name, text in chapters.items()},
        }
    )


def read(body: bytes) -> Document:
    found = read_document(body)
    assert found is not None
    return found


def parsed(body: bytes) -> ParsedPage:
    found = parse_document(body, "http://a.eus/b/c.pdf")
    assert found is not None
    return found


def test_a_pdf_has_text_by_page_links_title_and_a_language() -> None:
    pytest.importorskip("pypdfium2")
    link = b"/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a.eus/b)>>>>]"
    found = read(pdf(text_of(LINE), pages=2, page=link))
    assert found.parts == (LINE, LINE)
    assert (found.links, found.language, found.is_cut) == (("http://a.eus/b",), "eu", False)
    assert (found.title, found.fault) == ("Kaixo mundua", "")


def test_a_pdf_is_read_up_to_its_limit_of_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(documents, "FEW_PAGES", 3)
    scan = parsed(pdf(b"", pages=9))
    assert (scan.text, scan.document, scan.is_cut) == ("", "no_text", True)
    assert read(pdf(text_of(LINE), pages=9)).parts == (LINE,) * 9


ENCRYPTED = b"/Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(a)(a)]"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (pdf(b"")[:200], "damaged"),
        (b"%PDF-1.7\n", "damaged"),
        (pdf(b"", trailer=ENCRYPTED % (b"x" * 32, b"y" * 32)), "encrypted"),
        (pdf(b"").replace(b"/Kids[10 0 R]", b"/Kids[ 2 0 R]"), "no_text"),
        (pdf(b"").replace(b"/Parent 2 0 R", b"/Parent 9 0 R"), "no_text"),
        (pdf(b"").replace(b"/Count 1", b"/Count 2147483647"), "no_text"),
        (pdf(zlib.compress(b" " * 10_000), filters=b"/FlateDecode"), "no_text"),
        (b"PK\x03\x04" * 100, "damaged"),
        (zipped({DOCX: WORD})[:60], "damaged"),
        (zipped({DOCX: f"<!DOCTYPE a [<!ENTITY a 'lol'>{LAUGHS}]><a>&m;</a>"}), "damaged"),
        (
            zipped({DOCX: "<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]><a>&x;</a>"}),
            "damaged",
        ),
        (zipped({DOCX: "<p>" * 1_000_000}), "damaged"),
        (zipped({DOCX: f"<a>{' ' * 30_000_000}</a>"}), "damaged"),
        (zipped({DOCX: f"<a>{' ' * 1_000_000}</a>"}, zipfile.ZIP_BZIP2), "damaged"),
        (zipped({DOCX: "<a href='http://a.eus/'/>"}), "no_text"),
        (zipped({DOCX: "<a/>", RELATIONS: "<Relationship/>" * 20_000}), "damaged"),
    ],
)
def test_an_unreadable_document_has_a_fault(body: bytes, fault: str) -> None:
    if body.startswith(b"%"):
        pytest.importorskip("pypdfium2")
    page = parsed(body)
    assert (page.text, page.document, page.declarations) == ("", fault, ())


def test_a_docx_has_its_paragraphs_its_title_and_its_external_links() -> None:
    found = read(zipped({DOCX: WORD, RELATIONS: RELATED, "docProps/core.xml": CORE}))
    assert (found.kind, found.parts, found.links) == (
        "docx",
        ("Egun on\nAgur",),
        ("http://a.eus/",),
    )
    assert (found.title, found.is_cut) == ("Agurra", False)


def test_an_epub_has_each_chapter_once_in_reading_order() -> None:
    page = "<html><head><title>x</title></head><p>{}<a href='{}'>&nbsp;!</a></p></html>"
    body = epub(a=page.format("bi", "b.x"), b=page.format("b&eacute;t", "http://a.eus/"))
    found = read(body)
    assert (found.kind, found.parts, found.title, found.language) == (
        "epub",
        ("bét !", "bi !"),
        "Bi",
        "eu",
    )
    assert parsed(body).links == ["http://a.eus/"]


def test_an_odt_has_text_and_links() -> None:
    text = "<d xmlns:t='t' xmlns:xlink='x'><t:p>Kaixo<t:s/><t:a xlink:href='http://a.eus/'>mundua"
    found = read(zipped({"content.xml": f"{text}</t:a></t:p></d>", "meta.xml": CORE}))
    assert (found.kind, found.parts, found.links) == ("odt", ("Kaixo mundua",), ("http://a.eus/",))
    assert found.title == "Agurra"


def test_a_damaged_document_keeps_the_text_before_the_damage() -> None:
    found = read(zipped({DOCX: "<d><p>Egun on</p><p>Agur</d>"}))
    assert (found.parts, found.is_cut, found.fault) == (("Egun on",), True, "")


@pytest.mark.parametrize("body", [zipped({"a.txt": "a"}), b"<p>%PDF-1.4", b""])
def test_other_files_are_no_documents(body: bytes) -> None:
    assert read_document(body) is None


def test_a_long_document_is_sampled_like_a_page() -> None:
    text = " ".join(map(str, range(9_000)))
    page = parsed(zipped({DOCX: f"<p>{text}</p>", RELATIONS: RELATED}))
    assert (page.parser, page.links, len(page.text) <= 2_000) == ("docx", ["http://a.eus/"], True)
    assert {"1", "7904"} <= {*page.text.split()}
