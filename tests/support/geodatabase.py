"""Writes small MaxMind DB files."""

import struct
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any


def encoded(value: Any) -> bytes:
    """A value as the data section of a MaxMind DB has it."""
    if isinstance(value, str):
        data = value.encode()
        return bytes([2 << 5 | len(data)]) + data
    if isinstance(value, bytes):  # a number
        kind = {2: bytes([5 << 5 | 2]), 4: bytes([6 << 5 | 4]), 8: bytes([8, 2])}
        return kind[len(value)] + value
    if isinstance(value, list):
        return bytes([len(value), 4]) + b"".join(map(encoded, value))
    pairs = (encoded(key) + encoded(each) for key, each in value.items())
    return bytes([7 << 5 | len(value)]) + b"".join(pairs)


def bits(network: IPv4Network | IPv6Network) -> str:
    """The prefix in an IPv6 tree, where IPv4 is below ::/96."""
    if network.version == 4:
        return "0" * 96 + f"{int(network.network_address):032b}"[: network.prefixlen]
    return f"{int(network.network_address):0128b}"[: network.prefixlen]


def database(networks: Mapping[str, str | None], kind: str = "Test-Country") -> bytes:
    """A MaxMind DB, version 2.0, with records of 24 bits."""
    nodes: list[list[Any]] = [[None, None]]
    data = b""
    for prefix, country in networks.items():
        path = bits(ip_network(prefix))
        node = 0
        for bit in path[:-1]:
            if nodes[node][int(bit)] is None:
                nodes.append([None, None])
                nodes[node][int(bit)] = len(nodes) - 1
            node = nodes[node][int(bit)]
        nodes[node][int(path[-1])] = -len(data) - 1
        data += encoded({"country": {"iso_code": country} if country else {}})
    tree = b""
    for record in (each for node in nodes for each in node):
        at = len(nodes) if record is None else record
        tree += (at if at >= 0 else len(nodes) + 15 - at).to_bytes(3, "big")
    metadata = {
        "binary_format_major_version": struct.pack(">H", 2),
        "binary_format_minor_version": struct.pack(">H", 0),
        "build_epoch": struct.pack(">Q", 1),
        "database_type": kind,
        "description": {"en": "test"},
        "ip_version": struct.pack(">H", 6),
        "languages": ["en"],
        "node_count": struct.pack(">I", len(nodes)),
        "record_size": struct.pack(">H", 24),
    }
    return tree + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + encoded(metadata)
