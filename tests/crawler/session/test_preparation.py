"""What is checked before a crawl: its language, which a part of the project may not know."""

from pathlib import Path

import pytest

from langfocus.classifiers.pages.methods import DEFAULT_METHOD, method
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import IDENTITY, SEED_FOLDER, Config
from langfocus.crawler.reading.configured import page_method
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.session.preparation import check_language, gaps, prepare
from langfocus.crawler.strategies import make_ordering
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support.crawls import crawl, summary
from tests.support.fasttextmodel import write_model

SEEDS = ("http://a.fo/",)


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        ("de", []),
        ("fo", ["does not know Faroese: the frontier is ordered by domains and codes in URLs"]),
        ("eo", ["the URL model does not know Esperanto: the frontier is ordered by domains"]),
        (
            "vo",
            [
                "the URL model does not know Volapük",
                "the text model does not know Volapük: pages that declare it count if",
                "no seeds ship for Volapük",
            ],
        ),
    ],
)
def test_each_part_that_does_not_know_a_language_is_named(lang: str, expected: list[str]) -> None:
    found = gaps(Config(lang, seeds=SEEDS), make_ordering("focus", lang), method())
    assert len(found) == len(expected)
    assert all(text in value for text, value in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("strategy", "lang", "expected"),
    [
        (
            "svm",
            "ga",
            "the URL model does not know Irish: the frontier is ordered by domains and codes",
        ),
        ("cctld", "de,ga", "no top-level domain is of Irish: cctld draws from all other URLs"),
    ],
)
def test_an_ordering_without_knowledge_of_the_language_says_so(
    strategy: str, lang: str, expected: str
) -> None:
    config = Config(lang, strategy=strategy, seeds=SEEDS)
    first = gaps(config, make_ordering(strategy, lang), method())[0]
    assert first.startswith(expected)
    assert "learns" not in first


def test_a_crawl_begins_at_the_seeds_of_its_web_unless_its_spider_brings_others() -> None:
    given = {"lang": "de", "web": "sample"}
    settings = {"LANGFOCUS_SAMPLE_HOSTS": 20}
    assert prepare(Config.read(given, settings)).config.seeds
    assert prepare(Config.read({**given, "seeds": ()}, settings)).config.seeds == ()


def test_a_run_keeps_each_option_that_binds_it() -> None:
    """One that is missing would count as the same in each session."""
    kept = prepare(Config("de", web="sample")).meta
    assert [name for name in IDENTITY if name not in kept] == ["hosts"]  # of a census


def test_an_ordering_that_was_chosen_is_no_gap() -> None:
    assert gaps(Config("fo", strategy="bfs"), make_ordering("bfs", "fo"), method()) == ()


def test_a_method_that_cannot_name_the_language_is_told() -> None:
    (gap,) = gaps(Config("gl", strategy="bfs"), make_ordering("bfs", "fo"), method("langdetect"))
    assert gap == ("the method langdetect does not know Galician: no page will count as relevant")


def test_a_language_beyond_the_codes_needs_a_model_that_reads_it(tmp_path: Path) -> None:
    model = write_model(tmp_path / "tiny.bin", {"nog_Cyrl": "ногай", "chv": "чӑваш"})
    with pytest.raises(SettingError, match=r"lang=nog: no model here reads Nogai; LANGFOCUS_FAST"):
        check_language("nog", method())
    pytest.importorskip("fasttext")
    joined = method(DEFAULT_METHOD, model)
    check_language("nog", joined)
    with pytest.raises(SettingError, match="no model here reads Bakhtiari"):
        check_language("bqi", joined)
    (gap,) = gaps(
        Config("nog", strategy="soft", seeds=SEEDS, web="sample"),
        make_ordering("soft", "nog"),
        joined,
    )
    assert gap == "the text model does not know Nogai: a model of fastText identifies its pages"


def test_a_file_that_is_no_model_of_fasttext_is_a_wrong_setting(tmp_path: Path) -> None:
    pytest.importorskip("fasttext")
    (tmp_path / "a.bin").write_bytes(b"no model")
    with pytest.raises(SettingError, match=r"^LANGFOCUS_FASTTEXT_MODEL: .*a.bin: not a whole"):
        page_method(DEFAULT_METHOD, tmp_path / "a.bin")


def test_a_crawl_tells_its_gaps_at_its_start_and_in_its_report(tmp_path: Path) -> None:
    page = http("<html lang=vo><p>Vol e pük".encode(), "Content-Type: text/html")
    archive = write(tmp_path / "a.warc", record("http://a.de/", page))
    folder = tmp_path / "run"
    done = crawl(
        *("lang=Volapük", "web=archive", f"archive={archive}", "seeds=http://a.de/"), JOBDIR=folder
    )
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    figures = summary(folder)["gaps"]
    assert notes == [f"note: {gap}" for gap in figures]
    assert [gap.split(" know ")[0] for gap in figures] == [
        "the URL model does not",
        "the text model does not",
    ]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert all(gap in report for gap in figures)
    assert "gaps" not in summary(folder)["settings"]


def test_svm_is_refused_for_a_language_that_the_model_lacks(tmp_path: Path) -> None:
    lacking = min(PROJECT_CODES - set(UrlModel.load().languages))
    config = Config(lacking, strategy="svm", seeds=SEEDS, run_folder=tmp_path / "run")
    with pytest.raises(SettingError, match="the URL model does not know"):
        open_crawl(config)
    assert not (tmp_path / "run").exists()


def test_a_language_without_a_seed_list_says_what_to_do() -> None:
    lacking = next(c for c in sorted(PROJECT_CODES) if not (SEED_FOLDER / f"{c}.txt").exists())
    with pytest.raises(SettingError, match=r"has no seed list .* give -a seeds=FILE or URLs"):
        Config.read({"lang": lacking})
