"""Versions of one page in several languages, told apart by the language codes in their URLs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from langfocus.classifiers.languages import codes_of, names, of_subtag, tlds_of
from langfocus.classifiers.tables import cldr
from langfocus.classifiers.tables.language_codes import OWN, PROJECT_CODES
from langfocus.classifiers.urls.clues import LANGUAGE_KEYS
from langfocus.crawler.url import domain_of, fingerprint, host_of

_TOKEN: Final = re.compile(
    r"(?<=[/.=?&_-])(?=(([a-z]{2})([-_][a-z]{2})|[a-z]{2,12})(?:[/.?&:]|\Z))",
    re.IGNORECASE | re.ASCII,
)
"""A code or a name of a language, perhaps with a region: `es`, `es-MX`, `spa`, `english`."""

_CODE: Final = re.compile(
    r"[/.=_-][a-z]{2}(?:[-_][a-z]{2})?(?=[/.?&\n]|\Z)|\.[a-z]{3}(?=/)", re.ASCII
)
"""What may differ between the URLs of two versions: language, region, top-level domain."""

_PARAMETERS: Final = ("lang", "hl", "l", "locale")
_MOST_DIRECTORIES: Final = 4
"""Slashes of a path behind which a site may have a directory for each language."""
_COUNTRY: Final = "-"
"""In place of a language if a code is a country's alone, such as `us`."""


class Twins(NamedTuple):
    """Fingerprints of the URLs that a page may have in the target language."""

    queued: frozenset[int] = frozenset()  # known if queued, or if their page is relevant
    expected: frozenset[int] = frozenset()  # known if expected in the language, or the same
    relevant: frozenset[int] = frozenset()  # known if their page is relevant


NO_TWINS: Final = Twins()


def versions_of(url: str, links: Sequence[str], declared: int) -> int:
    """Return how many versions a page links to, or has in `hreflang` if these are more.

    All URLs are normalised.
    """
    path = url.partition("?")[0]
    tail = path[path.rindex("/") :]
    alike = {link for link in links if tail in link and (tail != "/" or link[-1] == "/")}
    form, *forms = _CODE.sub("", "\n".join([url, *alike])).split("\n")
    return max(forms.count(form), declared)


