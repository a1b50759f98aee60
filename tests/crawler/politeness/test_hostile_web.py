"""One crawl of a Web on which nearly every server means no good."""

import fcntl
import os
import pickle
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import mkdtemp
from uuid import uuid4

import pytest

from benchmarks.servers import processes
from benchmarks.servers.hostileserver import (
    PACE_S,
    PAGE,
    Behaviour,
    Exchange,
    answer,
    computes,
    gzip_bomb,
    hostile_web,
    only_robots,
    redirects,
    repeats,
    sends,
    sends_and_waits,
    silence,
)
from tests.support.crawls import command, environment, rows, summary

MAX_BYTES = 1_000_000
FILES = {"robots.txt", ".well-known/tdmrep.json"}
HOST_CAP = 30
CONNECTIONS = 20
BOMB_BYTES = 20 * MAX_BYTES
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
FLOOD = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 90) for number in range(10_000))
TEXT = b"text/plain"


def page(*headers: bytes, **how: bytes) -> Behaviour:
    """Send a small page with more headers."""
    return sends(answer(PAGE, *headers, **how))


def encoded(body: bytes, encoding: bytes) -> Behaviour:
    return sends(answer(body, b"Content-Encoding: " + encoding))


def rules(body: bytes) -> Behaviour:
    """Send a robots.txt."""
    return only_robots(sends(answer(body, kind=TEXT)))


def host_of_chain(exchange: Exchange) -> bytes:
    """Each host of the chain sends to the next one."""
    number = int(exchange.host.removeprefix("chain").removesuffix(".de"))
    return b"http://chain%d.de/" % (number + 1)


def next_number(exchange: Exchange) -> bytes:
    return b"/%d" % (int(exchange.path or 0) + 1)


def month(exchange: Exchange) -> bytes:
    """A page of a calendar, with a link to the next one."""
    number = int(exchange.path.rpartition("=")[2] or 0)
    return answer(b"<a href='/?month=%d'>next</a>" % (number + 1) + PAGE)


def session(exchange: Exchange) -> bytes:
    """A page whose links carry a new session id each time."""
    token = uuid4().hex.encode()
    return answer(
        b"<a href='/?PHPSESSID=%s'>a</a><a href='/b;jsessionid=%s'>b</a>" % (token, token)
    )


def facets(exchange: Exchange) -> bytes:
    """A page of a shop: each link adds to the query."""
    query = exchange.path.partition("?")[2] or "color=red"
    return answer(b"<a href='/?%s&amp;color=red'>x</a>" % query.encode() + PAGE)


def at_home(data: bytes) -> Behaviour:
    """Send `data` for the home page, a small page for all else."""
    return computes(lambda exchange: answer(PAGE) if exchange.path else answer(data))


