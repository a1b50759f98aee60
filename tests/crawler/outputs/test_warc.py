"""The WARC files of a run hold exactly the exchanges of settled URLs, also after a kill."""

import errno
import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Lease, Record
from langfocus.crawler.http.download import Exchange
from langfocus.crawler.outputs.archived import gather, read_archived, repair
from langfocus.crawler.outputs.package import write_index
from langfocus.crawler.outputs.warc import WarcArchive, WarcFile
from langfocus.crawler.run.folder import connect
from langfocus.crawler.run.schema import create
from tests.support.dropped import dropped

NOW = 1_790_000_000.0
HEAD = b"HTTP/1.1 200 OK\r\nServer: x\r\nCONTENT-type: text/html; charset=utf-8\r\n\r\n"
GERMAN = Record(
    "page", NOW, 200, is_download=True, language="de", confidence=0.9871, method="text", bytes=3
)


def exchange(url: str, body: bytes = b"abc", **more: Any) -> Exchange:
    request = f"GET / HTTP/1.1\r\nHost: {url}\r\n\r\n".encode()
    return Exchange(url, NOW, HEAD, body, request, "192.0.2.1", **more)


def lease(number: int) -> Lease:
    return Lease(number, f"http://a.de/{number}", "a.de", 0.0, 0, 0, 0)


class Kept:
    """The archive of a run, and the pages that the run has settled."""

    def __init__(self, folder: Path, most_bytes: int = 1 << 30, worker: str = "") -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        if not (folder / "run.db").exists():
            create(folder / "run.db", {})
        self.connection = dropped(connect(folder / "run.db"), folder)
        repair(self.connection, folder)
        values = {"software": "test", "operator": "someone"}
        file = WarcFile(folder, values, now=NOW, most_bytes=most_bytes, worker=worker)
        self.archive = WarcArchive(self.connection, file)

    def settle(self, number: int, record: Record = GERMAN, **more: bytes) -> None:
        found = exchange(lease(number).url, more.get("body", b"page %d" % number))
        with self.archive.keeping(lease(number), record, found):
            self.note(number)

    def note(self, number: int) -> None:
        self.connection.execute(
            "INSERT INTO pages(fingerprint, url, host, depth, outcome, bytes, score, queued,"
            " is_copy, in_scope, needs_browser, fetched_at)"
            " VALUES (?, ?, 'a.de', 0, 'page', 3, 0.0, 0, 0, 0, 0, 0.0)",
            (number, lease(number).url),
        )

    def write_unsettled(self, number: int) -> None:
        """Write an exchange, but be killed before its URL is settled."""
        self.archive._write(exchange(lease(number).url), number, GERMAN)

    def rows(self) -> list[str]:
        return [row.url for _, row in read_archived(self.connection)]

    def end(self) -> None:
        self.archive.close()
        self.connection.close()

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("pages-*"))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    made.end()


def records(folder: Path, *, with_heads: bool = False) -> list[tuple[str, str, bytes]]:
    """Return kind, URL and payload of all records, as warcio reads them, digests checked.

    With heads they are whole blocks, and no digest is checked.
    """
    checks = False if with_heads else "raise"
    found = []
    for path in sorted(folder.glob("pages-*")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, with_heads, check_digests=checks):
                url = record.rec_headers.get_header("WARC-Target-URI") or ""
                found.append((record.rec_type, url, record.raw_stream.read()))
    return found


def answers(folder: Path) -> list[str]:
    return [url for kind, url, _ in records(folder) if kind in ("response", "revisit")]


def test_an_exchange_is_a_response_a_request_and_what_identification_found(kept: Kept) -> None:
    kept.settle(1, body=b"abc")
    (_, _, information), *others = records(kept.folder)
    with kept.files()[0].open("rb") as file:
        blocks = [r.raw_stream.read() for r in ArchiveIterator(file, no_record_parse=True)]
    assert blocks[1] == HEAD + b"abc"
    assert blocks[2].startswith(b"GET / HTTP/1.1\r\n")
    assert b"format: WARC File Format 1.1\r\n" in information
    assert b"operator: someone\r\n" in information
    url = "http://a.de/1"
    found = b"outcome: page\r\nlanguage: de\r\nconfidence: 0.9871\r\nmethod: text\r\n"
    assert others == [("response", url, b"abc"), ("request", url, b""), ("metadata", url, found)]


def test_headers_connect_the_records_of_an_exchange(kept: Kept) -> None:
    kept.settle(1)
    with kept.files()[0].open("rb") as file:
        info, answer, request, metadata = [r.rec_headers for r in ArchiveIterator(file)]
    answer_id = answer.get_header("WARC-Record-ID")
    assert answer.get_header("WARC-Warcinfo-ID") == info.get_header("WARC-Record-ID")
    assert info.get_header("WARC-Filename") == kept.files()[0].name
    assert request.get_header("WARC-Concurrent-To") == answer_id
    assert metadata.get_header("WARC-Refers-To") == answer_id
    assert answer.get_header("WARC-IP-Address") == "192.0.2.1"
    assert answer.get_header("WARC-Date") == "2026-09-21T14:13:20Z"
    assert answer.protocol == "WARC/1.1"


