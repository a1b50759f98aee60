"""A web for crawls that are killed: the correct result of a crawl does not depend on its order.

The web has three kinds of hosts. Some hosts have at most as many URLs as the host cap admits, and
all these URLs must be crawled. On some of these hosts, a redirect leads to one more URL, which
takes a separate slot. Crowded hosts have more URLs than the cap, and any ten may be crawled. No
page is reachable only through a crowded host. Some hosts have pages that only sitemaps and feeds
name.
"""

import gzip
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from urllib.parse import urlsplit

from benchmarks.sentences import SENTENCES
from langfocus.crawler.sources.contract import NO_HEADERS, Answer

HOST_CAP = 10
_CROWD = 25
_ROBOTS = b"User-agent: *\nDisallow: /dir/no/\n"
_KINDS = ("page", "page", "page", "flaky", "gone", "redirect", "hidden", "crowding", "forbidden")


@dataclass(frozen=True, slots=True)
class Resource:
    """The content of a URL: a flaky one fails once with 503, a gone one always.

    `files` are the sitemaps and feeds to which a page leads if it is relevant, `feed` that which it
    names itself. `body` is the content of a sitemap or a feed.
    """

    kind: str
    links: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    feed: str = ""
    language: str = ""  # of its text; "": one that follows from the URL
    body: bytes = b""


