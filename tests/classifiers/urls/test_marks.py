"""The marks of a language in a URL: its top-level domain and its code."""

import pytest

from classifiers.urls.marks import marks


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://www.example.de/", (1, 0)),
        ("http://www.example.at/", (1, 0)),
        ("http://www.example.fr/", (-1, 0)),
        ("http://www.example.com/", (0, 0)),
        ("http://example.com/de/seite.html", (0, 1)),
        ("http://de.example.com/", (0, 1)),
        ("http://example.com/de-AT/", (0, 1)),
        ("http://example.com/seite?lang=de", (0, 1)),
        ("http://example.com/seite_de.html", (0, 1)),
        ("http://example.com/fr/", (0, -1)),
        ("http://example.com/seite?q=fr", (0, 0)),
        ("http://example.com/de/en/", (0, 1)),
        ("http://example.de/en/", (1, -1)),
        ("http://example.com/deu/", (0, 0)),
    ],
)
def test_marks_of_german_speak_for_it_and_those_of_others_against_it(
    url: str, found: tuple[int, int]
) -> None:
    assert tuple(marks([url], "de")[0]) == found


def test_a_top_level_domain_in_any_spelling_has_the_same_mark() -> None:
    urls = ["http://a.ru/", "http://a.рф/", "http://a.xn--p1ai/"]
    assert marks(urls, "ru")[:, 0].tolist() == [1, 1, 1]
    assert marks(urls, "uk")[:, 0].tolist() == [-1, -1, -1]


def test_urls_are_marked_alone_as_together_and_none_is_no_row() -> None:
    urls = ["http://a.de/", "http://a.fr/de/", "", "no url"]
    together = marks(urls, "de")
    assert [row.tolist() for row in together] == [marks([url], "de")[0].tolist() for url in urls]
    assert marks([], "de").shape == (0, 2)


def test_a_language_unknown_to_the_project_has_its_code_as_a_mark() -> None:
    assert marks(["http://a.com/xyz/", "http://a.com/de/"], "xyz")[:, 1].tolist() == [1, -1]
