"""Links of a page, made absolute as browsers make them.

`Resolver.resolve` gives what `urllib.parse.urljoin` and `urldefrag` give, at a tenth of the
cost for absolute and root-relative links, which are nearly all. Making URLs that mean the same
equal (host in lower case, default port, escapes) is not done here.
"""

import re
from urllib.parse import urldefrag, urljoin, urlsplit

MAX_LINKS = 10_000
"""Links that are kept of one page; the rest are counted as dropped."""

MAX_URL_LENGTH = 2_048
"""Characters of the longest URL that is kept."""

# What urljoin leaves alone in a path and in a query.
_PATH = r"[^\x00-\x20\x7f#?;]"
_QUERY = r"(?:\?[^\x00-\x20\x7f#]+)?"
_ABSOLUTE = re.compile(
    rf"https?://[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*(?::[0-9]{{1,4}})?(?:/{_PATH}*)?{_QUERY}"
)
_FROM_ROOT = re.compile(rf"/(?!/)(?!{_PATH}*/\.)(?!\.){_PATH}*{_QUERY}")
_FROM_FOLDER = re.compile(rf"(?![/.])(?!{_PATH}*(?:/[/.]|:)){_PATH}+{_QUERY}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REMOVED = str.maketrans("", "", "\t\n\r")
_ENDS = "".join(map(chr, range(0x21)))
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


class Resolver:
    """Links of one page against its base.

    >>> Resolver("http://example.org/a/b.html").resolve(" ../c#top ")
    'http://example.org/c'
    """

    def __init__(self, base: str) -> None:
        self.base = base
        parts = _split(base)
        self._origin = f"{parts[0]}://{parts[1]}" if parts else None
        self._folder = urljoin(base, "x")[:-1] if parts else None

    def resolve(self, link: str) -> str | None:
        """The absolute URL without its fragment; None if it is none of http or https.

        None too for what no URL can be made of (no host, a bad port, a bad IPv6 address).
        """
        whole = link.partition("#")[0]
        if _ABSOLUTE.fullmatch(whole):
            return whole
        return self._relative(whole) or self._join(_cleaned(link))

    def _relative(self, link: str) -> str | None:
        """The absolute URL of a plain relative link; None if it needs more thought."""
        if self._origin is None or self._folder is None:
            return None
        if _FROM_ROOT.fullmatch(link):
            return self._origin + link
        if _FROM_FOLDER.fullmatch(link):
            return self._folder + link
        if link.startswith("//"):
            absolute = self._origin[: self._origin.index("/")] + link
            return absolute if _ABSOLUTE.fullmatch(absolute) else None
        return None

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

    def __init__(self, base: str) -> None:
        self._resolver = Resolver(base)
        self._seen: dict[str, None] = {}
        self.dropped = 0

    def add(self, link: str) -> None:
        """Keep a link; one that is too long, broken or too many is counted in `dropped`."""
        if not link or link[0] == "#":
            return  # the page itself
        url = self._resolver.resolve(link) if len(link) <= 2 * MAX_URL_LENGTH else None
        if url is None or len(url) > MAX_URL_LENGTH:
            self.dropped += not _is_other_scheme(link)
        elif url not in self._seen:
            if len(self._seen) < MAX_LINKS:
                self._seen[url] = None
            else:
                self.dropped += 1

    def urls(self) -> list[str]:
        """The links kept."""
        return list(self._seen)


def _cleaned(link: str) -> str:
    """A link without the white space that browsers ignore, the rest of it escaped."""
    link = link.strip(_ENDS).translate(_REMOVED)
    return _UNPRINTABLE.sub(lambda match: f"%{ord(match[0]):02X}", link)


def _is_other_scheme(link: str) -> bool:
    scheme = _SCHEME.match(link[:40].strip(_ENDS))
    return scheme is not None and scheme[0].lower() not in {"http:", "https:"}


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
