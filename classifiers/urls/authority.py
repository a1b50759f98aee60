"""Where the parts of a URL begin and end: scheme, user, host, port and path."""

from __future__ import annotations

import numpy as np

from classifiers.compiled import inlined
from classifiers.urls.codepoints import LINE_END, Bytes

_ENDS, _USER, _PORT = 1, 2, 3


def _signs() -> Bytes:
    """The meaning of each byte in an authority, or 0."""
    table = np.zeros(256, np.uint8)
    for sign in b"/\\?#\n":
        table[sign] = _ENDS
    table[ord("@")], table[ord(":")] = _USER, _PORT
    return table


_SIGNS = _signs()


@inlined
def _is_slash(byte: int) -> bool:
    return byte in (0x2F, 0x5C)


@inlined
def _host_start(buffer: Bytes, start: int, end: int) -> int:
    """Where the authority begins, after the scheme or after the two slashes without one."""
    while start < end and buffer[start] <= 0x20 and buffer[start] != LINE_END:
        start += 1
    if end - start >= 2 and _is_slash(buffer[start]) and _is_slash(buffer[start + 1]):
        return start + 2
    for at in range(start, min(end - 2, start + 12)):
        if buffer[at] == LINE_END:
            break
        if buffer[at] == 0x3A and _is_slash(buffer[at + 1]) and _is_slash(buffer[at + 2]):
            return at + 3
    return start


@inlined
def host_bounds(buffer: Bytes, start: int, end: int) -> tuple[int, int, int]:
    """Where the host begins, after scheme and user, where it ends, and where the path begins."""
    host = path = _host_start(buffer, start, end)
    stop = -1
    while path < end:
        sign = _SIGNS[buffer[path]]
        if sign:
            if sign == _ENDS:
                break
            if sign == _USER:
                host, stop = path + 1, -1
            elif stop < 0:
                stop = path
        path += 1
    if stop < 0:
        stop = path
    while stop > host and buffer[stop - 1] == 0x2E:
        stop -= 1
    return host, stop, path


@inlined
def label_start(buffer: Bytes, host: int, end: int) -> int:
    """Where the label that ends at `end` begins."""
    while end > host and buffer[end - 1] != 0x2E:
        end -= 1
    return end


@inlined
def after_www(buffer: Bytes, host: int, end: int) -> int:
    """Where the host goes on after `www.`, if two labels or more are left."""
    for at in range(host, host + 3):
        if at >= end or buffer[at] | 32 != 0x77:
            return host
    rest = host + 4
    if rest <= end and buffer[rest - 1] == 0x2E and label_start(buffer, rest, end) > rest:
        return rest
    return host


@inlined
def line_end(buffer: Bytes, at: int) -> int:
    """Where the line ends that goes on at a position."""
    while at < len(buffer) and buffer[at] != LINE_END:
        at += 1
    return at
