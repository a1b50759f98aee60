"""Spiders of users on the frontier: in a file, in a project, in a script, and as they are."""

import json
import math
import re
import signal
from collections import Counter
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from benchmarks.servers import processes
from langfocus.crawler.spiders.addon import OtherLanguage, OtherLanguages
from langfocus.crawler.spiders.callbacks import PAGE_KEY, Page
from tests.support.crawls import environment, finished, rows

SETTINGS = {
    "LANGFOCUS_SAMPLE_HOSTS": 300,
    "LANGFOCUS_RANDOM_STATE": 1,
    "LANGFOCUS_READERS": 0,
    "LANGFOCUS_QUIET": True,
    "CONCURRENT_REQUESTS": 1,
}
ORDER = "SELECT url, outcome, language, score FROM pages ORDER BY id"
GERMAN = """
    import langfocus

    class German(langfocus.Spider):
        name = "german"
        lang = "de"
        web = "sample"
        pages = 40

        def parse_page(self, response, page):
            yield {"url": response.url, "language": page.language, "links": len(page.links)}
"""
PLAIN = """
    import scrapy

    class Plain(scrapy.Spider):
        name = "plain"
        start_urls = ["http://www.kueche-arzt.de/"]

        def parse(self, response):
            yield {"url": response.url, "language": response.meta["langfocus"].language}
            for link in response.css('a[href^="http"], a[href^="/"]'):
                yield response.follow(link, self.detail, cb_kwargs={"of": response.url})

        def detail(self, response, of):
            page = response.meta["langfocus"]
            yield {"url": response.url, "language": page.language, "of": of}
            for link in response.css('a[href^="http"], a[href^="/"]'):
                kwargs = {"of": response.url}
                yield response.follow(link, self.detail, cb_kwargs=kwargs, meta=response.meta)
"""
ADDON = {"ADDONS": '{"langfocus.Addon": 300}', "LANGFOCUS_LANG": "de"}
FRONTIER = ADDON | {"LANGFOCUS_SCHEDULER": True, "LANGFOCUS_WEB": "sample", "LANGFOCUS_PAGES": 40}


def written(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(code))
    return path


def line(command: str, spider: object, settings: dict[str, Any], *more: str) -> tuple[str, ...]:
    given = [part for name in settings for part in ("-s", f"{name}={settings[name]}")]
    return ("scrapy", command, str(spider), *given, *more)


def plain_environment() -> dict[str, str]:
    clean = dict(environment(None))
    del clean["SCRAPY_SETTINGS_MODULE"]
    return clean


def ran(folder: Path, *words: str) -> processes.Done:
    return processes.run(*words, environment=plain_environment(), folder=folder)


