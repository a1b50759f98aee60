"""The hosts of the sample web: names, languages, sizes and styles of URLs, and what they say.

The words and sentences of a language are in a file. It opens with `key: value` lines, then a
`[words]` and a `[sentences]` section. `share` is the language's weight among hosts, `tlds` the
endings of its host names with their weights, `charset` the encoding that its pages used before
UTF-8. A word that is not ASCII even without accents has its host-name form after a colon.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TypeVar

from langfocus.crawler.sources.contract import Reason

MAX_PAGES = 80
HUBS = 3  # the first hosts of a language are the seeds, and never tiny
BRANCHES = 3  # hosts of the same language that every home page must link to
DEAD_SHARE = 0.04  # host names with links but without a server, per real host
SMALL = 10  # pages; a host that asks for a crawl delay has no more than these

STYLES = {
    "words": 30.0,
    "native": 18.0,
    "query": 14.0,
    "cased": 8.0,
    "dated": 12.0,
    "numbered": 8.0,
    "english": 10.0,
}
LAYOUTS = {"plain": 82.0, "split": 7.0, "deep": 3.0, "mixed": 8.0}
ROBOTS = {"absent": 40.0, "open": 22.0, "parts": 28.0, "bom": 2.0, "delay": 4.0, "closed": 4.0}
PREFIXES = {"www.": 45, "": 43, "blog.": 6, "forum.": 6}
FAILURES: tuple[Reason, ...] = ("dns", "dns", "timeout", "dns", "refused")  # in turn
NETWORKS = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737
UNDECOMPOSED = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "\N{LATIN SMALL LETTER DOTLESS I}": "i", "æ": "ae", "đ": "d"}
)

T = TypeVar("T")


def dice(*key: object) -> Random:
    """Return a generator whose seed is the `repr` of the key's parts."""
    digest = blake2b(repr(key).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))


def pick(chance: Random, weights: Mapping[T, float]) -> T:
    """Return a random key of `weights`, with a probability in proportion to its weight."""
    return chance.choices(list(weights), list(weights.values()))[0]


@dataclass(frozen=True, slots=True)
class Text:
    """The vocabulary of one language; `names[i]` is `words[i]` in ASCII."""

    language: str
    share: float
    charset: str
    tlds: dict[str, float]
    words: tuple[str, ...]
    names: tuple[str, ...]
    sentences: tuple[str, ...]


@cache
def load_texts() -> dict[str, Text]:
    """Return the vocabulary of every language by its code, the most frequent first."""
    texts = map(_read, sorted(Path(__file__).parent.glob("*.txt")))
    return {text.language: text for text in sorted(texts, key=lambda text: -text.share)}


def _read(path: Path) -> Text:
    head, _, rest = path.read_text("utf-8").partition("[words]")
    words, _, sentences = rest.partition("[sentences]")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    pairs = [word.partition(":")[::2] for word in words.split()]
    tlds = fields["tlds"].split()
    return Text(
        language=path.stem,
        share=float(fields["share"]),
        charset=fields["charset"],
        tlds=dict(zip(tlds[::2], map(float, tlds[1::2]), strict=True)),
        words=tuple(word for word, _ in pairs),
        names=tuple(name or _ascii(word) for word, name in pairs),
        sentences=tuple(line for line in sentences.splitlines() if line),
    )


def _ascii(word: str) -> str:
    """Return a word in lower-case ASCII without accents, "" for another script."""
    decomposed = unicodedata.normalize("NFKD", word.lower().translate(UNDECOMPOSED))
    return decomposed.encode("ascii", "ignore").decode()


@dataclass(frozen=True)
class SampleHost:
    """A host; the home page is in the first of its `languages`."""

    name: str
    languages: tuple[str, ...]
    size: int
    secure: bool
    layout: str
    style: str
    robots: str
    calendar: bool

    @property
    def root(self) -> str:
        """Scheme and name, without a slash at the end."""
        return f"{'https' if self.secure else 'http'}://{self.name}"

    @property
    def alias(self) -> str:
        """The redirecting alias of this host, with or without `www.`."""
        return self.name[4:] if self.name.startswith("www.") else f"www.{self.name}"

    @property
    def ip(self) -> str:
        """A documentation address, shared by a few hosts as on a real hosting service."""
        chance = dice("ip", self.name)
        return f"{chance.choice(NETWORKS)}.{chance.randrange(1, 255)}"


