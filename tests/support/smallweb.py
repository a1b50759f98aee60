"""A web of a chosen number of pages that all can be reached, for crawls that must find each."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.sentences import SENTENCES
from langfocus.crawler.sources.contract import NO_HEADERS, Answer, Unreachable

__all__ = ["SENTENCES"]


@dataclass(frozen=True, slots=True)
class SmallWeb:
    """`pages` pages, `per_host` on a host; page n links to 2n+1, 2n+2 and some others."""

    pages: int = 300
    per_host: int = 10

    def url(self, number: int) -> str:
        return f"http://host{number // self.per_host}.example.de/page/{number}"

    def language(self, number: int) -> str:
        return ("de", "de", "en", "fr")[number // self.per_host % 4]

    def urls(self) -> list[str]:
        return [self.url(number) for number in range(self.pages)]

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(
                200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /no/\n"
            )
        if url.endswith("/tdmrep.json"):
            return Answer(404)
        number = int(url.rpartition("/")[2])
        if number >= self.pages or url != self.url(number):
            raise Unreachable("dns", url)
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), self._body(number))

    def _body(self, number: int) -> bytes:
        random = Random(number)
        targets = [
            2 * number + 1,
            2 * number + 2,
            *(random.randrange(self.pages) for _ in range(4)),
        ]
        links = "".join(f'<a href="{self.url(n)}">{n}</a> ' for n in targets if n < self.pages)
        sentence = SENTENCES[self.language(number)]
        return (
            f"<html><body><p>{sentence * 3}</p>{links}<a href='/no/x'>x</a></body></html>".encode()
        )
