"""The goals of the ordering `focus`: what a crawl seeks, and which URL is then fetched first.

A crawl that seeks pages takes the most probable URL first: its rank in the queue is its log-odds.
With another goal the rank also follows from the host of the URL. A rank is above 0 exactly if the
log-odds are, so an expected URL goes before a doubtful one whatever is sought.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RELEVANT: Final = "relevant"
SERVERS: Final = "servers"
WORDS: Final = "words"
COVERAGE: Final = "coverage"

GOALS: Final = (RELEVANT, SERVERS, COVERAGE)
"""The values of `-a goal`."""

MOST_WORDS: Final = 100_000
"""A page counts at most so many words, so that one page does not decide about a host."""

PRIOR_SHARE: Final = 0.1
"""The share of the variance of words that lies between hosts, before the crawl knows better."""

PRIOR_HOSTS: Final = 10
"""`PRIOR_SHARE` counts as much as so many hosts of the crawl."""

APART: Final = 1024.0
"""With the goal `servers`, ranks of known servers and of new ones are so far apart."""

BASE: Final = 32.0
"""With the goal `words`, the rank of a certain page of mean length; it is minus that for others."""

MOST_WORTH: Final = 16.0
"""The most that the words of a host change a rank."""

_GRAIN: Final = 1048576.0


def rank_for_servers(odds: float, is_known: bool) -> float:
    """Return the rank of a URL for the most relevant servers.

    `is_known` is True if its host gave a relevant page. Then the URL comes after all URLs of other
    hosts, but an expected one before doubtful ones.
    """
    if odds > 0:
        return odds if is_known else odds + APART
    return odds - APART if is_known else odds


@dataclass(slots=True)
class WordTotals:
    """Sums over the relevant pages of a crawl, all whole numbers.

    `squares` is the sum of their squared words. Each of the `hosts` has its pages and its words:
    `pages_squared` is the sum of its squared pages, `of_hosts` that of its squared words divided by
    its pages, rounded down. So the sums do not depend on the order of the pages.
    """

    pages: int = 0
    words: int = 0
    squares: int = 0
    hosts: int = 0
    pages_squared: int = 0
    of_hosts: int = 0

    def count(self, words: int, pages_of_host: int, words_of_host: int) -> None:
        """Count a page; its host had so many pages and words before."""
        pages, total = pages_of_host + 1, words_of_host + words
        self.pages += 1
        self.words += words
        self.squares += words * words
        self.hosts += pages == 1
        self.pages_squared += 2 * pages - 1
        self.of_hosts += total * total // pages
        if pages_of_host:
            self.of_hosts -= words_of_host * words_of_host // pages_of_host

    def count_host(self, pages: int, words: int, squares: int) -> None:
        """Count all pages of a host, with the sum of their squared words."""
        self.pages += pages
        self.words += words
        self.squares += squares
        self.hosts += 1
        self.pages_squared += pages * pages
        self.of_hosts += words * words // pages

    @property
    def mean(self) -> float:
        """The mean words of a page, 0 before there is any."""
        return self.words / self.pages if self.pages else 0.0

    @property
    def found_share(self) -> float | None:
        """The share of the variance of words that lies between hosts: the intraclass correlation.

        It is estimated by the analysis of variance (Searle, Casella and McCulloch 1992, "Variance
        Components", 3.6). None for one host, or if no host has two pages.
        """
        if self.hosts < 2 or self.pages == self.hosts:
            return None
        pages, words = float(self.pages), float(self.words)
        within = (self.squares - self.of_hosts) / (pages - self.hosts)
        between = (self.of_hosts - words * words / pages) / (self.hosts - 1)
        size = (pages - self.pages_squared / pages) / (self.hosts - 1)
        variance = max(0.0, (between - within) / size)
        return variance / (variance + within) if variance > 0 else 0.0

    @property
    def share(self) -> float:
        """`found_share`, shrunk to `PRIOR_SHARE`."""
        found = self.found_share
        if found is None:
            return PRIOR_SHARE
        weight = PRIOR_HOSTS + self.hosts - 1
        return (PRIOR_HOSTS * PRIOR_SHARE + (self.hosts - 1) * found) / weight

    @property
    def strength(self) -> float:
        """The pages as which the mean of a unit counts for the units in it: empirical Bayes."""
        share = self.share
        return (1.0 - share) / share


def worth_of(words: Sequence[int], pages: Sequence[int], mean: float, strength: float) -> float:
    """Return the logarithm of the words to be expected on a relevant page, relative to the mean.

    `words` and `pages` are those of the relevant pages of a URL's units, from its registered domain
    down. Each unit is shrunk to the unit around it, which counts as `strength` pages. `mean` is the
    mean number of words of a relevant page in the crawl, 0 before there is any.
    """
    if mean <= 0:
        return 0.0
    expected = mean
    for found, number in zip(words, pages, strict=True):
        expected = (found + strength * expected) / (number + strength)
    return max(-MOST_WORTH, min(MOST_WORTH, math.log(expected / mean)))


def rank_for_words(odds: float, worth: float) -> float:
    """Return the rank of a URL for the most words: the logarithm of the words to be expected.

    `worth` is that of a relevant page (`worth_of`).
    """
    # log p, without overflow, and with the functions that the script of a shared frontier has
    if odds > 0:
        ranked = BASE - math.log(1.0 + math.exp(-odds)) + worth
    else:
        ranked = min(0.0, odds - math.log(1.0 + math.exp(odds)) + worth - BASE)
    return math.floor(ranked * _GRAIN + 0.5) / _GRAIN
