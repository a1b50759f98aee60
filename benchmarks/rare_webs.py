"""Generated webs in which small languages live as they do on the Web.

Two families are made in different ways. `graph-SEED` has the link structure of a real crawl
(`cnr-2000`, 325,557 pages in URL order): blocks of that order are hosts, links across blocks are
rewired by language. `sites-SEED` has trees of sections with menus, and paths as content systems
make them. `cross-SEED` joins the links of the first with the paths of the second. The texts are
sentences of SIB-200, the paths of `graph` are shapes of labelled URLs filled with words of the
page's language.

A small language has `share` of all pages. A third of its hosts are its own. Its other pages are on
sites of the state's language: in a directory, on a sub-domain, behind a parameter, or without any
mark. `SWITCHES` names the properties that can be left out of a web, with the source of each number
where there is one.
"""

import csv
import gzip
import html
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlsplit

import numpy as np
import numpy.typing as npt

from benchmarks.proxyweb import SHARED, URLS
from langfocus.crawler.sources.contract import Answer, Unreachable
from langfocus.crawler.url import normalise

Ints = npt.NDArray[np.int32]

TEXTS: Final = SHARED / "data" / "sib200.tsv.gz"
GRAPH: Final = SHARED / "data" / "graph" / "cnr-2000.edges.npz"
SHARES: Final = SHARED / "data" / "web-shares-2026-04.tsv"

STATES: Final = {"gl": "es", "is": "en", "ga": "en", "lb": "fr", "eu": "es", "fo": "da", "mt": "en"}
"""The small languages, and the language of the sites where two thirds of their hosts are."""

LESSONS: Final = {
    "cy": "en", "ca": "es", "oc": "fr", "gd": "en", "nn": "nb", "et": "ru", "sq": "it", "af": "en",
}  # fmt: skip
"""The small languages of the webs where the prior of `focus` is learned."""

DOMAINS: Final = {
    "gl": "gal es com org", "is": "is is is com", "ga": "ie ie com org", "lb": "lu lu com org",
    "eu": "eus es com org", "fo": "fo fo fo com", "mt": "com.mt org.mt mt com",
    "en": "com com org net co.uk",
    "de": "de de de at com", "fr": "fr fr com lu org",
    "es": "es es com com.ar org", "da": "dk dk com",
}  # fmt: skip

_LESSON_DOMAINS: Final = DOMAINS | {
    "cy": "cymru wales co.uk com", "ca": "cat cat es com", "oc": "fr fr com org",
    "gd": "scot co.uk com org", "nn": "no no no com", "et": "ee ee ee com", "sq": "al al com org",
    "af": "co.za co.za com org", "nb": "no no no com",
}  # fmt: skip

OTHERS: Final = (
    "ru ja zh it pt pl nl tr id vi ko uk sv el ro hu sk th fi nb he ca cy gd nn oc et lt af sq"
).split()
_SHARE: Final = {
    "en": 41.7, "es": 7.0, "fr": 5.5, "de": 5.9, "da": 2.5, "ru": 6.3, "ja": 5.8, "zh": 4.9,
    "it": 2.4, "pt": 2.5, "pl": 2.0, "nl": 1.8, "tr": 1.2, "id": 1.1, "vi": 1.1, "ko": 0.8,
    "uk": 0.7, "sv": 0.7,
}  # fmt: skip
"""Percent of pages (Common Crawl, January 2026); 0.3 for others."""

SWITCHES: Final = {
    "menus": "30 % of hosts have their menus in the state's language or in English",
    "soft404": "2 % of pages say with status 200 that they do not exist",
    "moved": "4 % of hosts have a former name, and 30 % of the links to them use it",
    "farms": "0.4 % of pages are on hosts with the same pages in thirty languages",
    "broken": "1.5 % of hosts are silent, 2 % of pages are missing or fail",
    "slow": "3 % of hosts answer after one to three seconds (over HTTP)",
    "lies": "1 % of hosts have directories that only look like a small language's code",
    "declared": "35 % of hosts with two languages declare them by hreflang",
    "nothing": "a quarter of the shared sites do not mark the language in the URL",
}
"""The properties that may be switched off."""

_MENU: Final = 6
_SECTION: Final = 15
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


