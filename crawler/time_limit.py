"""A limit of the processor time that a command takes for a page; readers have their own limits."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from langfocus.classifiers.pages.method import PageLanguage, PageMethod
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.reading import TRIAL, Download, identified

SLOW_S: Final = 20.0
"""Seconds of processor time after which a page is given up; a usual one takes 0.005."""

_loaded: set[str] = set()


class TooSlow(BaseException):
    """A page takes too long; parsers and extractors catch every `Exception`."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise `TooSlow` in a block that takes `SLOW_S` seconds of processor time.

    Compiled code that does not return is not interrupted: SIGPROF ends the process after twice the
    time. Only the main thread has a limit.
    """
    if current_thread() is not main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
    signal.setitimer(signal.ITIMER_PROF, 2 * SLOW_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)


def identified_in_time(
    download: Download, by: PageMethod
) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; raises `TooSlow`."""
    if by.name not in _loaded:
        identified(TRIAL, by)
        _loaded.add(by.name)
    with limited():
        return identified(download, by)
