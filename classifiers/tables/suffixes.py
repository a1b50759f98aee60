"""Public suffix list: the suffixes under which domains are registered.

tldextract loads `public-suffixes.dat` instead of the snapshot in tldextract's own release. `python
-m benchmarks.facts` compares both.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tldextract import TLDExtract
    from tldextract.tldextract import ExtractResult

SUFFIXES: Final = Path(__file__).with_name("public-suffixes.dat")


def suffix_reader(*, has_platforms: bool) -> "Callable[[str], ExtractResult]":
    """Return a host name parser; nothing is fetched or written.

    With `has_platforms`, platform names (`github.io`) count as public suffixes.
    """
    return partial(loaded().extract_str, include_psl_private_domains=has_platforms)


@cache
def loaded() -> "TLDExtract":
    """Return the parser, with platforms unless a call says otherwise."""
    from tldextract import TLDExtract

    reader = TLDExtract(
        cache_dir=None,
        suffix_list_urls=(SUFFIXES.as_uri(),),
        fallback_to_snapshot=False,
        include_psl_private_domains=True,
    )
    session: Any = _FileSession()
    reader("", session=session)  # loads the list, once
    return reader


class _FileSession:
    """A stand-in for a requests session, with the methods that tldextract calls.

    requests would guess the file's encoding and leave the file open.
    """

    def get(self, url: str, **_: object) -> "_FileSession":
        return self

    def raise_for_status(self) -> None:
        """Do nothing: a file has no status, and a missing file raises OSError in `text`."""

    @property
    def text(self) -> str:
        return SUFFIXES.read_text(encoding="utf-8")
