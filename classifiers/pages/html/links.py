"""Page links resolved to absolute URLs, as in browsers.

`Resolver.resolve` returns the same URLs as the parser of `classifiers.urls.standard`, at a fifth of
the cost for unchanged links, nearly all links of a page.
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote_from_bytes

from langfocus.classifiers.pages.charset.charsets import codec
from langfocus.classifiers.urls.standard import MAX_HOST, MAX_LABEL, absolute

MAX_LINKS = 10_000
"""Links kept per page; further links are counted as dropped."""

MAX_ODD_LINKS = 10_000
"""Links per page resolved by the parser, 5 us each; further odd links are dropped."""

MAX_URL_LENGTH = 2_048
"""Characters of the longest kept URL."""

# Text unchanged by the URL parser: in a host name, in a path and its segments, in a query.
_LABEL = rf"(?!xn--)[a-z0-9_-]{{1,{MAX_LABEL}}}+"
_LAST = rf"(?!xn--)[a-z][a-z0-9_-]{{0,{MAX_LABEL - 1}}}+"
_PORT = r":(?!80\b|443\b)[1-9][0-9]{0,3}"
_HOST = rf"//(?![^/]{{{MAX_HOST + 1}}})(?:{_LABEL}\.)*+{_LAST}(?:{_PORT})?"
_SIGN = r"A-Za-z0-9._~!$&'()*+,;=@%|\[\]\-"
_NO_DOTS = r"(?!\.|%2[Ee])"
_SEGMENTS = rf"(?:/{_NO_DOTS}[{_SIGN}:]*+)*+"
_QUERY = r"\?[A-Za-z0-9._~!$&()*+,;=@%|\[\]:/?{}\\^`-]*+"
_FROM_HOST = rf"{_HOST}(?:/{_NO_DOTS}[{_SIGN}:]*+){_SEGMENTS}(?:{_QUERY})?"
_FROM_ROOT = rf"/(?!/){_NO_DOTS}[{_SIGN}:]*+{_SEGMENTS}(?:{_QUERY})?"
_FROM_FOLDER = rf"{_NO_DOTS}[{_SIGN}]++{_SEGMENTS}(?:{_QUERY})?"
# One link per line: absolute, or relative to the scheme, root, folder or page. A line without a
# matched group is not plain.
_PLAIN = re.compile(
    rf"^(?:(https?:{_FROM_HOST})|({_FROM_HOST})|({_FROM_ROOT})|({_FROM_FOLDER})|({_QUERY}))"
    r"(?:#.*)?$|^.*$",
    re.MULTILINE,
)
_BASE = re.compile(r"(https?:)(//[^/]*)(/[^?]*/|/)[^?/]*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ENDS = "".join(map(chr, range(0x21)))
# Characters unescaped in a query on a page with a legacy charset (URL Standard, 1.3).
_KEPT_IN_QUERY = "".join(map(chr, range(0x21, 0x7F))).translate(str.maketrans("", "", "\"#<>'"))


def _escaped_reference(error: UnicodeError) -> tuple[str, int]:
    """Escape letters missing in the page's encoding, as browsers do in a query: `&#8364;`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(letter)}%3B" for letter in letters), error.end


codecs.register_error("escaped-reference", _escaped_reference)


class Resolver:
    """Resolves a page's links to absolute URLs.

    >>> Resolver("http://example.org/a/b.html").resolve(" ../c#top ")
    'http://example.org/c'
    """

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        """Resolve links against `base`, the URL of a page or of the base element.

        `charset` is the WHATWG name of the page's encoding. As in browsers, letters outside ASCII
        are encoded in `charset` in a query, and in UTF-8 elsewhere.
        """
        url = absolute(base)
        self._base = url
        parts = _BASE.match(url) if url else None
        self._scheme = parts[1] if parts else None
        self._origin = parts[1] + parts[2] if parts else None
        self._folder = parts[1] + parts[2] + parts[3] if parts else None
        self._page = parts[0] if parts else None
        # A page in UTF-16 also encodes queries in UTF-8.
        self._codec = None if charset.startswith("utf-") else codec(charset)

    def resolve(self, link: str) -> str | None:
        """Return the absolute URL without the fragment; None for other schemes than http and https.

        Also returns None for an invalid URL (no host, a bad port, a bad IPv6 address).
        """
        return self.resolve_all([link])[0]

    def resolve_all(self, links: Sequence[str]) -> list[str | None]:
        """Resolve many links in one pass, 0.5 us per link; see `resolve`."""
        urls = self._plainly(links)
        odd = [at for at, url in enumerate(urls) if not url]
        for at in odd[:MAX_ODD_LINKS]:
            urls[at] = absolute(self._encoded(links[at]), self._base)
        for at in odd[MAX_ODD_LINKS:]:
            urls[at] = None
        return urls

    def _plainly(self, links: Sequence[str]) -> list[str | None]:
        """Return the URLs of plain links, '' or None for the rest."""
        if not links:
            return []
        text = "\n".join(links)
        if text.count("\n") != len(links) - 1:
            text = "\n".join(link if "\n" not in link else " " for link in links)
        scheme, origin, folder, page = self._scheme, self._origin, self._folder, self._page
        return [
            whole
            or (from_root and origin and origin + from_root)
            or (from_folder and folder and folder + from_folder)
            or (from_page and page and page + from_page)
            or (from_scheme and scheme and scheme + from_scheme)
            for whole, from_scheme, from_root, from_folder, from_page in _PLAIN.findall(text)
        ]

    def _encoded(self, link: str) -> str:
        """Encode the link's query in the page's encoding."""
        if self._codec is None or link.isascii():
            return link
        before, mark, rest = link.partition("?")
        query, sharp, fragment = rest.partition("#")
        if "#" in before:
            return link
        data = query.encode(self._codec, "escaped-reference")
        return before + mark + quote_from_bytes(data, _KEPT_IN_QUERY) + sharp + fragment


def kept_links(written: Iterable[str], resolver: Resolver) -> tuple[dict[str, str], int]:
    """Return link as written -> URL, in document order, and the number of dropped links.

    Links that are too long, broken or too many are dropped. Links to the page itself (empty, or
    starting with "#") and other schemes are left out.
    """
    new = [link for link in dict.fromkeys(written) if link and link[0] != "#"]
    short = [link for link in new if len(link) <= 2 * MAX_URL_LENGTH]
    resolved = dict(zip(short, resolver.resolve_all(short), strict=True))
    kept: dict[str, str] = {}
    urls: set[str] = set()
    dropped = 0
    for link in new:
        url = resolved.get(link)
        if url is None or len(url) > MAX_URL_LENGTH:
            scheme = _SCHEME.match(link[:40].strip(_ENDS))
            dropped += scheme is None or scheme[0].lower() in {"http:", "https:"}
        elif url not in urls and len(urls) >= MAX_LINKS:
            dropped += 1
        else:
            urls.add(url)
            kept[link] = url
    return kept, dropped
