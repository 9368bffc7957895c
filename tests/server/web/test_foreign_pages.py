"""Web pages in a real browser on this machine, against the server over HTTP on a loopback socket."""

import asyncio
import contextlib
import json
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Browser, Page
from typing_extensions import override
from yarl import URL

from searx_mcp.fetch.browser.chromium import Driver
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Tier
from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, serving

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"
SECRET = "a secret of the service"
"""Stands in all that the service answers."""

# The first begins with a name that is allowed. Both lead to this machine, so that the browser counts their
# pages as local and leaves it to the server whether to answer them.
EVIL, APP = "localhost.evil.example", "app.example"
SWITCHES = (
    "--host-resolver-rules=MAP *.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Nor may the browser of today, which asks its user before a page may use this machine, help the server.
    "--disable-features=LocalNetworkAccessChecks",
    "--disable-background-networking",
    "--no-first-run",
)

SEARCH = json.dumps({"query": "bees"})
CALL = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "web_search", "arguments": {"query": "bees"}},
    }
)

HELPERS = """
window.told = async (address, options) => {
    try {
        const answer = await fetch(address, options)
        return answer.type === "opaque" ? "" : `${answer.status} ${await answer.text()}`
    } catch { return "" }
}
window.json = (body, more) => ({
    method: "POST", body, headers: {"Content-Type": "application/json", ...more},
})
window.shown = (tag, fields) => new Promise(done => {
    const element = Object.assign(document.createElement(tag), fields)
    element.onload = () => {
        let text = element.naturalWidth ? "an image" : ""
        try { text += element.contentDocument?.body?.innerText ?? "" } catch {}
        try { text += [...element.sheet.cssRules].map(rule => rule.cssText) } catch {}
        done(text)
    }
    element.onerror = () => done("")
    document.body.append(element)
})
window.sent = (action, method, enctype, fields) => new Promise(done => {
    const frame = Object.assign(document.createElement("iframe"), {name: "into"})
    const form = Object.assign(document.createElement("form"),
                               {action, method, enctype, target: "into"})
    for (const [name, value] of Object.entries(fields))
        form.append(Object.assign(document.createElement("input"), {name, value}))
    document.body.append(frame, form)
    frame.onload = () => {
        let text = ""
        try { text = frame.contentDocument.body.innerText } catch {}
        done(text)
    }
    form.submit()
})
window.framed = (address, body) => new Promise(done => {
    window.onmessage = event => done(event.data)
    document.body.append(Object.assign(document.createElement("iframe"), {
        sandbox: "allow-scripts",
        srcdoc: `<script>
            fetch("${address}", {method: "POST", body: ${JSON.stringify(body)}})
                .then(answer => answer.text()).catch(() => "")
                .then(text => parent.postMessage(text, "*"))
        </script>`,
    }))
})
window.streamed = address => new Promise(done => {
    const source = new EventSource(address)
    source.onmessage = event => { source.close(); done(event.data) }
    source.onopen = () => { source.close(); done("open") }
    source.onerror = () => { source.close(); done("") }
})
window.opened = address => new Promise(done => {
    const other = window.open(address)
    const timer = setInterval(() => {
        let text = ""
        try {
            if (other.location.href === "about:blank" || other.document.readyState !== "complete")
                return
            text = other.document.body.innerText
        } catch {}
        clearInterval(timer)
        done(text)
    }, 5)
})
window.connected = address => new Promise(done => {
    const socket = new WebSocket(address)
    socket.onopen = () => { socket.close(); done("open") }
    socket.onerror = () => done("")
})
"""
"""Each gives what the page could read, or an empty string."""

