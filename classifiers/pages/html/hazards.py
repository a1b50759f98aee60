"""Finds pages that would take an HTML parser seconds or gigabytes, and disarms them.

HTML's rules for building a tree are quadratic in places: a block element searches all open
elements, unclosed formatting elements are made again inside each block that follows, and each
attribute of a tag is compared with those before it. A page that nests this deeply or has such tags
is malformed or hostile. `is_hazardous` finds it from the bytes; `disarmed` removes the dangerous
markup, so that the same parser can read its text and links.
"""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

MAX_HAZARDOUS_BYTES = 500_000
"""Bytes that are read of a hazardous page."""

MAX_TAGS = 80_000
"""Number of "<" beyond which a page is hazardous and the rest of it is ignored; four times as many
as in any of 1,546 real pages."""

# A page with fewer tags costs at most 0.1 s, for any tags.
_HARMLESS_TAGS = 1_500
# Limit of open formatting elements times tags, the nodes that may be made: 0.05 s.
_MAX_COPIES = 500_000
# Limit of open elements times tags, the steps that may be made up the tree: 0.08 s.
_MAX_STEPS = 30_000_000
# Limit of the pairs of attributes of one tag that may be compared: 0.04 s.
_MAX_PAIRS = 20_000_000
# A stretch of this many bytes without ">" may be a tag with many attributes.
_STRETCH_BYTES = 512
# Size of the windows that are searched for values with markup, the distance between them, and the
# searched part at the end of a stretch of several.
_WINDOW_BYTES, _WINDOW_STEP, _END_BYTES = 512, 16_384, 128
# Number of such values that are checked, and the bytes checked after each, before the page is read
# tag by tag.
_MAX_VALUES, _VALUE_BYTES = 200, 65_536
# Tags whose attributes are joined.
_MAX_JOINED = 100
# Bytes that are kept of a tag with too many attributes.
_KEPT_BYTES = 1_024

_NAME_BYTES = 8
_EACH_BYTE = np.uint64(0x0101_0101_0101_0101)
_FORMATTING = "b big code em font i nobr s small strike strong tt u"
# Elements without content, and those that the next of their kind closes.
_SHALLOW = (
    "a area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th tbody thead tfoot option optgroup"
)
# Tags that a disarmed page keeps: they have text or links, hide text, or cannot be nested.
_KEPT = (
    "a area base br frame frameset head hr iframe img li link meta noembed noframes noscript"
    " option p script style textarea title xmp dt dd"
)
# Elements whose attributes are joined to those of the first.
_JOINED = "html body"

# The rest of a tag, from between two attributes to the sign that ends it (HTML, 13.2.5.32-40).
_VALUE = rb"\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'>])[^\s>]++|(?=>))"
_ATTRIBUTE = rb"(?:=[^\s/>=]*+|[^\s/>=]++)(?:\s*+=" + _VALUE + rb")?+"
_REST = rb"(?:[\s/]++|" + _ATTRIBUTE + rb")*+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
# Text, closing tags and tags of few attributes with plain or quoted values, as many as follow.
_HARMLESS_ATTRIBUTES = (
    rb"(?:[^>\"'=]{1,300}+(?<![\s/])=\s*+(?:\"[^\"]*+\"|'[^']*+')){0,30}+[^>\"'=]{0,300}+"
)
_HARMLESS = (
    rb"(?:[^<]++|</[A-Za-z][^>]{0,99}+>|<(?!(?:script|style)\b)[A-Za-z]"
    + _HARMLESS_ATTRIBUTES
    + b">)++"
)
# No alternative backtracks, so that reading any page is linear.
_TAG = re.compile(
    _HARMLESS + rb"|<!--(?:[^-]++|-(?!->))*+"
    rb"|<(?:script|style)\b[^>]{0,999}>(?:[^<]++|<(?!/(?:scr|sty)))*+"
    rb"|<[a-z][^\s/>]*+" + _REST,
    re.IGNORECASE,
)
_SKIPPED = re.compile(_HARMLESS + rb"|<(?:!--|(?:script|style)\b[^>]{0,999}>)", re.IGNORECASE)
_OPENING = re.compile(rb"<[A-Za-z]")
_SEPARATED = rb"(?:[^\s/\"']*+[\s/\"']++)"
_SOME_SEPARATORS = re.compile(_SEPARATED + rb"{250}")
_SOME_ATTRIBUTES = re.compile(rb"(?:[\s/]*+" + _ATTRIBUTE + rb"){250}")
_MARKUP_VALUE = re.compile(rb"=\s*+(?=([\"']))(?:\"[^\"<>]*+|'[^'<>]*+)[<>]")

