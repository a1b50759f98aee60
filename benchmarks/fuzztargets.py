"""The laws that `benchmarks.fuzz` and the tests check on every reader of data from strangers.

A law takes any bytes: it returns, or raises an error that names the broken law. Inputs that reach
much of its code have its name in `benchmarks.fuzzseeds`.
"""

import codecs
import gzip
import os
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import HtmlResponse, Response

from benchmarks.crawling import new_run
from benchmarks.fuzzseeds import FIELD, URL
from benchmarks.robotsstore import Store
from langfocus.classifiers import languages
from langfocus.classifiers.pages.html.links import MAX_LINKS, MAX_URL_LENGTH, Resolver
from langfocus.classifiers.pages.parse import MAX_CHARACTERS, ParsedPage, parse_page
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.frontier.base import ANY_TEXT, PAGE, REDIRECT, KeptRobots, Lease, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.http.body import MAX_LAYERS, BrokenEncoding
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.network import is_private_url
from langfocus.crawler.politeness.robots import MAX_MOVES, Robots, Verdict, is_unreachable
from langfocus.crawler.politeness.traps import is_trap
from langfocus.crawler.reading.configured import page_method
from langfocus.crawler.reading.page import ReadPage, page_reader
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.sources.contract import NotArchived
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.middlewares import Unpacking
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import (
    MAX_URL_LENGTH as MAX_NORMAL_LENGTH,
)
from langfocus.crawler.url import (
    directory_of,
    fingerprint,
    host_of,
    is_unwanted_file,
    normalise,
    origin_of,
    page_key,
)

HOST_CAP: Final = 4
MAX_DELAY_S: Final = 60.0
MAX_BODY: Final = 100_000

_WRITTEN: Final = Path(__file__).with_name("fuzz_tokens.txt").read_text("ascii").splitlines()
TOKENS: Final = [
    *(codecs.decode(line, "unicode_escape").encode("latin-1") for line in _WRITTEN),
    FIELD,
]
"""Tokens of real pages that random bytes seldom contain."""


class BrokenLaw(AssertionError):
    """A reader broke its law."""


def expect(is_kept: bool, said: str, *values: object) -> None:
    """Raise `BrokenLaw` with `said` unless the law is kept."""
    if not is_kept:
        raise BrokenLaw(": ".join([said, *map(repr, values)])[:600])


def _fields(data: bytes, number: int) -> list[bytes]:
    """Return the first fields of an input, padded with empty ones."""
    fields = data.split(FIELD)
    return (fields + [b""] * number)[:number]


def _text(field: bytes) -> str | None:
    """Return a header's value as the crawl reads it."""
    return field.decode("utf-8", "replace").strip() or None


def _int(field: bytes, default: int) -> int:
    try:
        return int(field[:6])
    except ValueError:
        return default


# Pages.


def _page_input(data: bytes) -> tuple[bytes, str | None, str | None, str]:
    kind, language, url, body = _fields(data, 4)
    return body, _text(kind), _text(language), normalise(_text(url) or "") or URL


def page(data: bytes) -> None:
    """Any bytes give a page within the bounds of the parser."""
    body, kind, language, url = _page_input(data)
    found = parse_page(body, content_type=kind, url=url, content_language=language)
    for text in (found.text, *(d.tag for d in found.declarations)):
        text.encode()
    expect(len(found.text) <= MAX_CHARACTERS, "text too long", len(found.text))
    expect(bool(found.charset and found.parser), "no charset or parser")
    expect("  " not in found.text, "two spaces", found.text[:80])
    _check_links(found)


def _check_links(found: ParsedPage) -> None:
    expect(len(found.links) <= MAX_LINKS, "too many links", len(found.links))
    expect(len(set(found.links)) == len(found.links), "a link twice")
    for link in [*found.links, *([found.canonical] if found.canonical else [])]:
        expect(link.lower().startswith(("http://", "https://")), "no http", link)
        expect("#" not in link, "a fragment", link)
        link.encode()
    expect(all(len(link) <= MAX_URL_LENGTH for link in found.links), "a long link")


def links(data: bytes) -> None:
    """Links resolved singly or together follow the standard."""
    url, base, *given = [*data.split(FIELD)[:40], b""]
    at = normalise(_text(url) or "") or URL
    texts = [field.decode("utf-8", "replace") for field in given]
    resolver = Resolver(at)
    found = resolver.resolve_all(texts)
    expect(found == [resolver.resolve(text) for text in texts], "differs when read alone", texts)
    for text, link in zip(texts, found, strict=True):
        expect(link == absolute(text, at), "not as in browsers", at, text, link)
        if link is not None:
            expect(link.isascii() and link.isprintable(), "not printable", text, link)
            normal = normalise(link)
            expect(normal == normalise(text, at), "two spellings", at, text, normal)
    anchors = b"".join(b"<a href='%b' hreflang=de>x</a>" % field for field in given)
    body = b"<base href='%b'>%b" % (base, anchors)
    parsed = parse_page(body, content_type="text/html", url=at)
    _check_links(parsed)


