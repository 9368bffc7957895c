"""A web on loopback with public names and addresses, and a real Chromium that sees it."""

import asyncio
import contextlib
import re
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from typing_extensions import override
from yarl import URL

from searx_mcp.errors import TransportError
from searx_mcp.fetch.browser import chromium, visit
from searx_mcp.fetch.browser.renderer import Renderer
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.dialling import SocketRedirect, StaticResolver
from searx_mcp.http.gateway import Gateway, GatewayLimits
from searx_mcp.http.sessions import Sessions
from searx_mcp.tasks import Tasks
from searx_mcp.urls.address import AllowList

PUBLIC = "93.184.216.34"
CLOSED = "93.184.216.35"
LONG = 60.0
"""Seconds that are never used up."""

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Web:
    """The whole public web: one server on loopback, with http and https.

    Attributes:
        pages: HTML, or what answers, by path; other paths are not found.
        requests: path and query string of what arrived, in order.
        headers: those of the last request for each path.
        ports: of the server, by scheme.
    """

    def __init__(self) -> None:
        self.pages: dict[str, str | Handler] = {}
        self.requests: list[str] = []
        self.headers: dict[str, Mapping[str, str]] = {}
        self.ports: dict[str, int] = {}
        self._arrival = asyncio.Condition()

    async def until(self, path: str) -> None:
        """Wait until a path was asked for."""
        async with asyncio.timeout(LONG), self._arrival:
            await self._arrival.wait_for(lambda: path in self.headers)

    def respond(self, path: str, body: bytes = b"", *, status: int = 200, **fields: str) -> None:
        """Answer a path as told; in names of fields `_` stands for `-`."""

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            headers = {name.replace("_", "-"): value for name, value in fields.items()}
            return web.Response(body=body, status=status, headers=headers)

        self.pages[path] = answer

    def redirect(self, path: str, location: str) -> None:
        """Lead from a path to another place."""
        self.respond(path, status=302, Location=location)

    def hang(self, path: str) -> None:
        """Never answer a path."""

        async def never(request: web.BaseRequest) -> web.StreamResponse:
            await asyncio.Event().wait()
            raise AssertionError

        self.pages[path] = never

    def drip(self, path: str) -> None:
        """Answer a path with the beginning of a page, and nothing after it."""

        async def begin(request: web.BaseRequest) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/html"})
            await response.prepare(request)
            await response.write(b"<p>the beginning</p>")
            await asyncio.Event().wait()
            return response

        self.pages[path] = begin

    def pour(self, path: str) -> None:
        """Answer a path with a page that never ends, as fast as it is taken."""

        async def flood(request: web.BaseRequest) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/html"})
            await response.prepare(request)
            try:
                while True:
                    await response.write(b"<p>more</p>" * 1_000)
            except ConnectionError:
                return response

        self.pages[path] = flood

    def lead(self, address: str, port: int) -> int:
        """Where an address on the web is in truth."""
        if address == CLOSED:
            raise ConnectionRefusedError
        return self.ports["https" if port in {443, 8443} else "http"]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        async with self._arrival:
            self.headers[request.path] = request.headers
            self._arrival.notify_all()
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="<p>nothing here", content_type="text/html")
        if isinstance(page, str):
            return web.Response(text=page, content_type="text/html")
        return await page(request)


@pytest.fixture(scope="session")
def certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("www.site.org").configure_cert(context)
    return context


@pytest.fixture
async def site(certificate: ssl.SSLContext) -> AsyncIterator[Web]:
    shown = Web()
    server = web.ServerRunner(
        web.Server(shown.answer, access_log=None), handler_cancellation=True, shutdown_timeout=0.1
    )
    await server.setup()
    for scheme, context in (("http", None), ("https", certificate)):
        await web.TCPSite(server, "127.0.0.1", 0, ssl_context=context).start()
        shown.ports[scheme] = server.addresses[-1][1]
    yield shown
    await server.cleanup()


