"""A resolver of names for crawls that must leave nobody's machine.

crawl(..., TWISTED_DNS_RESOLVER="tests.support.names.GivenNames",
      TEST_NAMES='{"a.example": "127.0.0.1"}')
"""

from collections.abc import Sequence
from typing import Any

from scrapy.crawler import Crawler
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.abstract import isIPAddress
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import DNSLookupError


class GivenNames(CachingThreadedResolver):
    """Knows the names in the setting TEST_NAMES and no others; caches nothing.

    Several addresses with spaces between them are given one after the other, the last for good.
    """

    answers: dict[str, list[str]]

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> "GivenNames":
        resolver = cls(reactor, 0, 1.0)
        names = crawler.settings.getdict("TEST_NAMES")
        resolver.answers = {name: given.split() for name, given in names.items()}
        return resolver

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> "Deferred[Any]":
        answers = self.answers.get(name)
        if answers is None and isIPAddress(name):
            return succeed(name)
        if answers is None:
            return fail(DNSLookupError(name))
        return succeed(answers.pop(0) if len(answers) > 1 else answers[0])