class Population:
    """All hosts of a sample web, generated at once; pages are generated on request.

    The number of hosts differs slightly from `count`: each language has at least `HUBS + 1`.
    """

    def __init__(self, texts: dict[str, Text], seed: int, count: int, secure: float) -> None:
        self._texts, self._seed, self._secure = texts, seed, secure
        self._taken: set[str] = set()
        self.of_language: dict[str, list[SampleHost]] = {}
        total = sum(text.share for text in texts.values())
        for language, text in texts.items():
            quota = max(HUBS + 1, round(count * text.share / total))
            self.of_language[language] = [self._host(text, n, quota) for n in range(quota)]
        self.hosts = [host for hosts in self.of_language.values() for host in hosts]
        self.by_name = {host.name: host for host in self.hosts}
        self.by_alias = {host.alias: host for host in self.hosts}
        self.dead = dict(self._dead_names(int(len(self.hosts) * DEAD_SHARE) + 1))
        self._speaking = {language: list(hosts) for language, hosts in self.of_language.items()}
        for host in self.hosts:
            for language in host.languages[1:]:
                self._speaking[language].append(host)
        self._place = {
            (language, host.name): place
            for language, hosts in self._speaking.items()
            for place, host in enumerate(hosts)
        }

    def named_by(self, host: SampleHost) -> Iterator[SampleHost]:
        """Yield the hosts linked from this home page to connect every language.

        The hosts with pages in a language form a tree: host n is the parent of host `BRANCHES * n +
        1` and its followers; the hubs link to each other.
        """
        for language in host.languages:
            speakers, place = self._speaking[language], self._place[language, host.name]
            first = BRANCHES * place + 1
            yield from speakers[first : first + BRANCHES]
            if place < HUBS:
                yield from speakers[:HUBS]

    def _host(self, text: Text, rank: int, quota: int) -> SampleHost:
        chance = dice(self._seed, "host", text.language, rank)
        # A heavy tail.
        size = max(1, min(MAX_PAGES, int(2.5 * chance.paretovariate(1.0)) - 1))
        if rank < HUBS:
            size = max(size, 2 * SMALL)
        layout = pick(chance, LAYOUTS) if rank >= HUBS else "plain"
        is_leaf = BRANCHES * rank + 1 >= quota
        robots = pick(chance, ROBOTS)
        if (robots == "closed" and not is_leaf) or (robots == "delay" and size > SMALL):
            robots = "absent"
        return SampleHost(
            name=self._name(chance, text),
            languages=(text.language, *self._guest_languages(chance, text.language, layout)),
            size=max(size, SMALL) if layout in ("split", "deep") else size,
            secure=chance.random() < self._secure,
            layout=layout,
            style=pick(chance, STYLES),
            robots=robots,
            calendar=chance.random() < 0.03,
        )

    def _guest_languages(self, chance: Random, own: str, layout: str) -> list[str]:
        if layout == "plain" or (layout == "mixed" and own == "en"):
            return []
        if layout == "mixed":
            return ["en"]
        shares = {language: text.share for language, text in self._texts.items() if language != own}
        drawn = {pick(chance, shares) for _ in range(chance.randrange(1, 4))}
        return sorted(drawn | ({"en"} - {own}))

    def _name(self, chance: Random, text: Text) -> str:
        while True:
            words = chance.sample(text.names, 2 if chance.random() < 0.8 else 1)
            label = chance.choice(("-", "")).join(words)
            if len(words) == 1 and chance.random() < 0.7:
                label += str(chance.randrange(2, 999))
            domain = f"{label}.{pick(chance, text.tlds)}"
            if domain not in self._taken:
                self._taken.add(domain)
                return pick(chance, PREFIXES) + domain

    def _dead_names(self, count: int) -> Iterator[tuple[str, Reason]]:
        chance = dice(self._seed, "dead")
        shares = {language: text.share for language, text in self._texts.items()}
        for number in range(count):
            name = self._name(chance, self._texts[pick(chance, shares)])
            yield name, FAILURES[number % len(FAILURES)]
