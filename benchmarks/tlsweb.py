"""TLS in front of the generated web: a proxy that answers CONNECT and speaks for every host.

    python -m benchmarks.tlsweb PORT FOLDER

Prints `ready PORT`. Each tunnel ends here with a certificate of its own making, kept in FOLDER; its
requests go on in plain HTTP to the proxy at PORT. The links of an answer become `https:` links.
"""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from benchmarks import proxyweb
from tests.crawler.politeness.test_names import certificate

_LOST = (asyncio.IncompleteReadError, OSError)


@contextmanager
def over_tls(web: proxyweb.Served) -> Iterator[proxyweb.Served]:
    """Serve a running web over TLS too, on another port."""
    command = [sys.executable, "-m", "benchmarks.tlsweb", str(web.port), str(web.folder)]
    with subprocess.Popen(command, cwd=proxyweb.ROOT, stdout=subprocess.PIPE, text=True) as tunnels:
        try:
            ready = tunnels.stdout.readline() if tunnels.stdout else ""
            yield replace(web, port=int(ready.split()[1]))
        finally:
            tunnels.terminate()


class Tunnels:
    """Answers the requests of tunnels with the answers of a proxy on a port of this machine."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._port = port
        self._context = context

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it is closed."""
        with suppress(*_LOST):
            head = await reader.readuntil(b"\r\n\r\n")
            host = head.split(None, 2)[1].removesuffix(b":443")
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await writer.start_tls(self._context)
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(await self._answer(host, head))
                    await writer.drain()
        writer.close()

    async def _answer(self, host: bytes, head: bytes) -> bytes:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        method, path, rest = head.split(b" ", 2)
        outer.write(b"%s http://%s%s %s" % (method, host, path, rest))
        answer = await inner.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await inner.readexactly(length) if method != b"HEAD" else b""
        outer.close()
        secure = body.replace(b"http://", b"https://")
        answer = answer.replace(b"Location: http://", b"Location: https://")
        return answer.replace(b"Length: %d" % length, b"Length: %d" % len(secure)) + secure


async def main(port: int, folder: Path) -> None:
    """Serve until this process is ended."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    tunnels = Tunnels(port, context)
    server = await asyncio.start_server(tunnels.serve, "127.0.0.1", 0, limit=1 << 20)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
