"""The best that any ordering could do on a web whose languages are known before the fetch.

`perfect` follows the rules of a crawl: it starts from the same seeds, knows only URLs that its
pages link to, obeys robots.txt, and fetches at most `host_cap` pages of a host. It is stronger than
any ordering of a crawl in four ways. It knows the language of each URL, where each redirect leads
and which URLs are errors, and fetches none of these. It reads the links of queued pages before it
fetches them. Its cap counts fetched pages, so it takes the best ten of a host. The farms of
`crawler.frontier.slots` do not slow it down.

A relevant page is always fetched before an irrelevant one: to postpone it could only lower the
harvest rate. Among relevant pages the one goes first that leads to the most relevant pages that are
not known yet and that the caps allow. If no relevant page is queued, that irrelevant page is
fetched that leads to the most; if none leads to any, the shortest way through unknown irrelevant
pages to a relevant one is taken (breadth first). So no step is wasted while a relevant page can be
reached, but the choice is greedy: `most_relevant` of the web is a bound that nothing can exceed,
and the benchmark prints both.

The `oracle` is weaker: it knows the language of each URL and nothing of the answer, so among
relevant URLs the one found first goes first, and then among irrelevant ones. It obeys the cap of a
crawl: an error and a redirect take a slot of their host like a page. An ordering that scores each
link by itself can hardly do better.
"""

from collections import Counter, deque
from collections.abc import Iterable
from heapq import heappop, heappush, heapreplace

from benchmarks.focus_webs import KnownWeb
from crawler.url import fingerprint, host_of, normalise

_ANY = 1 << 40


class PageLinks:
    """The pages that the pages of a web lead to: redirects are followed, errors left out."""

    def __init__(self, web: KnownWeb) -> None:
        """Read links of this web when they are needed; each page is read once."""
        self._web = web
        self._spelling: dict[int, str] = {}
        self._targets: dict[str, tuple[str, ...]] = {}
        self._hosts: dict[str, str] = {}

    def of(self, url: str) -> tuple[str, ...]:
        """Return the URLs of the pages that a page leads to."""
        if url not in self._targets:
            self._targets[url] = self.pages(self._web.links(url))
        return self._targets[url]

    def pages(self, urls: Iterable[str]) -> tuple[str, ...]:
        """Return the URLs of the pages behind some URLs, one for each page."""
        found = filter(None, map(self._web.page_at, urls))
        return tuple(dict.fromkeys(self._spelling.setdefault(fingerprint(x), x) for x in found))

    def host(self, url: str) -> str:
        """Return the host of a URL."""
        if url not in self._hosts:
            self._hosts[url] = host_of(url)
        return self._hosts[url]


