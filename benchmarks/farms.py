"""Downloads that farms of translated and generated pages cost, and human hosts that are lost.

A web has 400 ordinary sites, half of them in the wanted language, 200 human sites in several
languages, and farms. Human sites have real addresses: the 200 registered domains with labelled URLs
in the most languages, and the `hreflang` lists of real pages. Where a URL has a code of its
language, most sites get 25 to 40 languages. All pages of a farm are in the language that they
declare, so a crawl takes them for relevant; the judge does not. `KINDS` has the kinds of farms.

Assumptions: ordinary pages link to a farm eight times and to a human site six times on average.
Human pages have up to two links to other sites, but a tenth of the human and ordinary sites have
none: of 1,114 real pages with five links or more (`../shared/data/pages`) 3.4 % have none, and half
have less than 12 % of their links. Farms have none either, but for `d`, which links as human pages
do, and `g`, whose template links to three sites. A human site has 2 to 60 pages in each language.
In 40 % of them each page is in all languages, as on a farm.

Crawls run in time (`benchmarks.rare`). A line has the share of downloads on each kind of farm,
human pages in the language, and the human hosts: `linked` are those with a page in the language to
which a downloaded page links, `lost` those of them without a downloaded page in the language.

    python -m benchmarks.farms --webs farms-1,farms-2 --langs gl --caps 10,500
    python -m benchmarks.farms --webs farms-1 --langs gl --caps 500 --kinds e
"""

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from random import Random
from typing import Any, Final

from benchmarks.proxyweb import URLS
from benchmarks.rare import crawled_in_time
from benchmarks.rare_webs import TEXTS, texts, words
from benchmarks.versions import (
    DOMAINS,
    PAGES,
    STATE,
    RealSite,
    Site,
    VersionWeb,
    beside,
    real_lists,
)
from langfocus.crawler.url import domain_of, host_of, is_unwanted_file, normalise

KINDS: Final = {
    "a": "one host, a directory for each of thirty languages, hreflang to all",
    "b": "one domain, a sub-domain for each language",
    "c": "a domain for each language, with the same template and slugs",
    "d": "one host, a parameter for the language",
    "e": "one language, numbered pages, linked among themselves alone",
    "f": "the addresses, links and declarations of a small site of the language",
    "g": "regional directories, own slugs in each language, no hreflang, versions on the home page",
}
"""The kinds of farms."""

HUMANS: Final = 200
ORDINARY: Final = 400
FARMS: Final = 5
"""Farms of a kind."""
INLINKS: Final = 8
"""Links of ordinary pages to a farm."""
_PAGES: Final = 200
"""Pages of a farm in each language."""

_LANGS: Final = (
    "en es fr de it pt ru ja zh ko pl nl tr id vi uk sv el ro hu sk th fi nb da cs bg hr sl lt lv "
    "et he fa hi bn ca eu sr mk"
).split()


