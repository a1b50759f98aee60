"""Usage statements of servers and pages: robots directives and opt-outs.

Sources are META robots and X-Robots-Tag, the TDM Reservation Protocol (TDMRep, W3C Community Group
report of 2024), the lines `Content-Signal` (contentsignals.org) and `Content-Usage` (drafts of the
IETF's AIPREF group), and license URLs (Really Simple Licensing, RSL 1.0). Statements are stored as
short texts: `nofollow`, `noai`, `tdm-reservation=1`, `content-signal: ai-train=no`, `license:
https://example.org/license.xml`.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

BOT: Final = "langfocus"
"""The bot's name in META elements and X-Robots-Tag, whatever its User-Agent."""

MAX_VALUE: Final = 8 * 1024
"""Characters of a header or a META element that are read."""

MAX_STATEMENT: Final = 200
"""Characters kept per statement."""

MAX_STATEMENTS: Final = 20
"""Statements kept per source; statements that a crawl obeys or counts take precedence."""

NOARCHIVE: Final = "noarchive"
_NO_LINKS: Final = frozenset({"nofollow", "none"})

_WORDS: Final = frozenset(
    "noai noarchive nocache nofollow noimageai noimageindex noindex none nosnippet "
    "notranslate".split()
)
_WITH_VALUE: Final = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
"""Directives of an X-Robots-Tag with a colon that is not a bot name's."""

_WORD: Final = re.compile(r"[\w-]+")

TDMREP: Final = "tdmrep.json"
"""Source name of the statements in a host's tdmrep.json."""

_RESERVED_TDM: Final = "tdm-reservation=1"
_TDM_VALUES: Final = frozenset({_RESERVED_TDM, "tdm-reservation=0"})
_OPT_OUTS: Final = frozenset({"noai", "noimageai", _RESERVED_TDM})
_RESERVED: Final = frozenset({("content-signal", "no"), ("content-usage", "n")})
_TDM: Final = frozenset({"tdm-reservation", "tdm-policy"})
_USAGE: Final = "content-usage"
_LICENSE: Final = "license"
_PROHIBITS: Final = "license-prohibits"
_USAGES: Final = frozenset("all ai-all ai-train ai-input ai-index search train-ai".split())
"""Usages of RSL 1.0, and the drafts' name for training."""
_ALL_PROHIBITED: Final = f"{_PROHIBITS}: all"
_LINK: Final = re.compile(r"<([^<>]*)>([^<>]*)")
_RSL: Final = "application/rsl+xml"

HEADERS: Final = ("X-Robots-Tag", "TDM-Reservation", "TDM-Policy", "Content-Usage", "Link")
"""Headers with statements."""


