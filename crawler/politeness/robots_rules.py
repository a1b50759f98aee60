"""The robots.txt lines for one bot, as one compact text.

RFC 9309 decides. Where the RFC is silent, Google's parser does (github.com/google/robotstxt):
misspelled line names, lines without a colon, `index.html` for its directory. On a contradiction,
the stricter rule counts.

Rules are stored as text, and each lookup scans the text from the beginning. Parsed rules would be a
few microseconds faster, but take many times the memory.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, quote_from_bytes

from langfocus.crawler.politeness.directives import kept, license_at, usage
from langfocus.crawler.url import normalise

MAX_SITEMAPS: Final = 50
"""`Sitemap` lines kept per file."""

MAX_LINE_BYTES: Final = 16_664
"""Bytes read per line, as in Google's parser."""

MOST_STEPS: Final = 2**26
"""Most matching steps: letters of rules with `*` times letters of a path; they take 0.01 s."""

_LINE = re.compile(rb"[^\r\n]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_AGENT = re.compile(rb"user-agent|useragent|user agent", re.IGNORECASE)
_DISALLOW = re.compile(rb"disallow|dissallow|dissalow|disalow|diasllow|disallaw", re.IGNORECASE)
_ALLOW = re.compile(rb"allow", re.IGNORECASE)
_DELAY = re.compile(rb"crawl-?delay", re.IGNORECASE)
_SIGNAL = re.compile(rb"content-(?:signal|usage)\Z", re.IGNORECASE)
_LICENSE = re.compile(rb"license\Z", re.IGNORECASE)
_SITEMAP = re.compile(rb"site-?map\Z", re.IGNORECASE)
_SECONDS = re.compile(rb"\d+(?:[.,]\d+)?|[.,]\d+")
_INDEX = re.compile(r"(.*/)index\.htm[^/]*")

_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)")
_RESERVED = re.compile(r"%(?:21|2[789C]|3[ABD]|40)")
"""Escapes of the reserved characters `!'(),:;=@`, equal to the unescaped spelling by the RFC."""
_RESERVED_IN_QUERY = re.compile(r"%(?:2F|3F|5[BD])")
"""The same for `/?[]`, which separate the parts of a URL before the query."""
_URI: Final = "%!#$&'()*+,/:;=?@[]-._~"
_DOLLAR_INSIDE = re.compile(r"\$(?!\Z)")
_SLASHES = re.compile(r"/{2,}")
_STARS = re.compile(r"\*{2,}")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for one bot, one rule per line: `+/path` allows, `-/path` forbids.

    The longest paths are first; at equal length, allowing rules.
    """

    spelled: str = ""
    plain: str = ""  # the rules without needless escapes, "" if they are the same
    delay_s: float = 0.0  # the Crawl-delay, 0 if there is none
    signals: tuple[str, ...] = ()  # statements of Content-Signal, Content-Usage, License
    sitemaps: tuple[str, ...] = ()  # normalised URLs

    def allows(self, url: str) -> bool:
        """Return True if the bot may fetch an absolute URL.

        A URL is forbidden if it is forbidden as it is spelled (Google), without needless escapes
        (RFC 9309, 2.2.2), or as many servers read it, without dot segments and doubled slashes.
        """
        path = _spelled(_path_of(url))
        if not self.spelled or path.partition("?")[0] == "/robots.txt":
            return True
        plain = _without_signs(path)
        rules = self.plain or self.spelled
        asked = {(self.spelled, path), (rules, plain), (rules, _simple(plain))}
        return all(_allow(*each) for each in asked)


def rules_for(bot: str, body: bytes) -> Rules:
    """Return the rules of a robots.txt for the bot with this product token, in any case.

    A group is the bot's if its User-agent begins with the token and no letter, `_` or `-` follows:
    `bot/1.0` and `Bot crawler` name `bot`; `bots` and `bo` do not. Without such a group the groups
    for `*` count. Several groups are one. Unknown lines change nothing.
    """
    reading = _Reading(bot.lower().encode())
    for key, value in _pairs(body):
        reading.take(key, value)
    group = reading.own if reading.own.is_named else reading.others
    plain: dict[str, bool] = {}
    for path, allows in group.paths.items():
        as_plain = _DOLLAR_INSIDE.sub("%24", _plain(path))
        plain[as_plain] = allows or plain.get(as_plain, False)
    spelled = _sorted(group.paths)
    return Rules(
        spelled,
        "" if plain == group.paths else _sorted(plain),
        group.delay_s,
        kept(reading.signals + group.signals),
        tuple(reading.sitemaps),
    )


class _Group:
    """All groups for one bot, or for `*`; `paths` maps a path to True if allowed."""

    def __init__(self) -> None:
        self.is_named = False
        self.paths: dict[str, bool] = {}
        self.delay_s = 0.0
        self.signals: list[str] = []


class _Reading:
    """The groups parsed so far, and the groups of the last User-agent lines.

    A Crawl-delay, unknown to RFC 9309, does not end a list of User-agent lines, but applies only to
    the bots above, as its authors mean it. So does a Content-Signal; above all groups, it applies
    to every bot. Sitemap and License belong to no group: sites write them at the end, below an
    arbitrary group.
    """

    def __init__(self, bot: bytes) -> None:
        self.own, self.others = _Group(), _Group()
        self._bot = bot
        self._ruled: set[_Group] = set()
        self._delayed: set[_Group] = set()
        self._has_rule = self._has_delay = self._has_name = False
        self.signals: list[str] = []
        self.sitemaps: dict[str, None] = {}

    def take(self, key: bytes, value: bytes) -> None:
        if _AGENT.match(key):
            self._name(value)
        elif _DISALLOW.match(key):
            self._rule(value, allows=False)
        elif _ALLOW.match(key):
            self._rule(value, allows=True)
        elif _DELAY.match(key):
            self._delay(value)
        elif _SIGNAL.match(key):
            self._signal(key, value)
        elif _LICENSE.match(key):
            url = normalise(value.decode("utf-8", "replace"))
            self.signals += [license_at(url)] if url else []
        elif _SITEMAP.match(key) and len(self.sitemaps) < MAX_SITEMAPS:
            url = normalise(value.decode("utf-8", "replace"))
            self.sitemaps.update({url: None} if url else {})

    def _name(self, agent: bytes) -> None:
        if self._has_rule:
            self._ruled = set()
        if self._has_rule or self._has_delay:
            self._delayed = set()
        self._has_rule = self._has_delay = False
        self._has_name = True
        for group in self._groups_of(agent):
            group.is_named = True
            self._ruled.add(group)
            self._delayed.add(group)

    def _groups_of(self, agent: bytes) -> Iterator[_Group]:
        if agent.startswith(b"*") and not agent[1:2].strip():
            yield self.others
        if agent.lower().startswith(self._bot):
            following = agent[len(self._bot) : len(self._bot) + 1]
            if not following.isalpha() and following not in (b"_", b"-"):
                yield self.own

    def _rule(self, value: bytes, *, allows: bool) -> None:
        self._has_rule = True
        path = single_stars(_spelled(value)) if self._ruled else ""
        paths = [path] if path else []
        if allows and (index := _INDEX.fullmatch(path)):
            paths.append(f"{index[1]}$")
        for group in self._ruled:
            for each in paths:
                group.paths[each] = allows or group.paths.get(each, False)

    def _delay(self, value: bytes) -> None:
        self._has_delay = True
        if seconds := _SECONDS.match(value):
            for group in self._delayed:
                group.delay_s = max(group.delay_s, float(seconds[0].replace(b",", b".")))

    def _signal(self, key: bytes, value: bytes) -> None:
        statements = usage(key.decode().lower(), value.decode("utf-8", "replace"))
        if not self._has_name:
            self.signals += statements
            return
        self._has_delay = True
        for group in self._delayed:
            group.signals += statements


def _pairs(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and value of each complete line; only CR and LF end a line."""
    for found in _LINE.finditer(body.removeprefix(_BYTE_ORDER_MARK)):
        line = found[0][:MAX_LINE_BYTES].partition(b"#")[0].strip()
        key, colon, value = line.partition(b":")
        if not colon:
            key, *words = line.split(None, 2) or [b""]
            value = words[0] if len(words) == 1 else b""
            if not value:
                continue
        if key.strip():
            yield key.strip(), value.strip()


