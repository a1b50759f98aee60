"""Words of texts as evidence for the language of a URL."""

import numpy as np
import pytest

from langfocus.classifiers.urls.model import UrlModel


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://www.example.com/2024/05/hiru-urteko-bidaia-egin-du", "eu"),
        ("https://www.example.com/2024/omukulembeze-wa-uganda-ategeezezza-nti", "lg"),
        ("https://www.example.com/2024/mutungamiri-wenyika-akati-vanhu-vazhinji", "sn"),
        ("https://www.example.com/article/mokonzi-ya-mboka-alobaki-ete-bato", "ln"),
        ("https://www.example.com/ba-m%C9%94g%C9%94-minnu-b%C9%9B-taa-y%C9%9Br%C9%94-la", "bm"),
        ("https://www.example.com/2024/05/the-best-of-the-world-this-week", "en"),
        ("https://www.example.com/2024/05/presidente-del-gobierno-de-la-ciudad", "es"),
    ],
)
def test_a_slug_names_the_language_of_its_words(model: UrlModel, url: str, language: str) -> None:
    assert model.identify(url).language == language


def test_one_word_a_repeated_word_and_pieces_of_identifiers_are_little_evidence(
    model: UrlModel,
) -> None:
    column = model.named_languages.index("eu")

    def odds(path: str) -> float:
        share = model.shares([f"https://www.example.com/2024/{path}"])[0, column]
        return float(np.log(share / (1 - share)))

    once, twice = odds("urteko"), odds("urteko-urteko")
    assert odds("hiru-urteko-bidaia") > once + 3
    assert twice < once + 1
    assert odds("7hiru7urteko7bidaia7") < once
