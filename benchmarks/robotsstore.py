"""The files of hosts that a frontier keeps, in memory."""

from langfocus.crawler.frontier.base import KeptRobots


class Store:
    """What the frontier keeps, in memory."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.texts: dict[str, KeptRobots] = {}
        self.delays: dict[str, float] = {}

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the robots.txt of an origin."""
        return self.texts.get(origin)

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Keep a robots.txt."""
        self.texts[origin] = KeptRobots(text, now)

    def replace_robots(self, name: str, before: KeptRobots | None, text: str, now: float) -> bool:
        """Keep a text unless another came meanwhile; return whether it was kept."""
        is_same = self.texts.get(name) == before
        if is_same:
            self.set_robots(name, text, now)
        return is_same

    def set_delay(self, host: str, delay_s: float) -> None:
        """Keep a Crawl-delay."""
        self.delays[host] = delay_s
