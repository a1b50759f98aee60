"""The words to be expected on a relevant page, by the records of its units (the goal `words`)."""

from collections.abc import Sequence

from crawler.frontier.evidence_rows import EvidenceRows
from crawler.strategies.focus.belief import Standing
from crawler.strategies.focus.evidence import units_of
from crawler.strategies.focus.goal import WordTotals, worth_of


class WordTallies:
    """Counts the words of domains, hosts and directories."""

    def __init__(self, rows: EvidenceRows) -> None:
        """Continue with what the run's database holds; costs O(hosts)."""
        self._rows = rows
        self._totals = WordTotals()
        for pages, words, squares in rows.words_of_hosts():
            self._totals.count_host(pages, words, squares)

    def count(self, url: str, words: int, pages_of_host: int) -> None:
        """Count a relevant page; its host had so many relevant pages before."""
        units = units_of(url)
        before = self._rows.words(units[1:2]).get(units[1], 0)
        self._totals.count(words, pages_of_host, before)
        self._rows.add_words(units, words)

    def worths(self, urls: Sequence[str], standings: Sequence[Standing]) -> list[float]:
        """Return the worth of a relevant page at each URL (`worth_of`)."""
        units = [units_of(url) for url in urls]
        words = self._rows.words({unit for of in units for unit in of})
        mean, strength = self._totals.mean, self._totals.strength
        return [
            worth_of([words.get(unit, 0) for unit in of], each.tallies[1::2], mean, strength)
            for of, each in zip(units, standings, strict=True)
        ]
