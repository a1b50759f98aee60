"""The compiled features against a slow reference that shares no code with them."""

import re
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.urls import ngrams
from classifiers.urls.batch import encode

BITS = 17
WORD_MASK = 2**64 - 1
STOP = {"www", "index", "html", "htm", "http", "https"}
HOST, PATH = 0, 1

urls = st.one_of(
    st.from_regex(
        r"https?://[a-z0-9.-]{1,20}\.(de|com|co\.uk|ru)(:80)?/[a-zA-Z0-9/._?=&%-]{0,60}",
        fullmatch=True,
    ),
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["http://", "//", "www.", "de", "/en/", "%C3%BC", "%d0%b8", "%", "%4", "ГОРОД", "ไทย",
             "日本", "İ", "ǅ", "@", ":", "..", "?lang=fr", "#", "index", "html", "a", "ß", "\udcff"]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


def mixed(symbols: list[int]) -> int:
    state = 0xCBF29CE484222325
    for symbol in symbols:
        state = (state ^ symbol) * 0x9E3779B97F4A7C15 & WORD_MASK
        state ^= state >> 29
    return state >> (64 - BITS)


def lower(letter: str) -> str:
    point = ord(letter)
    one_to_one = len(letter.lower()) == 1
    ranges = [(0x41, 0x5A), (0xC0, 0xDE), (0x391, 0x3A9), (0x400, 0x42F), (0x100, 0x17E)]
    if one_to_one and any(first <= point <= last for first, last in ranges):
        if point in {0x138, 0x149, 0x178}:
            return letter
        return letter.lower()
    if letter in "\u0130\u03a2":
        return {"\u0130": "\u0131", "\u03a2": "\u03c2"}[letter]
    return letter


def symbols(data: bytes) -> list[int]:
    text = unquote_to_bytes(data).decode("utf-8", "surrogateescape")
    return [ord(lower(letter)) for letter in text]


def is_letter(point: int) -> bool:
    if point < 0xC0:
        return 97 <= point <= 122
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)
    return not 0x3000 <= point <= 0x303F


def words(points: list[int], place: int) -> list[tuple[list[int], int, int, int]]:
    found: list[tuple[list[int], int, int, int]] = []
    word: list[int] = []
    before = 47
    for point in [*points, 47]:
        if is_letter(point):
            word.append(point)
            continue
        text = "".join(map(chr, word))
        if len(word) >= 2 and text not in STOP:
            found.append((word[: ngrams.MAX_WORD], place, before, point))
        word, before = [], point
    return found


def reference(url: str) -> tuple[list[int], list[int]]:
    """Sorted buckets of the n-grams and of the marks of a URL without IDN labels."""
    data = url[:2048].encode("utf-8", "surrogatepass")[: ngrams.MAX_BYTES]
    scheme = re.match(rb"(?s).{0,11}?://", data)
    rest = data[scheme.end() :] if scheme else data
    end = re.search(rb"[/?#]", rest)
    host, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, b"")
    host = host.rpartition(b"@")[2]
    bare = host.partition(b":")[0].rstrip(b".")
    head, dot, top = bare.rpartition(b".")
    marks = []
    if dot:
        state = [2, *(ord(lower(chr(byte))) for byte in top)]
        marks.append(mixed(state))
        _, dot, second = head.rpartition(b".")
        if dot and len(second) <= 3:
            marks.append(mixed([*state, *(ord(lower(chr(byte))) for byte in second)]))
    else:
        head = bare
    grams = []
    for word, place, before, after in words(symbols(head), HOST) + words(symbols(path), PATH):
        marked = [0x5F, *word, 0x5F]
        for size in range(3, 8):
            for start in range(len(marked) - size + 1):
                grams.append(mixed([1, *marked[start : start + size]]))
        if len(marked) > 7:
            grams.append(mixed([6, *marked]))
        for point in word:
            if point >= 0x80:
                grams += [mixed([4, point]), mixed([5, point >> 7])]
        if len(word) <= 3 and len(marks) < ngrams.MAX_MARKS:
            marks.append(mixed([3, place, before, after, *word]))
    return sorted(grams), sorted(marks)


def compiled(url: str) -> tuple[list[int], list[int]]:
    batch = encode([url])
    pointers = ngrams.count_features(batch.buffer, batch.offsets, BITS)
    indices, values = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], np.float32)
    ngrams.fill_features(batch.buffer, batch.offsets, BITS, pointers, indices, values)
    _, marks = reference(url)
    cut = len(indices) - len(marks)
    assert np.allclose(values[cut:], ngrams.MARK_VALUE)
    assert np.allclose(values[:cut], 1 / max(cut, 1) ** 0.5)
    return sorted(indices[:cut].tolist()), sorted(indices[cut:].tolist())


@given(urls.filter(lambda url: "xn--" not in url.lower()))
@settings(max_examples=400, deadline=None)
def test_compiled_features_are_those_of_the_reference(url: str) -> None:
    assert compiled(url) == reference(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://www.hi-fly.de/wetter/Berlin/index.html",
        "https://de.wikipedia.org/wiki/%C3%9Cbersicht?lang=de&x=en-us",
        "http://user:secret@example.co.uk:8080/a/bb/ccc",
        "http://kremlin.ru./" + "%D0%9F%D1%80%D0%B5" * 30,
        "http://x.com/%cf%f0%e8%e2%e5%f2",
        "",
        "http://",
        "/de/" * 400,
        "a" * 5000,
    ],
)
def test_typical_and_odd_urls_have_the_features_of_the_reference(url: str) -> None:
    assert compiled(url) == reference(url)


def test_percent_encoded_letters_are_the_letters() -> None:
    assert reference("http://x.de/%C3%BCber")[0] == compiled("http://x.de/über")[0]


def test_an_internationalised_host_reads_as_its_letters() -> None:
    assert compiled_host("http://xn--mnchen-3ya.de/") == compiled_host("http://münchen.de/")


def compiled_host(url: str) -> list[int]:
    batch = encode([url])
    pointers = ngrams.count_features(batch.buffer, batch.offsets, BITS)
    indices, values = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], np.float32)
    ngrams.fill_features(batch.buffer, batch.offsets, BITS, pointers, indices, values)
    return sorted(indices.tolist())


def test_a_broken_internationalised_label_stays_as_it_is() -> None:
    assert bytes(encode(["http://xn--9999999999.de/"]).buffer) == b"http://xn--9999999999.de/"


def test_one_string_is_refused_as_a_batch() -> None:
    with pytest.raises(TypeError, match="sequence of URLs"):
        encode("http://example.de/")


def test_a_huge_url_costs_no_more_than_its_first_bytes() -> None:
    batch = encode(["http://x.de/" + "ab/" * 700_000])
    pointers = ngrams.count_features(batch.buffer, batch.offsets, BITS)
    assert 0 < pointers[-1] < ngrams.MAX_BYTES * 12
