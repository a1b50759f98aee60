"""A browser that a person runs, over the Chrome DevTools Protocol.

The browser has no network. Each request of a page is paused and answered with what the crawl loaded
itself. The page's context has a proxy that refuses connections, so WebSockets, preconnections and
windows, which cannot be paused, reach nothing either.
"""

import asyncio
import logging
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from html import escape
from http.client import HTTPException
from itertools import count
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import aiohttp
import msgspec

from langfocus.crawler.errors import SettingError

GONE, SLOW, FAILED = "browser_gone", "browser_slow", "browser_failed"
"""Reasons why a page was not rendered: no browser answers; a script did not end; another error."""

EMPTY = "render_empty"
"""The reason of a page that stays empty."""

QUIET_S: Final = 0.5
"""Seconds without a request after which a loaded page with text is finished."""

_EMPTY_S: Final = 3.0
"""The same for a page with little text."""

_CONNECT_S: Final = 10.0
_ANSWER_S: Final = 20.0
"""Seconds in which the browser must answer a command."""

_RETURN_S: Final = 30.0
"""Seconds in which a browser that died must be back."""

_STEP_S: Final = 0.5
_MOST_MESSAGE: Final = 100_000_000
"""Most bytes of a message of the browser; the HTML of a page is cut at ten million characters."""

_NO_NETWORK: Final = {"proxyServer": "socks5://127.0.0.1:1", "proxyBypassList": "<-loopback>"}
_PAUSED: Final = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
_LOADED: Final = ("Page.loadEventFired", "Page.frameStoppedLoading")
"""The second one alone comes for a page that a script leaves before."""

_WANTED: Final = frozenset({"Script", "XHR", "Fetch"})

_FIRST: Final = """\
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'WebSocket'])
  delete globalThis[name];
for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) globalThis[name] = () => null;
"""
"""Runs before the scripts of each document."""

_HAS_TEXT: Final = """\
new Promise(done => requestIdleCallback(done, {timeout: 2000}))
  .then(() => document.body.innerText.trim().length > 50)"""
"""Evaluated when the scripts have nothing to do."""

_DOM: Final = """\
(() => {
  const open = root => {
    for (const node of root.querySelectorAll('*')) if (node.shadowRoot) {
      open(node.shadowRoot);
      node.append(...node.shadowRoot.childNodes);
    }
  };
  open(document);
  for (const node of document.querySelectorAll('noscript')) node.remove();
  return [document.baseURI, document.documentElement.outerHTML.slice(0, 1e7)];
})()"""
"""Returns the base URL and the HTML, with the content of shadow trees."""


def check_browser(url: str, wait_s: float = 10.0) -> None:
    """Raise `SettingError` if no browser answers at its debugging address within `wait_s`."""
    plain, until = build_opener(ProxyHandler({})), time.monotonic() + wait_s
    while True:
        try:
            with plain.open(f"{url.rstrip('/')}/json/version", timeout=_CONNECT_S) as answer:
                _socket_of(url, answer.read())
            return
        except (OSError, HTTPException, msgspec.MsgspecError, KeyError) as error:
            if time.monotonic() >= until:
                raise SettingError(
                    f"LANGFOCUS_RENDER={url}: no browser answers there ({error}); start one with "
                    "chromium --headless=new --remote-debugging-port=9222"
                ) from error
        time.sleep(_STEP_S)


def _socket_of(url: str, version: bytes) -> str:
    """Return the address for commands, below that of the debugging port."""
    own = msgspec.json.decode(version, type=dict[str, str])["webSocketDebuggerUrl"]
    return f"ws://{urlsplit(url).netloc}{urlsplit(own).path}"


_log = logging.getLogger(__name__)


class BrowserError(Exception):
    """A page was not rendered; the message is the counted reason."""


class Asked(NamedTuple):
    """A request of a page for a script or for data."""

    url: str
    headers: dict[str, str]
    is_script: bool