class Screen:
    """A renderer with what it is shown.

    Attributes:
        renderer: the renderer.
        gateways: one for each page, in order.
        dialled: what the guard let pass.
        leftovers: of the browser.
    """

    def __init__(
        self,
        renderer: Renderer,
        gateways: list[Gateway],
        diversion: SocketRedirect,
        leftovers: "Leftovers",
    ) -> None:
        self.renderer = renderer
        self.gateways = gateways
        self.dialled = diversion.dialled
        self.leftovers = leftovers

    async def render(
        self, url: str, *, within: float = LONG, max_bytes: int = 100_000, user_agent: str = "us/1"
    ) -> ReceivedPage:
        """Render a page; a path alone is one of http://www.site.org."""
        deadline = asyncio.get_running_loop().time() + within
        place = URL(url if ":" in url else f"http://www.site.org{url}")
        return await self.renderer.render(
            place, user_agent=user_agent, deadline=deadline, max_bytes=max_bytes
        )


class Leftovers:
    """What a browser would leave behind: processes, and files in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _running(self) -> Iterator[tuple[str, str, bytes]]:
        """Number, command line and environment of processes that know the folder.

        A process may end at any time; one that has ended has neither.
        """
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ")
                environment = (place / "environ").read_bytes()
                if str(self._folder).encode() in command + environment:
                    yield place.name, command.decode("utf-8", "replace"), environment

    def processes(self) -> list[str]:
        """The command lines of processes that know the folder; those that have ended have none."""
        return [f"{number} {command}" for number, command, _ in self._running()]

    def browsers(self) -> set[str]:
        """The profiles of running browsers: all processes of one name the same."""
        found = (re.search(r"--user-data-dir=(\S+)", line) for line in self.processes())
        return {match[1] for match in found if match is not None}

    def environments(self) -> list[bytes]:
        """What the processes of browsers know of the environment."""
        return [
            environment
            for _, command, environment in self._running()
            if "--user-data-dir" in command
        ]

    async def until_running(self, *, what: str = "") -> None:
        """Wait until there is a process with such a command line."""
        async with asyncio.timeout(LONG):
            while not any(what in line for line in self.processes()):  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.02)

    async def until_gone(self) -> None:
        """Wait until there is nothing."""
        left: list[object] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(20):
                while left := [*self.processes(), *self._folder.iterdir()]:  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(0.02)
        assert left == []


@pytest.fixture
def leftovers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Leftovers]:
    """The browser's temporary files go to a folder of the test's own."""
    # Not `tmp_path`: Chromium makes a socket in it, whose path may have 108 characters.
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Leftovers(Path(folder))


@pytest.fixture(autouse=True, scope="module")
def patient() -> Iterator[None]:
    """A browser has all of a call's time to start, and a page to load its content: the machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (chromium, "START_TIMEOUT"),
            (chromium, "LAUNCH_TIMEOUT"),
            (visit, "SETTLE_TIME"),
        ):
            patch.setattr(module, name, LONG)
        yield


OpenScreen = Callable[..., Any]


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Callable[[float], Any]) -> Any:
    """One loop for all tests of a module, as they may share a browser."""
    return backend_at(1.0)


OF_THE_NET = {"names", "allow", "admit", "limits"}


class Net:
    """The ways to the web of one test.

    Attributes:
        gateways: one for each page, in order.
        diversion: what the guard let pass.
    """

    def __init__(
        self,
        lead: Callable[[str, int], int],
        *,
        names: Mapping[str, Sequence[Any]] | None = None,
        allow: Sequence[str] = (),
        admit: Callable[[URL], None] = lambda _url: None,
        limits: GatewayLimits = GatewayLimits(),  # noqa: B008 - frozen
    ) -> None:
        resolver = StaticResolver([PUBLIC])
        resolver.know(names or {})
        self.diversion = SocketRedirect(lead)
        self.gateways: list[Gateway] = []
        self.sessions = Sessions(
            NetworkConfig(),
            resolver=resolver,
            dial=self.diversion.dial,
            allow=AllowList.parse(allow),
        )
        self._admit, self._limits = admit, limits

    def make(self) -> Gateway:
        self.gateways.append(self.sessions.gateway(self._admit, limits=self._limits))
        return self.gateways[-1]


