"""A limit for the hosts on one address, since they share one machine.

The frontier keeps the delay of each host, but the address of a host is known only after its name
was resolved. So the download handler asks here.
"""

from crawler.politeness.occupancy import Occupancy
from crawler.politeness.waiting_room import STEP_S, WaitingRoom


class SharedAddresses:
    """Allows requests at addresses, or returns the seconds after which to try again."""

    def __init__(self, occupancy: Occupancy) -> None:
        """Allow as many requests as `occupancy` does."""
        self._occupancy = occupancy
        self._room = WaitingRoom()

    def enter(self, address: str, host: str) -> float | None:
        """Allow a request and return None, or return the seconds after which to try again.

        The more hosts wait for an address, the longer each waits: for any number of hosts, one of
        them tries again every `STEP_S` seconds on average.
        """
        if not self._occupancy.enter(address):
            return STEP_S * self._room.wait(host, address)
        self._room.leave(host)
        return None

    def leave(self, address: str) -> None:
        """End a request that `enter` allowed."""
        self._occupancy.leave(address)

    def __len__(self) -> int:
        """Return the number of waiting hosts."""
        return len(self._room)
