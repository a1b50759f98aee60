"""A take-down removes hosts from all that a run kept, and from later sessions."""

from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.frontier.base import Sending
from langfocus.crawler.http.download import Download, Exchange
from langfocus.crawler.outputs import archived, takedown
from langfocus.crawler.outputs.archived import read_archived
from langfocus.crawler.outputs.package import write_index, write_wacz
from langfocus.crawler.outputs.takedown import take_down
from langfocus.crawler.run.folder import maintaining
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.sources.archive import ArchiveWeb
from tests.support.commandline import call
from tests.support.crawls import rows
from tests.support.keptpages import begun
from tests.support.smallweb import SENTENCES

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
LINKS = "".join(
    f"<a href='http://{name}/'>x</a>" for name in ("bad.de", "x.bad.de", "moved.bad.de", "b.de")
)
SHARED = f"<p>{SENTENCES['de'] * 9}</p>"
PAGES = {
    "http://seed.de/": SHARED + "<p>Start</p>" + LINKS,
    "http://bad.de/": SHARED + "<a href='http://c.de/'>x</a>",
    "http://x.bad.de/": SHARED + "<a href='http://y.bad.de/'>x</a><p>Mehr davon.</p>",
    "http://moved.bad.de/": "http://b.de/",
    "http://b.de/": SHARED + "<a href='http://c.de/'>x</a>",
}


def opened(folder: Path, strategy: str = "bfs") -> Crawl:
    clock = CrawlClock(lambda: 1e9, elapsed=lambda: 0.0)
    seeds = "http://seed.de/,http://z.bad.de/seed"
    settings = {"LANGFOCUS_WARC": True, "LANGFOCUS_LINKS": True}
    return begun(folder, clock, settings, seeds=seeds, strategy=strategy, host_cap="9")


def crawled(folder: Path, strategy: str = "bfs") -> None:
    """Fetch the pages; the seed of z.bad.de, and what is found behind, stay in the queue."""
    crawl = opened(folder, strategy)
    held = []
    while lease := crawl.queue.next():
        if lease.url not in PAGES:
            held.append(lease)
            continue
        assert crawl.frontier.send(lease, None, now=crawl.clock()) is Sending.NOW
        body = PAGES[lease.url].encode()
        if body.startswith(b"http"):
            crawl.visitor.answered(lease, Download(lease.url, 301, location=body.decode()))
            continue
        sent = Exchange(lease.url, 1e9, HEAD, body, b"GET / HTTP/1.1\r\n\r\n", "192.0.2.1")
        crawl.visitor.answered(
            lease, Download(lease.url, 200, body, "text/html", exchange=sent, ip="192.0.2.1")
        )
    crawl.robots.ask("http://x.bad.de:81/", 1e9)
    crawl.close("finished")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    crawled(folder)
    write_index(folder)
    return folder


def removed(folder: Path, *lines: str) -> takedown.TakenDown:
    with maintaining(folder) as connection:
        return take_down(connection, folder, lines)


def test_only_the_entry_of_the_log_stays_of_a_page(run: Path) -> None:
    files = "SELECT COUNT(*) FROM robots WHERE origin LIKE '%bad.de%'"
    assert rows(run, files) == [(1,)]
    earlier = (
        "INSERT INTO earlier(url, digest, looks, changes, first_at, seen_at, kept_url, kept_at)"
        " VALUES (?, '', 0, 0, 0.0, 0.0, 'http://bad.de/old', '1970')"
    )
    with maintaining(run) as connection:
        connection.executemany(earlier, [("http://bad.de/old",), ("http://b.de/old",)])
    assert removed(run, "*.bad.de") == (3, 2, 2, 1)
    assert rows(run, files) == [(0,)]
    outcomes_found = rows(run, "SELECT url, kept_url, kept_at FROM earlier")
    assert outcomes_found == [("http://b.de/old", None, None)]
    columns = "url, outcome, status, bytes, parent, language, address"
    kept = rows(run, f"SELECT {columns} FROM pages ORDER BY id")
    assert ("http://bad.de/", "taken_down", 200, len(PAGES["http://bad.de/"]), *[None] * 3) in kept
    assert ("http://moved.bad.de/", "redirect", 301, 0, *[None] * 3) in kept
    assert [row[0] for row in kept if row[1] == "page"] == ["http://seed.de/", "http://b.de/"]
    left = {url for (url,) in rows(run, "SELECT url FROM urls WHERE queued = 1")}
    assert left == {"http://c.de/"}
    [part] = source_of(run, None).parts
    found = {page if isinstance(page, str) else page.values["url"] for page in part.pages()}
    assert found == {"http://seed.de/", "http://b.de/"}