_OPEN, _CLOSE = b"<>"


def is_hazardous(body: bytes) -> bool:
    """Whether building the tree of a page in UTF-8 may take more than about 0.1 s.

    About 0.1 ms for a page of 120 kB.
    """
    opening, closing = _signs(body)
    if len(opening) > MAX_TAGS or _has_endless_tags(body, closing):
        return True
    return len(opening) >= _HARMLESS_TAGS and _is_deep(body, opening)


def defused(body: bytes) -> tuple[bytes, bool]:
    """The page, disarmed if it is hazardous, and whether it is hazardous even so.

    A page that is not hazardous is the same object.
    """
    if not is_hazardous(body):
        return body, False
    body = disarmed(body)
    return body, is_hazardous(body)


def disarmed(body: bytes) -> bytes:
    """The page without dangerous markup, but with its text, links and metadata; in linear time.

    The first `MAX_HAZARDOUS_BYTES` and `MAX_TAGS` are kept. Long tags lose the attributes beyond
    their first 1,024 bytes. Tags that may nest become comments, with a space before those that
    separate words.
    """
    body = body[:MAX_HAZARDOUS_BYTES]
    opening, closing = _signs(body)
    if len(opening) > MAX_TAGS:
        body = body[: opening[MAX_TAGS]]
        closing = closing[closing < len(body)]
    data = np.frombuffer(body, dtype=np.uint8).copy()
    if _may_hold_endless_tags(body, closing):
        for start, end in _endless_tags(body):
            data[start:end] = ord(" ")
    body = data.tobytes()
    opening, _ = _signs(body)
    if _is_deep(body, opening):
        _flatten(data, *_tags(body, opening))
    return data.tobytes()


