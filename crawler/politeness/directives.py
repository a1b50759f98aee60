"""What a server or a page says about the use of a page: robots directives and opt-outs.

The words of META robots and X-Robots-Tag, the TDM Reservation Protocol (TDMRep, W3C Community Group
report of 2024), and the lines `Content-Signal` (contentsignals.org) and `Content-Usage` (drafts of
the IETF's AIPREF group). They are kept as short statements: `nofollow`, `noai`,
`tdm-reservation=1`, `content-signal: ai-train=no`.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

BOT: Final = "langfocus"
"""The name by which META elements and X-Robots-Tag address this bot, whatever its User-Agent."""

MAX_STATEMENT: Final = 200
"""Characters of a statement that are kept."""

MAX_STATEMENTS: Final = 20
"""Statements of one source that are kept."""

NOARCHIVE: Final = "noarchive"
_NO_LINKS: Final = frozenset({"nofollow", "none"})

_WORDS: Final = frozenset(
    "noai noarchive nocache nofollow noimageai noimageindex noindex none nosnippet "
    "notranslate".split()
)
_WITH_VALUE: Final = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
"""Directives of an X-Robots-Tag with a colon, which does not follow the name of a bot."""

_OPT_OUT_WORDS: Final = ("noai", "noimageai")
_TDM: Final = frozenset({"tdm-reservation", "tdm-policy"})
_USAGE: Final = "content-usage"

HEADERS: Final = ("X-Robots-Tag", "TDM-Reservation", "TDM-Policy", "Content-Usage")
"""The names of the headers that make statements."""


class RobotsVersion(NamedTuple):
    """The robots.txt that allowed a fetch.

    `name` is the SHA-256 of the file, or the status of a server that has none. `signals` are
    its statements for this bot.
    """

    name: str
    signals: tuple[str, ...] = ()


def of_headers(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the statements of the headers of an answer, given as names and values."""
    found: list[str] = []
    for name, value in ((name.lower(), value) for name, value in headers):
        if name == "x-robots-tag":
            found += _known_words(_words_for_us(value))
        elif name in _TDM:
            found += _reservation(name, value)
        elif name == _USAGE:
            found.append(usage(name, value))
    return _kept(found)


def of_metas(metas: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the statements of META elements, given as names and contents."""
    found: list[str] = []
    for name, value in metas:
        if name in ("robots", BOT):
            found += _known_words(value.lower().replace(",", " ").split())
        elif name in _TDM:
            found += _reservation(name, value)
    return _kept(found)


def usage(name: str, value: str) -> str:
    """Return a Content-Signal or a Content-Usage as a statement, in lower case."""
    return f"{name}: {' '.join(value.lower().split())}"


def forbids_links(statements: Collection[str]) -> bool:
    """Return True if the links of a page are not to be followed."""
    return not _NO_LINKS.isdisjoint(statements)


def written(sources: Mapping[str, Sequence[str]]) -> str | None:
    """Return statements by their sources as a JSON object, None if there are none."""
    made = {source: list(statements) for source, statements in sources.items() if statements}
    return json.dumps(made) if made else None


def is_opt_out(statement: str) -> bool:
    """Return True if a statement reserves a page from text and data mining or from AI."""
    if statement in _OPT_OUT_WORDS or statement == "tdm-reservation=1":
        return True
    name, colon, value = statement.partition(":")
    if not colon or name not in ("content-signal", _USAGE):
        return False
    no = "no" if name == "content-signal" else "n"
    terms = (term.partition("=") for term in value.replace(",", " ").split())
    return any(end == no and key != "search" for key, _, end in terms)


def _words_for_us(tag: str) -> list[str]:
    """Return the directives of an X-Robots-Tag that are for this bot or for all bots."""
    words: list[str] = []
    is_ours = True
    for part in tag.lower().split(","):
        name, colon, directive = part.partition(":")
        names_bot = bool(colon) and name.strip() not in _WITH_VALUE
        if names_bot:
            is_ours = name.strip() in ("*", BOT)
        if is_ours:
            words += (directive if names_bot else part).split()
    return words


def _known_words(words: Iterable[str]) -> list[str]:
    return [word for word in words if word in _WORDS]


def _reservation(name: str, value: str) -> list[str]:
    value = value.strip()
    return [f"{name}={value}"] if value else []


def _kept(statements: Iterable[str]) -> tuple[str, ...]:
    short = (statement[:MAX_STATEMENT] for statement in statements)
    return tuple(dict.fromkeys(short))[:MAX_STATEMENTS]
