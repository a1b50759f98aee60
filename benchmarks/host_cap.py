"""Requested URLs of a host, by the server's log, on webs that try to exceed the host cap.

    python -m benchmarks.host_cap [--cases utm third] [--strategies focus svm random]

Serves the hosts of `benchmarks.capweb` on loopback, all at once and also by https, and crawls them
with the user's command and its defaults. Exceptions: delays are 0, sitemaps are read, and no filter
closes the hosts, whose pages are copies of one text. `benchmarks.killloop` judges kills and shared
crawls.

Counted for each host (in lower case, without leading `www.`, final dot and port):

- URLs: requested pages, by the project's key of a page. A redirect to another spelling of the same
  page does not count, once for each URL.
- spellings: these URLs as written in the request lines.
- tries: the requests for one URL.
- robots.txt files, including targets of a robots.txt's redirects, and the requests for one file.
- sitemaps, by their names.
- tdmrep.json with its redirects: only their tries.
- origins: schemes, names and ports.

Prints the largest numbers of a host for each case. Exit code 1 if a number exceeds its limit, or if
a host has fewer pages than both the cap and the web allow.
"""

import argparse
import re
import ssl
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from benchmarks.capweb import Asked, Case, cases
from benchmarks.certificate import certificate
from benchmarks.crawling import command, environment, summary
from benchmarks.markdown import markdown
from benchmarks.servers.hostileserver import Exchange, hostile_web
from benchmarks.servers.processes import started
from langfocus.crawler.report.table import Table
from langfocus.crawler.url import fingerprint, normalise

HOST_CAP: Final = 10
RETRY_TIMES: Final = 2
_RIGHTS: Final = ".well-known"
ORDERINGS: Final = ("focus", "svm", "random")
_MOST_S: Final = 300
"""Seconds after which a crawl is ended."""

_HURRIED: Final = {
    "DOWNLOAD_DELAY": 0,
    "LANGFOCUS_RETRY_DELAY": 0,
    "LANGFOCUS_PATIENCE": 0,
    "LANGFOCUS_SITEMAPS": True,
    "LANGFOCUS_QUIET": True,
    "CLOSESPIDER_TIMEOUT": _MOST_S,
    "LOG_LEVEL": "ERROR",
}


class Request(NamedTuple):
    """A request in a server's log."""

    url: str
    status: int | None
    location: str | None


class Figures(NamedTuple):
    """The largest numbers of a host; `pages` is the smallest number of URLs with status 200."""

    urls: int = 0
    lines: int = 0
    tries: int = 0
    robots: int = 0
    robots_tries: int = 0
    sitemaps: int = 0
    origins: int = 0
    pages: int = sys.maxsize

    def over(self, other: "Figures") -> "Figures":
        """Return the worse of two numbers, each."""
        most = Figures(*map(max, self, other))
        return most._replace(pages=min(self.pages, other.pages))

    def faults(self, least: int) -> list[str]:
        """Return the names of the figures that break a limit."""
        each = zip(self._fields, self, LIMITS, strict=False)
        names = [name for name, number, limit in each if number > limit]
        return names + ["pages"] * (self.pages < least)


LIMITS: Final = (HOST_CAP, 2 * HOST_CAP, RETRY_TIMES + 2, HOST_CAP, RETRY_TIMES + 1, 10, HOST_CAP)
"""The most of each figure but the last."""


def host_of(url: str) -> str:
    """Return the host that the cap counts for, independent of the project's own function."""
    name = urlsplit(url).hostname or ""
    return name.lower().removeprefix("www.").rstrip(".")


def judge(log: Sequence[Request]) -> dict[str, Figures]:
    """Return the figures of each host."""
    of_host: dict[str, list[Request]] = defaultdict(list)
    for request in log:
        of_host[host_of(request.url)].append(request)
    return {host: _figures(requests) for host, requests in of_host.items()}


def _figures(requests: Sequence[Request]) -> Figures:
    kinds: dict[str, list[Request]] = defaultdict(list)
    moved: Counter[str] = Counter()
    for request in requests:
        name = urlsplit(request.url).path.lstrip("/")
        kind = next((k for k in ("robots", "sitemap", _RIGHTS) if name.startswith(k)), "page")
        if kind == "page" and moved[request.url]:
            kind = _RIGHTS
            moved[request.url] -= 1
        if kind == _RIGHTS and request.location:
            with suppress(ValueError):
                moved[urljoin(request.url, request.location)] += 1
        kinds[kind].append(request)
    pages, robots = kinds["page"], kinds["robots"]
    return Figures(
        urls=slots(pages),
        lines=len({request.url for request in pages}),
        tries=max(_most_tries([*pages, *kinds["sitemap"]]), _most_equal(kinds[_RIGHTS])),
        robots=len({request.url for request in robots}),
        robots_tries=_most_tries(robots),
        sitemaps=len({request.url for request in kinds["sitemap"]}),
        origins=len({"//".join(urlsplit(request.url)[:2]) for request in requests}),
        pages=len({fingerprint(request.url) for request in pages if request.status == 200}),
    )