def _signs(body: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of all "<" and of all ">"."""
    data = np.frombuffer(body, dtype=np.uint8)
    # The two differ in one bit.
    places = np.flatnonzero(data | np.uint8(2) == _CLOSE)
    is_opening = data[places] == _OPEN
    return places[is_opening], places[~is_opening]


def _flatten(
    data: NDArray[np.uint8],
    places: NDArray[np.int64],
    names: NDArray[np.uint64],
    closing: NDArray[np.bool_],
) -> None:
    """Turn all tags into comments except those in _KEPT, in place."""
    kept = _is_any(names, _KEPT)
    kept[np.flatnonzero(_is_any(names, _JOINED) & ~closing)[:2]] = True
    inline = ~kept & (_is_any(names, _FORMATTING) | _is_short(names) & ~closing)
    data[places[inline]] = ord("?")
    apart = places[~kept & ~inline]
    data[apart - 1] = ord(" ")
    data[apart] = _OPEN
    data[apart + 1] = ord("?")


def _has_endless_tags(body: bytes, closing: NDArray[np.int64]) -> bool:
    if not _may_hold_endless_tags(body, closing):
        return False
    # Most such pages are hazardous from their beginning.
    if _endless_tags(body[:MAX_HAZARDOUS_BYTES]):
        return True
    return len(body) > MAX_HAZARDOUS_BYTES and bool(_endless_tags(body))


def _endless_tags(body: bytes) -> list[tuple[int, int]]:
    """Start and end of the excess attributes of tags; empty if all tags together have few."""
    found = []
    pairs = 0
    for match in _TAG.finditer(body):
        start, end = match.span()
        if end - start > _KEPT_BYTES and not _SKIPPED.match(body, start):
            attributes = _attributes(body, start, end)
            pairs += attributes * attributes
            if attributes:
                found.append((_kept_until(body, start, end), end))
    return found if pairs > _MAX_PAIRS else []


def _kept_until(body: bytes, start: int, end: int) -> int:
    """The start of the first attribute that is too far from the beginning of its tag."""
    for attribute in _ATTRIBUTES.finditer(body, start, end):
        if attribute.start() >= start + _KEPT_BYTES:
            return attribute.start()
    return end


def _attributes(body: bytes, start: int, end: int) -> int:
    """The number of attributes of a tag; 0 for fewer than 250."""
    if not _SOME_SEPARATORS.match(body, start, end):
        return 0
    return len(_ATTRIBUTES.findall(body, start, end))


def _may_hold_endless_tags(body: bytes, closing: NDArray[np.int64]) -> bool:
    """Whether a page has to be read tag by tag; it reads a hundredth of an ordinary page.

    A tag of many attributes is long. Either it has a stretch without ">", or its values with markup
    follow each other so closely that every window shows one.
    """
    stretches = _stretches(closing, len(body))
    if _most_pairs(stretches) > _MAX_PAIRS and _are_endless(body, stretches):
        return True
    values = 0
    ends = [(end - _END_BYTES, end) for start, end in stretches if end - start > 4 * _WINDOW_BYTES]
    places = range(0, len(body), _WINDOW_STEP)
    for start, end in (*ends, *((place, place + _WINDOW_BYTES) for place in places)):
        for match in _MARKUP_VALUE.finditer(body, start, end):
            values += 1
            if values > _MAX_VALUES or _has_more_attributes(body, match.start(1)):
                return True
    return False


def _stretches(closing: NDArray[np.int64], length: int) -> list[tuple[int, int]]:
    """Start and end of all long stretches without ">", that sign included."""
    places = np.concatenate(([0], closing + 1, [length]))
    long = np.flatnonzero(places[1:] - places[:-1] > _STRETCH_BYTES)
    return list(zip(places[long].tolist(), places[long + 1].tolist(), strict=True))


def _most_pairs(stretches: list[tuple[int, int]]) -> int:
    """Pairs of attributes, of 3 bytes each, that fit into stretches."""
    return sum((end - start) ** 2 for start, end in stretches) // 9


def _are_endless(body: bytes, stretches: list[tuple[int, int]]) -> bool:
    """Whether the tags in stretches may have too many attributes; the longest are read first."""
    tags = sorted(_tags_within(body, stretches), key=lambda tag: tag[0] - tag[1])
    pairs = _most_pairs(tags)
    for tag in tags:
        if pairs <= _MAX_PAIRS:
            return False
        pairs += _separators(body, *tag) ** 2 - _most_pairs([tag])
    return pairs > _MAX_PAIRS


def _tags_within(body: bytes, stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield start and end of a possible long tag in each of the stretches."""
    for start, end in stretches:
        tag = _OPENING.search(body, start, max(start, end - _STRETCH_BYTES))
        if tag:
            yield tag.start(), end


def _separators(body: bytes, start: int, end: int) -> int:
    """The greatest number of attributes that a tag may have; 0 if it clearly has few."""
    if _SKIPPED.match(body, start, end):
        return 0
    data = np.frombuffer(body, dtype=np.uint8, count=end - start, offset=start)
    is_quote = (data == ord("'")) | (data == ord('"'))
    return int(np.count_nonzero((data <= ord(" ")) | (data == ord("/")) | is_quote))


def _has_more_attributes(body: bytes, quote: int) -> bool:
    """Whether 250 attributes follow a value, given the place of its first quote."""
    limit = quote + _VALUE_BYTES
    end = body.find(body[quote : quote + 1], quote + 1, limit) + 1
    return end > 0 and _SOME_ATTRIBUTES.match(body, end, limit) is not None


def _is_deep(body: bytes, opening: NDArray[np.int64]) -> bool:
    _, names, closing = _tags(body, opening)
    n = max(1, len(names))
    if n < _HARMLESS_TAGS:
        return False
    if n > _MAX_COPIES // n:
        formatting = _is_any(names, _FORMATTING)
        if _exceeds(names[formatting], closing[formatting], _MAX_COPIES // n):
            return True
    if n > _MAX_STEPS // n:
        nesting = ~_is_any(names, _SHALLOW)
        if _exceeds(names[nesting], closing[nesting], _MAX_STEPS // n):
            return True
    return int(_is_any(names, _JOINED).sum()) > _MAX_JOINED


def _tags(
    body: bytes, opening: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_]]:
    """For each tag the start of its name or "/", its name, and whether it is a closing tag.

    A name is its first 8 bytes in lower case, as a number.
    """
    padded = body + b" " * (_NAME_BYTES + 2)
    data = np.frombuffer(padded, dtype=np.uint8)
    places = opening + 1
    closing = data[places] == ord("/")
    windows = np.ndarray((len(body) + 2,), np.dtype("<u8"), padded, strides=(1,))
    letters = windows[places + closing]
    first = letters & np.uint64(0xFF) | np.uint64(0x20)
    element = first - np.uint64(ord("a")) < np.uint64(26)
    letters = letters[element]
    names = (letters | _EACH_BYTE * np.uint64(0x20)) & _before_end(letters)
    return places[element], names, closing[element]


def _before_end(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Masks of the bytes before the first white space, ">" or "/" of eight."""
    high = _EACH_BYTE * np.uint64(0x80)
    ends = (letters - _EACH_BYTE * np.uint64(0x21)) & ~letters & high
    for sign in b">/":
        other = letters ^ (_EACH_BYTE * np.uint64(sign))
        ends |= (other - _EACH_BYTE) & ~other & high
    return ((ends & (~ends + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)


def _exceeds(names: NDArray[np.uint64], closing: NDArray[np.bool_], limit: int) -> bool:
    """Whether more than `limit` of these elements may be open at once."""
    return len(names) - int(closing.sum()) > limit and _most_open(names, closing) > limit


def _most_open(names: NDArray[np.uint64], closing: NDArray[np.bool_]) -> int:
    """The greatest number of elements open at once, summed over names."""
    order = np.argsort(names, kind="stable")
    names = names[order]
    steps: NDArray[np.int64] = np.where(closing[order], -1, 1)
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    # Each name's run begins far below all that precedes it, so that the running minimum starts
    # anew with it.
    apart = np.zeros(len(steps), dtype=np.int64)
    apart[starts] = 2 * len(steps) + 2
    height = np.cumsum(steps - apart)
    floor = np.minimum.accumulate(np.minimum(height, height - steps))
    return int(np.maximum.reduceat(height - floor, starts).clip(0).sum())


def _is_any(names: NDArray[np.uint64], wanted: str) -> NDArray[np.bool_]:
    """Whether each name is among the wanted ones; (n_names,)."""
    table, factor = _table(wanted)
    found: NDArray[np.bool_] = table[_slots(names, factor)] == names
    return found


def _slots(names: NDArray[np.uint64], factor: np.uint64) -> NDArray[np.uint64]:
    return (names * factor) >> np.uint64(56)


@cache
def _table(wanted: str) -> tuple[NDArray[np.uint64], np.uint64]:
    padded = b"".join(name.encode().ljust(_NAME_BYTES, b"\0") for name in wanted.split())
    keys = np.frombuffer(padded, dtype="<u8").astype(np.uint64)
    random = np.random.default_rng(0)
    while True:
        factor = np.uint64(random.integers(1, 2**63)) * np.uint64(2) + np.uint64(1)
        if len(np.unique(_slots(keys, factor))) == len(keys):
            break
    table = np.zeros(256, dtype=np.uint64)
    table[_slots(keys, factor)] = keys
    return table, factor


def _is_short(names: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each name has one letter, so that there is no room for a space; (n_names,)."""
    return names < np.uint64(0x100)
