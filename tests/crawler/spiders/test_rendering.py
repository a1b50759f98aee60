"""With LANGFOCUS_RENDER a crawl reads the pages that need a browser, and loads for them itself."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from benchmarks.servers import processes
from benchmarks.servers.loopback import Access, loopback, on_loopback
from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.errors import SettingError
from langfocus.crawler.http import browser as browser_module
from langfocus.crawler.http.browser import check_browser
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from tests.support.crawls import finished, rows, summary
from tests.support.fakebrowser import fake_browser
from tests.support.smallweb import SENTENCES

CHROMIUM: Final = shutil.which("chromium")
HTML, SCRIPT, DATA = "text/html; charset=utf-8", "text/javascript", "application/json"
CORS = ("Access-Control-Allow-Origin", "*")

SHOW: Final = """\
const show = d => document.querySelector(ROOT).innerHTML =
  `<main><h1>${d.title}</h1><p>${d.text}</p><a href="${d.link}">weiter</a></main>`;
"""
FETCH: Final = SHOW + "fetch('/api.json').then(r => r.json()).then(show);"
REQUEST: Final = SHOW + (
    "const x = new XMLHttpRequest(); x.open('GET', '/api.json');"
    "x.onload = () => show(JSON.parse(x.responseText)); x.send();"
)
HEAD: Final = "<!doctype html><html lang=en><head><title>App</title>"
SHELLS: Final = {
    "react": f"{HEAD}<link rel=stylesheet href=/main.css><script defer src=/main.js></script>"
    "<body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
    "vue": f"{HEAD}<script type=module crossorigin src=/index.js></script>"
    "<link rel=modulepreload crossorigin href=/vendor.js></head><body><div id=app></div>",
    "angular": f"{HEAD}<base href=/></head><body><app-root></app-root>"
    "<script src=runtime.js type=module></script><script src=main.js type=module></script>",
    "svelte": f"{HEAD}</head><body><div id=svelte></div>"
    "<script type=module>import('/_app/start.js')</script>",
    "next": f"{HEAD}<script defer src=http://cdn.example.net/chunk.js></script></head>"
    "<body><div id=__next></div><script id=__NEXT_DATA__ type=application/json>{}</script>",
    "lit": f"{HEAD}<script type=module src=/element.js></script></head><body><my-app></my-app>",
}
ELEMENT: Final = FETCH.replace("document.querySelector(ROOT)", "window.shadow") + (
    "customElements.define('my-app', class extends HTMLElement {"
    "connectedCallback() { window.shadow = this.attachShadow({mode: 'open'}) } });"
)
SCRIPTS: Final = {
    "react/main.js": FETCH.replace("ROOT", "'#root'"),
    "vue/index.js": "import { load } from './vendor.js'; import('./view.js').then(v => load(v));",
    "vue/vendor.js": "export const load = v => fetch('/api.json').then(v.read);",
    "vue/view.js": "export const read = r => r.json().then(show);" + SHOW.replace("ROOT", "'#app'"),
    "angular/runtime.js": "window.ready = true;",
    "angular/main.js": REQUEST.replace("ROOT", "'app-root'"),
    "svelte/_app/start.js": FETCH.replace("ROOT", "'#svelte'"),
    "cdn/chunk.js": FETCH.replace("ROOT", "'#__next'").replace("'/api.json'", "'/_next/api.json'"),
    "lit/element.js": ELEMENT,
}
ATTACK: Final = """\
const url = 'http://127.0.0.1:PORT/', root = document.getElementById('root');
const tried = [
  () => fetch(url), () => fetch('http://localhost:PORT/'), () => fetch('http://10.0.0.1/'),
  () => fetch('/to-private'), () => fetch('/denied/x.json'), () => fetch('http://a.example:22/'),
  () => new WebSocket('ws://127.0.0.1:PORT/'), () => navigator.sendBeacon(url, 'x'),
  () => open(url), () => new EventSource(url), () => new Image().src = url,
  () => new Worker(URL.createObjectURL(new Blob([
    `fetch('${url}'); new WebSocket('ws://127.0.0.1:PORT/')`]))),
  () => new RTCPeerConnection(), () => fetch('/post', {method: 'POST'}), () => alert('x'),
  () => navigator.serviceWorker.register('/worker.js'),
  () => { for (const kind of ['preconnect', 'prefetch', 'dns-prefetch', 'icon', 'preload']) {
    const link = document.createElement('link');
    link.rel = kind; link.as = 'script'; link.href = url; document.head.append(link); } },
  () => { const frame = document.createElement('iframe');
    frame.src = url; document.body.append(frame);
    const inner = document.createElement('iframe'); document.body.append(inner);
    inner.contentWindow.fetch(url); new inner.contentWindow.WebSocket('ws://127.0.0.1:PORT/'); },
];
for (const one of tried) try { Promise.resolve(one()).catch(() => 0) } catch (error) {}
root.innerHTML = '<p>TEXT</p><a href="/attacked">weiter</a>';
setTimeout(() => location.href = url, 50);
"""


class AppWeb:
    """Sites that are empty without a browser, one of each framework; `port` is private."""

    def __init__(self, port: int) -> None:
        self.port = port

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        host, _, path = url.split("/", 2)[2].partition("/")
        kind = host.partition(".")[0]
        text = SENTENCES["en" if kind == "english" else "de"] * 3
        kind = kind.replace("english", "react")
        if path in ("robots.txt", "to-private") or path.endswith("api.json"):
            return self._file(host, path, text)
        if kind == "attack" and path == "main.js":
            return answer(SCRIPT, ATTACK.replace("PORT", str(self.port)).replace("TEXT", text))
        if f"{kind}/{path}" in SCRIPTS:
            return answer(SCRIPT, SCRIPTS[f"{kind}/{path}"], CORS)
        french = SHELLS["react"].replace("lang=en", "lang=fr")
        shell = french if kind == "french" else SHELLS.get(kind, SHELLS["react"])
        pages = {"seite": f"<p>{text}", "": shell, "english/about-the-people": shell}
        if kind == "start":
            links = "".join(
                f"<a href=http://{one}.example.de/>x</a>" for one in (*SHELLS, "attack")
            )
            links += "<a href=http://french.example.com/>x</a>"
            for one in ("react", "english"):
                url = f"http://{one}.example.com/"
                links += f"<a href={url}>x</a><a href={url}english/about-the-people>x</a>"
            pages = {"": f"<p>{text}</p>{links}"}
        if kind != "cdn" and path in pages:
            return answer(HTML, pages[path])
        return answer("text/plain", "none", status=404)

    def _file(self, host: str, path: str, text: str) -> Answer:
        if path == "robots.txt":
            return answer("text/plain", "User-agent: *\nDisallow: /denied/")
        if path == "to-private":
            private = f"http://127.0.0.1:{self.port}/"
            return answer(DATA, "", ("Location", private), status=302)
        return answer(DATA, json.dumps({"title": host, "text": text, "link": "/seite"}))


def answer(kind: str, body: str, *more: tuple[str, str], status: int = 200) -> Answer:
    return Answer(status, (("Content-Type", kind), *more), body.encode())


@contextmanager
def chromium(profile: Path) -> Iterator[str]:
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    line = [str(CHROMIUM), *options, f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen(line, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as browser:
        try:
            place = profile / "DevToolsActivePort"
            processes.wait_until(lambda: place.exists() and "\n" in place.read_text())
            yield f"http://127.0.0.1:{place.read_text().split()[0]}"
        finally:
            browser.terminate()


class Crawled(NamedTuple):
    folder: Path
    log: list[Access]
    private: list[bytes]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    folder, private = tmp_path_factory.mktemp("rendered"), []

    async def connected(reader: Any, writer: Any) -> None:
        private.append(await reader.readline())

    with (
        on_loopback(connected) as port,
        chromium(folder / "profile") as browser,
        loopback(AppWeb(port)) as proxy,
    ):
        finished(
            "lang=de",
            "seeds=http://start.example.de/",
            proxy=proxy.url,
            LANGFOCUS_RENDER=browser,
            LANGFOCUS_RENDER_TIMEOUT=20,
            LANGFOCUS_PATIENCE=0,
            JOBDIR=folder / "run",
            DOWNLOAD_DELAY=0.02,
        )
        return Crawled(folder / "run", proxy.log, private)


def test_pages_of_all_frameworks_have_the_text_and_the_links_of_their_scripts(
    crawled: Crawled,
) -> None:
    query = "SELECT host, language, needs_browser FROM pages WHERE url LIKE 'http://%.de/'"
    found = {host.split(".")[0]: rest for host, *rest in rows(crawled.folder, query)}
    assert found.pop("start") == ["de", 0]
    assert found.pop("attack")
    assert found == {one: ["de", 2] for one in SHELLS}
    linked = rows(crawled.folder, "SELECT host FROM pages WHERE url LIKE '%.de/seite'")
    assert len(linked) == len(SHELLS)


def test_nothing_within_a_page_reaches_a_private_address(crawled: Crawled) -> None:
    assert crawled.private == []
    asked = {one.url for one in crawled.log}
    assert "http://attack.example.de/main.js" in asked
    assert not any("denied" in url or ":22" in url for url in asked)
    assert all(one.method == "GET" for one in crawled.log)


def test_a_script_that_leaves_its_page_is_a_redirect(crawled: Crawled) -> None:
    query = "SELECT outcome FROM pages WHERE host = 'attack.example.de'"
    assert rows(crawled.folder, query) == [("redirect",)]


def test_each_file_is_requested_once_by_the_crawl_with_its_delay(crawled: Crawled) -> None:
    asked = Counter(one.url for one in crawled.log)
    assert asked.pop("http://react.example.com/api.json") == 2  # two pages asked for it
    assert max(asked.values()) == 1
    assert {one.user_agent.partition("/")[0] for one in crawled.log} == {"langfocus"}
    assert not any(url.endswith(("main.css", "favicon.ico")) for url in asked)
    kept = dict(rows(crawled.folder, "SELECT url, mime FROM archived"))
    assert kept["http://cdn.example.net/chunk.js"] == SCRIPT
    assert kept["http://next.example.de/_next/api.json"] == DATA


def test_shells_of_a_host_are_rendered_until_one_is_or_says_that_it_is_in_another_language(
    crawled: Crawled,
) -> None:
    figures = summary(crawled.folder)
    assert figures["rendered"] == figures["counts"]["rendered"] == len(SHELLS) + 3
    assert figures["counts"]["render_unexpected"] == 2
    unread = {"english.example.com": 1, "french.example.com": 1}
    assert figures["needs_browser_hosts"] == unread


def test_an_export_has_the_texts_of_rendered_pages(crawled: Crawled) -> None:
    (part,) = source_of(crawled.folder, None).parts
    pages = [found for found in part.pages() if not isinstance(found, str)]
    assert len(pages) == 2 * len(SHELLS) + 4
    assert all(SENTENCES["de"].encode() in page.body for page in pages)
    assert {page.content_type for page in pages} == {HTML}


@pytest.mark.parametrize(("dies", "rendered"), [(3, 2), (5, 1)])
def test_a_page_whose_browser_dies_is_queued_again_and_at_last_settled_without_its_text(
    dies: int, rendered: int, tmp_path: Path
) -> None:
    with fake_browser(dies=dies) as browser, loopback(AppWeb(0)) as proxy:
        finished(
            "lang=de",
            "seeds=http://react.example.de/,http://lit.example.de/",
            proxy=proxy.url,
            LANGFOCUS_RENDER=browser.url,
            JOBDIR=tmp_path,
            DOWNLOAD_DELAY=0,
            CONCURRENT_REQUESTS=1,
            RETRY_TIMES=2,
            LANGFOCUS_RETRY_DELAY=0.05,
        )
    figures = summary(tmp_path)
    assert (figures["pages"], figures["rendered"]) == (2, rendered)
    assert figures["counts"].get("browser_gone", 0) == figures["needs_browser"] == 2 - rendered


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lang": "de"}, "LANGFOCUS_RENDER=http://127.0.0.1:1: no browser answers there"),
        ({"hosts": "HOSTS"}, "LANGFOCUS_RENDER: not with -a hosts"),
    ],
)
def test_a_crawl_without_its_browser_does_not_begin(
    arguments: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_module, "check_browser", partial(check_browser, wait_s=0.0))
    (tmp_path / "hosts").write_text("a.de")
    given = {name: value.replace("HOSTS", f"{tmp_path}/hosts") for name, value in arguments.items()}
    config = Config.read({**given, "web": "sample"}, {"LANGFOCUS_RENDER": "http://127.0.0.1:1"})
    with pytest.raises(SettingError, match=message):
        prepare(config)


@pytest.mark.parametrize(
    "address", ["9222", "http://127.0.0.1", "http://a:b@c:1", "ws://a:1", "http://a:x"]
)
def test_an_address_of_no_debugging_port_is_rejected(address: str) -> None:
    with pytest.raises(SettingError, match="an address such as"):
        Config.read({"lang": "de"}, {"LANGFOCUS_RENDER": address})
