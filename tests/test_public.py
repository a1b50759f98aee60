"""What is public changes with a line in the changelog, and a renamed name warns before it goes."""

import difflib
import subprocess
import sys

import pytest

import langfocus
from langfocus.crawler.options.config import ARGUMENTS, RENAMED, SETTINGS
from langfocus.crawler.spiders.scrapy_settings import config_of
from tests.crawler.spiders.test_crawl_settings import scrapy_settings
from tests.support.public import FILE, UPDATE, public


def test_what_is_public_is_frozen() -> None:
    before = FILE.read_text("utf-8").splitlines()
    changed = [line for line in difflib.ndiff(before, public()) if line[0] in "+-"]
    assert not changed, "\n".join((f"what is public has changed; {UPDATE}", *changed))


def test_a_renamed_name_works_and_names_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(langfocus._RENAMED, "detect_url", ("identify_url", "0.3"))
    message = r"langfocus\.detect_url is now langfocus\.identify_url; version 0\.3 removes the old"
    with pytest.warns(DeprecationWarning, match=message) as warned:
        assert langfocus.detect_url("https://www.spiegel.de/").language == "de"
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=message):  # not only once
        from langfocus import detect_url
    assert detect_url is langfocus.identify_url
    assert "detect_url" not in langfocus.__all__


def test_a_renamed_option_works_and_is_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(RENAMED, "ordering", "strategy")
    monkeypatch.setitem(RENAMED, "LANGFOCUS_CALM", "LANGFOCUS_PATIENCE")
    settings = scrapy_settings(LANGFOCUS_CALM=7)
    config = config_of({"lang": "de", "web": "sample", "ordering": "bfs"}, settings)
    assert (config.strategy, config.patience_s) == ("bfs", 7.0)
    assert sorted(record.getMessage() for record in caplog.records) == [
        f"{former} is now {now}; the next minor version removes the former name"
        for former, now in (("LANGFOCUS_CALM", "LANGFOCUS_PATIENCE"), ("ordering", "strategy"))
    ]


def test_every_renamed_option_has_a_successor() -> None:
    assert not RENAMED.keys() & {*ARGUMENTS, *SETTINGS}
    assert set(RENAMED.values()) <= {*ARGUMENTS, *SETTINGS}


def test_every_renamed_name_has_a_successor() -> None:
    version = tuple(map(int, langfocus.__version__.split(".")[:2]))
    for old, (new, removal) in langfocus._RENAMED.items():
        assert old not in langfocus.__all__
        assert new in langfocus.__all__
        assert tuple(map(int, removal.split("."))) > version, f"{old} may go now"


def test_a_name_that_never_was_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'detect_url'"):
        langfocus.detect_url  # noqa: B018


def test_a_command_line_of_python_shows_the_warning_of_a_renamed_name() -> None:
    line = (
        "import langfocus; langfocus._RENAMED['seek'] = 'crawl', '0.3'; "
        "print(langfocus.seek is langfocus.crawl)"
    )
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "True\n"
    assert "DeprecationWarning: langfocus.seek is now langfocus.crawl" in done.stderr
