"""A crawl whose pages are identified by a text model of the user's own."""

from pathlib import Path

import pytest

from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from tests.support.commandline import call

WORDS = {
    "gl": "unha palabra galega que non hai noutra lingua porque xa chove moito na rúa deles",
    "pt": "uma palavra portuguesa que não existe noutra língua porque já chove muito na rua deles",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    rows = [
        f"{' '.join(words[n % 7 :] + words[: n % 7])}\t{code}\tsentence\town"
        for code, words in ((code, text.split()) for code, text in WORDS.items())
        for n in range(40)
    ]
    (folder / "texts.tsv").write_text("\n".join(["text\tlang\tkind\tsource", *rows]) + "\n")
    assert call("train", folder / "texts.tsv", "--output", folder / "own.npz") == 0
    return folder / "own.npz"


def config(model: Path, lang: str = "gl") -> Config:
    return Config.read({"lang": lang, "seeds": "http://a.gal/", "identify": str(model)})


def test_a_crawl_reads_with_the_model_and_is_bound_to_it(model: Path) -> None:
    prepared = prepare(config(model))
    assert prepared.meta["identify"] == str(model)
    assert not [gap for gap in prepared.gaps if "pages" in gap]
    by = method(str(model))
    assert by.languages == {"gl", "pt"}
    for code, text in WORDS.items():
        page = parse_page(
            f"<p>{text} {text}".encode(), content_type="text/html; charset=utf-8", url=""
        )
        assert by.identify(page).language == code


def test_a_declared_language_that_the_model_lacks_is_no_label(model: Path) -> None:
    page = parse_page(b"<html lang=de><p>123 x</p>", content_type="text/html", url="")
    assert method("composite").identify(page).language == "de"
    assert method(str(model)).identify(page).language is None


def test_a_language_that_the_model_lacks_is_refused(model: Path) -> None:
    for lang in ("de", "gl,de"):
        with pytest.raises(SettingError, match=r"^-a lang=de: the model own.npz does not know it"):
            prepare(config(model, lang))


def test_a_file_that_is_no_text_model_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.npz").write_bytes(model.read_bytes()[:100])
    for name in ("broken.npz", "absent.npz"):
        with pytest.raises(SettingError, match=f"^-a identify=.*{name}"):
            prepare(config(tmp_path / name))
    with pytest.raises(ModelError, match=r"url-v3.npz"):
        method("classifiers/models/url-v3.npz")
    with pytest.raises(SettingError, match="no such identify"):
        config(tmp_path / "model.bin")