@pytest.fixture
def screen(site: Web, leftovers: Leftovers, chromium: str) -> OpenScreen:
    """Opens a renderer; when it is closed, neither a process nor a file of it may be left."""

    @asynccontextmanager
    async def opened(
        *, lead: Callable[[str, int], int] = site.lead, **options: Any
    ) -> AsyncIterator[Screen]:
        ways = {name: options.pop(name) for name in OF_THE_NET & {*options}}
        net = Net(lead, **ways)
        async with Tasks() as tasks, net.sessions:
            renderer = Renderer(net.make, spawn=tasks.spawn, **options)
            yield Screen(renderer, net.gateways, net.diversion, leftovers)
            await renderer.aclose()
        await leftovers.until_gone()
        assert not net.diversion.open_sockets

    return opened


class Lent:
    """One renderer, and the net that it has just now."""

    def __init__(self, tasks: Tasks, leftovers: Leftovers) -> None:
        self.net: Net | None = None
        self.leftovers = leftovers
        self.renderer = Renderer(self._make, spawn=tasks.spawn)

    async def start(self) -> None:
        """Start its browser, with a page whose host has no address."""
        self.net = Net(lambda *_: 0, names={"gone.org": [[]]})
        async with self.net.sessions:
            with pytest.raises(TransportError):
                await self.renderer.render(
                    URL("http://gone.org/"),
                    user_agent="us/1",
                    deadline=asyncio.get_running_loop().time() + LONG,
                    max_bytes=1,
                )

    def _make(self) -> Gateway:
        assert self.net is not None
        return self.net.make()


@pytest.fixture(scope="module")
async def lent(chromium: str) -> AsyncIterator[Lent]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setenv("SEARX_MCP_FETCH__GITHUB_TOKEN", "very-secret")
        patch.setenv("HTTPS_PROXY", "http://very-secret@proxy.example.org:1")
        leftovers = Leftovers(Path(folder))
        async with Tasks() as tasks:
            lent = Lent(tasks, leftovers)
            await lent.start()
            yield lent
            await lent.renderer.aclose()
        await leftovers.until_gone()


@pytest.fixture
def shared(site: Web, lent: Lent) -> OpenScreen:
    """Opens the renderer of the module, whose browser is there already: for tests of pages alone."""

    @asynccontextmanager
    async def opened(
        *, lead: Callable[[str, int], int] = site.lead, **options: Any
    ) -> AsyncIterator[Screen]:
        lent.net = net = Net(lead, **options)
        async with net.sessions:
            yield Screen(lent.renderer, net.gateways, net.diversion, lent.leftovers)
        assert not net.diversion.open_sockets

    return opened


class Traps:
    """Sockets that nothing may reach, on addresses of this machine.

    Attributes:
        caught: the traps that something went into, as `tcp 127.0.0.1`.
    """

    def __init__(self) -> None:
        self.caught: list[str] = []
        self._servers: list[asyncio.Server] = []
        self._transports: list[asyncio.BaseTransport] = []

    async def lay(self, address: str, port: int = 0) -> int:
        """Listen for connections; returns the port."""

        async def seize(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.caught.append(f"tcp {address}")
            writer.close()

        server = await asyncio.start_server(seize, address, port)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    async def lay_udp(self, address: str) -> int:
        """Listen for datagrams; returns the port."""
        caught = self.caught

        class Seize(asyncio.DatagramProtocol):
            @override
            def datagram_received(self, data: bytes, addr: object) -> None:
                caught.append(f"udp {address}")

        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            Seize, local_addr=(address, 0)
        )
        self._transports.append(transport)
        bound: int = transport.get_extra_info("sockname")[1]
        return bound

    def remove(self) -> None:
        for server in self._servers:
            server.close()
        for transport in self._transports:
            transport.close()


@pytest.fixture
async def traps() -> AsyncIterator[Traps]:
    laid = Traps()
    yield laid
    laid.remove()
