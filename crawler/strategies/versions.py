"""Versions of one page in several languages, told apart by the language codes in their URLs."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from langfocus.classifiers.languages import codes_of, names
from langfocus.classifiers.tables import cldr
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls.clues import LANGUAGE_KEYS
from langfocus.crawler.url import domain_of, fingerprint, host_of

_TOKEN: Final = re.compile(
    r"(?<=[/.=_-])(?:([a-z]{2})([-_][a-z]{2})|[a-z]{2,12})(?=[/.?&]|\Z)", re.IGNORECASE | re.ASCII
)
"""A code or a name of a language, perhaps with a region: `es`, `es-MX`, `english`."""

_PARAMETERS: Final = ("lang", "hl", "l", "locale")
_MOST_DIRECTORIES: Final = 4
"""Slashes of a path behind which a site may have a directory for each language."""


class Twins(NamedTuple):
    """Fingerprints of the URLs that a page may have in the target language."""

    queued: frozenset[int] = frozenset()  # known if queued, or if their page is relevant
    expected: frozenset[int] = frozenset()  # known if expected in the language, or the same
    relevant: frozenset[int] = frozenset()  # known if their page is relevant


NO_TWINS: Final = Twins()


class Versions:
    """Finds the URLs of a page in the target language by its URL in another language."""

    def __init__(self, target: str) -> None:
        """Read the codes and names of languages."""
        self._own = own = frozenset(codes_of(target))
        regions = {
            region.lower(): spoken.status
            for region, languages in cldr.spoken_in().items()
            for spoken in languages
            if spoken.status and spoken.tag.partition("_")[0] in own
        }
        self._regions = sorted(regions)
        # On a Spanish site `/ar/` is Argentina, not Arabic.
        countries = {region for region in regions if "regional" not in regions[region]}
        codes = {code for code in PROJECT_CODES if len(code) == 2} - countries | own
        self._codes = {**names(), **{code: code for code in codes}}
        self._forms = [name for name, code in self._codes.items() if code in own and name.isascii()]

    def twins(self, url: str, *, is_expected: bool) -> Twins:
        """Return the possible URLs of the page in the target language.

        A URL with a code of the language has none. For a URL without any code that is expected in
        the language only relevant pages count.
        """
        start = url.find("//") + 2
        path = url.find("/", start)
        domain = url.rfind(domain_of(host_of(url)), start, path)
        places = list(self._places(url, domain, path))
        if any(self._code(place) in self._own for place in places):
            return NO_TWINS
        if places:
            coded = {twin for place in places for twin in self._translated(url, place)}
            plain = {twin for place in places for twin in _without_code(url, place, path)}
            return Twins(_keys(coded), _keys(plain))
        found = _keys(self._with_code(url, domain, path))
        return Twins(relevant=found) if is_expected else Twins(queued=found)

    def _code(self, place: re.Match[str]) -> str | None:
        return self._codes.get((place[1] or place[0]).lower())

    def _places(self, url: str, domain: int, path: int) -> Iterator[re.Match[str]]:
        """Yield the codes before the registered domain, in the path, and in language parameters."""
        for place in _TOKEN.finditer(url):
            begin = place.start()
            is_place = place.end() < domain or begin > path
            key = re.split("[?&]", url[path:begin])[-1] if url[begin - 1] == "=" else ""
            if is_place and self._code(place) and key.rstrip("=") in ("", *LANGUAGE_KEYS):
                yield place

    def _translated(self, url: str, place: re.Match[str]) -> Iterator[str]:
        """Yield a URL with a code of the target language in place of another code."""
        region = place[2] or "-"
        regions = [region[1:], *self._regions, *map(str.upper, self._regions)]
        regional = [f"{code}{region[0]}{of}" for code in self._own for of in regions if of]
        for form in (*self._forms, *regional):
            yield url[: place.start()] + form + url[place.end() :]

    def _with_code(self, url: str, domain: int, path: int) -> Iterator[str]:
        """Yield a URL without a code with each code of the target language."""
        slashes = [place.end() for place in re.finditer("/", url[path:].partition("?")[0])]
        joint = "&" if "?" in url else "?"
        for code in self._own:
            for slash in slashes[:_MOST_DIRECTORIES]:
                yield f"{url[: path + slash]}{code}/{url[path + slash :]}"
            yield f"{url[: url.find('//') + 2]}{code}.{url[domain:]}"
            for key in _PARAMETERS:
                yield f"{url}{joint}{key}={code}"


def _without_code(url: str, place: re.Match[str], path: int) -> Iterator[str]:
    """Yield a URL without its code."""
    begin, rest = place.start(), url[place.end() :]
    if begin < path:
        yield url[:begin] + rest[1:]
        yield f"{url[:begin]}www.{rest[1:]}"
    elif url[begin - 1] == "=":
        begin = max(url.rfind(sign, 0, begin) for sign in "?&")
        yield url[:begin] + (url[begin] + rest[1:] if rest else "")
    else:
        yield url[: begin - 1] + (rest if begin - 1 > path or rest[:1] == "/" else f"/{rest}")


def _keys(urls: Iterable[str]) -> frozenset[int]:
    return frozenset(map(fingerprint, urls))
