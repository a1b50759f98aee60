"""Pages that would cost a browser's tree builder minutes or gigabytes.

HTML's rules for building a tree are quadratic in places: a block element looks through all open
elements, and unclosed formatting elements are made again inside each block that follows (4,000
of them take 3 GB). A page that nests this deeply is malformed or hostile. `is_hazardous` finds
it from the tags alone, in array operations, so that it can be given to a parser without those
rules.
"""

import re

import numpy as np
from numpy.typing import NDArray

# A page with fewer tags can do little harm.
_HARMLESS_TAGS = 1_000
# Open formatting elements times tags: nodes that may be made.
_MAX_COPIES = 2_000_000
# Open elements times tags: steps that may be made up the tree.
_MAX_STEPS = 400_000_000
_MAX_ATTRIBUTES = 8_000

_NAME_BYTES = 8
_FORMATTING = "a b big code em font i nobr s small strike strong tt u"
# Elements without content, and those that the next of their kind closes.
_SHALLOW = (
    "area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th tbody thead tfoot option optgroup"
)
_LONG_TAG = re.compile(rb"<[A-Za-z](?:[^>\"']|\"[^\"]*\"|'[^']*'){40000}")
_SPACE = re.compile(rb"[\s/\"']")


def is_hazardous(body: bytes) -> bool:
    """Whether building the tree of an ASCII-compatible page may take seconds or gigabytes.

    About 0.1 ms for a page of 150 kB; nothing for one of fewer than 1,000 tags.
    """
    return _has_endless_tag(body) or _is_deep(body)


def _has_endless_tag(body: bytes) -> bool:
    """Whether one tag has thousands of attributes, which are compared pair by pair."""
    if len(body) < 40_000:
        return False
    found = _LONG_TAG.search(body)
    return found is not None and len(_SPACE.findall(found[0])) > _MAX_ATTRIBUTES


def _is_deep(body: bytes) -> bool:
    if body.count(b"<") < _HARMLESS_TAGS:
        return False
    names, steps = _tags(body)
    n = len(names)
    formatting = np.isin(names, _keys(_FORMATTING))
    nesting = ~np.isin(names, _keys(_SHALLOW))
    copies = _most_open(names[formatting], steps[formatting]) * n
    return copies > _MAX_COPIES or _most_open(names[nesting], steps[nesting]) * n > _MAX_STEPS


def _tags(body: bytes) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Per tag its name (8 bytes, lower case, as a number) and +1 for opening, -1 for closing."""
    data = np.frombuffer(body + b" " * (_NAME_BYTES + 2), dtype=np.uint8)
    places = np.flatnonzero(data == ord("<")) + 1
    closing = data[places] == ord("/")
    places = places + closing
    letters = data[places[:, None] + np.arange(_NAME_BYTES)]
    is_name = (letters > 0x20) & (letters != ord(">")) & (letters != ord("/"))
    letters = np.where(np.logical_and.accumulate(is_name, axis=1), letters | 0x20, 0)
    first = letters[:, 0]
    element = (first >= ord("a")) & (first <= ord("z"))
    names = np.ascontiguousarray(letters[element].astype(np.uint8)).view(np.uint64).ravel()
    return names, np.where(closing[element], -1, 1).astype(np.int64)


def _most_open(names: NDArray[np.uint64], steps: NDArray[np.int64]) -> int:
    """How many elements may be open at once: the sum over names of each one's most."""
    if not len(names):
        return 0
    order = np.argsort(names, kind="stable")
    names, steps = names[order], steps[order]
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    # Each name's run begins far below all that precedes it, so that the running minimum starts
    # anew with it.
    apart = np.zeros(len(steps), dtype=np.int64)
    apart[starts] = 2 * len(steps) + 2
    height = np.cumsum(steps - apart)
    floor = np.minimum.accumulate(np.minimum(height, height - steps))
    return int(np.maximum.reduceat(height - floor, starts).clip(0).sum())


def _keys(names: str) -> NDArray[np.uint64]:
    return np.frombuffer(
        b"".join(n.encode().ljust(_NAME_BYTES, b"\0") for n in names.split()), np.uint64
    )
