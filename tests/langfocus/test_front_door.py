"""The package as a user imports it."""

import subprocess
import sys
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from mypy import api

import langfocus
from langfocus.classifiers.errors import LangfocusError
from langfocus.crawler.errors import CrawlError, RunFolderError
from langfocus.crawler.options.config import ARGUMENTS
from langfocus.crawling import _Call
from tests.support.crawls import ROOT

USER_CODE = """\
from collections.abc import Iterator
from pathlib import Path

import langfocus
from langfocus import Run, UrlModel

answer = langfocus.identify_url("https://www.spiegel.de/")
code: str | None = answer.language
score: float = answer.scores["de"]
answers: Iterator[langfocus.UrlLanguage] = langfocus.identify_urls(["http://a.de/"])
page: langfocus.PageLanguage = langfocus.identify_page(b"<p>Guten Tag", "http://a.de/")
links: list[str] = langfocus.parse_page(b"<p>", content_type=None, url="").links
languages: tuple[str, ...] = UrlModel.load().languages
version: str = langfocus.__version__


def harvest(seeds: list[str]) -> float | None:
    try:
        run = langfocus.crawl(
            "de", seeds=seeds, web="sample", pages=100, strategy="svm", settings={"RETRY_TIMES": 1}
        )
    except langfocus.LangfocusError as error:
        raise SystemExit(str(error)) from error
    urls: list[str] = [page.url for page in run.pages() if page.language == "de"]
    print(len(urls), run.write_report())
    return run.summary.harvest_rate


again: Path = Run("runs/de").folder
langfocus.crawl("de", page=100)  # a mistake
"""


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_users_code_is_type_checked_strictly(tmp_path: Path) -> None:
    code = tmp_path / "users_code.py"
    code.write_text(USER_CODE)
    # Without the types of other packages it takes a fifth of the time; an expression of the code
    # that needs them would be an error.
    fast = ["--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent"]
    fast += ["--disallow-any-expr", "--no-incremental", f"--cache-dir={tmp_path / 'cache'}"]
    expected, _, _ = api.run(["--strict", "--no-error-summary", *fast, str(code)])
    in_numpy, mistake = (line for line in expected.splitlines() if ": error: " in line)
    assert in_numpy.endswith('(has type "type[UrlModel]")  [misc]')
    assert 'Unexpected keyword argument "page"' in mistake


def test_there_are_few_public_names_and_all_are_there() -> None:
    assert len(langfocus.__all__) <= 18
    assert set(langfocus.__all__) <= set(dir(langfocus))
    for name in langfocus.__all__:
        assert getattr(langfocus, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'crawll'"):
        _ = langfocus.crawll


def test_the_import_help_and_mistakes_load_nothing_but_langfocus_itself() -> None:
    loaded = python(
        """
        import sys
        before = set(sys.modules)
        from langfocus.command_line import main
        main(["--help"])
        main(["x"])
        known = {*sys.stdlib_module_names, "langfocus"}
        print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} - known))
        """
    )
    assert loaded.splitlines()[-1] == "[]"


def test_urls_are_identified_one_by_one_and_many_at_once() -> None:
    urls = ["https://www.spiegel.de/politik/", "http://jardin-et-maison.com/les-plus-belles-fleurs"]
    assert [answer.language for answer in langfocus.identify_urls(iter(urls))] == ["de", "fr"]
    assert langfocus.identify_url(urls[0]).language == "de"
    with pytest.raises(TypeError, match="identify_url"):
        langfocus.identify_urls(urls[0])


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", None])
def test_a_page_is_identified_from_bytes_or_text(encoding: str | None) -> None:
    with pytest.raises(TypeError, match="as bytes or str, not"):
        langfocus.identify_page(None)  # type: ignore[arg-type]
    text = "<p>Über der Wiese lag heute Morgen ein dünner Nebel, und die Schafe schliefen.</p>"
    html = text.encode(encoding) if encoding else text
    assert langfocus.identify_page(html, "http://example.org/").language == "de"


def test_the_arguments_of_a_crawl_are_those_of_the_command() -> None:
    values = {field.name for field in fields(_Call)} - {"folder", "settings", "shows_progress"}
    assert values == set(ARGUMENTS)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> langfocus.Run:
    folder = tmp_path_factory.mktemp("crawl") / "run"
    settings = {"LANGFOCUS_SAMPLE_HOSTS": 300, "RETRY_TIMES": None}
    return langfocus.crawl("German", web="sample", pages=40, folder=folder, settings=settings)


def test_a_crawl_returns_its_run_with_its_pages_in_the_order_of_the_crawl(
    run: langfocus.Run,
) -> None:
    assert (run.summary.lang, run.summary.pages) == ("de", 40)
    assert run.summary.finish_reason == "pages"
    pages = list(run.pages())
    assert len(pages) == 40
    assert {page.outcome for page in pages} == {"page"}
    assert pages == sorted(pages, key=lambda page: page.fetched_at)
    assert len(list(run.pages(with_failures=True))) == sum(run.summary.outcomes.values())


def test_a_run_is_opened_by_its_folder(run: langfocus.Run, tmp_path: Path) -> None:
    again = langfocus.Run(str(run.folder))
    assert repr(again) == f"Run({str(run.folder)!r})"
    assert next(again.pages()) == next(run.pages())
    assert again.write_report().is_file()
    with pytest.raises(RunFolderError, match=r"no run\.db"):
        langfocus.Run(tmp_path)


def test_the_error_of_a_crawl_is_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CrawlError, match=r"^nix\.warc\.gz: No such file"):
        langfocus.crawl("de", web="archive", archive="nix.warc.gz", seeds=["http://a.de/"])
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize(
    "given", [{"strategy": "best"}, {"settings": {"RETRY_TIMES": "x"}}], ids=["argument", "setting"]
)
def test_a_refused_crawl_leaves_the_folder_of_its_caller(tmp_path: Path, given: Any) -> None:
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(LangfocusError):
            langfocus.crawl("de", web="sample", folder=folder, **given)
    assert list(tmp_path.iterdir()) == []
