"""How the figures of the README and the guide are measured, in groups of a few minutes.

A group yields the name and the value of each figure, and names the files and folders whose code,
models and tables decide them. `benchmarks.figures` runs the groups.
"""

import csv
import math
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import Final, NamedTuple

import numpy as np

from benchmarks import capweb, harvest, host_cap, proxyweb, speed, urls
from langfocus.classifiers.datasets.rows import LabelledUrl, LabelledUrls, split
from langfocus.classifiers.datasets.texts import LabelledPages, LabelledTexts
from langfocus.classifiers.pages.method import PageMethod
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page
from langfocus.classifiers.pages.text.textengine import LangfocusEngine
from langfocus.classifiers.papers.evaluation import Decisions
from langfocus.classifiers.training.assessment import table
from langfocus.classifiers.training.examples import FIVE
from langfocus.classifiers.training.urls import capped, usable
from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.commands.identify import language_records

Value = int | float
Figures = Iterator[tuple[str, Value]]

LIES: Final = ("de", "fr", "fi", "id", "ru", "en", "es", "tr", "fy")
"""The languages that a page declares falsely; the text model does not know the last."""
BANDS: Final[dict[str, tuple[int, int | None]]] = {
    "short": (8, 24),
    "medium": (25, 51),
    "long": (52, None),
}
"""The least and most letters of a text; a long one is whole."""
TEXTS_OF_BAND: Final = 600


class Group(NamedTuple):
    """Figures that are measured together.

    `code` has patterns of files and names of folders of the checkout, with blanks between.
    `minutes` is the time on two quiet cores. A group that `is_outside` needs `../shared`.
    """

    measure: Callable[[], Figures]
    code: str
    minutes: int
    is_outside: bool = True


def measure_harvest() -> Figures:
    """Harvest rates on web 1 after 1,000 pages, by the server's judge, and what web 1 is."""
    proxyweb.require()
    with tempfile.TemporaryDirectory() as folder, proxyweb.serve(Path(folder), seed=1):
        yield from web_facts(Path(folder) / "truth.tsv")
    for lang, rule, strategy in product(("de", "fr"), harvest.RULES, harvest.LEAST):
        judged = harvest.run(1, lang, strategy, rule, 1000)
        yield f"{lang}.{rule}.{strategy}", round(100 * judged["harvest_rate"], 1)


def web_facts(truth: Path) -> Figures:
    """Return how many hosts, languages, real and made-up paths a generated web has."""
    with truth.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    inner = {
        row["url"] for row in rows if row["url"].count("/") > 3 or not row["url"].endswith("/")
    }
    real = {re.sub("^https://", "http://", row.url) for row in LabelledUrls(proxyweb.URLS)}
    yield "hosts", len({row["url"].split("/")[2] for row in rows})
    yield "languages", len({row["lang"] for row in rows})
    yield "real", round(100 * len(inner & real) / len(rows))
    yield "made-up", round(100 * len(inner - real) / len(rows))


def measure_url_model() -> Figures:
    """F1 of the shipped URL model on domains that were held back, from its evaluation."""
    facts = UrlModel.load().facts["evaluation"]
    for name in ("five", "cctld", "all"):
        yield name, round(facts[name]["mean_f1"], 1)


def measure_unseen() -> Figures:
    """F1 of five languages with at most three URLs a domain, and of fastText on the same rows.

    Both learn the same URLs of the other domains. `one-of-five` counts the best language alone.
    """
    proxyweb.require()
    train, test = split(usable(LabelledUrls(proxyweb.URLS)), seed=0)
    learn, held_out = (
        [row for row in capped(part, limit) if row.language in FIVE]
        for part, limit in ((train, 20), (test, 3))
    )
    ours, fasttext = urls.five_languages(learn), urls.fasttext(learn)
    yield "yes-or-no", round(_f1(ours, held_out), 1)
    yield "one-of-five", round(_f1(ours, held_out, _best), 1)
    yield "fasttext", round(_f1(fasttext, held_out), 1)


def _f1(
    one: urls.Contestant,
    rows: Sequence[LabelledUrl],
    of: Callable[[urls.Contestant, list[str]], Decisions] | None = None,
) -> float:
    """Return the mean F1 of the five languages in percent."""

    def decide(found: Sequence[str], _: Sequence[str]) -> Decisions:
        texts = [one.prepare(url) for url in found]
        return of(one, texts) if of else one.decide(texts)  # type: ignore[misc]  # a field that is a function

    mean: float = table(decide, rows, FIVE)["mean_f1"]
    return mean


def _best(one: urls.Contestant, texts: list[str]) -> Decisions:
    """Yes for the language with the greatest decision value."""
    best: Decisions = np.asarray(one.score(texts)).argmax(axis=1)[:, None] == np.arange(len(FIVE))
    return best


def measure_pages() -> Figures:
    """Share of real pages that the default method names rightly."""
    found = method()
    pages = list(LabelledPages(proxyweb.SHARED / "data" / "pages"))
    right = [_name(found, page.body, page.url) == page.language for page in pages]
    yield "number", len(pages)
    yield "right", round(100 * fmean(right), 1)


def _name(by: PageMethod, body: bytes, url: str = "") -> str | None:
    page = parse_page(body, content_type=None, url=url or "http://page.invalid/")
    return by.identify(page).language


