"""The ports that no request is sent to, as in browsers.

Other protocols use them. A request to such a port could make its server do something, or look like
a scan for open ports to the owner of the server.
"""

import re
from typing import Final

BAD_PORTS: Final = frozenset(
    {0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95}
    | {101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179}
    | {389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601}
    | {636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566}
    | {6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
"""The bad ports of the Fetch standard (WHATWG, 2.9, Port blocking)."""

_PORT = re.compile(r"https?://(?:\[[^\]]*\]|[^/:?#]*):(\d{1,5})(?!\d)")
_SCHEME_END = len("https:")


def has_bad_port(url: str) -> bool:
    """Return True if a normalised URL names a port of `BAD_PORTS`."""
    # Most URLs have no second colon.
    if url.find(":", _SCHEME_END) < 0:
        return False
    match = _PORT.match(url)
    return match is not None and int(match[1]) in BAD_PORTS
