"""Any sequence of steps of a crawl, on a frontier and on its model; needs `hypothesis`.

class Steps(FrontierMachine):
    ordering = "mypkg.orderings:Alphabetical"

TestSteps = Steps.TestCase
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

try:
    import pytest
    from hypothesis import strategies as st
    from hypothesis.stateful import (
        RuleBasedStateMachine,
        initialize,
        invariant,
        precondition,
        rule,
    )
except ImportError as error:
    raise ImportError(
        "langfocus.testing.frontiers needs two packages: pip install pytest hypothesis"
    ) from error

from langfocus.crawler.frontier.base import (
    PAGE,
    REDIRECT,
    SITEMAP,
    Admission,
    Frontier,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import FILTERS, Filter, link_filter, make_filter
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import SEED, Draw, Link, LinkSource
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.strategies.versions import Versions
from langfocus.crawler.url import domain_of, host_of
from langfocus.testing.model import ObviousFrontier

__all__ = ["FrontierMachine"]

META: Final[dict[str, object]] = {
    "lang": "de",
    "ordering": "svm",
    "filter": "none",
    "tolerance": 1,
    "host_cap": 3,
    "directory_depth": 1,
    "web": "live",
    "seeds": [],
}

HOSTS: Final = ["a.de", "www.a.de", "a.de:81", "b.a.de", "c.a.de", "b.de", "c.com", "d.org"]
ADDRESSES: Final = st.sampled_from(["192.0.2.1", "192.0.2.2"])
PATHS: Final = ["/", "/x.html", "/en/1", "/en/2", "/de/1", "/de/2?n=1"]


def link_of(host: str, path: str, score: float) -> Link:
    """Return a link, with evidence for a frontier that learns."""
    code = path.startswith("/de/") - path.startswith("/en/")
    evidence = Evidence(named=score, code=code, declared=float(score == 2.0))
    return Link(f"http://{host}{path}", score, evidence)


LINKS: Final = st.lists(
    st.builds(
        link_of,
        st.sampled_from(HOSTS),
        st.sampled_from(PATHS),
        st.sampled_from([-1.0, 0.0, 0.5, 2.0]),
    ),
    max_size=8,
)
CANONICALS: Final = st.sampled_from([None, None, *PATHS])
VERSIONS: Final = st.lists(st.sampled_from([f"http://{host}/en/1" for host in HOSTS]), max_size=2)
OUTCOMES: Final = st.sampled_from(
    ["relevant", "irrelevant", "unlabelled", "taken", "gone", "redirect", "sitemap", "timeout"]
)


def record_of(kind: str, now: float) -> Record:
    """Return the record of a URL that was settled now with an outcome of `OUTCOMES`."""
    if kind == "redirect":
        return Record(REDIRECT, now, 301, bytes=20)
    if kind == "sitemap":
        return Record(SITEMAP, now, 200, bytes=100)
    if kind == "timeout":
        return Record("timeout", now, bytes=50)
    if kind == "gone":
        return Record(PAGE, now, 404)
    language = {"relevant": "de", "irrelevant": "en", "taken": "en", "unlabelled": None}[kind]
    is_relevant, in_scope = kind == "relevant", int(kind == "taken")
    return Record(PAGE, now, 200, True, is_relevant, language, bytes=100, in_scope=in_scope)


def in_scope(url: str) -> bool:
    """Return True for a URL that the scope of a drawn crawl takes."""
    return "/en/" in url


class FrontierMachine(RuleBasedStateMachine):
    """Any order of seeds, leases, settlements, retries and restarts.

    `ordering` and `filter_name` are names or dotted paths of parts for a crawl in `language`; with
    "" scores and built-in filters are drawn. A frontier of one's own overrides `open`, `kill`,
    `settled` and `lowered`.
    """

    ordering: str = ""
    filter_name: str = ""
    language = "de"
    frontier: Frontier
    meta = META
    keeps_order_of_ties = True  # False: among equal scores any URL may be the next

    @initialize(
        drawn=st.fixed_dictionaries(
            {
                "name": st.sampled_from(list(FILTERS)),
                "tolerance": st.integers(0, 2),
                "cap": st.sampled_from([0, 2, 3]),
                "wide_caps": st.tuples(*[st.sampled_from([0, 1, 3, 20])] * 2),
                "more_queued": st.sampled_from([None, 0, 2]),
                "delay": st.sampled_from([0.0, 1.0, 5.0]),
                "host_bytes": st.sampled_from([0, 0, 100, 250]),
                "budgets": st.sampled_from([(None, None), (4, None), (None, 2)]),
                "draw": st.sampled_from(Draw),
                "lifts": st.booleans(),
                "patience": st.sampled_from([0.0, 2.0]),
                "in_scope": st.sampled_from([None, in_scope]),
                "versions": st.sampled_from([None, Versions("de")]),
            }
        ),
        links=LINKS.filter(bool),
    )
    def begin(self, drawn: dict[str, Any], links: list[Link]) -> None:
        """Begin a crawl with some rules."""
        name = self.filter_name or drawn["name"]
        rule = make_filter(name, tolerance=drawn["tolerance"])
        made = make_ordering(self.ordering, self.language) if self.ordering else None
        self.begin_with(made.draw if made else drawn["draw"], drawn["patience"], rule, made)
        lifts = made.lifts if made else drawn["lifts"] and self.draw is Draw.FIRST
        cap, (domain_cap, address_cap) = drawn["cap"], drawn["wide_caps"]
        # The model does not know which URLs were tried first.
        if self.patience or not self.is_in_order:
            domain_cap = 0
        host_queue = 0 if drawn["more_queued"] is None else cap + drawn["more_queued"]
        caps = cap, domain_cap, address_cap, host_queue
        delay, (pages, relevant) = drawn["delay"], drawn["budgets"]
        self.model = ObviousFrontier(self.filter, *caps, delay, pages, relevant, lifts)
        self.model.doubts_up_to = made.doubts_up_to if made else 0.0
        self.model.host_bytes = drawn["host_bytes"]
        self.model.in_scope = drawn["in_scope"]
        self.model.versions = drawn["versions"]
        self.begin_crawl()
        self.open()
        self.seed(links)

    def begin_with(
        self, draw: Draw, patience: float, rule: Filter, made: Ordering | None = None
    ) -> None:
        """Set what each crawl begins with."""
        self.draw, self.patience, self.filter = draw, patience, rule
        self.made, self.kept = made, link_filter(rule.name, self.language)
        self.now = 1000.0
        self.doubted_since: float | None = None
        self.leases: list[Lease] = []
        self.hosts: set[str] = set()
        self.contacts: dict[str, float] = {}

    @property
    def is_in_order(self) -> bool:
        """Return True if one URL alone may be the next."""
        return self.draw is Draw.FIRST and self.keeps_order_of_ties

    def answers(
        self, lease: Lease, links: Sequence[Link], expected: list[Admission]
    ) -> list[Admission]:
        """Return the answers that are expected of the frontier."""
        return expected

    def begin_crawl(self) -> None:
        """Make a folder for the crawl."""
        self.folder = tempfile.TemporaryDirectory()

    def open(self) -> None:
        """Open the frontier of the crawl, a second time after `kill`, as `self.frontier`."""
        self.run = open_run(Path(self.folder.name), self.meta, self.now)
        self.frontier = SqliteFrontier(self.run.connection, self.rules_of_crawl(), now=self.now)

    def kill(self) -> None:
        """Close the frontier as a kill does."""
        self.run.connection.close()

    def settled(self) -> list[tuple[str, str]]:
        """Return URL and outcome of all settled URLs in their order."""
        rows = self.run.connection.execute("SELECT url, outcome FROM pages ORDER BY id")
        return rows.fetchall()

    def lowered(self) -> int:
        """Return how often a URL's score was lowered."""
        counted = self.run.connection.execute("SELECT value FROM counts WHERE name = 'lowered'")
        return int((counted.fetchone() or (0,))[0])

    def found(self, links: list[Link], source: LinkSource) -> list[Link]:
        """Return the links of a page as the ordering and the filter of plug-ins leave them."""
        if self.kept is not None and source is not SEED:
            kept = set(self.kept([link.url for link in links], source))
            links = [link for link in links if link.url in kept]
        return self.made.links([link.url for link in links], source) if self.made else links

    def rules_of_crawl(self) -> FrontierRules:
        """Return the rules of the crawl."""
        return FrontierRules(
            filter=self.filter,
            draw=self.draw,
            host_cap=self.model.host_cap,
            domain_cap=self.model.domain_cap,
            address_cap=self.model.address_cap,
            host_queue=self.model.host_queue,
            lifts=self.model.lifts,
            host_bytes=self.model.host_bytes,
            delay_s=self.model.delay_s,
            budget_pages=self.model.budget_pages,
            budget_relevant=self.model.budget_relevant,
            doubts_up_to=self.model.doubts_up_to,
            patience_s=self.patience,
            in_scope=self.model.in_scope,
            versions=self.model.versions,
        )

    def may_wait(self, candidates: dict[str, float]) -> bool:
        """Return True if only doubtful URLs are ready and something better may be worth a wait."""
        waits_up_to = self.rules_of_crawl().waits_up_to
        if self.patience == 0.0 or waits_up_to is None:
            return False
        if max(candidates.values(), default=waits_up_to + 1.0) > waits_up_to:
            return False
        leased = {k.host for k in self.model.known if k.is_leased}
        queued = [k for k in self.model.known if k.is_queued]
        promising = [k for k in queued if k.link.score > waits_up_to]
        return any(
            k.is_leased
            or (
                k.host not in leased
                and self.now < self.model.ready_from.get(k.host, 0.0) <= self.now + self.patience
            )
            for k in promising
        )

    @rule(
        host=st.sampled_from([*HOSTS, "a.de", ""]),
        path=st.sampled_from(["/", "/en/", "/de/1", "/none"]),
    )
    def block(self, host: str, path: str) -> None:
        """Block URLs while the crawl runs."""

        def is_blocked(url: str) -> bool:
            return (not host or host_of(url) == host) and path in url

        assert self.frontier.drop_blocked(is_blocked) == self.model.drop_blocked(is_blocked)

    @rule(links=LINKS)
    def seed_more(self, links: list[Link]) -> None:
        """Queue further seeds."""
        self.seed(links)

    def seed(self, links: list[Link]) -> None:
        """Queue seeds."""
        links = self.found(links, SEED)
        assert self.frontier.seed(links, self.now) == self.model.seed(links)
        self.note_hosts()

    def note_hosts(self) -> None:
        """Record the hosts of known URLs, and with a domain cap also their domains."""
        for known in self.model.known:
            if not (known.is_queued or known.is_sent):
                continue
            self.hosts.add(known.host)
            if self.model.domain_cap:
                self.hosts.add(domain_of(known.host))

    @rule(seconds=st.sampled_from([0.5, 1.0, 7.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    @rule()
    def lease(self) -> None:
        """Lease the next URL, if there is one."""
        candidates = {k.link.url: k.link.score for k in self.model.candidates(self.now)}
        exhausted = self.model.is_budget_leased()
        lease = self.frontier.next(self.now)
        if lease is None and not exhausted and self.may_wait(candidates):
            self.doubted_since = self.doubted_since or self.now
            assert self.now < self.doubted_since + self.patience
            return
        self.doubted_since = None
        if lease is None and isinstance(self.frontier, SqliteFrontier):
            states = self.frontier.host_states()
            resting = {h for h in self.hosts if self.model.ready_from.get(h, 0.0) > self.now}
            ready = {k.host for k in self.model.candidates(self.now)}
            assert (states.ready, states.resting <= len(resting)) == (len(ready), True)
        if self.is_in_order:
            assert (lease and lease.url) == self.model.next(self.now)
        elif lease is None:
            assert exhausted or not candidates
        else:
            assert not exhausted
            assert candidates[lease.url] == max(candidates.values()), (lease, candidates)
            self.model.lease(lease.url)
        if lease:
            assert self.now >= self.contacts.get(lease.host, 0.0) + self.model.delay_s
            known = self.model.find(lease.url)
            is_full = self.model.is_full(domain_of(lease.host), self.model.domain_cap)
            facts = lease.retries, lease.is_beyond_cap
            assert facts == (known.tries, is_full and not known.is_sent)
            is_version = self.model.knows_version(lease.url, lease.score)
            assert self.frontier.knows_version(lease) == is_version
            self.leases.append(lease)

    @precondition(lambda self: self.leases)
    @rule(which=st.randoms(), address=st.none() | ADDRESSES, is_page=st.booleans())
    def send(self, which: Random, address: str | None, is_page: bool) -> None:
        """Send a request of a leased URL."""
        lease = which.choice(self.leases)
        expected = self.model.send(lease.url, address, is_page=is_page)
        assert self.frontier.send(lease, address, now=self.now, is_page=is_page) is expected
        self.note_hosts()
        if expected is Sending.LATER:
            self.leases.remove(lease)
            with pytest.raises(LeaseError):
                self.frontier.send(lease, address, now=self.now)

    @precondition(lambda self: self.leases)
    @rule(which=st.randoms(), kind=OUTCOMES, links=LINKS, canonical=CANONICALS, versions=VERSIONS)
    def settle(
        self,
        which: Random,
        kind: str,
        links: list[Link],
        canonical: str | None = None,
        versions: Sequence[str] = (),
    ) -> None:
        """Settle a leased URL with the links of its page."""
        lease = self.leases.pop(which.randrange(len(self.leases)))
        record = record_of(kind, self.now)
        if kind == "relevant" and canonical and canonical not in lease.url:
            record = replace(record, canonical=f"http://{lease.host}{canonical}")
        if kind == "relevant":
            domain = domain_of(lease.host)
            near = [url for url in versions if domain_of(host_of(url)) == domain]
            record = replace(record, versions=[url for url in near if url != lease.url])
        depth = self.model.find(lease.url).depth
        source = LinkSource(is_relevant=record.is_relevant, depth=depth)
        links = [] if kind in ("gone", "timeout") else self.found(links, source)
        expected = self.model.admit(lease.url, record, links, self.now)
        answer = self.frontier.admit(lease, record, links, now=self.now)
        assert answer == self.answers(lease, links, expected)
        self.contacts[lease.host] = self.now
        self.note_hosts()
        with pytest.raises(LeaseError):
            self.frontier.admit(lease, record, now=self.now)

    @rule(
        which=st.randoms(),
        send=st.fixed_dictionaries(
            {"address": st.none() | ADDRESSES, "is_page": st.sampled_from([True, True, False])}
        ),
        record=st.fixed_dictionaries(
            {"kind": OUTCOMES, "links": LINKS, "canonical": CANONICALS, "versions": VERSIONS}
        ),
    )
    def fetch(self, which: Random, send: dict[str, Any], record: dict[str, Any]) -> None:
        """Fetch a page in one step, since single steps seldom lead to one."""
        self.now += 7.0
        self.lease()
        if self.leases:
            self.send(which=which, **send)
        if self.leases:
            self.settle(which=which, **record)

    @precondition(lambda self: self.leases)
    @rule(hold=st.sampled_from([0.0, 3.0]))
    def retry(self, hold: float) -> None:
        """Queue a leased URL again after a failure."""
        lease = self.leases.pop()
        self.model.retry(lease.url, self.now + hold, self.now)
        self.frontier.retry(lease, now=self.now, not_before=self.now + hold)
        self.contacts[lease.host] = self.now

    @precondition(lambda self: self.leases)
    @rule()
    def release(self) -> None:
        """Queue a leased URL again that got no answer."""
        lease = self.leases.pop()
        self.model.release(lease.url, self.now)
        self.frontier.release(lease, now=self.now)
        self.contacts[lease.host] = self.now

    @rule()
    def die_and_come_back(self) -> None:
        """Kill the crawl and continue it: leased URLs are queued again, and every host rests."""
        self.kill()
        self.leases.clear()
        self.open()
        for known in self.model.known:
            known.is_leased = known.is_sent_now = False
            known.address = None
        for host in self.hosts:
            rests_until = self.now + self.model.delay_s
            self.model.ready_from[host] = max(self.model.ready_from.get(host, 0.0), rests_until)

    @invariant()
    def counts_agree(self) -> None:
        """Compare all counts."""
        if not hasattr(self, "frontier"):
            return
        counts = self.frontier.counts()
        pages = [(url, r) for url, r in self.model.records if r.outcome == PAGE]
        assert counts.queued == sum(k.is_queued and not k.is_leased for k in self.model.known)
        assert counts.leased == len(self.leases)
        assert counts.pages == len(pages)
        assert counts.labelled == sum(r.is_rated for _, r in pages)
        assert counts.relevant == sum(r.is_wanted for _, r in pages)
        assert counts.hosts == len({host_of(url) for url, _ in pages})
        states, hosts = self.frontier.host_states(), {k.host for k in self.model.known}
        full = sum(map(self.model.is_host_full, hosts))
        assert (states.fetching, states.full) == (len(self.leases), full)

    @invariant()
    def wake_up_is_not_late(self) -> None:
        """Compare the time at which a URL will be ready."""
        if not hasattr(self, "frontier"):
            return
        ready_at = self.frontier.ready_at(self.now)
        if self.model.is_budget_leased():
            self.check_wake_up_of_the_exhausted(ready_at)
            return
        leased = {k.host for k in self.model.known if k.is_leased}
        waiting = [k for k in self.model.known if k.is_queued and k.host not in leased]
        times = [self.model.ready_from.get(k.host, 0.0) for k in waiting]
        if times:
            assert ready_at is not None
            latest = max(self.now, min(times))
            candidates = {k.link.url: k.link.score for k in self.model.candidates(self.now)}
            assert ready_at <= latest + self.patience * self.may_wait(candidates)

    def check_wake_up_of_the_exhausted(self, ready_at: float | None) -> None:
        """Check the answer while all of the budget is leased."""
        assert ready_at is None

    def teardown(self) -> None:
        """Compare what was settled, and end the crawl."""
        if hasattr(self, "frontier"):
            self.check_records([(url, r.outcome) for url, r in self.model.records])
            self.end_crawl()

    def check_records(self, expected: list[tuple[str, str]]) -> None:
        """Compare URL and outcome of what was settled."""
        assert self.settled() == expected
        assert self.lowered() == self.model.lowered

    def end_crawl(self) -> None:
        """Close the frontier and remove its folder."""
        self.kill()
        self.folder.cleanup()
