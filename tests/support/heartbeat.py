"""An engine that looks for requests only when it is told to."""

from scrapy.core.engine import ExecutionEngine
from scrapy.settings import BaseSettings

NEVER_S = 1e6


class NoHeartbeat:
    """An add-on of Scrapy (setting `ADDONS`): the engine does not ask its scheduler every 5 s."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy before the engine is made."""
        ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = NEVER_S
