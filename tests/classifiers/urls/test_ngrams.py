"""The features of a URL, and the buffer they are made of."""

from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pytest

from langfocus.classifiers.urls import ngrams
from langfocus.classifiers.urls.batch import MAX_CHARACTERS, encode

BITS = 17


def features(url: str, bits: int = BITS) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """The buckets of a URL's features and their values."""
    _, indices, values = ngrams.csr(encode([url]), 1, bits)
    return indices, values


def listed(url: str) -> list[tuple[int, float]]:
    indices, values = features(url)
    return sorted(zip(indices.tolist(), values.tolist(), strict=True))


# Made when a second implementation, in plain Python, still gave the same.
DIGESTS = {
    "": (0, "f48212d320c4"),
    "http://": (0, "f48212d320c4"),
    "http://www.hi-fly.de/wetter/Berlin/index.html": (54, "6ceeeb55c3b6"),
    "https://de.wikipedia.org/wiki/%C3%9Cbersicht?lang=de&x=en-us": (111, "33dce38d66db"),
    "http://user:secret@example.co.uk:8080/a/bb/ccc": (43, "cc7803c2da26"),
    "http://kremlin.ru./%D0%9F%D1%80%D0%B5/привет/ПРИВЕТ": (106, "3595043540e7"),
    "http://x.com/%cf%f0%e8%e2%e5%f2": (34, "5137b0ba1521"),
    "http://a.b@news.fr\\x.it": (15, "d511e034f418"),
    "//www.www.dw.de/": (6, "9b96ecb78887"),
    "HTTP://WWW.TELEGRAPH.CO.UK/News?id=7&hl=en#top": (71, "f04b4c7c9b40"),
    "http://пример.РФ/日本語/ไทย/ǅ-İ-ß": (60, "1e0c8b98db92"),
    "http://x.de/%E0%B8%A7%E0%B8%/%4/%zz/%ed%a0%80/%f5": (31, "7bf5e1fe54bf"),
    "http://localhost/a.de": (40, "e827c2d2f167"),
    "/de/en/fr/it/es/nl/pl/ru/uk/el/fi/sv/no/da/hu/cs/sk/sl/hr/sr/bg/ro/tr/ar/fa": (
        99,
        "8ed8a47839f1",
    ),
    f"http://x.org/{4 * 'nachrichtenagentur'}": (232, "2ececac850f9"),
    "http://1.2.3.4/٣/ابپ/می\u200cخواهم": (62, "ad5f2b21d7fc"),  # noqa: RUF001
    "http://x.de/a\nb/İstanbul": (34, "7e778422ec5e"),
    "http://x.gr/ΑΘΗΝΑ/Ģ/ŽĽ/Ѐ": (34, "2777eb959fd2"),
    "\\\\host.pl\\index.htm\\https": (11, "6a20cee86926"),
    "http://x.de/\udcff😀𠀀": (26, "a8b42e3d2835"),
}


@pytest.mark.parametrize(("url", "digest"), DIGESTS.items(), ids=range(len(DIGESTS)))
def test_the_features_of_a_url_are_those_that_models_have_learned(
    url: str, digest: tuple[int, str]
) -> None:
    found = listed(url)
    assert (len(found), blake2b(repr(found).encode(), digest_size=6).hexdigest()) == digest


def test_the_number_of_each_kind_of_feature_is_that_of_its_letters() -> None:
    url = "http://www.Wetter.co.uk:80/de/index.html"
    # wetter: 6 + 5 + 4 + 3 + 2 n-grams and itself; co and de: 3 each, and themselves between their
    # signs; .uk and .co.uk
    assert len(listed(url)) == 20 + 1 + 2 * (3 + 1) + 2


def test_one_string_is_refused_as_a_batch() -> None:
    with pytest.raises(TypeError, match="sequence of URLs"):
        encode("http://example.de/")


def test_a_huge_url_costs_no_more_than_its_first_bytes() -> None:
    assert 0 < len(listed("http://x.de/" + "ab/" * 700_000)) < MAX_CHARACTERS * 12
