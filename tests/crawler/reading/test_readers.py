"""Pages that are read beside the crawl: the same answers, in order, whatever ends a reader."""

import asyncio
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import Mock
from zlib import compress

import pytest
from msgspec.json import encode
from scrapy import signals
from scrapy.signalmanager import SignalManager
from scrapy.utils.misc import load_object

from benchmarks.servers.loopback import Proxy, loopback
from benchmarks.servers.processes import HANG_S, children, wait_until
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.identity import signer, write_key
from langfocus.crawler.reading.configured import page_reader_of
from langfocus.crawler.reading.page import CRASHED, TIMEOUT, Reading
from langfocus.crawler.reading.process import ERROR, Limits, answer_to
from langfocus.crawler.reading.readers import Answer, Readers, processors
from langfocus.crawler.settings import ASYNCIO_EVENT_LOOP
from langfocus.crawler.spiders.middlewares import PageReaders
from tests.support.crawls import rows, wait_for
from tests.support.crawls import started as started_crawl
from tests.support.pdf import pdf, text_of
from tests.support.smallweb import SmallWeb

CONFIG = Config.read({"lang": "de", "seeds": "http://a.de/"})
HAS_PDF = find_spec("pypdfium2") is not None
DOCUMENTS = replace(CONFIG, documents=HAS_PDF)
LARGE = replace(DOCUMENTS, dns=tuple(map(str, range(50_000))))  # larger than a command line
WEB = SmallWeb(pages=40)
READERS = 2
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def page(url: str, body: bytes | None = None) -> Download:
    return Download(url, 200, body or WEB.respond(url).body, "text/html; charset=utf-8")


