"""Waits with all imports done, and starts each command as a fork of itself.

`benchmarks.servers.processes` starts it as `python -m benchmarks.servers.warmstart DESCRIPTOR`:
that of a listening socket. A request is a connection with a line of JSON and four file descriptors:
the standard input, output and error of the command, and a pipe. Into the pipe go the process id of
the command and, at its end, its return code, a line each. The process ends at the end of its
standard input.
"""

import asyncio
import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from contextlib import closing
from typing import Any
from warnings import catch_warnings

from scrapy.utils.misc import walk_modules_iter

from benchmarks.sentences import SENTENCES
from langfocus.classifiers.tables.suffixes import loaded
from langfocus.classifiers.urls.facts import facts_of
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.report.page import Report
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.prior import Prior

PACKAGES = (
    "scrapy.commands",
    "scrapy.downloadermiddlewares",
    "scrapy.extensions",
    "scrapy.spidermiddlewares",
    "langfocus.crawler.commands",
    "langfocus.crawler.spiders",
    "langfocus.crawler.report",
    "langfocus.crawler.strategies",
    "rich.console",
    "rich.table",
    "surt",
)
"""Packages of which commands import most modules."""
CHUNK = 65536


def warm_up() -> None:
    """Do once what commands spend most of their time on: imports, compiled code, templates."""
    with catch_warnings(action="ignore"):  # some of Scrapy's modules are deprecated
        for package in PACKAGES:
            list(walk_modules_iter(package))
    loaded()
    page = Download("http://a.de/", 200, body=SENTENCES["fr"].encode("latin-1") * 5)
    prepare(Config("de", web="sample")).read(page, 1)
    facts_of(None, "de")[0](["http://a.de/b"] * 200)
    belief = Belief(Prior.shipped())
    belief.learn((), is_relevant=True)
    belief.scores([()])
    belief.weigh(())
    Report(title="", lead="", parts=[]).html()


def main() -> None:
    """Serve requests; return in the process of a command only."""
    warm_up()
    if "twisted.internet.reactor" in sys.modules:
        raise RuntimeError("a command must choose its reactor itself")
    gc.freeze()
    # A keeper that has ended leaves nothing behind, and Ctrl-C is for the commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=int(sys.argv[1]))
    while 0 not in select.select([0, requests.fileno()], [], [])[0]:
        with requests.accept()[0] as connection:
            data, descriptors, _, _ = socket.recv_fds(connection, CHUNK, 4)
            while not data.endswith(b"\n"):
                data += connection.recv(CHUNK)
        if os.fork() == 0:
            requests.close()
            _keep(json.loads(data), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
    os._exit(0)


def _keep(request: dict[str, Any], descriptors: list[int]) -> None:
    """Fork once more: the child returns, the parent waits for it and ends."""
    *streams, writer = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        for stream in streams:
            os.close(stream)
        os.write(writer, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(writer, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(writer)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["arguments"][1:]
    # Scrapy would make this loop and leave it open, which Python 3.13 prints at the end of a fork.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    code = 0
    try:
        with closing(loop):
            runpy.run_module(request["arguments"][0], run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = _exit_code(error)
    _end(code)


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    print(error.code, file=sys.stderr)
    return 1


def _end(code: int) -> None:
    """End as Python does, but leave the memory of all modules to the system: .2 s less."""
    # Python's own first step, which has no public name: it ends pools, and waits for other threads.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
