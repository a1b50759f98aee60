"""The languages that people mean by a declaration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.languages import known
from classifiers.pages.declared import MOST, meant


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("de", ("de",)),
        ("de, en", ("de", "en")),
        ("DE ; en-GB;q=0.8", ("de", "en")),
        ("de en", ("de", "en")),
        ("en_", ("en",)),
        ("kr", ("ko",)),
        ("ko-KR", ("ko",)),
        ("kr-KR", ("ko",)),
        ("jp", ("ja",)),
        ("cz_CZ", ("cs",)),
        ("cn, jp, kr", ("zh", "ja", "ko")),
        ("Norwegian Nynorsk", ("nn",)),
        ("German, klingonisch", ("de",)),
        ("kau", ("kr",)),
        ("utf-8", ()),
        ("this is no language", ()),
        ("", ()),
        (",;", ()),
    ],
)
def test_lists_countries_and_names_are_understood(value: str, codes: tuple[str, ...]) -> None:
    assert meant(value) == codes


@given(st.text(max_size=200))
def test_any_text_gives_known_codes_each_once(value: str) -> None:
    codes = meant(value)
    assert set(codes) <= known()
    assert len(codes) == len(set(codes)) <= MOST