def measure_lies() -> Figures:
    """Share of labels that change where the declaration and the address of a page are false."""
    proxyweb.require()
    found, texts = method(), texts_of_bands(proxyweb.TEXTS)
    for band, of_band in texts.items():
        honest = [_name(found, f"<p>{text}".encode()) for text in of_band]
        changed = [
            label is not None and label != lie and _name(found, *lying(text, lie)) != label
            for (text, label), lie in product(zip(of_band, honest, strict=True), LIES)
        ]
        yield band, round(100 * fmean(changed), 1)


def lying(text: str, lie: str) -> tuple[bytes, str]:
    """Return a page with a false `lang`, and a false address."""
    top = {"en": "co.uk", "fy": "nl"}.get(lie, lie)
    return f'<html lang="{lie}"><p>{text}'.encode(), f"http://www.news.{top}/{lie}/index.html"


def texts_of_bands(path: Path) -> dict[str, list[str]]:
    """Return the beginnings of sentences with some numbers of letters, evenly over languages."""
    draw, of_language = random.Random(0), defaultdict(list)
    for row in LabelledTexts(path):
        if row.kind == "sentence":
            of_language[row.language].append(row.text)
    found: dict[str, list[str]] = {}
    for band, (least, most) in BANDS.items():
        size = -(-TEXTS_OF_BAND // len(of_language))
        cut = [
            text if most is None else beginning(text, draw.randint(least, most), most)
            for texts in of_language.values()
            for text in draw.sample(texts, min(len(texts), size))
        ]
        found[band] = [text for text in cut if least <= letters(text) <= (most or math.inf)]
    return found


def letters(text: str) -> int:
    """Return the number of letters of a text."""
    return sum(map(str.isalpha, text))


def beginning(text: str, least: int, most: int) -> str:
    """Return the first words of a text, or of an unspaced one its first signs."""
    ends = [at.start() for at in re.finditer(r"\s|$", text)]
    ends = [end for end in ends if least <= letters(text[:end]) <= most] or [least]
    return text[: ends[0]]


def measure_speed() -> Figures:
    """Pages a second divided by those of plain Scrapy and of `svm`, three rounds in turn, 5 KB."""
    proxyweb.require()
    crawlers = (speed.OURS, "svm", "scrapy")
    rounds = [{who: speed.measure(who, 3000, 5).speed for who in crawlers} for _ in range(3)]
    times = [each[speed.OURS] / each["scrapy"] for each in rounds]
    yield "scrapy", round(median(times), 1)
    yield "least", round(min(times), 1)
    yield "greatest", round(max(times), 1)
    yield "svm", round(median(each["svm"] / each[speed.OURS] for each in rounds), 1)


def measure_hosts() -> Figures:
    """Most URLs of a host that got a request, over all hostile webs and orderings."""
    served = list(capweb.cases().values())
    most = 0
    for ordering in host_cap.ORDERINGS:
        with tempfile.TemporaryDirectory() as folder:
            found = host_cap.worst(served, host_cap.crawl(served, ordering, Path(folder)))
        most = max(most, *(each.urls for each in found.values()))
    yield "webs", len(served)
    yield "most", most


def measure_languages() -> Figures:
    """How many languages are known, by what, and how well their texts are named."""
    records = list(language_records())
    text = [record["accuracy"]["text"] for record in records if record["accuracy"]["text"]]
    yield "pages", sum(record["text"] is not None for record in records)
    yield "text-model", len(LangfocusEngine().model.languages)
    yield "urls", len(UrlModel.load().languages)
    for kind in ("sentence", "page"):
        rates = [each[kind] for each in text if each.get(kind) is not None]
        yield f"right-{kind}", round(fmean(rates), 1)


_FACTS: Final = "classifiers/languages.py classifiers/tables"
_URLS: Final = "classifiers/urls classifiers/models/url-*.npz"
_PAGES: Final = f"{_FACTS} classifiers/pages classifiers/models/text-*.npz"
_CRAWL: Final = "crawler/frontier crawler/session crawler/reading crawler/politeness/traps.py"

GROUPS: Final = {
    "harvest": Group(
        measure_harvest,
        f"{_URLS} {_PAGES} {_CRAWL} crawler/strategies crawler/options/config.py"
        " benchmarks/harvest.py",
        minutes=10,
    ),
    "url-model": Group(measure_url_model, "classifiers/models/url-*.npz", 0, is_outside=False),
    "unseen": Group(
        measure_unseen,
        f"{_FACTS} classifiers/urls classifiers/training/urls.py classifiers/training/examples.py",
        minutes=5,
    ),
    "pages": Group(measure_pages, _PAGES, minutes=1),
    "lies": Group(measure_lies, _PAGES, minutes=1),
    "speed": Group(
        measure_speed,
        f"{_CRAWL} crawler/spiders crawler/strategies crawler/http crawler/outputs/warc*.py"
        " classifiers/pages/parse.py classifiers/pages/html",
        minutes=6,
    ),
    "hosts": Group(
        measure_hosts,
        f"{_CRAWL} crawler/spiders crawler/url.py"
        " crawler/politeness/robots.py benchmarks/capweb.py benchmarks/host_cap.py",
        minutes=3,
        is_outside=False,
    ),
    "languages": Group(
        measure_languages,
        f"{_FACTS} classifiers/models/*.npz",
        minutes=0,
        is_outside=False,
    ),
}
