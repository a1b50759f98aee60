"""Farms of translated pages, recognised by the number of languages that they offer.

Some human sites offer as many. Therefore the evidence only changes the order of a crawl: see
`Scorer.note`.
"""

import re
from collections.abc import Sequence
from typing import Final

MOST_VERSIONS: Final = 10
"""Versions of the mean page of a domain that is no farm; learned (docs/research/focus.md)."""

MOST_DOMAINS: Final = 10_000
"""Most domains whose versions are remembered."""

_CODE: Final = re.compile(
    r"[/.=_-][a-z]{2}(?:[-_][a-z]{2})?(?=[/.?&\n]|\Z)|\.[a-z]{3}(?=/)", re.ASCII
)
"""What may differ between the URLs of two versions: language, region, top-level domain."""


def versions_of(url: str, links: Sequence[str], declared: int) -> int:
    """Return how many versions a page links to, or has in `hreflang` if these are more.

    All URLs are normalised.
    """
    path = url.partition("?")[0]
    tail = path[path.rindex("/") :]
    alike = {link for link in links if tail in link and (tail != "/" or link[-1] == "/")}
    form, *forms = _CODE.sub("", "\n".join([url, *alike])).split("\n")
    return max(forms.count(form), declared)


class Farms:
    """The versions of the relevant pages of the latest domains."""

    def __init__(self) -> None:
        """Start empty."""
        self.domains: dict[str, tuple[int, int]] = {}

    def is_farm(self, domain: str, versions: int) -> bool:
        """Return True if a domain is probably a farm, with another relevant page."""
        pages, before = self.domains.pop(domain, (0, 0))
        self.domains[domain] = pages + 1, before + versions
        if len(self.domains) > MOST_DOMAINS:
            del self.domains[next(iter(self.domains))]
        return before + versions > MOST_VERSIONS * (pages + 1)
