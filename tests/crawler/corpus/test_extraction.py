"""What is read from a page: the title, the paragraphs of its main text, their languages."""

import pytest

from langfocus.crawler.corpus import blocks, extraction
from langfocus.crawler.corpus.building import page_starts
from langfocus.crawler.corpus.extraction import (
    EXTRACTORS,
    Metadata,
    differing_languages,
    main_text_of,
)
from langfocus.crawler.corpus.texts import Paragraph
from tests.support.pdf import pdf
from tests.support.smallweb import SENTENCES

GERMAN, ENGLISH = SENTENCES["de"] * 2, SENTENCES["en"] * 2
PAGE = f"""<html><head><title>T</title></head><body>
<nav><ul><li><a href=/>Start</a></li><li><a href=/x>Kontakt</a></li></ul></nav>
<main><article><h1>Überschrift der Seite</h1><p>{GERMAN}</p><p>{GERMAN[20:]}</p></article></main>
<footer><a href=/i>Impressum</a></footer><script>var x = "nichts";</script></body></html>"""


def paragraphs_of(html: bytes, kind: str | None, name: str = "combined") -> list[str]:
    return main_text_of(html, kind, name).paragraphs


@pytest.mark.parametrize("name", EXTRACTORS)
def test_the_main_text_is_found_without_menu_and_footer(name: str) -> None:
    found = main_text_of(PAGE.encode(), "text/html; charset=utf-8", name)
    assert found.title == "T"
    assert GERMAN in found.paragraphs
    assert not {"Start", "Kontakt", "Impressum"} & {*found.paragraphs}
    assert "nichts" not in " ".join(found.paragraphs)


def test_links_of_a_sentence_stay_and_a_row_of_links_goes() -> None:
    linked = GERMAN[:20] + '<a href="/b">Fußball</a>' + GERMAN[20:]
    page = f"<body><p>{linked}</p><p>{GERMAN[9:]}</p><a href=/p>PDF</a> <a href=/x>Mail</a>"
    found = paragraphs_of(page.encode(), "text/html; charset=utf-8")
    assert found == [f"{GERMAN[:20]}Fußball{GERMAN[20:]}".strip(), GERMAN[9:].strip()]


def test_a_page_of_links_has_none_of_them_in_its_text() -> None:
    rows = "".join(f"<li><a href=/{n}>Lampe {n}</a></li>" for n in range(9))
    page = f"<body><div>Start | Kontakt</div><p>Wort</p><ul>{rows}</ul><a href=/p>PDF</a></body>"
    assert paragraphs_of(page.encode(), "text/html; charset=utf-8") in ([], ["Wort"])


@pytest.mark.parametrize("page", ["", "<p>", "<html><body></body></html>", "<p>^ | * </p>"])
@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_page_without_a_main_text_has_no_paragraph(name: str, page: str) -> None:
    assert paragraphs_of(page.encode(), None, name) == []


def test_a_page_in_an_old_encoding_and_a_plain_text_have_their_letters() -> None:
    html = PAGE.encode("iso-8859-1")
    assert "Überschrift der Seite" in paragraphs_of(html, "text/html; charset=latin1")
    plain = b"Erste  Zeile\r\n\r\nzweite <b>"
    assert paragraphs_of(plain, "text/plain") == ["Erste Zeile", "zweite <b>"]


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize("sign", "\u00ad\u200b\u200c\u2060\ufeff")
def test_signs_that_nobody_sees_are_no_part_of_a_text(name: str, sign: str) -> None:
    found = main_text_of(PAGE.replace("e", f"e{sign}").encode(), "text/html; charset=utf-8", name)
    assert GERMAN in found.paragraphs
    assert sign not in f"{found.title} {found.paragraphs}"


def test_a_sign_that_keeps_letters_apart_stays_in_scripts_that_use_it() -> None:
    persian = "کتاب\u200cها و می\u200cخواهیم"  # noqa: RUF001  # Persian
    assert paragraphs_of(f"{persian}\u200b".encode(), "text/plain") == [persian]


@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_text_that_was_encoded_twice_is_exported_as_it_was_meant(name: str) -> None:
    found = main_text_of(PAGE.encode().decode("latin-1").encode(), "text/html", name)
    assert GERMAN in found.paragraphs


def test_a_title_with_a_no_break_space_in_a_letter_encoded_twice_is_repaired() -> None:
    title = "jak się ją leczy"
    page = PAGE.replace("<title>T<", f"<title>{title}<").encode().decode("latin-1").encode()
    assert main_text_of(page, "text/html; charset=utf-8").title == title


def test_a_title_has_single_spaces_and_300_characters_at_most() -> None:
    for title, expected in [("  A \n B ", "A B"), ("x" * 400, "x" * 300), ("", "")]:
        page = PAGE.replace("<title>T<", f"<title>{title}<")
        assert main_text_of(page.encode(), "text/html; charset=utf-8").title == expected
    assert main_text_of(b"<p>text", None).title == ""


@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_page_that_would_take_a_parser_too_long_ends_soon(name: str) -> None:
    deep = b"<p>" + b"<b><a>" * 100_000 + b"text"
    assert isinstance(paragraphs_of(deep, "text/html", name), list)


def test_paragraphs_in_another_language_are_told_from_those_of_the_page() -> None:
    page = [GERMAN, ENGLISH, "Home", "Short English line", SENTENCES["fr"] * 2]
    assert differing_languages(page, "de") == [None, "en", None, None, "fr"]
    assert differing_languages(page, None) == [None] * 5
    assert differing_languages(page, "tlh") == [None] * 5