def url(data: bytes) -> None:
    """Check that a normalised URL has one spelling, can be split into parts, and is ASCII."""
    for text in (data.decode("utf-8", "surrogateescape"), data.decode("latin-1")):
        normal = normalise(text)
        if normal is None:
            continue
        expect(normalise(normal) == normal, "not idempotent", text, normal, normalise(normal))
        expect(len(normal) <= MAX_NORMAL_LENGTH, "too long", normal)
        expect(normal.isascii() and normal.isprintable(), "not printable", text, normal)
        expect(not set(normal) & set(' "<>\\^`{|}#'), "a forbidden character", text, normal)
        parts = urlsplit(normal)
        expect(parts.scheme in {"http", "https"} and bool(parts.hostname), "no host", text, normal)
        expect(parts.username is None, "a user", text, normal)
        expect(parts.port is None or 0 <= parts.port < 65536, "no port", text, normal)
        host, origin = host_of(normal), origin_of(normal)
        expect(bool(host) and normal.startswith(origin + "/"), "no origin", text, normal, origin)
        expect(directory_of(normal, 3).startswith(host + "/"), "no directory", text, normal)
        expect(-(2**63) <= fingerprint(normal) < 2**63, "no fingerprint", normal)
        key = page_key(normal)
        expect(page_key(key) == key, "not the key of a key", normal, key, page_key(key))
        expect(key.startswith(origin), "another origin", normal, key)
        is_trap(normal)
        is_unwanted_file(normal)
        is_private_url(normal)
        Request(normal)


@cache
def _reader() -> ReadPage:
    return page_reader(page_method("composite"), make_ordering("cctld", "de"), "de")


def language(data: bytes) -> None:
    """Any page gets a known language or none, with a confidence between 0 and 1."""
    body, kind, spoken, address = _page_input(data)
    download = Download(address, 200, body, kind, spoken)
    found = _reader()(download, 1)
    known = found.language is None or languages.canonical(found.language) is not None
    expect(known, "no language", found)
    sure = found.confidence
    expect(sure is None or 0.0 <= sure <= 1.0, "no confidence", found)


# Robots.


class _Store(Store):
    """Refuses what no frontier could store."""

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        text.encode()
        return super().set_robots(name, text, now, before)

    def set_delay(self, host: str, delay_s: float) -> None:
        expect(0.0 < delay_s <= MAX_DELAY_S, "no delay", host, delay_s)
        super().set_delay(host, delay_s)


def robots(data: bytes) -> None:
    """Any robots.txt gives a verdict, the same after a restart; the status limits the verdict."""
    status_field, address, body, *moves = data.split(FIELD)[:12] + [b""] * 3
    status, at = _int(status_field, 200), normalise(_text(address) or "") or URL
    store = _Store()
    rules = Robots(store, "langfocus", max_delay_s=MAX_DELAY_S)
    expect(rules.verdict(at, 0.0) is Verdict.UNKNOWN, "a verdict before rules")
    asked_for = [rules.ask(at, 0.0)]
    for move in moves:
        target = normalise(absolute(_text(move) or "", asked_for[-1] or at) or "")
        if target is not None and not rules.move(at, target, 0.0):
            is_circle = target in asked_for
            expect(is_circle or len(asked_for) > MAX_MOVES, "too few moves", len(asked_for))
            break
        if target is not None:
            asked_for.append(target)
    rules.keep(at, status, body, 0.0)
    again = Robots(store, "langfocus", max_delay_s=MAX_DELAY_S)
    for asked in (at, f"{origin_of(at)}/private/x?s=1&x", f"{origin_of(at)}/robots.txt"):
        verdict = rules.verdict(asked, 1.0)
        expect(verdict is not Verdict.UNKNOWN, "no verdict", asked)
        expect(again.verdict(asked, 1.0) is verdict, "another verdict after a restart", asked)
        if is_unreachable(status):
            expect(verdict is Verdict.UNREACHABLE, "reachable", status)
        elif not 200 <= status < 300:
            expect(verdict is Verdict.ALLOWED, "rules although there are none", status)


# Answers of servers to leased URLs.


