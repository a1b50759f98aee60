from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from classifiers import languages
from crawler.sources.seeds import read_seed_file, read_seeds

SEEDS = Path(__file__).parents[3] / "seeds"
LISTS = sorted(SEEDS.glob("*.txt"))


def urls_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
class TestEveryList:
    def test_is_named_after_a_known_code_and_opens_with_its_name(self, path: Path) -> None:
        assert path.stem in languages.known()
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first == f"# {languages.name(path.stem)}"

    def test_has_between_four_and_ten_urls(self, path: Path) -> None:
        assert 4 <= len(urls_of(path)) <= 10
        assert list(read_seed_file(path, "seeds")) == urls_of(path)

    def test_holds_only_http_urls_with_a_host_and_a_path(self, path: Path) -> None:
        for url in urls_of(path):
            parts = urlsplit(url)
            assert parts.scheme in {"http", "https"}, url
            assert parts.hostname is not None, url
            assert "." in parts.hostname, url
            assert parts.path.startswith("/"), url
            assert not parts.query, url
            assert not parts.fragment, url
            assert url.isascii(), url
            assert parts.hostname == parts.netloc, url

    def test_names_no_host_twice(self, path: Path) -> None:
        hosts = Counter(
            (urlsplit(url).hostname or "").removeprefix("www.") for url in urls_of(path)
        )
        assert [host for host, n in hosts.items() if n > 1] == []

    def test_ends_with_the_wikipedia_of_the_language(self, path: Path) -> None:
        assert urls_of(path)[-1] == f"https://{path.stem}.wikipedia.org/"


def test_at_least_one_hundred_languages_have_a_list() -> None:
    assert len(LISTS) >= 100


def test_every_language_of_table_i_has_a_list() -> None:
    assert {"en", "de", "fr", "es", "it"} <= {path.stem for path in LISTS}


def test_no_url_stands_in_two_lists() -> None:
    seen = Counter(url for path in LISTS for url in urls_of(path))
    assert [url for url, n in seen.items() if n > 1] == []


@pytest.mark.parametrize("code", ["en", "de", "fr", "es", "it"])
def test_a_language_of_table_i_starts_under_a_domain_of_its_own(code: str) -> None:
    tlds = {(urlsplit(u).hostname or "").rpartition(".")[2] for u in urls_of(SEEDS / f"{code}.txt")}
    assert tlds & languages.tlds_of(code)


@pytest.mark.parametrize(
    ("given", "urls"),
    [
        ("https://www.zdf.de/nachrichten,100.html", ["https://www.zdf.de/nachrichten,100.html"]),
        ("https://a.de/x,1.zip,https://b.de/", ["https://a.de/x,1.zip", "https://b.de/"]),
        ("https://a.de/x, b.de", ["https://a.de/x", "http://b.de/"]),
        ("https://a.de/,b.de", ["https://a.de/", "http://b.de/"]),
        ("a.de,b.de/x,2", ["http://a.de/", "http://b.de/x,2"]),
    ],
)
def test_a_comma_in_a_path_belongs_to_its_url(given: str, urls: list[str]) -> None:
    assert list(read_seeds(given, "-a seeds")) == urls
