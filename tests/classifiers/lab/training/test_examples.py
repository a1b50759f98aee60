import numpy as np

from classifiers.lab.datasets import LabelledUrl, domain_reader
from classifiers.lab.training.examples import Examples, collect


def labelled(urls: list[str], language: str) -> list[LabelledUrl]:
    return [LabelledUrl(url, language, "k", "s") for url in urls]


def rows() -> list[LabelledUrl]:
    german = [f"http://host{at}.com/drei-schoene-woerter" for at in range(1000)]
    russian = [f"http://host{at}.ru/tri-krasivykh-slova" for at in range(50)]
    return labelled(german, "de") + labelled(russian, "ru")


def collected(made_up: bool = False) -> Examples:
    return collect(rows(), ("de", "ru"), held_out=0.2, seed=0, made_up=made_up)


def test_paths_of_words_are_learned_without_their_hosts_where_there_are_many() -> None:
    examples = collected()
    copies = examples.urls[len(rows()) :]
    assert copies == ["/drei-schoene-woerter"] * 1000
    assert set(examples.columns[len(rows()) :].tolist()) == {0}


def test_what_is_made_of_a_url_is_left_out_with_it() -> None:
    examples = collected()
    assert np.array_equal(examples.is_left_out[1050:], examples.is_held_out[:1000])
    assert 0.1 < examples.is_held_out.mean() < 0.3


def test_urls_of_a_domain_are_held_out_together() -> None:
    data = labelled([f"http://{at}.site{at % 30}.de/" for at in range(300)], "de")
    examples = collect(data, ("de",), held_out=0.5, seed=0, made_up=False)
    domain = domain_reader()
    of_domain: dict[str, set[bool]] = {}
    for row, out in zip(data, examples.is_held_out.tolist(), strict=True):
        of_domain.setdefault(domain(row.url), set()).add(out)
    assert all(len(found) == 1 for found in of_domain.values())
    assert {True, False} == set().union(*of_domain.values())


def test_a_language_counts_by_its_size_and_the_five_of_the_paper_more() -> None:
    examples = collected()
    german, russian = examples.masses
    assert german == 0.1
    assert russian < german / 100
    is_listed = np.arange(len(examples.urls)) < len(rows())
    listed = examples.weights[is_listed & (examples.columns == 0)].sum()
    assert np.isclose(listed, german)


def test_made_up_paths_count_less_than_the_urls_and_are_never_held_out() -> None:
    examples = collected(made_up=True)
    made = np.arange(len(examples.urls)) >= 2050
    assert made.any()
    assert set(examples.columns[made].tolist()) == {1}
    assert not examples.is_left_out[made].any()
    assert np.isclose(examples.weights[made].sum(), 0.3 * examples.masses[1])
    assert np.isclose(examples.rest_weights[made].sum(), 0.02)
