"""What becomes of a URL, whatever a server answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.pages.html.links import MAX_LINKS
from langfocus.classifiers.pages.parse import MAX_BYTES
from langfocus.crawler.frontier.base import Lease, Record, Sending
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.http.download import Download, RobotsVersion
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.configured import page_method
from langfocus.crawler.reading.copied_text import DOMAINS
from langfocus.crawler.reading.page import TIMEOUT, page_reader
from langfocus.crawler.session.visit import MAX_REDIRECTS, SLOW_PAGES, Visitor
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import Filter, make_filter
from langfocus.crawler.strategies.links import SEED, Link
from langfocus.crawler.strategies.orderings import BREADTH_FIRST
from langfocus.crawler.url import normalise
from langfocus.testing.frontiers import META
from tests.crawler.frontier.test_frontier_contract import lease_now
from tests.crawler.reading.test_copied_text import TEXT
from tests.support.crawls import rows
from tests.support.dropped import dropped_run

ANYTHING = make_filter("none")
GERMAN = (
    "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 3 + "</p>"
)
ENGLISH = "<p>" + "This page is written in plain English, as you can see. " * 5


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Visit:
    """A frontier with one seed, a visitor, and what was settled."""

    def __init__(
        self,
        folder: Path,
        seed: str = "http://a.de/",
        rule: Filter = ANYTHING,
        *,
        ordering: str = "bfs",
        obeys_directives: bool = True,
        keeps_cookies: bool = False,
    ) -> None:
        self.clock = Clock()
        self.folder = folder
        run = dropped_run(folder, META, self.clock.now)
        rules = FrontierRules(filter=rule)
        self.frontier = SqliteFrontier(run.connection, rules, now=self.clock.now)
        known, method = make_ordering(ordering, "de"), page_method("composite")
        self.settled: list[tuple[Lease, Record]] = []
        self.visitor = Visitor(
            self.frontier,
            known,
            Config("de", obeys_directives=obeys_directives, keeps_cookies=keeps_cookies),
            page_reader(method, known, "de", obeys_directives=obeys_directives),
            self.clock,
            country_of=lambda ip: "DE" if ip else None,
            listeners=[lambda lease, record: self.settled.append((lease, record))],
        )
        self.frontier.seed(self.visitor.links([seed], SEED), self.clock.now)

    def lease(self) -> Lease:
        return lease_now(self.frontier, self.clock.now)

    def answer(self, status: int = 200, body: str | bytes = b"", **headers: object) -> Lease:
        lease = self.lease()
        assert self.frontier.send(lease, None, now=self.clock.now) is Sending.NOW
        body = body.encode() if isinstance(body, str) else body
        download = Download(lease.url, status, body, **{"content_type": "text/html", **headers})  # type: ignore[arg-type]  # by name, in tests only
        self.visitor.answered(lease, download)
        return lease

    def outcomes(self) -> list[tuple[Any, ...]]:
        return rows(self.folder, "SELECT url, outcome FROM pages ORDER BY id")

    def counts(self) -> dict[str, int]:
        return dict(rows(self.folder, "SELECT name, value FROM counts"))

    def queued(self) -> Sequence[str]:
        return [
            url for (url,) in rows(self.folder, "SELECT url FROM urls WHERE queued = 1 ORDER BY id")
        ]


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    return Visit(tmp_path)


def test_a_page_is_labelled_and_its_links_are_queued(visit: Visit) -> None:
    visit.answer(
        body=GERMAN + "<a href='/x#y'>x</a><a href='http://www.A.de/y'>y</a><a href='/z.jpg'>z</a>",
        ip="192.0.2.1",
    )
    (_, record) = visit.settled[0]
    assert (record.outcome, record.status, record.language, record.is_relevant) == (
        "page",
        200,
        "de",
        True,
    )
    assert record.country == "DE"
    assert visit.counts()["parser_lexbor"] == 1
    assert visit.queued() == ["http://a.de/x", "http://www.a.de/y"]


NO_CANDIDATES = [
    ("/a.jpg", "ignored_file"),
    ("/c.pdf?x", "ignored_file"),
    ("/" + "x" * 3000, "ignored_url"),
    ("/x/x/x/", "ignored_trap"),
    ("https://b.de:6667/", "ignored_port"),
]
NO_URLS = ["http://[", "javascript:alert(1)", "mailto:a@b.de"]


@pytest.mark.parametrize(
    ("status", "link", "name"),
    [
        *((200, *row) for row in NO_CANDIDATES),
        *((302, *row) for row in NO_CANDIDATES),
        *((302, link, "ignored_url") for link in NO_URLS),
    ],
)
def test_a_link_or_redirect_to_what_is_no_candidate_is_counted_and_left_out(
    visit: Visit, status: int, link: str, name: str
) -> None:
    links = "".join(f"<a href='{one}'>x</a>" for one in (link, "//a.de:8080/a/a/"))
    visit.answer(status, GERMAN + links, location=link)
    assert visit.queued() == ["http://a.de:8080/a/a/"] * (status == 200)
    assert visit.counts()[name] == 1


def test_a_seed_is_fetched_however_it_looks(tmp_path: Path) -> None:
    assert Visit(tmp_path, "http://a.de/x/x/x/").lease().url == "http://a.de/x/x/x/"


@pytest.mark.parametrize(("expected", "score"), [(None, 0.0), ("only", 2.0**-20)])
def test_a_crawl_of_expected_urls_alone_expects_its_seeds(
    visit: Visit, expected: str | None, score: float
) -> None:
    ordering, config = make_ordering("cctld", "de"), Config("de", expected=expected)
    read = page_reader(page_method("composite"), ordering, "de")
    visitor = Visitor(visit.frontier, ordering, config, read, visit.clock)
    assert [link.score for link in visitor.links(["http://a.com/"], SEED)] == [score]


@pytest.mark.parametrize(
    ("status", "headers", "outcome"),
    [
        *((status, {}, ("page", status, None)) for status in (404, 410, 403)),
        *((status, {}, ("protocol", None, None)) for status in (-200, 0, 99, 1000, 10**22)),
        (301, {"location": "https://www.a.de/start"}, ("redirect", 301, None)),
        (200, {"content_type": "application/pdf"}, ("media", 200, None)),
        (200, {"is_cut": True}, ("page", 200, "de")),
    ],
)
def test_an_answer_has_an_outcome_and_only_a_text_has_a_label(
    visit: Visit, status: int, headers: dict[str, Any], outcome: tuple[object, ...]
) -> None:
    visit.answer(status, GERMAN, **headers)
    (_, record) = visit.settled[0]
    assert (record.outcome, record.status, record.language) == outcome
    assert visit.counts().get("cut_short", 0) == ("is_cut" in headers)
    assert "cut_long" not in visit.counts()
    assert visit.queued() == ([headers["location"]] if "location" in headers else [])
    assert visit.frontier.counts().pages == (outcome[0] == "page")
    assert rows(visit.folder, "SELECT directives, robots_txt FROM pages") == [(None, None)]


@pytest.mark.parametrize(("method", "language"), [("top-level-domain", "de"), ("composite", None)])
def test_a_page_without_text_has_a_language_if_the_method_reads_urls(
    method: str, language: str | None
) -> None:
    empty = Download("http://www.beispiel.de/", 200, b"<img src=plakat.png>", "text/html")
    reading = page_reader(page_method(method), BREADTH_FIRST, "de")(empty, 1)
    assert reading.language == language


HEX = "d467eae2e2b379fbffdf3f72b57009f3"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("?a=1&b=2", "?b=2&a=1&utm_source=y"),
        (f"?sid={HEX}&b=2&a=1", "/x?a=1&b=2"),
        ("//a.de//x?b=2&a=1", "?a=1&b=2"),
        ("https://a.de/x?b=2&a=1", "https://a.de/x?b=2&a=1&utm_source=y"),
        ("http://www.a.de/x/?b=2&a=1", "http://a.de/x?a=1&b=2"),
    ],
)
def test_a_redirect_to_another_spelling_of_the_page_is_followed_once(
    tmp_path: Path, first: str, second: str
) -> None:
    visit = Visit(tmp_path, seed="http://a.de/x?b=2&a=1")
    visit.answer(302, location=first)
    assert visit.settled == []
    assert visit.queued() == [normalise(first, "http://a.de/x")]
    visit.answer(302, location=second)
    assert [outcome for _, outcome in visit.outcomes()] == ["redirect"]
    assert visit.queued() in ([], [normalise(second, "http://a.de/x")])
    hosts = rows(tmp_path, "SELECT host, sent, settled FROM hosts")
    assert hosts == [("a.de", 1, 1)]


@pytest.mark.parametrize(
    ("body", "canonical", "link", "is_same"),
    [
        (GERMAN, "/home", "/home", True),
        (GERMAN, "//b.de/home", "//b.de/home", False),
        (GERMAN, "http://[", "/home", False),
        (GERMAN, "/?utm_source=x", "/home", False),
        (ENGLISH, "/de/", "/de/", False),
    ],
)
def test_only_a_canonical_url_of_a_relevant_page_on_its_host_is_the_same_page(
    visit: Visit, body: str, canonical: str, link: str, is_same: bool
) -> None:
    visit.answer(body=f"{body}<link rel=canonical href='{canonical}'><a href='{link}'>x</a>")
    known = rows(visit.folder, "SELECT url, queued FROM urls WHERE id > 1")
    assert known == [(normalise(link, "http://a.de/"), 2 if is_same else 1)]


@pytest.mark.parametrize(
    ("refresh", "body", "outcome", "queued"),
    [
        ("0; url=/b", GERMAN, "redirect", ["http://a.de/b"]),
        ("1; url=/b", GERMAN, "redirect", ["http://a.de/b"]),
        ("2; url=/b", GERMAN, "page", ["http://a.de/b"]),
        ("30; url=/b", "<p>12", "redirect", ["http://a.de/b"]),
        ("31; url=/b", "<p>12", "page", []),
        ("0; url=/#top", GERMAN, "page", []),
        ("0; url=/b.zip", GERMAN, "redirect", []),
        ("0; url=/b", f"{GERMAN}<meta name=robots content=nofollow>", "page", []),
    ],
)
@pytest.mark.parametrize("is_header", [True, False])
def test_a_refresh_is_like_a_redirect_while_its_page_is_not_meant_to_be_read(
    visit: Visit, is_header: bool, refresh: str, body: str, outcome: str, queued: list[str]
) -> None:
    head = "" if is_header else f"<meta http-equiv=refresh content='{refresh}'>"
    visit.answer(body=head + body, refresh=refresh if is_header else None)
    assert visit.outcomes() == [("http://a.de/", outcome)]
    assert visit.queued() == queued


def test_a_chain_of_refreshes_ends_like_one_of_redirects(visit: Visit) -> None:
    for number in range(MAX_REDIRECTS + 1):
        visit.answer(refresh=f"0; url=http://b{number}.de/")
        visit.clock.now += 1000
    assert visit.outcomes()[-1] == (f"http://b{MAX_REDIRECTS - 1}.de/", "redirect_loop")
    assert visit.queued() == []


def test_two_pages_that_refresh_to_each_other_are_each_fetched_once(visit: Visit) -> None:
    visit.answer(refresh="0; url=/b")
    visit.clock.now += 1000
    visit.answer(refresh="0; url=/")
    assert visit.queued() == []


@pytest.mark.parametrize(
    ("keeps_cookies", "sets_cookie", "tries"), [(True, True, 2), (True, False, 1), (False, True, 1)]
)
def test_a_redirect_to_itself_is_followed_once_with_the_cookie_that_it_sets(
    tmp_path: Path, keeps_cookies: bool, sets_cookie: bool, tries: int
) -> None:
    visit = Visit(tmp_path, keeps_cookies=keeps_cookies)
    for _ in range(tries):
        assert visit.outcomes() == []
        visit.answer(302, location="http://a.de/", sets_cookie=sets_cookie)
        visit.clock.now += 1000
    assert visit.outcomes() == [("http://a.de/", "redirect")]
    assert visit.queued() == []


def test_a_redirect_leads_no_further_from_the_seeds(visit: Visit) -> None:
    """By breadth-first search its target is fetched before the links of pages as deep as it."""
    lease = visit.answer(301, location="https://b.de/")
    target = visit.lease()
    assert (target.depth, target.score) == (lease.depth, lease.score)


def test_a_server_error_is_tried_three_times_and_then_is_a_page(visit: Visit) -> None:
    for retry_after_s, wait in ((None, 10.0), (100.0, 100.0)):
        visit.answer(503, retry_after_s=retry_after_s)
        assert visit.settled == []
        assert visit.frontier.ready_at(visit.clock.now) == visit.clock.now + wait
        visit.clock.now += wait
    visit.answer(503)
    assert visit.outcomes() == [("http://a.de/", "page")]


def test_failures_are_retried_unless_they_are_final(visit: Visit) -> None:
    visit.visitor.failed(visit.lease(), "timeout", is_final=False)
    assert visit.outcomes() == []
    visit.clock.now += 10.0
    visit.visitor.failed(visit.lease(), "dns", is_final=True)
    assert visit.outcomes() == [("http://a.de/", "dns")]
    assert visit.frontier.counts().pages == 0


NOFOLLOW_PAGE = f"<head><meta name=robots content='nofollow'></head>{GERMAN}<a href='/x'>x</a>"
NOFOLLOW_LINK = f"{GERMAN}<a href='/x' rel=nofollow>x</a>"


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        (NOFOLLOW_PAGE, ()),
        (NOFOLLOW_LINK, ()),
        (f"{GERMAN}<a href='/x'>x</a>", ("none",)),
    ],
)
def test_nofollow_is_obeyed_unless_the_archive_has_the_right_not_to(
    visit: Visit, tmp_path: Path, body: str, statements: tuple[str, ...]
) -> None:
    visit.answer(body=body, statements=statements)
    assert visit.queued() == []
    record = visit.settled[0][1]
    assert record.is_relevant
    assert record.counts["ignored_nofollow"] == 1
    assert visit.counts()["ignored_nofollow"] == 1
    archive = Visit(tmp_path / "archive", obeys_directives=False)
    archive.answer(body=body, statements=statements)
    assert archive.queued() == ["http://a.de/x"]


def test_what_the_owner_says_about_the_use_is_recorded_with_the_page(tmp_path: Path) -> None:
    visit = Visit(tmp_path, obeys_directives=False)
    visit.answer(
        body=f"<meta name=robots content='noai,noarchive'>{GERMAN}",
        statements=("tdm-reservation=1",),
        robots=RobotsVersion("sha256:00", ("content-signal: ai-train=no",)),
    )
    ((statements, version),) = rows(tmp_path, "SELECT directives, robots_txt FROM pages")
    assert json.loads(statements) == {
        "robots.txt": ["content-signal: ai-train=no"],
        "header": ["tdm-reservation=1"],
        "page": ["noai", "noarchive"],
    }
    assert version == "sha256:00"
    assert visit.counts()["opted_out"] == 1
    assert not visit.settled[0][1].is_noarchive


def test_a_host_rests_twice_as_long_after_the_second_failure(visit: Visit) -> None:
    ready = []
    for _ in range(2):
        visit.answer(503)
        ready.append((visit.frontier.ready_at(visit.clock.now) or 0.0) - visit.clock.now)
        visit.clock.now += ready[-1]
    assert ready == [10.0, 20.0]


def test_the_links_of_a_copied_page_have_the_scores_of_an_irrelevant_one(tmp_path: Path) -> None:
    visit = Visit(tmp_path, ordering="soft")
    hosts = [f"http://copy{n}.de/" for n in range(DOMAINS)]
    visit.frontier.seed(visit.visitor.links(hosts, SEED), visit.clock.now)
    for number in range(DOMAINS + 1):
        visit.answer(body=f"<p>{TEXT}</p><a href='/{number}'>x</a>")
    scores = [score for (score,) in rows(tmp_path, "SELECT score FROM urls WHERE queued = 1")]
    assert [record.is_copy for _, record in visit.settled] == [0] * DOMAINS + [1]
    assert scores == [1.0] * DOMAINS + [0.0]


TRANSLATED = """<link rel=alternate hreflang=de-AT href=/q7>
<link rel=alternate hreflang=fr href=/q8>
<a href=/q7>x</a><a href=/q8>x</a><a href=/q9>x</a>"""


def links_of_translated(ordering: str) -> list[Link]:
    read = page_reader(page_method("composite"), make_ordering(ordering, "de"), "de")
    page = Download("http://a.com/", 200, TRANSLATED.encode(), "text/html")
    return sorted(read(page, 1).links, key=lambda link: link.url)


def test_a_declared_translation_is_evidence_for_focus() -> None:
    found = [link.evidence for link in links_of_translated("focus")]
    assert [each and each.declared for each in found] == [1.0, -1.0, 0.0]


def test_a_declared_translation_changes_no_score_of_cctld() -> None:
    assert [link.score for link in links_of_translated("cctld")] == [0.0, 0.0, 0.0]


def test_versions_of_a_page_in_the_language_are_left_out() -> None:
    by, ordering = page_method("composite"), make_ordering("focus", "de")
    read = page_reader(by, ordering, "de", has_one_version=True)
    page = Download("http://a.com/", 200, TRANSLATED.encode(), "text/html")
    found = read(page, 1)
    assert sorted(link.url for link in found.links) == ["http://a.com/q7", "http://a.com/q9"]
    assert (found.versions, found.left_out["ignored_version"]) == (["http://a.com/q8"], 1)
    only_others = Download(page.url, 200, TRANSLATED.replace("de-AT", "en").encode(), "text/html")
    assert len(read(only_others, 1).links) == 3


def test_a_link_that_tells_its_language_is_a_version_within_the_domain() -> None:
    page = Download("http://de.a.com/wiki/Berg", 200, (GERMAN + """
        <a hreflang=en href=//en.a.com/wiki/Mountain>x</a><a hreflang=en href=//b.com/>x</a>
        <a hreflang=x-default href=/any>x</a>""").encode(), "text/html")  # fmt: skip
    read = page_reader(
        page_method("composite"), make_ordering("focus", "de"), "de", has_one_version=True
    )
    found = read(page, 1)
    assert {link.url for link in found.links} == {"http://b.com/", "http://de.a.com/any"}
    assert (found.versions, found.offered) == (["http://en.a.com/wiki/Mountain"], 0)


def test_a_domain_whose_pages_hold_readers_three_times_is_left_alone(tmp_path: Path) -> None:
    visit = Visit(tmp_path)
    other = Lease(1, "http://b.de/", "b.de", 0.0, 0, 0, 0)
    seen = []
    for number in range(3):
        seed = f"http://w{number}.a.de/"
        visit.frontier.seed(visit.visitor.links([seed], SEED), visit.clock.now)
        lease = visit.lease()
        visit.visitor.answered(lease, Download(lease.url, 200, b"a", "text/html"), TIMEOUT)
        visit.clock.now += 100
        seen.append(visit.visitor.refusal(lease))
    assert seen == ["", "", SLOW_PAGES]
    assert not visit.visitor.refusal(other)


def test_what_a_page_has_beyond_its_limits_is_counted(visit: Visit) -> None:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(MAX_LINKS + 5))
    visit.answer(200, GERMAN + links + " " * MAX_BYTES)
    counts = visit.counts()
    assert (counts["cut_long"], counts["ignored_url"]) == (1, 5)


def test_a_page_that_needs_a_browser_is_marked_and_counted(visit: Visit) -> None:
    visit.answer(200, "<html lang=de><div id=root></div><script src=/a.js></script>")
    record = visit.settled[0][1]
    assert (record.needs_browser, record.language, record.method) == (1, "de", "declaration")
    assert visit.counts()["needs_browser"] == 1
