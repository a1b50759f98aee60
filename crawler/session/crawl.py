"""An open crawl: its run, its frontier, and their parts."""

import logging
import sqlite3
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Frontier
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.robots import Robots
from langfocus.crawler.run.folder import OpenRun
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.contacts import Contacts
from langfocus.crawler.session.ending import Ending
from langfocus.crawler.session.preparation import Preparation
from langfocus.crawler.session.queue import Queue
from langfocus.crawler.session.traffic import Traffic
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.shared.worker import Worker

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crawl:
    """An open crawl; each part owns its mutable state."""

    prepared: Preparation
    run: OpenRun
    frontier: Frontier
    clock: CrawlClock
    ending: Ending
    visitor: Visitor
    queue: Queue
    contacts: Contacts
    robots: Robots
    resources: ExitStack  # archive, database and lock of the run; closed at the end
    worker: Worker | None = None  # if other processes share the frontier
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def config(self) -> Config:
        """The configuration of the crawl."""
        return self.prepared.config

    def start(self) -> None:
        """Queue the seeds; raises `StorageError`."""
        self.queue.start(self.config)

    def tend(self) -> None:
        """Renew the leases of a worker and store its pages; an unshared crawl does nothing."""
        if self.worker is None:
            return
        jump_s = self.clock.follow(self.worker.stored.time)
        if jump_s:
            _log.warning(
                "the clock of the Redis server jumped by %.0f s; this worker keeps its time", jump_s
            )
        self.worker.tend(self.clock())

    def close(self, finish_reason: str) -> None:
        """Store the reason for the end of the session and close the run."""
        try:
            self.queue.count()
            if self.worker is not None:
                self.worker.write_down()
            self.frontier.close()
        except (StorageError, sqlite3.Error) as error:
            # Settled pages stay in the shared frontier until the next session.
            self.ending.fail(str(error))
        self.ending.finish(finish_reason)
        # If the disk is full, the session stays open, as after a kill.
        with suppress(sqlite3.DatabaseError):
            self.run.end_session(self.clock(), finish_reason)
        self.resources.close()
