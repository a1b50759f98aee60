"""A browser that a person runs, over the Chrome DevTools Protocol.

The browser has no network. Each request of a page is paused and answered with what the crawl loaded
itself. The page's context has a proxy that refuses connections, so WebSockets, preconnections and
windows, which cannot be paused, reach nothing either.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from http.client import HTTPException
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import aiohttp
import msgspec

from langfocus.crawler.errors import SettingError

GONE, SLOW, FAILED = "browser_gone", "browser_slow", "browser_failed"
"""Reasons why a page was not rendered: no browser answers; a script did not end; another error."""

QUIET_S: Final = 0.5
"""Seconds without a request after which a loaded page is finished."""

_ANSWER_S: Final = 10.0
"""Seconds in which the browser must answer a command."""

_RETURN_S: Final = 30.0
"""Seconds in which a browser that died must be back."""

_STEP_S: Final = 0.5
_MOST_MESSAGE: Final = 100_000_000
"""Most bytes of a message of the browser; the HTML of a page is cut at ten million characters."""

_NO_NETWORK: Final[dict[str, Any]] = {
    "disposeOnDetach": True,
    "proxyServer": "socks5://127.0.0.1:1",
    "proxyBypassList": "<-loopback>",
}
_PAUSED: Final[dict[str, Any]] = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
}
_LOADED: Final = ("Page.loadEventFired", "Page.frameStoppedLoading")
"""The second one alone comes for a page that a script leaves before."""

_WANTED: Final = frozenset({"Script", "XHR", "Fetch"})

_FIRST: Final = """\
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'WebSocket'])
  delete globalThis[name];
for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) globalThis[name] = () => null;
"""
"""Runs before the scripts of each document."""

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


def check_browser(url: str) -> None:
    """Raise `SettingError` if no browser answers at its debugging address."""
    plain = build_opener(ProxyHandler({}))
    try:
        with plain.open(f"{url.rstrip('/')}/json/version", timeout=_ANSWER_S) as answer:
            msgspec.json.decode(answer.read(), type=_Version)
    except (OSError, HTTPException, msgspec.MsgspecError) as error:
        raise SettingError(
            f"LANGFOCUS_RENDER={url}: no browser answers there ({error}); start one with "
            "chromium --headless=new --remote-debugging-port=9222"
        ) from error


class _Version(msgspec.Struct):
    address: str = msgspec.field(name="webSocketDebuggerUrl")


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
        """Return a page, already loaded, after its scripts ran; raises `BrowserError`.

        A page whose browser or process dies is rendered once more, if the browser is back soon.
        """
        async with self._tabs:
            try:
                return await self._rendered(url, loaded, load)
            except BrowserError as error:
                if str(error) == SLOW or not self._is_there:
                    raise
            return await self._rendered(url, loaded, load)

    async def _rendered(self, url: str, loaded: Loaded, load: Load) -> Dom:
        socket = await self._connected()
        try:
            async with asyncio.timeout(self._timeout_s + 3 * _ANSWER_S):
                return await _Tab(socket, url, loaded, load).render(
                    self._timeout_s, self._languages
                )
        except TimeoutError as error:
            raise BrowserError(SLOW) from error
        finally:
            await socket.close()  # the browser then closes the page

    async def _connected(self) -> aiohttp.ClientWebSocketResponse:
        """Return a connection; a browser that was there is waited for."""
        now = asyncio.get_running_loop().time
        until = now() + (_RETURN_S if self._is_there else 0.0)
        while now() >= self._next_try:
            try:
                socket = await self._connect()
            except (aiohttp.ClientError, OSError, TimeoutError, msgspec.MsgspecError):
                if now() >= until:
                    self._is_there, self._next_try = False, now() + _ANSWER_S
                await asyncio.sleep(_STEP_S)
            else:
                self._is_there = True
                return socket
        raise BrowserError(GONE)

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_ANSWER_S))
        async with self._session.get(f"{self._url}/json/version") as answer:
            version = msgspec.json.decode(await answer.read(), type=_Version)
        address = f"ws://{urlsplit(self._url).netloc}{urlsplit(version.address).path}"
        return await self._session.ws_connect(address, max_msg_size=_MOST_MESSAGE)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()


class _Commands:
    """Commands to a browser over a connection; `hear` gets the events of its page."""

    def __init__(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        hear: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._socket, self._hear, self._numbers = socket, hear, count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.page = ""  # the session of the page; "" before there is one
        self._reading = asyncio.ensure_future(self._read())

    async def call(self, method: str, *, is_of_page: bool = True, **values: Any) -> dict[str, Any]:
        """Return the result of a command; raises `BrowserError`."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": values}
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        if is_of_page:
            message["sessionId"] = self.page
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._socket.send_str(msgspec.json.encode(message).decode())
                return await answer
        except TimeoutError as error:
            raise BrowserError(SLOW) from error
        except (aiohttp.ClientError, OSError) as error:
            raise BrowserError(GONE) from error
        finally:
            del self._answers[number]

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    return
                self._hand_out(msgspec.json.decode(message.data))
        except msgspec.DecodeError:
            return
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(BrowserError(GONE))
            self._hear(GONE, {})

    def _hand_out(self, message: dict[str, Any]) -> None:
        answer = self._answers.get(message.get("id", 0))
        if answer is None or answer.done():
            if message.get("sessionId") == self.page and "method" in message:
                self._hear(message["method"], message.get("params", {}))
        elif "error" in message:
            answer.set_exception(BrowserError(FAILED))
        else:
            answer.set_result(message.get("result", {}))


