"""Generated URLs: each language has its own syllables and top-level domains."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langfocus.classifiers.datasets.rows import LabelledUrl
from langfocus.classifiers.papers.baykan.algorithms import algorithm, vectorizer
from langfocus.classifiers.papers.baykan.similarity import Markov

SYLLABLES = {
    "en": "the ing ow sh ight wood ter ee th ook".split(),
    "de": "sch ung ei er lich keit zu tz auf ver".split(),
    "fr": "eau eux oi que tion ou gne elle ais an".split(),
    "es": "cion ar lla os ez dad ue ero al ja".split(),
    "it": "zione gli chi ello are issi otto ua gio ni".split(),
    "nl": "ij oe aan heid een uit sch vaart ken ou".split(),
}
DOMAINS = {
    "en": ("com", "org", "co.uk"),
    "de": ("de", "de", "com"),
    "fr": ("fr", "com", "net"),
    "es": ("es", "com", "org"),
    "it": ("it", "it", "com"),
    "nl": ("nl", "com", "nl"),
}
FIVE = ("en", "de", "fr", "es", "it")


def labelled(
    per_language: int = 60, languages: Sequence[str] = FIVE, seed: int = 0
) -> list[LabelledUrl]:
    """Return this number of distinct URLs for each language; some domains have several URLs."""
    chance = random.Random(seed)
    rows: dict[str, LabelledUrl] = {}
    for language in languages:
        hosts = [_host(language, chance) for _ in range(max(2, per_language // 2))]
        while len(rows) < per_language * (languages.index(language) + 1):
            url = f"http://www.{chance.choice(hosts)}/{_word(language, chance)}.html"
            kind = chance.choice(("editor", "document"))
            rows.setdefault(url, LabelledUrl(url, language, kind, "rule"))
    return list(rows.values())


def write(path: Path, rows: Sequence[LabelledUrl]) -> Path:
    """A file that `scrapy evaluate` reads."""
    lines = ["url\tlang\tlabel_kind\tsource", *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def answers_anew(name: str, urls: Sequence[str], is_yes: Any, tested: Sequence[str]) -> Any:
    """Return the answers for `tested` of a classifier fitted outside of a study."""
    kind, _, features = name.partition(":")
    extractor, model = vectorizer(features), algorithm(kind, features)
    counts = extractor.fit_transform(urls, is_yes)
    if isinstance(model, Markov):
        model.names = extractor.get_feature_names_out()
    return model.fit(counts, is_yes).predict(extractor.transform(tested))


def _word(language: str, chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES[language], k=chance.randint(2, 4)))


def _host(language: str, chance: random.Random) -> str:
    return f"{_word(language, chance)}{chance.randint(1, 999)}.{chance.choice(DOMAINS[language])}"
