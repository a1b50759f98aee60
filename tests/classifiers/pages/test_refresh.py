"""Where META refresh and the header Refresh lead, as the HTML standard reads them."""

import pytest

from langfocus.classifiers.pages.html.refresh import MOST_S, Refresh, read_refresh
from langfocus.classifiers.pages.parse import parse_page


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=b.html", (0, "b.html")),
        ("0;URL='b.html'", (0, "b.html")),
        ('5 ; Url = "b c" d', (5, "b c")),
        (" 1.5,/b", (1, "/b")),
        (".5; b", (0, "b")),
        ("3 b", (3, "b")),
        ("0;urlb", (0, "urlb")),
        ("0;url b", (0, "url b")),
        (f"{MOST_S};b", (MOST_S, "b")),
        *((text, None) for text in ("", "5", "5;", "5; url=", "5;url=''", "url=b", "x;b", "5x")),
        (f"{MOST_S + 1};b", None),
        ("9" * 5000 + ";b", None),
        (None, None),
    ],
)
def test_a_refresh_has_a_delay_and_a_url(
    content: str | None, expected: tuple[int, str] | None
) -> None:
    assert read_refresh(content) == (expected and Refresh(*expected))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<base href=/x/><meta http-equiv=REFRESH content='0;b'>", "http://a.de/x/b"),
        (
            "<meta http-equiv=refresh content=9><meta http-equiv=refresh content=1;c>",
            "http://a.de/c",
        ),
        ("<meta http-equiv=refresh content='0;javascript:x'>", None),
        ("<noscript><meta http-equiv=refresh content=0;b></noscript>", None),
        ("<meta name=refresh content=0;b>", None),
    ],
)
def test_the_first_refresh_of_a_page_counts_that_leads_to_a_page(
    head: str, expected: str | None
) -> None:
    page = parse_page(head.encode(), content_type="text/html", url="http://a.de/")
    assert (page.refresh and page.refresh.url) == expected
    assert page.links == []
