"""The shared frontier: any number of processes on any machines, one Redis server.

Every call is one script (`redis.lua`) that Redis runs alone, so caps, tallies, the page budget
and "one worker at a host" hold across workers as they do inside one process. All keys of a crawl
have the hash tag `{crawl}`: one global order, best URL first, cannot be kept by several servers
at once, so a Redis Cluster holds each crawl whole on one of its nodes, and many crawls spread.

Unlike the embedded frontier this one writes leases down, with a time at which they end by
themselves. Records are kept in one stream for each worker until that is emptied.
Times are the workers' own: their clocks must agree as closely as politeness is to be kept.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from hashlib import sha1
from importlib import resources
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from crawler.errors import SettingError
from crawler.frontier.base import (
    MAX_INLINKS,
    PAGE,
    REDIRECT,
    Admission,
    Counts,
    KeptRobots,
    Lease,
    LeaseError,
    Link,
    Record,
)
from crawler.shared.packing import Packed, Source, bucket_of, encoded, pack_links
from crawler.shared.stored import Settled, StoredCrawl, connect
from crawler.strategies.filters import Filter, Unit
from crawler.strategies.orderings import Draw

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["RedisFrontier", "Settled", "StoredCrawl", "connect"]

_ADMISSIONS = {
    "s": Admission.STORED,
    "e": Admission.SEEN,
    "f": Admission.HOST_FULL,
    "d": Admission.DIRECTORY_FULL,
    "r": Admission.REJECTED,
}
_SEEDS_A_CALL = 1000
_RECORD = [field.name for field in fields(Record)]
# Sets of integers are small up to 512 of them.
_LONGEST_BUCKETED = 256
_OLDEST_SERVER = (7, 0)
# Another way to keep a crawl, which an older or newer version does not understand, is another one.
_LAYOUT = 2
_FIRST_WAIT_S = 5.0


class _Held(NamedTuple):
    """What a worker knows of a lease of its own beside the lease."""

    host: str
    token: str
    parent: str | None


class RedisFrontier(StoredCrawl):
    """See `crawler.frontier.base.Frontier`. One object is one worker, used by one thread."""

    def __init__(
        self,
        client: "Redis",
        crawl: str,
        *,
        now: float,
        filter: Filter,
        identity: Mapping[str, object] | None = None,
        worker: str = "worker",
        draw: Draw = Draw.FIRST,
        lifts: bool = False,
        doubts_up_to: float | None = None,
        patience_s: float = 0.0,
        host_cap: int = 10,
        directory_cap: int = 0,
        delay_s: float = 0.0,
        budget_pages: int | None = None,
        lease_s: float = 600.0,
        poll_s: float = 1.0,
        wait_s: float = 300.0,
        keeps_records: bool = True,
        random_state: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Join the crawl of that name, or begin it.

        `client` comes from `connect`. Filter, draw, lifts, `doubts_up_to`, both caps and whatever
        else is in `identity` bind the crawl: another value raises `SettingError`. `delay_s`,
        `patience_s`, `budget_pages` and `lease_s` are in force for all workers as the last to join
        asked for. A URL with the score `doubts_up_to` or less, None: no score, waits until for
        `patience_s` seconds nothing better was ready, as long as something better may come: from a
        page on its way to any worker, or from a host that rests. A lease ends by itself after
        `lease_s` seconds unless `renew` is called. While others hold leases `ready_at` asks to look
        again in `poll_s` seconds. A server that cannot be reached is tried for `wait_s` seconds, a
        few when the crawl begins, in which the calling thread sleeps, then `StorageError` is
        raised. `worker` names the stream of records and the counters, which outlive the process.
        """
        super().__init__(client, crawl, wait_s=min(wait_s, _FIRST_WAIT_S), sleep=sleep)
        self.crawl, self.worker = crawl, worker
        self._owner = f"{worker}:{uuid4().hex}"
        self._calls = 0
        self._now = now
        self._filter = filter
        self._poll_s = poll_s
        self._keeps_records = keeps_records
        self._random = Random(f"{random_state} {worker}")
        self._draw = draw
        self._lifts = lifts
        self._doubts_up_to = doubts_up_to
        self._is_by_directory = directory_cap > 0 or filter.unit is Unit.DIRECTORY
        self._has_buckets = 0 < host_cap <= _LONGEST_BUCKETED
        self._held: dict[int, _Held] = {}
        self._connection: Any = None
        rules = {
            **_rules(filter, draw, lifts=lifts, doubts_up_to=doubts_up_to),
            "host_cap": host_cap,
            "directory_cap": directory_cap,
        }
        in_force = {
            **rules,
            "patience_s": patience_s,
            "delay_s": delay_s,
            "budget_pages": budget_pages,
            "lease_s": lease_s,
            "max_inlinks": MAX_INLINKS,
            "is_by_directory": int(filter.unit is Unit.DIRECTORY),
        }
        self._check_server()
        self._open({**(identity or {}), **rules}, in_force)
        self._wait_s = wait_s

    def _check_server(self) -> None:
        try:
            version = str(self.read(lambda pipe: pipe.info("server"))[0]["redis_version"])
        except (self._refused, KeyError):  # it does not tell
            return
        if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_SERVER:
            raise SettingError(f"Redis {version} is too old: a shared frontier needs 7.0 or later")

    def _open(self, rules: Mapping[str, object], in_force: Mapping[str, object]) -> None:
        text = json.dumps(rules, sort_keys=True)
        config = json.dumps({k: value for k, value in in_force.items() if value is not None})
        try:
            answer = self._call("open", rules=text, config=config)
        except self._refused as error:
            raise SettingError(f"this Redis cannot hold a crawl: {error}") from error
        if answer != "ok":
            before = json.loads(answer)
            names = sorted({*before, *rules})
            differing = [name for name in names if before.get(name) != rules.get(name)]
            raise SettingError(
                f"the shared crawl {self.crawl} was begun with "
                + ", ".join(f"{name}={before.get(name)}" for name in differing)
                + ", not with "
                + ", ".join(f"{name}={rules.get(name)}" for name in differing)
                + "; use the same arguments or another name"
            )

    def seed(self, links: Sequence[Link], now: float) -> list[Admission]:
        """Queue links that no page gave: no filter applies, the caps do."""
        self._now = now
        answers: list[Admission] = []
        for start in range(0, len(links), _SEEDS_A_CALL):
            packed = self._packed(links[start : start + _SEEDS_A_CALL], Source())
            letters = self._call("seed", packed, links=packed.number, again=packed.again)
            answers += _admissions(packed, letters)
        return answers

    def admit(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        now: float,
        was_contacted: bool = True,
    ) -> list[Admission]:
        """Settle a leased URL and return what became of its links, in their order.

        `LeaseError` also where the lease had ended by itself; whoever has the URL now settles it.
        """
        self._now = now
        counts = {
            "ignored_file": record.ignored_files,
            "ignored_url": record.ignored_urls,
            "ignored_trap": record.ignored_traps,
            "cut_short": int(record.is_cut),
        }
        if record.parser is not None:
            counts[f"parser_{record.parser}"] = 1
        packed = self._packed(links, _source(lease, record))
        letters = self._end(
            "admit",
            lease,
            packed,
            links=packed.number,
            again=packed.again,
            record=_facts(lease, record),
            counts={name: number for name, number in counts.items() if number},
            directory=self._directory_of(lease.url),
            bucket=bucket_of(lease.host) if self._has_buckets else "",
            was_contacted=int(was_contacted),
            row=self._row(lease, record),
        )
        return _admissions(packed, letters)

    def retry(self, lease: Lease, *, now: float, not_before: float) -> None:
        """Give a leased URL back to be fetched again; its host rests until `not_before`."""
        self._now = now
        self._end("retry", lease, not_before=not_before)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; its host rests for its delay, or until then."""
        self._now = now
        rests_until: dict[str, Any] = {} if not_before is None else {"not_before": not_before}
        self._end("release", lease, counts_as_drawn=1, **rests_until)

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None."""
        self._now = now
        seed = self._random.getrandbits(31) if self._draw is Draw.UNIFORM else 0
        answer = self._call("next", seed=seed)
        while answer == "again":
            answer = self._call("next", seed=seed)
        if answer == "none":
            return None
        key, url, host, tier, depth, redirects, retries, inlinks, parent = answer
        self._held[int(key)] = _Held(host, f"{self._owner}:{self._calls}", parent or None)
        return Lease(
            int(key),
            url,
            host,
            0.0 - float(tier),
            int(depth),
            int(redirects),
            int(retries),
            _grouped(inlinks.split()[:MAX_INLINKS]),
        )

    def ready_at(self, now: float) -> float | None:
        """Return when `next` will have something, or None until a lease of this worker ends.

        Where other workers hold leases, a time to look again: what they find is not announced.
        """
        best, tiers, resting, leased, pages, text = self.read(
            lambda pipe: (
                pipe.zrange(self.key("ready"), 0, 0, withscores=True),
                pipe.zrange(self.key("tiers"), 0, 0, withscores=True),
                pipe.zrange(self.key("resting"), 0, 0, withscores=True),
                pipe.zcard(self.key("leases")),
                pipe.hget(self.key("counts"), "pages"),
                pipe.get(self.key("config")),
            )
        )
        limits = json.loads(text or "{}")
        budget = limits.get("budget_pages")
        looks_again_at = [now + self._poll_s] if leased > len(self._held) else []
        if budget and int(pages or 0) + leased >= budget:
            return min(looks_again_at, default=None)
        times: list[float] = [*looks_again_at, *(rested_at for _, rested_at in resting)]
        if best or tiers:
            tier = (best or tiers)[0][1]
            return min([self._doubted_until(now, tier, limits.get("patience_s", 0.0)), *times])
        return min(times, default=None)

    def _doubted_until(self, now: float, tier: float, patience_s: float) -> float:
        """Return when the best URL that is ready goes out if nothing better comes."""
        if self._doubts_up_to is None or -tier > self._doubts_up_to:
            return now
        since, hopes, soon = self.read(
            lambda pipe: (
                pipe.get(self.key("doubt")),
                pipe.exists(self.key("hopes")),
                pipe.zcount(self.key("promising"), "-inf", now + patience_s),
            )
        )
        if since is None or not (hopes or soon):
            return now
        return max(now, float(since) + patience_s)

    def renew(self, now: float) -> None:
        """Let the leases of this worker last for their full time again, from now."""
        self._now = now
        leases = [(held.host, str(key), held.token) for key, held in self._held.items()]
        self._call("renew", leases=leases)

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        self.read(lambda pipe: pipe.hset(self.key("delay"), host, repr(float(delay_s))))

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the robots.txt kept for an origin, however old, None if it was not fetched."""
        kept: str | None = self.read(lambda pipe: pipe.get(self.key(f"robots:{origin}")))[0]
        if kept is None:
            return None
        fetched_at, _, text = kept.partition("\n")
        return KeptRobots(text, float(fetched_at))

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Keep the robots.txt of an origin."""
        kept = f"{now!r}\n{text}"
        self.read(lambda pipe: pipe.set(self.key(f"robots:{origin}"), encoded(kept)))

    def counts(self) -> Counts:
        """Return where the whole crawl stands, all workers together."""
        names = ("queued", "hosts", "pages", "labelled", "relevant")
        numbers, leased = self.read(
            lambda pipe: (pipe.hmget(self.key("counts"), names), pipe.zcard(self.key("leases")))
        )
        queued, *others = (int(number or 0) for number in numbers)
        return Counts(queued - leased, leased, *others)

    def worker_counts(self, worker: str | None = None) -> dict[str, int]:
        """Return what a worker (None: this one) counted, by the names of a run's `counts`."""
        return super().worker_counts(worker or self.worker)

    def settled(
        self, worker: str | None = None, number: int = 1000, *, after: str | None = None
    ) -> list[Settled]:
        """Return the oldest records of a worker (None: of this one) that were not forgotten."""
        return super().settled(worker or self.worker, number, after=after)

    def forget(self, settled: Sequence[Settled], worker: str | None = None) -> None:
        """Let go of records that were written down elsewhere; doing so twice is harmless."""
        super().forget(settled, worker or self.worker)

    def is_durable(self) -> bool:
        """Tell whether the server keeps an append-only file, as far as it says so."""
        try:
            kept = self.read(lambda pipe: pipe.config_get("appendonly"))[0]
        except self._refused:
            return True
        return bool(kept.get("appendonly") != "no")

    def close(self) -> None:
        """Give the leases back and let go of the connection."""
        try:
            while self._held:
                key, held = self._held.popitem()
                self._call(
                    "release",
                    host=held.host,
                    fingerprint=str(key),
                    token=held.token,
                    counts_as_drawn=0,
                )
        finally:
            super().close()

    # Calls.

    def _packed(self, links: Sequence[Link], source: Source) -> Packed:
        return pack_links(
            links,
            source,
            directory_of=self._directory_of,
            lifts=self._lifts,
            has_buckets=self._has_buckets,
        )

    def _directory_of(self, url: str) -> str:
        return self._filter.directory_of(url) if self._is_by_directory else ""

    def _row(self, lease: Lease, record: Record) -> str:
        held = self._held.get(lease.fingerprint)
        if held is None or not self._keeps_records:
            return ""
        row = {
            "fingerprint": lease.fingerprint,
            "url": lease.url,
            "host": lease.host,
            "parent": held.parent,
            "depth": lease.depth,
            "score": lease.score,
            "record": {name: getattr(record, name) for name in _RECORD},
        }
        return json.dumps(row)

    def _end(
        self, command: str, lease: Lease, packed: Packed | None = None, **arguments: object
    ) -> str:
        held = self._held.get(lease.fingerprint)
        answer = None
        if held is not None:
            answer = self._call(
                command,
                packed,
                host=held.host,
                fingerprint=str(lease.fingerprint),
                token=held.token,
                **arguments,
            )
            del self._held[lease.fingerprint]
        if answer is None:
            raise LeaseError(f"{lease.url} is not leased")
        return str(answer)

    def _call(self, command: str, packed: Packed | None = None, /, **arguments: object) -> Any:
        """Run a command of `redis.lua` once, however often the connection breaks over it."""
        self._calls += 1
        body = encoded(json.dumps(arguments, ensure_ascii=False))
        values = [
            encoded(self._prefix),
            command.encode(),
            encoded(self._owner),
            b"%d" % self._calls,
            repr(self._now).encode(),
            encoded(self.worker),
            body,
            packed.body if packed else b"",
        ]
        return self._insist(lambda: self._run(values))

    def _run(self, values: Sequence[bytes]) -> Any:
        """Run the script, which the server may not know any more, on a connection of its own."""
        if self._connection is None:
            self._connection = self._client.connection_pool.get_connection()
        text, digest = _script(values[1].decode(), self._draw.value)
        try:
            return self._ask(b"EVALSHA", digest, b"1", *values)
        except self._unknown_script:
            return self._ask(b"EVAL", text, b"1", *values)

    def _ask(self, *words: bytes) -> Any:
        # Half of what a short call costs the client is what `execute_command` does around this.
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            parts += (b"$%d\r\n" % len(word), word, b"\r\n")
        self._connection.send_packed_command([b"".join(parts)])
        return self._connection.read_response()