@cache
def texts() -> dict[str, list[str]]:
    """Return sentences by language."""
    found: dict[str, list[str]] = {}
    with gzip.open(TEXTS, "rt", encoding="utf-8", newline="") as source:
        for row in csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["script"] not in {"Arab", "Hant"} or row["lang"] in {"ar", "fa"}:
                found.setdefault(row["lang"], []).append(row["text"])
    return found


@cache
def words(lang: str) -> list[str]:
    """Return the words of a language as slugs have them, frequent ones more often."""
    found = []
    for text in texts()[lang]:
        for word in _WORD.findall(text.lower()):
            plain = unicodedata.normalize("NFKD", word.replace("ð", "d").replace("þ", "th"))
            plain = "".join(c for c in plain if not unicodedata.combining(c))
            found.append(plain if plain.isascii() else quote(word))
    return found


@cache
def shapes() -> list[str]:
    """Return paths of real URLs whose words of one language are `@` and whose digits are `#`."""
    with gzip.open(URLS, "rt", encoding="utf-8", newline="") as source:
        lines = [line.split("\t") for line in islice(source, 1, None, 7)]
    paths = [(lang, url.partition("://")[2].partition("/")[2]) for url, lang, *_ in lines]
    langs: dict[str, set[str]] = {}
    for lang, path in paths:
        for word in set(re.findall(r"[a-z]+", path.lower())):
            langs.setdefault(word, set()).add(lang)
    general = {word for word, of in langs.items() if len(of) >= 12}
    codes = set(texts()) | {"gb", "us", "uk", "at", "ch", "no"}

    def plain(match: re.Match[str]) -> str:
        word = match[0].lower()
        return match[0] if word in general and word not in codes else "@"

    found = []
    for _, path in paths:
        if (
            3 < len(path) < 70
            and "%" not in path
            and not re.search(r"\.(pdf|jpe?g|gif|png)$", path)
        ):
            found.append(re.sub(r"\d", "#", re.sub(r"[A-Za-z]+", plain, path)))
    return found


@dataclass(slots=True)
class _Host:
    name: str
    lang: str
    pages: list[int] = field(default_factory=list)
    kind: str = ""  # own, directory, sub-domain, parameter, nothing, farm, lies
    former: str = ""
    menu: str = ""
    is_silent: bool = False
    declares: bool = False
    latency_s: float = 0.0