class PerfectCrawl:
    """A crawl in memory that is told the language of each URL, and its links."""

    def __init__(self, web: KnownWeb, links: PageLinks, lang: str) -> None:
        """Queue the seeds of a web for a language; `links` are those of the web."""
        self._web, self._links, self._lang = web, links, lang
        self._cap = web.host_cap or _ANY
        self._known: set[str] = set()
        self._done: set[str] = set()
        self._fetched: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()
        self._relevant: list[tuple[int, int, str]] = []
        self._others: list[tuple[int, int, str]] = []
        self._way: deque[str] = deque()
        self._is_blind = False
        self._learn(links.pages(filter(None, map(normalise, web.seeds(lang)))))

    def course(self, pages: int) -> list[bool]:
        """Return for each of the first pages, in their order, whether it is relevant."""
        course: list[bool] = []
        while len(course) < pages:
            url = self._next()
            if url is None:
                break
            course.append(self._is_relevant(url))
            self._fetch(url)
        return course

    def _fetch(self, url: str) -> None:
        host = self._links.host(url)
        self._done.add(url)
        self._fetched[host] += 1
        if not self._is_relevant(url):
            self._taken[host] += 1
        self._learn(self._links.of(url))

    def _learn(self, urls: Iterable[str]) -> None:
        for url in urls:
            if url in self._known:
                continue
            self._known.add(url)
            queue = self._others
            if self._is_relevant(url):
                queue = self._relevant
                self._taken[self._links.host(url)] += 1
            most = 0 if self._is_blind else len(self._links.of(url))
            heappush(queue, (-most, len(self._known), url))

    def _next(self) -> str | None:
        url = self._best(self._relevant, least=0)
        if url is not None:
            self._way.clear()
            return url
        url = self._next_on_way()
        if url is None and not self._is_blind:
            url = self._best(self._others, least=1)
            if url is None:
                self._way.extend(self._shortest_way())
                url = self._next_on_way()
                self._is_blind = url is None
        return self._best(self._others, least=0) if url is None else url

    def _next_on_way(self) -> str | None:
        url = self._way.popleft() if self._way else None
        if url is not None and not self._may_fetch(url):
            self._way.clear()
            return None
        return url

    def _best(self, queue: list[tuple[int, int, str]], least: int) -> str | None:
        """Take the page that leads to the most, None if none leads to `least`.

        The number of pages that a page leads to never rises, so an entry that is up to date and
        first in the queue is the best.
        """
        while queue:
            told, order, url = queue[0]
            if not self._may_fetch(url):
                heappop(queue)
                continue
            gain = 0 if self._is_blind else self._gain(url)
            if gain != -told:
                heapreplace(queue, (-gain, order, url))
            elif gain < least:
                return None
            else:
                return heappop(queue)[2]
        return None

    def _may_fetch(self, url: str) -> bool:
        return url not in self._done and self._fetched[self._links.host(url)] < self._cap

    def _gain(self, url: str) -> int:
        """Return the number of relevant pages that a page makes known, as far as the caps allow."""
        room: dict[str, int] = {}
        gain = 0
        for target in self._links.of(url):
            if target in self._known or not self._is_relevant(target):
                continue
            host = self._links.host(target)
            left = room.get(host, self._cap - self._taken[host])
            gain += left > 0
            room[host] = left - 1
        return gain

    def _shortest_way(self) -> list[str]:
        """Return irrelevant pages to fetch, one after the other; the last links to a relevant one.

        [] if no relevant page can be reached any more.
        """
        before = {url: "" for _, _, url in self._others if self._may_fetch(url)}
        queue = deque(before)
        while queue:
            url = queue.popleft()
            for target in self._links.of(url):
                if target in before or target in self._known:
                    continue
                host = self._links.host(target)
                if self._is_relevant(target):
                    if self._taken[host] < self._cap:
                        return _way_to(url, before)
                elif self._fetched[host] < self._cap:
                    before[target] = url
                    queue.append(target)
        return []

    def _is_relevant(self, url: str) -> bool:
        return self._web.language(url) == self._lang


class OracleCrawl:
    """A crawl in memory that is told the language of each URL and pays each request."""

    def __init__(self, web: KnownWeb, lang: str) -> None:
        """Queue the seeds of a web for a language."""
        self._web, self._lang = web, lang
        self._cap = web.host_cap or _ANY
        self._known: set[int] = set()
        self._sent: Counter[str] = Counter()
        self._relevant: deque[str] = deque()
        self._others: deque[str] = deque()
        self._learn(filter(None, map(normalise, web.seeds(lang))))

    def course(self, pages: int) -> list[bool]:
        """Return for each of the first pages, in their order, whether it is relevant."""
        course: list[bool] = []
        while len(course) < pages and (self._relevant or self._others):
            is_relevant = bool(self._relevant)
            url = (self._relevant or self._others).popleft()
            host = host_of(url)
            if self._sent[host] >= self._cap or self._web.is_forbidden(url):
                continue
            self._sent[host] += 1
            page = self._web.page_at(url)
            if page is not None and fingerprint(page) != fingerprint(url):
                self._learn([page])
            elif page is not None:
                course.append(is_relevant)
                self._learn(self._web.links(page))
        return course

    def _learn(self, urls: Iterable[str]) -> None:
        for url in urls:
            key = fingerprint(url)
            if key not in self._known:
                self._known.add(key)
                is_relevant = self._web.language(url) == self._lang
                (self._relevant if is_relevant else self._others).append(url)


def _way_to(url: str, before: dict[str, str]) -> list[str]:
    way = [url]
    while before[way[-1]]:
        way.append(before[way[-1]])
    return way[::-1]
