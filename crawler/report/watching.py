"""How simulations go on: a bar on a terminal, and a line for each that is done."""

import sys
from threading import Lock
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from crawler.report.simulation_tables import outcome
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan, StrategyCase


class Watch:
    """Shows simulations on standard error; what they call may come from any thread."""

    def __init__(self, plan: SimulationPlan, stream: TextIO | None = None) -> None:
        stream = sys.stderr if stream is None else stream
        number = self._number = len(plan)
        self._is_repeated = len(plan.random_states) > 1
        self._done = 0
        self._stream, self._lock = stream, Lock()
        self._tasks: dict[tuple[StrategyCase, int], TaskID] = {}
        self._bar: Progress | None = None
        if stream.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[state]}"),
                TimeElapsedColumn(),
                console=Console(file=stream, markup=False, highlight=False),
                transient=True,
            )
            self._all = self._bar.add_task("simulations", total=number, state=f"0 of {number}")

    def __enter__(self) -> "Watch":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def pages(self, case: StrategyCase, random_state: int, pages: int) -> None:
        """Show how many pages a simulation has."""
        if self._bar is None:
            return
        with self._lock:
            key = case, random_state
            if key not in self._tasks:
                self._tasks[key] = self._bar.add_task(case.name, total=None, state="")
            self._bar.update(self._tasks[key], state=f"{pages:,} pages")

    def done(self, result: SimulatedCrawl) -> None:
        """Say what came of a simulation."""
        self._done += 1
        line = f"[{self._done}/{self._number}] {outcome(result, is_repeated=self._is_repeated)}"
        if self._bar is None:
            print(line, file=self._stream, flush=True)
            return
        with self._lock:
            task = self._tasks.pop((result.case, result.random_state), None)
            if task is not None:
                self._bar.remove_task(task)
            self._bar.console.print(line)
            self._bar.update(
                self._all, completed=self._done, state=f"{self._done} of {self._number}"
            )
