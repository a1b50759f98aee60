"""Hostile and ordinary webs that try to get more requests of a host than the host cap allows.

A `Case` is a set of hosts of one registered domain, and a function from a request to the bytes of
the answer; None closes the connection without an answer. `benchmarks.host_cap` serves all cases at
once, crawls them and judges the crawl by the requests that arrived.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from benchmarks.sentences import SENTENCES

PAGE = f"<html><body><p>{SENTENCES['de'] * 5}</p></body></html>".encode()
LINKS: Final = 40
"""Links of a page of most cases, four times the cap."""


class Asked(NamedTuple):
    """A request.

    `host` has the port, `path` begins with a slash and has the query. `number` is the number of
    earlier requests in the case, `on_connection` the number of earlier requests on the connection.
    """

    scheme: str
    host: str
    path: str
    number: int
    on_connection: int

    @property
    def name(self) -> str:
        """The first label of the host."""
        return self.host.partition(".")[0]


Reply = Callable[[Asked], bytes | None]


@dataclass(frozen=True)
class Case:
    """A kind of hosts.

    `about` says in a line what they do. The seeds are the home pages of `hosts` hosts; a crawl must
    get `least` pages of each. Without `has_robots` no host has a robots.txt.
    """

    name: str
    about: str
    reply: Reply
    hosts: int = 1
    has_robots: bool = False
    least: int = 0

    @property
    def seeds(self) -> list[str]:
        """The URLs with which a crawl begins."""
        return [f"http://h{n}.{self.name}.de/" for n in range(self.hosts)]


def reply(
    status: str, *headers: str, body: bytes = b"", kind: str = "text/html; charset=utf-8"
) -> bytes:
    """Return an answer that leaves its connection open."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *headers]
    if not any(line.startswith(("Content-Length", "Transfer-")) for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def page(*links: str, head: str = "", headers: Iterable[str] = ()) -> bytes:
    """Return a page in German."""
    body = "".join(f'<a href="{link}">Seite</a> ' for link in links)
    return reply("200 OK", *headers, body=f"<head>{head}</head>{body}".encode() + PAGE)


def to(location: str, *headers: str, status: str = "302 Found") -> bytes:
    """Return a redirect."""
    return reply(status, f"Location: {location}", *headers)


def home(*links: str, leaf: Reply) -> Reply:
    """Return a host with links on its home page and the answer `leaf` for all other URLs."""

    def answer(asked: Asked) -> bytes | None:
        return page(*links) if asked.path == "/" else leaf(asked)

    return answer


def numbered(number: int = LINKS, start: str = "/seite-") -> list[str]:
    """Return links to URLs with numbers."""
    return [f"{start}{n}" for n in range(number)]


_FAILURES: Final[dict[str, bytes | None]] = {
    "404": reply("404 Not Found"),
    "403": reply("403 Forbidden"),
    "500": reply("500 Internal Server Error"),
    "503": reply("503 Service Unavailable", "Retry-After: 0"),
    "429": reply("429 Too Many Requests", "Retry-After: 0"),
    "408": reply("408 Request Timeout", "Connection: close"),
    "421": reply("421 Misdirected Request"),
    "304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "204": reply("204 No Content"),
    "media": reply("200 OK", body=b"\xff\xd8\xff" * 99, kind="image/jpeg"),
    "pdf": reply("200 OK", body=b"%PDF-1.7" * 99, kind="application/pdf"),
    "dropped": None,
    "no-http": b"220 mail.example ESMTP\r\n",
    "empty": reply("200 OK"),
    "encoding": reply("200 OK", "Content-Encoding: gzip", body=b"no gzip"),
    "chunk-cut": reply("200 OK", "Transfer-Encoding: chunked", body=b"ffff\r\n" + PAGE),
    "length-cut": reply("200 OK", "Content-Length: 99999", body=PAGE),
    "no-location": reply("302 Found"),
    "bad-location": to("http://[/"),
    "refresh": reply("200 OK", "Refresh: 0; url=/anders"),
    "300": to("/anders", status="300 Multiple Choices"),
    "itself": to("", status="307 Temporary Redirect"),
}


_FAILING: Final = [
    Case(
        f"f-{name}",
        f"links of a home page lead to: {name}",
        home(*numbered(), leaf=lambda _, answer=answer: answer),  # type: ignore[misc]
    )
    for name, answer in _FAILURES.items()
]


def _escaped(asked: Asked) -> str:
    """Return the path with one letter more escaped."""
    return f"{asked.path[:-1]}%{ord(asked.path[-1]) + 0x80 & 0xFF:02x}a"


def _next_scheme(asked: Asked) -> str:
    """Return the same page in the next of four spellings."""
    bare = asked.host.removeprefix("www.")
    order = [("http", bare), ("https", bare), ("http", f"www.{bare}"), ("https", f"www.{bare}")]
    scheme, host = order[(order.index((asked.scheme, asked.host)) + 1) % 4]
    return f"{scheme}://{host}{asked.path}"


def _tracked(asked: Asked) -> str:
    return f"{asked.path.partition('?')[0]}?utm_source=s{asked.number}"


def _other_port(asked: Asked) -> str:
    return f"http://{asked.host.partition(':')[0]}:{8000 + asked.number}{asked.path}"


_MOVING: Final[dict[str, tuple[str, Callable[[Asked], str], int]]] = {
    "home": ("200 links redirect home", lambda _: "/", 200),
    "away": ("200 links redirect to another host", lambda _: "http://b.away.de/", 200),
    "chain": ("each redirect leads to the next", lambda asked: f"{asked.path}-x", LINKS),
    "utm": ("redirects to the same URL with a new utm_source", _tracked, LINKS),
    "scheme": ("redirects between http, https and www in turn", _next_scheme, LINKS),
    "escapes": ("redirects to other escapes", _escaped, LINKS),
    "port": ("redirects to another port of the host", _other_port, 100),
}
"""Name -> what the links of a home page do, the target of each redirect, the number of links."""


def _ping(asked: Asked) -> bytes:
    if asked.path == "/":
        return page(*numbered(30))
    other = "b" if asked.name == "h0" else "h0"
    return to(f"http://{other}.ping.de{asked.path}{'-x' * (other == 'h0')}")


def _ten(asked: Asked) -> bytes:
    if asked.path == "/":
        return page(*numbered(10))
    if asked.path.startswith("/seite-"):
        return page(*numbered(106, f"/weg{asked.path}-"))
    return to("/")


def _third(asked: Asked) -> bytes:
    if asked.name != "dritte":
        links = numbered(20, f"http://dritte.third.de/{asked.name}-")
        return page(*links, "http://dritte.third.de/")
    return page() if asked.path == "/login" else to("/login")


def _cookies(asked: Asked) -> bytes:
    if asked.path == "/":
        return page(*numbered())
    path = asked.path.partition("?")[0]
    target = path if "?" in asked.path else f"{path}?cookie={asked.number}"
    return to(target, f"Set-Cookie: a={asked.number}")


def _named(asked: Asked) -> bytes:
    new = f"/k-{asked.number}"
    head = f'<meta http-equiv="refresh" content="0; url={new}-m">'
    head += f'<link rel="canonical" href="{new}">'
    head += f'<link rel="alternate" hreflang="de" href="{new}-de">'
    return page(*numbered(), head=head, headers=[f'Link: <{new}-l>; rel="canonical"'])


def _sessions(asked: Asked) -> bytes:
    token = f"{asked.number:032x}"
    ids = [f"/b-{n}?PHPSESSID={token}" for n in range(20)]
    paths = [f"/c-{n};jsessionid={token}" for n in range(20)]
    return page(*ids, *paths, *(f"/d-{n}#{token}" for n in range(20)), f"/?sid={token}")


def _ordinary(asked: Asked) -> bytes:
    bare = asked.host.removeprefix("www.")
    proper = asked.path if asked.path.endswith("/") else f"{asked.path}/"
    if (asked.scheme, asked.host, asked.path) != ("https", f"www.{bare}", proper):
        return to(f"https://www.{bare}{proper}", status="301 Moved Permanently")
    return page(*numbered(12))


def _closing(asked: Asked) -> bytes | None:
    return None if asked.on_connection else page(*numbered())


def _ports(_: Asked) -> bytes:
    return page(*(f"http://opfer.ports.de:{8000 + n}/" for n in range(200)))


def _robots(asked: Asked) -> bytes:
    if asked.path == "/robots.txt" and asked.name != "opfer":
        return to(f"http://opfer.robots.de/robots-{asked.name}")
    if asked.path.startswith("/robots"):
        return reply("200 OK", body=b"User-agent: *\nDisallow: /x\n", kind="text/plain")
    return page()


def _robots_chain(asked: Asked) -> bytes:
    is_robots = asked.path.startswith("/robots")
    return to(f"/robots-{asked.number}") if is_robots else page(*numbered())


def _robots_dropped(asked: Asked) -> bytes | None:
    if asked.path != "/robots.txt":
        return page(*numbered(start="http://opfer.robots-dropped.de/seite-"))
    return None if asked.name == "opfer" else reply("404 -")


def _mapped(asked: Asked, files: Iterable[str], file: Callable[[], bytes]) -> bytes:
    """Return the answer of a host whose robots.txt names sitemaps."""
    if asked.path == "/robots.txt":
        lines = "".join(f"Sitemap: {url}\n" for url in files)
        return reply("200 OK", body=lines.encode(), kind="text/plain")
    if asked.path.startswith("/sitemap"):
        return file()
    feed = '<link rel="alternate" type="application/rss+xml" href="/sitemap-feed">'
    return page(*numbered(5), head=feed)


def _maps(asked: Asked) -> bytes:
    def index() -> bytes:
        urls = numbered(30, f"http://{asked.host}/sitemap-{asked.number}-")
        locations = "".join(f"<sitemap><loc>{url}.xml</loc></sitemap>" for url in urls)
        body = f"<sitemapindex>{locations}</sitemapindex>".encode()
        return reply("200 OK", body=body, kind="application/xml")

    return _mapped(asked, numbered(30, f"http://{asked.host}/sitemap-"), index)


def _maps_victim(asked: Asked) -> bytes:
    files = numbered(5, f"http://opfer.maps-victim.de/sitemap-{asked.name}-")
    return _mapped(asked, files, lambda: to(f"{asked.path}-x"))


_OTHERS: Final = (
    Case("ping", "two hosts redirect to each other without end", _ping),
    Case("ten", "the links of ten pages redirect home", _ten),
    Case("third", "30 hosts link to one that redirects to /login", _third, 30),
    Case("cookies", "redirects until a cookie comes back", _cookies),
    Case("named", "each page names new URLs as refresh, canonical and translation", _named),
    Case("sessions", "links with new session ids each time", _sessions),
    Case("ordinary", "pages that move to https, www and a final slash", _ordinary, 3, least=10),
    Case("reused", "a reused connection is closed after a request", _closing),
    Case("ports", "200 ports of a host", _ports),
    Case("robots", "60 hosts redirect robots.txt to files of one", _robots, 60, has_robots=True),
    Case(
        "robots-chain",
        "robots.txt redirects without end within the host",
        _robots_chain,
        has_robots=True,
    ),
    Case(
        "robots-dropped",
        "the robots.txt of a host with 40 URLs breaks its connection",
        _robots_dropped,
        has_robots=True,
    ),
    Case("maps", "sitemaps that name new sitemaps", _maps, 2, has_robots=True),
    Case(
        "maps-victim",
        "30 hosts name sitemaps of one host, which redirect",
        _maps_victim,
        30,
        has_robots=True,
    ),
)


def cases() -> dict[str, Case]:
    """Return all cases by their names."""
    moving = [
        Case(name, about, home(*numbered(links), leaf=lambda asked, of=of: to(of(asked))))  # type: ignore[misc]
        for name, (about, of, links) in _MOVING.items()
    ]
    return {case.name: case for case in (*_FAILING, *moving, *_OTHERS)}
