"""Limit of a command's processor time per page; readers have their own limits."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from langfocus.classifiers.errors import MissingPackageError, PluginError
from langfocus.classifiers.pages.charset.encodings import is_document
from langfocus.classifiers.pages.method import PageLanguage, PageMethod
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.http.download import Download
from langfocus.crawler.reading.page import TIMEOUT, TRIAL, identified

SLOW_S: Final = 20.0
"""Processor time limit per page in seconds; a usual page takes 0.005."""

TOO_SLOW = "too slow to read"
FAILED = "a mistake in langfocus"

_log = logging.getLogger(__name__)
_loaded: set[str] = set()


class TooSlow(BaseException):
    """A page takes too long; parsers and extractors catch every `Exception`."""


class UnreadError(Exception):
    """A page cannot be read; the message is `TOO_SLOW`, `FAILED` or names a plug-in."""

    def __init__(self, reason: str, outcome: str = "error") -> None:
        """Set the outcome of the page in a crawl."""
        super().__init__(reason)
        self.outcome = outcome


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


def _document_of(body: bytes, url: str) -> ParsedPage | None:
    if not is_document(body):
        return None
    from langfocus.classifiers.pages.documents import parse_document

    return parse_document(body, url)


def identified_in_time(
    download: Download, by: PageMethod
) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; raises `UnreadError` with the reason.

    Documents are pages, too.
    """
    if by.name not in _loaded:
        identified(TRIAL, by)
        _loaded.add(by.name)
    try:
        with limited():
            return identified(download, by, _document_of)
    except TooSlow:
        raise UnreadError(TOO_SLOW, TIMEOUT) from None
    except MissingPackageError as error:
        raise UnreadError(f"no page: {error}") from None
    except Exception as error:  # as in a crawl: whatever is wrong with a page, the others are read
        _log.exception("%s", download.url)
        raise UnreadError(str(error) if isinstance(error, PluginError) else FAILED) from error
