"""The Lua scripts of the shared frontier: one for each command."""

import re
from functools import cache
from hashlib import sha1
from importlib import resources
from typing import NamedTuple

_FILES = (
    "keys",
    "best_first",
    "hosts",
    "slots",
    "admitting",
    "settling",
    "sealing",
    "calls",
)


class Script(NamedTuple):
    """A script and its digest, which names it on the server."""

    text: bytes
    digest: str


@cache
def script_of(command: str) -> Script:
    """Return the script of a command: the sections of the Lua files that it needs, in order.

    `lua/keys.lua` describes the format of sections.
    """
    folder = resources.files("crawler.shared").joinpath("lua")
    source = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in _FILES)
    text, *sections = re.split(r"^--@ (.*)\n", source, flags=re.MULTILINE)
    wanted = {command, "all"}
    for names, section in zip(sections[::2], sections[1::2], strict=True):
        if not wanted.isdisjoint(names.split()):
            text += section
    body = text.encode()
    return Script(body, sha1(body, usedforsecurity=False).hexdigest())
