"""Scores of queued URLs that follow what the crawl learns (the ordering `focus`).

A score is the log-odds that the URL's page will be in the target language. When a page is settled,
the weights and the records of its units change, and with them the scores of all queued URLs. The
URLs that the page links to are scored anew at once. Others are scored anew when their turn comes: a
URL whose score fell goes back, and the next best is tried.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from crawler.frontier.base import FIRST_SCORE, Link
from crawler.frontier.evidence_rows import EvidenceRows, Links, ScoredUrl
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import fallen, fallen_to, falls_of, least_expected, unfallen
from crawler.strategies.focus.belief import MOST_COUNTED, Prior, Standing, Weighed
from crawler.strategies.focus.evidence import NO_EVIDENCE, Evidence, units_of
from crawler.url import host_of

# Read by code of classifiers.compiled.
LEAST_CHANGE: Final = 0.2
"""A smaller change of the log-odds is not written."""

MOST_TRIED: Final = 16
"""The most URLs that are scored anew to find the one that is fetched next."""

MOST_FALLS: Final = 256
"""So many URLs of crowded domains may fall before the next fetch besides."""

_KEPT_TALLIES: Final = 200_000
_KEPT_PLACES: Final = 20_000


def is_of_earlier_run(score: float, doubts_up_to: float | None) -> bool:
    """Return True for the score of a page of an earlier run, which keeps it."""
    doubts = doubts_up_to or 0.0
    return score > doubts and unfallen(score, doubts) >= FIRST_SCORE


def keeps_place(before: float, now: float, *, has_fallen: bool) -> bool:
    """Return True if a new score of the best URL is no reason to look at the others."""
    return now >= before or (not has_fallen and now > before - LEAST_CHANGE)


def has_changed(before: float, now: float) -> bool:
    """Return True if a new score of a queued URL is to be written."""
    return abs(now - before) >= LEAST_CHANGE or (now > 0) != (before > 0)


class Rescored(NamedTuple):
    """A queued URL whose score changed; `host` is the id of its host."""

    host: int
    url: int
    before: float
    after: float


class Odds(NamedTuple):
    """The log-odds of a queued URL now, and its score in the queue that follows from them."""

    url: ScoredUrl
    weighed: Weighed
    score: float


class LinkingPage(NamedTuple):
    """What a page tells of its links: its host, and whether it is relevant; None: no label.

    The target of a redirect has the links that lead to the redirect, `inherited`.
    """

    host: str = ""
    is_relevant: bool | None = None
    inherited: Links = Links()

    def links(self, host: str) -> Links:
        """Return the links of a URL of a host by this page alone."""
        if self.is_relevant is None:
            return self.inherited
        place = 2 * (host == self.host) + (not self.is_relevant)
        return Links(*(int(place == each) for each in range(4)))


NO_PAGE: Final = LinkingPage()


def sum_of(first: Links, second: Links) -> Links:
    """Return all links of two kinds of pages, at most `MOST_COUNTED` of each."""
    return Links(*(min(MOST_COUNTED, a + b) for a, b in zip(first, second, strict=True)))


class Learner:
    """Scores URLs by the evidence, and learns from pages."""

    def __init__(self, rows: EvidenceRows, prior: Prior, rules: FrontierRules) -> None:
        """Continue with what the run's database holds.

        Where only expected URLs are leased, a seed, and the target of its redirect, is always
        expected in the language: somebody chose it. Otherwise its score is that of any URL.
        """
        self._expects_seeds = rules.is_expected_only
        self._rows = rows
        self._doubts_up_to = rules.doubts_up_to
        self._prior = prior
        self._tallies: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._places: dict[str, tuple[int, ...]] = {}
        self._leased: dict[int, ScoredUrl] = {}
        self.reload()

    def reload(self) -> None:
        """Forget what is not stored: a transaction was rolled back."""
        self._tallies.clear()
        self._places.clear()
        self._leased.clear()
        self._belief = self._rows.belief(self._prior)

    # Admission.

    def scored(
        self, links: Sequence[Link], hosts: Sequence[str], page: LinkingPage, depth: int
    ) -> list[Link]:
        """Return new links, of one depth, with the scores that they have now without falls."""
        known = [
            (link.url, link.evidence or NO_EVIDENCE, page.links(host))
            for link, host in zip(links, hosts, strict=True)
        ]
        ranks = self._belief.scores(self._standings(known))
        return [
            Link(link.url, self._in_queue(rank, depth), link.evidence)
            if link.score < FIRST_SCORE
            else link
            for link, rank in zip(links, ranks, strict=True)
        ]

    def meet(self, links: Mapping[int, Link], page: LinkingPage) -> list[ScoredUrl]:
        """Count links to queued URLs, by their ids, and return these URLs."""
        if not links:
            return []
        known, changed = [], []
        for url in self._rows.by_ids(links):
            evidence = links[url.id].evidence
            declared = evidence.declared if evidence else 0.0
            first = url.evidence
            now = first._replace(declared=declared or first.declared) if declared else first
            total = sum_of(url.links, page.links(host_of(url.url)))
            if now != first or total != url.links:
                changed.append((url.id, now, total))
                url = url._replace(evidence=now, links=total)  # noqa: PLW2901
                if url.id in self._leased:
                    self._leased[url.id] = url
            known.append(url)
        self._rows.change(changed)
        return known

    # Settling.

    def learn(self, url: ScoredUrl | None, text: str, *, is_relevant: bool) -> None:
        """Learn from a page with a label; `url` is its URL, None if it is not known any more."""
        units = units_of(text)
        standing = self._standing(url) if url is not None else None
        if standing is not None:
            self._belief.learn(standing, is_relevant=is_relevant)
        kept = self._read_tallies([units])
        new = {unit: (kept[unit][0] + 1, kept[unit][1] + is_relevant) for unit in units}
        self._tallies.update(new)
        self._places.clear()
        self._rows.store_tallies(new)

    def rescore(self, met: Sequence[ScoredUrl], left_out: Collection[int]) -> list[Rescored]:
        """Score anew, after a page, the URLs that it links to.

        The scores of URLs that are leased or that left the queue, `left_out` by their ids, stay.
        """
        rescored = self._changed([url for url in met if url.id not in left_out])
        self._rows.set_scores((each.after, each.url) for each in rescored)
        return rescored

    def store(self) -> None:
        """Write the weights."""
        self._rows.store_belief(self._belief)

    # The next URL.

    def url(self, url: int) -> ScoredUrl | None:
        """Return a queued URL with its evidence."""
        return self._leased.get(url) or self._rows.by_id(url)

    def odds(self, url: int, falls: int) -> Odds | None:
        """Return the log-odds of a queued URL, and its score after at least so many falls.

        Returns None if it is not known any more.
        """
        found = self.url(url)
        if found is None:
            return None
        standing = self._standing(found)
        weighed = self._belief.weigh(standing)
        return Odds(found, weighed, self._score(found, weighed.odds, falls))

    def lease(self, url: ScoredUrl) -> None:
        """Keep what is known of a URL in memory until `end_lease`."""
        self._leased[url.id] = url

    def end_lease(self, url: int) -> None:
        """Forget what is known of a URL that was leased."""
        self._leased.pop(url, None)

    # Records of units.

    def _standing(self, url: ScoredUrl) -> Standing:
        return self._standings([(url.url, url.evidence, url.links)])[0]

    def _standings(self, urls: Sequence[tuple[str, Evidence, Links]]) -> list[Standing]:
        self._prune()
        units = [units_of(url) for url, _, _ in urls]
        places = self._places
        # The deepest unit of a URL has the others in it.
        new = {of[-1]: of for of in units if of[-1] not in places}
        if new:
            kept = self._read_tallies(new.values())
            for deepest, of in new.items():
                places[deepest] = tuple([number for unit in of for number in kept[unit]])
        return [
            Standing(evidence, links, places[of[-1]])
            for (_, evidence, links), of in zip(urls, units, strict=True)
        ]

    def _score(self, url: ScoredUrl, rank: float, falls: int = 0) -> float:
        """Return the score in the queue of a queued URL, after at least so many falls."""
        if is_of_earlier_run(url.score, self._doubts_up_to):
            return fallen_to(url.score, falls, self._doubts_up_to)
        return self._in_queue(rank, url.depth, max(falls, falls_of(url.score, self._doubts_up_to)))

    def _in_queue(self, rank: float, depth: int, falls: int = 0) -> float:
        """Return the score in the queue of a URL with a rank."""
        doubts_up_to = self._doubts_up_to
        if self._expects_seeds and depth == 0 and doubts_up_to is not None:
            rank = max(rank, least_expected(doubts_up_to))
        return fallen(rank, falls, doubts_up_to)

    def _changed(self, urls: Sequence[ScoredUrl]) -> list[Rescored]:
        standings = self._standings([(url.url, url.evidence, url.links) for url in urls])
        ranks = self._belief.scores(standings)
        rescored = []
        for url, rank in zip(urls, ranks, strict=True):
            score = self._score(url, rank)
            if has_changed(url.score, score):
                rescored.append(Rescored(url.host, url.id, url.score, score))
        return rescored

    def _read_tallies(self, urls: Iterable[Collection[str]]) -> Mapping[str, tuple[int, int]]:
        """Return tallies that are in memory; those of the units of some URLs are among them."""
        kept = self._tallies
        missing = {unit for of in urls for unit in of if unit not in kept}
        if missing:
            kept.update(dict.fromkeys(missing, (0, 0)))
            for unit, labelled, relevant in self._rows.tallies(missing):
                kept[unit] = labelled, relevant
        return kept

    def _prune(self) -> None:
        while len(self._tallies) > _KEPT_TALLIES:
            self._tallies.popitem(last=False)
        if len(self._places) > _KEPT_PLACES:
            self._places.clear()