def items(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def command_of(run: Path) -> str:
    command: str = json.loads((run / "summary.json").read_text())["command"]
    return command


def crawled(tmp_path: Path, code: str, *more: str, **settings: Any) -> list[dict[str, Any]]:
    """Return the items of a spider in a file, whose run is in the folder `run`."""
    file = written(tmp_path / "own.py", code)
    given = {**SETTINGS, "JOBDIR": tmp_path / "run", **settings}
    done = ran(tmp_path, *line("runspider", file, given, "-O", "items.jl", *more))
    assert done.returncode == 0, done.stderr
    return items(tmp_path / "items.jl")


def test_a_spider_in_a_file_crawls_as_langfocus_does(tmp_path: Path) -> None:
    finished("lang=de", "web=sample", "pages=40", **SETTINGS, JOBDIR=tmp_path / "ours")
    found = crawled(tmp_path, GERMAN)
    assert rows(tmp_path / "run", ORDER) == rows(tmp_path / "ours", ORDER)
    settled = rows(tmp_path / "run", "SELECT url, language FROM pages WHERE outcome = 'page'")
    assert [(one["url"], one["language"]) for one in found] == settled
    assert any(one["links"] for one in found)


def test_the_spiders_of_the_guide_crawl(tmp_path: Path) -> None:
    guide = (processes.ROOT / "docs" / "spiders.md").read_text("utf-8").replace('"gl"', '"fi"')
    galician, _indexed, plain = re.findall(r"(?s)```python\n(.*?)```", guide)
    found = crawled(tmp_path, galician.replace("seeds =", "web = 'sample' #"), "-a", "pages=20")
    assert found
    assert sum(bool(one["text"]) for one in found) > len(found) / 2
    seed = rows(tmp_path / "run", "SELECT url FROM pages WHERE language = 'fi'")[0][0]
    plain = plain.replace("https://praza.gal/", seed).replace(
        'css="a[href]"', "css='a[href^=\"/\"]'"
    )
    found = crawled(
        tmp_path / "second", plain, LANGFOCUS_WEB="sample", LANGFOCUS_PAGES=5, LOG_LEVEL="ERROR"
    )
    assert found[0]["url"] == seed


IN_INIT = """
    import langfocus
    from scrapy import signals

    class InInit(langfocus.Spider):
        name = "in-init"
        web = "sample"
        pages = 5

        def __init__(self, country="de", *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.lang = country
            self.start_urls = ["http://www.kueche-arzt.de/"]

        @classmethod
        def from_crawler(cls, crawler, *args, **kwargs):
            spider = super().from_crawler(crawler, *args, **kwargs)
            crawler.signals.connect(spider.spider_closed, signals.spider_closed)
            return spider

        def spider_closed(self, spider, reason):
            print("signal", spider.name, reason)

        def parse_page(self, response, page):
            yield {"url": response.url}
"""


def test_a_spider_may_set_its_arguments_in_init_and_use_the_signals(tmp_path: Path) -> None:
    file = written(tmp_path / "own.py", IN_INIT)
    own = {**SETTINGS, "JOBDIR": tmp_path / "run", "LOG_LEVEL": "ERROR"}
    done = ran(tmp_path, *line("runspider", file, own, "-a", "country=fr"))
    assert (done.returncode, done.stderr.count("Error")) == (0, 0), done.stderr
    assert "signal in-init" in done.stdout
    meta = dict(rows(tmp_path / "run", "SELECT key, value FROM meta"))
    assert (meta["lang"], json.loads(meta["seeds"])) == ("fr", ["http://www.kueche-arzt.de/"])


PARTS = """
    class Pipeline:
        def process_item(self, item):
            return {**item, "by": "pipeline"}

    class Middleware:
        def process_response(self, request, response):
            response.headers["X-Own"] = "yes"
            return response

    class Extension:
        @classmethod
        def from_crawler(cls, crawler):
            from scrapy import signals
            self = cls()
            crawler.signals.connect(self.closed, signals.spider_closed)
            crawler.own_extension = self
            self.stats = crawler.stats
            return self

        def closed(self, spider, reason):
            print("closed", reason, self.stats.get_value("langfocus/pages"))
"""


def project(folder: Path, settings: str = "", spider: str = GERMAN) -> Path:
    """Make a project as `scrapy startproject` does, with parts of its own."""
    written(folder / "scrapy.cfg", "[settings]\ndefault = own.settings\n")
    written(folder / "own" / "__init__.py", "")
    written(folder / "own" / "spiders" / "__init__.py", "")
    written(folder / "own" / "spiders" / "one.py", spider)
    written(folder / "own" / "parts.py", PARTS)
    common = """\
    BOT_NAME = "own"
    SPIDER_MODULES = ["own.spiders"]
    NEWSPIDER_MODULE = "own.spiders"
    ADDONS = {}
    ROBOTSTXT_OBEY = True
    CONCURRENT_REQUESTS_PER_DOMAIN = 1
    DOWNLOAD_DELAY = 1
    FEED_EXPORT_ENCODING = "utf-8"
    """
    lines = [f"{name} = {value!r}" for name, value in SETTINGS.items()]
    written(folder / "own" / "settings.py", dedent(common) + "\n".join(lines) + "\n" + settings)
    return folder


def test_the_parts_of_a_project_work_with_its_spider(tmp_path: Path) -> None:
    parts = """
ITEM_PIPELINES = {"own.parts.Pipeline": 300}
EXTENSIONS = {"own.parts.Extension": 500}
DOWNLOADER_MIDDLEWARES = {"own.parts.Middleware": 543}
"""
    spider = GERMAN.replace('"links"', '"own": response.headers["X-Own"].decode(), "links"')
    folder = project(tmp_path, parts, spider)
    settings = {"JOBDIR": tmp_path / "run"}
    done = ran(folder, *line("crawl", "german", settings, "-O", "items.jl"))
    assert done.returncode == 0, done.stderr
    found = items(tmp_path / "items.jl")
    assert len(found) == 40
    assert {(one["own"], one["by"]) for one in found} == {("yes", "pipeline")}
    assert "closed pages 40" in done.stdout
    finished("lang=de", "web=sample", "pages=40", **SETTINGS, JOBDIR=tmp_path / "ours")
    assert rows(tmp_path / "run", ORDER) == rows(tmp_path / "ours", ORDER)


def test_the_spider_of_langfocus_crawls_in_the_project_of_a_user(tmp_path: Path) -> None:
    folder = project(tmp_path, 'SPIDER_MODULES = ["langfocus.crawler.spiders.langfocus"]\n')
    given = {"JOBDIR": tmp_path / "run"}
    arguments = ("-a", "lang=de", "-a", "web=sample", "-a", "pages=20")
    done = ran(folder, *line("crawl", "langfocus", given, *arguments))
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "run", ORDER)) >= 20


