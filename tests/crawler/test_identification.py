"""How a crawl reads a page: the evidence beside its bytes."""

import pytest

from crawler.identification import page_method, page_reader
from crawler.visit import Download

WITHOUT_TEXT = Download("http://www.beispiel.de/", 200, b"<img src=plakat.png>", "text/html")


@pytest.mark.parametrize(("method", "language"), [("top-level-domain", "de"), ("composite", None)])
def test_a_page_without_text_has_a_language_if_the_method_reads_urls(
    method: str, language: str | None
) -> None:
    reading = page_reader(page_method(method))(WITHOUT_TEXT, ())
    assert reading.language == language


def test_a_page_without_text_has_the_language_of_its_inlinks_by_their_method() -> None:
    reading = page_reader(page_method("inlinks"))(WITHOUT_TEXT, ("fr", "fr", "de"))
    assert (reading.language, reading.method) == ("fr", "inlinks")
