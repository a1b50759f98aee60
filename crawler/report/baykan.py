"""The figures of the crawls of Baykan et al. 2013 (5.2), which are shown beside ours.

Three crawls of 1,000 pages for each of five languages, at most 10 URLs of a host, on the Web of
that time.
"""

from collections.abc import Mapping

STRATEGIES = ("random", "cctld", "svm")
"""The columns of the three tables."""

PAGES = 1000
"""The size of every crawl (Table XVII)."""

Row = tuple[float, float, float]

SEEDS: Mapping[str, str] = {
    "en": "www.bbc.co.uk",
    "de": "www.tagesschau.de",
    "fr": "www.lemonde.fr",
    "es": "www.elmundo.es",
    "it": "www.corriere.it",
}
"""Table XVII."""

VISITED_HOSTS: Mapping[str, Row] = {
    "en": (770, 423, 279),
    "de": (654, 470, 242),
    "fr": (711, 460, 273),
    "es": (585, 353, 252),
    "it": (625, 474, 314),
}
"""Table XVII."""

WITHOUT_LABEL: Mapping[str, Row] = {
    "en": (0.04, 0.05, 0.06),
    "de": (0.06, 0.05, 0.05),
    "fr": (0.04, 0.05, 0.08),
    "es": (0.06, 0.13, 0.10),
    "it": (0.02, 0.02, 0.03),
}
"""Table XVIII; fractions of the crawled pages."""

IN_LANGUAGE: Mapping[str, Row] = {
    "en": (0.945, 0.956, 0.954),
    "de": (0.384, 0.887, 0.954),
    "fr": (0.495, 0.923, 0.968),
    "es": (0.252, 0.922, 0.948),
    "it": (0.382, 0.871, 0.901),
}
"""Table XIX; fractions of the pages with a label."""


def figure(table: Mapping[str, Row], lang: str, strategy: str) -> float | None:
    """The figure of a table for a language and a strategy; `None` if the table has none."""
    if lang not in table or strategy not in STRATEGIES:
        return None
    return table[lang][STRATEGIES.index(strategy)]
