"""A Thai, Russian or Japanese path tells its language, whatever it is encoded in."""

from urllib.parse import quote_from_bytes

import numpy as np
import pytest

from classifiers.urls.model import UrlModel
from classifiers.urls.posteriors import Prior

RUSSIAN = [
    "новости-политики-сегодня",
    "погода/прогноз-на-неделю",
    "Россия/экономика/статьи",
    "форум/купить-автомобиль",
    "Заглавная_страница",
]
JAPANESE = [
    "ニュース/今日の天気",
    "日本語/メインページ",
    "お問い合わせ",
    "会社案内/お知らせ",
    "東京の天気予報",
]
THAI = ["ข่าวการเมืองวันนี้", "หน้าหลัก", "ประเทศไทย/ข่าว", "พยากรณ์อากาศ", "ติดต่อเรา"]
UKRAINIAN = ["новини/політика", "Головна_сторінка", "форум/купити-автомобіль"]
BULGARIAN = ["Начална_страница", "време/прогноза-за-седмицата", "форум/купуване-на-автомобил"]
NAMED = [
    *((text, "utf_8", "ru") for text in RUSSIAN),
    *((text, "utf_8", "uk") for text in UKRAINIAN),
    *((text, "utf_8", "bg") for text in BULGARIAN),
    *((text, encoding, "ru") for text in RUSSIAN for encoding in ("cp1251", "koi8_r")),
    *((text, encoding, "ja") for text in JAPANESE for encoding in ("utf_8", "shift_jis")),
    *((text, "utf_8", "th") for text in THAI),
]
# Bytes of both may stand for Chinese, which such a path may be taken for as well.
SAID = [
    *((text, "euc_jp", "ja") for text in JAPANESE),
    *((text, "tis_620", "th") for text in THAI),
]


@pytest.fixture(scope="module")
def model() -> UrlModel:
    return UrlModel.load()


def url(text: str, encoding: str) -> str:
    return f"http://www.example.com/{quote_from_bytes(text.encode(encoding), safe='/-_')}"


@pytest.mark.parametrize(("text", "encoding", "language"), NAMED)
def test_a_path_names_its_language(
    model: UrlModel, text: str, encoding: str, language: str
) -> None:
    shares = model.shares([url(text, encoding)], Prior.web())[0]
    first = [model.named_languages[at] for at in np.argsort(-shares)[:3].tolist()]
    # Words in old encodings of Cyrillic are Bulgarian or Ukrainian as probably as Russian.
    is_close = language == "ru" and encoding != "utf_8"
    assert language in (first if is_close else first[:1])


@pytest.mark.parametrize(("text", "encoding", "language"), SAID)
def test_the_classifier_of_a_language_knows_its_older_encodings(
    model: UrlModel, text: str, encoding: str, language: str
) -> None:
    assert model.score([url(text, encoding)], language)[0] > 0
    assert model.score([url(text, encoding)], "de")[0] < 0
