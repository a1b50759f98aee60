"""Requests for versions of known pages in other languages, judged by the server's log.

Four families of webs. `made-SEED` has sites in one to eight languages whose URLs tell the language
in a directory, with a region, by a name, on a sub-domain, in a parameter, in the file name, in all
but one language, or not at all. `more-SEED` has other styles of real sites: codes of three letters,
codes of countries, a region before the language, the code in two places, a file name with a code in
all but one language, and numbers. `real-SEED` takes the URLs of real sites: each `hreflang` list of
the pages in `../shared/data/pages` is a site, with its own addresses. Half of the sites of `made`
and `more` declare their versions, all of `real` do, none of `mute-SEED`, which is `real` otherwise;
most pages link to their versions.

A crawl has connections, latencies and a crawl delay on a clock of its own (`benchmarks.rare`). A
page is *known* in the language once the web answered with it or with a link to it, unless its host
is full. `surplus` counts the requests that begin later for the same page in another language.
`unforeseen` of these are on sites without codes in URLs, before the page was read that declares
them. Prints a JSON line for each crawl.

    python -m benchmarks.versions --webs made-1 --langs gl,de --strategies focus,svm
    python -m benchmarks.versions --webs real-1 --langs de,fr,es --strategies focus,svm
"""

import argparse
import gzip
import html
import json
import re
import sys
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.focus import _Time
from benchmarks.proxyweb import SHARED
from benchmarks.rare import DELAY_S, _Connections, _Log
from benchmarks.rare_webs import texts, words
from langfocus.classifiers.languages import declared_languages
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.url import domain_of, host_of, normalise