def test_warc_files_lack_the_host_and_have_each_other_answer_with_its_body(run: Path) -> None:
    before = sorted(path.name for path in run.glob("pages-*"))
    write_wacz(run, run / "x.wacz")
    assert call("takedown", run, "*.bad.de") == 0
    (path,) = run.glob("pages-*.warc.gz")
    assert path.name not in before
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        found = [(each.rec_type, each.rec_headers["WARC-Target-URI"]) for each in records]
    with path.open("rb") as file:
        assert b"bad.de" not in next(iter(ArchiveIterator(file))).raw_stream.read()
    assert ("response", "http://b.de/") in found
    assert not any("bad.de" in (url or "") for _, url in found)
    web = ArchiveWeb(path)
    assert web.respond("http://b.de/").body == PAGES["http://b.de/"].encode()
    with maintaining(run) as connection:
        for _, row in read_archived(connection):
            with path.open("rb") as file:
                file.seek(row.start)
                assert next(iter(ArchiveIterator(file))).rec_headers["WARC-Target-URI"] == row.url
    assert "bad.de" not in (run / "index.cdxj").read_text()
    assert len(ArchiveWeb(run / "x.wacz")) == len(web) == 2


def test_a_later_session_finds_a_sound_run_and_does_not_fetch_the_host_again(run: Path) -> None:
    removed(run, "*.bad.de")
    crawl = opened(run)
    asked = []
    while lease := crawl.queue.next():
        asked.append(lease.url)
    crawl.close("finished")
    assert asked == ["http://c.de/"]


def test_a_take_down_that_fails_changes_nothing_and_can_be_repeated(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {path: path.read_bytes() for path in run.glob("pages-*")}
    with monkeypatch.context() as broken:
        broken.setattr(takedown, "_note", _fails)
        with pytest.raises(StorageError, match="the take-down failed: no space"):
            removed(run, "bad.de")
    assert {path: path.read_bytes() for path in run.glob("pages-*")} == files
    assert removed(run, "bad.de").pages == 1
    assert removed(run, "bad.de").exchanges == 0


def _fails(*_: object) -> None:
    raise OSError("no space")


def test_a_host_that_the_run_does_not_know_is_told_and_stays_blocked(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(run, "SELECT * FROM pages")
    with maintaining(run):
        assert call("takedown", run, "unknown.de") == 1
    assert "another process" in capsys.readouterr().err
    assert call("takedown", run, "unknown.de") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{run} has no URL of unknown.de" in error
    assert rows(run, "SELECT * FROM pages") == before
    assert opened(run).contacts.blocking.blocks("http://unknown.de/")


def test_pages_keep_their_slots(tmp_path: Path) -> None:
    crawled(tmp_path, "focus")
    slots = "SELECT host, sent FROM hosts ORDER BY host"
    before = rows(tmp_path, slots)
    assert removed(tmp_path, "*.bad.de").pages == 3
    opened(tmp_path, "focus").close("finished")
    assert rows(tmp_path, slots) == before
    assert ("bad.de", 1) in before


@pytest.mark.parametrize("name", ["../own.txt", "{}/own.txt", "own.txt", "linked"])
def test_a_run_of_somebody_else_names_no_file_outside_of_its_own(name: str, tmp_path: Path) -> None:
    folder, own = tmp_path / "run", tmp_path / "own.txt"
    crawled(folder)
    (file,) = folder.glob("pages-*.warc.gz")
    for path in (own, folder / "own.txt"):
        path.write_bytes(b"own" * file.stat().st_size)
    if name == "linked":
        file.unlink()
        file.symlink_to(own)
    else:
        with maintaining(folder) as connection:
            for number, row in list(read_archived(connection)):
                archived.change(connection, number, row._replace(file=name.format(tmp_path)))
    for use in (taken, opened, packed):
        with pytest.raises(RunFolderError, match=r"no WARC file of it$|it is not a regular file$"):
            use(folder)
    for path in (own, folder / "own.txt"):
        assert path.read_bytes() == b"own" * (path.stat().st_size // 3)
        assert path.stat().st_size > 999


def test_a_row_beyond_its_file_takes_no_memory(tmp_path: Path) -> None:
    crawled(tmp_path)
    with maintaining(tmp_path) as connection:
        for number, row in list(read_archived(connection)):
            archived.change(connection, number, row._replace(length=1 << 50, finish=1 << 60))
    with pytest.raises(StorageError, match="it is shorter than its run says"):
        taken(tmp_path)


def taken(folder: Path) -> None:
    with maintaining(folder) as connection:
        take_down(connection, folder, ["bad.de"])


def packed(folder: Path) -> None:
    write_wacz(folder, folder / "x.wacz")