class Loaded(NamedTuple):
    """The answer to a request of a page."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


_NOTHING: Final = Loaded(204, (), b"")

Load = Callable[[Asked], Awaitable[Loaded | None]]
"""Loads a file for a page; None: the page gets an error."""


class Dom(NamedTuple):
    """A page after its scripts ran; `leads_to` is the URL to which a script left the page."""

    html: str
    leads_to: str = ""


class Browser:
    """Renders pages, at most `tabs` at once, each over a connection of its own."""

    def __init__(self, url: str, *, tabs: int, timeout_s: float, languages: str = "") -> None:
        """Use the browser with the debugging address `url`.

        A page is taken as it is after `timeout_s` seconds; scripts see its `languages`, codes with
        commas between them.
        """
        self._url, self._timeout_s, self._languages = url.rstrip("/"), timeout_s, languages
        self._tabs = asyncio.Semaphore(tabs)
        self._session: aiohttp.ClientSession | None = None
        self._is_there, self._next_try = True, 0.0

    async def render(self, url: str, loaded: Loaded, load: Load) -> Dom:
        """Return a page, already loaded, after its scripts ran; raises `BrowserError`."""
        async with self._tabs:
            socket = await self._connected()
            try:
                tab = _Tab(socket, url, loaded, load)
                return await tab.render(self._timeout_s, self._languages)
            finally:
                await socket.close()  # the browser then closes the page

    async def _connected(self) -> aiohttp.ClientWebSocketResponse:
        """Return a connection; a browser that was there is waited for."""
        now = asyncio.get_running_loop().time
        until = now() + (_RETURN_S if self._is_there else 0.0)
        while now() >= self._next_try:
            try:
                socket = await self._connect()
            except (aiohttp.ClientError, OSError, TimeoutError, msgspec.MsgspecError, KeyError):
                if now() >= until:
                    self._is_there, self._next_try = False, now() + _CONNECT_S
                await asyncio.sleep(_STEP_S)
            else:
                self._is_there = True
                return socket
        raise BrowserError(GONE)

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_CONNECT_S))
        async with self._session.get(f"{self._url}/json/version") as answer:
            address = _socket_of(self._url, await answer.read())
        return await self._session.ws_connect(address, max_msg_size=_MOST_MESSAGE)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()


class _Tab:
    """A page in the browser, its commands, and its requests."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, url: str, loaded: Loaded, load: Load
    ) -> None:
        self._socket, self._url, self._loaded, self._load = socket, url, loaded, load
        self._numbers, self._answers = count(1), dict[int, asyncio.Future[dict[str, Any]]]()
        self._of_page: dict[str, str] = {}  # the session of the page, once there is one
        self._frame = self._leads_to = self._failure = ""
        self._is_begun = self._has_loaded = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def render(self, timeout_s: float, languages: str) -> Dom:
        """Load the page, wait for its scripts, and return it."""
        hearing = asyncio.ensure_future(self._hear_all())
        try:
            await self._open(languages)
            self._run(self._call("Page.navigate", url=self._url))
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._finished()
            if self._failure or not self._is_begun:
                raise BrowserError(self._failure or FAILED)
            found = await self._evaluated(_DOM)
            if not isinstance(found, list):  # a script removed the document
                raise BrowserError(EMPTY)
            base, html = map(str, found)
            return Dom(f'<!DOCTYPE html><base href="{escape(base)}">{html}', self._leads_to)
        finally:
            for task in (hearing, *self._tasks):
                task.cancel()

    async def _open(self, languages: str) -> None:
        """Open an empty page, all of whose requests are paused."""
        call = self._call
        made = await call("Target.createBrowserContext", disposeOnDetach=True, **_NO_NETWORK)
        context = made["browserContextId"]
        await call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
        made = await call("Target.createTarget", url="about:blank", browserContextId=context)
        made = await call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        agent = (await call("Browser.getVersion"))["userAgent"]
        self._of_page = {"sessionId": made["sessionId"]}
        await call("Page.enable")
        await call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        # Workers and frames of other sites stay paused at their start.
        await call("Target.setAutoAttach", **_PAUSED)
        await call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=languages)
        await call("Page.addScriptToEvaluateOnNewDocument", source=_FIRST)
        self._frame = (await call("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def _finished(self) -> None:
        """Return when the page has loaded, and nothing was requested for a while."""
        quiet_s = 0.0
        while not self._failure:
            self._changed.clear()
            may_end = self._has_loaded and not self._tasks
            try:
                await asyncio.wait_for(self._changed.wait(), QUIET_S if may_end else None)
                quiet_s = 0.0
            except TimeoutError:
                quiet_s += QUIET_S
                is_done = self._leads_to or quiet_s >= _EMPTY_S or await self._evaluated(_HAS_TEXT)
                if is_done and not self._changed.is_set():
                    return

    async def _evaluated(self, expression: str) -> Any:
        """Return the value of an expression, apart from the scripts of the page."""
        world = await self._call("Page.createIsolatedWorld", frameId=self._frame, worldName="crawl")
        how = {"contextId": world["executionContextId"], "returnByValue": True}
        found = await self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, **how
        )
        return found["result"].get("value")

    # The connection.

    async def _call(self, method: str, **values: Any) -> dict[str, Any]:
        """Return the result of a command; raises `BrowserError`."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": values, **self._of_page}
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._socket.send_str(msgspec.json.encode(message).decode())
                return cast("dict[str, Any]", await answer)
        except TimeoutError as error:
            raise BrowserError(SLOW) from error
        except (aiohttp.ClientError, OSError) as error:
            raise BrowserError(GONE) from error
        finally:
            del self._answers[number]

    async def _hear_all(self) -> None:
        """Hand out answers and events until the connection ends."""
        async for message in self._socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                self._hear(msgspec.json.decode(message.data))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserError(GONE))
        self._fail(GONE)

    def _hear(self, message: dict[str, Any]) -> None:
        answer = self._answers.get(message.get("id", 0))
        if answer is None or answer.done():
            if message.get("sessionId") == self._of_page.get("sessionId"):
                self._on_event(message.get("method", ""), message.get("params", {}))
        elif "error" in message:
            answer.set_exception(BrowserError(FAILED))
        else:
            answer.set_result(message.get("result", {}))

    def _on_event(self, event: str, values: dict[str, Any]) -> None:
        if event == "Fetch.requestPaused":
            self._run(self._answer(values))
        elif event in _LOADED and values.get("frameId", self._frame) == self._frame:
            self._has_loaded = self._is_begun
            self._changed.set()
        elif event == "Page.javascriptDialogOpening":
            self._run(self._call("Page.handleJavaScriptDialog", accept=False))
        elif event == "Inspector.targetCrashed":
            self._fail(FAILED)

    def _fail(self, reason: str) -> None:
        self._failure = reason
        self._changed.set()

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        """Do some work while the page loads; the page may have cancelled its request by then."""

        async def run() -> None:
            try:
                await work
            except BrowserError as error:
                _log.debug("%s: %s", self._url, error)
            except Exception:
                _log.exception("%s", self._url)
                self._fail(FAILED)

        def end(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            self._changed.set()

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(end)

    # The requests of the page.

    async def _answer(self, values: dict[str, Any]) -> None:
        """Answer a paused request with a file, or with an error."""
        paused, url = values["requestId"], values["request"]["url"]
        if url.startswith(("data:", "blob:")):
            await self._call("Fetch.continueRequest", requestId=paused)
            return
        loaded = await self._file(values, url)
        if loaded is not None:
            headers = [{"name": name, "value": value} for name, value in loaded.headers]
            body = b64encode(loaded.body).decode()
            how = {"responseCode": loaded.status, "responseHeaders": headers, "body": body}
            with suppress(BrowserError):  # a status or a header may be invalid
                await self._call("Fetch.fulfillRequest", requestId=paused, **how)
                return
        refused = {"requestId": paused, "errorReason": "ConnectionRefused"}
        await self._call("Fetch.failRequest", **refused)

    async def _file(self, values: dict[str, Any], url: str) -> Loaded | None:
        request, kind = values["request"], values.get("resourceType", "")
        if kind == "Document":
            return self._document(url) if values["frameId"] == self._frame else _NOTHING
        if kind == "Stylesheet":
            return Loaded(200, [("Content-Type", "text/css")], b"")
        headers = {name.lower(): value for name, value in request["headers"].items()}
        if request["method"] == "OPTIONS":
            return _preflight(headers)
        is_early = "sec-purpose" in headers or headers.get("accept") == "text/event-stream"
        is_get = request["method"] == "GET" and url.startswith(("http:", "https:"))
        if kind not in _WANTED or not is_get or is_early:
            return None
        return await self._load(Asked(url, request["headers"], is_script=kind == "Script"))

    def _document(self, url: str) -> Loaded | None:
        if self._is_begun:
            self._leads_to, self._has_loaded = self._leads_to or url, True
            return _NOTHING
        if url.startswith("https:") and self._url.startswith("http:"):
            return None  # the browser tries https first, and http after an error
        self._is_begun = True
        return self._loaded


def _preflight(headers: dict[str, str]) -> Loaded:
    """Return the answer to a preflight request: the headers of the file itself decide later."""
    allowed = {
        "Access-Control-Allow-Origin": headers.get("origin", "*"),
        "Access-Control-Allow-Headers": headers.get("access-control-request-headers", ""),
        "Access-Control-Allow-Credentials": "true",
    }
    return Loaded(204, [*allowed.items()], b"")
