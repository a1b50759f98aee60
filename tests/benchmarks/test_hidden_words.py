"""The judge of words that HTML does not hold knows its web, and counts what is missing."""

from collections import Counter

import pytest

from benchmarks.hidden_web import LANGUAGES, PDF_SHARE, SHELL_SHARE, SHELLS, HiddenWeb
from benchmarks.hidden_words import collected, lost, reachable, seen_by_browser
from langfocus.classifiers.pages.parse import parse_page

WEB = HiddenWeb(
    400,
    {lang: [f"Frase {n} {lang} dunha proba moi pequena." for n in range(60)] for lang in LANGUAGES},
)
GALICIAN = WEB.of("gl")
TEXTS = {page.url: "\n".join(page.paragraphs) for page in GALICIAN}


def test_nine_pages_in_a_hundred_are_empty_and_one_is_a_pdf() -> None:
    for lang, share in LANGUAGES.items():
        kinds = Counter("shell" if page.is_shell else page.kind for page in WEB.of(lang))
        assert kinds.total() == round(400 * share)
        assert kinds["shell"] == round(SHELL_SHARE * kinds.total())
        assert kinds["pdf"] == max(1, round(PDF_SHARE * kinds.total()))


def test_empty_pages_are_told_from_others_by_their_html() -> None:
    for page in GALICIAN:
        if page.kind != "pdf":
            body = WEB.respond(page.url).body
            assert parse_page(body, content_type="text/html", url=page.url).needs_browser == (
                page.is_shell
            )


def test_scripts_and_data_are_those_of_their_page() -> None:
    shell = next(page for page in GALICIAN if page.is_shell)
    script = WEB.respond(WEB.script_of(shell)).body.decode()
    assert "replaceChildren" in script
    data = WEB.respond(WEB.script_of(shell).replace("/script/", "/data/").replace(".js", ".json"))
    assert shell.paragraphs[0] in data.body.decode()
    assert WEB.respond("http://a.gal/data/99999.json").status == 404
    assert seen_by_browser(WEB) == {shell.url}


def test_all_pages_are_reached_only_with_documents_and_a_browser() -> None:
    everything = reachable(WEB, "gl", renders=True, reads=True)
    assert everything == {page.url for page in GALICIAN}
    unread = reachable(WEB, "gl", renders=True, reads=False)
    assert unread <= everything - {page.url for page in GALICIAN if page.kind == "pdf"}
    assert reachable(WEB, "gl", renders=False, reads=False) < unread


def test_words_are_counted_by_kind() -> None:
    whole = collected(WEB, "gl", TEXTS)
    assert all(found == of for found, of in whole.values())
    assert sum(of for kind, (_, of) in whole.items() if kind != "all") == whole["all"][1]


def test_missing_words_are_missed_and_others_do_not_count() -> None:
    page = next(page for page in GALICIAN if page.kind == "html")
    cut = {**TEXTS, page.url: f"{page.paragraphs[0]} {page.paragraphs[0]} Outra cousa"}
    missed = page.words.total() - (page.words & Counter(_twice(page.paragraphs[0]))).total()
    found, of = collected(WEB, "gl", cut)["html"]
    assert of - found == missed > 0
    without = {url: text for url, text in TEXTS.items() if WEB.pages[url].kind != "pdf"}
    assert collected(WEB, "gl", without)["pdf"][0] == 0


def _twice(text: str) -> dict[str, int]:
    return {word: 2 * n for word, n in Counter(text.lower().replace(".", "").split()).items()}


def test_a_page_without_a_record_or_with_two_texts_is_lost() -> None:
    urls = [page.url for page in GALICIAN]
    assert lost(urls, urls, urls) == []
    assert lost(urls, urls[1:], urls) == [f"{urls[0]}: 0 records"]
    assert lost(urls, [*urls, urls[0]], urls) == [f"{urls[0]}: 2 records"]
    assert lost(urls, urls, [*urls, urls[0]]) == [f"{urls[0]}: 2 texts"]


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_pdf_has_its_words(is_plain: bool) -> None:
    pypdfium2 = pytest.importorskip("pypdfium2", reason="extra documents")
    from benchmarks.hidden_web import pdf

    body = pdf([f"Liña {n} é curta" for n in range(40)], ["http://a.gal/b"], is_plain=is_plain)
    pages = pypdfium2.PdfDocument(body)
    text = " ".join(page.get_textpage().get_text_range() for page in pages)
    assert text.split() == [word for n in range(40) for word in f"Liña {n} é curta".split()]


def test_all_shapes_of_frameworks_occur() -> None:
    large = HiddenWeb(4000, {"gl": WEB._sentences["gl"]})
    assert {page.kind for page in large.pages.values()} == {"html", "noscript", "pdf", *SHELLS}
