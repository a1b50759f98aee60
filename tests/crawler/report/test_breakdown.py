"""Pages of a run by domain, country, media type and dates, with their harvest rate and bytes."""

import json
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from bs4 import BeautifulSoup

from langfocus.crawler.report.breakdown import Group
from langfocus.crawler.report.crawl import write_report
from langfocus.crawler.report.details import breakdown_tables
from langfocus.crawler.report.harvest import summarise
from tests.support.report_run import Row, make_run

DAY = 86400.0
ROWS = (
    Row(host="a.de", country="DE", bytes=1000, fetched_at=0.0),
    Row(host="b.a.de", country="AT", bytes=500, fetched_at=DAY - 1, is_copy=1),
    Row(host="x.co.uk", language="en", country="DE", bytes=200, fetched_at=DAY),
    Row(host="x.xn--p1ai", language=None, bytes=30, fetched_at=40 * DAY),
    Row(host="192.0.2.10", bytes=7, fetched_at=41 * DAY),
    Row(host="[2001:db8::1]", bytes=3, fetched_at=41 * DAY),
    Row(host="localhost", language="en", bytes=1, fetched_at=41 * DAY),
    Row(host="c.de", outcome="media", language=None, bytes=5000, fetched_at=99 * DAY),
    Row(host="d.de", outcome="dns", status=None, language=None, bytes=0),
)


def archive(run: Connection, *answers: tuple[int | None, str, str, int, int]) -> None:
    """Store answers: fingerprint, media type, file, end, and whether it is a revisit."""
    run.executemany(
        "INSERT INTO archived (fingerprint, mime, file, finish, is_revisit, url, date, status,"
        " digest, start, length) VALUES (?, ?, ?, ?, ?, 'u', 'd', 200, 'x', 0, 7)",
        answers,
    )
    run.commit()


def test_pages_are_counted_by_domain_country_and_day() -> None:
    with closing(make_run(None, ROWS)) as run:
        found = summarise(run)
    assert found.top_level_domains == {
        ".de": Group(2, 2, 1, 1500, 1000),
        "address": Group(2, 2, 2, 10, 10),
        ".localhost": Group(1, 1, 0, 1, 0),
        ".uk": Group(1, 1, 0, 200, 0),
        ".xn--p1ai": Group(1, 0, 0, 30, 0),
    }
    assert {code: group.pages for code, group in found.countries.items()} == {
        "unknown": 4,
        "DE": 2,
        "AT": 1,
    }
    assert list(found.days) == ["1970-01-01", "1970-01-02", "1970-02-10", "1970-02-11"]
    assert found.days["1970-01-01"] == Group(2, 2, 1, 1500, 1000)
    assert (found.bytes, found.page_bytes, found.relevant_bytes) == (6741, 1741, 1010)
    bytes_of = {row[0]: row[1:] for row in breakdown_tables(found)[3].rows}
    assert bytes_of["relevant pages"] == (3, "1.0 kB", 1010 / 6741)
    assert bytes_of["other answers"] == (2, "5.0 kB", 5000 / 6741)
    assert bytes_of["all, as received"] == (9, "6.7 kB", 1.0)


def test_pages_in_the_scope_are_relevant_in_every_group() -> None:
    rows = (
        Row(host="a.de", language=None, bytes=4, in_scope=1),
        Row(host="b.de", language="en", bytes=2, in_scope=1),
        Row(host="c.de", language="en", bytes=1),
    )
    with closing(make_run(None, rows)) as run:
        found = summarise(run)
    assert found.top_level_domains == {".de": Group(3, 3, 2, 7, 6)}


def test_answers_are_counted_by_media_type_and_year_of_their_last_change() -> None:
    with closing(make_run(None, ROWS)) as run:
        answers = [(0, "text/html"), (1, "text/html"), (7, "image/png"), (None, "text/plain")]
        archive(run, *((key, kind, "a.warc.gz", 900, 0) for key, kind in answers))
        archive(run, (2, "x" * 9000, "b.warc.gz", 40, 1), (3, "text/html", "b.warc.gz", 75, 2))
        dates = [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Mon, 07 Nov 1994 08:49:37 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "yesterday",
            None,
        ]
        run.executemany("INSERT INTO visits VALUES (?, NULL, ?, 'x', 0, 0, 0)", enumerate(dates, 1))
        found = summarise(run)
    assert {kind[:9]: group.pages for kind, group in found.types.items()} == {
        "text/html": 3,
        "image/png": 1,
        "text/plai": 1,
        "xxxxxxxxx": 1,
    }
    assert found.types["text/html"] == Group(3, 2, 1, 21, 7)
    assert max(map(len, found.types)) == 60
    assert found.stored_bytes == 975
    assert found.modified_years == {
        "1994": Group(2, 2, 1, 1500, 1000),
        "1970": Group(1, 1, 0, 200, 0),
    }
    tables = breakdown_tables(found)
    assert tables[5].rows[0] == ("1994", 2, 1, 0.5, "1.5 kB")
    assert tables[5].notes == ["What servers say; they gave 4 pages no date."]
    assert tables[3].notes[0] == "The WARC files have 975 B, compressed, with the requests."


def test_the_report_has_the_tables_and_the_summary_has_the_counts(tmp_path: Path) -> None:
    rows = [Row(host=f"a.t{chr(97 + n)}", fetched_at=n * DAY, bytes=10) for n in range(20)]
    rows += [Row(language="en", fetched_at=n * DAY) for n in range(20, 40)]
    make_run(tmp_path, rows).close()
    write_report(tmp_path)
    figures = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert figures["top_level_domains"][".de"] == {
        **{"pages": 20, "labelled": 20, "relevant": 0, "bytes": 2000, "relevant_bytes": 0},
        "harvest_rate": 0.0,
    }
    assert len(figures["days"]) == 40
    assert figures["countries"] == figures["types"] == figures["modified_years"] == {}
    page = BeautifulSoup((tmp_path / "report.html").read_text("utf-8"), "html.parser")
    texts = {
        table["aria-label"]: [
            [cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")
        ]
        for table in page.select(".table")
    }
    assert texts["Top-level domains"][0] == [".de", "20", "0", "0.0 %", "2.0 kB"]
    assert texts["Top-level domains"][-1] == ["11 others", "11", "11", "100.0 %", "110 B"]
    assert texts["Pages by month"] == [
        ["1970-01", "31", "20", "64.5 %", "1.3 kB"],
        ["1970-02", "9", "0", "0.0 %", "900 B"],
    ]
    assert not {"Countries of servers", "MIME types", "Last-Modified by year"} & set(texts)
    notes = [note.get_text() for note in page.select(".note")]
    assert notes.count("relevant: in the target language, and no copy.") == 2
