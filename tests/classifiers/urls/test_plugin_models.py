"""The URL model of a plug-in, in orderings and beside the model that ships."""

import json
from pathlib import Path

import numpy as np
import pytest

from langfocus.classifiers.errors import LanguageError, PluginError
from langfocus.classifiers.urls.facts import MOST_NATS, facts_of
from langfocus.classifiers.urls.model import UrlModel, load_model
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.links import LinkSource
from tests.support.commandline import call
from tests.support.plugins import install

CODE = """\
class Marks:
    languages = ["gl", "de"]

    def score(self, urls, language):
        return [9.0 if f"/{language}" in url else -9.0 for url in urls]


class Short(Marks):
    def score(self, urls, language):
        return [0.0, 1.0]


class Nothing(Marks):
    languages = ()
"""
URLS = ["http://a.com/gl", "http://a.com/de", "http://a.com/x"]
MINE, SHORT, NOTHING = map(Path, ("mine", "url_plugin:Short", "url_plugin:Nothing"))


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"url_models": "mine = url_plugin:Marks"}
    install(tmp_path, "url_plugin", CODE, points, patch=monkeypatch)


def test_orderings_score_by_the_model_of_a_plug_in() -> None:
    svm = make_ordering("svm", "gl", model=MINE)
    assert svm.scores(URLS, LinkSource()) == [9.0, -9.0, -9.0]
    focus = make_ordering("focus", "gl", model=MINE)
    first, second, _ = focus.links(URLS, LinkSource())
    assert focus.knows_urls
    assert first.score > 8 > -8 > second.score
    of, knows = facts_of(MINE, "fr")
    assert not knows
    assert of(URLS)[:, :2].tolist() == [[0.0, 0.0]] * 3
    of, _ = facts_of(MINE, "de")
    assert of(URLS)[:, 0].tolist() == [-MOST_NATS, MOST_NATS, -MOST_NATS]
    shipped, _ = facts_of(None, "de")
    assert np.array_equal(of(URLS)[:, 2:], shipped(URLS)[:, 2:])
    with pytest.raises(LanguageError, match=r"^plug-in mine \(my-url_plugin 1.0\) does not know"):
        make_ordering("svm", "fr", model=MINE)


def test_urls_are_identified_by_the_model_of_a_plug_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "urls").write_text("\n".join(URLS))
    setting = ("-s", "LANGFOCUS_URL_MODEL=mine")
    assert call("identify", "urls", str(tmp_path / "urls"), "--explain", *setting) == 0
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["language"], first["confidence"]) == ("gl", 0.9999)
    assert first["scores"] == {"gl": 9.0, "de": -9.0}
    assert second["language"] == "de"
    assert (third["language"], third["confidence"]) == (None, 0.0)


@pytest.mark.parametrize(
    ("path", "said"), [(SHORT, "1 finite numbers are needed"), (NOTHING, "it knows no language")]
)
def test_a_model_that_breaks_its_contract_is_refused(path: Path, said: str) -> None:
    with pytest.raises(PluginError, match=f"^plug-in {path} .+: ValueError: {said}"):
        load_model(path)


def test_a_file_is_no_plug_in() -> None:
    assert isinstance(load_model(None), UrlModel)
    with pytest.raises(OSError, match="no such model file"):
        load_model(Path("none.npz"))