class RareWeb:
    """A web in this process, with the methods of `focus_webs.GeneratedWeb`."""

    url_model = None

    def __init__(
        self, name: str, pages: int = 400_000, share: float = 0.002, without: str = ""
    ) -> None:
        """Make the web `[lesson-]graph-SEED` or `[lesson-]sites-SEED`."""
        self.name, (self.kind, _, seed) = name, name.removeprefix("lesson-").partition("-")
        is_lesson = name.startswith("lesson-")
        self._states = LESSONS if is_lesson else STATES
        self._domains = _LESSON_DOMAINS if is_lesson else DOMAINS
        if self.kind not in _FAMILIES:
            sys.exit(f"{name}: no such web; there are {', '.join(f'{f}-1' for f in _FAMILIES)}")
        self.host_cap = 500
        self.slowness = 1.0
        self._seed, self._n = int(seed), pages
        self._on = set(SWITCHES) - set(filter(None, without.split(",")))
        self._random = Random(f"{name} {pages}")
        self._numbers = np.random.default_rng(int(seed))
        sizes, source, target, self._out = _FAMILIES[self.kind](pages, self._numbers)
        self._langs = list(dict.fromkeys([*self._states, *_SHARE, *OTHERS]))
        self._lang = np.zeros(pages, np.int16)
        self._is_soft, self._is_farm = np.zeros(pages, bool), np.zeros(pages, bool)
        self._home_of = np.zeros(pages, np.int32)
        self._hosts: list[_Host] = []
        self._marks: dict[int, str] = {}
        self._names: set[str] = set()
        self._settle(sizes, share)
        self._write_urls()
        self._link(source, target)

    # --- hosts and languages -------------------------------------------------------------------

    def _settle(self, sizes: Ints, share: float) -> None:
        """Give each host a language, then small languages their hosts and parts of hosts."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        big = [lang for lang in self._langs if lang not in self._states]
        weights = [_SHARE.get(lang, 0.3) for lang in big]
        free = []
        for at, size in enumerate(sizes.tolist()):
            lang = self._random.choices(big, weights)[0]
            self._add(lang, range(starts[at], starts[at + 1]))
            if size >= 5:
                free.append(at)
        self._random.shuffle(free)
        for small, state in self._states.items():
            free = self._settle_small(small, state, free, int(share * self._n))
        self._settle_rest(free)

    def _settle_small(self, small: str, state: str, free: list[int], pages: int) -> list[int]:
        n_hosts = max(9, pages // 16)
        own_left, used = [pages // 2], set()
        kinds = [
            "directory",
            "sub-domain",
            "parameter",
            "nothing" if "nothing" in self._on else "directory",
        ]
        n_own = 0
        for at in free:
            host = self._hosts[at]
            if n_own < n_hosts // 3 and len(host.pages) <= min(own_left[0], pages // 5):
                n_own += 1
                used.add(at)
                own_left[0] -= len(host.pages)
                self._rename(host, small, "own")
                if self._random.random() < 0.3 and len(host.pages) > 10:
                    self._part(host, state, "directory", len(host.pages) // 4)
                    own_left[0] += len(host.pages) // 4
        left, n_shared = pages - (pages // 2 - own_left[0]), 0
        for at in free:
            host = self._hosts[at]
            if at in used or host.lang not in {state, "de" if small == "lb" else state}:
                continue
            if left <= 0:
                break
            size = min(
                left, 1 + int(self._random.paretovariate(1.1) * 6), int(len(host.pages) * 0.4)
            )
            if size >= 2:
                used.add(at)
                self._part(host, small, kinds[n_shared % 4], size)
                left, n_shared = left - size, n_shared + 1
        return [at for at in free if at not in used]

    def _settle_rest(self, free: Sequence[int]) -> None:
        farmed, most = 0, self._n * 0.004 * ("farms" in self._on)
        everywhere = self._langs[:30]
        for at in free:
            host, chance = self._hosts[at], self._random.random()
            if farmed < most and 60 <= len(host.pages) <= 600:
                farmed += len(host.pages)
                self._rename(host, "en", "farm")
                self._is_farm[host.pages] = True
                part = len(host.pages) // 30
                for number, lang in enumerate(everywhere):
                    self._mark(
                        host.pages[1 + number * part : 1 + (number + 1) * part], lang, "directory"
                    )
            elif "lies" in self._on and chance < 0.01:
                self._rename(host, "en", "lies")
                lie = self._random.choice(["eu", "ga", "mt", "is", "lb"])
                pages = host.pages[len(host.pages) // 2 :]
                self._marks.update(dict.fromkeys(pages, f"/{lie}/@"))
            elif chance < 0.12:
                other = self._random.choice(["en", "en", "fr", "es", "de", "da"])
                kind = self._random.choice(["directory", "directory", "parameter", "nothing"])
                self._part(host, other, kind, len(host.pages) // 4)

    def _add(self, lang: str, pages: Sequence[int]) -> _Host:
        host = _Host(self._new_name(lang), lang, list(pages))
        chance = self._random.random
        host.menu = (
            self._random.choice([lang, "en"]) if "menus" in self._on and chance() < 0.6 else lang
        )
        host.is_silent = "broken" in self._on and chance() < 0.015
        host.declares = "declared" in self._on and chance() < 0.35
        host.latency_s = self._random.lognormvariate(-1.6, 0.7)
        if "slow" in self._on and chance() < 0.03:
            host.latency_s = 1 + 2 * chance()
        if "moved" in self._on and chance() < 0.04:
            host.former = self._new_name(lang)
        number = len(self._hosts)
        self._hosts.append(host)
        self._home_of[host.pages] = number
        self._lang[host.pages] = self._langs.index(lang)
        return host

    def _rename(self, host: _Host, lang: str, kind: str) -> None:
        host.lang, host.kind, host.name = lang, kind, self._new_name(lang)
        state = self._states.get(lang, "en")
        host.menu = state if host.menu != lang and self._random.random() < 0.3 else lang
        host.former = self._new_name(lang) if host.former else ""
        host.is_silent = False
        self._lang[host.pages] = self._langs.index(lang)

    def _part(self, host: _Host, lang: str, kind: str, size: int) -> None:
        """Let a run of a host's pages be in another language."""
        if size < 1 or len(host.pages) < size + 1:
            return
        first = self._random.randrange(1, len(host.pages) - size + 1)
        pages = host.pages[first : first + size]
        if lang in self._states:
            host.kind, host.is_silent = kind, False
        if kind == "sub-domain":
            host.pages = host.pages[:first] + host.pages[first + size :]
            below = self._add(lang, pages)
            below.name = f"{lang}.{host.name.removeprefix('www.')}"
            below.kind, below.is_silent, below.former = kind, False, ""
            below.menu = host.menu
        else:
            self._mark(pages, lang, kind)

    def _mark(self, pages: Sequence[int], lang: str, kind: str) -> None:
        self._lang[pages] = self._langs.index(lang)
        mark = {"directory": f"/{lang}/@", "parameter": f"@lang={lang}"}.get(kind, "@")
        self._marks.update(dict.fromkeys(pages, mark))

    def _new_name(self, lang: str) -> str:
        some, random = words(lang), self._random
        while True:
            chosen = [
                word for word in random.choices(some, k=2) if word.isascii() and "%" not in word
            ]
            chosen = chosen or random.choices(words("en"), k=2)
            name = random.choice(["", "-"]).join(chosen[: random.choice([1, 2, 2])])
            domain = random.choice(self._domains.get(lang, f"{lang} com {lang} org").split())
            name = f"{random.choice(['', 'www.'])}{name[:40]}.{domain}".replace("'", "")
            if name not in self._names and len(name) > 6:
                self._names.add(name)
                return name

    # --- URLs ----------------------------------------------------------------------------------

    def _write_urls(self) -> None:
        self._urls = [""] * self._n
        self._page: dict[str, int] = {}
        self._named: dict[str, int] = {}
        self._formerly: dict[str, int] = {}
        soft = self._numbers.random(self._n) < 0.02 * ("soft404" in self._on)
        for number, host in enumerate(self._hosts):
            self._named[host.name.removeprefix("www.")] = number
            if host.former:
                self._formerly[host.former.removeprefix("www.")] = number
            style = (
                self._random.choices(shapes(), k=3)
                if self.kind == "graph"
                else _style(self._random)
            )
            section, last, begin = "", "", "/"
            for place, page in enumerate(host.pages):
                lang = self._langs[self._lang[page]]
                mark = self._marks.get(page, "@")
                if place % _SECTION == 0 or mark != last:
                    section = "/" + self._random.choice(style).lstrip("/")
                    head, _, tail = section.rpartition("/")
                    section, begin = self._filled(head, lang) + "/", mark
                    leaf = tail
                path = "/" if place == 0 else section + self._filled(leaf, lang)
                if mark != last and mark.startswith("/"):
                    path = mark[:-1]
                elif begin.startswith("/") and mark.startswith("/"):
                    path = mark[:-2] + path
                elif mark.startswith("@lang"):
                    path += ("&" if "?" in path else "?") + mark[1:]
                last = mark
                url = normalise(f"http://{host.name}{path}")
                while url is None or url in self._page:
                    joint = "&" if "?" in path else "?"
                    path = f"/{page}" if url is None else f"{path}{joint}id={page}"
                    url = normalise(f"http://{host.name}{path}")
                self._page[url] = page
                self._urls[page] = url
            if host.pages:
                soft[host.pages[0]] = False
        self._is_soft = soft

    def _filled(self, shape: str, lang: str) -> str:
        if "@" not in shape and "#" not in shape:
            return shape
        random = self._random
        some = words(lang)
        parts = [
            random.choice(some) if c == "@" else random.choice("0123456789") if c == "#" else c
            for c in shape
        ]
        return "".join(parts)

    # --- links ---------------------------------------------------------------------------------

    def _link(self, source: Ints, target: Ints) -> None:
        """Join the links inside hosts with links across hosts, by language."""
        numbers = self._numbers
        homes = np.array([host.pages[0] if host.pages else 0 for host in self._hosts], np.int32)
        pools = [self._pool(lang) for lang in range(len(self._langs))]
        across = np.repeat(np.arange(self._n, dtype=np.int32), self._out)
        chance, to = numbers.random(len(across)), self._lang[across].astype(np.int32)
        own = to.copy()
        english = self._langs.index("en")
        big = np.array(
            [_SHARE.get(lang, 0.3) if lang not in self._states else 0.2 for lang in self._langs]
        )
        anywhere = numbers.choice(len(self._langs), len(across), p=big / big.sum()).astype(np.int32)
        state = np.array(
            [self._langs.index(self._states.get(lang, "en")) for lang in self._langs], np.int32
        )
        is_small = own < len(self._states)
        to = np.where(
            chance < np.where(is_small, 0.4, 0.7),
            own,
            np.where(
                is_small & (chance < 0.75), state[own], np.where(chance < 0.9, english, anywhere)
            ),
        )
        found = np.empty(len(across), np.int32)
        for lang in range(len(self._langs)):
            which = np.flatnonzero(to == lang)
            pool = pools[lang] if len(pools[lang]) else pools[english]
            found[which] = self._drawn(pool, len(which), homes)
        extra = [(source, target), (across, found), *self._ways(pools)]
        all_from, all_to = (np.concatenate(part) for part in zip(*extra, strict=True))
        keep = all_from != all_to
        all_from, all_to = all_from[keep], all_to[keep]
        order = np.argsort(all_from, kind="stable")
        self._targets = all_to[order].astype(np.int32)
        self._first = np.searchsorted(all_from[order], np.arange(self._n + 1)).astype(np.int64)

    def _pool(self, lang: int) -> Ints:
        """Return the pages of a language in order of its hosts' popularity."""
        pages = np.flatnonzero((self._lang == lang) & ~self._is_farm).astype(np.int32)
        hosts = np.unique(self._home_of[pages])
        rank = np.zeros(len(self._hosts), np.int32)
        rank[self._numbers.permutation(hosts)] = np.arange(len(hosts))
        return pages[np.argsort(rank[self._home_of[pages]], kind="stable")]

    def _drawn(self, pool: Ints, n: int, homes: Ints) -> Ints:
        pages = pool[(len(pool) * self._numbers.random(n) ** 1.5).astype(np.int64)]
        is_home = (self._numbers.random(n) < 0.5) & (
            self._lang[homes[self._home_of[pages]]] == self._lang[pages]
        )
        return np.where(is_home, homes[self._home_of[pages]], pages)

    def _ways(self, pools: Sequence[Ints]) -> Iterator[tuple[Ints, Ints]]:
        """Yield the few links that lead to a small language's hosts, and to parts of hosts."""
        for small, state in enumerate(self._states.values()):
            pages, states = pools[small], pools[self._langs.index(state)]
            firsts = pages[np.unique(self._home_of[pages], return_index=True)[1]]
            yield self._numbers.choice(pages, len(firsts)), firsts
            some = firsts[self._numbers.random(len(firsts)) < 0.6]
            yield self._numbers.choice(states, len(some)), some
            home = np.array([self._hosts[h].pages[0] for h in self._home_of[firsts]], np.int32)
            yield home, firsts
            yield firsts, home
            inner = self._numbers.choice(pages, len(pages))
            same = {
                host: pages[self._home_of[pages] == host]
                for host in np.unique(self._home_of[pages])
            }
            near = [self._numbers.choice(same[host]) for host in self._home_of[inner]]
            yield np.array(near, np.int32), inner

    # --- what a crawl sees ---------------------------------------------------------------------

    def seeds(self, lang: str) -> Sequence[str]:
        """Return seven pages or fewer, each the first one of a host in the language."""
        pages = self._pool_of(lang)
        firsts = pages[np.unique(self._home_of[pages], return_index=True)[1]]
        found = [page for page in firsts.tolist() if self._fault(page) == 200]
        random = Random(f"{self.name} {lang}")
        return [self._urls[page] for page in random.sample(found, min(7, len(found)))]

    def _pool_of(self, lang: str) -> Ints:
        found = np.flatnonzero(
            (self._lang == self._langs.index(lang)) & ~self._is_farm & ~self._is_soft
        )
        return found.astype(np.int32)

    def wanted(self, lang: str) -> int:
        """Return the number of relevant pages."""
        return len(self._pool_of(lang))

    def language(self, url: str) -> str | None:
        """Return the language of a URL's page; None for farms and pages that do not exist."""
        page = self._page.get(url)
        if page is None or self._is_soft[page] or self._is_farm[page]:
            return None
        return self._langs[int(self._lang[page])]

    def kind_of(self, url: str) -> str:
        """Return how the host of a page has its language."""
        page = self._page.get(url)
        return "" if page is None else self._hosts[self._home_of[page]].kind

    def is_forbidden(self, url: str) -> bool:
        """Return True if robots.txt forbids a URL: it never does."""
        return False

    def _fault(self, page: int) -> int:
        if "broken" not in self._on:
            return 200
        chance = Random(f"{self._seed} fault {page}").random()
        is_home = page == self._hosts[self._home_of[page]].pages[0]
        return (
            404 if chance < 0.013 and not is_home else 500 if chance < 0.02 and not is_home else 200
        )

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL leads to."""
        page = self._page.get(url)
        if page is None:
            moved = self._moved(url)
            return self.page_at(moved) if moved else None
        host = self._hosts[self._home_of[page]]
        return url if self._fault(page) == 200 and not host.is_silent else None

    def _moved(self, url: str) -> str | None:
        parts = urlsplit(url)
        number = self._formerly.get((parts.hostname or "").removeprefix("www."))
        if number is None:
            return None
        target: str | None = normalise(parts._replace(netloc=self._hosts[number].name).geturl())
        return target

    def links(self, url: str) -> Sequence[str]:
        """Return the links of a page."""
        page = self._page[url]
        return [self._spelled(page, int(at)) for at in self._linked(page)]

    def _linked(self, page: int) -> Ints:
        if self._is_soft[page]:
            return np.array([self._hosts[self._home_of[page]].pages[0]], np.int32)
        return np.unique(self._targets[self._first[page] : self._first[page + 1]])[:120]

    def _spelled(self, page: int, to: int) -> str:
        host = self._hosts[self._home_of[to]]
        if host.former and Random(f"{page} {to}").random() < 0.3:
            return self._urls[to].replace(host.name, host.former, 1)
        return self._urls[to]

    def latency_s(self, url: str) -> float:
        """Return the time of an answer over HTTP."""
        number = self._named.get((urlsplit(url).hostname or "").removeprefix("www."))
        return self.slowness * (0.02 if number is None else self._hosts[number].latency_s)

    def respond(self, url: str) -> Answer:
        """Return the answer of a URL's server."""
        url = normalise(url) or url
        hostname = (urlsplit(url).hostname or "").removeprefix("www.")
        number = self._named.get(hostname, self._formerly.get(hostname))
        if number is None or self._hosts[number].is_silent:
            raise Unreachable("dns" if number is None else "timeout")
        if moved := self._moved(url):
            return Answer(301, (("Location", moved),))
        page = self._page.get(url)
        status = 404 if page is None else self._fault(page)
        kind = (("Content-Type", "text/html; charset=utf-8"),)
        if page is None or status != 200:
            return Answer(status, kind, b"<html><body>Error</body></html>")
        return Answer(200, kind, self._body(page).encode())

    def _body(self, page: int) -> str:
        random = Random(f"{self.name} body {page}")
        host, lang = self._hosts[self._home_of[page]], self._langs[self._lang[page]]
        own = texts()[host.lang if self._is_soft[page] else lang]
        menu = "".join(
            f"<li>{html.escape(s[:18])}</li>" for s in random.choices(texts()[host.menu], k=_MENU)
        )
        some = random.choices(own, k=random.randrange(4, 22))
        if self._is_soft[page]:
            some = ["404 Not Found"]
        items = []
        for to in self._linked(page):
            of = (
                lang
                if random.random() < (0.6 if self.kind == "graph" else 0.2)
                else self._langs[self._lang[to]]
            )
            anchor = " ".join(random.choice(texts()[of]).split()[: random.randrange(1, 6)])
            items.append(
                f'<li><a href="{html.escape(self._spelled(page, int(to)))}">'
                f"{html.escape(anchor)}</a></li>"
            )
        chance = random.random()
        named = (
            f' lang="{lang}"' if chance < 0.5 else f' lang="{host.lang}"' if chance < 0.65 else ""
        )
        text = "".join(f"<p>{html.escape(s)}</p>" for s in some)
        head = f"<title>{html.escape(some[0][:60])}</title>{self._alternates(host, lang)}"
        body = f"<ul>{menu}</ul>{text}<ul>{''.join(items)}</ul>"
        return f"<!DOCTYPE html><html{named}><head>{head}</head><body>{body}</body></html>"

    def _alternates(self, host: _Host, lang: str) -> str:
        if not host.declares:
            return ""
        first: dict[int, int] = {}
        for page in host.pages:
            first.setdefault(int(self._lang[page]), page)
        if len(first) < 2:
            return ""
        return "".join(
            f'<link rel="alternate" hreflang="{self._langs[of]}" '
            f'href="{html.escape(self._urls[page])}">'
            for of, page in first.items()
            if self._langs[of] != lang
        )


