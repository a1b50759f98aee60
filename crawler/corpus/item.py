"""The item of a page: what feeds and pipelines get during a crawl, and exports after it."""

from dataclasses import asdict, dataclass, fields
from typing import Any, TypedDict


class OtherParagraph(TypedDict):
    """A paragraph that is not in the language of its page."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class PageItem:
    """A page with a final status and its text.

    The columns of the run's table `pages` are those of `crawler.page_row.PageRow`; a page that no
    run knows has None for `parent`, `score` and `depth`, and a file without a date for
    `fetched_at`. `is_relevant` is True if the page is in the language that was asked for. The last
    fields are None in a feed without `crawler.spiders.items.TextPipeline`. `text` has one paragraph
    in each line, without those in other languages and without lines that its host repeats; `words`
    is the number of its words. `repeated` are the numbers, from 0, of the repeated lines in `text`,
    if they were asked for. `duplicate_of` is the URL of an earlier page with nearly the same text.
    `links` is None if the run does not keep links (LANGFOCUS_LINKS).
    """

    url: str
    parent: str | None
    status: int | None
    language: str | None
    confidence: float | None
    method: str | None
    is_relevant: bool
    charset: str | None
    country: str | None
    directives: str | None
    robots_txt: str | None
    bytes: int
    score: float | None
    depth: int | None
    fetched_at: float | None
    title: str | None = None
    text: str | None = None
    words: int | None = None
    other_paragraphs: list[OtherParagraph] | None = None
    repeated: list[int] | None = None
    duplicate_of: str | None = None
    links: list[str] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


FIELDS = tuple(field.name for field in fields(PageItem))
