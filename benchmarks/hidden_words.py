"""How many words a crawl collects where nine pages in a hundred are empty without a browser.

    python -m benchmarks.hidden_words [--lang gl] [--pages 2000] [--documents] [--render]
    python -m benchmarks.hidden_words --documents --render --kills 5 --victim crawl|reader|browser

Serves `benchmarks.hidden_web`, crawls a language of it to the end, and compares the words of the
export with those of all pages in the language: a crawl that reads PDFs and renders everything would
have them. `--documents` has PDFs read; `--render` starts Chromium for the crawl. The pages that a
browser loaded are counted by the server: each page has a script that nothing else asks for. With
`--kills` the crawl, a process that reads pages, or the browser is killed again and again; the crawl
and the browser are then started anew. Every page that can be reached must have one record, and
every page in the language one text. Prints one JSON line; exit code 1 if a page is lost or a
private address was asked for.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from benchmarks.crawling import command, rows, summary
from benchmarks.hidden_web import PRIVATE, HiddenWeb, words_of
from benchmarks.killloop import Worker, judged, kill_readers, kill_workers, wait_for_fetches
from benchmarks.servers.loopback import Proxy, free_port, loopback
from langfocus.classifiers.pages.documents import parse_document
from langfocus.crawler.corpus.building import TextOptions
from langfocus.crawler.corpus.export import export
from langfocus.crawler.reading.page import CRASHED

CHROMIUM: Final = "/usr/bin/chromium"
RULES: Final = ("filter=hard", "host_cap=100")
"""All pages in the language are fetched, and other pages that they link to."""
_PAUSE_S: Final = (1.0, 8.0)
"""Between two kills of the browser."""


@dataclass
class Browser:
    """Chromium with a debugging port, which may be killed and started again."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of the debugging port."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it."""
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        place = [f"--remote-debugging-port={self.port}", f"--user-data-dir={self.folder}"]
        line, no = [CHROMIUM, *flags, *place, "about:blank"], subprocess.DEVNULL
        self.process = subprocess.Popen(line, start_new_session=True, stdout=no, stderr=no)

    def kill(self) -> None:
        """Kill all of its processes."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """Run Chromium for the block."""
    browser = Browser(folder)
    browser.start()
    try:
        yield browser
    finally:
        browser.kill()


def reachable(web: HiddenWeb, lang: str, *, renders: bool, reads: bool) -> set[str]:
    """Return the pages in a language that a crawl fetches: links on such pages lead to them."""
    known, waiting = {web.seeds[lang]}, [web.seeds[lang]]
    while waiting:
        page = web.pages[waiting.pop()]
        can_read = reads if page.kind == "pdf" else renders or not page.is_shell
        links = {url for url in page.links if web.pages[url].lang == lang} if can_read else set()
        waiting += links - known
        known |= links
    return {url for url in known if reads or web.pages[url].kind != "pdf"}


def collected(web: HiddenWeb, lang: str, texts: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Return the numbers of words in the texts, and in the pages, by kind and for `all`."""
    found, whole = Counter[str](), Counter[str]()
    for page in web.of(lang):
        kind = "shell" if page.is_shell else page.kind
        number = (page.words & words_of(texts.get(page.url, ""))).total()
        found.update({kind: number, "all": number})
        whole.update({kind: page.words.total(), "all": page.words.total()})
    return {kind: (found[kind], whole[kind]) for kind in sorted(whole)}


