"""The Lua scripts of the shared frontier: one for each command and way to draw."""

import re
from functools import cache
from hashlib import sha1
from importlib import resources
from typing import NamedTuple

from crawler.strategies.orderings import Draw


class Script(NamedTuple):
    """A script and the digest by which a server knows it."""

    text: bytes
    digest: str


@cache
def script_of(command: str, draw: Draw) -> Script:
    """Return the script of a command: the sections of `redis.lua` that it needs."""
    source = resources.files("crawler.shared").joinpath("redis.lua").read_text("utf-8")
    text, *sections = re.split(r"^--@ (.*)\n", source, flags=re.MULTILINE)
    for names, section in zip(sections[::2], sections[1::2], strict=True):
        if not {command, draw.value, "all"}.isdisjoint(names.split()):
            text += section
    body = text.encode()
    return Script(body, sha1(body, usedforsecurity=False).hexdigest())