# A simple request asks nobody before it is sent: https://fetch.spec.whatwg.org/#cors-safelisted-request-header.
ATTACKS = {
    "json": "told(base + '/v1/search', json(SEARCH))",
    "json to MCP": "told(base + '/mcp', json(CALL))",
    "json with a token": "told(base + '/v1/search', json(SEARCH, {Authorization: 'Bearer ' + TOKEN}))",
    "simple text": "told(base + '/v1/search', {method: 'POST', body: SEARCH})",
    "simple text to MCP": "told(base + '/mcp', {method: 'POST', body: CALL})",
    "simple text, kept alive": "told(base + '/mcp', {method: 'POST', body: CALL, keepalive: true})",
    "bytes without a kind": "told(base + '/v1/search', {method: 'POST', body: new Blob([SEARCH])})",
    "no-cors": "told(base + '/v1/search', {method: 'POST', mode: 'no-cors', body: SEARCH})",
    "no-cors to MCP": "told(base + '/mcp', {method: 'POST', mode: 'no-cors', body: CALL})",
    "no-cors, with what the browser knows": (
        "told(base + '/v1/search',"
        " {method: 'POST', mode: 'no-cors', credentials: 'include', body: SEARCH})"
    ),
    "no-cors GET": "told(base + '/search?format=json&q=bees', {mode: 'no-cors'})",
    "GET of a report": "told(base + '/v1/instances')",
    "GET of a search": "told(base + '/search?format=json&q=bees')",
    "GET with a token": (
        "told(base + '/v1/instances', {headers: {Authorization: 'Bearer ' + TOKEN}})"
    ),
    "a form": (
        "sent(base + '/v1/search', 'post', 'application/x-www-form-urlencoded', {query: 'bees'})"
    ),
    "a form of text that is JSON": (
        "sent(base + '/v1/search', 'post', 'text/plain', {'{\"query\": \"bees': '\"}'})"
    ),
    "a form of parts": "sent(base + '/v1/search', 'post', 'multipart/form-data', {query: 'bees'})",
    "a form to MCP": "sent(base + '/mcp', 'post', 'text/plain', {[CALL]: ''})",
    "a form that searches": "sent(base + '/search', 'get', '', {q: 'bees', format: 'json'})",
    "an image of a report": "shown('img', {src: base + '/v1/instances'})",
    "an image of a search": "shown('img', {src: base + '/search?format=json&q=bees'})",
    "an image without a referrer": (
        "shown('img', {referrerPolicy: 'no-referrer', src: base + '/search?format=json&q=bees'})"
    ),
    "a script of a report": "shown('script', {src: base + '/v1/instances'})",
    "a script of a search": "shown('script', {src: base + '/search?format=json&q=bees'})",
    "a module": "shown('script', {type: 'module', src: base + '/v1/instances'})",
    "a style sheet": "shown('link', {rel: 'stylesheet', href: base + '/v1/instances'})",
    "a frame of a report": "shown('iframe', {src: base + '/v1/instances'})",
    "a frame of a search": "shown('iframe', {src: base + '/search?format=json&q=bees'})",
    "a window": "opened(base + '/search?format=json&q=bees')",
    "an object": "shown('object', {data: base + '/v1/instances'})",
    "a prefetch": "shown('link', {rel: 'prefetch', href: base + '/v1/instances'})",
    "a frame of no origin": "framed(base + '/v1/search', SEARCH)",
    "an image that is redirected": (
        "shown('img', {src: '/redirect?to=' + encodeURIComponent(base + '/v1/instances')})"
    ),
    "text that is redirected": (
        "told('/redirect?to=' + encodeURIComponent(base + '/v1/search'),"
        " {method: 'POST', body: SEARCH})"
    ),
    "events of MCP": "streamed(base + '/mcp')",
    "events of an answer": "streamed(base + '/v1/answer?query=bees')",
    "events of a report": "streamed(base + '/v1/instances')",
    "a WebSocket to MCP": "connected(base.replace('http', 'ws') + '/mcp')",
    "a WebSocket to a report": "connected(base.replace('http', 'ws') + '/v1/instances')",
}
"""What a page does; `base` is the server."""

HTML = "text/html"
PAGE = "<!doctype html><title>-</title><body>"


