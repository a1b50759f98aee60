"""The line that shows the harvest rate while a crawl runs."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from crawler.report.course import PORTION
from crawler.report.formatting import percent
from crawler.report.progress import Display

SPEED_OVER_S = 10.0
"""The speed shown is that of the last ten seconds."""


@dataclass(frozen=True, slots=True)
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
        self.stand(totals or Totals())
        self._last: deque[bool | None] = deque(maxlen=PORTION)
        self._last_labelled = 0
        self._last_relevant = 0
        self._queue_and_hosts = (0, 0)
        self._shown_pages: int | None = None
        self._speeds: deque[tuple[float, int]] = deque([(clock(), self._pages)])
        self._is_closed = False

    def record(self, is_relevant: bool | None) -> None:
        """Count a page; `None` is one without a label, which is in no rate."""
        if len(self._last) == PORTION:
            self._count_last(self._last[0], -1)
        self._last.append(is_relevant)
        self._count_last(is_relevant, 1)
        self._pages += 1
        self._labelled += is_relevant is not None
        self._relevant += is_relevant is True

    def stand(self, totals: Totals) -> None:
        """Set the totals: a worker of a shared crawl shows the totals of the whole crawl."""
        self._pages = totals.pages
        self._labelled = totals.labelled
        self._relevant = totals.relevant

    def show(self, queued: int, hosts: int) -> None:
        """Update the line if it is due; cheap enough for every page."""
        self._queue_and_hosts = (queued, hosts)
        if not self._is_closed:
            self._display.update(self, self._shown)

    def close(self) -> None:
        """Leave the last figures on the stream; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._display.close()
        if self._display.is_terminal or self._shown_pages != self._pages:
            self._display.tell(self.text(self._clock()))

    def text(self, now: float) -> str:
        """The line with all figures at `now`."""
        queued, hosts = self._queue_and_hosts
        if self._is_census:
            return (
                f"{self._title}  {self._pages:,} pages  "
                f"with a language {percent(_rate(self._labelled, self._pages))}  "
                f"queue {queued:,}  hosts {hosts:,}  {self._speed(now):,.1f} pages/s"
            )
        last = percent(_rate(self._last_relevant, self._last_labelled))
        return (
            f"{self._title}  {self._pages:,} pages  "
            f"harvest {percent(_rate(self._relevant, self._labelled))} (last 200: {last})  "
            f"queue {queued:,}  hosts {hosts:,}  {self._speed(now):,.1f} pages/s"
        )

    def fitting(self, now: float) -> str:
        """The line with the figures at `now` that fit the display."""
        whole = self.text(now)
        if len(whole) <= self._display.width:
            return whole
        rate = _rate(self._labelled if self._is_census else self._relevant, self._of_rate)
        hosts = self._queue_and_hosts[1]
        figures = f"{self._pages:,} pages  {percent(rate)}  hosts {hosts:,}"
        return f"{self._title}  {figures}  {self._speed(now):,.1f}/s"

    @property
    def _of_rate(self) -> int:
        return self._pages if self._is_census else self._labelled

    def _shown(self) -> str:
        now = self._clock()
        line = self.fitting(now)
        self._shown_pages = self._pages
        self._speeds.append((now, self._pages))
        return line

    def _count_last(self, is_relevant: bool | None, by: int) -> None:
        if is_relevant is not None:
            self._last_labelled += by
        if is_relevant:
            self._last_relevant += by

    def _speed(self, now: float) -> float:
        # The oldest sample stays until the next is old enough to replace it.
        while len(self._speeds) > 1 and now - self._speeds[1][0] >= SPEED_OVER_S:
            self._speeds.popleft()
        then, pages = self._speeds[0]
        return (self._pages - pages) / (now - then) if now > then else 0.0


def _rate(relevant: int, labelled: int) -> float | None:
    return relevant / labelled if labelled else None