def answers(data: bytes) -> None:
    """After any answer of a server a lease ends in one record or one retry, and the caps hold."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(new_run())
        _answer(connection, data.split(FIELD)[:36])


def _answer(connection: sqlite3.Connection, fields: list[bytes]) -> None:
    now = [1000.0]
    rule = make_filter("server", tolerance=2, directory_depth=1)
    rules = FrontierRules(filter=rule, host_cap=HOST_CAP, delay_s=1.0)
    frontier = SqliteFrontier(connection, rules, now=now[0])
    settled: list[int] = []
    visitor = Visitor(
        frontier,
        make_ordering("cctld", "de"),
        Config("de", retry_times=1),
        _reader(),
        lambda: now[0],
        listeners=[lambda lease, record: settled.append(lease.fingerprint)],
    )
    frontier.seed([Link(URL, 1.0), Link("http://b.de/", 0.5)], now[0])
    for at in range(0, len(fields), 3):
        lease = _next(frontier, now)
        if lease is None:
            break
        expect(normalise(lease.url) == lease.url, "a URL in the queue is not normalised", lease.url)
        status, head, body = _fields(FIELD.join(fields[at : at + 3]), 3)
        settled.clear()
        download = download_of(_response(lease.url, status, head, body), now[0])
        record = visitor.answered(lease, download)
        _check_settled(connection, lease, record, len(settled))
    expect(frontier.counts().leased == 0, "a lease without a holder")


def _next(frontier: SqliteFrontier, now: list[float]) -> Lease | None:
    lease = frontier.next(now[0])
    while lease is None and frontier.counts().queued:
        ready_at = frontier.ready_at(now[0])
        expect(ready_at is not None and ready_at > now[0], "a queued URL is never ready", ready_at)
        expect((ready_at or 0.0) < now[0] + 4000.0, "a rest without end", ready_at)
        now[0] = ready_at or 0.0
        lease = frontier.next(now[0])
    return lease


def _response(at: str, status: bytes, head: bytes, body: bytes) -> Response:
    response = HtmlResponse(at, status=_int(status, 200), body=body)
    for line in head.splitlines():
        name, _, value = line.partition(b":")
        response.headers.appendlist(name.strip() or b"X", value.strip())
    return response


def _check_settled(
    connection: sqlite3.Connection,
    lease: Lease,
    record: Record | None,
    settled: int,
) -> None:
    (rows,) = connection.execute(
        "SELECT count(*) FROM pages WHERE fingerprint = ?", (lease.fingerprint,)
    ).fetchone()
    (queued,) = connection.execute(
        "SELECT queued FROM urls WHERE fingerprint = ?", (lease.fingerprint,)
    ).fetchone()
    if record is None:
        kept = (rows, queued, settled) == (0, 1, 0)
        expect(kept, "lost between two tries", lease.url, rows, queued)
    else:
        expect((rows, queued, settled) == (1, 0, 1), "not settled once", lease.url, rows)
        # A status outside of 100 to 999 is no answer of HTTP.
        known = {PAGE, REDIRECT, "media", "redirect_loop", "protocol"}
        expect(record.outcome in known, "outcome", record)
    over = connection.execute(
        "SELECT host FROM hosts WHERE sent > ? OR sent < 0", (HOST_CAP,)
    ).fetchall()
    expect(not over, "over the cap", over)


# Bodies.


def unpacking(data: bytes) -> None:
    """Check that a compressed body is unpacked within its bound, or refused with a reason."""
    encodings, body = _fields(data, 2)
    headers = {"Content-Encoding": encodings.split(b"\n")}
    response = Response(URL, headers=headers, body=body)
    try:
        unpacked = Unpacking(MAX_BODY).process_response(Request(URL), response)
    except (BrokenEncoding, DownloadCancelledError):
        return
    expect(isinstance(unpacked, Response), "no response", unpacked)
    if isinstance(unpacked, Response):
        most = max(MAX_BODY, len(body))
        expect(len(unpacked.body) <= most, "too large", encodings, len(unpacked.body))
        expect(encodings.count(b",") < MAX_LAYERS, "layers", encodings)


# Archives.


@cache
def _archive_path() -> Path:
    folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
    return folder / f"langfocus-fuzz-{os.getpid()}.warc"


def archive(data: bytes) -> None:
    """Check that an archive is refused at opening, or answers every request for its URLs.

    After a first field "z" the other fields are compressed one by one.
    """
    path = _archive_path()
    kind, *records = data.split(FIELD)
    path.write_bytes(b"".join(map(gzip.compress, records)) if kind == b"z" else data)
    try:
        _read_archive(path)
    finally:
        path.unlink()


def _read_archive(path: Path) -> None:
    try:
        web = ArchiveWeb(path)
    except ArchiveError as error:
        expect("\n" not in str(error), "more than a line", str(error))
        return
    urls = list(web.urls())
    expect(len(urls) == len(web), "wrong number of URLs", len(urls), len(web))
    for address in urls:
        address.encode()
        for asked in (address, address):
            answer = web.respond(asked)
            expect(answer.status >= 0, "no status", answer.status)
            expect(answer.header("content-length") == str(len(answer.body)), "another length")
    for unknown in ("http://unknown.invalid/", "http://\ud800", ""):
        try:
            web.respond(unknown)
        except NotArchived:
            continue


LAWS: Final = {
    law.__name__: law for law in (page, links, url, language, robots, answers, unpacking, archive)
}
"""The laws by their names."""