def test_a_rendered_page_is_a_conversion_of_its_answer(kept: Kept) -> None:
    shell = exchange(lease(1).url, rendered=b"<p>text")
    with kept.archive.keeping(lease(1), GERMAN, shell):
        kept.note(1)
    (file,) = kept.files()
    with file.open("rb") as opened:
        heads = {one.rec_type: one.rec_headers for one in ArchiveIterator(opened)}
    answer, made = heads["response"], heads["conversion"]
    assert made.get_header("WARC-Target-URI") == lease(1).url
    assert made.get_header("WARC-Refers-To") == answer.get_header("WARC-Record-ID")
    assert made.get_header("WARC-Concurrent-To") is None
    assert made.get_header("Content-Type") == "text/html; charset=utf-8"
    assert ("conversion", lease(1).url, b"<p>text") in records(kept.folder)


def test_the_same_body_again_is_a_revisit(kept: Kept) -> None:
    for number in (1, 2, 3):
        kept.settle(number, body=b"same")
    kept.settle(4, body=b"")
    kept.settle(5, body=b"")
    kinds = [kind for kind, _, _ in records(kept.folder) if kind in ("response", "revisit")]
    assert kinds == ["response", "revisit", "revisit", "response", "response"]
    with kept.files()[0].open("rb") as file:
        revisit = next(r for r in ArchiveIterator(file) if r.rec_type == "revisit")
    headers = revisit.rec_headers
    assert headers.get_header("WARC-Refers-To-Target-URI") == "http://a.de/1"
    assert headers.get_header("WARC-Refers-To-Date") == "2026-09-21T14:13:20Z"
    assert headers.get_header("WARC-Profile").endswith("/1.1/revisit/identical-payload-digest")
    assert revisit.http_headers.get_header("Server") == "x"


def test_a_body_of_which_bytes_are_missing_has_no_revisit(kept: Kept) -> None:
    for url in ("http://a.de/", "http://b.de/"):
        kept.archive.add(exchange(url, truncated="length"))
    assert [kind for kind, _, _ in records(kept.folder)].count("response") == 2
    with kept.files()[0].open("rb") as file:
        heads = [r.rec_headers.get_header("WARC-Truncated") for r in ArchiveIterator(file)]
    assert heads == [None, "length", None, "length", None]


def test_a_page_with_noarchive_stays_out(kept: Kept) -> None:
    kept.settle(1, Record("page", NOW, 200, is_download=True, is_noarchive=True))
    assert kept.rows() == []
    assert kept.files() == []


def test_a_url_that_could_not_be_settled_stays_out(kept: Kept) -> None:
    kept.settle(1)
    before = kept.files()[0].read_bytes()
    found = exchange(lease(2).url)
    with pytest.raises(KeyError), kept.archive.keeping(lease(2), GERMAN, found):
        raise KeyError(2)
    assert kept.files()[0].read_bytes() == before
    kept.settle(3)
    assert answers(kept.folder) == kept.rows() == ["http://a.de/1", "http://a.de/3"]


def test_a_file_that_is_large_enough_gets_no_further_exchange(tmp_path: Path) -> None:
    kept = Kept(tmp_path, most_bytes=3_000)
    for number in range(12):
        kept.settle(number, body=os.urandom(1_000))
    assert len(kept.files()) > 2
    assert all(path.stat().st_size < 3_000 + 2_500 for path in kept.files())
    assert answers(tmp_path) == kept.rows() == [lease(number).url for number in range(12)]
    firsts = [next(ArchiveIterator(BytesIO(f.read_bytes()))).rec_type for f in kept.files()]
    assert set(firsts) == {"warcinfo"}
    kept.end()


