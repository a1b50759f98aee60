"""A web for crawls that are killed: the correct result of a crawl does not depend on its order.

It has three kinds of hosts. Some have at most as many URLs as the host cap admits, and all of these
must be crawled. On some of these a redirect leads to one more URL, which takes the slot of the URL
that redirects. Crowded hosts have more URLs than the cap, and any ten may be crawled. No page can
be reached through a crowded host alone. The server is a separate process. Its log has the times of
each request and of its answer.
"""

import asyncio
import multiprocessing
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from random import Random
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.support.smallweb import SENTENCES

HOST_CAP = 10
_CROWD = 25
_ROBOTS = b"User-agent: *\nDisallow: /dir/no/\n"
_KINDS = ("page", "page", "page", "flaky", "gone", "redirect", "hidden", "crowding", "forbidden")


class Access(NamedTuple):
    """One request by the server's own clock, seconds: of arrival and of the answer."""

    began: float
    ended: float
    url: str
    status: int

    @property
    def host(self) -> str:
        """The host of the request."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True, slots=True)
class Resource:
    """The content of a URL: a flaky one fails once with 503, a gone one always."""

    kind: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class KillWeb:
    """A web in which a crawl settles about `pages` URLs; `random_state` orders the hosts."""

    pages: int = 3000
    random_state: int = 1
    resources: dict[str, Resource] = field(init=False, repr=False)

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
        object.__setattr__(self, "resources", made)

    @property
    def seed(self) -> str:
        """The URL that a crawl begins with."""
        return next(url for url in self.resources if url.endswith("/first"))

    def is_crowded(self, url: str) -> bool:
        """Return True if the URL is on a host with more URLs than the cap admits."""
        return urlsplit(url).netloc.startswith("crowd")

    def settled(self) -> dict[str, tuple[str, int | None]]:
        """Return outcome and status of every URL that a crawl must settle, by a walk."""
        return {url: self._outcome(url) for url in self._reached() if not self.is_crowded(url)}

    def crowds(self) -> dict[str, set[str]]:
        """Return the URLs of each crowded host that the walk finds."""
        found = defaultdict(set)
        for url in self._reached():
            if self.is_crowded(url):
                found[urlsplit(url).netloc].add(url)
        return dict(found)

    def _reached(self) -> set[str]:
        """Follow all links except those of crowded hosts, which lead to no other new pages."""
        known, waiting = {self.seed}, deque([self.seed])
        while waiting:
            url = waiting.popleft()
            resource = self.resources[url]
            if resource.kind in ("gone", "forbidden") or self.is_crowded(url):
                continue
            new = [link for link in dict.fromkeys(resource.links) if link not in known]
            known.update(new)
            waiting.extend(new)
        return known

    def _outcome(self, url: str) -> tuple[str, int | None]:
        kind = self.resources[url].kind
        return {
            "redirect": ("redirect", 301),
            "forbidden": ("robots", None),
            "gone": ("page", 503),
        }.get(kind, ("page", 200))

    def answer(self, url: str, earlier: int) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body for a request after `earlier` requests for the URL."""
        if url.endswith("/robots.txt"):
            return 200, {"Content-Type": "text/plain"}, _ROBOTS
        resource = self.resources.get(url)
        html = {"Content-Type": "text/html; charset=utf-8"}
        if resource is None or resource.kind == "forbidden":
            return 404, html, b"not here"
        if resource.kind == "redirect":
            return 301, {"Location": resource.links[0]}, b""
        if resource.kind == "gone" or (resource.kind == "flaky" and not earlier):
            return 503, html, b"not now"
        links = "".join(f'<a href="{link}">x</a> ' for link in resource.links)
        sentence = list(SENTENCES.values())[len(url) % len(SENTENCES)]
        return 200, html, f"<html><body><p>{sentence * 3}</p>{links}</body></html>".encode()


def _spread(random: Random, number: int) -> list[str]:
    """Return URLs on hosts with one to ten each, with the hosts mixed."""
    urls: list[str] = []
    host = 0
    while len(urls) < number:
        size = min(random.randint(1, HOST_CAP), number - len(urls))
        urls += [f"http://host{host}.example.de/dir/{k}" for k in range(size)]
        host += 1
    random.shuffle(urls)
    urls[0] = f"{urls[0].rpartition('/')[0]}/first"
    return urls


@dataclass
class Server:
    """A running server; `log` exists after the end of the context."""

    port: int
    _requests: "Synchronized[int]"
    log: list[Access] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """The number of requests so far."""
        return self._requests.value

    @property
    def proxy(self) -> str:
        """The address of the server as an HTTP proxy for all hosts of its web."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def served(web: KillWeb, latency_s: float) -> Iterator[Server]:
    """Serve a web from a separate process; answers take half to one and a half `latency_s`."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    requests = context.Value("l", 0)
    process = context.Process(target=_run, args=(web, latency_s, there, requests), daemon=True)
    process.start()
    server = Server(here.recv(), requests)
    try:
        yield server
    finally:
        here.send("stop")
        server.log += (Access(*access) for access in here.recv())
        process.join(10)


def _run(web: KillWeb, latency_s: float, pipe: Connection, requests: "Synchronized[int]") -> None:
    asyncio.run(_serve(web, latency_s, pipe, requests))


async def _serve(
    web: KillWeb, latency_s: float, pipe: Connection, requests: "Synchronized[int]"
) -> None:
    log: list[Access] = []
    asked: dict[str, int] = defaultdict(int)
    random = Random(web.random_state)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                url = head.split(" ", 2)[1]
                requests.value += 1
                began = monotonic()
                status, headers, body = web.answer(url, asked[url])
                asked[url] += 1
                await asyncio.sleep(latency_s * random.uniform(0.5, 1.5))
                # After the answer was sent, the process may have to wait for a processor.
                log.append(Access(began, monotonic(), url, status))
                writer.write(_response(status, headers, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client went away
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(pipe.fileno(), stopped.set)
    pipe.send(server.sockets[0].getsockname()[1])
    await stopped.wait()
    server.close()
    pipe.send([tuple(access) for access in log])


def _response(status: int, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} -", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
