"""Requests that are no pages, by the log of the servers: none is sent more often than is counted."""

from collections import Counter
from pathlib import Path

from tests.support.crawls import crawl, rows
from tests.support.hostileserver import PAGE, Exchange, answer, hostile_web

OUTCOMES = "SELECT outcome, COUNT(*) FROM pages GROUP BY outcome"


async def closing(exchange: Exchange) -> None:
    """Answer the first request of a connection, and close it when the second one has come."""
    if not exchange.number:
        exchange.keeps_open = True
        links = b"".join(b"<a href='/%d'>x</a>" % n for n in range(8))
        await exchange.send(answer(links + PAGE).replace(b"Connection: close", b"Connection: -"))


def test_a_request_is_sent_once_where_reused_connections_close(tmp_path: Path) -> None:
    settings = {"DOWNLOAD_DELAY": 0, "RETRY_TIMES": 0, "JOBDIR": tmp_path}
    with hostile_web({"a.de": closing}) as proxy:
        done = crawl("lang=de", "seeds=http://a.de/", proxy=proxy.url, **settings)
    assert done.returncode == 0, done.stderr
    sent = Counter(path for _, path in proxy.log)
    assert len(sent) > 5
    assert set(sent.values()) == {1}
    # One of two connections is new.
    assert dict(rows(tmp_path, OUTCOMES))["unreachable"] >= 3
