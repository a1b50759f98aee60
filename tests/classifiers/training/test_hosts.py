"""Listed places: which are listed, and what they say of a URL."""

import pytest

from langfocus.classifiers.datasets.rows import LabelledUrl
from langfocus.classifiers.training.hosts import Listed, listed, with_hosts
from langfocus.classifiers.urls.model import UrlModel


def rows(*labels: str, kind: str = "editor") -> list[LabelledUrl]:
    pairs = (label.split() for label in labels)
    return [LabelledUrl(url, language, kind, "made") for url, language in pairs]


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (["http://www.example.org/ ga"], {"example.org": "ga"}),
        (
            ["http://a.example.co.uk ga", "http://example.co.uk/ en"],
            {"a.example.co.uk": "ga"},
        ),
        # One page speaks for its directory, two directories for the host.
        (["http://example.org/Sport/1 ga"], {"example.org/sport": "ga"}),
        (["http://example.org/a/1 ga", "http://example.org/a/2 ga"], {"example.org/a": "ga"}),
        (["http://example.org/a/1 ga", "http://example.org/b/1 ga"], {"example.org": "ga"}),
        # A directory in another language, and a domain in none.
        (
            [*(f"http://example.org/{n}/ en" for n in range(4)), "http://example.org/nuacht/1 ga"],
            {"example.org": "en", "example.org/nuacht": "ga"},
        ),
        (
            ["http://a.example.org/ ga", "http://b.example.org/ en"],
            {"a.example.org": "ga", "b.example.org": "en"},
        ),
        (["http://example.org/ ga", "http://example.org/? en"], {}),
        (["http://localhost/ ga", "http:/// ga", "x ga"], {}),
        (["http://user@[/x?y ga"], {}),
    ],
)
def test_places_whose_urls_are_mostly_in_one_language_are_listed(
    labels: list[str], places: dict[str, str]
) -> None:
    assert {place.place: place.language for place in listed(rows(*labels))} == places


def test_sites_of_a_country_are_not_listed() -> None:
    assert listed(rows("http://example.org/ ga", kind="country")) == []


def test_the_deepest_listed_place_raises_its_language_to_its_share() -> None:
    model = UrlModel.load()
    there = [
        *(f"http://xkq.com/{n}/ ga" for n in range(54)),
        *(f"http://b.xkq.com/{n} sq" for n in range(5)),
        "http://b.xkq.com/vk/1 lg",
    ]
    assert Listed("xkq.com", "ga", 0.9) in listed(rows(*there))
    known = with_hosts(model, rows(*there))
    answers = {
        "https://www.xkq.com/": "ga",
        "http://a.xkq.com:80/": "ga",
        "http://b.xkq.com/?x": "sq",
        "http://b.xkq.com/vk2": "sq",
        "http://B.xkq.com/vk": "lg",
        "http://yxkq.com/": "ga",
        "http://com/": "ga",
    }
    urls, columns = list(answers), [*map(known.named_languages.index, answers.values())]
    after, before = (each.shares(urls)[range(len(urls)), columns] for each in (known, model))
    assert after[0] == pytest.approx(0.9 * 0.9, abs=0.01)
    assert after[4] == pytest.approx(0.9, abs=0.01)
    assert (before < 0.1).all()
    assert (after[:5] > 0.5).all()
    assert after[5:].tolist() == before[5:].tolist()
    assert known.identify("http://xkq.com/de/").language == "de"  # a prior, no label
    assert known.version != model.version
    assert with_hosts(known, []) is known