def _sorted(paths: Mapping[str, bool]) -> str:
    strongest = sorted(paths.items(), key=lambda rule: (-len(rule[0]), not rule[1]))
    return "\n".join(("+" if allows else "-") + path for path, allows in strongest)


def _allow(lines: str, path: str) -> bool:
    """Return the answer of the first line that matches; without one everything is allowed.

    A path is forbidden if the lines with `*` before an answer would take more than `MOST_STEPS`.
    """
    signed = "+" + path, "-" + path
    steps = 0
    for line in lines.split("\n"):
        steps += len(path) * len(line) if "*" in line else 0
        if steps > MOST_STEPS:
            return False
        if matches(line, signed[line[:1] == "-"]):
            return line[:1] == "+"
    return True


def single_stars(pattern: str) -> str:
    """Return a pattern that matches the same, without one `*` behind another."""
    return _STARS.sub("*", pattern)


def matches(pattern: str, text: str) -> bool:
    """Return True if a text begins with a pattern, which may contain `*` and end with `$`.

    The pattern has `single_stars`, so that a pattern much longer than the text costs no time.
    """
    is_too_long = len(pattern) > 2 * len(text) + 3
    is_whole = pattern[-1:] == "$"
    if is_too_long or (not is_whole and "*" not in pattern):
        return text.startswith(pattern) and not is_too_long
    first, *inner = pattern.removesuffix("$").split("*")
    if not inner:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    *inner, last = inner
    for part in inner:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    if is_whole:
        return text.endswith(last) and at + len(last) <= len(text)
    return text.find(last, at) >= 0


