"""The one way to a terminal: no text of a stranger in it can be a command."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO, cast

from langfocus.crawler.options.json_log import JsonStream, is_json
from langfocus.crawler.report.formatting import printable

MARK: Final = "\x1e"
"""Prefix of a line with a snapshot for the parent process."""

_LINES = re.compile(r"[^\n\t]+")


class PrintableStream:
    """A stream that replaces control characters, except tabs and line ends.

    Its `buffer` is for the output of a program, which is changed only on a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream; the bytes that its `buffer` gets are UTF-8."""
        self.stream = stream
        self.buffer = self if stream.isatty() else stream.buffer

    def write(self, text: str | bytes) -> int:
        """Write a text."""
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if not shown.replace("\n", "").replace("\t", "").isprintable():  # faster for many lines
            shown = _LINES.sub(lambda line: printable(line[0]), shown)
        self.stream.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the underlying stream."""
        return getattr(self.stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Make standard output and standard error printable, in the block and for its exception.

    Lines of standard error become objects if logs are JSON.
    """
    before = {"stdout": sys.stdout, "stderr": sys.stderr}
    for name, stream in before.items():
        setattr(sys, name, PrintableStream(unguarded(stream)))
    hook = sys.excepthook
    if is_json() and not isinstance(before["stderr"], JsonStream):
        sys.stderr = cast("TextIO", stream := JsonStream(unguarded(before["stderr"]), MARK))
        sys.excepthook = stream.fail
    yield
    sys.excepthook = hook
    for name, stream in before.items():
        if getattr(sys, name) is not None:
            setattr(sys, name, stream)


def unguarded(stream: TextIO | PrintableStream) -> TextIO:
    """Return the underlying stream, for callers that print colours and printable texts."""
    return stream.stream if isinstance(stream, PrintableStream) else stream
