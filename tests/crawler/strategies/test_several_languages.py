"""Crawls for several languages: a page or a URL in any of them is good."""

from pathlib import Path

import pytest

from langfocus.classifiers.languages import accept_language
from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.errors import SettingError
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.configured import page_method
from langfocus.crawler.reading.page import page_reader
from langfocus.crawler.report.crawl import headline
from langfocus.crawler.report.harvest import summarise
from langfocus.crawler.sources.seeds import first_of
from langfocus.crawler.sources.sitemaps import read_sitemap
from langfocus.crawler.strategies import ORDERINGS, make_ordering
from langfocus.crawler.strategies.focus.evidence import Evidence, either_of, probability_of
from langfocus.crawler.strategies.links import LinkSource
from langfocus.crawler.strategies.orderings import BREADTH_FIRST
from tests.support.keptpages import begun
from tests.support.report_run import Row, make_run
from tests.support.smallweb import SENTENCES

URLS = ["http://a.pt/noticias/", "http://b.es/noticias/", "http://c.de/wald/", "http://d.org/x"]


def read(lang: str, **arguments: str) -> Config:
    return Config.read({"lang": lang, "seeds": "http://a.pt/", **arguments})


@pytest.mark.parametrize("lang", ["es,pt", "pt, es", "pt+es", "Portuguese,es-MX,pt-BR"])
def test_the_order_and_spelling_of_languages_do_not_matter(lang: str) -> None:
    config = read(lang)
    assert (config.lang, config.targets, config.title()) == ("es,pt", ("es", "pt"), "es+pt-focus")


@pytest.mark.parametrize("lang", ["es,", ",", "es,klingonese", "es;pt"])
def test_each_language_must_be_known(lang: str) -> None:
    with pytest.raises(SettingError, match="no such language"):
        read(lang)


def test_the_shipped_seeds_of_all_languages_are_joined() -> None:
    one, other, both = (
        first_of(Config.read({"lang": lang}).seeds) for lang in ("es", "pt", "es,pt")
    )
    assert set(both) == {*one, *other}
    assert len(both) == len(set(both))
    with pytest.raises(SettingError, match="has no seed list"):
        Config.read({"lang": "pt,frp"})


@pytest.mark.parametrize("name", sorted({*ORDERINGS} - {"focus"}))
def test_a_score_is_the_best_of_the_languages(name: str) -> None:
    every = [make_ordering(name, lang).scores(URLS, LinkSource()) for lang in ("es", "pt")]
    both = make_ordering(name, "es,pt")
    assert both.scores(URLS, LinkSource()) == list(map(max, *every))
    assert both.draw == make_ordering(name, "es").draw


def test_focus_is_as_sure_of_a_url_in_either_language_as_of_one_in_a_known() -> None:
    evidence = make_ordering("focus", "es,pt").evidence_of
    assert evidence is not None
    found = dict(zip(URLS, evidence(URLS, {URLS[3]: True}), strict=True))
    assert found["http://a.pt/noticias/"].top_level == found["http://b.es/noticias/"].top_level == 1
    assert found["http://c.de/wald/"].top_level == -1
    assert found["http://d.org/x"].declared == 1
    assert found["http://c.de/wald/"].first_score() < 0 < found["http://b.es/noticias/"].named


def test_probabilities_of_languages_are_added_up_but_what_no_model_says_is_nothing() -> None:
    assert probability_of(either_of([Evidence(-0.5), Evidence(-0.6)]).named) == pytest.approx(
        probability_of(-0.5) + probability_of(-0.6), abs=0.01
    )
    assert either_of([Evidence(7.9), Evidence(8.0)]).named == 8
    assert either_of([Evidence(), Evidence()]) == Evidence()
    assert either_of([Evidence(), Evidence(-3.0, code=-1)]) == Evidence(-3.0)


def test_declarations_in_any_of_the_languages_count() -> None:
    seen: list[LinkSource] = []

    def accepted(urls: object, source: LinkSource) -> list[str]:
        seen.append(source)
        return []

    text = SENTENCES["en"] * 3
    links = "".join(
        f"<link rel=alternate hreflang={tag} href=/{tag}>" for tag in ("de", "en-GB", "fr")
    )
    page = Download("http://a.de/", 200, f"{links}<p>{text}".encode(), "text/html")
    reader = page_reader(page_method("composite"), BREADTH_FIRST, "de,en", accepted=accepted)
    assert reader(page, 0).language == "en"
    assert seen[0].is_relevant
    assert seen[0].declared == {"http://a.de/de", "http://a.de/en-GB"}
    assert seen[0].declared_other == {"http://a.de/fr"}

    feed = b"<?xml version='1.0'?><rss><channel><language>en</language><item><link>http://a.de/1"
    feed += b"</link></item></channel></rss>"
    for target, is_declared in (("de,en", True), ("de,fr", False)):
        found = read_sitemap(feed, "http://a.de/feed", target)
        assert found is not None
        assert found.links == {"http://a.de/1": is_declared}


def test_a_page_in_either_language_counts_and_each_has_its_rate(tmp_path: Path) -> None:
    languages = ["de", "de", "de", "en", "en", "fr", None]
    rows = [Row(f"http://a.de/{n}", language=lang) for n, lang in enumerate(languages)]
    rows.append(Row("http://a.de/copy", language="en", is_copy=1))
    summary = summarise(make_run(tmp_path, rows, lang="de,en"))
    assert (summary.relevant, summary.labelled, summary.copies) == (5, 7, 1)
    assert summary.as_json()["relevant_by_language"] == {"de": 3, "en": 2}
    assert summary.harvest_by_200[0].relevant == 5
    rates = {name: figure for name, figure in headline(summary) if name.startswith("harvest")}
    assert rates["harvest rate, German"] == 3 / 7
    assert rates["harvest rate, English"] == 2 / 7
    assert rates["harvest rate"] == rates["harvest rate, last 200 pages"] == 5 / 7
    assert "relevant_by_language" not in summarise(make_run(None, rows, lang="de")).as_json()


def test_a_crawl_stores_the_set_and_its_texts_are_of_both(tmp_path: Path) -> None:
    crawl = begun(tmp_path / "run", lang="en,de", strategy="focus")
    for name, lang in (("1", "de"), ("2", "en"), ("3", "fr")):
        url, body = f"http://a.de/{name}", f"<p>{SENTENCES[lang] * 4}".encode()
        crawl.frontier.seed(crawl.visitor.links([url], LinkSource()), crawl.clock())
        lease = crawl.frontier.next(crawl.clock())
        assert lease is not None
        crawl.visitor.answered(lease, Download(lease.url, 200, body, "text/html"))
    counts = crawl.queue.counts()
    assert (counts.pages, counts.relevant) == (3, 2)
    stored = crawl.run.connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
    assert stored == ("de,en",)
    crawl.close("finished")
    assert summarise(tmp_path / "run").relevant_by_language == {"de": 1, "en": 1}
    # Without WARC files no text is kept; a page in a third language is of another kind.
    assert source_of(tmp_path / "run", None).left_out == {
        "not in the WARC files": 2,
        "in another language": 1,
    }


def test_servers_are_asked_for_all_languages() -> None:
    assert accept_language("gl") == "gl,*;q=0.1"
    assert accept_language("gl,pt") == "gl,pt,*;q=0.1"
