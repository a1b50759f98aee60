"""The interface of a Web: it returns an answer or a failure for a URL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

from langfocus.classifiers.plugins import Plugin, Registry
from langfocus.crawler.http.head import text_of

Reason = Literal["dns", "not_archived", "timeout", "refused"]

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Source(NamedTuple):
    """An answer as it was archived: the time in unix seconds, the head and the encoded body."""

    began_at: float
    head: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer: status, headers in order, and body.

    The body has no transfer and content encodings. Header bytes outside UTF-8 are surrogates. `ip`
    is the answering address, None if not recorded. `source` is None for an answer outside an
    archive.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    ip: str | None = None
    source: Source | None = field(default=None, repr=False, compare=False)

    def header(self, name: str) -> str | None:
        """Return the last header of this name in any case, or None."""
        values = self.all(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        """Return the values of all headers with a name, in any case."""
        return [value for key, value in self.texts() if key.lower() == name.lower()]

    def texts(self) -> list[tuple[str, str]]:
        """Return the headers as texts."""
        pairs = ((name, value.encode("utf-8", "surrogateescape")) for name, value in self.headers)
        return [(name, text_of(value)) for name, value in pairs]


class Unreachable(Exception):
    """No answer: the host has no address, is silent, refuses, or is not in the archive.

    Not an `OSError`, since Scrapy's retry middleware would retry.
    """

    def __init__(self, reason: Reason, url: str = "") -> None:
        super().__init__(f"{reason}: {url}" if url else reason)
        self.reason: Reason = reason


class NotArchived(Unreachable, LookupError):
    """The archive has no answer for this URL; a retry cannot help."""

    def __init__(self, url: str = "") -> None:
        super().__init__("not_archived", url)


class Web(Protocol):
    """A source of answers to HTTP requests; it is called in the process of the crawl.

    The Web of a plug-in is made with the path of `-a archive`, or None. A method
    `seeds(language)` may return URLs for a crawl without `-a seeds`.
    """

    def respond(self, url: str, headers: Mapping[str, str], /) -> Answer:
        """Return the answer to a GET of this absolute http(s) URL; raises `Unreachable`.

        A redirect is an answer; it is not followed. A URL always gets the same answer.
        """
        ...


WEBS: Final = Registry[Any](
    "web",
    "langfocus.webs",
    {
        "live": "",
        "sample": "langfocus.crawler.sources.sample:SampleWeb",
        "archive": "langfocus.crawler.sources.archive:ArchiveWeb",
    },
)
"""The sources of pages by name."""


class PluginWeb:
    """The Web of a plug-in; its errors name the plug-in, also later."""

    def __init__(self, plugin: Plugin, archive: Path | None) -> None:
        self._plugin, make = plugin, WEBS.load(plugin.name)
        with plugin.blamed():
            self._web: Web = make(archive)
            self._respond = self._web.respond

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the answer to a GET; raises `Unreachable` and `PluginError`."""
        with self._plugin.blamed(Unreachable):
            answer: object = self._respond(url, headers)
            if not isinstance(answer, Answer):
                raise TypeError(f"{type(answer).__name__} in place of an Answer")
            return answer

    def seeds(self, language: str) -> list[str]:
        """Return the seed URLs for a language; [] without any."""
        with self._plugin.blamed():
            return list(getattr(self._web, "seeds", lambda _: ())(language))