def test_a_script_runs_a_spider_in_a_crawler_process_and_by_langfocus(tmp_path: Path) -> None:
    written(tmp_path / "own.py", GERMAN)
    script = f"""
    from pathlib import Path
    import langfocus
    from own import German

    if __name__ == "__main__":
        settings = {SETTINGS!r}
        run = langfocus.crawl(German, pages=20, folder="second", settings=settings)
        print("pages", run.summary.pages)
        from scrapy.crawler import CrawlerProcess
        process = CrawlerProcess({{**settings, "JOBDIR": "first", "LOG_LEVEL": "ERROR"}})
        process.crawl(German, pages="20")
        process.start()
    """
    written(tmp_path / "script.py", script)
    done = ran(tmp_path, "script")
    assert done.returncode == 0, done.stderr
    assert "pages 20" in done.stdout
    assert rows(tmp_path / "first", ORDER) == rows(tmp_path / "second", ORDER)


def test_a_script_that_would_crawl_when_it_is_imported_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "script.py", GERMAN + "\n    langfocus.crawl(German, folder='run')\n")
    done = ran(tmp_path, "script")
    assert 'must be below if __name__ == "__main__":' in done.stderr
    assert not (tmp_path / "run").exists()


HOOKS = """
    import asyncio
    import langfocus
    from scrapy import Request

    class Hooks(langfocus.Spider):
        name = "hooks"
        lang = "de"
        web = "sample"
        pages = 40

        async def start(self):
            yield {"kind": "start"}
            yield Request("http://www.kueche-arzt.de/", self.parse_first, cb_kwargs={"n": 7})
            missing = "http://www.kueche-arzt.de/index.php?page=264"
            yield Request(missing, errback=self.failed, priority=50)

        async def parse_first(self, response, n):
            await asyncio.sleep(0)
            yield {"kind": "first", "n": n, "language": response.meta["langfocus"].language}
            yield Request("http://www.buehne-ferien.de/", self.parse_second, meta={"own": 3})

        def parse_second(self, response):
            return [{"kind": "second", "own": response.meta["own"]}]

        def failed(self, failure):
            yield {"kind": "errback", "url": failure.request.url}

        async def parse_page(self, response, page):
            if "musik" in response.url:
                raise ValueError("own mistake")
            yield {"kind": "page", "url": response.url, "text": page.text()}

        def parse_failure(self, failed):
            yield {"kind": "failure", "outcome": failed.outcome, "status": failed.status}

        def wants(self, link):
            if "reise" in link.url:
                return float("nan")
            return False if ".at/" in link.url else 5.0 if "schule" in link.url else None

        async def spider_closed(self, run):
            print("closed", run.summary.pages, run.folder.joinpath("report.html").exists())
"""


