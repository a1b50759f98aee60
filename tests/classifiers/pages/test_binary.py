"""Binary data are refused, and no text of any encoding is."""

import gzip
import random
import tarfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.pages.charset.encodings import is_binary

PAGES = Path(__file__).parents[4] / "shared" / "data" / "pages" / "html.tar"
DATA = Path(mpl.get_data_path())
TEXTS = {
    "en": "Hello world, this is the text of a page.",
    "ru": "Привет, сегодня хорошая погода, и дети играют.",
    "zh": "今天天气很好, 孩子们在湖边玩。",
    "ja": "今日は天気がよくて、子供たちが湖で遊んでいます。",
    "ko": "오늘은 날씨가 좋아서 아이들이 호숫가에서 놀고 있습니다.",
}
ENCODINGS = (
    ("utf-8", "enruzhjako"),
    ("utf-16", "enruzhjako"),
    ("utf-16-le", "enru"),
    ("utf-16-be", "enru"),
    ("koi8-r", "ru"),
    ("gb18030", "zh"),
    ("iso2022_jp", "ja"),
    ("iso2022_kr", "ko"),
)
"""Encoding -> the texts that it is used for."""


@pytest.mark.parametrize("suffix", ["png", "ttf", "pdf", "jpg"])
def test_files_that_others_made_are_recognised(suffix: str) -> None:
    files = sorted(DATA.rglob(f"*.{suffix}"))
    assert files
    assert all(is_binary(file.read_bytes()) for file in files)


def test_compiled_modules_arrays_and_archives_are_recognised() -> None:
    module = next(Path(np.__file__).parent.rglob("_multiarray_umath*"))
    assert is_binary(module.read_bytes()[:5000])
    assert is_binary(np.arange(500).tobytes())
    assert is_binary(gzip.compress(b"<p>x"))
    assert is_binary(b"%PDF-1.4\n" + b"1 0 obj << /Type /Catalog >> endobj\n" * 50)


@given(st.integers(0, 2**32 - 1))
def test_random_bytes_are_binary(seed: int) -> None:
    assert is_binary(random.Random(seed).randbytes(2000))


@pytest.mark.parametrize(("encoding", "languages"), ENCODINGS)
@pytest.mark.parametrize("markup", ["{}", "<!DOCTYPE html><p>{}</p>"])
def test_text_in_any_encoding_is_no_binary_data(encoding: str, languages: str, markup: str) -> None:
    for code, text in TEXTS.items():
        if code in languages:
            assert not is_binary((markup.format(text) * 30).encode(encoding))


@pytest.mark.parametrize(
    "data", [b"", b"x", b"MZ", b"BM", b"PK", b"%P", b"\xef\xbb\xbf<p>", b"RIFF"]
)
def test_short_text_is_no_binary_data(data: bytes) -> None:
    assert not is_binary(data)


def test_no_real_page_is_refused() -> None:
    if not PAGES.exists():
        pytest.skip(f"the pages are not here: {PAGES}")
    with tarfile.open(PAGES) as pages:
        packed = [pages.extractfile(member) for member in pages if member.isfile()]
        found = [is_binary(gzip.decompress(file.read())) for file in packed if file]
    assert len(found) > 1500
    assert not any(found)
