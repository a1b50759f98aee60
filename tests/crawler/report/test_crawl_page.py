"""The HTML report: whole without a network, harmless with any texts from the Web."""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from crawler.errors import RunFolderError
from crawler.report.crawl_page import write_report
from tests.support.report_run import Row, make_run

HOSTILE = "http://x.de/\"><script>alert(1)</script>?a='b&lt;c\u202egpj.exe"


def mixed_rows(count: int) -> list[Row]:
    return [
        Row(
            host=f"h{number % 37}.de",
            language=("de", "de", "en", None)[number % 4],
            outcome="redirect" if number % 11 == 0 else "page",
            queued=number,
            fetched_at=1000.0 + number / 50,
        )
        for number in range(count)
    ]


@pytest.fixture
def report(tmp_path: Path) -> BeautifulSoup:
    make_run(tmp_path, mixed_rows(900), seeds=json.dumps([HOSTILE]), counts={"seen": 12}).close()
    write_report(tmp_path)
    return BeautifulSoup((tmp_path / "report.html").read_text(encoding="utf-8"), "html.parser")


def test_the_report_refers_to_nothing_outside_itself(report: BeautifulSoup) -> None:
    for element in report.find_all(True):
        for name, value in element.attrs.items():
            refers = name.split(":")[-1] in {"src", "href", "action", "srcset", "data"}
            assert not refers or str(value).startswith("#"), element
            assert not name.startswith("on"), element
            assert name == "content" or "://" not in str(value), element
    assert not report.find_all(["script", "link", "iframe", "img", "object", "base"])
    assert "url(http" not in str(report)
    assert "@import" not in str(report)


def test_a_hostile_seed_is_text(report: BeautifulSoup) -> None:
    shown = [item.get_text() for item in report.select("section:last-of-type td")]
    assert shown == [HOSTILE.replace("\u202e", "?")]


def test_ids_are_unique_and_every_reference_has_one(report: BeautifulSoup) -> None:
    ids = [element["id"] for element in report.find_all(id=True)]
    assert len(ids) == len(set(ids))
    targets = {str(element["href"])[1:] for element in report.find_all(href=True)}
    assert targets <= set(ids)


def test_the_figures_stand_in_the_report(report: BeautifulSoup) -> None:
    names = [name.get_text() for name in report.select("dl.figures dt")]
    figures = dict(zip(names, (f.get_text() for f in report.select("dl.figures dd")), strict=True))
    assert figures["pages"] == "818"
    assert figures["harvest rate"] == "66.6 %"
    assert figures["of these by ngrams"] == "614"
    captions = [caption.get_text() for caption in report.find_all("caption")]
    assert "Languages" in captions
    assert len(report.find_all("svg")) == 3
    assert all(svg["aria-label"] for svg in report.find_all("svg"))


def test_the_same_run_gives_the_same_report(tmp_path: Path) -> None:
    make_run(tmp_path, mixed_rows(300)).close()
    texts = []
    for _ in range(2):
        write_report(tmp_path)
        texts.append((tmp_path / "report.html").read_bytes())
    assert texts[0] == texts[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report.html",
        "run.db",
        "summary.json",
    ]


def test_an_empty_run_has_a_report(tmp_path: Path) -> None:
    make_run(tmp_path, [], sessions=[]).close()
    assert write_report(tmp_path).pages == 0
    assert "<svg" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_run_without_any_label_has_a_report(tmp_path: Path) -> None:
    make_run(tmp_path, [Row(language=None)] * 3).close()
    assert write_report(tmp_path).harvest_rate is None


def test_a_folder_that_is_no_run_gets_no_report(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"has no run\.db"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []
