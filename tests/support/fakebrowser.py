"""A browser's debugging port without a browser: pages ask for a script, and show what they got."""

import asyncio
import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import WSMsgType, web


class FakeBrowser:
    """Each page asks for `/app.js` of its host; its HTML is then the answer.

    `dies` pages close their connection, and `hangs` pages get no load event, before others work.
    A page that `is_blank` has no document at its end.
    """

    def __init__(self, *, dies: int = 0, hangs: int = 0, is_blank: bool = False) -> None:
        self.dies, self.hangs, self.is_blank = dies, hangs, is_blank
        self.url, self.opened, self.open_pages = "", 0, 0

    async def version(self, request: web.Request) -> web.Response:
        address = f"ws://{request.host}/devtools/browser/1"
        return web.json_response({"webSocketDebuggerUrl": address})

    async def talk(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.opened += 1
        self.open_pages += 1
        page = _Page(self, socket)
        async for message in socket:
            if message.type is not WSMsgType.TEXT or not await page.answer(
                json.loads(message.data)
            ):
                break
        self.open_pages -= 1
        return socket


class _Page:
    def __init__(self, browser: FakeBrowser, socket: web.WebSocketResponse) -> None:
        self._browser, self._socket = browser, socket
        self._url, self._html = "", ""

    def _value(self, expression: str) -> object:
        if "innerText" in expression:
            return True
        return None if self._browser.is_blank else [self._url, self._html]

    async def _say(self, event: str, **values: Any) -> None:
        await self._socket.send_json({"method": event, "params": values, "sessionId": "s"})

    async def _pause(self, number: str, url: str, kind: str) -> None:
        asked = {"url": url, "method": "GET", "headers": {"Accept": "*/*", "Cookie": "a=b"}}
        await self._say(
            "Fetch.requestPaused", requestId=number, request=asked, resourceType=kind, frameId="f"
        )

    async def answer(self, message: dict[str, Any]) -> bool:
        """Answer a command; False: the browser dies."""
        method, values = message["method"], message["params"]
        results: dict[str, dict[str, Any]] = {
            "Target.createBrowserContext": {"browserContextId": "c"},
            "Target.createTarget": {"targetId": "t"},
            "Target.attachToTarget": {"sessionId": "s"},
            "Browser.getVersion": {"userAgent": "Fake/1"},
            "Page.getFrameTree": {"frameTree": {"frame": {"id": "f"}}},
            "Page.createIsolatedWorld": {"executionContextId": 1},
            "Runtime.evaluate": {"result": {"value": self._value(values.get("expression", ""))}},
        }
        await self._socket.send_json({"id": message["id"], "result": results.get(method, {})})
        if method == "Page.navigate":
            self._url = values["url"]
            if self._browser.dies:
                self._browser.dies -= 1
                return False
            await self._pause("1", self._url, "Document")
        elif values.get("requestId") == "1":
            await self._pause("2", "/".join([*self._url.split("/")[:3], "app.js"]), "Script")
        elif values.get("requestId") == "2":
            self._html = b64decode(values.get("body", "")).decode()
            if self._browser.hangs:
                self._browser.hangs -= 1
            else:
                await self._say("Page.loadEventFired")
        return True


@contextmanager
def fake_browser(**how: Any) -> Iterator[FakeBrowser]:
    """Run a fake browser in a thread for the time of the block."""
    browser, ready, loop = FakeBrowser(**how), threading.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        app = web.Application()
        app.add_routes([web.get("/json/version", browser.version)])
        app.add_routes([web.get("/devtools/browser/1", browser.talk)])
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        browser.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await ended.wait()
        await runner.cleanup()

    ended = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield browser
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
