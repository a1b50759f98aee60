"""The tables of facts name their sources, and no answer depends on an installed package."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from langfocus.classifiers.languages import language_of_tld
from langfocus.classifiers.tables import cldr, rows, shipped_folder
from langfocus.classifiers.tables.letters import LAST, is_letter, letter_flags
from langfocus.classifiers.tables.suffixes import loaded, suffix_reader

FOLDER = shipped_folder("classifiers") / "tables"
TABLES = sorted(path for path in FOLDER.iterdir() if path.suffix in {".txt", ".dat"})
SOURCE = re.compile(r"(?:# |// )[A-Z].*(?:by hand|[A-Z][a-z]+ 20\d\d|Licen[cs]e|terms of use)")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_the_first_line_of_a_table_names_its_source(path: Path) -> None:
    first, *others = path.read_text(encoding="utf-8").splitlines()
    assert SOURCE.match(first), first
    assert others


def test_a_table_has_each_key_once() -> None:
    read_otherwise = {"letters.txt"}
    for path in TABLES:
        if path.suffix == ".txt" and path.name not in read_otherwise:
            lines = path.read_text(encoding="utf-8").splitlines()
            assert len(rows(path.name)) == len(lines) - 1, path.name


def test_languages_of_a_territory_are_the_most_spoken_first() -> None:
    assert cldr.spoken_in()["AD"][:2] == [("ca", 51.0, "official"), ("es", 43.0, "")]
    assert cldr.official_in("CH") == ["de", "gsw", "fr", "it"]
    assert cldr.official_in("ZZ") == []
    for spoken in cldr.spoken_in().values():
        assert spoken == sorted(spoken, key=lambda each: (each.percent, each.tag), reverse=True)
        assert {each.status for each in spoken} <= {
            *("", "official", "de_facto_official", "official_regional")
        }


def test_facts_of_cldr_are_those_of_the_shipped_release() -> None:
    assert language_of_tld("by") == "be"
    assert cldr.scripts()["sr"] == {"Cyrl", "Latn"}
    assert cldr.aliases()["fat"] == "ak"
    assert cldr.territory_names()["HM"] == "Heard & McDonald Islands"
    assert cldr.english_names()["saz"] == "Saurashtra"


def test_letters_are_those_of_unicode_14_under_every_python() -> None:
    assert all(map(is_letter, "aßЖ漢ก\u0301\u0940\U00030000"))
    assert not any(map(is_letter, "1 _-€\U0010ffff"))
    new = "\u0cf3\u0ece\u1c89\ua7cb\U00011f00\U00031350"  # of Unicode 15 and 16
    assert not any(map(is_letter, new))
    assert letter_flags().sum() == 134_164
    assert len(letter_flags()) == LAST + 1
    assert (letter_flags(0x10000) == letter_flags()[:0x10000]).all()


@pytest.fixture
def _without_snapshot(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """tldextract has a snapshot with other suffixes, as another release may have."""
    monkeypatch.setattr("pkgutil.get_data", lambda *_: b"de\nexample.de\n")
    loaded.cache_clear()
    yield
    loaded.cache_clear()


@pytest.mark.usefixtures("_without_snapshot")
def test_registered_domains_are_those_of_the_project_s_list() -> None:
    def read(host: str, *, has_platforms: bool) -> tuple[str, str]:
        parts = suffix_reader(has_platforms=has_platforms)(host)
        return parts.domain, parts.suffix

    assert read("a.b.co.uk", has_platforms=False) == ("b", "co.uk")
    assert read("a.example.de", has_platforms=False) == ("example", "de")
    assert read("x.me.github.io", has_platforms=True) == ("me", "github.io")
    assert read("x.me.github.io", has_platforms=False) == ("github", "io")
    assert read("a.b.c.ck", has_platforms=False) == ("b", "c.ck")  # a rule with `*`
    assert read("a.www.ck", has_platforms=False) == ("www", "ck")  # and its exception
    assert read("a.食狮.公司.cn", has_platforms=False) == ("食狮", "公司.cn")
    assert read("a.xn--85x722f.xn--55qx5d.cn", has_platforms=False)[1] == "xn--55qx5d.cn"


def test_a_missing_list_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("langfocus.classifiers.tables.suffixes.SUFFIXES", tmp_path / "none.dat")
    with pytest.raises(FileNotFoundError, match=r"none\.dat"):
        loaded.__wrapped__()
