"""A model gets a classifier of one more language and keeps all others."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from classifiers.datasets import LabelledUrl, split
from classifiers.errors import DatasetError
from classifiers.training.extension import extend
from classifiers.training.urls import Options, fit
from classifiers.urls import modelfile
from classifiers.urls.model import UrlModel
from tests.support.studyurls import labelled

OPTIONS = Options(buckets=1 << 14, min_urls=20, word_lists=False)
BASE = ("de", "fr", "it")


@cache
def base() -> modelfile.Parameters:
    return fit(labelled(150, BASE), OPTIONS)


@cache
def crawled() -> tuple[list[LabelledUrl], list[LabelledUrl]]:
    """Pages of a crawl for Dutch, and URLs of other domains."""
    rows = [
        row._replace(source=f"nl-{len(row.url) % 2}")
        for row in labelled(150, ("nl", "en", "de"), 7)
    ]
    return split(rows, test_share=0.3)


def test_a_language_that_the_model_lacks_is_recognised_on_other_domains() -> None:
    learned, others = crawled()
    parameters, (told,) = extend(base(), learned, ["nl"], OPTIONS)
    says_yes = UrlModel(parameters).score([row.url for row in others], "nl") > 0
    is_dutch = np.array([row.language == "nl" for row in others])
    assert (says_yes == is_dutch).mean() > 0.9
    assert told.is_used
    assert told.f1_before is None
    assert told.f1 > 90
    assert told.urls == sum(row.language == "nl" for row in learned)
    assert told.negatives == len(learned) - told.urls


def test_all_other_languages_stay_as_they_are() -> None:
    learned, others = crawled()
    parameters, _ = extend(base(), learned, ["nl"], OPTIONS)
    old, new = UrlModel(base()), UrlModel(parameters)
    urls = [row.url for row in others]
    assert new.languages == (*old.languages, "nl")
    assert (new.scores(urls)[:, :-1] == old.scores(urls)).all()
    assert set(new.named_languages) == {*old.named_languages, "nl"}
    for before, after in zip(old.identify_many(urls), new.identify_many(urls), strict=True):
        assert after.language == before.language
        assert after.confidence == pytest.approx(before.confidence, abs=1e-5)


def test_a_language_that_cannot_be_named_is_added_and_never_named() -> None:
    learned = [
        row._replace(language="cjk") if row.language == "nl" else row for row in crawled()[0]
    ]
    assert "cjk" not in base().evidence.languages
    parameters, _ = extend(base(), learned, ["cjk"], OPTIONS)
    model = UrlModel(parameters)
    urls = [row.url for row in learned]
    assert (model.score(urls, "cjk") > 0).any()
    assert "cjk" not in {told.language for told in model.identify_many(urls)}


def test_the_same_pages_give_the_same_file_which_tells_its_runs(tmp_path: Path) -> None:
    learned, _ = crawled()
    files = []
    for name, rows in (("a.npz", learned), ("b.npz", learned[::-1])):
        parameters, _ = extend(base(), rows, ["nl"], OPTIONS)
        modelfile.write(parameters, tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    facts = modelfile.read(tmp_path / "a.npz").facts
    (extension,) = facts["extensions"]
    assert set(extension["runs"]) == {"nl-0", "nl-1"}
    assert sum(extension["runs"].values()) == extension["urls"] == facts["languages"]["nl"]
    assert facts["sources"] == base().facts["sources"]


def test_a_better_classifier_of_the_model_stays() -> None:
    rows = labelled(150, BASE)  # the model learned these very URLs
    german = [row for row in rows if row.language == "de"]
    few = german[:25] + [row for row in rows if row.language != "de"]
    parameters, (told,) = extend(base(), few, ["de"], OPTIONS)
    assert told.f1_before is not None
    assert told.f1 <= told.f1_before
    assert not told.is_used
    assert (parameters.weights == base().weights).all()
    assert parameters.languages == base().languages


def test_a_worse_classifier_of_the_model_is_replaced() -> None:
    learned, others = crawled()
    swapped = {"nl": "de", "de": "nl", "en": "en"}
    wrong = [row._replace(language=swapped[row.language]) for row in learned]
    parameters, (told,) = extend(base(), wrong, ["de"], OPTIONS)
    assert told.is_used
    assert parameters.languages == base().languages
    rest = [at for at, code in enumerate(base().languages) if code != "de"]
    assert (parameters.weights[rest] == base().weights[rest]).all()
    says_yes = UrlModel(parameters).score([row.url for row in others], "de") > 0
    is_dutch = np.array([row.language == "nl" for row in others])
    assert (says_yes == is_dutch).mean() > 0.9


def test_a_site_does_not_dominate() -> None:
    learned, _ = crawled()
    site = [LabelledUrl(f"http://site.nl/{at}", "nl", "crawled", "big") for at in range(500)]
    _, (told,) = extend(base(), learned + site, ["nl"], OPTIONS)
    _, (alone,) = extend(base(), learned, ["nl"], OPTIONS)
    assert told.urls == alone.urls + OPTIONS.max_per_domain


def test_too_few_pages_or_domains_are_told() -> None:
    learned, _ = crawled()
    dutch = [row for row in learned if row.language == "nl"]
    with pytest.raises(
        DatasetError, match=r"nl: 5 sure pages on \d registered domains; .* 20 on 3"
    ):
        extend(base(), dutch[:5] + [row for row in learned if row not in dutch], ["nl"], OPTIONS)
    with pytest.raises(DatasetError, match="nl: 0 sure pages in other languages"):
        extend(base(), dutch, ["nl"], OPTIONS)
    site = [LabelledUrl(f"http://site.nl/{at}", "nl", "crawled", "big") for at in range(20)]
    others = [row for row in learned if row.language != "nl"]
    with pytest.raises(DatasetError, match="20 sure pages on 1 registered domains"):
        extend(base(), site + others, ["nl"], OPTIONS)
