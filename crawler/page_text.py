"""The text of a page as a run keeps it."""

import json
import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

# Level 6 saves a tenth of the bytes and takes twice as long.
_LEVEL = 3


class Paragraph(NamedTuple):
    """A paragraph of a page's main text.

    `language` is None if it is that of the page. `is_repeated` is True if the same line stood on
    earlier pages of the host.
    """

    text: str
    language: str | None = None
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class PageText:
    """The main text of a page.

    `words` are those of the paragraphs in the page's language that are not repeated. `copy_of` is
    the page (`pages.id`) of which this one is a near-duplicate, None if there is none.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]
    words: int
    copy_of: int | None = None

    def packed(self) -> bytes:
        """Return title and paragraphs as the run stores them: JSON, compressed."""
        rows = [
            [part.text, part.language, int(part.is_repeated)]
            if part.language or part.is_repeated
            else [part.text]
            for part in self.paragraphs
        ]
        content = json.dumps([self.title, rows], ensure_ascii=False, separators=(",", ":"))
        return zlib.compress(content.encode("utf-8", "replace"), _LEVEL)


@dataclass(frozen=True, slots=True)
class NewText:
    """The text of a page that is being settled, and the changes of state that come with it.

    `bands` are the places of its signature in the index of near-duplicates, () for a copy of a page
    that is there already. `copy_url` is the URL of `text.copy_of`. `host_lines` are the lines of
    its host from now on, packed.
    """

    text: PageText
    bands: tuple[int, ...] = ()
    copy_url: str | None = None
    host_lines: str = field(default="", repr=False)


def unpacked(content: bytes, words: int, copy_of: int | None) -> PageText:
    """Return a stored text; raises ValueError if it is damaged."""
    try:
        title, rows = json.loads(zlib.decompress(content))
        parts = tuple(Paragraph(row[0], *_marks(*row[1:])) for row in rows)
        return PageText(str(title), parts, words, copy_of)
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise ValueError(f"the text is damaged: {error}") from error


def _marks(language: str | None = None, is_repeated: int = 0) -> tuple[str | None, bool]:
    return language, bool(is_repeated)
