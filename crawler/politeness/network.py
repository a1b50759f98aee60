"""Permitted addresses: by default the public Internet, at safe ports.

A host is checked twice, since its address is unknown before name resolution: `is_private_host`
checks the host of a URL before any request, `is_private_address` the address of a connection.
"""

import re
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from langfocus.classifiers.errors import LangfocusError
from langfocus.crawler.errors import SettingError

_PRIVATE_NAMES = (
    *(".localhost", ".local", ".internal", ".home.arpa"),
    *(".corp", ".home", ".intranet", ".lan", ".localdomain", ".private"),
    *(".fritz.box", ".speedport.ip"),
)
"""Names of local networks.

The first line is reserved (RFC 6761, RFC 6762, ICANN 2024, RFC 8375). The second is in common use
(RFC 6762, appendix G) and no top-level domain. The third names the routers of two makers.
"""

_MAPPED = IPv6Network("64:ff9b::/96"), IPv6Network("::/96")
"""Networks in which the last 32 bits are an IPv4 address (RFC 6052, RFC 4291, 2.5.5.1)."""

_UNICAST = IPv6Network("2000::/3")
"""The only IPv6 addresses that IANA has assigned to the public Internet (RFC 4291, 2.4)."""

_PRIVATE = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("2001::/23"),
    IPv6Network("3fff::/20"),
)
"""Protocols and relays (RFC 6890, RFC 7526) and examples (RFC 9637) that a Python calls global.

Since 3.12.4 it does so for some protocols, because packets with these addresses are forwarded.
"""

BAD_PORTS: Final = frozenset(
    {0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95}
    | {101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179}
    | {389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601}
    | {636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566}
    | {6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
"""The bad ports of the Fetch standard (WHATWG, 2.9, Port blocking), used by other protocols.

A request might trigger an action of another service, or look like a port scan.
"""

LOOPBACK: Final = "127.0.0.1"
"""Dashboard address on this machine."""

_PORT = re.compile(r"https?://(?:\[[^\]]*\]|[^/:?#]*):(\d{1,5})(?!\d)")
_SERVER_WITH_PORT = re.compile(r"(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})", re.ASCII)


class PrivateAddressError(LangfocusError):
    """A name has an address in the crawl's own network; a retry cannot help."""


class BusyAddressError(LangfocusError):
    """A host or its IP address is busy; retry after `wait_s` seconds."""

    def __init__(self, message: str, wait_s: float) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class LocalFaultError(LangfocusError):
    """No file descriptor, port or memory is left for a connection."""


class NoSuchNameError(LangfocusError):
    """A name has no IP address; `is_new` is False for a cached result."""

    def __init__(self, message: str, *, is_new: bool) -> None:
        super().__init__(message)
        self.is_new = is_new


class NoAddressYetError(BusyAddressError):
    """The DNS lookup of a host is in progress."""


class CapError(LangfocusError):
    """A request was rejected: its host, domain or IP address has no free slot.

    Settle the URL with `outcome`; "" for a URL queued again.
    """

    def __init__(self, message: str, outcome: str) -> None:
        super().__init__(message)
        self.outcome = outcome


def is_private_host(host: str) -> bool:
    """Return True for a host spelled like a host in a private network.

    Such hosts are private addresses in any spelling understood by systems (`127.1`, `0x7f000001`,
    `0177.0.0.1`, `[::1]`), names such as `localhost` or `printer.local`, and names without a dot,
    which need a local search list.
    """
    name = normalize("NFKC", unquote(host)).strip().lower().rstrip(".")
    name = name.removeprefix("[").removesuffix("]")
    address = _literal(name)
    if address is not None:
        return is_private_address(address)
    return "." not in name or f".{name}".endswith(_PRIVATE_NAMES)


def dns_servers(text: str, label: str) -> tuple[str, ...]:
    """Return DNS servers, as ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT, from a list with commas.

    Raises `SettingError`, which names the `label`, for other text.
    """
    servers = tuple(server.strip() for server in text.split(","))
    for server in servers:
        if not _is_server(server):
            raise SettingError(f"{label}={text}: {server!r} is not an IP address or ADDRESS:PORT")
    return servers


def _is_server(text: str) -> bool:
    found = _SERVER_WITH_PORT.fullmatch(text)
    try:
        ip_address(found[1] or found[2] if found else text)
    except ValueError:
        return False
    return found is None or int(found[3]) < 1 << 16


def is_private_url(url: str) -> bool:
    """Return True if the host of an absolute URL is private (`is_private_host`) or missing."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return True
    return host is None or is_private_host(host)


def port_of(url: str) -> int:
    """Return the port of a request for a URL; raises ValueError without a port."""
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def check_port(port: int) -> None:
    """Raise `SettingError` if no dashboard can be at a port of this machine."""
    try:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((LOOPBACK, port))
    except OSError as error:
        message = f"LANGFOCUS_DASHBOARD={port}: {error.strerror}; give another port"
        raise SettingError(message) from error


def has_bad_port(url: str) -> bool:
    """Return True if a normalised URL names a port of `BAD_PORTS`."""
    # Most URLs have no second colon.
    if url.find(":", len("https:")) < 0:
        return False
    match = _PORT.match(url)
    return match is not None and int(match[1]) in BAD_PORTS


def is_private_address(address: str | IPv4Address | IPv6Address) -> bool:
    """Return True unless a text is the address of a server on the public Internet."""
    try:
        ip = ip_address(address)
    except ValueError:
        return True
    embedded = _embedded(ip)
    if embedded is not None:
        return is_private_address(embedded)
    if ip.version == 6 and ip not in _UNICAST:
        return True
    return not ip.is_global or ip.is_multicast or any(ip in network for network in _PRIVATE)


def _literal(name: str) -> str | None:
    """Return the address that a host spells, None for a name."""
    if ":" in name:
        return name
    if not name[-1:].isalnum() or not name[:1].isdigit():
        return None
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        return None


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address reached through an IPv6 address, or None."""
    if isinstance(ip, IPv4Address):
        return None
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if any(ip in network for network in _MAPPED) and int(ip) > 1:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None