def test_the_hooks_of_a_spider_decide_about_links_and_see_every_end(tmp_path: Path) -> None:
    file = written(tmp_path / "own.py", HOOKS)
    own = {**SETTINGS, "JOBDIR": tmp_path / "run", "LOG_LEVEL": "ERROR", "RETRY_TIMES": 0}
    done = ran(tmp_path, *line("runspider", file, own, "-O", "items.jl"))
    assert "closed 40 True" in done.stdout, done.stderr
    found = items(tmp_path / "items.jl")
    assert "seeds" not in command_of(tmp_path / "run")
    kinds = Counter(one["kind"] for one in found)
    assert (kinds["start"], kinds["first"], kinds["second"], kinds["errback"]) == (1, 1, 1, 1)
    assert {"kind": "first", "n": 7, "language": "de"} in found
    assert {"kind": "second", "own": 3} in found
    ended = Counter(rows(tmp_path / "run", "SELECT outcome, status FROM pages"))
    broken = rows(tmp_path / "run", "SELECT 1 FROM pages WHERE url LIKE '%musik%'")
    good = ended["page", 200] - len(broken)
    assert kinds["page"] + kinds["first"] + kinds["second"] == good
    parents = dict(rows(tmp_path / "run", "SELECT url, parent FROM pages"))
    assert parents["http://www.buehne-ferien.de/"] == "http://www.kueche-arzt.de/"
    assert not any(".at/" in url for url in parents)
    counts = dict(rows(tmp_path / "run", "SELECT name, value FROM counts"))
    assert counts["ignored_by_spider"] > 0
    assert any("reise" in url for url in parents)  # a bonus that is no number changes nothing
    assert all(
        math.isfinite(score) for (score,) in rows(tmp_path / "run", "SELECT score FROM urls")
    )
    assert all(one["text"] for one in found if one["kind"] == "page")


def test_a_callback_that_raises_is_named_and_its_page_is_kept(tmp_path: Path) -> None:
    code = GERMAN.replace(
        "            yield", "            raise ValueError('own')\n            yield"
    )
    file = written(tmp_path / "own.py", code)
    done = ran(tmp_path, *line("runspider", file, {**SETTINGS, "JOBDIR": tmp_path / "run"}))
    assert done.returncode == 0
    assert "ValueError: own" in done.stderr
    assert "'spider_exceptions/ValueError': 40" in done.stderr
    assert len(rows(tmp_path / "run", "SELECT 1 FROM pages WHERE outcome = 'page'")) == 40