@cache
def _script(command: str, draw: str) -> tuple[bytes, bytes]:
    """Return the script of a command and the name that a server has for it."""
    source = resources.files("crawler.shared").joinpath("redis.lua").read_text("utf-8")
    text, *parts = re.split(r"^--@ (.*)\n", source, flags=re.MULTILINE)
    for names, part in zip(parts[::2], parts[1::2], strict=True):
        if not {command, draw, "all"}.isdisjoint(names.split()):
            text += part
    body = text.encode()
    return body, sha1(body, usedforsecurity=False).hexdigest().encode()


def _grouped(languages: Sequence[str]) -> tuple[str, ...]:
    """Return equal languages together, in the order of their first."""
    return tuple(sorted(languages, key=languages.index))


def _rules(
    filter: Filter, draw: Draw, *, lifts: bool, doubts_up_to: float | None
) -> dict[str, object]:
    return {
        "layout": _LAYOUT,
        "doubts_up_to": None if doubts_up_to is None else float(doubts_up_to),
        "is_uniform": int(draw is Draw.UNIFORM),
        "lifts": int(lifts),
        "follows_irrelevant": int(filter.follows_irrelevant_pages),
        "uses_relevance": int(filter.uses_relevance),
        "is_conservative": int(filter.is_conservative),
        "tolerance": filter.tolerance,
        "unit": filter.unit.value,
        "directory_depth": filter.directory_depth,
    }


def _facts(lease: Lease, record: Record) -> dict[str, object]:
    """Return what the counters and the links of a page depend on."""
    is_redirect = record.outcome == REDIRECT
    return {
        "is_page": int(record.outcome == PAGE),
        "is_redirect": int(is_redirect),
        "is_vouched_for": int(is_redirect or lease.depth == 0),
        "is_download": int(record.is_download),
        "is_relevant": int(record.is_relevant),
        "is_labelled": int(record.language is not None),
        "inlinks": _source(lease, record).inlinks,
    }


def _source(lease: Lease, record: Record) -> Source:
    if record.outcome == REDIRECT:
        return Source(lease.url, lease.depth, lease.redirects + 1, lease.inlinks)
    languages = [record.language] if record.is_reference and record.language else []
    return Source(lease.url, lease.depth + 1, inlinks=languages)


def _admissions(packed: Packed, letters: str) -> list[Admission]:
    return [_ADMISSIONS[letters[place]] for place in packed.places]