def long_page(characters: int) -> Download:
    return page("http://long.de/", b"<p>" + b"Wort <a href=/a>b</a> " * (characters // 22))


def document(body: bytes, language: str = "de") -> Download:
    return Download("http://a.de/a.pdf", 200, body, "application/pdf", language)


class Started(NamedTuple):
    """Readers that are ready, and the loop that they run on."""

    readers: Readers
    runner: asyncio.Runner
    template: int

    def pids(self) -> list[int]:
        return children(self.template)

    def read(self, *downloads: Download) -> list[Answer | None]:
        async def all_of_them() -> list[Answer | None]:
            asked = [self.readers.read(download, 1) for download in downloads]
            return list(await asyncio.gather(*asked))

        return self.runner.run(all_of_them())

    def renew(self, limits: Limits) -> None:
        """Have the next readers work within other limits."""
        self.readers.limits = limits
        before = self.pids()
        for pid in before:
            with suppress(ProcessLookupError):  # one with much memory ends by itself
                os.kill(pid, signal.SIGKILL)

        async def until_replaced() -> None:
            while len(now := self.pids()) < READERS or set(now) & set(before):
                await asyncio.sleep(0.01)

        self.runner.run(until_replaced())


async def ready(readers: Readers) -> None:
    while await readers.read(page("http://a.de/", b"<p>Guten Tag."), 1) is None:
        await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def all_tests() -> Iterator[Started]:
    before = set(children(os.getpid()))
    readers = Readers(READERS, LARGE, first_pages=0)
    of_a_crawl = load_object(ASYNCIO_EVENT_LOOP) if ASYNCIO_EVENT_LOOP else None
    with asyncio.Runner(loop_factory=of_a_crawl) as runner:
        runner.run(ready(readers))
        (template,) = set(children(os.getpid())) - before
        yield Started(readers, runner, template)

        async def end() -> None:
            readers.close()

        runner.run(end())


@pytest.fixture
def started(all_tests: Started) -> Iterator[Started]:
    yield all_tests
    all_tests.renew(Limits())


def test_readers_give_what_the_crawl_itself_reads_in_the_order_of_the_pages(
    started: Started,
) -> None:
    downloads = [page(url) for url in WEB.urls()]
    own = page_reader_of(CONFIG)
    expected = [own(download, 1) for download in downloads]
    # A list comes where the crawl itself has a tuple.
    assert encode(started.read(*downloads)) == encode(expected)


def test_a_crawl_has_a_reader_for_each_processor_that_it_may_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert processors() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert processors() == 7


def crawler_of(pages: int | None) -> Any:
    crawl = SimpleNamespace(
        config=replace(CONFIG, pages=pages), prepared=SimpleNamespace(read=page_reader_of(CONFIG))
    )
    return SimpleNamespace(spider=SimpleNamespace(crawl=crawl), signals=SignalManager())


@pytest.mark.parametrize(("pages", "starts"), [(999, False), (1000, True), (None, True)])
def test_a_crawl_of_many_pages_has_its_readers_started_before_its_first_page(
    pages: int | None, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def start(readers: Readers, *read_page: object) -> None:
        started.append(readers)

    monkeypatch.setattr(Readers, "start", start)
    monkeypatch.setattr(Readers, "fork", start)
    PageReaders.from_crawler(crawler_of(pages))
    assert len(started) == 2 * starts


def test_readers_are_forks_of_the_crawl_and_wait_for_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests may have left some
    before = set(children(os.getpid()))
    crawler = crawler_of(None)
    middleware = PageReaders.from_crawler(crawler)
    (template,) = set(children(os.getpid())) - before

    async def crawl() -> Answer | None:
        crawler.signals.send_catch_log(signals.engine_started)
        (answer,) = await asyncio.gather(middleware._readers.read(long_page(60_000), 1))
        assert set(children(os.getpid())) - before == {template}
        assert os.getpgid(template) == template
        assert len(list(Path(f"/proc/{template}/fd").iterdir())) <= 4  # and the crawl's socket
        crawler.signals.send_catch_log(signals.spider_closed)
        return answer

    assert type(asyncio.run(crawl())) is Reading
    assert set(children(os.getpid())) == before


def test_a_process_with_threads_is_not_forked() -> None:
    before = children(os.getpid())
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    Readers(1, CONFIG).fork(page_reader_of(CONFIG))
    assert children(os.getpid()) == before
    is_over.set()
    thread.join()


def test_the_readers_of_a_crawl_that_signs_its_requests_start(tmp_path: Path) -> None:
    write_key(tmp_path / "bot.pem")
    signing = replace(CONFIG, signer=signer(tmp_path / "bot.pem", "https://example.org/"))
    Readers(1, signing).close()


def test_the_first_pages_are_read_in_the_crawl() -> None:
    before = children(os.getpid())
    readers = Readers(1, CONFIG, first_pages=3)
    asked = [readers.read(page(url), 1) for url in WEB.urls()[:3]]

    async def all_of_them() -> list[Answer | None]:
        return list(await asyncio.gather(*asked))

    assert asyncio.run(all_of_them()) == [None] * 3
    assert children(os.getpid()) == before


def test_a_large_page_is_never_read_in_the_crawl() -> None:
    async def both() -> list[Answer | None]:
        readers = Readers(1, CONFIG)
        try:
            asked = [readers.read(one, 1) for one in (long_page(60_000), page(WEB.url(0)))]
            return list(await asyncio.gather(*asked))
        finally:
            readers.close()

    assert [type(answer) for answer in asyncio.run(both())] == [Reading] * 2


def test_a_page_whose_reader_is_killed_is_read_again(started: Started) -> None:
    async def killed_meanwhile() -> list[Answer | None]:
        downloads = [page(url) for url in WEB.urls() * 5]
        downloads[::4] = [document(pdf(text_of("Guten Tag"), pages=9))] * 50
        asked = [asyncio.ensure_future(started.readers.read(one, 1)) for one in downloads]
        await asyncio.sleep(0)  # the readers have their pages
        for pid in started.pids():
            os.kill(pid, signal.SIGKILL)
        return list(await asyncio.gather(*asked))

    answers = started.runner.run(killed_meanwhile())
    assert [type(answer) for answer in answers] == [Reading] * 200


def test_a_reader_that_is_killed_after_an_answer_and_before_its_next_page_is_noticed(
    started: Started,
) -> None:
    async def killed_after_an_answer() -> list[Answer | None]:
        asked = [asyncio.ensure_future(started.readers.read(page(url), 1)) for url in WEB.urls()]
        await asyncio.sleep(0)  # the readers have their pages
        select.select([reader.socket for reader in started.readers._readers], [], [], HANG_S)
        for pid in started.pids():
            os.kill(pid, signal.SIGKILL)
        while started.pids():  # the template takes their ends as they come
            time.sleep(0.001)
        async with asyncio.timeout(HANG_S):
            return list(await asyncio.gather(*asked))

    answers = started.runner.run(killed_after_an_answer())
    assert [type(answer) for answer in answers] == [Reading] * 40


def test_a_page_that_takes_too_long_is_given_up_and_the_others_are_read(
    started: Started,
) -> None:
    started.renew(Limits(processor_s=0.03))
    answers = started.read(page(WEB.url(1)), long_page(2_000_000), page(WEB.url(2)))
    assert answers[1] == TIMEOUT
    assert [type(answer) for answer in answers[::2]] == [Reading] * 2


def test_no_page_waits_for_one_that_holds_its_reader(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.crawler.reading.readers.HELD_S", 0.01)
    started.renew(Limits(processor_s=HANG_S, clock_s=HANG_S))
    stopped = list(started.pids())
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)

    async def others_then_held() -> list[Answer | None]:
        urls = [WEB.url(number) for number in range(10)]
        asked = [asyncio.ensure_future(started.readers.read(page(url), 1)) for url in urls]
        done = [await one for one in asked[READERS:]]
        assert not any(one.done() for one in asked[:READERS])
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        return [*done, *await asyncio.gather(*asked[:READERS])]

    assert {type(answer) for answer in started.runner.run(others_then_held())} == {Reading}


def test_a_page_that_takes_too_much_memory_twice_is_given_up(started: Started) -> None:
    started.renew(Limits(page_bytes=2**20))
    large = page("http://large.de/", b"<p>" + bytes(2**26))  # no free part of the heap holds it
    assert started.read(large) == [CRASHED]


@pytest.mark.skipif(not HAS_PDF, reason="needs pypdfium2")
def test_a_hostile_pdf_is_given_up_and_the_pages_around_it_are_read(started: Started) -> None:
    started.renew(Limits(page_bytes=2**27))
    bomb = document(pdf(compress(compress(bytes(2**27))), filters=b"[/FlateDecode/FlateDecode]"))
    good, other = document(pdf(text_of("Guten Tag"))), page(WEB.url(0))
    answers = started.read(good, bomb, other, bomb, good)
    assert [getattr(one, "parser", one) for one in answers] == [
        *("pdf", CRASHED, "lexbor", CRASHED, "pdf")
    ]


def test_a_document_is_never_read_in_the_crawl() -> None:
    asked = replace(CONFIG, documents=True)
    found, half = document(b"%PDF-1.7"), document(b"PK\x03\x04", "\udc80")

    async def answers() -> list[Answer | None]:
        readers = Readers(0, asked)
        first = await readers.read(found, 1)
        readers._readers = [Mock()]
        return [first, await readers.read(half, 1)]

    assert asyncio.run(answers()) == [CRASHED] * 2


def test_a_reader_whose_memory_grew_is_replaced_between_two_pages(started: Started) -> None:
    started.renew(Limits(growth_bytes=-(2**40)))
    answers = started.read(*(page(url) for url in WEB.urls()))
    assert [type(answer) for answer in answers] == [Reading] * 40


def test_an_exception_of_a_page_is_answered_with_its_traceback() -> None:
    def read(download: Download, depth: int) -> Reading:
        raise ValueError(download.url)

    answer = answer_to((page(WEB.url(1)), 1), read, Limits())
    assert answer[:1] == ERROR
    assert f"ValueError: {WEB.url(1)}".encode() in answer


def test_a_page_larger_than_a_socket_holds_is_read(started: Started) -> None:
    large = [long_page(3_000_000) for _ in range(5)]
    assert [type(answer) for answer in started.read(*large)] == [Reading] * 5


def test_a_crawl_that_ends_while_the_models_load_leaves_no_traceback() -> None:
    ours, theirs = socket.socketpair()
    code = f"main({theirs.fileno()})"
    command = [sys.executable, "-c", f"from langfocus.crawler.reading.process import main; {code}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, pass_fds=[theirs.fileno()]) as template:
        theirs.close()
        ours.sendall(pickle.dumps(CONFIG))
        assert select.select([ours], [], [], HANG_S)[0]  # it is ready, and nobody has read that
        ours.close()
        assert template.stderr
        assert template.stderr.read() == b""
    assert template.returncode == 0


def test_readers_end_when_their_crawl_is_killed(tmp_path: Path) -> None:
    script = dedent("""
        import asyncio
        from tests.crawler.reading import test_readers as tests
        async def main():
            readers = tests.Readers(2, tests.CONFIG, first_pages=0)
            await tests.ready(readers)
            print("ready", end="", flush=True)
            await asyncio.sleep(600)
        asyncio.run(main())
    """)
    output, inherited = os.pipe()
    with subprocess.Popen([sys.executable, "-c", script], stdout=inherited) as crawl:
        os.close(inherited)
        try:
            assert os.read(output, 99) == b"ready"
            assert children(crawl.pid)
        finally:
            crawl.kill()
    # The template and its readers have the other end of the pipe too, until the last one ends.
    assert select.select([output], [], [], HANG_S)[0]
    assert os.read(output, 99) == b""
    os.close(output)


def answered(proxy: Proxy, requests: int) -> bool:
    return proxy.answered >= requests


def test_a_crawl_whose_reader_is_killed_again_and_again_has_every_page_once(
    tmp_path: Path,
) -> None:
    web = SmallWeb(pages=300)
    arguments = ("lang=de", "strategy=bfs", "filter=none", f"seeds={web.url(0)}")
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 8}
    with (
        loopback(web, answers=160) as proxy,
        started_crawl(*arguments, proxy=proxy.url, LANGFOCUS_READERS=1, **settings) as crawl,
    ):

        def readers() -> list[int]:
            return [pid for template in children(crawl.pid) for pid in children(template)]

        killed = set[int]()
        for answers in (160, 200, 240, 280):
            more = answers + 8
            wait_for(proxy, more, crawl)  # so 8 requests wait for their answers
            wait_until(lambda: bool(set(readers()) - killed), crawl)
            (reader,) = set(readers()) - killed
            os.kill(reader, signal.SIGSTOP)
            proxy.answers = more
            wait_until(partial(answered, proxy, more), crawl)
            os.kill(reader, signal.SIGKILL)
            killed.add(reader)
            proxy.answers = answers + 40
        proxy.answers = None
        assert crawl.wait(HANG_S) == 0, crawl.communicate()
    assert len(killed) == 4
    asked = Counter(access.url for access in proxy.log if "/page/" in access.url)
    assert asked == Counter(web.urls())
    found = rows(tmp_path, "SELECT url, outcome, language FROM pages WHERE url LIKE '%/page/%'")
    assert sorted(found) == sorted((web.url(n), "page", web.language(n)) for n in range(300))
