import numpy as np

from classifiers.datasets import LabelledUrl, domain_reader
from classifiers.training.examples import Examples, collect


def labelled(urls: list[str], language: str) -> list[LabelledUrl]:
    return [LabelledUrl(url, language, "k", "s") for url in urls]


def rows() -> list[LabelledUrl]:
    german = [f"http://host{at}.com/drei-schoene-woerter" for at in range(1000)]
    russian = [f"http://host{at}.ru/tri-krasivykh-slova" for at in range(50)]
    return labelled(german, "de") + labelled(russian, "ru")


def collected(made_up: bool = False) -> Examples:
    return collect(rows(), ("de", "ru"), folds=4, seed=0, made_up=made_up)


def test_paths_of_words_are_learned_without_their_hosts_where_there_are_many() -> None:
    examples = collected()
    copies = examples.urls[len(rows()) :]
    assert copies == ["/drei-schoene-woerter"] * 1000
    assert set(examples.columns[len(rows()) :].tolist()) == {0}


def test_a_path_is_in_the_part_of_its_url() -> None:
    examples = collected()
    assert np.array_equal(examples.folds[1050:], examples.folds[:1000])
    assert np.bincount(examples.folds, minlength=4).min() > 400


def test_urls_of_a_domain_are_in_one_part() -> None:
    data = labelled([f"http://{at}.site{at % 30}.de/" for at in range(300)], "de")
    examples = collect(data, ("de",), folds=2, seed=0, made_up=False)
    domain = domain_reader()
    of_domain: dict[str, set[int]] = {}
    for row, part in zip(data, examples.folds.tolist(), strict=True):
        of_domain.setdefault(domain(row.url), set()).add(part)
    assert all(len(found) == 1 for found in of_domain.values())
    assert {0, 1} == set().union(*of_domain.values())


def test_a_language_counts_by_its_size_and_the_five_of_the_paper_more() -> None:
    examples = collected()
    german, russian = examples.masses
    assert german == 0.1
    assert russian < german / 100
    is_listed = np.arange(len(examples.urls)) < len(rows())
    listed = examples.weights[is_listed & (examples.columns == 0)].sum()
    assert np.isclose(listed, german)


def test_made_up_paths_count_less_than_the_urls_and_are_never_left_out() -> None:
    examples = collected(made_up=True)
    made = np.arange(len(examples.urls)) >= 2050
    assert made.any()
    assert set(examples.columns[made].tolist()) == {1}
    assert set(examples.folds[made].tolist()) == {-1}
    assert np.isclose(examples.weights[made].sum(), 0.3 * examples.masses[1])
    assert np.isclose(examples.rest_weights[made].sum(), 0.02)