class _Tab:
    """A page in the browser, and its requests."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, url: str, loaded: Loaded, load: Load
    ) -> None:
        self._commands = _Commands(socket, self._hear)
        self._call = self._commands.call
        self._url, self._loaded, self._load = url, loaded, load
        self._frame = self._leads_to = self._failure = ""
        self._is_begun = self._has_loaded = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def render(self, timeout_s: float, languages: str) -> Dom:
        """Load the page, wait for its scripts, and return it."""
        try:
            await self._open(languages)
            self._run(self._call("Page.navigate", url=self._url))
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._finished()
            if self._failure or not self._is_begun:
                raise BrowserError(self._failure or FAILED)
            return await self._dom()
        finally:
            for task in self._tasks:
                task.cancel()

    async def _open(self, languages: str) -> None:
        """Open an empty page, all of whose requests are paused."""
        whole = partial(self._call, is_of_page=False)
        made = await whole("Target.createBrowserContext", **_NO_NETWORK)
        context = made["browserContextId"]
        await whole("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
        made = await whole("Target.createTarget", url="about:blank", browserContextId=context)
        made = await whole("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._commands.page = made["sessionId"]
        agent = (await whole("Browser.getVersion"))["userAgent"]
        call = self._call
        await call("Page.enable")
        await call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        # Workers and frames of other sites stay paused at their start.
        await call("Target.setAutoAttach", **_PAUSED)
        await call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=languages)
        await call("Page.addScriptToEvaluateOnNewDocument", source=_FIRST)
        self._frame = (await call("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def _dom(self) -> Dom:
        world = await self._call("Page.createIsolatedWorld", frameId=self._frame)
        found = await self._call(
            "Runtime.evaluate",
            expression=_DOM,
            contextId=world["executionContextId"],
            returnByValue=True,
        )
        base, html = found["result"]["value"]
        return Dom(f'<!DOCTYPE html><base href="{escape(base)}">{html}', self._leads_to)

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(self._tried(work))
        self._tasks.add(task)
        task.add_done_callback(self._end)

    async def _tried(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except BrowserError as error:
            if str(error) == GONE:
                self._fail(GONE)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._changed.set()

    def _fail(self, reason: str) -> None:
        self._failure = reason
        self._changed.set()

    async def _finished(self) -> None:
        """Return when the page has loaded, and nothing was requested for a while."""
        while not self._failure:
            self._changed.clear()
            is_quiet = self._has_loaded and not self._tasks
            try:
                async with asyncio.timeout(QUIET_S if is_quiet else None):
                    await self._changed.wait()
            except TimeoutError:
                if is_quiet:
                    return
                raise

    def _hear(self, event: str, values: dict[str, Any]) -> None:
        if event == "Fetch.requestPaused":
            self._run(self._answer(values))
        elif event in _LOADED and values.get("frameId", self._frame) == self._frame:
            self._has_loaded = self._is_begun
            self._changed.set()
        elif event == "Page.javascriptDialogOpening":
            self._run(self._call("Page.handleJavaScriptDialog", accept=False))
        elif event in ("Inspector.targetCrashed", GONE):
            self._fail(GONE if event == GONE else FAILED)

    async def _answer(self, values: dict[str, Any]) -> None:
        """Answer a paused request with a file, or with an error."""
        request, kind = values["request"], values.get("resourceType", "")
        loaded = None
        url = request["url"]
        if kind == "Document":
            is_page = values["frameId"] == self._frame
            loaded = self._document(url) if is_page else Loaded(204, (), b"")
        elif url.startswith(("data:", "blob:")):
            await self._call("Fetch.continueRequest", requestId=values["requestId"])
            return
        elif kind == "Stylesheet":
            loaded = Loaded(200, [("Content-Type", "text/css")], b"")
        elif request["method"] == "OPTIONS":
            loaded = _allowing(request["headers"])
        elif _is_wanted(kind, request):
            loaded = await self._load(Asked(url, request["headers"], is_script=kind == "Script"))
        await self._fulfil(values["requestId"], loaded)

    def _document(self, url: str) -> Loaded | None:
        if self._is_begun:
            self._leads_to, self._has_loaded = self._leads_to or url, True
            return Loaded(204, (), b"")
        if url.startswith("https:") and self._url.startswith("http:"):
            return None  # the browser tries https first, and http after an error
        self._is_begun = True
        return self._loaded

    async def _fulfil(self, request: str, loaded: Loaded | None) -> None:
        call = partial(self._call, requestId=request)
        if loaded is None:
            await call("Fetch.failRequest", errorReason="ConnectionRefused")
            return
        await call(
            "Fetch.fulfillRequest",
            responseCode=loaded.status,
            responseHeaders=[{"name": name, "value": value} for name, value in loaded.headers],
            body=b64encode(loaded.body).decode(),
        )


def _is_wanted(kind: str, request: dict[str, Any]) -> bool:
    """Return True for a script or data that a page needs now; False for streams."""
    headers = {name.lower(): value for name, value in request["headers"].items()}
    is_early = "sec-purpose" in headers or headers.get("accept") == "text/event-stream"
    return kind in _WANTED and request["method"] == "GET" and not is_early


def _allowing(headers: dict[str, str]) -> Loaded:
    """Return the answer to a preflight request: the server's own headers decide after it."""
    given = {name.lower(): value for name, value in headers.items()}
    allowed = {
        "Access-Control-Allow-Origin": given.get("origin", "*"),
        "Access-Control-Allow-Headers": given.get("access-control-request-headers", ""),
        "Access-Control-Allow-Credentials": "true",
    }
    return Loaded(204, [*allowed.items()], b"")
