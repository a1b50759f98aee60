"""The number of languages that a page offers: evidence of a farm of translated pages."""

import re
from collections.abc import Sequence
from typing import Final

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
