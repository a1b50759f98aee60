"""How a crawl is put together from its options."""

from pathlib import Path

import pytest

from classifiers import languages
from classifiers.urls.model import UrlModel
from crawler.config import SEED_FOLDER, Config
from crawler.errors import SettingError
from crawler.opening import open_crawl

UNKNOWN_TO_THE_MODEL = sorted(languages.known() - set(UrlModel.load().languages))


def strategy_for(lang: str, folder: Path, strategy: str = Config.strategy) -> str:
    seeds = ("http://example.org/",)
    crawl = open_crawl(Config(lang, strategy=strategy, seeds=seeds, run_folder=folder))
    crawl.close("finished")
    return crawl.ordering.name


def test_a_crawl_without_a_strategy_learns_in_any_language(tmp_path: Path) -> None:
    with_domain = next(code for code in UNKNOWN_TO_THE_MODEL if languages.tlds_of(code))
    without = next(code for code in UNKNOWN_TO_THE_MODEL if not languages.tlds_of(code))
    for lang in ("de", with_domain, without):
        assert strategy_for(lang, tmp_path / lang) == "focus"


def test_svm_is_refused_for_a_language_that_the_model_lacks(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="the URL model does not know"):
        strategy_for(UNKNOWN_TO_THE_MODEL[0], tmp_path / "run", "svm")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("path", sorted(SEED_FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_every_seed_list_starts_a_crawl(path: Path) -> None:
    options = Config.read({"lang": path.stem})
    assert len(options.seeds) >= 4


def test_a_language_without_a_seed_list_says_what_to_do() -> None:
    lacking = next(c for c in sorted(languages.known()) if not (SEED_FOLDER / f"{c}.txt").exists())
    with pytest.raises(SettingError, match=r"has no seed list .* give -a seeds=FILE or URLs"):
        Config.read({"lang": lacking})


def test_seeds_come_from_urls_or_a_file_once_each(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("# mine\nhttp://A.de\n\nhttp://a.de/\nhttps://b.de/x#y\n")
    expected = ("http://a.de/", "https://b.de/x")
    assert Config.read({"lang": "de", "seeds": str(file)}).seeds == expected
    assert Config.read({"lang": "de", "seeds": ",".join(expected)}).seeds == expected
    file.write_text("# nothing\n")
    with pytest.raises(SettingError, match="no URL to start from"):
        Config.read({"lang": "de", "seeds": str(file)})
