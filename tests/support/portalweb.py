"""A web of portal pages, one of each kind that a census meets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langfocus.crawler.sources.contract import NO_HEADERS, Answer, Unreachable
from tests.support.smallweb import SENTENCES

HTML = (("Content-Type", "text/html; charset=utf-8"),)
KINDS = (
    "page",
    "moved to a path",
    "page",
    "moved to another host",
    "missing",
    "page",
    "forbidden",
    "unreachable",
    "without text",
    "page",
)
LANGUAGES = ("de", "en", "fr")


@dataclass(frozen=True, slots=True)
class PortalWeb:
    """`hosts` hosts; the kind of a portal page follows from its number, as in `KINDS`."""

    hosts: int = 40

    def host(self, number: int) -> str:
        return f"host{number}.example"

    def lines(self) -> Sequence[str]:
        return [self.host(number) for number in range(self.hosts)]

    def language(self, number: int) -> str:
        return LANGUAGES[number % len(LANGUAGES)]

    def addresses(self) -> Mapping[str, str]:
        """The address of each host: in three countries, or in none."""
        networks = ("81.2.69.160", "89.160.20.112", "216.160.83.56", "192.0.2.1")
        return {self.host(number): networks[number % 4] for number in range(self.hosts)}

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        host, _, path = url.removeprefix("http://").partition("/")
        number = int(host.removeprefix("host").removesuffix(".example"))
        kind = KINDS[number % len(KINDS)]
        if kind == "unreachable":
            raise Unreachable("dns", url)
        if path == "robots.txt":
            rules = b"User-agent: *\nDisallow: /\n" if kind == "forbidden" else b""
            return Answer(200, (("Content-Type", "text/plain"),), rules)
        if kind == "moved to a path" and not path:
            return Answer(302, (("Location", "/start/"),))
        if kind == "moved to another host":
            return Answer(301, (("Location", "http://host0.example/other"),))
        return Answer(404 if kind == "missing" else 200, HTML, self._body(number, kind))

    def _body(self, number: int, kind: str) -> bytes:
        text = "" if kind == "without text" else SENTENCES[self.language(number)] * 3
        link = f"<a href=/inner>x</a><a href=http://{self.host(number + 1)}/inner>y</a>"
        return f"<p>{text}</p>{link}".encode()
