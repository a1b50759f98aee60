"""Limits of a page in a command: processor time, and memory; readers have limits of their own."""

import logging
import resource
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from langfocus.classifiers.errors import MissingPackageError, PluginError, optional
from langfocus.classifiers.pages.charset.encodings import is_document
from langfocus.classifiers.pages.method import PageLanguage, PageMethod
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.http.download import Download
from langfocus.crawler.reading.page import CRASHED, TIMEOUT, TRIAL, ParseDocument, identified

SLOW_S: Final = 20.0
"""Processor time limit per page in seconds; a usual page takes 0.005."""

PAGE_BYTES: Final = 2**30
"""Memory that a page may take."""

TOO_SLOW = "too slow to read"
ENDED = "ended the process that read it"
FAILED = "a mistake in langfocus"

_log = logging.getLogger(__name__)
_loaded: set[str] = set()


class TooSlow(BaseException):
    """A page takes too long; parsers and extractors catch every `Exception`."""


class UnreadError(Exception):
    """A page cannot be read; the message is a constant of this module, or names a plug-in."""

    def __init__(self, reason: str, outcome: str = "error") -> None:
        """Set the outcome of the page in a crawl."""
        super().__init__(reason)
        self.outcome = outcome


def limit_memory(more_bytes: int) -> None:
    """Make further allocations fail; no limit if the kernel reports no size."""
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        taken = int(sizes.read_text().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (taken + more_bytes, most))


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
    """Parse a document in a process of its own: compiled code may end the one that reads it."""
    if not is_document(body):
        return None
    from langfocus.classifiers.pages.documents import parse_document

    with suppress(MissingPackageError):  # once, and not in each process
        optional("pypdfium2")
    ours, theirs = Pipe(duplex=False)
    with ours:
        with theirs, warnings.catch_warnings():
            # Libraries have threads, which are idle, and take care of forks themselves.
            warnings.simplefilter("ignore", DeprecationWarning)
            given = theirs, parse_document, body, url
            process = get_context("fork").Process(target=_parse, args=given)
            process.start()
        try:
            found: ParsedPage | BaseException | None = ours.recv()
        except EOFError:
            raise UnreadError(ENDED, CRASHED) from None
        finally:
            process.join()
    if isinstance(found, BaseException):
        raise found
    return found


def _parse(sends_to: Connection, parse: ParseDocument, body: bytes, url: str) -> None:
    found: ParsedPage | BaseException | None
    try:
        limit_memory(PAGE_BYTES)
        with limited():
            found = parse(body, url)
    except BaseException as error:
        found = error
    sends_to.send(found)


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
    except UnreadError:
        raise
    except MissingPackageError as error:
        raise UnreadError(f"no page: {error}") from None
    except Exception as error:  # as in a crawl: whatever is wrong with a page, the others are read
        _log.exception("%s", download.url)
        raise UnreadError(str(error) if isinstance(error, PluginError) else FAILED) from error