def test_no_item_is_lost_when_a_crawl_is_killed_and_goes_on(tmp_path: Path) -> None:
    """The requests of an ordinary spider under the add-on; test_indexed has `langfocus.Spider`."""
    file = written(
        tmp_path / "own.py", PLAIN.replace('"url"', '"pid": __import__("os").getpid(), "url"')
    )
    given = {**SETTINGS, **FRONTIER, "JOBDIR": tmp_path / "run", "LOG_LEVEL": "ERROR"}
    given["ITEM_PIPELINES"] = '{"keeping.Keeping": 1}'
    keeping = """
    import json

    class Keeping:
        def process_item(self, item):
            with open("kept.jl", "a") as file:
                file.write(json.dumps(item) + "\\n")
            return item
    """
    written(tmp_path / "keeping.py", keeping)
    words = line("runspider", file, given)
    kept = tmp_path / "kept.jl"
    with processes.started(*words, environment=plain_environment(), folder=tmp_path) as one:
        processes.wait_until(lambda: kept.exists() and kept.read_text().count("\n") >= 9, one)
        one.send_signal(signal.SIGKILL)
        one.wait()
    done = ran(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    found = items(kept)
    assert len({one["pid"] for one in found}) == 2
    settled = rows(tmp_path / "run", "SELECT url FROM pages WHERE status = 200")
    assert {url for (url,) in settled} <= {one["url"] for one in found}
    # Pages whose transaction the kill undid come twice.
    assert max(Counter(one["url"] for one in found).values()) <= 2
    second = [one for one in found if one["pid"] == found[-1]["pid"]]
    assert all("of" in one for one in second)


def test_ordinary_spiders_get_the_frontier_by_an_addon(tmp_path: Path) -> None:
    found = crawled(tmp_path, PLAIN, **FRONTIER, LOG_LEVEL="ERROR")
    order = rows(tmp_path / "run", "SELECT url, parent FROM pages WHERE status = 200 ORDER BY id")
    assert [one["url"] for one in found] == [url for url, _ in order]
    command = command_of(tmp_path / "run")
    assert command.startswith("scrapy crawl plain -s CONCURRENT_REQUESTS=1 -s LANGFOCUS_LANG=de ")
    assert "LANGFOCUS_SCHEDULER=True" in command
    assert not {"seeds", "-a"} & set(command.lower().replace("=", " ").split())
    linked = {url: of for url, of in order if of in dict(order)}
    assert {one["url"]: one["of"] for one in found if one["url"] in linked} == linked
    per_host = Counter(rows(tmp_path / "run", "SELECT host FROM pages WHERE outcome = 'page'"))
    assert sum(per_host.values()) == 40
    assert max(per_host.values()) <= 10


def test_spiders_in_one_process_do_not_meet(tmp_path: Path) -> None:
    written(tmp_path / "own.py", GERMAN)
    script = f"""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from own import German

    class French(German):
        name = "french"
        lang = "fr"

    class Other(scrapy.Spider):
        name = "other"
        start_urls = ["data:,one"]

        def parse(self, response):
            print("other", response.text, "langfocus" in response.meta)

    process = CrawlerProcess({{**{SETTINGS!r}, "LOG_LEVEL": "ERROR"}})
    for spider in (German, French, Other):
        process.crawl(process.create_crawler(spider))
    process.start()
    """
    written(tmp_path / "script.py", script)
    done = ran(tmp_path, "script")
    assert (done.returncode, "ERROR" in done.stderr) == (0, False), done.stderr
    assert "other one False" in done.stdout
    for lang in ("de", "fr"):
        (folder,) = (tmp_path / "runs").glob(f"{lang}-focus-*")
        found = Counter(rows(folder, "SELECT language FROM pages WHERE status = 200"))
        assert sum(found.values()) > 20
        assert found.most_common(1)[0][0] == (lang,)


LOCAL = """
    import scrapy

    TEXTS = {
        "de": "Die Kinder gehen am Morgen zur Schule und kommen mittags wieder nach Hause. " * 3,
        "fr": "Les enfants vont à l'école le matin et rentrent à la maison à midi. " * 3,
    }

    class Handler:
        lazy = False

        def __init__(self, crawler):
            pass

        @classmethod
        def from_crawler(cls, crawler):
            return cls(crawler)

        async def download_request(self, request):
            language = "fr" if "/fr/" in request.url else "de"
            end = request.url[-1]
            links = "".join(f'<a href="/{x}/{end}{n}">.</a>' for n in "12" for x in TEXTS)
            body = f"<p>{TEXTS[language]}</p>{links}" if len(request.url) < 32 else "<p>.</p>"
            headers = {"Content-Type": "text/html; charset=utf-8"}
            return scrapy.http.HtmlResponse(request.url, headers=headers, body=body.encode())

        async def close(self):
            pass

    class Local(scrapy.Spider):
        name = "local"
        start_urls = ["http://seiten.example/de/0"]
        custom_settings = {"DOWNLOAD_HANDLERS": {"http": Handler}, "ROBOTSTXT_OBEY": False}

        def parse(self, response):
            page = response.meta["langfocus"]
            yield {"url": response.url, "language": page.language, "p": response.request.priority}
            yield from response.follow_all(css="a")
"""


def test_without_the_scheduler_requests_have_a_priority_by_their_url(tmp_path: Path) -> None:
    found = crawled(tmp_path, LOCAL, **ADDON, LOG_LEVEL="ERROR", ROBOTSTXT_OBEY=False)
    priority = {"/fr/" in one["url"]: one["p"] for one in found}
    assert priority[False] > priority[True]
    german = [n for n, one in enumerate(found) if "/de/" in one["url"]]
    french = [n for n, one in enumerate(found) if "/fr/" in one["url"]]
    assert sum(german) / len(german) < sum(french) / len(french)
    assert not (tmp_path / "run" / "run.db").exists()


def test_pages_in_other_languages_are_dropped_if_asked(tmp_path: Path) -> None:
    found = crawled(
        tmp_path,
        LOCAL,
        **ADDON,
        LANGFOCUS_DROP_OTHERS=True,
        LOG_LEVEL="ERROR",
        ROBOTSTXT_OBEY=False,
    )
    assert {one["language"] for one in found} <= {"de", None}
    assert any(one["language"] == "de" for one in found)


def test_a_dropped_page_is_counted_whether_or_not_its_request_has_an_errback() -> None:
    counted = Counter[str]()
    crawler: Any = SimpleNamespace(
        stats=SimpleNamespace(inc_value=lambda name: counted.update([name]))
    )
    middleware = OtherLanguages(crawler)
    page = Page("fr", 0.9, "text", "utf-8", is_relevant=False)
    response = Response("http://a.fr/", request=Request("http://a.fr/", meta={PAGE_KEY: page}))
    with pytest.raises(OtherLanguage) as dropped:
        middleware.process_spider_input(response)
    assert list(middleware.process_spider_exception(response, dropped.value) or ["not ours"]) == []
    assert middleware.process_spider_exception(response, ValueError()) is None
    assert counted == {"langfocus/dropped": 1}


def test_a_spider_of_a_file_is_not_run_by_workers(tmp_path: Path) -> None:
    written(tmp_path / "own.py", GERMAN)
    done = ran(tmp_path, "langfocus", "crawl", "--spider", "own.py:German", "--workers", "2")
    assert (done.returncode, "--spider: not with --workers" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SCHEDULER": "scrapy_redis.Scheduler"}, "SCHEDULER=scrapy_redis.Scheduler: langfocus br"),
        ({"AUTOTHROTTLE_ENABLED": True}, "AUTOTHROTTLE_ENABLED=True: the frontier keeps"),
        (
            {
                "DOWNLOADER_MIDDLEWARES": (
                    '{"scrapy.downloadermiddlewares.retry.RetryMiddleware": 5}'
                )
            },
            "RetryMiddleware would pass by the frontier, which does its work (RETRY_TIMES)",
        ),
        ({"LANGFOCUS_HOSTCAP": 3}, "LANGFOCUS_HOSTCAP: no such setting"),
    ],
)
def test_what_contradicts_the_frontier_is_refused_in_a_line(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    file = written(tmp_path / "own.py", GERMAN)
    done = ran(tmp_path, *line("runspider", file, {**SETTINGS, **settings, "JOBDIR": "run"}))
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("code", "settings", "message"),
    [
        (GERMAN.replace('"de"', '"xx"'), {}, "langfocus: -a lang=xx: no such language"),
        (PLAIN, {"ADDONS": ADDON["ADDONS"]}, "langfocus: LANGFOCUS_LANG is missing: name the"),
        (
            PLAIN,
            {"SCHEDULER": "langfocus.crawler.spiders.scheduler.FrontierScheduler"},
            "langfocus: spider plain has no crawl: derive it from langfocus.Spider",
        ),
    ],
)
def test_a_wrong_spider_is_refused_in_a_line_of_the_log(
    tmp_path: Path, code: str, settings: dict[str, Any], message: str
) -> None:
    file = written(tmp_path / "own.py", code)
    given = {**SETTINGS, **settings, "JOBDIR": "run", "LOG_LEVEL": "ERROR"}
    done = ran(tmp_path, *line("runspider", file, given))
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert message in said


