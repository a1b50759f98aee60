"""The last checks before a request is sent."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Lease, Sending
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.politeness.network import CapError
from langfocus.crawler.politeness.turns import OwnOccupancy
from langfocus.crawler.session.contacts import Contacts
from langfocus.crawler.session.ending import Ending

LEASE = Lease(1, "http://a.de/x", "a.de", 0.0, 0, 0, 0)


class Slots:
    """A frontier with a fixed answer, which records the requests for slots."""

    def __init__(self, answer: Sending = Sending.NOW) -> None:
        self.answer = answer
        self.asked: list[tuple[Any, ...]] = []
        self.begin: Callable[[Callable[[], None]], object] = id

    def send(self, lease: Lease, address: str | None, *, now: float, is_page: bool) -> Sending:
        self.asked.append((lease.host, address, is_page))
        return self.answer

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        self.asked.append((host, address))
        return self.answer

    def group(self, later: Callable[[Callable[[], None]], object]) -> None:
        self.begin = later


def contacts(slots: Slots | None = None, **options: Any) -> Contacts:
    frontier: Any = slots or Slots()
    ending = Ending(Config("de"))
    return Contacts(frontier, ending, OwnOccupancy(0), Blocking(), lambda: 0.0, **options)


@pytest.mark.parametrize(
    ("url", "options", "is_allowed"),
    [
        ("http://a.de/", {}, True),
        ("http://a.de:25/", {}, False),
        ("http://127.0.0.1/", {}, False),
        ("http://127.0.0.1/", {"private_addresses": True}, True),
        ("http://127.0.0.1:8000/", {"private_addresses": True, "own_ports": (None, 8000)}, False),
        ("http://127.0.0.1:8001/", {"private_addresses": True, "own_ports": (None, 8000)}, True),
        ("http://a.de:25/", {"is_live": False}, True),
    ],
)
def test_ports_and_private_hosts_are_closed_unless_they_are_allowed(
    url: str, options: dict[str, Any], is_allowed: bool
) -> None:
    assert contacts(**options).may_contact(url) is is_allowed


def test_a_page_takes_a_slot_of_its_host_and_nothing_else_does() -> None:
    slots = Slots()
    allowed = contacts(slots, is_sitemap=lambda lease: lease.url.endswith(".xml"))
    allowed.take_slot(LEASE, LEASE.url, "192.0.2.1")
    allowed.take_slot(LEASE, "http://www.a.de/robots.txt", None, is_file=True)
    allowed.take_slot(LEASE, "http://b.de/robots.txt", None, is_file=True)
    allowed.take_slot(LEASE, LEASE.url, None, is_lookup=True)
    allowed.take_slot(replace(LEASE, url="http://a.de/s.xml"), "http://a.de/s.xml", None)
    found = [("a.de", "192.0.2.1", True), ("a.de", None, False), ("b.de", None)]
    assert slots.asked == [*found, ("a.de", None, False), ("a.de", None, False)]


@pytest.mark.parametrize(
    ("answer", "outcome"), [(Sending.LATER, ""), (Sending.HOST_FULL, "host_full")]
)
def test_a_request_without_a_slot_is_not_sent(answer: Sending, outcome: str) -> None:
    with pytest.raises(CapError) as refused:
        contacts(Slots(answer)).take_slot(LEASE, LEASE.url, None)
    assert refused.value.outcome == outcome


def test_a_request_waits_until_its_slot_is_written_and_is_not_sent_after_a_failure() -> None:
    slots, calls = Slots(), []
    allowed = contacts(slots)
    allowed.group_writes(lambda _, end, *rest: calls.append(lambda: end(*rest)))

    def full() -> None:
        raise StorageError("the disk is full")

    async def sent() -> None:
        await allowed.until_written()  # nothing to write
        slots.begin(lambda: None)
        waiting = asyncio.ensure_future(allowed.until_written())
        await asyncio.sleep(0)
        assert not waiting.done()
        calls.pop()()
        await waiting
        slots.begin(full)
        calls.pop()()
        with pytest.raises(StorageError, match="the disk is full"):
            await allowed.until_written()

    asyncio.run(sent())
