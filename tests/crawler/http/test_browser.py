"""A page is rendered over the debugging protocol, whatever becomes of the browser."""

import asyncio
from collections.abc import Callable

import pytest

from benchmarks.servers.loopback import free_port
from langfocus.crawler.errors import SettingError
from langfocus.crawler.http import browser as module
from langfocus.crawler.http.browser import (
    EMPTY,
    GONE,
    SLOW,
    Asked,
    Browser,
    BrowserError,
    Dom,
    Loaded,
    check_browser,
)
from tests.support.fakebrowser import FakeBrowser, fake_browser

URL = "http://a.example.de/x?a=1&b=2"
SHELL = Loaded(200, [("Content-Type", "text/html")], b"<div id=root></div>")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUIET_S", "_STEP_S"):
        monkeypatch.setattr(module, name, 0.01)


async def load(asked: Asked) -> Loaded | None:
    assert asked.is_script
    return Loaded(200, [], f"<p>{asked.url}".encode())


def rendered(url: str, timeout_s: float = 30.0, stands: Callable[[], int] = lambda: 0) -> Dom:
    """Render a page; the clock does not move while it `stands`."""

    async def render() -> Dom:
        browser = Browser(url, tabs=1, timeout_s=timeout_s)
        loop = asyncio.get_running_loop()
        now, start = loop.time, loop.time()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(loop, "time", lambda: start if stands() else now())
                return await browser.render(URL, SHELL, load)
        finally:
            await browser.close()

    return asyncio.run(render())


def test_a_page_has_the_text_that_its_scripts_wrote_and_its_own_base() -> None:
    with fake_browser() as browser:
        dom = rendered(browser.url)
    base = '<base href="http://a.example.de/x?a=1&amp;b=2">'
    assert dom == Dom(f"<!DOCTYPE html>{base}<p>http://a.example.de/app.js")


def test_a_page_that_never_ends_is_taken_as_it_is() -> None:
    with fake_browser(hangs=1) as browser:
        assert "app.js" in rendered(browser.url, 0.1, stands=lambda: browser.hangs).html


def test_a_page_whose_browser_dies_is_not_rendered() -> None:
    with fake_browser(dies=9) as browser, pytest.raises(BrowserError, match=GONE):
        rendered(browser.url)
    assert browser.dies == 8


def test_a_page_that_removes_its_document_is_empty() -> None:
    with fake_browser(is_blank=True) as browser, pytest.raises(BrowserError, match=EMPTY):
        rendered(browser.url)


def test_a_browser_that_answers_no_command_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object) -> bool:
        return True

    monkeypatch.setattr(module, "_ANSWER_S", 0.1)
    monkeypatch.setattr("tests.support.fakebrowser._Page.answer", silent)
    with fake_browser() as browser, pytest.raises(BrowserError, match=SLOW):
        rendered(browser.url)


def test_a_browser_that_is_gone_is_asked_again_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_CONNECT_S", 0.5)
    monkeypatch.setattr(module, "_RETURN_S", 0.05)
    port = free_port()

    async def render() -> list[str]:
        browser, reasons = Browser(f"http://127.0.0.1:{port}", tabs=1, timeout_s=1.0), []
        for _ in range(3):
            try:
                await browser.render(URL, SHELL, load)
            except BrowserError as error:
                reasons.append(str(error))
        await browser.close()
        return reasons

    assert asyncio.run(render()) == [GONE] * 3


def test_no_page_stays_open() -> None:
    with fake_browser(hangs=1) as browser:
        rendered(browser.url, 0.1, stands=lambda: browser.hangs)
        rendered(browser.url)
        until_closed(browser)


def until_closed(browser: FakeBrowser) -> None:
    while browser.open_pages:
        pass


def test_an_address_without_a_browser_is_one_line() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(SettingError, match=f"LANGFOCUS_RENDER={url}: no browser answers there"):
        check_browser(url, 0.0)
    with fake_browser() as browser:
        check_browser(browser.url)
