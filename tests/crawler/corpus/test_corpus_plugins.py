"""Extractors and formats of plug-ins."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

from langfocus.crawler.corpus import extraction
from langfocus.crawler.corpus.export import format_of
from langfocus.crawler.corpus.formats import written
from langfocus.crawler.corpus.item import PageItem
from langfocus.crawler.errors import SettingError
from tests.support.commandline import call
from tests.support.keptpages import KeptPages, german, html
from tests.support.plugins import install

CODE = """\
import re


def paragraphs(html, has_markup):
    if "Nummer2 " in html:
        raise LookupError("no body")
    if "Nummer3 " in html:
        return None
    return re.sub("<[^>]+>", " ", html)


def addresses(items):
    for item in items:
        yield f"{item.url}\\n"


def broken(items):
    yield from (item.url for item in items)
    raise LookupError("no more")


def numbers(items):
    yield from map(len, items)
"""
POINTS = {
    "extractors": "mine = corpus_plugin:paragraphs",
    "formats": "urls = corpus_plugin:addresses\nbroken = corpus_plugin:broken",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("plugins")
    with pytest.MonkeyPatch.context() as patch:
        install(folder / "packages", "corpus_plugin", CODE, POINTS, patch=patch)
        extraction.extractor_of.cache_clear()
        get_reusable_executor().shutdown()  # its processes began without these packages
        pages = KeptPages(folder / "run")
        pages.settle_all([(f"http://a.de/{n}", html(german(n))) for n in range(1, 5)])
        yield pages.folder
    extraction.extractor_of.cache_clear()


def test_pages_that_the_extractor_of_a_plug_in_fails_on_are_counted_under_its_name(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--extractor", "mine", "--output", tmp_path / "x.urls", "--json", tmp_path / "x.json")
    assert call("export", run, *asked) == 0
    assert (tmp_path / "x.urls").read_text() == "http://a.de/1\nhttp://a.de/4\n"
    summary = json.loads((tmp_path / "x.json").read_text())
    assert summary["extractor"] == "plug-in mine (my-corpus_plugin 1.0)"
    failed = f"extractor failed: {summary['extractor']}"
    assert summary["left_out"].items() >= {
        (f"{failed}: LookupError", 1),
        (f"{failed}: TypeError", 1),
    }
    assert call("export", run, *asked[:2], "--output", tmp_path / "x.urls.gz") == 0
    assert "my-corpus_plugin" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ("broken", "plug-in broken (my-corpus_plugin 1.0): LookupError: no more"),
        ("corpus_plugin:numbers", "plug-in corpus_plugin:numbers (my-corpus_plugin 1.0): TypeE"),
    ],
)
def test_a_format_that_fails_is_named_and_leaves_the_file_as_it_was(
    run: Path, tmp_path: Path, format: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("as it was")
    assert call("export", run, "--format", format, "--output", path) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"langfocus: {said}")
    assert path.read_text() == "as it was"


@pytest.mark.parametrize("fault", [LookupError("no page"), OSError("no disk")])
def test_a_format_is_not_blamed_for_a_page_that_cannot_be_read(run: Path, fault: Exception) -> None:
    def unreadable() -> Iterator[PageItem]:
        yield from ()
        raise fault

    with pytest.raises(type(fault)) as raised:
        list(written("urls", unreadable()))
    assert raised.value is fault


@pytest.mark.parametrize(
    ("option", "value", "code", "said"),
    [
        ("--extractor", "yours", 2, "--extractor yours: no such extractor; there are combined, "),
        ("--format", "yours", 2, "--format yours: not one of jsonl, txt, "),
        ("--output", "x.yours", 2, "must end in one of jsonl, txt, csv, vert, xml, broken, urls, "),
        ("--extractor", "corpus_plugin:none", 1, "plug-in corpus_plugin:none (my-corpus_plugin 1"),
    ],
)
def test_an_unknown_name_is_refused_before_a_page_is_read(
    run: Path, option: str, value: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("export", run, option, value) == code
    assert said in capsys.readouterr().err


def test_parquet_is_not_packed_whatever_names_the_format() -> None:
    assert format_of(Path("x.gz"), "txt") == "txt"
    assert format_of(None, "parquet") == "parquet"
    with pytest.raises(SettingError, match=r"^--format parquet: not one of .+ but for parquet$"):
        format_of(Path("x.gz"), "parquet")
