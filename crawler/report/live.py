"""The line that shows the harvest rate while a crawl runs."""

from collections import deque
from collections.abc import Callable

from crawler.frontier.base import Counts
from crawler.report.course import PORTION
from crawler.report.formatting import percent, share_of
from crawler.report.progress import Display

SPEED_OVER_S = 10.0
"""The speed shown is that of the last ten seconds."""


class LiveLine:
    """One line on a display, with the harvest rate of all pages and of the last 200.

    `title` begins the line. `clock` returns increasing seconds, such as `time.monotonic`. `counts`
    are those of earlier sessions; the last 200 pages are those of this session. A census has no
    harvest rate: its line tells the share of pages with a language.
    """

    def __init__(
        self,
        display: Display,
        clock: Callable[[], float],
        title: str,
        counts: Counts,
        *,
        is_census: bool = False,
    ) -> None:
        self._display = display
        self._clock = clock
        self._title = title
        self._counts = counts
        self._is_census = is_census
        self._last: deque[bool | None] = deque(maxlen=PORTION)
        self._shown: Counts | None = None
        self._speeds: deque[tuple[float, int]] = deque([(clock(), counts.pages)])
        self._is_closed = False

    def record(self, is_relevant: bool | None) -> None:
        """Note the label of a page; `None` is a page without one, which is in no rate."""
        self._last.append(is_relevant)

    def show(self, counts: Counts) -> None:
        """Update the line if it is due; cheap enough for every page."""
        self._counts = counts
        if not self._is_closed:
            self._display.update(self, self._updated)

    def close(self) -> None:
        """Leave the last figures on the stream; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._display.close()
        if self._display.is_terminal or self._shown != self._counts:
            self._display.tell(self.text(self._clock()))

    def text(self, now: float) -> str:
        """The line with the figures at `now`, all of them where the display has room."""
        counts = self._counts
        pages = f"{self._title}  {counts.pages:,} pages"
        if self._is_census:
            rate = percent(share_of(counts.labelled, counts.pages))
            named = f"with a language {rate}"
        else:
            rate = percent(share_of(counts.relevant, counts.labelled))
            labelled = len(self._last) - self._last.count(None)
            last = percent(share_of(self._last.count(True), labelled))
            named = f"harvest {rate} (last 200: {last})"
        speed = f"{self._speed(now):,.1f}"
        hosts = f"hosts {counts.hosts:,}"
        whole = f"{pages}  {named}  queue {counts.queued:,}  {hosts}  {speed} pages/s"
        return (
            whole if len(whole) <= self._display.width else f"{pages}  {rate}  {hosts}  {speed}/s"
        )

    def _updated(self) -> str:
        now = self._clock()
        line = self.text(now)
        self._shown = self._counts
        self._speeds.append((now, self._counts.pages))
        return line

    def _speed(self, now: float) -> float:
        # The oldest sample stays until the next is old enough to replace it.
        while len(self._speeds) > 1 and now - self._speeds[1][0] >= SPEED_OVER_S:
            self._speeds.popleft()
        then, pages = self._speeds[0]
        return (self._counts.pages - pages) / (now - then) if now > then else 0.0
