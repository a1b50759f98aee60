"""Commands called as functions of this process: half a second less than a process of their own."""

import pytest
from scrapy.cmdline import execute


def call(*arguments: object) -> int:
    """The exit code of a command, in the folder and the environment of the test."""
    with pytest.raises(SystemExit) as exit_:
        execute(["scrapy", *map(str, arguments)])
    return int(exit_.value.code or 0)