@dataclass(frozen=True)
class KillWeb:
    """A web in which a crawl settles about `pages` URLs; `random_state` orders the hosts.

    A crawl for German must read sitemaps to reach all, and the pages in them are more than `pages`.
    """

    pages: int = 3000
    random_state: int = 1
    resources: dict[str, Resource] = field(init=False, repr=False)
    asked: Counter[str] = field(init=False, repr=False, default_factory=Counter)

    def __post_init__(self) -> None:
        """Make all resources at once."""
        random = Random(self.random_state)
        crowds = max(1, self.pages // 50)
        crowd = [f"http://crowd{n}.example.de/{k}" for n in range(crowds) for k in range(_CROWD)]
        urls = _spread(random, max(1, self.pages - HOST_CAP * crowds))
        made = {url: Resource("page", tuple(random.sample(urls, 2))) for url in crowd}
        for number, url in enumerate(urls):
            children = urls[2 * number + 1 : 2 * number + 3]
            kind = random.choice(_KINDS) if not children else random.choice(("page", "flaky"))
            links = [*children, *random.choices(urls, k=3), *random.choices(crowd, k=2)]
            if kind == "forbidden":
                # Its address shows this; a redirect leads to it from its first address.
                hidden = f"{url.rpartition('/')[0]}/no/{number}"
                made[hidden] = Resource("forbidden")
                kind, links = "redirect", [hidden]
            elif kind == "hidden":
                hidden = f"{url}-moved"
                made[hidden] = Resource("page", (urls[0],))
                kind, links = "redirect", [hidden]
            elif kind in ("redirect", "crowding"):
                links = [random.choice(crowd if kind == "crowding" else urls[:-1])]
                kind = "redirect"
            made[url] = Resource(kind, tuple(links))
        _add_mapped(made, urls)
        object.__setattr__(self, "resources", made)

    @property
    def seed(self) -> str:
        """The URL that a crawl begins with."""
        return next(url for url in self.resources if url.endswith("/first"))

    def is_crowded(self, url: str) -> bool:
        """Return True for a page on a host with more pages than the cap admits."""
        is_file = url in self.resources and bool(self.resources[url].body)
        return urlsplit(url).netloc.startswith("crowd") and not is_file

    def is_optional(self, url: str) -> bool:
        """Return True for the sitemap of a crowded host, which may find the host full."""
        return urlsplit(url).netloc.startswith("crowd") and not self.is_crowded(url)

    def settled(self) -> dict[str, tuple[str, int | None]]:
        """Return outcome and status of every URL that a crawl must settle, by a walk.

        A crawl settles those that are optional in this way, or not at all.
        """
        found = sorted(url for url in self._reached() if not self.is_crowded(url))
        return {url: self.outcome(url) for url in found}

    def crowds(self) -> dict[str, set[str]]:
        """Return the URLs of each crowded host that the walk finds."""
        found = defaultdict(set)
        for url in self._reached():
            if self.is_crowded(url):
                found[urlsplit(url).netloc].add(url)
        return dict(found)

    def _reached(self) -> set[str]:
        """Follow all links except those of crowded hosts, which lead to no other hosts."""
        known, waiting = {self.seed}, deque([self.seed])
        while waiting:
            new = [link for link in self.leads_to(waiting.popleft()) if link not in known]
            known.update(new)
            waiting.extend(new)
        return known

    def leads_to(self, url: str) -> list[str]:
        """Return the distinct URLs that a crawl must queue after settling a URL.

        Links from crowded hosts are omitted: a crawl also finds their targets elsewhere.
        """
        resource = self.resources[url]
        if resource.kind in ("gone", "forbidden", "crashed"):
            return []
        links = () if self.is_crowded(url) else resource.links
        return list(dict.fromkeys([*resource.files, *links]))

    def outcome(self, url: str) -> tuple[str, int | None]:
        """Return outcome and status of a URL; a crashed page is one that ended two readers."""
        kind = self.resources[url].kind
        if self.resources[url].body:
            return "sitemap", 200
        return {
            "redirect": ("redirect", 301),
            "forbidden": ("robots", None),
            "gone": ("page", 503),
            "crashed": ("page_crashed", 200),
        }.get(kind, ("page", 200))

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the answer to a request; it depends on the number of those for the same URL."""
        self.asked[url] += 1
        if url.endswith("/robots.txt"):
            lines = robots_lines(self.resources, url.removesuffix("/robots.txt"))
            return Answer(200, (("Content-Type", "text/plain"),), _ROBOTS + lines)
        resource = self.resources.get(url)
        html = (("Content-Type", "text/html; charset=utf-8"),)
        if resource is None or resource.kind == "forbidden":
            return Answer(404, html, b"not here")
        if resource.kind == "redirect":
            return Answer(301, (("Location", resource.links[0]),))
        if resource.kind == "gone" or (resource.kind == "flaky" and self.asked[url] == 1):
            return Answer(503, html, b"not now")
        if resource.body:
            return Answer(200, (("Content-Type", content_type(url)),), resource.body)
        return Answer(200, html, _html(url, resource).encode())


def mapped_host(number: int) -> dict[str, Resource]:
    """Return the resources of a mapped host, its first page first.

    Other hosts link to the first page only. The robots.txt names a sitemap, in some cases a moved
    sitemap: an index of two sitemaps, one of them packed. The first page names a feed. Only these
    files name the other pages, which lead to a host without other incoming links.
    """
    base, beyond = (f"http://{name}{number}.example.de/dir/" for name in ("mapped", "beyond"))
    top, first, second, feed = (base + n for n in ("maps.xml", "1.xml.gz", "2.xml", "new.rss"))
    named = f"{base}old.xml" if number % 3 == 0 else top
    a, b, c, d = (base + name for name in "abcd")
    packed = gzip.compress(_xml("urlset", "url", [a, b]), mtime=0)
    kind = "flaky" if number % 2 else "sitemap"
    found = {
        f"{base}door": Resource("page", files=(named, feed), feed=feed, language="de"),
        **{url: Resource("page", (f"{beyond}{url[-1]}",)) for url in (a, b, c, d)},
        **{f"{beyond}{name}": Resource("page") for name in "abcd"},
        top: Resource(
            "sitemap", (first, second), body=_xml("sitemapindex", "sitemap", [first, second])
        ),
        first: Resource(kind, (a, b), body=packed),
        second: Resource("sitemap", (a, c), body=_xml("urlset", "url", [a, c])),
        feed: Resource("sitemap", (a, d), body=_feed([a, d])),
    }
    return found if named == top else found | {named: Resource("redirect", (top,))}


def crowded_host(number: int) -> dict[str, Resource]:
    """Return the resources of a host with more pages than the cap, all of them in its sitemap."""
    base = f"http://crowdmap{number}.example.de/"
    urls, top = [f"{base}{k}" for k in range(_CROWD)], f"{base}maps.xml"
    pages = {url: Resource("page", files=(top,), language="de") for url in urls}
    body = _xml("urlset", "url", urls)
    return {**pages, top: Resource("sitemap", tuple(urls), body=body)}


def robots_lines(resources: dict[str, Resource], origin: str) -> bytes:
    """Return the lines Sitemap of an origin's robots.txt."""
    named = (f"{origin}/dir/old.xml", f"{origin}/dir/maps.xml", f"{origin}/maps.xml")
    top = next((url for url in named if url in resources), None)
    return b"" if top is None else f"Sitemap: {top}\n".encode()


def content_type(url: str) -> str:
    """Return the Content-Type of a sitemap or a feed."""
    if url.endswith(".gz"):
        return "application/gzip"
    return "application/rss+xml" if url.endswith(".rss") else "application/xml"


def _xml(root: str, entry: str, urls: Sequence[str]) -> bytes:
    """Return a sitemap, or an index of sitemaps."""
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<{root} xmlns="{namespace}">{entries}</{root}>'.encode()


def _feed(urls: Sequence[str]) -> bytes:
    items = "".join(f"<item><title>{url}</title><link>{url}</link></item>" for url in urls)
    return f'<rss version="2.0"><channel><language>de</language>{items}</channel></rss>'.encode()


def _html(url: str, resource: Resource) -> str:
    """Return a page; a quarter of the pages in a language has the same text."""
    links = "".join(f'<a href="{link}">x</a> ' for link in resource.links)
    feed = f'<link rel="alternate" type="application/rss+xml" href="{resource.feed}">'
    language = resource.language or list(SENTENCES)[len(url) % len(SENTENCES)]
    random = Random(url)
    own = random.choices(SENTENCES[language].split(), k=random.choice((0, 30, 45, 60)))
    return (
        f"<html><head>{feed if resource.feed else ''}</head><body>"
        f"<p>{SENTENCES[language] * 3}</p><p>{' '.join(own)}</p>{links}</body></html>"
    )


def _add_mapped(made: dict[str, Resource], urls: Sequence[str]) -> None:
    """Add hosts with sitemaps; pages that are reached link to one page of each."""
    inner = urls[: len(urls) // 2 - 1]  # those with children, which are pages
    hosts = [mapped_host(number) for number in range(max(3, len(urls) // 60))]
    hosts += [crowded_host(number) for number in range(max(1, len(urls) // 200))]
    for number, host in enumerate(hosts):
        page = inner[number * len(inner) // len(hosts)]
        made.update(host)
        made[page] = replace(made[page], links=(*made[page].links, next(iter(host))))


def _spread(random: Random, number: int) -> list[str]:
    """Return URLs on hosts with one to ten each, with the hosts mixed."""
    urls: list[str] = []
    host = 0
    while len(urls) < number:
        size = min(random.randint(1, HOST_CAP // 2), number - len(urls))
        urls += [f"http://host{host}.example.de/dir/{k}" for k in range(size)]
        host += 1
    random.shuffle(urls)
    urls[0] = f"{urls[0].rpartition('/')[0]}/first"
    return urls
