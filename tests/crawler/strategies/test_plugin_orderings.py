"""Orderings of plug-ins: their scores, and one line for each mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from langfocus.classifiers.errors import PluginError
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.simulate.plan import make_plan
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.links import Draw, LinkSource
from tests.support.plugins import install
from tests.support.simulatedwebs import random_graph

Install = Callable[[str], None]
URLS = ["http://b.de/", "http://a.de/"]


@pytest.fixture
def ordering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install the body of a class as the ordering `mine`."""

    def installed(body: str) -> None:
        module = f"orderings_{abs(hash(body))}"
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        code = f"class Mine:\n    def __init__(self, language, model):\n        pass\n{lines}"
        install(tmp_path, module, code, {"orderings": f"mine = {module}:Mine"}, patch=monkeypatch)

    return installed


def test_a_plug_in_scores_links_within_the_grain_of_penalties(ordering: Install) -> None:
    ordering(
        "draw, lifts, doubts_up_to = 'first', True, 0\n"
        "def scores(self, urls, source): return [1e-9 if 'a' in url else 1 for url in urls]"
    )
    made = make_ordering("mine", "de")
    assert (made.name, made.draw, made.lifts, made.doubts_up_to) == ("mine", Draw.FIRST, True, 0)
    assert [link.score for link in made.links(URLS, LinkSource())] == [1.0, 0.0]
    assert made.links([], LinkSource()) == []


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("[0]", "ValueError: 1 scores for 2 URLs"),
        ("[float('nan')] * len(urls)", "ValueError: cannot convert float NaN"),
        ("[float('inf')] * len(urls)", "OverflowError: cannot convert float infinity"),
        ("[2048] * len(urls)", "ValueError: a score of 2048.0: not between"),
        ("[-2**19] * len(urls)", "ValueError: a score of -524288.0: not between"),
        ("['good'] * len(urls)", "ValueError: could not convert string to float"),
        ("None", "TypeError: "),
        ("urls.nothing", "AttributeError: "),
    ],
)
def test_wrong_scores_are_those_of_the_plug_in(ordering: Install, scores: str, said: str) -> None:
    usual = "[0.0]" if scores != "[0]" else "[0]"
    ordering(f"def scores(self, urls, source): return {usual} if len(urls) == 1 else {scores}")
    made = make_ordering("mine", "de")
    with pytest.raises(PluginError, match=r"^plug-in mine \(my-orderings_\d+ 1.0\): ") as raised:
        made.links(URLS, LinkSource())
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "has no attribute 'scores'"),
        ("draw = 'last'\ndef scores(self, urls, source): return [0]", "'last' is not a valid Draw"),
        ("def scores(self, urls): return [0]", "takes 2 positional arguments"),
        ("def scores(self, urls, source): return [1, 2]", "2 scores for 1 URLs"),
        (
            "draw, lifts = 'uniform', True\ndef scores(self, urls, source): return [0]",
            "scores are not lifted if URLs are drawn uniformly",
        ),
    ],
)
def test_a_plug_in_that_breaks_its_contract_is_refused_before_a_crawl(
    ordering: Install, body: str, said: str
) -> None:
    ordering(body)
    with pytest.raises(SettingError, match="mine") as refused:
        prepare(Config.read({"lang": "de", "web": "sample", "strategy": "mine"}))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_simulation_refuses_a_plug_in_and_says_why(ordering: Install) -> None:
    ordering("def scores(self, urls, source): return [0] * len(urls)")
    for name, part in (("strategies", "mine"), ("filters", "some.module:Filter")):
        message = f"^-a {name}={part}: a simulation runs compiled code, and no plug-ins; "
        with pytest.raises(SettingError, match=message):
            make_plan({name: part}, random_graph(1))


def test_an_unknown_name_is_refused_with_the_plug_ins_that_there_are(ordering: Install) -> None:
    ordering("pass")
    with pytest.raises(SettingError, match=r"no such strategy; there are random, .*focus, mine$"):
        Config.read({"lang": "de", "web": "sample", "strategy": "yours"})
