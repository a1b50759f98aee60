"""The scope of a crawl: URLs and servers that it takes whatever their language, or never fetches.

A line of a scope file is a rule: `+` takes, `-` refuses, no sign means `+`. The rest of the line is
a SURT prefix as in Heritrix (`http://(is,bok,)/dir/`, or `is,bok)/dir/` as in CDX files), a domain
or a top-level domain with all names below it (`bok.is`, `is`), a URL, or `country:IS` for servers.
The longest prefix of a URL decides. A rule about URLs goes before a rule about countries.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from langfocus.classifiers.tables.cldr import territory_names
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import FIRST_SCORE
from langfocus.crawler.politeness.blocking import read_entries, read_list
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import host_of, normalise

OUT_OF_SCOPE: Final = "out_of_scope"
"""Outcome of a URL on a server in a refused country, and counter of refused links."""

_MOST_BYTES: Final = 256 * 1024 * 1024
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_AUTHORITY = re.compile(r"https?://(\[[^]]*\]|[^/:]+)(:[0-9]+)?")
_SURT = re.compile(r"\(?(\[[0-9A-Fa-f:.]*\]|[0-9.]+|[^():@/.]*),?(:[0-9]+)?,?\)(.*)")
_WILDCARD = re.compile(r"^\*?\.")
_OPEN_SURT = re.compile(r"\(?((?:[^(),.:@/]+,)+)([a-z0-9_-]*)")
_ODD_HOST = re.compile(r"[@?\\%*(),]|:$")


class Scope:
    """The rules of a scope file; a look-up costs O(log rules).

    A host in a taken country is known from its first page: `hosts` has those of an open crawl.
    """

    def __init__(self, prefixes: Mapping[str, bool], countries: Mapping[str, bool]) -> None:
        """Hold rules: True takes, False refuses; `prefixes` are those of `surt_of`."""
        self.countries, self.hosts = countries, set[str]()
        self._prefixes = sorted(prefixes)
        self._takes = [prefixes[prefix] for prefix in self._prefixes]
        # For each prefix the place of its own longest prefix, -1 for none.
        self._outer, within = array("q"), list[int]()
        for place, prefix in enumerate(self._prefixes):
            while within and not prefix.startswith(self._prefixes[within[-1]]):
                within.pop()
            self._outer.append(within[-1] if within else -1)
            within.append(place)

    def __str__(self) -> str:
        """Return a short name; equal names mean equal rules."""
        lines = self.lines()
        digest = blake2b("".join(lines).encode(), digest_size=8)
        return f"{len(lines):,} rules, {digest.hexdigest()}"

    def lines(self) -> list[str]:
        """Return the rules as lines of a scope file, SURT prefixes in order."""
        found = [*zip(self._prefixes, self._takes, strict=True), *sorted(self.countries.items())]
        places = ["http://("] * len(self._prefixes) + ["country:"] * len(self.countries)
        return [f"{'-+'[t]}{place}{text}\n" for place, (text, t) in zip(places, found, strict=True)]

    def of_url(self, url: str) -> bool | None:
        """Return True for a normalised URL that is taken, False for a refused one, else None."""
        surt = surt_of(url)
        bare = _without_www(surt)
        place = self._longest(bare)
        if bare != surt and (place < 0 or ")" not in self._prefixes[place]):
            place = self._longest(surt)
        if place < 0:
            return True if host_of(url) in self.hosts else None
        return self._takes[place]

    def _longest(self, surt: str) -> int:
        """Return the place of the longest prefix of a SURT; -1 if there is none."""
        place = bisect_right(self._prefixes, surt) - 1
        while place >= 0 and not surt.startswith(self._prefixes[place]):
            place = self._outer[place]
        return place

    def takes(self, url: str) -> bool:
        """Return True for a URL that is wanted whatever its language."""
        return self.of_url(url) is True

    def takes_page(self, url: str, country: str | None) -> bool:
        """Return True for a page that is wanted whatever its language; note its host."""
        if self.countries.get(country or "") and self.of_url(url) is None:
            self.hosts.add(host_of(url))
        return self.takes(url)

    def refuses(self, url: str, country: str | None = None) -> bool:
        """Return True for a URL that is never fetched, or not from this country."""
        found = self.of_url(url)
        return not self.countries.get(country or "", True) if found is None else not found

    def kept(self, links: Sequence[Link]) -> list[Link]:
        """Return the links that no rule refuses; those that a rule takes go before all others."""
        found = [(link, self.of_url(link.url)) for link in links]
        return [
            replace(link, score=max(link.score, FIRST_SCORE)) if takes else link
            for link, takes in found
            if takes is not False
        ]


def surt_of(url: str) -> str:
    """Return the SURT of a normalised URL in lower case, without scheme and first parenthesis.

    `http://www.bok.is:81/A` is `is,bok,www,:81)/a`. As in Heritrix, an address is not turned.
    """
    parts = _AUTHORITY.match(url)
    assert parts is not None
    host, port = parts.groups("")
    if not (host.startswith("[") or host.rpartition(".")[2].isdigit()):
        host = ",".join(reversed(host.split("."))) + ","
    return f"{host}{port}){url[parts.end() :]}".lower()


def _without_www(surt: str) -> str:
    """Return the SURT of the same host without `www.`."""
    host, mark, rest = surt.partition(")")
    name, colon, port = host.partition(":")
    return f"{name.removesuffix('www,')}{colon}{port}{mark}{rest}" if mark else surt


def read_scope(path: Path, label: str) -> Scope:
    """Return the rules of a scope file; raises `SettingError` for an unusable file."""
    return read_list(path, label, _MOST_BYTES, read_rules)


def read_rules(lines: Iterable[str]) -> Scope:
    """Return the rules in `lines`; raises `SettingError` for a malformed line, or without rules."""
    prefixes, countries = dict[str, bool](), dict[str, bool]()

    def add(text: str) -> None:
        takes = not text.startswith("-")
        text = text[text[0] in "+-" :].strip()
        kind, _, code = text.partition(":")
        is_country = kind.lower() == "country"
        found = countries if is_country else prefixes
        key = _country(code) if is_country else _prefix(text, takes=takes)
        if found.setdefault(key, takes) is not takes:
            raise ValueError("another line has the same rule with the other sign")

    read_entries(lines, add)
    if not (prefixes or countries):
        raise SettingError("no rule in it")
    return Scope(prefixes, countries)


def _country(text: str) -> str:
    code = text.strip().upper()
    if len(code) != 2 or code not in territory_names():
        raise ValueError("a country has a code of two letters, as in country:IS")
    return code


def _prefix(text: str, *, takes: bool) -> str:
    """Return the SURT prefix of a rule, as `surt_of` spells it; raises ValueError."""
    if re.search(r"\s", text):
        raise ValueError("a rule has no spaces (%20 is one)")
    text = _SCHEME.sub("", text, count=1)
    if closed := _SURT.fullmatch(text):
        names, port, path = closed.groups("")
        return _surt(f"{_turned(names)}{port}", path)
    if opened := _OPEN_SURT.fullmatch(text.lower()):
        return _of_names(_turned(opened[1])) + opened[2]
    host, slash, path = text.partition("/")
    name = _WILDCARD.sub("", host)
    if slash and name != host:
        raise ValueError("a path belongs to one host: leave out the dot before it")
    if not slash:
        return _surt(name, "") if name.startswith("www.") else _of_names(name)
    # As in Heritrix, a page stands for its directory; but no line refuses more than it says.
    return _surt(host, f"/{path[: path.rfind('/') + 1] if takes else path}")


def _turned(names: str) -> str:
    return ".".join(reversed(names.removesuffix(",").split(",")))


def _of_names(host: str) -> str:
    """Return the prefix of a name with all names below it; of an address, of the address."""
    prefix = surt_of(_url(host, "/")).partition(")")[0]
    return prefix if prefix.endswith(",") else f"{prefix})"


def _surt(host: str, path: str) -> str:
    """Return the prefix of the URLs of a host whose paths begin so."""
    surt = surt_of(_url(host, path or "/"))
    return _without_www(surt if path else surt.removesuffix("/"))


def _url(host: str, path: str) -> str:
    is_odd = not host or _ODD_HOST.search(host)
    url = None if is_odd else normalise(f"http://{host}{path}")
    if url is None or not path.startswith("/"):
        raise ValueError("this is no domain, URL, SURT prefix or country")
    return url
