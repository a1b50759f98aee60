"""Random numbers that depend only on a key, so that each page can be made alone."""

from collections.abc import Mapping
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")


def dice(*key: object) -> Random:
    """Return a generator whose seed is the `repr` of the key's parts."""
    digest = blake2b(repr(key).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))


def pick(chance: Random, weights: Mapping[T, float]) -> T:
    """Return a random key of `weights`, with a probability in proportion to its weight."""
    return chance.choices(list(weights), list(weights.values()))[0]
