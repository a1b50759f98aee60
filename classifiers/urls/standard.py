"""URLs read as browsers read them, by the WHATWG URL standard and its parser Ada (`ada-url`)."""

import re
from typing import Final
from urllib.parse import unquote

from ada_url import join_url

MAX_HOST: Final = 253
"""Characters of the longest host name (RFC 1035, 2.3.4, without the root)."""

MAX_LABEL: Final = 63
"""Characters of the longest label of a host name (RFC 1035, 2.3.4)."""

_NO_BASE = "about:blank"
_REMOVED = str.maketrans("", "", "\t\n\r")
_ENDS = "".join(map(chr, range(0x21)))
# The host of a link that may name one, with user and port: after a scheme or after two slashes.
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)", re.IGNORECASE)
_PORT = re.compile(r":[0-9]*$")
# UTS 46 reads each of these as the dot between two labels.
_DOT = re.compile("[.\u3002\uff0e\uff61]")


def absolute(link: str, base: str | None = None) -> str | None:
    """Return the URL that a browser makes of a link, without its fragment; None if it refuses.

    None also for a URL that is not http(s), for a relative link without a `base`, and for a link
    whose host cannot be looked up because it or one of its labels is too long. Such hosts are
    refused before the parser sees them, since the conversion of a name to ASCII costs the square of
    its length. So a link of `n` characters costs 3 us and 5 ns for each character.
    """
    if _has_long_name(link):
        return None
    try:
        href = join_url(base or _NO_BASE, link).partition("#")[0]
    except ValueError:
        return None
    return href if href.startswith(("http://", "https://")) else None


def _has_long_name(link: str) -> bool:
    """Return True if the host of a link, or a label of it, is too long to be looked up."""
    if len(link) <= MAX_LABEL:
        return False
    found = _AUTHORITY.match(link.lstrip(_ENDS).translate(_REMOVED))
    if found is None:
        return False
    host = _PORT.sub("", found[1].rpartition("@")[2])
    return len(host) > MAX_LABEL and (
        len(host) > MAX_HOST or any(len(label) > MAX_LABEL for label in _DOT.split(unquote(host)))
    )
