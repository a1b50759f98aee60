"""Generated webs with known languages, for `benchmarks.focus`.

A generated web (`benchmarks.proxyweb`) is `plain-SEED` or `hard-SEED`: the web of that program with
its redirects, faults and robots.txt files, but without a proxy. The shipped URL model was trained
on the URLs from which these webs are generated, so an ordering with that model performs better
there than on a new web. For `unseen-plain-SEED` and `unseen-hard-SEED`, the labelled URLs are split
by registered domain: one half generates the webs, the other half trains the model of their crawls.
The `mirror` webs swap the halves: the prior of `focus` is learned there, so that the prior never
saw a host of the evaluated webs.
"""

import csv
import gzip
import html
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from benchmarks.crawling import ROOT
from benchmarks.proxyweb import PROGRAM, TEXTS, URLS
from langfocus.classifiers.datasets.rows import domain_reader, stable_share
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.url import normalise

HOSTS = 12_000
SEEDS = 3
HOST_CAP = 10
WEB_SHARE = 0.5
"""The share of the registered domains that makes the webs."""

SPLIT_SEED = 16

UNSEEN = "unseen"
MIRROR = "mirror"
_HREF = re.compile(r'href="(https?://[^"]*)"')
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_MOVES = 5
_BODIES = 500
"""The most bodies of a generated web that stay in memory."""


@cache
def _program() -> ModuleType:
    spec = spec_from_file_location("proxyweb_program", PROGRAM)
    if spec is None or spec.loader is None:
        sys.exit(f"skipped: {PROGRAM} is not here")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Bodies(dict[object, object]):
    """A cache that is emptied when it is full."""

    def __setitem__(self, key: object, value: object) -> None:
        if len(self) >= _BODIES:
            self.clear()
        super().__setitem__(key, value)


class _Blank(dict[object, object]):
    """A cache with an empty page for each key, so that a look-up of a status generates no page."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: object) -> object:
        return 200, [], b""


class GeneratedWeb:
    """A web of `benchmarks.proxyweb` in this process; its truth is the language it was made in."""

    def __init__(
        self, name: str, urls: Path = URLS, url_model: Path | None = None, texts: Path = TEXTS
    ) -> None:
        """Make the web `[HALF-]plain-SEED` or `[HALF-]hard-SEED` of labelled URLs and texts."""
        self.name = name
        self.kind, _, seed = name.rpartition("-")
        self.host_cap = HOST_CAP
        self.slowness = 1.0
        self.url_model = url_model
        program = _program()
        is_hard = self.kind.endswith("hard")
        self._web = program.Web(str(urls), str(texts), hosts=HOSTS, seed=int(seed), hard=is_hard)
        self._server = program.Proxy(self._web, None, _Bodies(), 0)
        self._statuses = program.Proxy(self._web, None, _Blank(), 0)
        self._pages: dict[str, str | None] = {}
        self._links: dict[str, tuple[str, ...]] = {}

    def seeds(self, lang: str) -> Sequence[str]:
        """Return three home pages, those that the web itself proposes."""
        found: list[str] = self._web.home_pages(lang, SEEDS)
        return found

    def respond(self, url: str) -> Answer:
        """Return the answer of the program's proxy."""
        status, headers, body = self._server.respond(*_parts(url))
        return Answer(status, tuple(headers), body)

    def latency_s(self, url: str) -> float:
        """Return the seconds of a host's answers, .03 to .33, half of them below .07."""
        share = zlib.crc32(_parts(url)[0].encode()) / 2**32
        return self.slowness * (0.03 + 0.3 * share**3)

    def kind_of(self, url: str) -> str:
        """Return the kind of the host of a URL: all are alike."""
        return ""

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL leads to."""
        if url not in self._pages:
            self._pages[url] = self._page_at(url)
        return self._pages[url]

    def _page_at(self, url: str, moves: int = 0) -> str | None:
        host, path = _parts(url)
        if host not in self._web.of or self.is_forbidden(url):
            return None
        status, headers, _ = self._statuses.respond(host, path)
        if status in _REDIRECTS and moves < _MOST_MOVES:
            target = normalise(dict(headers)["Location"])
            return self._page_at(target, moves + 1) if target else None
        return url if status == 200 else None

    def is_forbidden(self, url: str) -> bool:
        """Return True if robots.txt forbids a URL."""
        host, path = _parts(url)
        return host in self._web.of and bool(self._web.forbidden(self._web.of[host], path))

    def links(self, url: str) -> Sequence[str]:
        """Return the links in the markup of a page."""
        if url not in self._links:
            _, _, body = self._web.page(*self._web.page_of[_parts(url)])
            found = _HREF.findall(body.decode("ascii", "replace"))
            self._links[url] = tuple(sift([html.unescape(link) for link in found])[0])
        return self._links[url]

    def language(self, url: str) -> str | None:
        """Return the language in which a page was made."""
        place = self._web.page_of.get(_parts(url))
        return None if place is None else self._web.hosts[place[0]][3][place[1]]


def _parts(url: str) -> tuple[str, str]:
    """Return host and path of a URL, as the program's proxy tells them apart."""
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), (parts.path or "/") + (
        f"?{parts.query}" if parts.query else ""
    )


def unseen_model(folder: Path, half: str) -> Path:
    """Return the URL model that saw no registered domain of these webs; it is trained once."""
    path = folder / f"{half}-model.npz"
    if not path.exists():
        unfinished = folder / f"{half}-model-unfinished.npz"
        learned_from = _tables(folder)[half == UNSEEN]
        command = [sys.executable, "-m", "langfocus", "train", str(learned_from)]
        command += ["--output", str(unfinished)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        unfinished.rename(path)
    return path


def _tables(folder: Path) -> tuple[Path, Path]:
    """Return the tables of the URLs of the webs and of the other URLs; they are written once."""
    paths = folder / "unseen-urls.tsv", folder / "other-urls.tsv"
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        _split(*paths)
    return paths


def _split(webs: Path, others: Path) -> None:
    domain = domain_reader()
    with (
        gzip.open(URLS, "rt", encoding="utf-8", newline="") as source,
        webs.open("w", encoding="utf-8", newline="") as first,
        others.open("w", encoding="utf-8", newline="") as second,
    ):
        rows = csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = "\t".join(rows.fieldnames or ()) + "\n"
        first.write(header)
        second.write(header)
        for row in rows:
            is_of_webs = stable_share(domain(row["url"]), SPLIT_SEED) < WEB_SHARE
            (first if is_of_webs else second).write("\t".join(row.values()) + "\n")


def open_known(name: str, folder: Path) -> GeneratedWeb:
    """Return the web with this name; the model of unseen webs is kept in a folder.

    Ends the program for a name of no web.
    """
    if re.fullmatch(r"(plain|hard)-\d+", name):
        return GeneratedWeb(name)
    half, _, _ = name.partition("-")
    if re.fullmatch(rf"({UNSEEN}|{MIRROR})-(plain|hard)-\d+", name):
        urls = _tables(folder)[half != UNSEEN]
        return GeneratedWeb(name, urls, unseen_model(folder, half))
    sys.exit(f"{name}: no such web; there are [unseen-]plain-1, [unseen-]hard-1, ...")
