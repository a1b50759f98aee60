"""A limit for the hosts on one address, since they are one machine.

The frontier keeps the delay of each host, but the address of a host is known only after its name
was resolved. So the download handler asks here.
"""

from crawler.politeness.occupancy import Occupancy
from crawler.politeness.waiting_room import STEP_S, WaitingRoom


class SharedAddresses:
    """Lets requests in at addresses, and tells others when to come again."""

    def __init__(self, occupancy: Occupancy) -> None:
        """Let in as many requests as `occupancy` allows."""
        self._occupancy = occupancy
        self._room = WaitingRoom()

    def enter(self, address: str, host: str) -> float | None:
        """Let a request in and return None, or return after how many seconds to come again.

        The more hosts wait for an address, the later the next one comes: however many they are,
        somebody asks for an address every `STEP_S` seconds on average.
        """
        if not self._occupancy.enter(address):
            return STEP_S * self._room.wait(host, address)
        self._room.leave(host)
        return None

    def leave(self, address: str) -> None:
        """End a request that was let in."""
        self._occupancy.leave(address)

    def __len__(self) -> int:
        """Return how many hosts wait."""
        return len(self._room)
