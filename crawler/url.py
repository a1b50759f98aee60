"""Normalised URLs, and the host and directory that a URL belongs to."""

import re
from hashlib import blake2b
from urllib.parse import urlsplit, urlunsplit

from w3lib.url import safe_url_string

MAX_URL_LENGTH = 2048
"""Characters of the longest URL; longer ones are session ids, loops and mistakes."""

# A normalised URL: there is nothing to lower, escape, resolve or drop.
_NORMAL = re.compile(
    r"https?://[a-z0-9_-]+(?:\.[a-z0-9_-]+)+"
    r"(?:/(?:(?!\.{1,2}(?:/|\?|$))[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}|/(?!\.))*"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})+)?)"
)
# Session ids: the usual names of the parameters, with long random values.
_SESSION = re.compile(
    r";jsessionid=[^/?;]*"
    r"|(?<=[?&;])(?:(?:phpsessid|jsessionid|aspsessionid[a-z]*|oscsid|zenid|sess(?:ion)?_?id)"
    r"=[\w.!~%-]{16,}|cfid=\d{4,}|cftoken=[\w-]{6,}|s(?:id)?=[0-9a-f]{32})(?![^?&;])[?&;]?",
    re.IGNORECASE | re.ASCII,
)
# A host that can be looked up: a name in ASCII or an IPv6 address.
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_SCHEME_HOST = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_HOST_NAME = re.compile(r"https?://(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE)
_DEFAULT_PORT = {"http": 80, "https": 443}

_UNWANTED_SUFFIXES = frozenset(
    # images, sound, film
    "jpg jpeg png gif bmp tif tiff svg svgz webp avif ico heic psd ai eps drw mng pct pst "
    "mp3 wma ogg oga opus wav ra rm aac flac mid au aiff m4a m3u m3u8 "
    "mp4 mpg mpeg avi mov qt swf flv wmv webm mkv m4v 3gp 3g2 asf ogv ts "
    # style sheets, scripts, fonts
    "css js mjs map less scss woff woff2 ttf otf eot "
    # packed files, programs, office documents
    "zip rar 7z tar gz tgz bz2 xz lz iso dmg img bin exe msi apk deb rpm jar war dll torrent "
    "pdf ps doc docx odt rtf xls xlsx ods csv ppt pptx pps odp odg epub mobi".split()
)


def normalise(url: str) -> str | None:
    """Return the normalised URL, which is queued, fetched and recorded; None for an unusable one.

    Scheme and host are lower case. The default port, user names, dot segments and the fragment are
    removed. Characters that a URL may not contain are percent-encoded. Path and query do not change
    otherwise, since `/A` and `/a` may be two pages. Unusable are URLs that are not http(s), have no
    host that can be looked up, or are longer than `MAX_URL_LENGTH`.
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    if _NORMAL.fullmatch(url):
        return url
    try:
        return _normalise_slowly(url)
    except ValueError:
        return None


def _normalise_slowly(url: str) -> str | None:
    parts = urlsplit(safe_url_string(url.strip()))
    scheme, host, port = parts.scheme.lower(), (parts.hostname or "").rstrip("."), parts.port
    if scheme not in _DEFAULT_PORT or not _HOST.fullmatch(host):
        return None
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORT[scheme]:
        netloc += f":{port}"
    path = parts.path or "/"
    if "/." in path:
        path = _without_dots(path)
    normal = urlunsplit((scheme, netloc, path, parts.query, ""))
    return normal if len(normal) <= MAX_URL_LENGTH else None


def _without_dots(path: str) -> str:
    """Return a path without dot segments (RFC 3986, 5.2.4).

    `urljoin` is wrong here: it reads `b` in the path `//b/./c` as a host and drops empty segments.
    """
    *segments, last = path.split("/")[1:]
    kept: list[str] = []
    for segment in [*segments, "" if last == "." else last]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/".join(["", *kept, *([""] if last == ".." else [])])


def host_of(url: str) -> str:
    """Return the host of a normalised URL, in lower case, without its port and one leading `www.`.

    `wetter.tagesschau.de` and `tagesschau.de` are two hosts, `www.twitter.com` and
    `twitter.com` are one (Baykan 2013, 5.2). All ports of a name are one host, because they are one
    machine.
    """
    match = _HOST_NAME.match(url)
    return match[1].lower().removeprefix("www.") if match else ""


def origin_of(url: str) -> str:
    """Return scheme and full host of a URL, the scope of one robots.txt (RFC 9309, 2.3)."""
    match = _SCHEME_HOST.match(url)
    return match[0].lower() if match else ""


def directory_of(url: str, depth: int = 1) -> str:
    """Return the server of a URL with the first `depth` directories of its path.

    `http://a.com/user1/x.html` is in `a.com/user1/`, `http://a.com/about.html` in `a.com/`
    (Tamura 2007, 4.3). In the paper `depth` is 1. With 3, `/docs/2.4/de/x.html` is in
    `/docs/2.4/de/`.
    """
    match = _SCHEME_HOST.match(url)
    path = url[match.end() :].partition("?")[0] if match else ""
    directories = path.split("/")[1:-1][:depth]
    return "/".join([host_of(url), *directories, ""])


def fingerprint(url: str) -> int:
    """Return the 64-bit signed integer that identifies a normalised URL.

    URLs that differ only in their session ids have the same one.
    """
    key = without_session(url).encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


def without_session(url: str) -> str:
    """Return a URL without the session ids that a server put into it.

    The result only shows which URLs are the same page. It is never fetched, since the parameter has
    another meaning on some servers.
    """
    if "=" not in url:
        return url
    shorter = _SESSION.sub("", url)
    return url if shorter == url else shorter.rstrip("?&;")


def is_unwanted_file(url: str) -> bool:
    """Return True if a URL has the extension of a multimedia file, style sheet or download.

    Such links are ignored and do not count for the host cap (Baykan 2013, 5.2).
    """
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    suffix = name[name.rfind(".") + 1 :]
    return (
        len(suffix) <= 7
        and suffix != name
        and suffix.lower() in _UNWANTED_SUFFIXES
        and path.count("/") > 2
    )
