"""The line that shows the harvest rate while a crawl runs."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from crawler.report.course import PORTION
from crawler.report.formatting import percent, share_of
from crawler.report.progress import Display

SPEED_OVER_S = 10.0
"""The speed shown is that of the last ten seconds."""


@dataclass(slots=True)
class Totals:
    """The counts of pages at one time, such as those of earlier sessions."""

    pages: int = 0
    labelled: int = 0
    relevant: int = 0


class LiveLine:
    """One line on a display, with the harvest rate of all pages and of the last 200.

    `title` begins the line. `clock` returns increasing seconds, such as `time.monotonic`. `totals`
    are the counts of earlier sessions; the last 200 pages are those of this session. A census has
    no harvest rate: its line tells the share of pages with a language.
    """

    def __init__(
        self,
        display: Display,
        clock: Callable[[], float],
        title: str,
        totals: Totals | None = None,
        *,
        is_census: bool = False,
    ) -> None:
        self._is_census = is_census
        self._display = display
        self._clock = clock
        self._title = title
        self._totals = totals or Totals()
        self._last: deque[bool | None] = deque(maxlen=PORTION)
        self._queued = self._hosts = 0
        self._shown_pages: int | None = None
        self._speeds: deque[tuple[float, int]] = deque([(clock(), self._totals.pages)])
        self._is_closed = False

    def record(self, is_relevant: bool | None) -> None:
        """Count a page; `None` is one without a label, which is in no rate."""
        self._last.append(is_relevant)
        self._totals.pages += 1
        self._totals.labelled += is_relevant is not None
        self._totals.relevant += is_relevant is True

    def stand(self, totals: Totals) -> None:
        """Set the totals: a worker of a shared crawl shows the totals of the whole crawl."""
        self._totals = totals

    def show(self, queued: int, hosts: int) -> None:
        """Update the line if it is due; cheap enough for every page."""
        self._queued, self._hosts = queued, hosts
        if not self._is_closed:
            self._display.update(self, self._shown)

    def close(self) -> None:
        """Leave the last figures on the stream; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._display.close()
        if self._display.is_terminal or self._shown_pages != self._totals.pages:
            self._display.tell(self.text(self._clock()))

    def text(self, now: float) -> str:
        """The line with all figures at `now`."""
        rate = f"with a language {self._rate()}"
        if not self._is_census:
            labelled = len(self._last) - self._last.count(None)
            last = percent(share_of(self._last.count(True), labelled))
            rate = f"harvest {self._rate()} (last 200: {last})"
        return (
            f"{self._title}  {self._totals.pages:,} pages  {rate}  queue {self._queued:,}  "
            f"hosts {self._hosts:,}  {self._speed(now):,.1f} pages/s"
        )

    def fitting(self, now: float) -> str:
        """The line with the figures at `now` that fit the display."""
        whole = self.text(now)
        if len(whole) <= self._display.width:
            return whole
        pages = f"{self._totals.pages:,} pages  {self._rate()}  hosts {self._hosts:,}"
        return f"{self._title}  {pages}  {self._speed(now):,.1f}/s"

    def _rate(self) -> str:
        """The share of pages with a language in a census, else the harvest rate."""
        totals = self._totals
        if self._is_census:
            return percent(share_of(totals.labelled, totals.pages))
        return percent(share_of(totals.relevant, totals.labelled))

    def _shown(self) -> str:
        now = self._clock()
        line = self.fitting(now)
        self._shown_pages = self._totals.pages
        self._speeds.append((now, self._totals.pages))
        return line

    def _speed(self, now: float) -> float:
        # The oldest sample stays until the next is old enough to replace it.
        while len(self._speeds) > 1 and now - self._speeds[1][0] >= SPEED_OVER_S:
            self._speeds.popleft()
        then, pages = self._speeds[0]
        return (self._totals.pages - pages) / (now - then) if now > then else 0.0