def test_an_argument_with_a_mistyped_name_gets_a_hint(tmp_path: Path) -> None:
    file = written(tmp_path / "own.py", GERMAN)
    given = {**SETTINGS, "JOBDIR": tmp_path / "run", "LOG_LEVEL": "WARNING"}
    done = ran(
        tmp_path, *line("runspider", file, given, "-a", "hostcap=3", "-a", "pages=5", "-a", "own=1")
    )
    assert done.returncode == 0
    assert "-a hostcap: no argument of a crawl; did you mean host_cap?" in done.stderr
    assert "-a own" not in done.stderr


def test_every_command_but_crawl_is_one_of_scrapy() -> None:
    import tomllib

    from langfocus.crawler.commands import COMMANDS, in_scrapy

    text = (Path(in_scrapy.__file__).resolve().parents[2] / "pyproject.toml").read_text()
    declared = tomllib.loads(text)["project"]["entry-points"]["scrapy.commands"]
    assert set(declared) == COMMANDS.keys() - {"crawl"}
    for name, place in declared.items():
        module, _, attribute = place.partition(":")
        assert module == in_scrapy.__name__
        assert getattr(in_scrapy, attribute).name == name


def test_a_command_in_scrapy_reads_its_arguments_itself(capsys: pytest.CaptureFixture[str]) -> None:
    import argparse

    from langfocus.crawler.commands import in_scrapy

    command: Any = in_scrapy.Identify()  # type: ignore[attr-defined]
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    opts, rest = parser.parse_known_args(["languages", "--nonsense"])
    command.process_options(rest, opts)
    command.run(rest, opts)
    assert command.exitcode == 2
    assert "--nonsense" in capsys.readouterr().err
