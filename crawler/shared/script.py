"""The script of the shared frontier (folder `lua`), run by a worker on its keys in Redis.

Redis runs a script without interruption, and each call of a worker exactly once, even after a
broken connection: the script stores the last answer to each worker.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha1
from importlib import resources
from typing import Any, Final
from uuid import uuid4

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.keyspace import KeySpace, RefusedError
from langfocus.crawler.shared.membership import Membership, binding, difference, script_config
from langfocus.crawler.shared.packing import Packed, encoded

FILES: Final = ("keys", "hosts", "admitting", "settling", "calls")
"""The files of the script, in order."""


@cache
def _script() -> tuple[bytes, str]:
    """Return the text of the script, and its name on the server."""
    folder = resources.files("langfocus.crawler.shared").joinpath("lua")
    text = b"\n".join(folder.joinpath(f"{name}.lua").read_bytes() for name in FILES)
    return text, sha1(text, usedforsecurity=False).hexdigest()


class Script:
    """The script for one worker and one key space; `now` is the time of the next call."""

    def __init__(
        self, keys: KeySpace, rules: FrontierRules, membership: Membership, now: float
    ) -> None:
        """Join or create the crawl; raises `SettingError` for different rules."""
        self.keys, self.now = keys, now
        self._worker = membership.worker
        self._owner = f"{membership.worker}:{uuid4().hex}"
        self._calls = 0
        self._beginning = uuid4().hex
        bound = binding(rules, membership)
        try:
            answer = self.call(
                "open",
                rules=json.dumps(bound, sort_keys=True),
                config=json.dumps(script_config(rules, membership)),
            )
        except RefusedError as error:
            raise SettingError(f"this Redis cannot hold a crawl: {error.__cause__}") from error
        is_other, _, self._beginning = answer.partition("ok ")
        if is_other:
            raise SettingError(difference(keys.crawl, answer, bound))

    @property
    def token(self) -> str:
        """Lease token of the last call."""
        return f"{self._owner}:{self._calls}"

    def call(self, command: str, packed: Packed | None = None, /, **arguments: object) -> Any:
        """Run a command of `lua/calls.lua`, with packed links for commands that read links."""
        self._calls += 1
        body = encoded(json.dumps(arguments, ensure_ascii=False))
        values = [
            encoded(self.keys.prefix),
            command.encode(),
            encoded(self._owner),
            b"%d" % self._calls,
            repr(self.now).encode(),
            encoded(self._worker),
            body,
            packed.body if packed else b"",
            self._beginning.encode(),
        ]
        return self.keys.insist(lambda: self._run(values))

    def _run(self, values: Sequence[bytes]) -> Any:
        text, digest = _script()
        try:
            return self.keys.send("EVALSHA", digest, 1, *values)
        except self.keys.errors.NoScriptError:
            return self.keys.send("EVAL", text, 1, *values)

    def fields(self, names: Mapping[str, Sequence[str]]) -> list[Sequence[bytes | None]]:
        """Return fields of the crawl's hashes as bytes, in one call."""
        asked = {name: fields for name, fields in names.items() if fields}
        commands: list[list[str | bytes | int]] = [
            ["HMGET", self.keys.key(name), *map(encoded, fields)] for name, fields in asked.items()
        ]
        answers = self.keys.insist(lambda: self.keys.send_all(commands, disable_decoding=True))
        found = dict(zip(asked, answers, strict=True))
        return [found.get(name, ()) for name in names]
