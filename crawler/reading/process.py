"""The reader processes beside a crawl, started and called by `crawler.reading.readers`.

A template process loads the models and then only forks, so a dead reader is replaced within
milliseconds. A reader reads one page after another from its socket. The kernel kills a reader whose
page exceeds time or memory limits, even inside compiled code. All processes end with the crawl,
whose death closes their sockets.
"""

import gc
import logging
import os
import pickle
import resource
import signal
import socket
import sys
import traceback
import warnings
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, NoReturn

import msgspec

from langfocus.classifiers.pages.charset.letters import letter_model
from langfocus.classifiers.pages.html.tree import HARMLESS_TAGS, affordable
from langfocus.crawler.http.download import Download
from langfocus.crawler.reading.configured import page_reader_of
from langfocus.crawler.reading.page import TRIAL, ReadPage
from langfocus.crawler.reading.time_limit import PAGE_BYTES, limit_memory


class Limits(NamedTuple):
    """Limits of a reader; beyond the first three it ends at once, beyond the last after a page.

    `processor_s` is the processor time of a page in seconds (usually 0.005), `clock_s` the
    wall-clock time. `page_bytes` is the memory beyond the template's, `growth_bytes` the part kept
    after a page.
    """

    processor_s: float = 5.0
    clock_s: float = 60.0
    page_bytes: int = PAGE_BYTES
    growth_bytes: int = 2**28


Task = tuple[Download, int]
"""A download and its depth; on the socket the body comes apart, so that it is not copied."""

PAGE, LAST_PAGE, ERROR = b"P", b"L", b"E"
"""The first byte of an answer: a page; a page, and the reader has ended; a traceback follows."""


def main(control: int) -> None:
    """Load the models of the pickled configuration that the socket has first, and serve."""
    with socket.socket(fileno=control) as crawl:
        with crawl.makefile("rb") as setup:
            read_page = page_reader_of(pickle.load(setup))  # noqa: S301  # from our crawl
        read_page(TRIAL, 1)
        serve(crawl, read_page)


def forked(crawl: socket.socket, read_page: ReadPage) -> int:
    """Serve in a fork of this process, with its models; return the fork's process ID."""
    read_page(TRIAL, 1)
    with warnings.catch_warnings():
        # Libraries have threads, which are idle, and take care of forks themselves.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)  # Ctrl-C is for the crawl
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        logging.root.handlers.clear()  # their files are closed
        os.closerange(3, crawl.fileno())
        os.closerange(crawl.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        serve(crawl, read_page)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def serve(crawl: socket.socket, read_page: ReadPage) -> None:
    """Fork a reader for each received socket until the crawl ends."""
    letter_model()  # else each reader makes its tables, in a third of a second
    affordable(b"<a>" * HARMLESS_TAGS)  # else a kernel may be compiled within the limits of a page
    gc.freeze()  # so that readers go on sharing this memory
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # A crawl that ended before it read our answer resets the socket.
    with suppress(ConnectionError):
        crawl.sendall(b"R")
        while True:
            limits, sockets, *_ = socket.recv_fds(crawl, 1024, 1)
            if not sockets:
                return
            if os.fork() == 0:
                crawl.close()
                reader = socket.socket(fileno=sockets[0])
                _serve(reader, read_page, Limits(*msgspec.json.decode(limits)))
            os.close(sockets[0])


def _serve(crawl: socket.socket, read_page: ReadPage, limits: Limits) -> NoReturn:
    """Answer tasks until the crawl ends or this process has grown too large."""
    limit_memory(limits.page_bytes)
    most_bytes = _memory_bytes() + limits.growth_bytes
    tasks, came = msgspec.msgpack.Decoder(Task), crawl.makefile("rb")
    try:
        is_last = False
        while not is_last:
            sizes = came.read(8)
            if len(sizes) < 8:
                os._exit(0)  # the crawl has ended
            download, depth = tasks.decode(came.read(int.from_bytes(sizes[:4])))
            page = replace(download, body=came.read(int.from_bytes(sizes[4:])))
            answer = answer_to((page, depth), read_page, limits)
            is_last = answer[:1] == PAGE and _memory_bytes() > most_bytes
            mark = LAST_PAGE if is_last else answer[:1]
            crawl.sendall(len(answer).to_bytes(4) + mark + answer[1:])
    except ConnectionError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def answer_to(task: Task, read_page: ReadPage, limits: Limits) -> bytes:
    """Return the answer to a task; a page beyond the limits ends this process."""
    _limit_time(limits.processor_s, limits.clock_s)
    try:
        return PAGE + msgspec.msgpack.encode(read_page(*task))
    except MemoryError:
        os._exit(1)
    except Exception:
        return ERROR + traceback.format_exc().encode("utf-8", "backslashreplace")
    finally:
        _limit_time(0, 0)


def _limit_time(processor_s: float, clock_s: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, processor_s)
    signal.setitimer(signal.ITIMER_REAL, clock_s)


def _memory_bytes() -> int:
    """Return the peak memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
