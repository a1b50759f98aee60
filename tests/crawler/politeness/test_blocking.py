"""What a person blocks is not queued, leaves the queue, and is not fetched."""

import os
from pathlib import Path

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.download import Download
from langfocus.crawler.politeness.blocking import LOOK_EVERY_S, Blocking, read_lines
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from tests.support.crawls import rows
from tests.support.keptpages import begun
from tests.support.smallweb import SENTENCES


@pytest.mark.parametrize(
    ("line", "blocked", "allowed"),
    [
        ("example.org", "http://www.example.org:8080/x", "http://a.example.org/"),
        ("www.Example.org  # a person asked", "https://example.org/", "http://example.com/"),
        ("*.example.co.uk", "http://a.b.example.co.uk/", "http://notexample.co.uk/"),
        ("*.example.org", "http://example.org/", "http://example.org.de/"),
        ("https://example.org/private/", "http://example.org/private/x", "http://example.org/"),
        ("*.example.org/a*b$", "http://x.example.org/a/b", "http://x.example.org/a/b/c"),
        ("*/login", "http://any.de/login?next=/", "http://any.de/x/login"),
        ("a.de/***a***.php**$", "http://a.de/xa/b.php", "http://a.de/x.php"),
        ("*/*?session=", "http://any.de/x?session=1", "http://any.de/x?s=1"),
        ("münchen.de", "http://xn--mnchen-3ya.de/", "http://muenchen.de/"),
        ("a.de/straße", "http://a.de/stra%C3%9Fe", "http://a.de/strasse"),
        ("192.0.2.1", "http://192.0.2.1/", "http://192.0.2.10/"),
        ("[2001:db8::1]", "http://[2001:db8::1]:81/", "http://[2001:db8::2]/"),
    ],
)
def test_a_line_blocks_a_host_a_domain_or_the_beginning_of_paths(
    line: str, blocked: str, allowed: str
) -> None:
    entries = read_lines([line])
    assert len(entries) == 1
    assert entries.blocks(blocked)
    assert not entries.blocks(allowed)


@pytest.mark.parametrize(
    "line",
    [*"* */ */* exam*ple.org me@a.de a.de:81 *. ftp://a a.de\0".split(), "a b.de", "a.de/x y"],
)
def test_a_malformed_line_is_told_with_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "block.txt"
    path.write_text(f"# names\n\na.de\n{line}\n", "utf-8")
    with pytest.raises(SettingError, match=r"-a block=.*block\.txt: line 4: "):
        Blocking(path)


def test_a_file_that_is_missing_or_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    for name, expected in (
        ("none.txt", "cannot be read: No such file"),
        ("bytes.txt", "not UTF-8"),
    ):
        with pytest.raises(SettingError, match=f"-a block=.*{name}: .*{expected}"):
            Blocking(tmp_path / name)


def test_a_file_is_read_again_when_it_changed_and_keeps_its_list_when_it_is_gone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "block.txt"
    path.write_text("a.de\n")
    file = Blocking(path)
    assert not file.follow(0.0)
    path.write_text("a.de\nb.de/x\n")
    assert not file.follow(LOOK_EVERY_S / 2)
    assert not file.blocks("http://b.de/x")
    assert file.follow(LOOK_EVERY_S)
    path.write_text("no host\n")
    assert not file.follow(2 * LOOK_EVERY_S)
    assert "line 1: no host: this is no host name" in caplog.text
    path.unlink()
    assert [file.follow(3 * LOOK_EVERY_S), file.follow(4 * LOOK_EVERY_S)] == [False, False]
    assert file.blocks("http://b.de/x")
    assert caplog.text.count("the list stays as it was") == 2


class Crawled:
    """A crawl in this process whose answers and time the test gives."""

    def __init__(self, folder: Path, block: Path, seeds: str) -> None:
        self.seconds = 0.0
        clock = CrawlClock(elapsed=lambda: self.seconds)
        self.crawl = begun(folder, clock, strategy="focus", seeds=seeds, block=str(block))

    def leased(self) -> Lease:
        lease = self.crawl.queue.next()
        assert lease is not None
        return lease

    def answered(self, lease: Lease, *links: str) -> tuple[str, str | None]:
        anchors = "".join(f"<a href='http://{link}/'>x</a>" for link in links)
        body = f"<p>{SENTENCES['de'] * 9}</p>{anchors}".encode()
        record = self.crawl.visitor.answered(lease, Download(lease.url, 200, body))
        assert record is not None
        return record.outcome, record.language


def counted(crawl: Crawl, folder: Path) -> dict[str, int]:
    crawl.close("finished")
    return dict(rows(folder, "SELECT name, value FROM counts"))


def test_a_crawl_queues_no_blocked_link_and_drops_what_is_blocked_while_it_runs(
    tmp_path: Path,
) -> None:
    block, folder = tmp_path / "block.txt", tmp_path / "run"
    block.write_text("*.a.de\n")
    crawled = Crawled(folder, block, "http://seed.de/,http://x.a.de/")
    assert crawled.crawl.queue.counts().queued == 1
    assert crawled.answered(crawled.leased(), "a.de", "b.de", "c.de", "d.de") == ("page", "de")
    lease = crawled.leased()
    other = next(name for name in ("b.de", "c.de") if name != lease.host)
    block.write_text(f"*.a.de\n{lease.host}\n{other}\n")
    os.utime(block, (1.0, 1.0))
    crawled.seconds += LOOK_EVERY_S
    last = crawled.leased()
    assert last.host not in (lease.host, other, "a.de")
    assert crawled.crawl.queue.counts().queued == 0
    assert crawled.answered(lease, "e.de") == ("blocked", None)
    numbers = counted(crawled.crawl, folder)
    assert (numbers["blocked"], numbers["dropped_blocked"]) == (1, 1)
    block.write_text(f"{last.host}\n")
    again = Crawled(folder, block, "http://seed.de/").crawl
    assert (again.queue.next(), again.queue.counts().queued) == (None, 0)
    assert counted(again, folder)["dropped_blocked"] == 2
