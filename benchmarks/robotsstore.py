"""The files of hosts that a frontier keeps, in memory."""

from langfocus.crawler.frontier.base import ANY_TEXT, KeptRobots


class Store:
    """What the frontier keeps, in memory."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.texts: dict[str, KeptRobots] = {}
        self.delays: dict[str, float] = {}

    def robots(self, name: str) -> KeptRobots | None:
        """Return the text of a name."""
        return self.texts.get(name)

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        """Keep a text unless another came meanwhile; return whether it was kept."""
        is_kept = before is ANY_TEXT or self.robots(name) == before
        if is_kept:
            self.texts[name] = KeptRobots(text, now)
        return is_kept

    def set_delay(self, host: str, delay_s: float) -> None:
        """Keep a Crawl-delay."""
        self.delays[host] = delay_s
