"""A real Redis Cluster of one's own: servers on loopback, in temporary folders."""

import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.servers.processes import wait_until
from benchmarks.servers.redisserver import RedisServer

SLOTS = 16384


def free_ports(number: int) -> list[int]:
    """Return ports whose cluster ports (10,000 higher) are also free."""
    found: list[int] = []
    while len(found) < number:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            try:
                other.bind(("127.0.0.1", port + 10_000))
            except (OSError, OverflowError):
                continue
            found.append(port)
    return found


class RedisCluster:
    """Masters that share the slots, and replicas of the last ones; each can be killed."""

    def __init__(self, folder: Path, masters: int, replicas: int = 0) -> None:
        self.ports = free_ports(masters + replicas)
        self.servers = []
        for port in self.ports:
            (folder / str(port)).mkdir()
            self.servers.append(RedisServer(folder / str(port)))
        for place in range(len(self.ports)):
            self.start(place)
        clients = [self.client(place) for place in range(len(self.ports))]
        for place, client in enumerate(clients[:masters]):
            bounds = (SLOTS * place // masters, SLOTS * (place + 1) // masters - 1)
            client.execute_command("CLUSTER ADDSLOTSRANGE", *bounds)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", place + 1)
        for port in self.ports[1:]:
            clients[0].execute_command("CLUSTER MEET", "127.0.0.1", port)
        wait_until(lambda: all(self._known(client) == len(clients) for client in clients))
        for place, client in enumerate(clients[masters:]):
            client.execute_command("CLUSTER REPLICATE", self.id_of(masters - 1 - place))
        wait_until(lambda: all(self._is_ok(client) for client in clients))
        wait_until(lambda: all(self._is_copied(client) for client in clients[masters:]))

    def start(self, place: int) -> None:
        """Start a server, or start it again."""
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "500"]
        options += ["--cluster-require-full-coverage", "no", "--bind", "127.0.0.1"]
        options += ["--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"]
        # Each second (the default), a busy disk makes a server answer before it writes.
        options += ["--appendfsync", "always"]
        self.servers[place].start(*options, port=self.ports[place])

    def fail(self, random: Random) -> None:
        """Kill a master, and start it again when its replica has taken over."""
        roles = {n: self.client(n).info("replication")["role"] for n in range(len(self.ports))}
        masters = [place for place, role in roles.items() if role == "master"]
        place = random.choice(masters)
        self.servers[place].kill()
        others = [self.client(n) for n in roles if n != place]
        wait_until(
            lambda: sum(c.info("replication")["role"] == "master" for c in others) == len(masters)
        )
        self.start(place)
        wait_until(lambda: self._is_copied(self.client(place)))

    def client(self, place: int) -> Any:
        import redis

        return redis.Redis(port=self.ports[place], decode_responses=True)

    def id_of(self, place: int) -> str:
        return str(self.client(place).execute_command("CLUSTER MYID"))

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def owner(self, key: str) -> int:
        """Return the place of the master that has a key."""
        client = self.client(next(n for n, each in enumerate(self.servers) if each.is_running))
        slot = client.execute_command("CLUSTER KEYSLOT", key)
        for low, high, master, *_ in client.execute_command("CLUSTER SLOTS"):
            if low <= slot <= high:
                return self.ports.index(int(master[1]))
        raise LookupError(key)

    def move(self, key: str, target: int) -> Iterator[None]:
        """Move the slot of a key to a master; stops when half of its keys are moved."""
        source = self.owner(key)
        one, other = self.client(source), self.client(target)
        slot = one.execute_command("CLUSTER KEYSLOT", key)
        other.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self.id_of(source))
        one.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self.id_of(target))
        keys = one.execute_command("CLUSTER GETKEYSINSLOT", slot, 10_000)
        for place, each in enumerate(keys):
            if place == len(keys) // 2:
                yield
            one.migrate("127.0.0.1", self.ports[target], [each], 0, 5000)
        for client in (other, one):
            client.execute_command("CLUSTER SETSLOT", slot, "NODE", self.id_of(target))

    @staticmethod
    def _known(client: Any) -> int:
        return int(client.execute_command("CLUSTER INFO")["cluster_known_nodes"])

    @staticmethod
    def _is_ok(client: Any) -> bool:
        info = client.execute_command("CLUSTER INFO")
        return bool(info["cluster_state"] == "ok" and info["cluster_slots_assigned"] == str(SLOTS))

    @staticmethod
    def _is_copied(client: Any) -> bool:
        return bool(client.info("replication").get("master_link_status") == "up")

    def kill(self) -> None:
        for server in self.servers:
            server.kill()
