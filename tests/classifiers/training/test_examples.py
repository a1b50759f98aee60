import sys
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest

from langfocus.classifiers.datasets.rows import LabelledUrl, domain_reader
from langfocus.classifiers.errors import MissingPackageError
from langfocus.classifiers.training import examples
from langfocus.classifiers.training.examples import Examples, collect


def labelled(urls: list[str], language: str) -> list[LabelledUrl]:
    return [LabelledUrl(url, language, "k", "s") for url in urls]


def rows() -> list[LabelledUrl]:
    german = [f"http://host{at}.com/drei-schoene-woerter" for at in range(1000)]
    russian = [f"http://host{at}.ru/tri-krasivykh-slova" for at in range(50)]
    return labelled(german, "de") + labelled(russian, "ru")


def collected(made_up: bool = False) -> Examples:
    return collect(rows(), ("de", "ru"), folds=4, seed=0, made_up=made_up)


def test_paths_of_words_are_learned_without_their_hosts_where_there_are_many() -> None:
    found = collected()
    assert found.urls[len(rows()) :] == ["/drei-schoene-woerter"] * 1000
    assert set(found.columns[len(rows()) :].tolist()) == {0}
    assert np.array_equal(found.folds[1050:], found.folds[:1000])
    assert np.bincount(found.folds, minlength=4).min() > 400


def test_urls_of_a_domain_are_in_one_part() -> None:
    data = labelled([f"http://{at}.site{at % 30}.de/" for at in range(300)], "de")
    found = collect(data, ("de",), folds=2, seed=0, made_up=False)
    domain = domain_reader()
    of_domain: dict[str, set[int]] = {}
    for row, part in zip(data, found.folds.tolist(), strict=True):
        of_domain.setdefault(domain(row.url), set()).add(part)
    assert all(len(found) == 1 for found in of_domain.values())
    assert {0, 1} == set().union(*of_domain.values())


def test_a_language_counts_by_its_size_and_the_five_of_the_paper_more() -> None:
    found = collected()
    german, russian = found.masses
    assert german == 0.1
    assert russian < german / 100
    is_listed = np.arange(len(found.urls)) < len(rows())
    listed = found.weights[is_listed & (found.columns == 0)].sum()
    assert np.isclose(listed, german)


def test_made_up_paths_count_less_than_the_urls_and_are_never_left_out() -> None:
    found = collected(made_up=True)
    made = np.arange(len(found.urls)) >= 2050
    assert made.any()
    assert set(found.columns[made].tolist()) == {1}
    assert set(found.folds[made].tolist()) == {-1}
    assert np.isclose(found.weights[made].sum(), 0.3 * found.masses[1])
    assert np.isclose(found.rest_weights[made].sum(), 0.02)


def test_names_are_words_of_the_language_in_the_letters_of_hosts() -> None:
    names = examples.made_up_names("de", 400, seed=0)
    assert len(names) == 400
    assert all(name.startswith("http://") and name.endswith("/") for name in names)
    assert all(part in "".join(names) for part in ("-", "ue"))
    assert sum(name.isascii() for name in names) > 250


def test_languages_with_names_share_a_script_with_others() -> None:
    listed = examples.with_word_lists(["de", "fr", "ru", "ja", "gu", "rw", "no", "bg", "ar"])
    assert listed == [["de", "fr", "no"], ["ru", "bg"]]


def test_names_in_another_script_have_its_letters_alone() -> None:
    names = (
        "".join(examples.made_up_names("mk", 100, seed=0)).replace("http://", "").replace("/", "")
    )
    assert "ќ" in names  # not taken for an accented к
    assert sum(not letter.isascii() for letter in names) > 0.9 * len(names)
    assert examples.towns("mk", 10, seed=0) == []


@pytest.mark.parametrize(
    ("language", "encoding", "script"),
    [("ru", "koi8-r", "ш"), ("ja", "euc-jp", "あ"), ("th", "cp874", "ก"), ("ka", "utf-8", "ა")],
)
def test_paths_are_in_the_letters_and_encodings_of_the_language(
    language: str, encoding: str, script: str
) -> None:
    paths = examples.made_up_paths(language, 200, seed=0)
    assert len(paths) == 200
    assert all(path.startswith("/") and path.isascii() for path in paths)
    encodings = ("utf-8", *examples.ENCODINGS.get(language, ()))
    at = encodings.index(encoding)
    texts = [unquote_to_bytes(path).decode(encoding) for path in paths[at :: len(encodings)]]
    first = ord(script)
    near = [text for text in texts if any(abs(ord(letter) - first) < 100 for letter in text)]
    assert len(near) > len(texts) / 3


def test_hosts_spell_words_without_accents() -> None:
    assert examples.plain("öffnung", "de") == "oeffnung"
    assert examples.plain("été", "fr") == "ete"


def test_without_the_package_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(MissingPackageError, match=r"pip install.* wordfreq"):
        examples.with_word_lists(["de"])


def test_towns_are_those_of_countries_of_the_language() -> None:
    italian = examples.towns("it", 1000, seed=0)
    assert len(italian) == 1000
    assert italian == examples.towns("it", 1000, seed=0)
    everything = examples.towns("it", 10**6, seed=0)
    assert "http://abano-terme/" in everything
    assert "http://toulouse/" not in everything
