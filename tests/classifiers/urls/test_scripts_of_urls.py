"""A Thai, Russian or Japanese path tells its language, whatever it is encoded in."""

from urllib.parse import quote_from_bytes

import numpy as np
import pytest

from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Prior

TEXTS = {
    "ru": "новости-политики-сегодня погода/прогноз-на-неделю Россия/экономика/статьи"
    " форум/купить-автомобиль Заглавная_страница",
    "uk": "новини/політика Головна_сторінка форум/купити-автомобіль",
    "bg": "Начална_страница время/прогноза-за-седмицата форум/купуване-на-автомобил",
    "ja": "ニュース/今日の天気 日本語/メインページ お問い合わせ 会社案内/お知らせ 東京の天気予報",
    "th": "ข่าวการเมืองวันนี้ หน้าหลัก ประเทศไทย/ข่าว พยากรณ์อากาศ ติดต่อเรา",
}
# Bytes of EUC-JP and TIS-620 may stand for Chinese, which such a path may be taken for as well.
OLD = {"ru": ("cp1251", "koi8_r"), "ja": ("shift_jis", "euc_jp"), "th": ("tis_620",)}
CASES = [
    (text, encoding, language)
    for language, texts in TEXTS.items()
    for text in texts.split()
    for encoding in ("utf_8", *OLD.get(language, ()))
]


@pytest.mark.parametrize(("text", "encoding", "language"), CASES)
def test_a_path_tells_its_language(
    model: UrlModel, text: str, encoding: str, language: str
) -> None:
    url = f"http://www.example.com/{quote_from_bytes(text.encode(encoding), safe='/-_')}"
    if encoding in ("euc_jp", "tis_620"):
        assert model.score([url], language)[0] > 0 > model.score([url], "de")[0]
        return
    shares = model.shares([url], Prior.web())[0]
    first = [model.named_languages[at] for at in np.argsort(-shares)[:3].tolist()]
    # Words in old encodings of Cyrillic are Bulgarian or Ukrainian as probably as Russian.
    is_close = language == "ru" and encoding != "utf_8"
    assert language in (first if is_close else first[:1])