HOSTS: dict[str, tuple[Behaviour, str]] = {
    "tarpit-body.de": (repeats(HTML + b"\r\n", b"x", pace_s=PACE_S), "timeout"),
    "tarpit-headers.de": (repeats(HTML, b"x", pace_s=PACE_S), "timeout"),
    "tarpit-interim.de": (repeats(b"", b"HTTP/1.1 102 -\r\n\r\n", pace_s=PACE_S), "timeout"),
    "silent.de": (silence, "timeout"),
    "endless-body.de": (repeats(HTML + b"\r\n", PAGE * 1000), "too_large"),
    "endless-chunks.de": (
        repeats(CHUNKED, b"%x\r\n%s\r\n" % (len(PAGE * 99), PAGE * 99)),
        "too_large",
    ),
    "endless-interim.de": (repeats(b"", b"HTTP/1.1 102 -\r\n\r\n"), "headers"),
    "endless-headers.de": (repeats(HTML, FLOOD[:50_000]), "headers"),
    "endless-header.de": (repeats(HTML + b"X: ", b"x" * 50_000), "headers"),
    "endless-folded-header.de": (repeats(HTML + b"X: ", b" x" * 500 + b"\r\n"), "headers"),
    "announced-large.de": (page(b"Content-Length: 99999999999"), "too_large"),
    "bomb-gzip.de": (encoded(gzip_bomb(BOMB_BYTES), b"gzip"), "too_large"),
    "bomb-layers.de": (encoded(gzip_bomb(BOMB_BYTES, 2), b"gzip, gzip"), "too_large"),
    "bomb-deflate.de": (encoded(zlib.compress(bytes(BOMB_BYTES)), b"deflate"), "too_large"),
    "packed-often.de": (encoded(gzip_bomb(9, 4), b"gzip, gzip, gzip, gzip"), "encoding"),
    "broken-gzip.de": (encoded(b"no gzip", b"gzip"), "encoding"),
    "broken-br.de": (encoded(b"\xff" * 99, b"br"), "encoding"),
    "broken-zstd.de": (encoded(b"\xff" * 99, b"zstd"), "encoding"),
    "cut-gzip.de": (encoded(gzip_bomb(99_999)[:-20], b"gzip"), "page"),
    "unknown-encoding.de": (page(b"Content-Encoding: \xff\xfe"), "encoding"),
    "escape-encoding.de": (page(b"Content-Encoding: \x1b]0;owned\x07\x1b[2J"), "encoding"),
    "strange-encoding.de": (page(b"Content-Encoding: rot13"), "encoding"),
    "no-encoding.de": (page(b"Content-Encoding: identity, UTF-8"), "page"),
    "escape-status.de": (sends(b"HTTP/1.1 \x1b[31m\x9b2J -\r\n\r\n"), "protocol"),
    "escape-header.de": (page(b"Content-Length: \x1b[31m"), "protocol"),
    "escape-location.de": (redirects(lambda _: b"http://\x1b[31m/\x1b[2J"), "redirect"),
    "short-body.de": (page(b"Content-Length: 9999"), "page"),
    "short-body-open.de": (sends_and_waits(answer(PAGE, b"Content-Length: 9999")), "timeout"),
    "long-body.de": (page(b"Content-Length: 100"), "page"),
    "negative-length.de": (page(b"Content-Length: -5"), "protocol"),
    "two-lengths.de": (page(b"Content-Length: 5", b"Content-Length: 9"), "protocol"),
    "bad-chunk-size.de": (sends(CHUNKED + b"zz\r\n" + PAGE), "page"),
    "negative-chunk.de": (sends(CHUNKED + b"-5\r\n" + PAGE), "page"),
    "cut-chunk.de": (sends(CHUNKED + b"ffff\r\n" + PAGE), "page"),
    "unknown-transfer.de": (page(b"Transfer-Encoding: rot13"), "protocol"),
    "header-flood.de": (sends(HTML + FLOOD + b"\r\n" + PAGE), "headers"),
    "large-header.de": (page(b"X: " + b"x" * 1_000_000), "headers"),
    "header-lines.de": (page(b"no colon", b": no name", b"\xff\xfe: \xff"), "page"),
    "no-http.de": (sends(b"220 mail.example.de ESMTP\r\n"), "protocol"),
    "http-09.de": (sends(PAGE), "unreachable"),
    "status-999.de": (page(status=b"999 -"), "page"),
    "status-1000.de": (page(status=b"1000 -"), "protocol"),
    "status-long.de": (page(status=b"2" * 23 + b" -"), "protocol"),
    "status-0.de": (page(status=b"0 -"), "protocol"),
    "robots-status.de": (only_robots(page(status=b"2" * 23 + b" -")), "protocol"),
    "only-interim.de": (sends(b"HTTP/1.1 100 Continue\r\n\r\n"), "unreachable"),
    "closed.de": (sends(b""), "unreachable"),
    "type-latin.de": (page(kind=b"text/html; charset=\xe4\xff"), "page"),
    "type-binary.de": (page(kind=b"\x00\xff\xfe"), "page"),
    "language-latin.de": (page(b"Content-Language: \xff\xe4"), "page"),
    "retry-huge.de": (page(b"Retry-After: " + b"9" * 5000), "page"),
    "location-latin.de": (redirects(lambda _: b"http://ok0.de/stra\xdfe"), "redirect"),
    "location-script.de": (redirects(lambda _: b"javascript:alert(1)"), "redirect"),
    "location-file.de": (redirects(lambda _: b"file:///etc/passwd"), "redirect"),
    "location-broken.de": (redirects(lambda _: b"http://[/"), "redirect"),
    "location-empty.de": (redirects(lambda _: b""), "page"),
    "location-long.de": (redirects(lambda _: b"/" + b"x" * 10_000), "redirect"),
    "loop.de": (redirects(lambda _: b"/"), "redirect"),
    "chain0.de": (redirects(host_of_chain), "redirect"),
    "numbers.de": (redirects(next_number), "redirect"),
    **{
        f"to-sink{number}.de": (
            redirects(lambda exchange: b"http://sink.de/" + exchange.host.encode()),
            "redirect",
        )
        for number in range(HOST_CAP + 10)
    },
    "calendar.de": (computes(month), "page"),
    "nested.de": (at_home(b"<a href='/first'>x</a>" + PAGE + b"<div>" * 100_000), "page"),
    "links.de": (at_home(PAGE + b"".join(b"<a href=/%d>" % n for n in range(40_000))), "page"),
    "sessions.de": (computes(session), "page"),
    "folders.de": (sends(answer(b"<a href='archive/'>older</a>" + PAGE)), "page"),
    "facets.de": (computes(facets), "page"),
    "endless-redirect.de": (
        repeats(b"HTTP/1.1 302 -\r\nLocation: /b\r\n\r\n", PAGE * 1000),
        "redirect",
    ),
    "robots-binary.de": (rules(b"\xff\xfe\x00Disallow: /\xe4\xff"), "page"),
    "robots-html.de": (rules(PAGE * 100), "page"),
    "robots-utf16.de": (rules("User-agent: *\nDisallow: /".encode("utf-16")), "page"),
    "robots-tarpit.de": (only_robots(repeats(HTML + b"\r\n", b"#", pace_s=PACE_S)), "timeout"),
    "robots-endless.de": (only_robots(repeats(HTML + b"\r\n", b"#\n" * 9000)), "page"),
    "robots-announced.de": (
        only_robots(
            repeats(
                HTML + b"Content-Length: 99999999999\r\n\r\nUser-agent: *\nDisallow: /\n",
                b"#\n" * 9000,
            )
        ),
        "robots",
    ),
    "robots-loop.de": (only_robots(redirects(lambda _: b"/robots.txt")), "page"),
    "robots-delays.de": (
        only_robots(sends(answer(b"User-agent: *\nCrawl-delay: nan\nCrawl-delay: -1e999"))),
        "page",
    ),
    "robots-astray.de": (only_robots(redirects(lambda _: b"http://[/")), "page"),
    "robots-elsewhere.de": (only_robots(redirects(lambda _: b"file:///etc/passwd")), "page"),
    "robots-bomb.de": (only_robots(encoded(gzip_bomb(BOMB_BYTES), b"gzip")), "too_large"),
}
TUNNELS: dict[str, tuple[Behaviour, str]] = {
    "tls-none.de": (sends(HTML + b"\r\n" + PAGE), "tls"),
    "tls-cut.de": (sends(b""), "unreachable"),
    "tls-alert.de": (sends(b"\x15\x03\x03\x00\x02\x02\x28"), "tls"),
    "tls-goodbye.de": (sends(b"\x15\x03\x03\x00\x02\x01\x00"), "unreachable"),
    "tls-silent.de": (silence, "timeout"),
    "tls-tarpit.de": (repeats(b"", b"\x16", pace_s=PACE_S), "tls"),
}
GOOD = [f"ok{number}.de" for number in range(5)]
EXPECTED = {f"http://{host}/": outcome for host, (_, outcome) in HOSTS.items()}
EXPECTED |= {f"https://{host}/": outcome for host, (_, outcome) in TUNNELS.items()}
EXPECTED |= {"http://nowhere.invalid/": "dns"}
EXPECTED |= {f"http://{host}/": "page" for host in GOOD}


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind. `requested` are host and path of what the servers were asked.

    `most_open` is the number of connections that were open at once.
    """

    folder: Path
    errors: str
    outcomes: dict[str, str]
    requested: list[tuple[str, str]]
    most_open: int

    def paths(self, host: str) -> list[str]:
        return [path for of, path in self.requested if of == host and path not in FILES]


def crawl(folder: Path, hosts: Mapping[str, Behaviour]) -> Crawled:
    """Crawl hosts with small limits; the memory is among them."""
    limits = {
        "LOG_LEVEL": "DEBUG",
        "DOWNLOAD_DELAY": 0.01,
        "DOWNLOAD_TIMEOUT": 20,
        "DOWNLOAD_MAXSIZE": MAX_BYTES,
        "DNS_TIMEOUT": 2,
        "RETRY_TIMES": 0,
        "LANGFOCUS_RETRY_DELAY": 0.1,
        "CONCURRENT_REQUESTS": CONNECTIONS,
        # A process begins with the peak of the one that started it.
        "MEMUSAGE_LIMIT_MB": max(600, getrusage(RUSAGE_SELF).ru_maxrss // 1024 + 100),
        "MEMUSAGE_CHECK_INTERVAL_SECONDS": 0.2,
    }
    # One text stands on many hosts, so their pages are copies, which would close them.
    arguments = ["lang=de", "strategy=cctld", "filter=none", "seeds=http://start.de/"]
    arguments.append(f"host_cap={HOST_CAP}")
    with hostile_web(hosts) as proxy:
        proxies = {"https_proxy": proxy.url, "no_proxy": ".invalid"}
        line = command(*arguments, JOBDIR=folder, **limits)
        done = processes.run(*line[2:], environment={**environment(proxy.url), **proxies})
    assert done.returncode == 0, done.stderr
    outcomes = dict(rows(folder, "SELECT url, outcome FROM pages"))
    return Crawled(folder, done.stderr, outcomes, proxy.log, proxy.most_open)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Crawl once for all test processes: the first process crawls, others read its file."""
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    kept = run / "hostile.pickle"
    with (run / "hostile.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(crawl(Path(mkdtemp(dir=run)), all_hosts())))
    found: Crawled = pickle.loads(kept.read_bytes())
    return found


def all_hosts() -> dict[str, Behaviour]:
    """Return all hosts together: no host's behaviour may disturb the crawl of another host."""
    links = "".join(f"<a href='{url}'>x</a>" for url in EXPECTED)
    hosts = {host: behaviour for host, (behaviour, _) in (HOSTS | TUNNELS).items()}
    hosts |= dict.fromkeys((*GOOD, "sink.de"), page())
    hosts |= {f"chain{number}.de": redirects(host_of_chain) for number in range(100)}
    hosts["start.de"] = sends(answer(PAGE + links.encode()))
    return hosts


def test_every_url_ends_with_the_reason_that_its_server_gave(crawled: Crawled) -> None:
    assert {url: crawled.outcomes.get(url) for url in EXPECTED} == EXPECTED
    # A Location that is not UTF-8 leads where its bytes say.
    assert crawled.outcomes["http://ok0.de/stra%DFe"] == "page"
    for end in ("http://chain20.de/", "http://numbers.de/20"):
        assert crawled.outcomes[end] == "redirect_loop"


def test_the_crawl_ends_by_itself_within_its_memory_and_leaves_nothing(crawled: Crawled) -> None:
    assert summary(crawled.folder)["finish_reason"] == "finished"
    assert rows(crawled.folder, "SELECT url FROM urls WHERE queued = 1") == []
    assert "Traceback" not in crawled.errors
    # No escape sequence of a server reaches the terminal.
    assert all(line.isprintable() for line in crawled.errors.splitlines())
    # A server that was given up holds no connection; those that are just being closed count too.
    assert crawled.most_open <= 2 * CONNECTIONS


def test_bytes_are_those_that_came_of_refused_answers_too(crawled: Crawled) -> None:
    found = dict(rows(crawled.folder, "SELECT host, bytes FROM pages WHERE depth = 1"))
    assert found["cut-gzip.de"] == len(gzip_bomb(99_999)) - 20
    assert found["bomb-gzip.de"] == len(gzip_bomb(BOMB_BYTES))
    assert MAX_BYTES < found["endless-body.de"] < 2 * MAX_BYTES
    assert found["robots-bomb.de"] == found["announced-large.de"] == found["silent.de"] == 0


def test_the_cap_of_a_host_holds_for_any_number_of_links_and_redirects(crawled: Crawled) -> None:
    for host in ("calendar.de", "sink.de", "links.de"):
        assert len(crawled.paths(host)) == HOST_CAP
    assert crawled.paths("nested.de") == ["", "first"]
    counts = summary(crawled.folder)["counts"]
    assert counts["host_full"] > 9_000
    assert counts["ignored_url"] > 1_000


def test_endless_series_and_pages_that_were_cut_short_are_counted(crawled: Crawled) -> None:
    assert crawled.paths("folders.de") == ["", "archive/", "archive/archive/"]
    assert len(crawled.paths("facets.de")) == 3
    counts = summary(crawled.folder)["counts"]
    assert (counts["ignored_trap"], counts["cut_short"]) == (2, 4)


def test_no_file_of_this_machine_is_read_as_a_robots_txt(crawled: Crawled) -> None:
    kept = dict(rows(crawled.folder, "SELECT origin, text FROM robots"))
    none = kept["http://ok0.de"]
    assert kept["http://robots-elsewhere.de"] == none.replace("404", "302")
    assert kept["http://robots-astray.de"] == none.replace("404", "302")
    for host in ("robots-tarpit.de", "robots-bomb.de"):
        assert crawled.paths(host) == []