def test_a_kill_leaves_what_the_next_session_cuts(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.settle(1)
    kept.settle(2)
    whole = kept.files()[0].read_bytes()
    kept.write_unsettled(3)
    written = kept.files()[0].read_bytes()
    kept.end()
    path = kept.files()[0]
    assert len(written) > len(whole)
    for end in range(len(whole), len(written), 7):
        # Killed while the exchange was written: without its row.
        path.write_bytes(written[:end])
        again = Kept(tmp_path)
        assert path.read_bytes() == whole
        assert again.rows() == ["http://a.de/1", "http://a.de/2"]
        again.end()


def test_a_kill_before_the_first_exchange_leaves_no_file_but_a_robots_file_counts(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    kept.write_unsettled(1)
    kept.end()
    again = Kept(tmp_path)
    assert (again.files(), again.rows()) == ([], [])
    again.archive.add(exchange("http://a.de/robots.txt"))
    again.end()
    again = Kept(tmp_path)
    assert answers(tmp_path) == again.rows() == ["http://a.de/robots.txt"]
    again.end()


def test_a_session_does_not_touch_the_files_of_another(tmp_path: Path) -> None:
    for number in (1, 2):
        kept = Kept(tmp_path)
        kept.settle(number)
        kept.end()
    assert [path.name for path in kept.files()] == [
        "pages-20260921141320-00001.warc.gz",
        "pages-20260921141320-00002.warc.gz",
    ]
    assert answers(tmp_path) == ["http://a.de/1", "http://a.de/2"]


def test_a_file_that_a_power_cut_made_shorter_loses_its_last_exchanges(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept(tmp_path)
    for number in (1, 2, 3):
        kept.settle(number)
    kept.end()
    path = kept.files()[0]
    path.write_bytes(path.read_bytes()[:-10])
    again = Kept(tmp_path)
    assert answers(tmp_path) == again.rows() == ["http://a.de/1", "http://a.de/2"]
    assert caplog.messages == [f"{tmp_path}: its WARC files lack 1 exchanges of settled pages"]
    again.end()


def test_a_file_may_be_moved_away_between_two_sessions(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.settle(1)
    kept.end()
    kept.files()[0].rename(tmp_path / "elsewhere.warc.gz")
    again = Kept(tmp_path)
    again.settle(2, body=b"page 1")
    assert again.rows() == ["http://a.de/1", "http://a.de/2"]
    assert [kind for kind, *_ in records(tmp_path)][1] == "revisit"
    again.end()


def test_a_full_disk_is_one_line(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.settle(1)
    before = kept.files()[0].read_bytes()

    write = WarcFile._write

    def full(files: WarcFile, data: bytes) -> None:
        write(files, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(WarcFile, "_write", full)
        with pytest.raises(StorageError) as caught:
            kept.settle(2)
    assert str(caught.value) == f"{kept.files()[0]} can no longer be written: " + os.strerror(
        errno.ENOSPC
    )
    assert kept.files()[0].read_bytes() == before


def test_warcio_finds_nothing_wrong(kept: Kept, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        kept.settle(number, body=b"same" if number else b"other")

    inputs = [str(path) for path in kept.files()]
    checker = Checker(SimpleNamespace(verbose=True, inputs=inputs))
    checker.process_all()
    assert checker.exit_value == 0
    printed = capsys.readouterr().out
    assert printed.count("digest pass") == 9
    assert "not present" not in printed


def worker(folder: Path, *numbers: int, unsettled: int | None = None) -> Path:
    """A worker's folder with settled exchanges, and one whose page is not in the folder."""
    kept = Kept(folder, worker=folder.name)
    for number in numbers:
        kept.settle(number)
    if unsettled is not None:
        kept.write_unsettled(unsettled)
    kept.end()
    return folder


def merged(folder: Path, pages: list[int], shares: list[Path]) -> Kept:
    run = Kept(folder)
    for number in pages:
        run.note(number)
    gather(run.connection, folder, shares)
    return run


def test_a_merged_run_has_the_exchanges_and_the_files_of_all_workers(tmp_path: Path) -> None:
    shares = [worker(tmp_path / "w1", 1, 2), worker(tmp_path / "w2", 3), tmp_path / "w3"]
    worker(shares[2])
    run = merged(tmp_path / "all", [1, 2, 3], shares)
    urls = [lease(number).url for number in (1, 2, 3)]
    assert sorted(run.rows()) == sorted(answers(run.folder)) == urls
    files = [path for share in shares[:2] for path in share.glob("pages-*")]
    assert all((run.folder / path.name).samefile(path) for path in files)
    run.end()
    assert write_index(run.folder) == 3


@pytest.mark.parametrize("pages", [[1, 2], [1]])
def test_the_last_exchange_of_a_dead_worker_counts_if_its_page_is_settled(
    tmp_path: Path, pages: list[int]
) -> None:
    """The record of the page is in Redis until the worker comes back."""
    share = worker(tmp_path / "w1", 1, unsettled=2)
    run = merged(tmp_path / "all", pages, [share])
    assert run.rows() == [lease(number).url for number in pages]
    run.end()


def test_the_last_exchange_of_a_dead_worker_is_that_of_the_worker_that_settled_the_url(
    tmp_path: Path,
) -> None:
    shares = [worker(tmp_path / "w1", 1, unsettled=2), worker(tmp_path / "w2", 2)]
    run = merged(tmp_path / "all", [1, 2], shares)
    assert run.rows() == [lease(1).url, lease(2).url]
    run.end()


def test_files_are_copied_where_no_link_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another device")

    monkeypatch.setattr("langfocus.crawler.outputs.archived.os.link", refuse)
    share = worker(tmp_path / "w1", 1)
    for _ in range(2):
        run = merged(tmp_path / "all", [], [share])
        assert answers(run.folder) == [lease(1).url]
        run.connection.execute("DELETE FROM archived")
        run.archive.close()
