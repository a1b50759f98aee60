"""Runs with a few pages that a test names, and their bytes in WARC files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from langfocus.crawler.http.download import Download, Exchange
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.strategies.links import SEED
from tests.support.dropped import dropped
from tests.support.smallweb import SENTENCES

WORDS = SENTENCES["de"].split()
TYPE = "text/html; charset=utf-8"


def german(number: int) -> str:
    """A German text that is like no other with another number."""
    turned = WORDS[number % 13 :] + WORDS[: number % 13]
    return " ".join(f"{word} {' '.join(turned[:3])} Nummer{number}" for word in WORDS * 2)


def html(*paragraphs: str) -> bytes:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><title>Titel</title><body><main>{body}</main></body></html>".encode()


def begun(
    folder: Path,
    clock: CrawlClock | None = None,
    settings: Mapping[str, object] | None = None,
    **arguments: object,
) -> Crawl:
    """Begin a crawl for German pages in this process; it waits for nobody."""
    given = {"lang": "de", "strategy": "bfs", "seeds": "http://a.de/", **arguments}
    config = Config.read(given, settings)
    crawl = open_crawl(replace(config, run_folder=folder, delay_s=0.0, patience_s=0.0), clock)
    dropped(crawl.run.connection)
    crawl.start()
    return crawl


@dataclass
class KeptPages:
    """A crawl of pages that a test names; it may be opened again and again."""

    folder: Path
    since: Path | None = None
    frontier: str | None = None
    name: str | None = None
    opened: Crawl | None = None

    def kill(self) -> None:
        """Close it as a kill does."""
        if self.opened is not None:
            self.opened.run.connection.close()
            self.opened.resources.close()
            self.opened = None

    def end(self) -> None:
        """Close it in order."""
        if self.opened is not None:
            self.opened.close("finished")
            self.opened = None

    def open(self) -> Crawl:
        """Open it, after a kill if it is open."""
        self.kill()
        config = Config(
            "de",
            strategy="bfs",
            host_cap=0,
            web="sample",
            since=self.since,
            run_folder=self.folder,
            delay_s=0,
            sample_hosts=50,
            keeps_warc=True,
            frontier=self.frontier,
            crawl_name=self.name,
        )
        self.opened = open_crawl(config)
        return self.opened

    def settle(self, url: str, body: bytes, kind: str = TYPE, *, status: int = 200) -> None:
        """Let a server answer for a URL."""
        crawl = self.opened or self.open()
        crawl.frontier.seed(crawl.visitor.links([url], SEED), crawl.clock())
        lease = crawl.frontier.next(crawl.clock())
        while lease is not None and lease.url != url:
            crawl.visitor.refused(lease, "robots")
            lease = crawl.frontier.next(crawl.clock())
        assert lease is not None
        head = f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\n\r\n".encode()
        exchange = Exchange(url, crawl.clock(), head, body)
        etag = '"1"' if self.since is None else None
        download = Download(url, status, body, kind, etag=etag, exchange=exchange)
        crawl.visitor.answered(lease, download)

    def settle_all(self, pages: list[tuple[str, bytes]]) -> None:
        """Settle pages one after the other, and close the run."""
        for url, body in pages:
            self.settle(url, body)
        self.end()