def plain_path(url: str) -> str:
    """Return path and query of a URL as a `plain_pattern` matches them."""
    return _without_signs(_spelled(_path_of(url)))


def plain_pattern(pattern: str) -> str:
    """Return a pattern of paths without needless escapes, scheme and host."""
    return _DOLLAR_INSIDE.sub("%24", _plain(single_stars(_spelled(_path_of(pattern)))))


def _without_signs(path: str) -> str:
    return _plain(path).replace("*", "%2A").replace("$", "%24")


def _path_of(url: str) -> str:
    """Return path and query of a URL."""
    found = _AUTHORITY.match(url)
    path = url[found.end() if found else 0 :].partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


def _spelled(text: str | bytes) -> str:
    """Return a path or a rule in which all that a URI may not hold is escaped, in upper case."""
    if isinstance(text, bytes):
        quoted = quote_from_bytes(text, safe=_URI)
    else:
        quoted = quote(text, safe=_URI, errors="replace")
    if "%" not in quoted:
        return quoted
    return _RESERVED.sub(_unescaped, _ESCAPE.sub(lambda escape: escape[0].upper(), quoted))


def _plain(text: str) -> str:
    """Return a spelled path or rule without needless escapes."""
    if "%" not in text:
        return text
    path, mark, query = _UNRESERVED.sub(_unescaped, text).partition("?")
    return path + mark + _RESERVED_IN_QUERY.sub(_unescaped, query)


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[0][1:], 16))


def _simple(path: str) -> str:
    """Return a path without doubled slashes and dot segments."""
    if "//" not in path and "/." not in path:
        return path
    path, mark, query = path.partition("?")
    kept: list[str] = []
    *segments, last = _SLASHES.sub("/", path).split("/")[1:]
    for segment in [*segments, "" if last in (".", "..") else last]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/".join(["", *kept]) + mark + query