def lost(wanted: Iterable[str], records: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the wanted pages without one record, and those with several texts."""
    numbers, exported = Counter(records), Counter(texts)
    wrong = [f"{url}: {numbers[url]} records" for url in wanted if numbers[url] != 1]
    return wrong + [f"{url}: {n} texts" for url, n in exported.items() if n > 1]


def kill_browser(
    server: Proxy, worker: Worker, browser: Browser, kills: int, random: Random
) -> int:
    """Kill the browser of a crawl until `kills` were made or the crawl ended."""
    worker.start()
    wait_for_fetches(server, worker)
    for number in range(kills):
        if worker.ends_within(random.uniform(*_PAUSE_S)):
            return number
        browser.kill()
        time.sleep(random.uniform(0.0, 1.0))
        browser.start()
    return kills


def crawl(web: HiddenWeb, given: argparse.Namespace, run: Path) -> tuple[Proxy, int, list[str]]:
    """Crawl to the end; return the server, the number of kills and the faults of processes."""
    random = Random(given.random_state)
    arguments = [f"lang={given.lang}", f"seeds={web.seeds[given.lang]}", *RULES, *given.argument]
    settings: dict[str, object] = {"DOWNLOAD_DELAY": given.delay, "LANGFOCUS_QUIET": True}
    settings["RETRY_TIMES"] = 2 + given.kills  # each kill counts as a try of the pages under way
    settings |= {"CONCURRENT_REQUESTS": 16, **dict(each.split("=", 1) for each in given.setting)}
    with ExitStack() as stack:
        server = stack.enter_context(loopback(web, given.latency))
        browser = None
        if given.render:
            browser = stack.enter_context(browsing(run.parent / "browser"))
            settings["LANGFOCUS_RENDER"] = browser.url
        if given.documents:
            arguments.append("documents=true")
        worker = Worker(command(*arguments, **settings, JOBDIR=run), server.url, stack)
        kills = 0
        if given.kills and given.victim == "browser" and browser is not None:
            kills = kill_browser(server, worker, browser, given.kills, random)
        elif given.kills:
            done = (
                kill_readers(server, [worker], given.kills, random)
                if given.victim == "reader"
                else kill_workers(server, [worker], None, given.kills, random)
            )
            kills = done.hit.total()
        worker.start()
        fault = worker.fault()
    return server, kills, [fault] if fault else []


def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Crawl and judge."""
    web, run = HiddenWeb(given.pages, random_state=given.random_state), folder / "run"
    began_at = time.monotonic()
    server, kills, wrong = crawl(web, given, run)
    file = folder / "texts.jsonl"
    export([run], file, "jsonl", TextOptions(keeps_copies=True, keeps_repeated=True))
    items = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    facts = summary(run)
    records = [url for (url,) in rows(run, "SELECT url FROM pages")]
    crashed = rows(run, f"SELECT COUNT(*) FROM pages WHERE outcome = '{CRASHED}'")[0][0]
    wrong += [f"{crashed} pages crashed, more than two kills each"] * (2 * crashed > kills)
    wanted = reachable(web, given.lang, renders=given.render, reads=given.documents)
    wrong += lost(wanted, records, [item["url"] for item in items])
    rendered = seen_by_browser(web)
    wrong += [f"{PRIVATE} was asked for"] * any(PRIVATE in access.url for access in server.log)
    words = collected(web, given.lang, {item["url"]: item["text"] for item in items})
    return {
        "lang": given.lang,
        "pages_of_web": given.pages,
        "documents": given.documents,
        "render": given.render,
        "pages": facts["pages"],
        "relevant": facts["relevant"],
        "harvest_rate": round(facts["harvest_rate"], 4),
        "words": {kind: round(a / b, 4) for kind, (a, b) in words.items()},
        "rendered": len(rendered),
        "rendered_share": round(len(rendered) / max(1, facts["pages"]), 4),
        "rendered_in_vain": sum(not web.pages[url].is_shell for url in rendered),
        "rendered_errors": sum("/gone/" in url and url.endswith(".js") for url in web.asked),
        "ms_a_pdf": round(median(pdf_ms(web)), 1) if given.documents else None,
        "kills": {given.victim: kills} if given.kills else {},
        "crashed": crashed,
        "seconds": round(time.monotonic() - began_at, 1),
        "wrong": sorted(wrong)[:20],
        "wrong_in_all": len(wrong),
    }


def pdf_ms(web: HiddenWeb) -> Iterator[float]:
    """Yield the processor time in which each PDF of the web is read, milliseconds."""
    for page in web.pages.values():
        if page.kind == "pdf":
            body, began_at = web.respond(page.url).body, time.process_time()
            found = parse_document(body, page.url)
            if found is None or set(found.links) != set(page.links):
                raise RuntimeError(f"{page.url} was read wrongly")
            yield 1000 * (time.process_time() - began_at)


def seen_by_browser(web: HiddenWeb) -> set[str]:
    """Return the pages whose script was asked for."""
    return {page.url for page in web.pages.values() if web.asked[web.script_of(page)]}


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lang", default="gl")
    parser.add_argument("--pages", type=int, default=2000, help="of the web")
    parser.add_argument("--documents", action="store_true", help="read PDFs")
    parser.add_argument("--render", action="store_true", help="render in Chromium")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--victim", choices=("crawl", "reader", "browser"), default="crawl")
    parser.add_argument("--delay", type=float, default=0.05, help="DOWNLOAD_DELAY, seconds")
    parser.add_argument("--latency", type=float, default=0.02, help="of an answer, seconds")
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep the files of the crawl")
    parser.add_argument("-a", dest="argument", action="append", default=[], help="of the crawl")
    parser.add_argument("-s", dest="setting", action="append", default=[], help="of the crawl")
    return parser


def main(line: Sequence[str] | None = None) -> int:
    """Print the JSON line; 1 if anything was wrong."""
    return judged(parser().parse_args(line), measure)


if __name__ == "__main__":
    sys.exit(main())
