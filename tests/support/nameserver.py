"""A DNS server on this machine that knows some names and never answers for others."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

_HEAD = struct.Struct("!HHHHHH")
_IPV4 = 1
_NO_ERROR, _SERVER_FAILURE, _NO_SUCH_NAME = 0x8180, 0x8182, 0x8183


@dataclass
class NameServer:
    """A running server; `asked` counts the questions for IPv4 addresses by name, `log` has all.

    `addresses` has the addresses of each name, with spaces between them; "" for a name without one,
    "!" for one whose servers fail. A name of a domain in `silent` gets no answer, any other name
    does not exist.
    """

    addresses: Mapping[str, str]
    silent: frozenset[str] = frozenset()
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answer(self, question: bytes) -> bytes | None:
        name, end = _name(question)
        kind = int.from_bytes(question[end : end + 2], "big")
        self.asked[name] += kind == _IPV4
        self.log.append(name)
        if any(name.endswith(domain) for domain in self.silent):
            return None
        addresses = self.addresses.get(name, "").split()
        status = _NO_ERROR if name in self.addresses else _NO_SUCH_NAME
        if addresses == ["!"]:
            addresses, status = [], _SERVER_FAILURE
        record = b"\xc0\x0c" + struct.pack("!HHIH", _IPV4, 1, 60, 4)
        records = [record + socket.inet_aton(each) for each in addresses if kind == _IPV4]
        number = int.from_bytes(question[:2], "big")
        head = _HEAD.pack(number, status, 1, len(records), 0, 0)
        return head + question[_HEAD.size : end + 4] + b"".join(records)


def _name(question: bytes) -> tuple[str, int]:
    """Return the name that is asked for, and the place of its type."""
    labels, at = [], _HEAD.size
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("ascii").lower())
        at += 1 + question[at]
    return ".".join(labels), at + 1


@contextmanager
def name_server(addresses: Mapping[str, str], *silent: str) -> Iterator[NameServer]:
    """Answer on loopback for the time of the block."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        server = NameServer(addresses, frozenset(silent), udp.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(udp, server), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            # A datagram ends the thread, because closing a socket does not wake its reader.
            udp.sendto(b"", udp.getsockname())
            thread.join()


def _serve(udp: socket.socket, server: NameServer) -> None:
    while True:
        question, peer = udp.recvfrom(4096)
        if not question:
            return
        answer = server.answer(question)
        if answer is not None:
            udp.sendto(answer, peer)
