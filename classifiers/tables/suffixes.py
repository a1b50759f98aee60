"""The public suffix list of the project: under which names domains are registered.

tldextract reads it from `public-suffixes.dat`, not from the snapshot of its own release.
`python -m benchmarks.facts` compares the two.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tldextract import TLDExtract

SUFFIXES: Final = Path(__file__).with_name("public-suffixes.dat")


@cache
def suffix_reader(*, has_platforms: bool) -> "TLDExtract":
    """Return a reader of host names; nothing is fetched or written.

    With `has_platforms` the names of platforms (`github.io`) are public suffixes, too.
    """
    from tldextract import TLDExtract

    reader = TLDExtract(
        cache_dir=None,
        suffix_list_urls=(SUFFIXES.as_uri(),),
        fallback_to_snapshot=False,
        include_psl_private_domains=has_platforms,
    )
    session: Any = _FileSession()
    reader("", session=session)  # reads the list, once
    return reader


class _FileSession:
    """The part of a session of requests that tldextract uses.

    requests would guess the encoding of a file and leave it open.
    """

    def get(self, url: str, **_: object) -> "_FileSession":
        return self

    def raise_for_status(self) -> None:
        """A file has no status; a missing one raises OSError in `text`."""

    @property
    def text(self) -> str:
        return SUFFIXES.read_text(encoding="utf-8")