def slots(pages: Sequence[Request]) -> int:
    """Return the number of slots of the cap that the requests of a host need."""
    asked = {fingerprint(request.url) for request in pages}
    respelled: set[int] = set()
    for request in pages:
        target = normalise(request.location, request.url) if request.location else None
        if target is not None:
            pair = {fingerprint(request.url), fingerprint(target)}
            is_new = len(pair) == 2 and pair <= asked and not pair & respelled
            if is_new and _bare(request.url) == _bare(target):
                respelled |= pair
    return len(asked) - len(respelled) // 2


def _bare(url: str) -> int:
    """Return a key that is the same for all spellings of a page."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return fingerprint(f"http://{host_of(url)}{parts.path.rstrip('/')}/{query}")


def _most_tries(requests: Sequence[Request]) -> int:
    """Return the most requests for one URL."""
    return max(Counter(fingerprint(request.url) for request in requests).values(), default=0)


def _most_equal(requests: Sequence[Request]) -> int:
    """Return the most requests for one URL in one spelling."""
    return max(Counter(request.url for request in requests).values(), default=0)


# The server.


class AllHosts:
    """Answers for every host of some cases and keeps a log."""

    def __init__(self, served: Sequence[Case]) -> None:
        """Answer for some cases."""
        self._cases = {f"{case.name}.de": case for case in served}
        self._asked: Counter[Case] = Counter()
        self.log: list[Request] = []

    async def answer(self, exchange: Exchange) -> None:
        """Answer a request as its case does."""
        url = f"{exchange.scheme}://{exchange.host}/{exchange.path}"
        case = self._cases[".".join(host_of(url).split(".")[-2:])]
        host, path = exchange.host.removesuffix(":80"), f"/{exchange.path}"
        asked = Asked(exchange.scheme, host, path, self._asked[case], exchange.number)
        self._asked[case] += 1
        if exchange.path == "robots.txt" and not case.has_robots:
            sent: bytes | None = b"HTTP/1.1 404 -\r\nContent-Length: 0\r\n\r\n"
        else:
            sent = case.reply(asked)
        status, location = _parsed(sent or b"")
        self.log.append(Request(url, status, location))
        exchange.keeps_open = sent is not None and _is_whole(sent)
        if sent is not None:
            await exchange.send(sent)


def _parsed(sent: bytes) -> tuple[int | None, str | None]:
    """Return status and Location of an answer."""
    status = re.match(rb"HTTP/1.1 (\d+)", sent)
    location = re.search(rb"\r\nLocation: ([^\r]*)", sent)
    return int(status[1]) if status else None, location[1].decode() if location else None


def _is_whole(sent: bytes) -> bool:
    """Return True if the connection can be used after an answer."""
    head, _, body = sent.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return length is not None and int(length[1]) == len(body) and b"close" not in head


# The crawl.


def crawl(served: Sequence[Case], ordering: str, folder: Path) -> list[Request]:
    """Serve cases and crawl them to the end; return the log of the server."""
    hosts, seeds = AllHosts(served), folder / "seeds.txt"
    seeds.write_text("\n".join(seed for case in served for seed in case.seeds) + "\n")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificate(folder))
    with hostile_web(
        {}, others=hosts.answer, certificate=secure, robots_of=lambda _: True
    ) as proxy:
        line = command(
            "lang=de",
            f"strategy={ordering}",
            "filter=none",
            f"seeds={seeds}",
            JOBDIR=folder / "run",
            **_HURRIED,
        )
        surroundings = {**environment(proxy.url), "https_proxy": proxy.url}
        with started(*line[2:], environment=surroundings, has_one_output=True) as process:
            output, _ = process.communicate()
    if process.returncode or summary(folder / "run")["finish_reason"] != "finished":
        raise RuntimeError(f"the crawl did not end: {output[-300:]}")
    return hosts.log


# The table.


def worst(served: Sequence[Case], log: Sequence[Request]) -> dict[str, Figures]:
    """Return the worst figures over the hosts of each case."""
    found = {case.name: Figures() for case in served}
    for host, figures in judge(log).items():
        name = host.split(".")[-2]
        found[name] = found[name].over(figures)
    return found


def main(line: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a host is over a limit."""
    known = cases()
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--cases", nargs="*", choices=known, default=list(known), metavar="CASE")
    parser.add_argument("--strategies", nargs="*", choices=ORDERINGS, default=ORDERINGS)
    given = parser.parse_args(line)
    served = [known[name] for name in given.cases]
    faults: list[str] = []
    for ordering in given.strategies:
        with tempfile.TemporaryDirectory() as folder:
            found = worst(served, crawl(served, ordering, Path(folder)))
        rows = []
        for case in served:
            figures = found[case.name]
            rows.append([case.name, case.about, *map(str, figures[:-1])])
            faults += [f"{ordering} {case.name}: {fault}" for fault in figures.faults(case.least)]
        head = ["case", "its hosts", *Figures._fields[:-1]]
        table = Table(f"Most requests of a host: {ordering}", head, rows, text_columns=2)
        print("\n".join(["", table.title, "", *markdown(table)]), flush=True)
    print("\n".join(["", f"{len(faults)} over a limit", *faults[:40]]))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
