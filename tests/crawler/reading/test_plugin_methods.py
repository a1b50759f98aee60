"""Page methods and filters of plug-ins run in readers, within the limits of a page."""

import asyncio
from pathlib import Path

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.configured import page_reader_of
from langfocus.crawler.reading.page import CRASHED, TIMEOUT, Reading
from langfocus.crawler.reading.process import Limits
from langfocus.crawler.reading.readers import Answer, Readers, ReadingError
from tests.support.plugins import install

CODE = """\
import numpy as np
from langfocus.classifiers.pages.method import PageLanguage


class Method:
    languages = {"de", "en"}

    def identify(self, page, surroundings):
        if "hang" in page.text:
            while True:
                pass
        if "memory" in page.text:
            self.kept = bytearray(2**30)
        if "wrong" in page.text:
            return "de"
        if "error" in page.text:
            raise LookupError("no such word")
        return PageLanguage("de", np.float32(0.5), "words", "all of them")


class Filter:
    rules = "hard"

    def __init__(self, language):
        pass

    def accepts(self, urls, source):
        return ["?" not in url and source.is_relevant for url in urls]


class Short(Filter):
    def accepts(self, urls, source):
        return []


class Ruled(Filter):
    rules = "strict"
"""
POINTS = {
    "page_methods": "mine = method_plugin:Method",
    "filters": "\n".join(
        f"{name} = method_plugin:{of}"
        for name, of in (("mine", "Filter"), ("short", "Short"), ("ruled", "Ruled"))
    ),
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    install(tmp_path, "method_plugin", CODE, POINTS, patch=monkeypatch)
    return Config.read({"lang": "de", "web": "sample", "identify": "mine", "filter": "mine"})


def page(text: str) -> Download:
    body = f"<p>{text}<a href=/a><a href=/b?c><a href='/d?e'>"
    return Download("http://a.de/", 200, body.encode(), "text/html; charset=utf-8")


def test_a_page_on_which_a_plug_in_hangs_or_eats_memory_is_given_up(config: Config) -> None:
    async def answers() -> list[Answer | None]:
        readers = Readers(1, config)
        readers.limits = Limits(processor_s=1.0, page_bytes=2**29)
        try:
            texts = ("usual", "hang", "memory", "error", "wrong", "usual")
            return [await readers.read(page(text), 1) for text in texts]
        finally:
            readers.close()

    first, hung, ate, raised, wrong, last = asyncio.run(answers())
    assert isinstance(first, Reading)
    assert (first.language, first.confidence, first.method) == ("de", 0.5, "words")
    assert [link.url for link in first.links] == ["http://a.de/a"]
    assert first.left_out["rejected"] == 2
    assert (hung, ate) == (TIMEOUT, CRASHED)
    for answer, said in ((raised, "LookupError: no such word"), (wrong, "AttributeError: ")):
        assert isinstance(answer, ReadingError)
        assert f"PluginError: plug-in mine (my-method_plugin 1.0): {said}" in str(answer)
    assert last == first


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("short", "ValueError: zip() argument 2 is shorter than argument 1"),
        ("ruled", "ValueError: rules 'strict': there are none, hard, server, "),
    ],
)
def test_a_filter_that_breaks_its_contract_is_refused(config: Config, name: str, said: str) -> None:
    wrong = Config.read({"lang": "de", "web": "sample", "filter": name})
    with pytest.raises(SettingError) as refused:
        page_reader_of(wrong)
    assert str(refused.value).startswith(f"plug-in {name} (my-method_plugin 1.0): {said}")
