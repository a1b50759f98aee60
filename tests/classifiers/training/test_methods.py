"""`python -m classifiers.training.methods`: what learns from texts and pages, by name."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.pages.method import Surroundings
from langfocus.classifiers.papers.page_cases import text_page
from langfocus.classifiers.training.methods import NAMES, main
from tests.crawler.commands.test_page_study_command import SENTENCES, write_pages, write_texts

URLS = "url\tlang\tlabel_kind\tsource\nhttp://a.de/\tde\tk\ts\nhttp://b.fr/\tfr\tk\ts\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_texts(folder / "texts.tsv")
    write_pages(folder / "pages")
    (folder / "urls.tsv").write_text(URLS)
    (folder / "bare.tsv").write_text("text\tlang\nEin Text\tde\n")
    (folder / "empty.tsv").write_text("text\tlang\tkind\tsource\n")
    one_more = "Noch ein Satz.\tde\tsentence\tmade\n"
    (folder / "more.tsv").write_text((folder / "texts.tsv").read_text() + one_more)
    return folder


def trained(method: str, data: Path, *arguments: str) -> Any:
    """The method, trained and read from its file."""
    file = data.parent / f"{method}.npz"
    main([method, str(data), "--output", str(file), *arguments])
    module: Any = import_module(NAMES[method])
    return module.load(file)


@pytest.mark.parametrize("method", ["cavnar-trenkle", "nfc"])
@pytest.mark.parametrize(("data", "rows"), [("texts.tsv", 24), ("pages", 12)])
def test_a_method_is_trained_from_texts_or_the_texts_of_pages(
    method: str, data: str, rows: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned = trained(method, folder / data)
    assert f"{rows} usable rows, 0 rows left out" in capsys.readouterr().out
    assert learned.languages == set(SENTENCES)
    for language, sentences in SENTENCES.items():
        assert learned.identify(text_page(sentences[0])).language == language


@pytest.mark.parametrize(
    ("options", "languages"),
    [
        (["--kinds", "sentence"], set(SENTENCES)),
        (["--min-texts", "6"], set(SENTENCES)),
        (["--min-texts", "7"], {"de"}),
    ],
)
def test_part_of_the_texts_can_be_learned_from(
    folder: Path, options: list[str], languages: set[str]
) -> None:
    assert trained("nfc", folder / "more.tsv", *options).languages == languages


def test_a_share_can_be_held_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained("nfc", folder / "texts.tsv", "--held-out", "0.4")
    assert 0 < int(capsys.readouterr().out.partition(" usable rows")[0]) < 24


@pytest.mark.parametrize("data", ["pages", "urls.tsv"])
def test_top_level_domains_are_learned_from_pages_or_labelled_urls(folder: Path, data: str) -> None:
    learned = trained("top-level-domain", folder / data)
    assert learned.identify(text_page(""), Surroundings(url="http://x.fr/")).language == "fr"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nfc", "urls.tsv"], "nfc learns from texts"),
        (["nfc", "none.tsv"], "none.tsv"),
        (["nfc", "bare.tsv"], "no column kind, source"),
        (["nfc", "empty.tsv"], "no usable rows"),
        (["nfc", "texts.tsv", "--kinds", "poem"], "no usable rows"),
        (["nfc", "texts.tsv", "--least-appearances", "2"], "is for byte-ngrams"),
        (["top-level-domain", "texts.tsv"], "learns from URLs"),
    ],
)
def test_data_that_a_method_cannot_learn_from_are_one_line(
    arguments: list[str], said: str, folder: Path
) -> None:
    method, data, *options = arguments
    with pytest.raises(SystemExit) as ended:
        main([method, str(folder / data), *options])
    assert said in str(ended.value)
    assert "\n" not in str(ended.value)
