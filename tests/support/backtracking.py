"""Finds regular expressions that can take more than linear time, without a time measurement.

A pattern becomes an automaton whose states are its characters. It is slow if some text leads from
state p to p, from p to q and from q to q: each repetition of the text doubles the ways or adds one
(Weideman 2016). A search adds a state before the pattern that reads any text. Where the state
q ends the match, nothing is tried again. All texts of up to `_LONGEST` character classes are tried.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

_compiler: Any = re._compiler  # type: ignore[attr-defined]
_parser: Any = re._parser  # type: ignore[attr-defined]

Mask = NDArray[np.bool_]
"""A truth value for each character class."""

_LONGEST = 2
_CHARACTERS = [
    *map(chr, range(0x180)),
    "\u0430",
    "\u2028",
    "\u3000",
    "\u4e00",
    "\ud800",
    "\U0001f600",
]


@dataclass
class _Ends:
    """How a part of a pattern is entered and left: states with the characters behind and ahead.

    `empty` has the characters before and after which the part matches nothing at all.
    """

    first: list[tuple[int, Mask, Mask]] = field(default_factory=list)
    last: list[tuple[int, Mask]] = field(default_factory=list)
    empty: tuple[Mask, Mask] | None = None


class _Automaton:
    """The states of a pattern; state 0 is before it."""

    def __init__(self, pattern: re.Pattern[Any], *, searches: bool, is_whole: bool) -> None:
        tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self._flags, self._state = pattern.flags, tree.state
        of_text = isinstance(pattern.pattern, str)
        signs = _CHARACTERS if of_text else [bytes([n]) for n in range(256)]
        self._masks: dict[str, Mask] = {}
        self._classify(tree, signs)
        rows = np.array(list(self._masks.values()) or [np.ones(len(signs), bool)])
        _, kept = np.unique(rows, axis=1, return_index=True)
        self.signs = [signs[at] for at in kept]
        # The last place of a mask is the end of the text.
        self._masks = {name: np.append(mask[kept], False) for name, mask in self._masks.items()}
        self._all = np.ones(len(kept) + 1, bool)
        self._end = np.arange(len(kept) + 1) == len(kept)
        self._newline = np.array([*(sign in ("\n", b"\n") for sign in self.signs), False])
        self._reads: list[Mask] = [self._all]
        self._edges: list[tuple[int, int, Mask, Mask]] = []
        self.has_loop = False
        whole = self._of(tree)
        for state, behind, ahead in whole.first:
            self._edges.append((0, state, behind, ahead))
        if searches:
            self._edges.append((0, 0, self._all, self._all))
        self._last = [(at, ahead & self._end if is_whole else ahead) for at, ahead in whole.last]

    # The tree.

    def _classify(self, tree: Any, signs: list[Any]) -> None:
        for item in tree:
            operation, value = item
            name = str(operation)
            if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
                one = _parser.SubPattern(self._state, [item])
                matches = _compiler.compile(one, self._flags).fullmatch
                self._masks[repr(item)] = np.array([matches(sign) is not None for sign in signs])
                continue
            for part in _parts(name, value):
                self._classify(part, signs)

    def _of(self, tree: Any) -> _Ends:
        whole = _Ends(empty=(self._all, self._all))
        for item in tree:
            whole = self._joined(whole, self._of_item(item))
        return whole

    def _of_item(self, item: Any) -> _Ends:  # noqa: PLR0911  # one for each operation
        operation, value = item
        name = str(operation)
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            self._reads.append(self._masks[repr(item)])
            state = len(self._reads) - 1
            return _Ends([(state, self._all, self._all)], [(state, self._all)])
        if name in ("SUBPATTERN", "ATOMIC_GROUP"):
            return self._of(value[-1] if name == "SUBPATTERN" else value)
        if name == "BRANCH":
            return self._either([self._of(part) for part in value[1]])
        if name.endswith("REPEAT"):
            return self._repeated(*value, is_possessive=name == "POSSESSIVE_REPEAT")
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._assertion(*value, is_negative=name == "ASSERT_NOT")
        if name == "AT":
            return self._position(str(value))
        return _Ends(empty=(self._all, self._all))  # a group again: no more than a bounded text

    def _position(self, name: str) -> _Ends:
        nothing = ~self._all
        if name == "AT_BEGINNING" and self._flags & re.MULTILINE:
            return _Ends(empty=(self._newline, self._all))
        if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            return _Ends(empty=(nothing, self._all))
        if name == "AT_END" and self._flags & re.MULTILINE:
            return _Ends(empty=(self._all, self._newline | self._end))
        if name in ("AT_END", "AT_END_STRING"):
            return _Ends(empty=(self._all, self._end))
        return _Ends(empty=(self._all, self._all))

    def _assertion(self, direction: int, tree: Any, *, is_negative: bool) -> _Ends:
        is_one = len(tree) == 1 or (direction < 0 and not is_negative)
        mask = self._masks.get(repr(tree[-1])) if is_one and len(tree) else None
        if mask is not None:
            mask = ~mask if is_negative else mask
            return _Ends(empty=(mask, self._all) if direction < 0 else (self._all, mask))
        ends = _Ends(empty=(self._all, self._all))
        if direction > 0:  # what is ahead is read, and then nothing goes on from there
            ends.first = self._of(tree).first
        return ends

    def _repeated(self, least: int, most: Any, tree: Any, *, is_possessive: bool) -> _Ends:
        is_endless = most is _parser.MAXREPEAT
        copies = [self._of(tree) for _ in range(max(1, min(least, 2)))]
        self.has_loop |= is_endless
        if is_endless:
            self._connect(copies[-1], copies[-1])
        elif most > max(least, 1) and len(copies) < 2:
            copies.append(self._optional(self._of(tree)))
        if least == 0:
            copies[0] = self._optional(copies[0])
        whole = copies[0]
        for each in copies[1:]:
            whole = self._joined(whole, each)
        reads = self._masks.get(repr(tree[0])) if len(tree) == 1 else None
        if is_possessive and reads is not None and is_endless:
            whole.last = [(state, ahead & ~reads) for state, ahead in whole.last]
        return whole

    def _optional(self, ends: _Ends) -> _Ends:
        return _Ends(ends.first, ends.last, (self._all, self._all))

    def _either(self, parts: list[_Ends]) -> _Ends:
        whole = _Ends()
        for part in parts:
            whole.first += part.first
            whole.last += part.last
            whole.empty = whole.empty or part.empty
        return whole

    def _joined(self, one: _Ends, other: _Ends) -> _Ends:
        self._connect(one, other)
        whole = _Ends(list(one.first), list(other.last))
        if one.empty:
            behind, ahead = one.empty
            whole.first += [(at, b & behind, a & ahead) for at, b, a in other.first]
        if other.empty:
            _, ahead = other.empty
            whole.last += [(at, a & ahead) for at, a in one.last]
        if one.empty and other.empty:
            whole.empty = (one.empty[0] & other.empty[0], one.empty[1] & other.empty[1])
        return whole

    def _connect(self, one: _Ends, other: _Ends) -> None:
        for state, after in one.last:
            for following, behind, ahead in other.first:
                self._edges.append((state, following, behind, after & ahead))

    # The question.

    def slow_text(self) -> list[Any] | None:
        """Return a text that makes the pattern slow when repeated, None if there is none."""
        if not self.has_loop:
            return None
        steps, sure = self._steps(), self._sure()
        open_ = np.array([state not in sure for state in range(len(self._reads))])
        for length in range(1, _LONGEST + 1):
            for word in product(range(len(self.signs)), repeat=length):
                ways = steps[word[-1]][word[0]]
                for before, sign in pairwise(word):
                    ways = np.minimum(ways @ steps[before][sign], 2)
                if self._is_slow(ways, open_):
                    return [self.signs[at] for at in word]
        return None

    def _steps(self) -> NDArray[np.float32]:
        """Return the numbers of ways from state to state by the character before and the next."""
        kinds, states = len(self._all), len(self._reads)
        # Small whole numbers; numpy multiplies matrices of integers without BLAS.
        steps = np.zeros((kinds, kinds, states, states), np.float32)
        for state, following, behind, ahead in self._edges:
            before = self._reads[state] & behind
            read = self._reads[following] & ahead
            steps[before[:, None] & read[None, :], state, following] += 1
        return steps

    def _is_slow(self, ways: NDArray[np.float32], open_: Mask) -> bool:
        loops = np.diagonal(ways) > 0
        if ((np.diagonal(ways) > 1) & open_).any():
            return True
        pairs = (ways > 0) & loops[:, None] & (loops & open_)[None, :]
        np.fill_diagonal(pairs, val=False)
        return bool(pairs.any())

    def _sure(self) -> set[int]:
        """Return the states from which every text leads to a match: nothing is tried again."""
        sure = set(range(len(self._reads)))
        while True:
            ways = {state: np.zeros(len(self._all), bool) for state in sure}
            for state, ahead in self._last:
                if state in sure:
                    ways[state] |= ahead
            for state, following, behind, ahead in self._edges:
                if state in sure and following in sure and behind[self._reads[state]].all():
                    ways[state] |= self._reads[following] & ahead
            left = {state for state in sure if ways[state].all()}
            if left == sure:
                return sure - {0}
            sure = left


def _parts(name: str, value: Any) -> Iterator[Any]:
    if name == "SUBPATTERN":
        yield value[-1]
    elif name == "ATOMIC_GROUP":
        yield value
    elif name == "BRANCH":
        yield from value[1]
    elif name.endswith("REPEAT"):
        yield value[2]
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield value[1]


def slow_text(
    pattern: re.Pattern[Any], *, searches: bool = True, is_whole: bool = False
) -> list[Any] | None:
    """Return a text whose repetitions take more than linear time, None if none was found.

    `searches`: the pattern may match anywhere. `is_whole`: it must match to the end of the text.
    """
    return _Automaton(pattern, searches=searches, is_whole=is_whole).slow_text()
