"""Errors of the crawl; each is also a builtin error, for callers that catch builtins."""

from langfocus.classifiers.errors import LangfocusError


class CrawlError(LangfocusError):
    """Any error that stops a crawl; the message is one line with a way to continue."""


class SettingError(CrawlError, ValueError):
    """A setting or an argument that cannot be used."""


class RunFolderError(CrawlError, ValueError):
    """A run folder made for another crawl, by a newer version, or damaged."""


class GraphError(CrawlError, ValueError):
    """A Web graph that is missing, damaged, or lacks a requested part."""


class ArchiveError(CrawlError, OSError):
    """An archive that is missing, truncated or not a WARC file."""


class StorageError(CrawlError, OSError):
    """A run that can no longer be written; all earlier commits are intact."""


_LONGEST_LINE = 10_000


def one_line(text: str) -> str:
    """Return a text as one line, safe for any database and terminal."""
    short = " ".join(text[:_LONGEST_LINE].encode("utf-8", "backslashreplace").decode().split())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in short)
