"""A real Redis server of one's own: a folder, a socket in it, nothing else."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random


class RedisServer:
    """A process that writes down everything before it answers, and can be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "redis.log"
        self.url = f"unix://{folder / 'redis.sock'}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str, port: int = 0) -> None:
        command = ["redis-server", "--port", str(port), "--dir", str(self._folder)]
        command += ["--unixsocket", str(self._folder / "redis.sock")]
        command += ["--appendonly", "yes", "--save", "", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        # What comes after this line is answered. Since version 7.2 it begins with "Ready".
        output = self._process.stdout
        if output is None or not any(b"eady to accept connections" in line for line in output):
            raise RuntimeError("redis-server did not start")

    def take_over(self) -> None:
        """Become a master again, as a replica does whose master died."""
        import redis

        with redis.Redis.from_url(self.url) as client:
            client.replicaof("127.0.0.1", "1")
            client.replicaof("NO", "ONE")

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def fail(self, random: Random) -> None:
        """Kill it, and start it again within a second."""
        self.kill()
        time.sleep(random.uniform(0.0, 1.0))
        self.start()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the process for the time of the block."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)
        yield
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
