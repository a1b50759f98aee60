"""URL resolution as in browsers: the WHATWG URL standard and the parser Ada (`ada-url`)."""

import re
from typing import Final
from urllib.parse import unquote

from ada_url import join_url

MAX_HOST: Final = 253
"""Longest host name in characters (RFC 1035, 2.3.4, without the root)."""

MAX_LABEL: Final = 63
"""Longest host label in characters (RFC 1035, 2.3.4)."""

_NO_BASE = "about:blank"
_REMOVED = str.maketrans("", "", "\t\n\r")
_ENDS = "".join(map(chr, range(0x21)))
# The host of a link, with user and port: after a scheme or after two slashes.
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)", re.IGNORECASE)
_PORT = re.compile(r":[0-9]*$")
# Label separators by UTS 46.
_DOT = re.compile("[.\u3002\uff0e\uff61]")


def absolute(link: str, base: str | None = None) -> str | None:
    """Resolve a link as a browser does, without the fragment; None for an invalid link.

    Also returns None for a URL that is not http(s), for a relative link without a `base`, and for a
    link whose host or host label is too long for DNS. Long hosts are rejected before parsing, since
    converting a name to ASCII costs the square of the length. So a link with `n` characters costs 3
    us plus 5 ns per character.
    """
    if _has_long_name(link):
        return None
    try:
        href = join_url(base or _NO_BASE, link).partition("#")[0]
    except ValueError:
        return None
    return href if href.startswith(("http://", "https://")) else None


def _has_long_name(link: str) -> bool:
    """Return True if a link's host, or a host label, is too long for DNS."""
    if len(link) <= MAX_LABEL:
        return False
    authority = _AUTHORITY.match(link.lstrip(_ENDS).translate(_REMOVED))
    if authority is None:
        return False
    host = _PORT.sub("", authority[1].rpartition("@")[2])
    return len(host) > MAX_LABEL and (
        len(host) > MAX_HOST or any(len(label) > MAX_LABEL for label in _DOT.split(unquote(host)))
    )
