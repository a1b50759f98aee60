"""`python -m tests.support.terminal ARGUMENTS`: the command `langfocus`, as on a terminal."""

import sys
from io import TextIOWrapper
from typing import cast

from langfocus.command_line import main


class Terminal(TextIOWrapper):
    """A stream that reports to be a terminal."""

    def isatty(self) -> bool:
        return True


if __name__ == "__main__":
    for name, errors in (("stdout", "strict"), ("stderr", "backslashreplace")):
        before = cast(TextIOWrapper, getattr(sys, name))
        setattr(sys, name, Terminal(before.detach(), "utf-8", errors, line_buffering=True))
    sys.exit(main())
