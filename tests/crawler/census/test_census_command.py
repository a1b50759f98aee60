"""The command that counts runs and WARC files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from langfocus.crawler.report.past_run import Run
from tests.crawler.sources.test_web_archive import http, record
from tests.support.commandline import call
from tests.support.geodatabase import database
from tests.support.report_run import Row, make_run
from tests.support.smallweb import SENTENCES

NETWORKS = {"81.2.69.0/24": "GB", "89.160.20.0/24": "SE"}


def answer(
    url: str,
    body: bytes,
    address: str,
    *,
    status: int = 200,
    kind: str = "text/html",
    date: str = "",
) -> bytes:
    block = http(body, f"Content-Type: {kind}", status=status)
    more = f"WARC-IP-Address: {address}\r\nWARC-Date: {date}\r\n"
    return gzip.compress(record(url, block, more=more))


def page(language: str, declared: str = "") -> bytes:
    return f"<html lang='{declared}'><p>{SENTENCES[language] * 3}</p>".encode()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "web.warc.gz"
    thai = b"<p>" + "เมื่อวานตอนเย็นเราเดินเล่นริมแม่น้ำ".encode("tis-620") * 3
    path.write_bytes(
        answer("http://a.uk/", page("en", "en"), "81.2.69.160")
        + answer("http://a.uk/robots.txt", b"", "81.2.69.160")
        + answer("http://a.uk/de", page("de"), "81.2.69.160")
        + answer("http://b.se/", page("fr"), "89.160.20.112")
        + answer("http://b.se/no", page("fr"), "89.160.20.112", status=404)
        + answer("http://b.se/th", thai, "89.160.20.112", kind="text/html; charset=tis-620")
        + answer("http://c.x/", b"", "192.0.2.1")
        + answer("http://d.x/", page("de", "de"), "")
        + answer("http://d.x/i", b"\x89PNG", "", kind="image/png")
    )
    return path


def counted(tmp_path: Path, *arguments: object) -> dict[str, Any]:
    file = tmp_path / "census.json"
    assert call("census", *arguments, "--json", file) == 0
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.fixture
def geoip(tmp_path: Path) -> Path:
    path = tmp_path / "geo.mmdb"
    path.write_bytes(database(NETWORKS))
    return path


def test_an_archive_is_counted_by_address_and_language(
    archive: Path, geoip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = tmp_path / "census.html"
    found = counted(tmp_path, archive, "--geoip", geoip, "--html", html, "--country", "se")
    assert found["pages"] == "all"
    assert found["servers"] == {"unknown": 2, "GB": 1, "SE": 1}
    assert found["outcomes"] == {"page": 7, "media": 1}
    assert found["by_country"] == {
        "de": {"GB": 1, "unknown": 1},
        "en": {"GB": 1},
        "fr": {"SE": 1},
        "th": {"SE": 1},
        "unknown": {"unknown": 1},
    }
    evidence = {row["name"]: row for row in found["methods"]}
    assert evidence["encoding"]["identified"] == 1
    assert evidence["text"]["alone"] == {"de": 1, "fr": 1}
    assert evidence["declaration"]["alone"] == {}
    printed = capsys.readouterr().out
    assert "Languages in Sweden (SE), by pages (Table 5-5, Figure 5-5)" in printed
    assert "Countries by pages in German (de) (Table 5-6)" in printed
    shown = html.read_text()
    assert "Sweden (SE)" in shown
    assert "://" not in shown
    portals = counted(tmp_path, archive, "--geoip", geoip, "--pages", "portals")
    assert sum(portals["languages"].values()) == 4
    assert portals["by_country"] == {
        "de": {"unknown": 1},
        "en": {"GB": 1},
        "fr": {"SE": 1},
        "unknown": {"unknown": 1},
    }


def test_a_census_has_the_time_of_its_fetches(tmp_path: Path) -> None:
    archive, html = tmp_path / "web.warc", tmp_path / "census.html"
    dates = ("2020-02-03T04:05:06Z", "no date", "2019-12-31T23:59:59Z")
    archive.write_bytes(
        b"".join(
            gzip.decompress(answer(f"http://h{n}.de/", page("de"), "", date=date))
            for n, date in enumerate(dates)
        )
    )
    make_run(tmp_path / "run", [Row()]).close()
    found = counted(tmp_path, archive, tmp_path / "run", "--html", html)
    assert [(one["started_at"], one["ended_at"]) for one in found["sources"]] == [
        ("2019-12-31T23:59:59Z", "2020-02-03T04:05:06Z"),
        ("1970-01-01T00:16:40Z", "1970-01-01T00:16:50Z"),
    ]
    message = "From <time>1970-01-01T00:16:40Z</time> to <time>2020-02-03T04:05:06Z</time>"
    assert message in html.read_text()


def test_the_report_of_a_census_is_found_by_its_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, page = tmp_path / "run", tmp_path / "run" / "census.html"
    rows = [Row("http://a.de/", "a.de"), Row("http://b.de/", "b.de")]
    make_run(run, rows, hosts="hosts.txt").close()
    assert call("report", run) == 0
    assert capsys.readouterr().out.endswith(f"{page}\n")
    assert call("report", run, "--labels", tmp_path / "labels.csv") == 2
    assert "is a census" in capsys.readouterr().err
    page.unlink()
    assert Run(run).write_report() == page
    assert call("takedown", run, "b.de") == 0
    outcomes = json.loads((run / "census.json").read_text())["outcomes"]
    assert outcomes == {"page": 1, "taken_down": 1}
    assert not (run / "report.html").exists()


def test_a_run_is_counted_with_the_addresses_that_it_recorded(
    geoip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_run(
        tmp_path / "run",
        [
            Row("http://a.de/", "a.de", method="declaration"),
            Row("http://a.de/x", "a.de", language="en"),
            Row("http://b.de/", "b.de", country="FR", language=None),
            Row("http://c.de/", "c.de", outcome="dns", status=None, language=None),
        ],
    )
    made.execute("UPDATE pages SET address = '81.2.69.1' WHERE host = 'a.de'")
    made.commit()
    made.close()
    found = counted(tmp_path, tmp_path / "run", "--geoip", geoip)
    assert found["by_country"] == {
        "de": {"GB": 1},
        "en": {"GB": 1},
        "unknown": {"FR": 1},
    }
    assert (found["hosts"], found["servers"], found["addresses"]) == (
        3,
        {"FR": 1, "GB": 1},
        {"GB": 1},
    )
    assert found["decided"] == {"declaration": 1, "ngrams": 1}
    assert "its WARC files give all of it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: RUN|WARC"),
        (("nothing.warc.gz",), "nothing.warc.gz: No such file or directory; give a WARC file"),
        (("run", "--geoip", "no.mmdb"), "cannot be read as a MaxMind DB file"),
        (("run", "--language", "xx"), "--language xx: no such language"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("census", *arguments) != 0
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
