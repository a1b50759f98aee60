import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from langfocus.classifiers import languages
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.crawler.errors import SettingError
from langfocus.crawler.sources.seeds import first_of, read_seed_file, read_seeds

SEEDS = Path(__file__).parents[3] / "seeds"
LISTS = sorted(SEEDS.glob("*.txt"))


def urls_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


URL = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+/[!-~]*")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_has_some_hosts_of_its_language_each_once(path: Path) -> None:
    urls, name = urls_of(path), languages.name(path.stem)
    assert path.stem in PROJECT_CODES
    assert path.read_text(encoding="utf-8").startswith(f"# {name}\n")
    assert 4 <= len(urls) <= 10
    assert list(first_of(read_seed_file(path, "seeds"))) == urls
    assert [url for url in urls if not URL.fullmatch(url) or "?" in url or "#" in url] == []
    hosts = [(urlsplit(url).hostname or "").removeprefix("www.") for url in urls]
    assert len(hosts) == len(set(hosts))
    assert urls[-1] == f"https://{path.stem}.wikipedia.org/"


def test_many_languages_have_a_list_and_no_url_stands_in_two() -> None:
    assert len(LISTS) >= 100
    assert {"en", "de", "fr", "es", "it"} <= {path.stem for path in LISTS}
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
    assert list(first_of(read_seeds(given, "-a seeds"))) == urls


def test_the_first_column_of_a_table_is_the_seed(tmp_path: Path) -> None:
    table = tmp_path / "seeds.tsv"
    table.write_text("http://a.example/\t12\tde\nb.example/x \t \n")
    assert read_seed_file(table, "-a seeds") == ("http://a.example/", "http://b.example/x")


@pytest.mark.parametrize("line", ["1\ta.example", "1,a.example"])
def test_a_line_whose_first_column_is_no_url_is_refused(line: str, tmp_path: Path) -> None:
    table = tmp_path / "top.csv"
    table.write_text(f"http://b.example/\n{line}\n")
    with pytest.raises(SettingError, match="line 2 is not an http"):
        read_seed_file(table, "-a seeds")
