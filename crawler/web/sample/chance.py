"""Chance that depends on nothing but its key, so that any page can be made without the others."""

from collections.abc import Mapping
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")


def dice(*key: object) -> Random:
    """A generator whose numbers are fixed by the key's parts (their `repr`)."""
    digest = blake2b(repr(key).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))


def pick(chance: Random, weights: Mapping[T, float]) -> T:
    """One key of `weights`, each as likely as its weight says."""
    return chance.choices(list(weights), list(weights.values()))[0]