PAGES: Final = SHARED / "data" / "pages" / "html.tar"
STATE: Final = {"gl": "es", "de": "en", "fr": "en", "es": "en"}
OTHERS: Final = "en fr pt it de nl es".split()
DOMAINS: Final = {"gl": "gal", "de": "de", "es": "es", "fr": "fr"}
NAMES: Final = {
    "gl": "galego",
    "es": "castellano",
    "en": "english",
    "fr": "francais",
    "de": "deutsch",
}
STYLES: Final = "directory region name sub-domain parameter suffix default plain".split()
MORE_STYLES: Final = "three-letter country store twice late number".split()
THREE: Final = dict(
    pair.split("-") for pair in "gl-glg es-spa en-eng fr-fra pt-por it-ita de-ger nl-dut".split()
)
COUNTRIES: Final = {"en": "us", "pt": "br"}
HOST_CAP: Final = 50
_LINK: Final = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""(href|hreflang|rel)\s*=\s*["']?([^"'>\s]+)""", re.IGNORECASE)


class Site:
    """A site: the URL of each page in each of its languages.

    `kind` is one of `benchmarks.farms`; an open site links to others.
    """

    kind = ""
    is_open = False

    def __init__(self, random: Random, langs: Sequence[str], style: str, size: int) -> None:
        """Name the pages; `_url` decides about their addresses."""
        self.langs, self.style = list(langs), style
        self.declares = random.random() < (0.8 if style == "plain" else 0.5)
        self.switches = random.random() < 0.85
        self.urls: dict[tuple[int, str], str] = {}
        domain = random.choice(["com", "org", "net", DOMAINS.get(langs[0], "com")])
        self.name = f"{random.choice(words(langs[0]))}{random.randrange(10**6)}.{domain}"
        shared = [random.choice(words("en")) for _ in range(size)]
        for page in range(size):
            for lang in langs:
                if page == 0 or random.random() < 0.9 or lang == langs[-1]:
                    own = random.choice(words(lang)) + f"-{page}"
                    slug = own if style == "plain" else f"{shared[page]}-{page}"
                    self.urls[page, lang] = self._url(lang, slug if page else "")

    def _url(self, lang: str, slug: str) -> str:
        base = f"http://www.{self.name}/"
        if self.style in {"directory", "region", "name"}:
            code = {"region": f"{lang}-ES" if lang in "gl es" else f"{lang}-{lang.upper()}"}
            part = code.get(self.style, NAMES.get(lang, lang) if self.style == "name" else lang)
            return f"{base}{part}/{slug}"
        if self.style == "sub-domain":
            return f"http://{lang}.{self.name}/{slug}"
        if self.style == "parameter":
            return f"{base}{slug}?lang={lang}"
        if self.style == "default":
            return f"{base}{'' if lang == self.langs[-1] else lang + '/'}{slug}"
        if self.style == "plain":
            return f"{base}{slug or lang + 'x' * (lang != self.langs[-1])}"
        return base + self._more(lang, slug)

    def _more(self, lang: str, slug: str) -> str:
        late = "" if lang == self.langs[-1] else f"_{lang}"
        return {
            "three-letter": f"{THREE[lang]}/{slug}",
            "country": f"{COUNTRIES.get(lang, lang)}/{slug}",
            "store": f"{'us' if lang == 'en' else 'eu'}_{lang}/{slug}",
            "twice": f"{lang}/{slug or 'index'}-{lang}.html",
            "late": f"{slug or 'index'}{late}.html",
            "suffix": f"{slug or 'index'}_{lang}.html",
            "number": f"index.php?id={slug or 'home'}&L={self.langs.index(lang)}",
        }[self.style]


class RealSite(Site):
    """A site with the addresses of a real list of versions, and further pages beside them."""

    def __init__(self, random: Random, real: dict[str, str], size: int, *, declares: bool) -> None:
        """Take a URL for each language; a further page adds its slug to the URL."""
        self.langs, self.style = list(real), "real"
        self.declares, self.switches = declares, random.random() < 0.85
        self.urls = {}
        for page in range(size):
            slug = f"{random.choice(words('en'))}-{page}"
            for lang, url in real.items():
                if page == 0 or random.random() < 0.9:
                    self.urls[page, lang] = beside(url, slug) if page else url


def beside(url: str, slug: str) -> str:
    address, mark, query = url.partition("?")
    head, _, last = address.rpartition("/")
    stem, dot, suffix = last.partition(".")
    last = f"{slug}/" if not last else f"{stem}-{slug}{dot}{suffix}"
    return normalise(f"{head}/{last}{mark}{query}") or url


def real_lists() -> list[dict[str, str]]:
    """Return the URL of each language, of each list on the real pages, each list once."""
    found: dict[frozenset[str], dict[str, str]] = {}
    with tarfile.open(PAGES) as files:
        for member in files:
            body = files.extractfile(member)
            if body is None:
                continue
            text = gzip.decompress(body.read()).decode("utf-8", "replace")
            one: dict[str, str] = {}
            for tag in _LINK.findall(text):
                of = {name.lower(): html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
                url = normalise(of.get("href", "")) if "hreflang" in of else None
                for lang in declared_languages(of.get("hreflang", "")) if url else ():
                    one.setdefault(lang, url or "")
            one = {lang: url for lang, url in one.items() if lang in texts()}
            domains = {domain_of(host_of(url)) for url in one.values()}
            if len(set(one.values())) == len(one) > 1 and len(domains) == 1:
                found.setdefault(frozenset(one.values()), one)
    return list(found.values())


class VersionWeb:
    """A web in this process, with the methods of `rare_webs.RareWeb`."""

    url_model = None
    slowness = 1.0

    def __init__(self, name: str, lang: str, sites: int = 300) -> None:
        """Make the web for a language."""
        self.name, self.lang, self.host_cap = name, lang, HOST_CAP
        kind = name.partition("-")[0]
        random = self._random = Random(f"{name} {lang}".replace("mute", "real"))
        if styles := {"made": STYLES, "more": MORE_STYLES}.get(kind):
            self.sites = self._made(random, sites, styles)
        else:
            self.sites = self._real(random, declares=kind == "real")
        self.page: dict[str, tuple[int, int, str]] = {}
        for number, site in enumerate(self.sites):
            for (page, of), url in site.urls.items():
                self.page.setdefault(normalise(url) or url, (number, page, of))
        self._of_lang = defaultdict(list)
        for number, site in enumerate(self.sites):
            for of in site.langs:
                self._of_lang[of].append(number)
        self._latency = {host_of(url): random.lognormvariate(-1.6, 0.7) for url in self.page}

    def _made(self, random: Random, sites: int, styles: Sequence[str]) -> list[Site]:
        found, state = [], STATE.get(self.lang, "en")
        for _ in range(sites):
            chance, style = random.random(), random.choice(styles)
            more = random.sample(
                [of for of in OTHERS if of not in (state, self.lang)], random.randrange(1, 6)
            )
            langs = [self.lang, state]
            if chance < 0.15:
                langs = [self.lang]
            elif chance < 0.4:
                langs = [random.choice([state, *more])]
            elif chance < 0.6:
                langs = [self.lang, *more, state]
            elif chance < 0.7:
                langs = [*more, state]
            elif chance < 0.8:
                langs = [state, self.lang]  # the language is the default one
            found.append(Site(random, langs, style, int(min(60, 4 + random.lognormvariate(2, 1)))))
        return found

    def _real(self, random: Random, *, declares: bool) -> list[Site]:
        return [
            RealSite(random, one, int(min(60, 6 + random.lognormvariate(2, 1))), declares=declares)
            for one in real_lists()
        ]

    def seeds(self, lang: str) -> list[str]:
        """Return seven home pages in the language."""
        random = Random(f"{self.name} {lang} seeds")
        own = self._of_lang[lang]
        return [self.sites[n].urls[0, lang] for n in random.sample(own, min(7, len(own)))]

    def language(self, url: str) -> str | None:
        """Return the language of a URL's page."""
        return self.page[url][2] if url in self.page else None

    def latency_s(self, url: str) -> float:
        """Return the time of an answer."""
        return self._latency.get(host_of(url), 0.02)

    def links(self, url: str) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the links of a page, and its versions as it declares them: language and URL."""
        number, page, lang = self.page[url]
        site, random = self.sites[number], Random(f"{self.name} links {url}")
        near = {0, (page - 1) // 3, *range(3 * page + 1, 3 * page + 4), page + 1}
        found = [site.urls[at, lang] for at in sorted(near) if (at, lang) in site.urls]
        versions = [(of, site.urls[page, of]) for of in site.langs if (page, of) in site.urls]
        if site.switches:
            found += [to for of, to in versions if of != lang]
        elif page == 0:
            found += [site.urls[0, of] for of in site.langs]
        for _ in range(random.randrange(2, 6)):
            to = lang if random.random() < 0.7 else random.choice(list(self._of_lang))
            other = self.sites[random.choice(self._of_lang[to])]
            places = [at for at, of in other.urls if of == to]
            found.append(other.urls[random.choice([0, random.choice(places)]), to])
        return found, versions if site.declares else []

    def respond(self, url: str) -> Answer:
        """Return the answer of a URL's server."""
        url = normalise(url) or url
        kind = (("Content-Type", "text/html; charset=utf-8"),)
        if url not in self.page:
            return Answer(404, kind, b"<html><body>Not found</body></html>")
        random, lang = Random(f"{self.name} body {url}"), self.page[url][2]
        found, versions = self.links(url)
        head = "".join(
            f'<link rel="alternate" hreflang="{of}" href="{html.escape(to)}">'
            for of, to in versions
        )
        some = random.choices(texts()[lang], k=random.randrange(4, 16))
        items = "".join(f'<li><a href="{html.escape(to)}">x</a></li>' for to in found)
        body = "".join(f"<p>{html.escape(text)}</p>" for text in some)
        page = (
            f"<html><head><title>x</title>{head}</head><body>{body}<ul>{items}</ul></body></html>"
        )
        return Answer(200, kind, page.encode())


class _Answers(_Log):
    def respond(self, url: str) -> Answer:
        web: Any = self._web
        self.urls.setdefault(normalise(url) or url)
        answer: Answer = web.respond(url)
        return answer


class _Judged(_Connections):
    """Connections that count the requests for versions of known pages."""

    def __init__(self, web: VersionWeb, lang: str, crawl: Any, clock: _Time) -> None:
        any_web: Any = web
        super().__init__(any_web, _Answers(any_web), crawl, clock)
        self._sites = any_web
        self._lang, self.known = lang, set[tuple[int, int]]()
        self._told: dict[tuple[int, int], set[str]] = defaultdict(set)
        self.requests = self.surplus = self.unforeseen = self.relevant = 0
        self._sent = Counter[str]()
        self.by: dict[str, int] = defaultdict(int)

    def _send(self, lease: Lease) -> None:
        before = len(self._flying)
        super()._send(lease)
        if len(self._flying) == before:
            return
        self.requests += 1
        number, page, lang = self._sites.page.get(lease.url, (-1, 0, ""))
        self.relevant += lang == self._lang
        site = self._sites.sites[number]
        twin = host_of(site.urls.get((page, self._lang), ""))
        self._sent[lease.host] += 1
        if lang == self._lang or self._sent[twin] >= HOST_CAP:  # a full host fetches no more
            return
        if (number, page) in self.known:
            self.surplus += 1
            self.by[f"{site.style}{' hreflang' if site.declares else ''}"] += 1
            told = lease.url in self._told[number, page]
            self.unforeseen += site.style == "plain" and not told

    def _settle(self, lease: Lease) -> None:
        super()._settle(lease)
        if lease.url not in self._sites.page:
            return
        found, versions = self._sites.links(lease.url)
        for url in (lease.url, *found, *(url for _, url in versions)):
            number, page, lang = self._sites.page[normalise(url) or url]
            if lang == self._lang:
                self.known.add((number, page))
        self._told[self._sites.page[lease.url][:2]].update(url for _, url in versions)


def crawled(web: VersionWeb, lang: str, strategy: str, pages: int, versions: str) -> dict[str, Any]:
    """Return the figures of a crawl."""
    clock, start = _Time(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            lang=lang, strategy=strategy, host_cap=web.host_cap, seeds=tuple(web.seeds(lang)),
            run_folder=Path(folder) / "run", delay_s=DELAY_S, retry_times=0, retry_delay_s=0.0,
            keeps_warc=False, versions=versions,
        )  # fmt: skip
        crawl = open_crawl(config, CrawlClock(clock, clock))
        try:
            crawl.start()
            judged = _Judged(web, lang, crawl, clock)
            judged.run(pages)
            counts = dict(
                crawl.run.connection.execute(
                    "SELECT name, value FROM counts WHERE name LIKE '%version%' UNION ALL"
                    " SELECT outcome, COUNT(*) FROM pages GROUP BY outcome"
                )
            )
        finally:
            crawl.close("finished")
    return {
        "web": web.name, "lang": lang, "strategy": strategy, "versions": versions,
        "requests": judged.requests, "surplus": judged.surplus,
        "share": round(judged.surplus / max(1, judged.requests), 5),
        "unforeseen": judged.unforeseen, "relevant": judged.relevant,
        "wanted": sum(of == lang for _, _, of in web.page.values()), "by": dict(judged.by),
        "counts": counts, "cpu_ms": round(1000 * (time.process_time() - start) / judged.requests, 2)
    }  # fmt: skip


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default="made-1")
    parser.add_argument("--langs", default="gl,de")
    parser.add_argument("--strategies", default="focus,svm")
    parser.add_argument("--versions", default="all,one")
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--sites", type=int, default=300)
    args = parser.parse_args()
    if not PAGES.exists():
        sys.exit(f"skipped: {PAGES} is not here")
    for name in args.webs.split(","):
        for lang in args.langs.split(","):
            web = VersionWeb(name, lang, args.sites)
            for strategy in args.strategies.split(","):
                for versions in args.versions.split(","):
                    line = crawled(web, lang, strategy, args.pages, versions)
                    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
