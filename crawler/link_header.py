"""The header `Link` of an answer (RFC 8288): translations and the canonical URL of a page."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MAX_LINKS: Final = 200
"""Links of one answer that are read."""

ALTERNATE: Final = "alternate"
CANONICAL: Final = "canonical"

_TARGET = re.compile(r"[\s,;]*+<([^>]*+)>")
_PARAMETER = re.compile(
    r"\s*+;\s*+([A-Za-z*_-]++)(?:\s*+=\s*+(?:\"((?:[^\"\\]|\\.)*+)\"|([^\s;,\"]++)))?"
)


class HeaderLink(NamedTuple):
    """A link: its URL as it is written, its relations in lower case, its language tag or ""."""

    target: str
    relations: tuple[str, ...]
    hreflang: str = ""


def links_of(values: Iterable[str]) -> tuple[HeaderLink, ...]:
    """Return the links of all headers `Link` of an answer; a broken value ends early."""
    found: list[HeaderLink] = []
    for value in values:
        for link in _links(value):
            if len(found) == MAX_LINKS:
                return tuple(found)
            found.append(link)
    return tuple(found)


def _links(value: str) -> Iterator[HeaderLink]:
    at = 0
    while target := _TARGET.match(value, at):
        at = target.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(value, at):
            at = parameter.end()
            name, quoted, token = parameter.groups("")
            parameters.setdefault(name.lower(), quoted or token)
        relations = tuple(parameters.get("rel", "").lower().split())
        yield HeaderLink(target[1].strip(), relations, parameters.get("hreflang", "").strip())