def of_headers(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the statements in an answer's headers, pairs of name and value."""
    found: list[str] = []
    for name, value in ((name.lower(), value[:MAX_VALUE]) for name, value in headers):
        if name == "x-robots-tag":
            found += _words_for_us(value)
        elif name in _TDM:
            found += reservation(name, value)
        elif name == _USAGE:
            found += usage(name, value)
        elif name == "link":
            found += [license_at(url) for url, rest in _LINK.findall(value) if _is_rsl(rest)]
    return kept(found)


def of_metas(metas: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the statements in META elements, pairs of name and content, and in license links."""
    found: list[str] = []
    for name, value in ((name, value[:MAX_VALUE]) for name, value in metas):
        if name in ("robots", BOT):
            found += _known_words(value)
        elif name in _TDM:
            found += reservation(name, value)
        elif name == _LICENSE:
            found.append(license_at(value))
    return kept(found)


def license_at(url: str) -> str:
    """Return the statement for an RSL license URL."""
    return f"{_LICENSE}: {url.strip()}"


def license_of(statement: str) -> str | None:
    """Return the license URL in a statement; None for any other or a shortened statement."""
    name, _, url = statement.partition(": ")
    return url if name == _LICENSE and len(statement) < MAX_STATEMENT else None


def prohibited(usages: str) -> tuple[str, ...]:
    """Return the statements for usages prohibited by a license, passed as words."""
    words = usages.lower().replace(",", " ").split()
    return tuple(f"{_PROHIBITS}: {word}" for word in sorted(_USAGES.intersection(words)))


def reservation(name: str, value: str) -> list[str]:
    """Return the TDMRep statement for a name and a value; empty for an empty value."""
    value = value.strip()
    if name == "tdm-reservation" and "1" in re.split(r"[\s,;]+", value):
        value = "1"  # servers that send the header twice send "1, 1"
    return [f"{name}={value}"] if value else []


def usage(name: str, value: str) -> list[str]:
    """Return the terms of a Content-Signal or a Content-Usage as statements, in lower case."""
    terms = "=".join(map(str.strip, value.lower().split("="))).replace(",", " ").split()
    return [f"{name}: {term}" for term in terms]


def forbids_links(statements: Collection[str]) -> bool:
    """Return True if the links of a page are not to be followed."""
    return not _NO_LINKS.isdisjoint(statements)


def written(sources: Mapping[str, Sequence[str]]) -> str | None:
    """Return statements by source as a JSON object; None without statements."""
    made = {source: list(statements) for source, statements in sources.items() if statements}
    return json.dumps(made) if made else None


def is_reserved(sources: Mapping[str, Collection[str]]) -> bool:
    """Return True if a page is reserved from text and data mining, by its statements by sources.

    A license that prohibits all usages reserves it. A header counts more than the file of the host,
    and a META element more than a header (TDMRep, processing priority).
    """
    if any(_ALL_PROHIBITED in statements for statements in sources.values()):
        return True
    for source in ("page", "header", TDMREP):
        values = _TDM_VALUES.intersection(sources.get(source, ()))
        if values:
            return _RESERVED_TDM in values
    return False


def opts_out(sources: Mapping[str, Collection[str]]) -> bool:
    """Return True if any statement but a reservation is an opt-out, or the page is reserved."""
    others = (one for each in sources.values() for one in each if one not in _TDM_VALUES)
    return is_reserved(sources) or any(map(is_opt_out, others))


def is_opt_out(statement: str) -> bool:
    """Return True if a statement reserves a page from text and data mining or from AI.

    A search engine is no training, so the term `search` reserves nothing.
    """
    name, _, term = statement.partition(": ")
    if name == _PROHIBITS:
        return term not in ("search", "ai-index")
    key, _, value = term.partition("=")
    is_reserved = (name, value.partition(";")[0]) in _RESERVED and key != "search"
    return is_reserved or statement in _OPT_OUTS


def _is_rsl(parameters: str) -> bool:
    """Return True for the parameters of an RSL license link."""
    pairs = (part.partition("=") for part in parameters.lower().split(";"))
    fields = {name.strip(): value.strip(" \t\"',") for name, _, value in pairs}
    return "license" in fields.get("rel", "").split() and fields.get("type") == _RSL


def _words_for_us(tag: str) -> list[str]:
    """Return the X-Robots-Tag directives for this bot or for all bots."""
    words: list[str] = []
    is_ours = True
    for part in re.split("[,;]", tag.lower()):
        name, colon, directive = part.partition(":")
        names_bot = bool(colon) and name.strip() not in _WITH_VALUE
        if names_bot:
            is_ours = name.strip() in ("*", BOT)
        if is_ours:
            words += _known_words(directive if names_bot else part)
    return words


def _known_words(text: str) -> list[str]:
    """Return the known directives in a text; sites use commas, semicolons or bars as separators."""
    return [word for word in _WORD.findall(text.lower()) if word in _WORDS]


def kept(statements: Iterable[str]) -> tuple[str, ...]:
    """Return distinct statements, shortened, `MAX_STATEMENTS` at most.

    Obeyed and counted statements come first, so that a flood of statements cannot displace them.
    """
    found = dict.fromkeys(statement[:MAX_STATEMENT] for statement in statements)
    if len(found) <= MAX_STATEMENTS:
        return tuple(found)
    return tuple(sorted(found, key=_rank)[:MAX_STATEMENTS])


def _rank(statement: str) -> int:
    return 0 if statement in _WORDS else 1 if is_opt_out(statement) else 2
