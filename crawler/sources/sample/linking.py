"""The links between the pages of the sample web."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from crawler.sources.sample.chance import dice, pick
from crawler.sources.sample.hosts import Population, SampleHost
from crawler.sources.sample.sites import Entry, Site

SAME = 0.62  # share of the links to other hosts that are in the language of the page
ENGLISH = 0.27  # share of the links to English hosts, from a page in another language
ENGLISH_SAME = 0.93  # the first share for English pages
POPULARITY = 1.7  # exponent: the larger, the more links go to the first hosts of a language
HOME = 0.6  # share of the links to another host that lead to its home page
ALIAS = 0.04  # written with the name that only redirects


@dataclass(frozen=True, slots=True)
class SampleLink:
    """A link to `path` at `root`; `language` is the language of its anchor text."""

    root: str
    path: str
    language: str
    is_internal: bool


class Links:
    """The link graph; the links of a page depend only on the seed and the page."""

    def __init__(
        self, population: Population, site: Callable[[SampleHost], Site], seed: int
    ) -> None:
        self._population, self._site, self._seed = population, site, seed
        languages = population.of_language
        self._shares = {language: float(len(hosts)) for language, hosts in languages.items()}

    def of(self, host: SampleHost, page: Entry) -> list[SampleLink]:
        """Return the links of a page, each once, those first that keep the web connected."""
        chance = dice(self._seed, "links", host.name, page.path)
        links = [*self._inside(host, page, chance), *self._outside(host, page, chance)]
        return list(dict.fromkeys(links))

    def _inside(self, host: SampleHost, page: Entry, chance: Random) -> Iterator[SampleLink]:
        site = self._site(host)
        entries = [site.pages[0], *site.children(page.index)]
        entries += site.directory_homes().values()
        entries += chance.choices(site.pages, k=min(len(site.pages), chance.randrange(2, 9)))
        if site.oddities and chance.random() < 0.6:
            entries.append(chance.choice(site.oddities))
        for entry in entries:
            yield SampleLink(host.root, entry.path, entry.language, is_internal=True)
        if host.calendar:
            yield SampleLink(host.root, "/calendar/2024/01", host.language, is_internal=True)

    def _outside(self, host: SampleHost, page: Entry, chance: Random) -> Iterator[SampleLink]:
        if page.index == 0:
            for named in self._population.named_by(host):
                yield SampleLink(named.root, "/", named.language, is_internal=False)
        for _ in range(chance.randrange(0, 9)):
            yield self._to_any(page.language, chance)
        if chance.random() < 0.04:
            name = chance.choice(list(self._population.dead))
            yield SampleLink(f"http://{name}", "/", page.language, is_internal=False)

    def _to_any(self, language: str, chance: Random) -> SampleLink:
        hosts = self._population.of_language[self._other_end(language, chance)]
        host = hosts[int(len(hosts) * chance.random() ** POPULARITY)]
        is_home = chance.random() < HOME
        entry = self._site(host).pages[0] if is_home else chance.choice(self._site(host).pages)
        root = f"http://{host.alias}" if chance.random() < ALIAS else host.root
        return SampleLink(root, entry.path, entry.language, is_internal=False)

    def _other_end(self, language: str, chance: Random) -> str:
        roll = chance.random()
        if roll < (ENGLISH_SAME if language == "en" else SAME):
            return language
        if roll < SAME + ENGLISH and "en" in self._shares:
            return "en"
        return pick(chance, self._shares)
