"""The clues of URLs."""

import numpy as np
import pytest

from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.batch import encode

TEXTS = ("de", "at", "fr", "ca", "deu", "deutsch", "com", "укр", "cz")
KINDS = "top host segment locale region keyed parameter suffix".split()
KNOWN = {
    clues.key_of(getattr(clues, kind.upper()), text): (kind, text)
    for kind in KINDS
    for text in TEXTS
} | {clues.key_of(clues.BLOCK, letter): ("block", letter) for letter in "ბп"}
KEYS = np.array(sorted(KNOWN), np.uint64)


def found(urls: list[str]) -> list[list[tuple[str, str]]]:
    rows = clues.find_clues(encode(urls), len(urls), KEYS)
    return [[KNOWN[int(KEYS[row])] for row in each if row >= 0] for each in rows.tolist()]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://shop.com/", [("top", "com")]),
        ("http://shop.COM:80/", [("top", "com")]),
        ("http://de.shop.com/", [("top", "com"), ("host", "de")]),
        ("http://de-at.shop.com/", [("top", "com"), ("host", "de")]),
        ("http://de.cz/", [("top", "cz")]),
        ("http://shop.com/de/", [("top", "com"), ("segment", "de")]),
        ("http://shop.com/DE", [("top", "com"), ("segment", "de")]),
        ("http://shop.com/de.html", [("top", "com"), ("segment", "de")]),
        ("http://shop.com/deutsch?x=1", [("top", "com"), ("segment", "deutsch")]),
        ("http://shop.com/de-AT/a", [("top", "com"), ("locale", "de"), ("region", "at")]),
        ("http://shop.com/fr_ca", [("top", "com"), ("locale", "fr"), ("region", "ca")]),
        ("http://shop.com/de-novo-blog/", [("top", "com")]),
        ("http://shop.com/?lang=de", [("top", "com"), ("keyed", "de")]),
        ("http://shop.com/a?b=c&hl=de-AT#x", [("top", "com"), ("keyed", "de"), ("region", "at")]),
        ("http://shop.com/?from=de", [("top", "com"), ("parameter", "de")]),
        ("http://shop.com/page_fr.html", [("top", "com"), ("suffix", "fr")]),
        ("http://shop.com/index.de.html", [("top", "com"), ("suffix", "de")]),
        ("http://shop.com/de1/2de/%2Fde%2F", [("top", "com")]),
        (
            "http://shop.com/de/x/de/?hl=de&hl=de",
            [("top", "com"), ("segment", "de"), ("keyed", "de")],
        ),
        ("http://сайт.укр/", [("top", "укр"), ("block", "п")]),
        ("http://xn--80aswg.xn--j1amh/", [("top", "укр"), ("block", "п")]),
        ("/%E1%83%91%E1%83%90/de/", [("block", "ბ"), ("segment", "de")]),
        ("http://1.2.3.4/de/", [("segment", "de")]),
        ("", []),
    ],
)
def test_each_kind_of_clue_is_found_in_its_place(url: str, expected: list[tuple[str, str]]) -> None:
    assert found([url]) == [expected]


def test_the_urls_of_a_batch_do_not_touch_each_other() -> None:
    urls = ["http://shop.com/de", "/fr", "http://a.cz", "?lang=de-", "at/"]
    assert found(urls) == [clue for url in urls for clue in found([url])]


def test_a_url_of_many_clues_keeps_the_first_ones() -> None:
    many = "/".join(f"a{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(99))
    assert found([f"http://shop.com/{many}/de/"]) == [[("top", "com")]]
    assert found([f"http://shop.com/de/{many}"]) == [[("top", "com"), ("segment", "de")]]
