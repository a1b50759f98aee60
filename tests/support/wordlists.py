"""Word lists and towns for the training of URL models."""

from collections.abc import Iterator
from functools import cache

import pytest

from langfocus.classifiers.training import examples


@pytest.fixture(scope="module")
def word_lists_and_towns_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "_listed_words", cache(examples._listed_words))
        patch.setattr("langfocus.classifiers.training.urls.towns", cache(examples.towns))
        yield
