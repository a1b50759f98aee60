"""The links of a page as absolute URLs, made in the same way as in browsers.

`Resolver.resolve` gives the same URLs as `urllib.parse.urljoin` and `urldefrag`, at a tenth of the
cost for absolute, root-relative and plain relative links, which are nearly all. URLs are not
normalised here (host in lower case, default port, escapes).
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

MAX_LINKS = 10_000
"""Most links that are kept of one page; further ones are counted as dropped."""

MAX_JOINS = 3_000
"""Most unusual links of one page that urljoin resolves, 20 us each; further ones are dropped."""

MAX_URL_LENGTH = 2_048
"""Characters of the longest URL that is kept."""

MAX_ANCHOR = 200
"""Characters that are kept of the text of a link."""

# Text that urljoin does not change: in a path and its segments, and in a query.
_PATH = r"[^\x00-\x20\x7f#?;]"
_SEGMENT = r"[^\x00-\x20\x7f#?;/]"
_PLAIN_SEGMENT = r"[^\x00-\x20\x7f#?;/:]"
_QUERY = r"(?:\?[^\x00-\x20\x7f#]++)?"
_HOST = r"//\.*+[A-Za-z0-9_-][A-Za-z0-9_.-]*+(?::[0-9]{1,4})?"
_FROM_HOST = rf"{_HOST}(?:/{_PATH}*+)?{_QUERY}"
_FROM_ROOT = rf"/(?![/.]){_SEGMENT}*+(?:/(?!\.){_SEGMENT}*+)*+{_QUERY}"
_FROM_FOLDER = rf"(?![/.]){_PLAIN_SEGMENT}++(?:/(?![/.]){_PLAIN_SEGMENT}*+)*+{_QUERY}"
# One link per line: absolute, from the scheme, the root or the folder. A line without a group is
# not plain.
_PLAIN = re.compile(
    rf"^(?:(https?:{_FROM_HOST})|({_FROM_HOST})|({_FROM_ROOT})|({_FROM_FOLDER}))(?:#.*)?$|^.*$",
    re.MULTILINE,
)
# A plain base: scheme, host, folder, the rest.
_PLAIN_BASE = re.compile(
    rf"(https?:)({_HOST})((?:/(?!\.){_SEGMENT}*+)*?/|)(?!\.){_SEGMENT}*+(?:\?[^#;]*)?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REMOVED = str.maketrans("", "", "\t\n\r")
_ENDS = "".join(map(chr, range(0x21)))
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


class Anchor(NamedTuple):
    """A link with its text and attributes.

    `text` has single spaces and at most `MAX_ANCHOR` characters. A link without text has the `alt`
    of its image. `hreflang`, `lang` and `rel` are the attributes as written; '' if missing.
    """

    url: str
    text: str
    hreflang: str
    lang: str
    rel: str


class Resolver:
    """Makes the links of one page absolute.

    >>> Resolver("http://example.org/a/b.html").resolve(" ../c#top ")
    'http://example.org/c'
    """

    def __init__(self, base: str) -> None:
        self.base = base
        self._scheme, self._origin, self._folder = _parts(base)

    def resolve(self, link: str) -> str | None:
        """The absolute URL without its fragment; None if it is not http or https.

        None also for a link that gives no valid URL (no host, a bad port, a bad IPv6 address).
        """
        return self.resolve_all([link])[0]

    def resolve_all(self, links: Sequence[str]) -> list[str | None]:
        """The same for many links, in one pass over all of them: 0.5 us each."""
        found = self._plainly(links)
        odd = [at for at, url in enumerate(found) if not url]
        if odd:
            cleaned = [_cleaned(links[at]) for at in odd]
            urls = [url or None for url in self._plainly(cleaned)]
            rest = [at for at, url in enumerate(urls) if url is None]
            for at in rest[:MAX_JOINS]:
                urls[at] = self._join(cleaned[at])
            for at, url in zip(odd, urls, strict=True):
                found[at] = url
        return found

    def _plainly(self, links: Sequence[str]) -> list[str | None]:
        """The URLs of plain links; '' or None for others."""
        if not links:
            return []
        text = "\n".join(links)
        if text.count("\n") != len(links) - 1:
            text = "\n".join(link.translate(_REMOVED) for link in links)
        scheme, origin, folder = self._scheme, self._origin, self._folder
        return [
            absolute
            or (from_root and origin and origin + from_root)
            or (from_folder and folder and folder + from_folder)
            or (from_scheme and scheme and scheme + from_scheme)
            for absolute, from_scheme, from_root, from_folder in _PLAIN.findall(text)
        ]

    def _join(self, link: str) -> str | None:
        scheme = _SCHEME.match(link)
        if scheme and scheme[0].lower() not in {"http:", "https:"}:
            return None
        try:
            url = urldefrag(urljoin(self.base, link)).url
        except ValueError:
            return None
        return url if _split(url) else None


class LinkList:
    """The distinct links of a page in document order, within the limits of this module."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._resolved: dict[str, str | None] = {}
        self._kept: dict[str, None] = {}
        self.dropped = 0

    def extend(self, links: Iterable[str]) -> None:
        """Keep links; those that are too long, broken or too many are counted in `dropped`.

        Links to the page itself (empty, or beginning with "#") are ignored.
        """
        known = self._resolved
        new = [
            link for link in dict.fromkeys(links) if link and link[0] != "#" and link not in known
        ]
        short = [link for link in new if len(link) <= 2 * MAX_URL_LENGTH]
        known.update(dict.fromkeys(new))
        known.update(zip(short, self._resolver.resolve_all(short), strict=True))
        kept = self._kept
        for link in new:
            url = known[link]
            if url is None or len(url) > MAX_URL_LENGTH:
                known[link] = None
                self.dropped += not _is_other_scheme(link)
            elif url not in kept and len(kept) >= MAX_LINKS:
                self.dropped += 1
            else:
                kept[url] = None

    def urls(self) -> list[str]:
        """The links kept."""
        return list(self._kept)

    def url_of(self, link: str) -> str | None:
        """The URL that was kept for a link as the page writes it; None if it was not kept."""
        url = self._resolved.get(link)
        return url if url in self._kept else None


def _cleaned(link: str) -> str:
    """A link without the white space that browsers ignore; other white space is escaped."""
    link = link.strip(_ENDS).translate(_REMOVED)
    return _UNPRINTABLE.sub(lambda match: f"%{ord(match[0]):02X}", link)


def _is_other_scheme(link: str) -> bool:
    scheme = _SCHEME.match(link[:40].strip(_ENDS))
    return scheme is not None and scheme[0].lower() not in {"http:", "https:"}


def _parts(base: str) -> tuple[str | None, str | None, str | None]:
    """Scheme, origin and folder of a base, with which links begin; None if it is unusable."""
    plain = _PLAIN_BASE.fullmatch(base)
    if plain:
        scheme, host, folder = plain.groups()
        return scheme, scheme + host, scheme + host + (folder or "/")
    parts = _split(base)
    if not parts:
        return None, None, None
    scheme, host = parts
    return f"{scheme}:", f"{scheme}://{host}", urljoin(base, "x")[:-1]


def _split(url: str) -> tuple[str, str] | None:
    """Scheme and network location of a usable http(s) URL."""
    try:
        parts = urlsplit(url)
        usable = parts.hostname and parts.port != 0
    except ValueError:
        return None
    if not usable or parts.scheme not in {"http", "https"}:
        return None
    return parts.scheme, parts.netloc