@cache
def human_addresses() -> list[dict[str, list[str]]]:
    """Return real URLs by language, of the domains with the most languages."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(URLS, "rt", encoding="utf-8", newline="") as source:
        for line in islice(source, 1, None):
            url, lang, *_ = line.rstrip("\n").split("\t")
            normal = normalise(url)
            if lang in texts() and normal and not is_unwanted_file(normal):
                found[domain_of(host_of(normal))][lang].append(normal)
    lists = [{lang: [url] for lang, url in one.items()} for one in real_lists() if len(one) >= 5]
    return [*lists, *sorted(found.values(), key=len, reverse=True)][:HUMANS]


def _domain(url: str) -> range:
    """Return the place of the registered domain."""
    begin = url.index(domain := domain_of(host_of(url)))
    return range(begin, begin + len(domain))


class Human(RealSite):
    """A site in several languages, with real addresses."""

    kind = "human"

    def __init__(self, random: Random, real: dict[str, list[str]], wanted: str) -> None:
        """Add the wanted language to real addresses, and others where they have a code."""
        one = {lang: random.choice(urls) for lang, urls in real.items()}
        coded = [
            re.sub(rf"(?<=[/.=_-]){lang}(?=[/.?&_-]|$)", "{}", url.replace("{", ""), count=1)
            for lang, url in one.items()
        ]
        coded = [
            form for form, url in zip(coded, one.values(), strict=True)
            if form.count("{}") == 1 and form.index("{}") not in _domain(url)
        ]  # fmt: skip
        if coded:
            form = random.choice(coded)
            n = random.randrange(25, 41) if random.random() < 0.6 else len(one)
            others = [lang for lang in _LANGS if lang in texts() and lang not in one]
            langs = [*one, *random.sample(others, max(0, min(len(others), n - len(one))))]
            one = {lang: form.format(lang) for lang in dict.fromkeys([*langs, wanted])}
        else:
            url = random.choice(list(one.values()))
            one[wanted] = beside(url, f"{random.choice(words(wanted))}-{random.randrange(99)}")
        size = int(min(60, 2 + random.lognormvariate(1.8, 1)))
        super().__init__(random, one, size, declares=True)
        self.declares, self.is_open = bool(coded) and random.random() < 0.6, random.random() < 0.9
        share = 1.0 if random.random() < 0.4 else random.uniform(0.2, 0.9)
        self.urls = {
            of: url for of, url in self.urls.items()
            if of[0] == 0 or of[1] == wanted or random.random() < share
        }  # fmt: skip


class Farm(Site):
    """A farm of a kind."""

    def __init__(self, random: Random, kind: str, wanted: str) -> None:
        """Make the addresses."""
        self.kind, self.style, self.is_open = kind, kind, kind in "dg"
        self.declares, self.switches = kind in "abc", kind in "abcd"
        some = [lang for lang in _LANGS if lang in texts() and lang != wanted]
        self.langs = [wanted] if kind in "ef" else [wanted, *random.sample(some, 29)]
        of = wanted if kind in "ef" else "en"
        name = f"{random.choice(words(of))}{random.choice(words(of))}{random.randrange(100)}"
        domain = DOMAINS.get(wanted, wanted) if kind in "ef" else random.choice(["com", "net"])
        self.urls = {}
        for page in range(_PAGES):
            shared = "-".join(random.choices(words("en"), k=3))
            for lang in self.langs:
                own = "-".join(random.choices(words(lang), k=2)) if kind in "fg" else shared
                slug = f"{own}-{page}" if page else ""
                tld = DOMAINS.get(lang, lang if len(lang) == 2 and lang != "en" else "org")
                self.urls[page, lang] = {
                    "a": f"http://www.{name}.{domain}/{lang}/{slug}",
                    "b": f"http://{lang}.{name}.{domain}/{slug}",
                    "c": f"http://www.{name}.{tld}/{slug}"
                    if tld != "org"
                    else f"http://www.{name}-{lang}.org/{slug}",
                    "d": f"http://www.{name}.{domain}/{slug}?lang={lang}",
                    "e": f"http://www.{name}.{domain}/item-{page:06d}.html",
                    "f": f"http://www.{name}.{domain}/{slug}",
                    "g": f"http://www.{name}.{domain}/{lang}-{lang}/{slug}",
                }[kind]


class FarmWeb(VersionWeb):
    """A web with farms, in this process."""

    def __init__(self, name: str, lang: str, host_cap: int, kinds: str = "".join(KINDS)) -> None:
        """Make the web for a language."""
        self._kinds = kinds
        super().__init__(name, lang)
        self.host_cap = host_cap
        self._links_to = defaultdict[str, list[str]](list)
        self._add_inlinks()

    def _real(self, random: Random, *, declares: bool = True) -> list[Site]:
        lang, state = self.lang, STATE.get(self.lang, "en")
        ordinary = []
        for number in range(ORDINARY):
            of = lang if number % 2 else random.choice([state, state, "en", *_LANGS[:12]])
            size = int(min(300, 4 + random.lognormvariate(2.3, 1.2)))
            ordinary.append(Site(random, [of], "default", size))
        humans = [Human(random, real, lang) for real in human_addresses()]
        farms = [Farm(random, kind, lang) for kind in self._kinds for _ in range(FARMS)]
        self._ordinary = defaultdict[str, list[Any]](list)
        for site in ordinary:
            site.kind, site.is_open = "ordinary", random.random() < 0.9
            self._ordinary[site.langs[0]].append(site)
        return [*ordinary, *humans, *farms]

    def _add_inlinks(self) -> None:
        random = Random(f"{self.name} {self.lang} inlinks")
        own = [url for site in self._ordinary[self.lang] for url in site.urls.values()]
        every = [url for of in self._ordinary.values() for site in of for url in site.urls.values()]
        for site in self.sites:
            kind = site.kind
            if kind == "ordinary":
                continue
            n = 1 + int(random.lognormvariate(1.2, 1)) if kind == "human" else INLINKS
            pages = [page for page, of in site.urls if of == self.lang]
            for _ in range(n):
                chance = random.random()
                to = 0 if chance < 0.6 else random.choice(pages)
                of = "en" if chance > 0.8 and (0, "en") in site.urls else self.lang
                source = random.choice(own if random.random() < 0.7 else every)
                url = site.urls.get((to, of)) or site.urls[0, of]
                self._links_to[normalise(source) or source].append(url)

    def seeds(self, lang: str) -> list[str]:
        """Return seven home pages of ordinary sites in the language."""
        random = Random(f"{self.name} {lang} seeds")
        return [site.urls[0, lang] for site in random.sample(self._ordinary[lang], 7)]

    def kind_of(self, url: str) -> str:
        """Return "ordinary", "human" or the kind of a farm."""
        return self.sites[self.page[url][0]].kind if url in self.page else ""

    def links(self, url: str) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the links of a page, and its declared versions: language and URL."""
        number, page, lang = self.page[url]
        site: Any = self.sites[number]
        random = Random(f"{self.name} links {url}")
        near = {0, (page - 1) // 3, *range(3 * page + 1, 3 * page + 4), page + 1}
        if len(site.kind) == 1:
            near |= {random.randrange(_PAGES) for _ in range(8)}
        found = [site.urls[at, lang] for at in sorted(near) if (at, lang) in site.urls]
        versions = [(of, site.urls[page, of]) for of in site.langs if (page, of) in site.urls]
        if len(versions) > 1 and (site.switches or page == 0):
            found += [to for of, to in versions if of != lang]
        if site.kind == "g":
            random = Random(f"{self.name} template {number}")
        for _ in range(3 if site.kind == "g" else random.randrange(3) * site.is_open):
            of = lang if random.random() < 0.7 else random.choice(list(self._ordinary))
            if some := self._ordinary.get(of):
                other = random.choice(some)
                found.append(random.choice([other.urls[0, of], *other.urls.values()]))
        return found + self._links_to[url], versions if site.declares else []


def figures(web: FarmWeb, lang: str, urls: list[str], counts: list[int]) -> dict[str, Any]:
    """Return the figures of a crawl by its downloads."""
    fetched = {web.page[url][0] for url in urls if web.language(url) == lang}
    linked = set()
    for url in urls:
        for to in web.links(url)[0] if url in web.page else ():
            number, _, of = web.page.get(normalise(to) or to, (-1, 0, ""))
            if of == lang and web.kind_of(normalise(to) or to) == "human":
                linked.add(number)
    line: dict[str, Any] = {"downloads": len(urls), "linked": len(linked)}
    line["lost"] = len(linked - fetched)
    for count in counts:
        first = urls[:count]
        spent = Counter(map(web.kind_of, first))
        relevant = [web.kind_of(url) for url in first if web.language(url) == lang]
        line[str(count)] = {
            "human": sum(len(kind) > 1 for kind in relevant),
            "multi": relevant.count("human"),
            "farms": {kind: round(100 * spent[kind] / len(first), 1) for kind in web._kinds},
        }
    return line


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--webs", default="farms-1")
    parser.add_argument("--langs", default="gl")
    parser.add_argument("--caps", default="10,500", help="values of host_cap")
    parser.add_argument("--counts", default="500,1000,2000,9000", help="numbers of downloads")
    parser.add_argument("--strategies", default="focus/both-conservative:5")
    parser.add_argument("--kinds", default="".join(KINDS), help="of farms")
    args = parser.parse_args()
    for path in (PAGES, URLS, TEXTS):
        if not path.exists():
            sys.exit(f"skipped: {path} is not here")
    counts = sorted(map(int, args.counts.split(",")))
    for name in args.webs.split(","):
        for lang in args.langs.split(","):
            for cap in map(int, args.caps.split(",")):
                web: Any = FarmWeb(name, lang, cap, args.kinds)
                for strategy in args.strategies.split(","):
                    start = time.process_time()
                    urls = crawled_in_time(web, lang, strategy, counts[-1])
                    spent = round(time.process_time() - start, 1)
                    line = {"web": name, "lang": lang, "strategy": strategy, "host_cap": cap}
                    line |= {"cpu_s": spent, **figures(web, lang, urls, counts)}
                    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
