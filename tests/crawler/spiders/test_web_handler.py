import json
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings

from crawler.errors import ArchiveError, SettingError
from crawler.spiders.web_handler import response_to, web_from_settings
from crawler.web import Answer
from crawler.web.sample import SampleWeb

ROOT = Path(__file__).parents[3]
SPIDER = """
import json, sys
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

class Once(Spider):
    name = "once"
    seen = []
    async def start(self):
        for url in json.loads(sys.argv[1]):
            yield Request(url, callback=self.parse, errback=self.failed)
    def parse(self, response):
        self.seen.append([response.url, response.status, type(response).__name__,
                          str(response.ip_address), len(response.body)])
    def failed(self, failure):
        self.seen.append([failure.request.url, type(failure.value).__name__])

handler = "crawler.spiders.web_handler.WebDownloadHandler"
settings = {"DOWNLOAD_HANDLERS": {"http": handler, "https": handler}, "LOG_LEVEL": "ERROR",
            "LOG_FILE": sys.argv[3], "HTTPERROR_ALLOW_ALL": True, "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0, **json.loads(sys.argv[2])}
process = CrawlerProcess(settings)
process.crawl(Once)
process.start()
print(json.dumps(Once.seen))
"""


def crawl(urls: list[str], folder: Path, **settings: object) -> dict[str, list[object]]:
    """What a spider in a process of its own saw, by URL; nothing may have been logged."""
    log = folder / "errors.log"
    arguments = [SPIDER, json.dumps(urls), json.dumps(settings), str(log)]
    done = subprocess.run(
        [sys.executable, "-c", *arguments],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, log.read_text()) == (0, "", "")
    return {url: found for url, *found in json.loads(done.stdout)}


def test_scrapy_crawls_the_sample_web_through_the_handler(tmp_path: Path) -> None:
    web = SampleWeb(seed=3)
    host = next(host for host in web.hosts if not host.secure and host.size > 20)
    secure = next(host for host in web.hosts if host.secure)
    pages = [f"{host.root}/", f"{secure.root}/"]
    found = crawl(
        [*pages, f"http://{secure.name}/", "http://nowhere.example/", f"https://{host.name}/"],
        tmp_path,
        LANGFOCUS_WEB="sample",
        LANGFOCUS_SAMPLE_SEED=3,
    )
    sizes = [len(web.respond(url).body) for url in pages]
    assert found.pop(pages[0]) == [200, "HtmlResponse", host.ip, sizes[0]]
    assert found.pop(pages[1]) == [200, "HtmlResponse", secure.ip, sizes[1]]
    assert found == {
        "http://nowhere.example/": ["CannotResolveHostError"],
        f"https://{host.name}/": ["DownloadConnectionRefusedError"],
    }


def test_what_is_not_archived_fails_at_once(tmp_path: Path) -> None:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>"
    head = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.de/\r\n"
    path = tmp_path / "a.warc"
    path.write_bytes(f"{head}Content-Length: {len(http)}\r\n\r\n".encode() + http + b"\r\n\r\n")
    found = crawl(
        ["http://a.de/", "http://b.de/"],
        tmp_path,
        LANGFOCUS_WEB="archive",
        LANGFOCUS_ARCHIVE=str(path),
        RETRY_ENABLED=True,
    )
    assert found == {
        "http://a.de/": [200, "HtmlResponse", "None", 12],
        "http://b.de/": ["NotArchived"],
    }


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"<p>", HtmlResponse),
        ("application/zip", b"PK\x03\x04\x00\x00", Response),
    ],
)
def test_a_response_is_of_the_kind_that_its_headers_say(
    content_type: str, body: bytes, kind: type[Response]
) -> None:
    answer = Answer(200, (("Content-Type", content_type), ("A", "1"), ("A", "2")), body)
    response = response_to(Request("http://a.de/x"), answer)
    assert type(response) is kind
    assert response.headers.getlist("A") == [b"1", b"2"]
    assert (response.flags, response.ip_address) == ([], None)


def test_the_settings_name_the_web(tmp_path: Path) -> None:
    sample = web_from_settings(Settings({"LANGFOCUS_WEB": "sample", "LANGFOCUS_SAMPLE_SEED": "4"}))
    assert isinstance(sample, SampleWeb)
    assert sample.seed == 4
    assert web_from_settings(Settings()) is None
    assert web_from_settings(Settings({"LANGFOCUS_WEB": "live"})) is None
    with pytest.raises(SettingError, match="choose one of live, sample, archive"):
        web_from_settings(Settings({"LANGFOCUS_WEB": "dream"}))
    with pytest.raises(SettingError, match="set LANGFOCUS_ARCHIVE"):
        web_from_settings(Settings({"LANGFOCUS_WEB": "archive"}))
    missing = {"LANGFOCUS_WEB": "archive", "LANGFOCUS_ARCHIVE": str(tmp_path / "no.warc")}
    with pytest.raises(ArchiveError, match="No such file"):
        web_from_settings(Settings(missing))
