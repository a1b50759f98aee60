"""The progress of simulations: the pages of each running one, and a line for each finished one."""

from crawler.report.progress import Display
from crawler.report.simulation import outcome
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan, StrategyCase


class Watch:
    """Shows the simulations of a plan on a display; any thread may call it."""

    def __init__(self, plan: SimulationPlan, display: Display) -> None:
        self._display = display
        self._total = len(plan)
        self._is_repeated = len(plan.random_states) > 1
        self._done = 0

    def pages(self, case: StrategyCase, random_state: int, pages: int) -> None:
        """Show the number of pages of a simulation."""
        self._display.update((case, random_state), lambda: f"{case.name}: {pages:,} pages")

    def done(self, result: SimulatedCrawl) -> None:
        """Print the figures of a simulation that ended."""
        self._done = done = self._done + 1
        self._display.remove((result.case, result.random_state))
        said = outcome(result, is_repeated=self._is_repeated)
        self._display.tell(f"[{done}/{self._total}] {said}")
        if self._display.is_terminal:
            self._display.count("simulations", done, self._total)
