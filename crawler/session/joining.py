"""Joins a crawl that several processes share in Redis."""

import logging
from pathlib import Path
from typing import Final

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.options.config import AGREED, IDENTITY
from langfocus.crawler.run.folder import OpenRun
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.preparation import Preparation
from langfocus.crawler.shared.addresses import SharedOccupancy
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier, SharedFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.shared.stored import StoredCrawl
from langfocus.crawler.shared.worker import Waiting, Worker, worker_name

_LEAST_DIFFERENCE_S: Final = 5.0
_TENDED_EVERY_S: Final = 15.0

_log = logging.getLogger(__name__)


class JoinedCrawl:
    """The place of this process in a shared crawl."""

    def __init__(
        self, address: str, prepared: Preparation, folder: Path, clock: CrawlClock
    ) -> None:
        """Join at a Redis server's address, and set the clock to the server's.

        Raises `CrawlError` if the server's crawl has other settings.
        """
        config, meta = prepared.config, prepared.meta
        self.waiting = Waiting(clock)
        identity = {key: meta.get(key, "") for key in IDENTITY if key != "parts" or meta[key]}
        identity |= {name: getattr(config, name) for name in AGREED}
        identity |= {"documents": True} if config.documents else {}
        membership = Membership(
            worker=worker_name(folder),
            identity=identity,
            lease_s=config.lease_s,
            shards=config.shards,
        )
        self.frontier = self._joined(address, prepared.rules, membership, clock)
        limits = {"lease_s": config.lease_s, "pace_s": config.pace_s}
        self.occupancy = SharedOccupancy(self.frontier.stored, config.per_address, clock, **limits)
        self._every_s = min(config.lease_s / 4, _TENDED_EVERY_S)

    def _joined(
        self, address: str, rules: FrontierRules, membership: Membership, clock: CrawlClock
    ) -> SharedFrontier:
        name, sleep = str(membership.identity["shared"]), self.waiting.sleep
        client = connect(address)
        ahead_s = clock.set_to(StoredCrawl(client, name, sleep=sleep).crawl_time)
        if abs(ahead_s) >= _LEAST_DIFFERENCE_S:
            _log.warning(
                "the clock of this machine is %.0f s ahead of the Redis server's; the crawl and "
                "its records use the server's",
                ahead_s,
            )
        kind = RedisFrontier if membership.shards == 1 else ShardedFrontier
        frontier = kind.join(client, name, rules, membership, now=clock(), sleep=sleep)
        if not frontier.stored.is_durable():
            _log.warning(
                "the Redis server keeps no append-only file: a crash of it loses the crawl"
            )
        return frontier

    def worker(self, run: OpenRun) -> Worker:
        """Return the worker; raises `RunFolderError` if Redis has lost the folder's pages.

        Pages settled by a killed worker of this folder are stored first.
        """
        has_pages = run.connection.execute("SELECT EXISTS(SELECT 1 FROM pages)").fetchone()[0]
        if has_pages and not self.frontier.stored.totals().get("settled"):
            raise RunFolderError(
                f"{run.folder}: holds pages of a crawl that the Redis server does not know; "
                "use a new folder"
            )
        worker = Worker(
            self.frontier,
            self.occupancy,
            run.connection,
            every_s=self._every_s,
            waiting=self.waiting,
        )
        worker.write_down()
        return worker