class Versions:
    """Finds the URLs of a page in the target language by its URL in another language."""

    def __init__(self, target: str) -> None:
        """Read the codes and names of languages."""
        self._own = own = frozenset(codes_of(target))
        self._status = {
            (spoken.tag.partition("_")[0], region.lower()): spoken.status
            for region, languages in cldr.spoken_in().items()
            for spoken in languages
            if spoken.status
        }
        regions = {region: status for (code, region), status in self._status.items() if code in own}
        self._regions = sorted(regions)
        # On a Spanish site `/ar/` is Argentina, not Arabic.
        countries = {region for region in regions if "regional" not in regions[region]}
        two = {code for code in PROJECT_CODES if len(code) == 2} - countries | own
        short = {tag: of_subtag(tag) for tag in (*OWN, *cldr.aliases()) if len(tag) <= 3}
        named = {**{tag: code for tag, code in short.items() if code in two}, **names()}
        foreign = {region for _, region in self._status} - countries
        self._codes = {**named, **dict.fromkeys(foreign, _COUNTRY), **{code: code for code in two}}
        forms = {form for form, code in self._codes.items() if code in own and form.isascii()}
        self._three = {form for form in forms if len(form) == 3}
        tlds = {tld for code in own for tld in tlds_of(code) if len(tld) == 2}
        self._forms = forms - self._three | own | tlds

    def twins(self, url: str, *, is_expected: bool) -> Twins:
        """Return the possible URLs of the page in the target language.

        A URL with a code of the language has none. For a URL without any code that is expected in
        the language only relevant pages count.
        """
        start = url.find("//") + 2
        path = url.find("/", start)
        domain = url.rfind(domain_of(host_of(url)), start, path)
        places = list(self._places(url, domain, path))
        codes = [self._code(place) for place in places]
        if not self._own.isdisjoint(codes):
            return NO_TWINS
        places = places[:_MOST_DIRECTORIES]  # so that a long URL takes no second
        found = {*self._translated(url, places)} - {url}
        if sure := [place for place in places if self._is_sure(place)]:
            address = url.partition("?")[0]
            plain = {twin for place in sure for twin in _without_code(url, place, path)}
            above = {twin for twin in plain if is_expected and _is_above(twin, address)}
            return Twins(_keys(found), _keys(plain - above))
        keys = _keys(found.union(self._with_code(url, domain, path)))
        return Twins(relevant=keys) if is_expected else Twins(queued=keys)

    def _is_sure(self, place: re.Match[str]) -> bool:
        """Return False for a code that may well be a word, such as `us` and `mac`."""
        return len(place[1]) != 3 and self._code(place) != _COUNTRY

    def _code(self, place: re.Match[str]) -> str | None:
        """Return the language of a code; None for a region before a language, as in `eu_fr`."""
        text, language, region = (part.lower() for part in place.groups(""))
        code = self._codes.get(language or text)
        is_pair = code == "en" or (code, region[1:]) in self._status
        return code if is_pair or self._codes.get(region[1:], _COUNTRY) == _COUNTRY else None

    def _places(self, url: str, domain: int, path: int) -> Iterator[re.Match[str]]:
        """Yield the codes before the registered domain, in the path, and in language parameters."""
        end = 0
        for place in _TOKEN.finditer(url):
            begin = place.start()
            is_place = begin >= end and (place.end(1) < domain or begin > path)
            key = re.split("[?&]", url[path:begin])[-1] if url[begin - 1] == "=" else ""
            if is_place and self._code(place) and key.rstrip("=") in ("", *LANGUAGE_KEYS):
                yield place
                end = place.end(1)

    def _translated(self, url: str, places: Sequence[re.Match[str]]) -> Iterator[str]:
        """Yield a URL with a code of the target language in place of another code."""
        for text in {place[1] for place in places}:
            same = [place for place in places if place[1] == text]
            for form in self._spelled(same[0]):
                for number in {1, len(same)}:
                    twin = url
                    for place in reversed(same[:number]):
                        twin = twin[: place.start()] + form + twin[place.end(1) :]
                    yield twin

    def _spelled(self, place: re.Match[str]) -> Iterator[str]:
        """Yield the codes or names of the target language, spelled as another code."""
        text, language, region = place.groups("")
        like = str.upper if text.isupper() else str.title if text.istitle() else str
        is_value = place.string[place.start() - 1] == "="
        forms = self._three if len(text) == 3 else self._forms
        yield from map(like, forms | self._own if is_value else forms)
        if region or len(text) == 2:
            regions = [region[1:], *self._regions, *map(str.upper, self._regions)]
            for code in self._own:
                yield from (f"{code}{region[:1] or '-'}{of}" for of in regions if of)
                yield f"{language}{region[:1]}{code}"

    def _with_code(self, url: str, domain: int, path: int) -> Iterator[str]:
        """Yield a URL without a code with each code of the target language."""
        slashes = [place.end() for place in re.finditer("/", url[path:].partition("?")[0])]
        joint, start = "&" if "?" in url else "?", url.find("//") + 2
        address, mark, query = url.partition("?")
        stem, dot, suffix = address.rpartition(".")
        for code in self._own:
            for slash in slashes[:_MOST_DIRECTORIES]:
                yield f"{url[: path + slash]}{code}/{url[path + slash :]}"
            if url[start:domain] in ("", "www."):
                yield f"{url[:start]}{code}.{url[domain:]}"
            for key in _PARAMETERS:
                yield f"{url}{joint}{key}={code}"
            if address.endswith("/"):
                yield f"{address}{code}{mark}{query}"
            elif len(stem) > path:
                yield from (f"{stem}{sign}{code}{dot}{suffix}{mark}{query}" for sign in "_-.")


def _without_code(url: str, place: re.Match[str], path: int) -> Iterator[str]:
    """Yield a URL without its code."""
    begin, rest = place.start(), url[place.end(1) :]
    if begin < path:
        yield url[:begin] + rest[1:]
        yield f"{url[:begin]}www.{rest[1:]}"
    elif url[begin - 1] in "=?&":
        begin = max(url.rfind(sign, 0, begin) for sign in "?&")
        yield url[:begin] + (url[begin] + rest[1:] if rest else "")
    else:
        yield url[: begin - 1] + (rest if begin - 1 > path or rest[:1] == "/" else f"/{rest}")


def _is_above(twin: str, address: str) -> bool:
    """Return True for a home page, and for the directory of a page.

    Every site has them. They are no version of `/om/`, "about" in Swedish and a code of Oromo.
    """
    is_home = twin.endswith("/") and twin.count("/") == len("///")
    return twin != address and (is_home or address.startswith(twin.rstrip("/")))


def _keys(urls: Iterable[str]) -> frozenset[int]:
    return frozenset(map(fingerprint, urls))