ARTICLE = PAGE.replace("<head>", '<head><meta property="og:type" content="article">')


@pytest.mark.parametrize(("page", "is_kept"), [(ARTICLE, True), (PAGE, False)])
def test_only_of_an_article_trafilaturas_text_may_be_the_main_text(
    monkeypatch: pytest.MonkeyPatch, page: str, *, is_kept: bool
) -> None:
    monkeypatch.setattr(blocks, "is_better", lambda *_: True)
    monkeypatch.setattr(extraction, "_extracted", lambda *_, **__: "Nur dieser Satz steht im Text.")
    assert (EXTRACTORS.load("combined")(page, False) == "Nur dieser Satz steht im Text.") is is_kept


def test_a_fragment_and_a_text_in_linked_data_alone_are_main_texts() -> None:
    assert paragraphs_of(f"<p>{GERMAN}".encode(), "text/html; charset=utf-8") == [GERMAN.strip()]
    data = f'<script type="application/ld+json">{{"articleBody": "{GERMAN * 4}"}}</script>'
    page = f"<html><head>{data}</head><body></body></html>".encode()
    assert GERMAN.strip() in " ".join(paragraphs_of(page, "text/html; charset=utf-8"))


def test_a_long_page_that_is_no_article_is_not_read_by_trafilatura(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    def extracted(html: str, *_: object, **__: object) -> str:
        calls.append(html)
        return ""

    monkeypatch.setattr(extraction, "_extracted", extracted)
    monkeypatch.setattr(extraction, "_SHORT", len(PAGE) + 1)
    for page in (PAGE, PAGE + "<p>x" * 9, ARTICLE + "<p>x" * 9):
        EXTRACTORS.load("combined")(page, False)
    assert calls == [PAGE, ARTICLE + "<p>x" * 9]


def test_scripts_before_a_text_do_not_push_it_beyond_the_limit() -> None:
    script = (
        f"<script>{'x = 1;' * 200_000}</script><style>{'a{}' * 100_000}</style><!-- {'y' * 999}"
    )
    page = PAGE.replace("<main>", f"{script} --><main>")
    assert GERMAN in paragraphs_of(page.encode(), "text/html; charset=utf-8")


def test_a_script_that_nothing_closes_hides_the_rest_as_in_browsers() -> None:
    page = f"<body><p>{GERMAN}</p><script>" + "<script><!--" * 50_000
    assert paragraphs_of(page.encode(), "text/html; charset=utf-8") == [GERMAN.strip()]


HEAD = """<head><title>T</title><meta name=author content="Ana Rial">
<meta property=og:site_name content="Praza"><meta name=description content="De que vai">
<meta property=article:published_time content="2024-05-06T10:00:00Z">
<meta property=article:section content=Cultura>
</head>"""
LICENSE = '<a rel=license href="https://creativecommons.org/licenses/by-sa/4.0/">CC</a>'


def test_what_a_page_says_about_itself_is_kept() -> None:
    page = PAGE.replace("<head><title>T</title></head>", HEAD).replace("<footer>", LICENSE)
    found = main_text_of(page.encode(), "text/html; charset=utf-8").metadata
    assert found == Metadata(
        author="Ana Rial",
        published="2024-05-06",
        site="Praza",
        license="CC BY-SA 4.0",
        description="De que vai",
        categories=["Cultura"],
    )
    assert main_text_of(PAGE.encode(), "text/html").metadata == Metadata()
    assert main_text_of(page.encode(), "text/html", has_metadata=False).metadata == Metadata()


@pytest.mark.parametrize("name", ["combined", "trafilatura"])
def test_markup_keeps_lists_and_headings_as_markdown(name: str) -> None:
    listed = "<ul><li>Erster Punkt der Liste</li><li>Zweiter Punkt der Liste</li></ul></article>"
    page = PAGE.replace("</article>", listed).encode()
    found = main_text_of(page, "text/html; charset=utf-8", name, has_markup=True).paragraphs
    assert {"# Überschrift der Seite", "- Erster Punkt der Liste"} <= {*found}


def test_a_page_is_parsed_once_by_trafilatura_and_a_second_reading_is_the_same() -> None:
    extraction._tree.cache_clear()
    first = main_text_of(PAGE.encode(), "text/html; charset=utf-8", "trafilatura")
    assert extraction._tree.cache_info().misses == 1
    assert main_text_of(PAGE.encode(), "text/html; charset=utf-8", "trafilatura") == first
    assert extraction._tree.cache_info().misses == 1
    assert first.paragraphs


def test_the_text_of_a_pdf_has_its_paragraphs_with_their_pages() -> None:
    pytest.importorskip("pypdfium2")
    lines = b"BT /F 12 Tf 14 TL 50 700 Td (Egun on,) Tj T* (hau da.) Tj T* (agur) Tj ET"
    found = main_text_of(pdf(lines, pages=2), "application/pdf")
    assert (found.title, found.pages) == ("Kaixo mundua", [1, 1, 2, 2])
    assert found.paragraphs == ["Egun on, hau da.", "agur"] * 2


def test_pages_begin_at_their_place_in_the_text() -> None:
    pages = [1, 1, 4]
    text = [Paragraph(line, None, 1, page) for line, page in zip("abc", pages, strict=True)]
    assert page_starts(text) == [0, 4, 4, 4]
    assert page_starts([Paragraph("a", None, 1)]) is None
