"""The Lua script of the shared frontier; each call is one run of it."""

from functools import cache
from hashlib import sha1
from importlib import resources
from typing import NamedTuple

_FILES = ("keys", "hosts", "slots", "admitting", "settling", "sealing", "calls")


class Script(NamedTuple):
    """A script and its digest, which names it on the server."""

    text: bytes
    digest: str


@cache
def script() -> Script:
    """Return the script: the files of the folder `lua`, in their order."""
    folder = resources.files("crawler.shared").joinpath("lua")
    text = b"\n".join(folder.joinpath(f"{name}.lua").read_bytes() for name in _FILES)
    return Script(text, sha1(text, usedforsecurity=False).hexdigest())
