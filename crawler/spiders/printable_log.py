"""Log messages without control characters.

Messages of Scrapy, Twisted and this project contain texts chosen by servers: URLs, headers, failure
reasons. A terminal could interpret such texts as commands.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, Final

from OpenSSL import SSL
from scrapy.settings import BaseSettings
from twisted.logger import globalLogBeginner

from langfocus.classifiers.errors import LangfocusError
from langfocus.crawler.report.formatting import printable_lines
from langfocus.crawler.report.progress import Display
from langfocus.crawler.report.terminal import unguarded

FAULTS: Final = logging.getLogger("langfocus.fault")
"""Logs why a crawl cannot continue."""


def make_log_printable() -> None:
    """Make every further log message of this process printable, for any handler.

    Scrapy replaces its handler and formatter during the start of a crawl, but keeps record classes.
    An application's own record classes are kept.
    """
    if logging.getLogRecordFactory() is logging.LogRecord:
        logging.setLogRecordFactory(PrintableRecord)
        # Until this call Twisted also writes critical messages to standard error itself.
        globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)
    # Certificates are not checked, and a failed handshake has an outcome.
    logging.getLogger("scrapy.core.downloader.tls").setLevel(logging.ERROR)
    logging.getLogger("twisted").addFilter(is_of_this_process)


def leave_out_settings(settings: BaseSettings) -> None:
    """Keep Scrapy's own steps and dictionaries of settings and components out of the log.

    This also avoids a record per page, which Scrapy leaves to the handlers to drop. A log with
    LOG_LEVEL=DEBUG keeps all. The reason of a fault is left out always: it is the last line of the
    command.
    """
    FAULTS.disabled = True
    if settings["LOG_LEVEL"] == "DEBUG":
        return
    logging.getLogger("scrapy.crawler").addFilter(
        lambda record: not str(record.msg).startswith("Overridden settings")
    )
    for name in ("scrapy.middleware", "scrapy.addons", "scrapy.core", "scrapy.utils.log"):
        logging.getLogger(name).setLevel(logging.WARNING)


def log_above(display: Display) -> Callable[[], None]:
    """Print log messages for standard error above a display's rows; return the undo function."""
    standard = unguarded(sys.stderr)
    moved = [
        one
        for one in logging.getLogger().handlers
        if isinstance(one, logging.StreamHandler) and unguarded(one.stream) is standard
    ]
    for handler in moved:
        handler.setStream(display)

    def restore() -> None:
        for handler in moved:
            handler.setStream(sys.stderr)

    return restore


def is_of_this_process(record: logging.LogRecord) -> bool:
    """Return False for an error that the bytes of a TLS server caused in Twisted.

    An alert that ends the connection during the handshake raises an `IndexError` there, which ends
    the connection too.
    """
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not isinstance(error.__context__, SSL.Error)


class PrintableRecord(logging.LogRecord):
    """A log record with `?` for each unprintable character of message and traceback.

    Lines after the first are indented, so that no server can forge a message.
    """

    _traceback: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept the arguments of `LogRecord`; log an error of this project in one line.

        So is an error raised by Scrapy while such an error ends the crawl.
        """
        super().__init__(*args, **kwargs)
        error = self.exc_info[1] if self.exc_info else None
        if error is not None and isinstance(error.__context__, LangfocusError):
            error = error.__context__
        if isinstance(error, LangfocusError):
            self.msg, self.args, self.exc_info = f"langfocus: {error}", (), None

    def getMessage(self) -> str:
        """Return the message."""
        return printable_lines(super().getMessage())

    @property
    def exc_text(self) -> str | None:
        """The traceback, stored here by the formatter."""
        return self._traceback

    @exc_text.setter
    def exc_text(self, text: Any) -> None:
        self._traceback = text and printable_lines(str(text))
