"""Logs as JSON, one object a line, on standard error and in `LOG_FILE` (`LANGFOCUS_LOG=json`)."""

import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Mapping
from threading import Lock
from types import TracebackType
from typing import Any, Final, TextIO

from langfocus.crawler.errors import SettingError

VARIABLE: Final = "LANGFOCUS_LOG"
"""The environment variable, which the processes of a command inherit."""

_STANDARD: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "_traceback"}
_PROGRAM: Final = "langfocus"
_NO_FIELDS: Final[Mapping[str, object]] = {}


def is_json() -> bool:
    """Return True if logs are JSON."""
    return os.environ.get(VARIABLE) == "json"


def check_format() -> None:
    """Raise `SettingError` for an unknown format of logs."""
    if (name := os.environ.get(VARIABLE, "")) not in ("", "text", "json"):
        raise SettingError(f"{VARIABLE}={name}: text or json is needed")


def json_line(
    at: float, level: str, logger: str, message: str, fields: Mapping[str, object] = _NO_FIELDS
) -> str:
    """Return an object in ASCII; `at` is unix seconds. `fields` replace none of the first four."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    first = {"time": f"{stamp}.{int(at % 1 * 1000):03d}Z", "level": level, "logger": logger}
    first["message"] = message
    whole = {**first, **fields, **first}
    return json.dumps({_text(name): _plain(value) for name, value in whole.items()})


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int) or value is None else _text(value)


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode()  # no half of a surrogate pair


class JsonFormatter(logging.Formatter):
    """Formats a record with its extra fields and those of its message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback is the field `exception`."""
        named = record.args if isinstance(record.args, Mapping) else {}
        extra = {name: one for name, one in vars(record).items() if name not in _STANDARD}
        fields: dict[str, Any] = {**named, **extra}
        if record.exc_info and record.exc_info[0]:
            fields["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            fields["stack"] = record.stack_info
        names = record.levelname, record.name, record.getMessage()
        return json_line(record.created, *names, fields)


class JsonStream:
    """A standard error whose lines are objects: those of a log as they are, others are wrapped."""

    def __init__(self, stream: TextIO, marks: str = "") -> None:
        """Write to a stream; lines that begin with one of `marks` are for another process."""
        self.stream, self.buffer = stream, self
        self._marks, self._rest, self._lock = marks, "", Lock()

    def write(self, text: str | bytes) -> int:
        """Write the lines that are complete."""
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        with self._lock:
            *lines, self._rest = (self._rest + shown).split("\n")
            for line in lines:
                if line.strip():
                    self.stream.write(f"{self._object(line)}\n")
        return len(text)

    def _object(self, line: str) -> str:
        if (self._marks and line.startswith(self._marks)) or message_of(line) is not None:
            return line
        level = "ERROR" if line.startswith(f"{_PROGRAM}: ") else "INFO"
        return json_line(time.time(), level, _PROGRAM, line.strip())

    def fail(
        self, kind: type[BaseException], error: BaseException, where: TracebackType | None
    ) -> None:
        """Write the exception that ends the process, as `sys.excepthook`."""
        text = "".join(traceback.format_exception(kind, error, where))
        message = f"{kind.__name__}: {error}"
        self.write(
            json_line(time.time(), "CRITICAL", _PROGRAM, message, {"exception": text}) + "\n"
        )

    def isatty(self) -> bool:
        """Return False: a panel is no object."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the underlying stream."""
        return getattr(self.stream, name)


def message_of(line: str) -> str | None:
    """Return the message of a line of a JSON log, None for any other line."""
    if not line.startswith('{"time": '):
        return None
    try:
        found = json.loads(line)["message"]
    except (ValueError, KeyError):
        return None
    return str(found)


def of_worker(name: str, line: str) -> str:
    """Return a log line of a worker with its name."""
    if name and message_of(line) is not None:
        return json.dumps({**json.loads(line), "worker": name})
    return f"{name}: {line}" if name else line


def log_json(settings: Any) -> None:
    """Log as JSON where Scrapy's settings log, in place of its own handler."""
    path = settings.get("LOG_FILE")
    if not path and not settings.getbool("LOG_ENABLED"):
        return
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if path:
        mode = "a" if settings.getbool("LOG_FILE_APPEND") else "w"
        handler = logging.FileHandler(path, mode, settings.get("LOG_ENCODING"))
    handler.setLevel(settings.get("LOG_LEVEL"))
    handler.setFormatter(JsonFormatter())
    logging.root.addHandler(handler)
    settings.set("LOG_FILE", None, priority="cmdline")
    settings.set("LOG_ENABLED", False, priority="cmdline")