def _style(random: Random) -> list[str]:
    """Return paths as a content system makes them."""
    made = [
        ["@/@-@-@", "@/@-@"], ["20##/##/@-@-@/"], ["node/####", "taxonomy/term/##"],
        ["index.php?id=####"],
        ["@-@.html", "@/@.html"], ["wiki/@_@"], ["forum/viewtopic.php?t=#####", "forum/@-@"],
        ["@/####-@-@", "tag/@"],
        ["a/#####", "p/@"],
    ]  # fmt: skip
    return random.choice(made)


Skeleton = tuple[Ints, Ints, Ints, Ints]
"""Sizes of hosts, links inside hosts (source, target), and links across hosts of each page."""


def _of_graph(pages: int, numbers: np.random.Generator) -> Skeleton:
    """Return hosts that are blocks of a real crawl's URL order."""
    with np.load(GRAPH) as stored:
        source, target = stored["src"].astype(np.int64), stored["dst"].astype(np.int64)
    n = int(max(source.max(), target.max())) + 1
    shift = int(numbers.integers(n))
    source, target = (source + shift) % n, (target + shift) % n
    copies = -(-pages // n)
    source = np.concatenate([source + n * k for k in range(copies)])
    target = np.concatenate([target + n * k for k in range(copies)])
    keep = (source < pages) & (target < pages)
    source, target = source[keep], target[keep]
    sizes = _parted(np.minimum(1 + numbers.pareto(0.75, pages) * 3, pages * 0.02 + 50), pages)
    host = np.repeat(np.arange(len(sizes)), sizes)
    inside = host[source] == host[target]
    out = np.minimum(np.bincount(source[~inside], minlength=pages), 4)
    first = numbers.random(pages) < 0.6  # a quarter of real pages have no links at all
    has_links = np.bincount(source, minlength=pages) > 0
    menu = np.flatnonzero(has_links & first)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    homes = begins[host[menu]]
    down = begins[host]
    child = np.flatnonzero(numbers.random(pages) < 0.25)
    up = down[child] + ((child - down[child]) * numbers.random(len(child))).astype(np.int64)
    source = np.concatenate([source[inside], menu, up])
    target = np.concatenate([target[inside], homes, child])
    return sizes, source.astype(np.int32), target.astype(np.int32), out.astype(np.int32)


def _of_sites(pages: int, numbers: np.random.Generator) -> Skeleton:
    """Return hosts that are trees of sections with a menu on each page."""
    sizes = _parted(np.minimum(numbers.lognormal(2.2, 1.6, pages) + 1, pages * 0.02 + 50), pages)
    begins = np.repeat(np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    every = np.arange(pages)
    place = every - begins
    parent = begins + (place * numbers.random(pages) ** 1.5).astype(np.int64)
    near = np.minimum(every + 1, begins + np.repeat(sizes, sizes) - 1)
    has_links = (numbers.random(pages) < 0.75) | (place == 0)
    links = [(parent, every), (every, parent), (every, begins), (every, near)]
    links += [(every, begins + np.minimum(place, k)) for k in (1, 2, 3)]
    source, target = (np.concatenate(part) for part in zip(*links, strict=True))
    keep = has_links[source]
    out = np.where(has_links, numbers.poisson(np.where(place == 0, 5, 0.8)), 0)
    return sizes, source[keep].astype(np.int32), target[keep].astype(np.int32), out.astype(np.int32)


def _parted(sizes: npt.NDArray[np.float64], pages: int) -> Ints:
    """Return the first sizes that sum to a number of pages."""
    whole = sizes.astype(np.int64)
    ends = np.cumsum(whole)
    n = int(np.searchsorted(ends, pages)) + 1
    whole[n - 1] -= ends[n - 1] - pages
    return whole[:n].astype(np.int32)


_FAMILIES: Final[dict[str, Any]] = {"graph": _of_graph, "sites": _of_sites, "cross": _of_graph}
