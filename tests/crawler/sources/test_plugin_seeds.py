"""Seeds of plug-ins: their URLs, and one line for each mistake."""

from pathlib import Path

import pytest

from langfocus.classifiers.errors import LangfocusError
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.sources import seeds
from tests.crawler.spiders.test_crawl_plugins import WEB
from tests.support.plugins import install


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"seeds": "two = seed_plugin:seeds", "webs": "small = seed_plugin:Small"}
    install(tmp_path, "seed_plugin", WEB, points, patch=monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(seeds, "_MOST_PROVIDED", 10)


def test_seeds_are_normalised_and_a_file_goes_before_a_plug_in(tmp_path: Path) -> None:
    config = Config.read({"lang": "de", "seeds": "two"})
    assert config.seeds == ("http://de.example/a", "http://de.example/")
    assert [str(one) for one in config.plugins] == ["plug-in two (my-seed_plugin 1.0)"]
    (tmp_path / "two").write_text("http://b.de/")
    config = Config.read({"lang": "de", "seeds": "two"})
    assert (config.seeds, config.plugins) == (("http://b.de/",), [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seeds": "seed_plugin:endless"}, "ValueError: more than 10 seeds; write them to a file"),
        ({"seeds": "seed_plugin:numbers"}, "AttributeError: 'int' object has no attribute"),
        ({"seeds": "seed_plugin:TEXT"}, "TypeError: 'str' object is not callable"),
        ({"seeds": "no_such:seeds"}, "ModuleNotFoundError: No module named 'no_such'"),
        (
            {"web": "seed_plugin:Answer"},
            "AttributeError: 'Answer' object has no attribute 'respond'",
        ),
        ({"web": "seed_plugin:numbers"}, "AttributeError: 'list' object has no attribute 'respond"),
        ({"web": "none"}, "-a web=none: no such web; there are live, sample, archive, small"),
    ],
)
def test_a_plug_in_that_breaks_its_contract_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(LangfocusError) as refused:
        prepare(Config.read({"lang": "de", **given}))
    assert said in str(refused.value)
    if "no such web" not in said:
        assert str(refused.value).startswith(f"plug-in {next(iter(given.values()))}")
