"""N-grams, top-level domains and neighbours tell the language of a page, as in Hayati 2004."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import (
    NOTHING,
    Neighbour,
    PageLanguage,
    Surroundings,
)
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from langfocus.classifiers.papers.hayati import around as top_level_domain
from langfocus.classifiers.papers.hayati import base, letters, nfc
from langfocus.classifiers.papers.hayati.around import Neighbours
from tests.support.sentences import SENTENCES

TEXTS = [
    LabelledText(part, language, "sentence", "")
    for language, text in SENTENCES.items()
    for part in (text, text[: len(text) // 2], text[len(text) // 3 :])
]
HOSTS = [("a.de", "de"), ("b.de", "de"), ("c.de", "en"), ("d.com", "fr"), ("e.com", "en")]
ADDRESSES = [(f"http://{host}/", language) for host, language in HOSTS]
PAGE = parse_page(b"<p>x", content_type=None, url="")

by_text = pytest.mark.parametrize(
    "text_method", [base.train(TEXTS), nfc.train(TEXTS)], ids=lambda one: one.name
)
trained = pytest.mark.parametrize(
    ("load", "one"),
    [
        (base.load, base.train(TEXTS)),
        (nfc.load, nfc.train(TEXTS)),
        (top_level_domain.load, top_level_domain.train(ADDRESSES)),
    ],
    ids=["cavnar-trenkle", "nfc", "top-level-domain"],
)
Ranked = base.CavnarTrenkle | nfc.Nfc
Train = Callable[[list[LabelledText]], Ranked]
Trained = Ranked | top_level_domain.TopLevelDomain
Load = Callable[[Path], Trained]


@dataclass(frozen=True)
class Says:
    """A method that gives the same answer to every page."""

    language: str | None
    name: str = "says"
    languages: frozenset[str] = frozenset()

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        return PageLanguage(self.language, 0.3, "text", "says so")


def page_of(text: str) -> ParsedPage:
    return replace(PAGE, text=text)


def cleaned(text: str) -> str:
    return "".join(map(chr, letters.letters(text).tolist()))


def linked(*languages: str | None, characters: int = 500) -> tuple[Neighbour, ...]:
    return tuple(Neighbour(language, characters) for language in languages)


@pytest.mark.parametrize(
    ("text", "letters_of_it"),
    [
        ("  It's 5 o'clock -- Größe!\n", "it s o clock größe"),
        ("42 !? \t", ""),
        ("हिन्दी।", "हिन्दी"),
        ("cafe\u0301", "caf\u00e9"),
        ("NHKの 番組、2時", "nhk の 番 組 時"),
        ("한국어", "한 국 어"),
    ],
)
def test_letters_with_their_marks_and_single_spaces_are_left(text: str, letters_of_it: str) -> None:
    assert cleaned(text) == letters_of_it


def test_ngrams_wrap_around_so_that_there_are_as_many_as_characters() -> None:
    codes = letters.letters("the quick")
    spelled = letters.spelled(codes, np.arange(len(codes)), 3).tolist()
    assert spelled == ["the", "he ", "e q", " qu", "qui", "uic", "ick", "ckt", "kth"]
    assert letters.unpacked(letters.trigrams(codes)).tolist() == spelled


@given(st.text(min_size=1), st.integers(1, 5))
def test_a_written_ngram_has_the_hash_it_had_in_the_text(text: str, n: int) -> None:
    codes = letters.letters(text)
    spelled = letters.spelled(codes, np.arange(len(codes)), n)
    assert (letters.keys_of(spelled) == letters.keys(codes, n)).all()


def test_a_language_is_the_list_of_its_most_common_ngrams(tmp_path: Path) -> None:
    rows = [LabelledText("aaab", "de", "", ""), LabelledText("...", "en", "", "")]
    base.train(rows, length=3).save(tmp_path / "lists.npz")
    with np.load(tmp_path / "lists.npz") as arrays:
        assert arrays["lists"].tolist() == [["a", "aa", "b"], ["", "", ""]]


def test_the_distance_of_two_lists_is_how_far_each_ngram_is_out_of_place() -> None:
    lists = np.array([["a", "b", "c"], ["c", "x", "cc"]])
    distances = base.CavnarTrenkle(["de", "en"], lists).distances("abbccc")
    # The text's list is c, b, cc: |3-1| + |2-2| + |4-3| and |1-1| + |4-2| + |3-3|.
    assert distances is not None
    assert distances.tolist() == [3, 2]


def test_fishers_discriminant_of_the_formula_chooses_the_3grams(tmp_path: Path) -> None:
    texts = {"de": ["abc abd", "abcabc"], "en": ["abc xyz", "xyzxy"], "fr": ["dbc", "abd dbc"]}
    vocabulary = sorted({gram for docs in texts.values() for text in docs for gram in _grams(text)})
    means, within = [], 0.0
    for documents in texts.values():
        vectors = np.array(
            [[_grams(text).count(gram) for gram in vocabulary] for text in documents]
        )
        vectors = vectors / np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        means.append(vectors.mean(axis=0))
        within = within + ((vectors - means[-1]) ** 2).mean(axis=0)
    between = sum((one - other) ** 2 for one in means for other in means)
    rows = [LabelledText(t, k, "", "") for k, d in texts.items() for t in d]
    keys, _, discriminants = nfc.discriminants(list(nfc.by_language(rows).values()))
    found = dict(zip(letters.unpacked(keys).tolist(), discriminants.tolist(), strict=True))
    assert sorted(found) == vocabulary
    assert [found[gram] for gram in vocabulary] == pytest.approx((between / within).tolist())
    nfc.train(rows, features=3).save(tmp_path / "nfc.npz")
    with np.load(tmp_path / "nfc.npz") as arrays:
        least = sorted(found.values())[-3]
        assert all(found[gram] >= least for gram in arrays["features"].tolist())


def _grams(text: str) -> list[str]:
    return [(text + text[:2])[at : at + 3] for at in range(len(text))]


@by_text
@pytest.mark.parametrize("text", ["", " ", "12 34", "😀😀", "\x00", "\ud800", "ქართული"])
def test_a_text_without_a_known_ngram_has_no_language(text_method: Ranked, text: str) -> None:
    answer = text_method.identify(page_of(text))
    assert (answer.language, answer.confidence, answer.method) == (None, 0.0, "none")
    assert answer.reason


@by_text
def test_of_a_huge_text_only_the_beginning_is_read(text_method: Ranked) -> None:
    begin = (SENTENCES["de"] * 200)[: letters.MAX_CHARACTERS]
    assert text_method.rank(begin + SENTENCES["en"] * 10_000) == text_method.rank(begin)


@pytest.mark.parametrize("train", [base.train, nfc.train])
def test_nothing_to_learn_from_is_no_error_and_the_order_of_texts_none(
    train: Train, tmp_path: Path
) -> None:
    for rows in (TEXTS[:0], [LabelledText("1234", "de", "", "")]):
        assert train(rows).identify(page_of("Wort")).language is None
    by_language = sorted(TEXTS, key=lambda row: row.language, reverse=True)
    for name, rows in (("one", TEXTS), ("other", by_language)):
        train(rows).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@trained
def test_a_saved_method_is_read_back_and_written_the_same(
    load: Load, one: Trained, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    one.save(first)
    load(first).save(second)
    assert first.read_bytes() == second.read_bytes()
    assert load(first).languages == one.languages
    for text in SENTENCES.values():
        around = Surroundings("http://x.example.de/")
        assert load(first).identify(page_of(text), around) == one.identify(page_of(text), around)


@trained
def test_a_damaged_or_missing_file_is_a_model_error(
    load: Load, one: Trained, tmp_path: Path
) -> None:
    other = tmp_path / "other.npz"
    (base if one.name != "cavnar-trenkle" else nfc).train(TEXTS).save(other)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(other.read_bytes()[:100])
    for path in (other, broken, tmp_path / "none.npz"):
        with pytest.raises(ModelError):
            load(path)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://www.bbc.co.uk/news", "uk"),
        ("https://user@Example.DE:8080/x?y=a.fr", "de"),
        ("http://example.com./", "com"),
        ("http://почта.рф/", "xn--p1ai"),
        ("http://xn--80a1acny.xn--p1ai/", "xn--p1ai"),
        ("http://192.168.0.1/", ""),
        ("http://[::1]/", ""),
        ("http://[broken", ""),
        ("http://localhost/", ""),
        ("http://a.b%20c/", ""),
        ("", ""),
    ],
)
def test_the_top_level_domain_is_what_follows_the_last_period(url: str, domain: str) -> None:
    assert top_level_domain.top_level_domain(url) == domain


def test_a_domain_has_the_most_common_language_of_its_pages() -> None:
    domains = top_level_domain.train(ADDRESSES)
    answer = domains.identify(PAGE, Surroundings("http://new.example.de/x"))
    assert (answer.language, answer.method) == ("de", "top-level-domain")
    assert answer.confidence == pytest.approx(2 / 4)
    assert answer.reason == ".de: de on 2 of 3 known pages"
    # Of languages equally common in a domain the first code is taken.
    assert domains.identify(PAGE, Surroundings("http://example.com/")).language == "en"
    assert domains.languages == {"de", "en"}
    for url, reason in (
        ("http://[", "no address with"),
        ("http://a.pl/", "no known page under .pl"),
    ):
        unknown = domains.identify(PAGE, Surroundings(url))
        assert (unknown.language, unknown.confidence, unknown.method) == (None, 0.0, "none")
        assert reason in unknown.reason


@pytest.mark.parametrize(
    ("name", "own", "text", "votes", "found"),
    [
        # The text of a page that is long enough decides alone.
        ("inlinks", "en", "x" * 51, "de de de", "en"),
        ("inlinks", "en", "x" * 50, "de de de", "de"),
        ("inlinks", "en", "1. " * 99, "de de de", "de"),
        ("outlinks", "en", "x" * 51, "de", "en"),
        # Beside inlinks it is one vote and wins a tie, beside outlinks it only breaks their ties.
        ("inlinks", "en", "x", "de", "en"),
        ("inlinks", None, "x", "it de de it", "it"),
        ("inlinks", "fi", "x", "it de de it", "it"),
        ("outlinks", "en", "x", "de", "de"),
        ("outlinks", "en", "x", "de en", "en"),
        ("outlinks", "en", "x", "de it", "de"),
    ],
)
def test_the_majority_of_the_pages_around_a_short_page_decides(
    name: str, own: str | None, text: str, votes: str, found: str
) -> None:
    pages = linked(*votes.split())
    around = Surroundings(inlinks=pages, outlinks=pages)
    assert Neighbours(name, Says(own)).identify(page_of(text), around).language == found


def test_only_ten_inlinks_with_enough_text_are_asked() -> None:
    short, long = linked(*["fr"] * 30, characters=149), linked(*["de"] * 10, characters=150)
    around = Surroundings(inlinks=short + linked(None) + long + linked(*["it"] * 30))
    answer = Neighbours("inlinks", Says(None)).identify(PAGE, around)
    assert (answer.language, answer.method) == ("de", "inlinks")
    assert answer.reason == "inlinks: de has 10 of 10 votes"
    assert answer.confidence == pytest.approx(11 / 12)
    for name in ("inlinks", "outlinks"):
        for nobody in (NOTHING, Surroundings(inlinks=linked(None), outlinks=linked(None))):
            alone = Neighbours(name, Says("en")).identify(PAGE, nobody)
            assert alone == PageLanguage("en", 0.3, "text", "says so")


@pytest.mark.parametrize("name", ["cavnar-trenkle", "nfc", "inlinks", "outlinks"])
def test_what_ships_knows_the_sentences(name: str) -> None:
    shipped = method(name)
    assert shipped.name == name
    for language, text in SENTENCES.items():
        assert shipped.identify(page_of(text)).language == language, (language, text)
    around = Surroundings(inlinks=linked("fi", "fi", "fi", "en"), outlinks=linked("fi"))
    if "links" in name:
        assert shipped.identify(page_of("Radio 24"), around).language == "fi"
