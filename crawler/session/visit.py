"""The steps after a download: parse the page once, identify it, score its links, settle the URL.

This module does not import Scrapy. The spider, the simulator and the tests pass downloads in.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from langfocus.classifiers.pages.parse import MAX_BYTES
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.frontier.base import (
    PAGE,
    REDIRECT,
    RENDERED,
    SITEMAP,
    UNCHANGED,
    Frontier,
    KnownUrlError,
    Lease,
    Record,
    Visit,
)
from langfocus.crawler.frontier.outgoing import Outgoing
from langfocus.crawler.frontier.slots import least_expected
from langfocus.crawler.http.download import Download, Exchange, is_document, is_status, is_text
from langfocus.crawler.options.config import Config
from langfocus.crawler.outputs.warc import WarcArchive
from langfocus.crawler.politeness import directives
from langfocus.crawler.politeness.blocking import BLOCKED
from langfocus.crawler.politeness.directives import NOARCHIVE
from langfocus.crawler.politeness.scope import OUT_OF_SCOPE, Scope
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.reading.copied_text import CopiedTexts
from langfocus.crawler.reading.page import TIMEOUT, UNREAD, Reading, ReadPage
from langfocus.crawler.sources.revisits import Earlier, visit_of
from langfocus.crawler.sources.sitemaps import Sitemap, Sitemaps
from langfocus.crawler.strategies.links import SEED, Link, LinkSource
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.url import (
    domain_of,
    fingerprint,
    host_of,
    is_document_file,
    is_unwanted_file,
    is_unwanted_without_documents,
    normalise,
    spelling_key,
)

if TYPE_CHECKING:
    from langfocus.crawler.session.embeds import Embeds

INTERRUPTED = "interrupted"
"""Outcome of a URL whose requests were all interrupted by kills."""

PROTOCOL = "protocol"
"""The outcome of a URL whose server does not keep to HTTP."""

UNEXPECTED = "unexpected"
"""Outcome of a document that is not expected in the language."""

OTHER_VERSION = "other_version"
"""Outcome of a URL whose page is known in the target language under another URL."""

SLOW_PAGES = "slow_pages"
"""Outcome of a URL in a domain with too many pages beyond the time limit."""

_MOST_SLOW = 3
"""Slow pages of a domain after which its other URLs get no request."""

NO_ADDRESS = "dns"
"""Failure reason for a host without an address."""

_NOTHING: Mapping[str, int] = {}

MAX_REDIRECTS = 20
"""Redirects in a row after which a chain ends."""

_NOT_MODIFIED = 304
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


OnSettled = Callable[[Lease, Record], None]
"""Called with each ended lease and its record."""


class Visitor:
    """Turns downloads into records and links, and settles their URLs in the frontier.

    Without an `archive` no exchange is kept. Without `sitemaps` a sitemap is a file or a page like
    others. `country_of` returns the country
    of an IP address, None if it is unknown. URLs that `is_blocked` get no request. `earlier`
    returns the page of an earlier run with a URL. `embeds` queues what relevant pages embed.
    """

    def __init__(
        self,
        frontier: Frontier,
        ordering: Ordering,
        config: Config,
        read: ReadPage,
        clock: Callable[[], float],
        *,
        listeners: Sequence[OnSettled] = (),
        archive: WarcArchive | None = None,
        sitemaps: Sitemaps | None = None,
        country_of: Callable[[str | None], str | None] = lambda _: None,
        is_blocked: Callable[[str], bool] = lambda _: False,
        earlier: Callable[[str], Earlier | None] = lambda _: None,
        embeds: "Embeds | None" = None,
    ) -> None:
        """Score links by `ordering` and `read` downloads; `clock` returns unix seconds."""
        self._frontier = frontier
        self._ordering = ordering
        self._config, self._targets = config, config.targets
        self._read = read
        self._clock = clock
        self.listeners = list(listeners)
        self._archive = archive
        self._sitemaps = sitemaps
        self._country_of, self._is_blocked, self._earlier = country_of, is_blocked, earlier
        self._copied_texts = CopiedTexts()
        self.embeds = embeds
        self._scope: Scope | None = config.scope
        self._slow = Counter[str]()
        self._outgoing = Outgoing(config.domain_slots)
        self._is_unwanted = is_unwanted_without_documents if config.documents else is_unwanted_file

    def links(
        self, urls: Sequence[str], source: LinkSource, *, has_files: bool = False
    ) -> list[Link]:
        """Return seed URLs as links, normalised and scored in one batch.

        Blocked URLs are left out, traps are not, and files by their name only with `has_files`.
        """
        normal = [url for url in map(normalise, urls) if url]
        normal = [url for url in normal if has_files or not self._is_unwanted(url)]
        normal = [url for url in normal if not self._is_blocked(url)]
        found = self._as_seeds(self._ordering.links(list(dict.fromkeys(normal)), source))
        return self.within_scope(found)

    def within_scope(self, links: Sequence[Link]) -> list[Link]:
        """Return the links that `-a scope` does not refuse, with the scores that it decides."""
        return list(links) if self._scope is None else self._scope.kept(links)

    def with_evidence(self, links: Sequence[Link]) -> list[Link]:
        """Return links with known scores, with evidence for a learning ordering."""
        if self._ordering.evidence_of is None:
            return list(links)
        known = self._ordering.links([link.url for link in links], SEED)
        return [replace(one, evidence=of.evidence) for one, of in zip(links, known, strict=True)]

    def _as_seeds(self, links: Sequence[Link]) -> list[Link]:
        """With `expected=only`, raise every seed's score to the expected threshold."""
        doubts_up_to = self._ordering.doubts_up_to
        if not self._config.expected or doubts_up_to is None:
            return list(links)
        least = least_expected(doubts_up_to)
        return [replace(link, score=max(link.score, least)) for link in links]

    def reads(self, lease: Lease, download: Download) -> bool:
        """Return True if the answer of a server is probably a page that `answered` would read."""
        is_success = 200 <= download.status < 300
        return is_success and self._is_page(download) and not self.is_sitemap(lease)

    def _is_page(self, download: Download) -> bool:
        """Return True if an answer may be a page, or a document that the crawl reads."""
        return is_text(download.content_type, download.body) or (
            self._config.documents
            and is_document(download.content_type, download.url, download.body)
            and len(download.body) <= self._config.document_bytes
        )

    def expects(self, lease: Lease) -> bool:
        """Return True for a seed and for a URL that is expected in the language."""
        doubts_up_to = self._ordering.doubts_up_to
        return not lease.depth or doubts_up_to is None or lease.score > doubts_up_to

    def read(self, download: Download, lease: Lease) -> Reading:
        """Return a page's reading, for a caller that needs it before `answered`."""
        return self._read(download, lease.depth)

    def is_last(self, lease: Lease, download: Download) -> bool:
        """Return True if `answered` will settle a URL as a page, a file or an error."""
        return not (
            self._discarded(lease, download)
            or _leads_on(download)
            or (self._is_passing(download) and self.has_retries(lease))
            or self.is_sitemap(lease)
        )

    def _discarded(self, lease: Lease, download: Download) -> str:
        """Return the outcome of an answer that is discarded, else ""."""
        if self._is_blocked(lease.url):
            return BLOCKED
        return "" if is_status(download.status) else PROTOCOL

    def _is_passing(self, download: Download) -> bool:
        return download.status in self._config.retry_statuses

    def has_retries(self, lease: Lease) -> bool:
        """Return True if a URL may be queued again after a failure."""
        return lease.retries < self._config.retry_times

    def answered(
        self, lease: Lease, download: Download, page: Reading | str | None = None
    ) -> Record | None:
        """Settle an answered URL; None for a URL queued again.

        A URL is queued again for a retry, or once after a redirect to another spelling of the same
        page. The answer of a URL blocked meanwhile is discarded. `page` is a page read before, or
        the outcome of an unreadable page.
        """
        if outcome := self._discarded(lease, download):
            return self._settle(lease, Record(outcome, self._clock(), bytes=download.wire_bytes))
        is_success = 200 <= download.status < 300
        if _leads_on(download):
            return self._redirected(lease, download)
        if self._is_passing(download) and self._retried(lease, download.retry_after_s or 0.0):
            return None
        if self._sitemaps is not None:
            now = self._clock()
            found = self._sitemaps.read(lease, download, now) if is_success else None
            if found is None and self._sitemaps.is_file(lease):
                found = Sitemap({})
            if found is not None:
                links, left_out = self._sitemaps.of_file(lease, found, now)
                record = self._record(SITEMAP, download, left_out=left_out)
                return self._settle(lease, record, links, download=download)
        if not is_success:
            return self._settle_other(lease, download)
        return self._settle_page(lease, download, page)

    def failed(
        self, lease: Lease, reason: str, *, is_final: bool, received: int = 0
    ) -> Record | None:
        """Settle a URL after a failed download; None if the URL is queued again for a retry.

        `received` are the bytes of its body that came.
        """
        if not is_final and self._retried(lease):
            return None
        return self._settle(lease, Record(reason, self._clock(), bytes=received))

    def refused(self, lease: Lease, reason: str) -> None:
        """Settle a URL without contacting its host."""
        self._settle(lease, Record(reason, self._clock(), was_contacted=False))

    def _settle_page(
        self, lease: Lease, download: Download, page: Reading | str | None
    ) -> Record | None:
        if not self._is_page(download):
            page = "media"
        if isinstance(page, str):
            if page == TIMEOUT:
                self._slow[domain_of(lease.host)] += 1
            return self._settle(lease, self._record(page, download), download=download)
        reading = page or self._read(download, lease.depth)
        if reading.leads_to and self.follows(download, reading):
            said = (*download.statements, *reading.statements)
            leading = replace(download, location=reading.leads_to, statements=said)
            return self._redirected(lease, leading)
        domain = domain_of(lease.host)
        wanted = [link for link in reading.links if not self._is_blocked(link.url)]
        left_out = reading.left_out | {"blocked": len(reading.links) - len(wanted)}
        record = replace(
            self._record(PAGE, download, reading, left_out),
            canonical=self._canonical(lease, reading),
            versions=reading.versions,
            offered=reading.offered,
            visit=self._visit(lease, download, reading.digest),
        )
        if self._scope is not None and record.is_download:
            in_scope = self._scope.takes_page(lease.url, record.country)
            record = replace(record, in_scope=int(in_scope))
        if record.is_wanted and self._copied_texts.is_copy(reading.sketch, domain):
            record = replace(record, is_relevant=False, is_copy=1)
            source = LinkSource(is_relevant=False, depth=lease.depth)
            wanted = self._ordering.links([link.url for link in wanted], source)
        if self._sitemaps is not None and record.is_wanted:
            # Sitemaps come before the links of the page, which may fill the queue of the host.
            wanted = self._sitemaps.of_page(lease, reading.feeds, self._clock()) + wanted
        # Before the page is settled: a kill in between fetches the page again, and loses no file.
        if self.embeds is not None and record.is_wanted and not record.is_noarchive:
            self.embeds.add(lease.fingerprint, reading.embeds)
        return self._settle(lease, record, wanted, download=download)

    def follows(self, download: Download, reading: Reading) -> bool:
        """Return True if nothing forbids to follow the refresh of a page."""
        said = {*download.statements, *reading.statements}
        return not (self._config.obeys_directives and directives.forbids_links(said))

    def _settle_other(self, lease: Lease, download: Download) -> Record:
        """Settle a URL without a page: after an error, or after status 304 for an earlier page."""
        earlier = self._earlier(lease.url) if download.status == _NOT_MODIFIED else None
        if earlier is None:
            return self._settle(lease, self._record(PAGE, download), download=download)
        record = replace(
            self._record(UNCHANGED, download),
            language=earlier.language,
            confidence=earlier.confidence,
            method=earlier.method,
            charset=earlier.charset,
            in_scope=int(self._scope is not None and self._scope.takes(lease.url)),
            visit=self._visit(lease, download, ""),
        )
        return self._settle(lease, record, download=download)

    def _visit(self, lease: Lease, download: Download, digest: str) -> Visit:
        earlier = self._earlier(lease.url)
        return visit_of(earlier, digest, download.etag, download.modified, self._clock())

    def _redirected(self, lease: Lease, download: Download) -> Record | None:
        if lease.redirects >= MAX_REDIRECTS:
            record = self._record("redirect_loop", download)
            return self._settle(lease, record, download=download)
        found = absolute(download.location or "", download.url)
        target = [found] if found and self._may_lead(lease, found) else []
        # The target has the depth of the URL: one more than the linking page.
        wanted, left_out = sift(target, self._is_blocked, self._is_unwanted)
        is_refused = self._scope is not None and any(map(self._scope.refuses, wanted))
        if not is_refused and any(self._respelled(lease, url, download) for url in wanted):
            return None
        links = self._ordering.links(wanted, LinkSource(is_relevant=True, depth=lease.depth - 1))
        links = self._as_seeds(links) if lease.depth == 0 else links
        left_out["ignored_url"] += not found
        record = self._record(REDIRECT, download, left_out=left_out)
        return self._settle(lease, record, links, download=download)

    def _respelled(self, lease: Lease, url: str, download: Download) -> bool:
        """Queue a URL again in the spelling of its redirect; False for a redirect to another URL.

        With cookies, also after a redirect to itself with a new cookie.
        """
        is_same = spelling_key(url) == spelling_key(lease.url)
        # With the cookie that its server sets, the same URL counts as another URL.
        is_same = is_same and (
            url != lease.url or (download.sets_cookie and self._config.keeps_cookies)
        )
        if not is_same or lease.is_respelled:
            return False
        now, is_kept = self._clock(), self.may_keep(download.statements)
        try:
            with self._keeping(lease, None, download.exchange if is_kept else None):
                self._frontier.retry(lease, now=now, not_before=now, url=url)
        except KnownUrlError:
            return False
        return True

    def is_sitemap(self, lease: Lease) -> bool:
        """Return True for a URL fetched as a sitemap or feed, within the host's budget."""
        return self._sitemaps is not None and self._sitemaps.is_file(lease)

    def refusal(self, lease: Lease) -> str:
        """Return the outcome of a URL whose fetch would be of no use, else ""."""
        if lease.retries > self._config.retry_times:
            return INTERRUPTED
        if self._slow and self._slow[domain_of(lease.host)] >= _MOST_SLOW:
            return SLOW_PAGES
        if self._config.documents and is_document_file(lease.url) and not self.expects(lease):
            return UNEXPECTED
        return ""

    def keep_file(self, exchange: Exchange | None, statements: Collection[str]) -> None:
        """Archive an exchange that settles no URL; raises `StorageError`.

        `statements` are the answer's statements, which may forbid archiving.
        """
        if self._archive is not None and exchange is not None and self.may_keep(statements):
            self._archive.add(exchange)

    def _keeping(
        self, lease: Lease, record: Record | None, exchange: Exchange | None
    ) -> AbstractContextManager[None]:
        """Archive an exchange while the block settles or requeues its URL."""
        if self._archive is None:
            return nullcontext()
        return self._archive.keeping(lease, record, exchange)

    def may_keep(self, statements: Collection[str]) -> bool:
        """Return True if an answer with these statements may be archived."""
        return NOARCHIVE not in statements or not self._config.obeys_directives

    def _may_lead(self, lease: Lease, url: str) -> bool:
        target = normalise(url) or ""
        if self._config.is_census and host_of(target) != lease.host:
            return False
        return self._sitemaps is None or self._sitemaps.may_lead(lease, target, self._clock())

    def _retried(self, lease: Lease, hold_s: float = 0.0) -> bool:
        """Put a URL back into the queue and return True, unless its retries are used up."""
        now = self._clock()
        if not self.has_retries(lease):
            return False
        rest_s = self._config.rest_s(lease.retries + 1, hold_s)
        self._frontier.retry(lease, now=now, not_before=now + rest_s)
        return True

    def _record(
        self,
        outcome: str,
        download: Download,
        reading: Reading | None = None,
        left_out: Mapping[str, int] = _NOTHING,
    ) -> Record:
        robots, is_page, reading = download.robots, reading is not None, reading or UNREAD
        has_browser = is_page and download.is_rendered
        sources = {
            "robots.txt": robots.signals if robots else (),
            directives.TDMREP: download.reserved,
            "header": download.statements,
            "page": reading.statements,
        }
        statements = [statement for source in sources.values() for statement in source]
        is_noarchive = not self.may_keep(statements)
        counts = {
            **left_out,
            "cut_short": download.is_cut,
            "cut_long": left_out.get("cut_long", is_page and len(download.body) > MAX_BYTES),
            "noarchive": is_noarchive,
            "needs_browser": reading.needs_browser,
            "opted_out": directives.opts_out(sources),
        }
        if reading.parser is not None:
            counts[f"parser_{reading.parser}"] = 1
        return Record(
            outcome,
            self._clock(),
            status=download.status,
            is_download=is_page,
            is_relevant=is_page and reading.language in self._targets,
            language=reading.language,
            confidence=reading.confidence,
            method=reading.method,
            charset=reading.charset,
            words_read=reading.words,
            needs_browser=RENDERED if has_browser else int(reading.needs_browser),
            country=self._country_of(download.ip),
            address=download.ip,
            bytes=download.wire_bytes,
            is_noarchive=is_noarchive,
            directives=directives.written(sources),
            robots_txt=robots.name if robots else None,
            counts={name: int(number) for name, number in counts.items() if number},
        )

    def _canonical(self, lease: Lease, reading: Reading) -> str | None:
        """Return the canonical URL of a relevant page, to save another fetch of the same page.

        Many sites name the page in their main language as the canonical URL of all translations; on
        a page in another language, this URL might hide a relevant page.
        """
        if reading.canonical is None or reading.language not in self._targets:
            return None
        url = normalise(reading.canonical)
        if url is None or host_of(url) != lease.host or fingerprint(url) == lease.fingerprint:
            return None
        return url

    def _settle(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        download: Download | None = None,
    ) -> Record:
        exchange = None if download is None else download.exchange
        domain = domain_of(lease.host)
        if self._scope is not None and links:
            kept = self._scope.kept(links)
            if refused := len(links) - len(kept):
                record = replace(record, counts={**record.counts, OUT_OF_SCOPE: refused})
            links = kept
        if record.outcome != REDIRECT:
            kept = self._outgoing.kept(domain, links, is_relevant=record.earns_slots)
            if left_out := len(links) - len(kept):
                record = replace(record, counts={**record.counts, "source_full": left_out})
            links = kept
        with self._keeping(lease, record, exchange):
            answers = self._frontier.admit(lease, record, links, now=self._clock())
        self._outgoing.count(domain, links, answers)
        for listener in self.listeners:
            listener(lease, record)
        return record


def _leads_on(download: Download) -> bool:
    return download.status in _REDIRECTS and bool(download.location)
