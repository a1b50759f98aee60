"""Normalised URLs, and the host and directory that a URL belongs to."""

import re
from hashlib import blake2b
from string import ascii_letters, digits

from classifiers.urls.standard import MAX_HOST, MAX_LABEL, absolute
from crawler.same_page import page_key

MAX_URL_LENGTH = 2048
"""Characters of the longest URL; longer ones are session ids, loops and mistakes."""

# A normalised URL that surely needs no change: its host is a name without Punycode.
_LABEL = r"(?!xn--)[a-z0-9_-]{1,63}+"
_TEXT = r"[A-Za-z0-9._~!$()*+,;=:@-]++"
# The escapes of characters that a URL may not contain, or that mean something else without one.
_ESCAPED = r"%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_NORMAL = re.compile(
    rf"https?://(?![^/]{{{MAX_HOST + 1}}})(?:{_LABEL}\.)++(?!xn--)[a-z][a-z0-9_-]{{0,62}}+"
    rf"(?:/(?!\.)(?:{_TEXT}|[&']|{_ESCAPED})*+)++"
    rf"(?:\?(?!&)(?:{_TEXT}|[/?]|{_ESCAPED}|&(?!&|$))++)?"
)
# The parts of a URL that the parser wrote: scheme, host, port, path and query.
_PARTS = re.compile(r"(https?://)(?:[^/@]*@)?([^/:\[]+|\[[^]]*\])(:[0-9]+)?(/[^?]*)(?:\?(.*))?")
# A host that can be looked up: a name in ASCII or an address.
_HOST = re.compile(rf"(?:[a-z0-9_-]{{1,{MAX_LABEL}}}\.)*[a-z0-9_-]{{1,{MAX_LABEL}}}|\[[0-9a-f:]+\]")
# An escape, not one that a "%" before it would become a part of another one.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
# Characters that browsers send and RFC 3986 forbids; some HTTP clients refuse them.
_FORBIDDEN = re.compile(r"[][|{}^`\\]")
_NEVER_ESCAPED = frozenset(ascii_letters + digits + "-._~")
_SCHEME_HOST = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_HOST_NAME = re.compile(r"https?://(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE)

_TITLED = frozenset({"wiki", "tag", "tags", "topic", "topics"})
"""Names of folders whose pages are named by their titles."""

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


def normalise(url: str, base: str | None = None) -> str | None:
    """Return the normalised URL, which is queued, fetched and recorded; None for an unusable one.

    It is the URL that browsers make of a link (`classifiers.urls.standard`), relative ones with the
    help of `base`. Beyond the standard, user names, the dot at the end of a host and empty
    parameters are removed, escapes are in upper case, and characters are escaped where RFC 3986
    requires it and only there. Path and query do not change otherwise, since `/A` and `/a` may be
    two pages. Unusable are URLs that are not http(s), have no host that can be looked up, or are
    longer than `MAX_URL_LENGTH`.
    """
    if len(url) > MAX_URL_LENGTH:
        url = url.partition("#")[0]
    if len(url) > MAX_URL_LENGTH:
        return None
    if _NORMAL.fullmatch(url):
        return url
    found = absolute(url, base)
    parts = _PARTS.fullmatch(found) if found else None
    return _tidy(parts) if parts else None


def _tidy(parts: re.Match[str]) -> str | None:
    scheme, host, port, path, query = parts.groups("")
    host = host.removesuffix(".")
    if len(host) > MAX_HOST or not _HOST.fullmatch(host):
        return None
    path = _with_needed_escapes(path)
    query = "&".join(filter(None, _with_needed_escapes(query).split("&")))
    normal = f"{scheme}{host}{port}{path}{'?' if query else ''}{query}"
    return normal if len(normal) <= MAX_URL_LENGTH else None


def _with_needed_escapes(text: str) -> str:
    """Return a path or a query with escapes in upper case, where needed and only there."""
    if "%" in text:
        text = _ESCAPE.sub(_needed, text)
    return _FORBIDDEN.sub(lambda sign: f"%{ord(sign[0]):02X}", text)


def _needed(escape: re.Match[str]) -> str:
    sign = chr(int(escape[1], 16))
    return sign if sign in _NEVER_ESCAPED else escape[0].upper()


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
    `/docs/2.4/de/`. Doubled slashes count as one.
    """
    match = _SCHEME_HOST.match(url)
    path = url[match.end() :].partition("?")[0] if match else ""
    directories = [name for name in path.split("/")[1:-1] if name][:depth]
    return "/".join([host_of(url), *directories, ""])


def fingerprint(url: str) -> int:
    """Return the 64-bit signed integer that identifies the page of a normalised URL.

    URLs that differ only in ways that do not change the page (`crawler.same_page`) have the same.
    """
    key = page_key(url).encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


def is_unwanted_file(url: str) -> bool:
    """Return True if a URL has the extension of a multimedia file, style sheet or download.

    Such links are ignored and do not count for the host cap (Baykan 2013, 5.2). The last part of a
    path in `_TITLED` is the title of a page, such as /wiki/Node.js.
    """
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    suffix = name[name.rfind(".") + 1 :]
    return (
        len(suffix) <= 7
        and suffix != name
        and suffix.lower() in _UNWANTED_SUFFIXES
        and path.count("/") > 2
        and path[: -len(name)].rsplit("/", 2)[-2].lower() not in _TITLED
    )