class Counted(PartOfService):
    """Finds nothing, and counts.

    Attributes:
        calls: what was asked, in order.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []

    @override
    async def search(self, request, /, *, progress=None):
        self.calls.append("search")
        return found_nothing(request, SECRET)

    @override
    async def answer(self, request, /, *, progress=None):
        self.calls.append("answer")
        raise NotImplementedError

    @override
    async def instances(self):
        self.calls.append("instances")
        row = InstanceReport(
            url="https://i.example/",
            tier=Tier.OWN,
            grade=None,
            state=InstanceState.HEALTHY,
            score=1.0,
            reason=SECRET,
        )
        return PoolReport(instances=(row,))


class Site:
    """A page without words, under any name, and a redirect to wherever the page likes."""

    def __init__(self) -> None:
        self.port = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/redirect":
            return web.Response(status=307, headers={"Location": request.query["to"]})
        return web.Response(text=PAGE, content_type=HTML)


def _is_ours(request: str) -> bool:
    # A window asks for its icon by itself, whenever it likes.
    return request != "GET /favicon.ico"


class Wire:
    """Stands between browsers and a server, and knows what browsers do not tell of their pages.

    Attributes:
        asked: the requests, each as its method and path.
        told: the statuses of the answers.
        base: where it listens.
    """

    def __init__(self, port: int) -> None:
        self.base = ""
        self.asked: list[str] = []
        self.told: list[int] = []
        self._port = port
        self._has_news = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        open_: deque[str] = deque()

        def ask(text: str) -> None:
            found = re.findall(r"^([A-Z]+ /\S*) HTTP/1\.1\r$", text, re.MULTILINE)
            open_.extend(found)
            self.asked += filter(_is_ours, found)

        def tell(text: str) -> None:
            for status in re.findall(r"^HTTP/1\.1 ([0-9]{3})", text, re.MULTILINE):
                if _is_ours(open_.popleft()):
                    self.told.append(int(status))

        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass(reader, back, ask))
            group.create_task(self._pass(there, writer, tell))

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        note: Callable[[str], None],
    ) -> None:
        with contextlib.suppress(ConnectionError), contextlib.closing(writer):
            while data := await reader.read(65_536):
                note(data.decode("latin-1"))
                self._has_news.set()
                writer.write(data)
                await writer.drain()

    async def until_quiet(self) -> None:
        """Wait until there was a request, and every one has an answer."""
        while not self.asked or len(self.told) < len(self.asked):
            self._has_news.clear()
            await self._has_news.wait()


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Any) -> Any:
    """One loop for the module, whose tests share a browser."""
    return backend_at(1.0)


@pytest.fixture(scope="module")
async def browser(chromium: Any) -> AsyncIterator[Browser]:
    driver = await Driver.start()
    try:
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        async with await driver.playwright.chromium.launch(
            executable_path=chromium, args=SWITCHES, chromium_sandbox=not is_root
        ) as launched:
            yield launched
    finally:
        await driver.stop()


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[Site]:
    shown = Site()
    runner = web.ServerRunner(web.Server(shown.answer, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    shown.port = runner.addresses[-1][1]
    yield shown
    await runner.cleanup()


@pytest.fixture(scope="module")
def service() -> Counted:
    return Counted()


@pytest.fixture(scope="module", params=[""], ids=["open"])
async def wire(request: Any, service: Counted, site: Site) -> AsyncIterator[Wire]:
    """A server without a token, which would stop most attacks before anything else does."""
    config = HttpConfig(port=0, token=request.param, allowed_origins=(f"http://{APP}:{site.port}",))
    async with serving(build_server(Settings(), service=service), config) as url:
        between = Wire(URL(url).port or 0)
        async with await asyncio.start_server(between.serve, "127.0.0.1", 0) as listener:
            between.base = "http://{}:{}".format(*listener.sockets[0].getsockname())
            yield between


class Tab:
    """A page of some origin, in a browser that knows nothing else.

    Args:
        page: shows what that origin serves.
        base: of the server, under the name that the page uses.
        wire: to it.
    """

    def __init__(self, page: Page, base: str, wire: Wire) -> None:
        self._page = page
        self._base = base
        self._wire = wire

    async def attack(self, attack: str) -> str:
        """Attack the server, and give what the page could read of it."""
        self._wire.asked.clear()
        self._wire.told.clear()
        names = f"const SEARCH = {SEARCH!r}, CALL = {CALL!r}, TOKEN = {TOKEN!r}"
        work = f"base => {{ {names}; document.body.replaceChildren(); return {attack} }}"
        async with asyncio.timeout(DEADLINE):
            read: str = await self._page.evaluate(work, self._base)
            await self._wire.until_quiet()
        for page in self._page.context.pages:
            if page != self._page:
                await page.close()
        return read


OpenTab = Callable[[str, str, Wire], AbstractAsyncContextManager[Tab]]


@pytest.fixture(scope="module")
def open_tab(browser: Browser) -> OpenTab:
    """Opens a page at an address, for attacks on a server under a base."""

    @asynccontextmanager
    async def opened(address: str, base: str, wire: Wire) -> AsyncIterator[Tab]:
        async with asyncio.timeout(DEADLINE):
            context = await browser.new_context()
            page = await context.new_page()
            if address.startswith(base):
                # As the page's own server answers it, before its name is made to lead here.
                await page.route(address, lambda route: route.fulfill(body=PAGE, content_type=HTML))
            await page.goto(address)
            await page.unroute_all()
            await page.evaluate(HELPERS)
        yield Tab(page, base, wire)
        await context.close()

    return opened


@pytest.fixture(scope="module")
async def foreign(open_tab: OpenTab, site: Site, wire: Wire) -> AsyncIterator[Tab]:
    async with open_tab(f"http://{EVIL}:{site.port}/", wire.base, wire) as tab:
        yield tab


@pytest.fixture(scope="module")
async def rebound(open_tab: OpenTab, wire: Wire) -> AsyncIterator[Tab]:
    base = wire.base.replace("127.0.0.1", EVIL)
    async with open_tab(f"{base}/", base, wire) as tab:
        yield tab


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_a_page_of_a_foreign_origin_drives_nothing_and_reads_nothing(
    foreign, service, wire, attack
):
    service.calls.clear()
    assert await foreign.attack(attack) == ""
    assert service.calls == []
    assert {*wire.told} == {403}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_a_page_whose_name_is_made_to_lead_here_drives_nothing_and_reads_only_refusals(
    rebound, service, wire, attack
):
    service.calls.clear()
    read = await rebound.attack(attack)
    assert service.calls == []
    assert SECRET not in read
    assert read != "open"
    assert {*wire.told} == {421}


async def test_what_a_page_finds_under_a_name_that_leads_here_is_that_a_server_runs(rebound):
    paths = ("healthz", "readyz")
    read = [await rebound.attack(f"told(base + '/{path}')") for path in paths]
    assert read == ['200 {"status":"ok"}', '200 {"status":"ready"}']


@pytest.mark.parametrize(
    ("path", "options", "call"),
    [
        ("/v1/search", "json(SEARCH, {Authorization: 'Bearer ' + TOKEN})", "search"),
        ("/v1/instances", "{headers: {Authorization: 'Bearer ' + TOKEN}}", "instances"),
    ],
)
@pytest.mark.parametrize("wire", [TOKEN], indirect=True, scope="module", ids=["token"])
async def test_a_page_of_an_allowed_origin_with_the_token_is_served(
    open_tab, service, site, wire, path, options, call
):
    service.calls.clear()
    async with open_tab(f"http://{APP}:{site.port}/", wire.base, wire) as tab:
        read = await tab.attack(f"told(base + '{path}', {options})")
    assert service.calls == [call]
    assert read.startswith("200 ")
    assert SECRET in read
    assert wire.told == [204, 200]
