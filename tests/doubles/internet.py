"""Public host names and addresses, all of which lead to servers on this machine."""

import contextlib
import errno
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Protocol, Self

from searx_mcp.http.dialling import (
    LOOPBACK,
    Answer,
    Dialling,
    SocketRedirect,
    StaticResolver,
    check_loop,
)

_ADDRESSES: Final = "93.184.216"  # a public network: there is room for 254 hosts
_FILLING: Final = 8
"""Connections that fill the queue of a listener without a backlog: Linux takes one, others a few."""


class Server(Protocol):
    """Anything on 127.0.0.1 that knows its port: `FakeWeb`, `FakeSearxng`, `RawServer`."""

    @property
    def port(self) -> int:
        """The port it listens at."""
        ...


class FakeInternet:
    """A small internet for a `SearxClient`, open while its `async with` block runs.

    Its hosts have public addresses, so that whatever guards against private ones stays in place
    and is tested along. Sockets that the guard let pass are led to servers on 127.0.0.1. What is
    not registered does not exist: names do not resolve, addresses refuse connections.

    ```python
    async with FakeWeb({"/": page}) as site, FakeInternet({"www.example.org": site}) as internet:
        async with SearxClient(dialling=internet.dialling) as client:
            await client.fetch("http://www.example.org/")
    ```

    Not covered: own instances, and anything behind a proxy; both are dialled as always. It needs
    a selector loop, which is the default everywhere but on Windows.

    Args:
        hosts: host names and the servers they lead to, at port 80.

    Attributes:
        dialling: what a client takes.
    """

    def __init__(self, hosts: Mapping[str, Server] | None = None) -> None:
        self._names = StaticResolver()
        self._diversion = SocketRedirect(self._lead)
        self.dialling = Dialling(self._names, self._diversion.dial)
        self._addresses: dict[str, str] = {}
        self._ports: dict[tuple[str, int], int] = {}
        self._holding: list[socket.socket] = []
        for name, server in (hosts or {}).items():
            self.host(name, server)

    @property
    def asked(self) -> tuple[str, ...]:
        """The names that were looked up, in order."""
        return tuple(self._names.asked)

    @property
    def dialled(self) -> tuple[tuple[str, int], ...]:
        """Every address and port that was connected to, in order; what was refused is not here."""
        return tuple(self._diversion.dialled)

    @property
    def open_sockets(self) -> int:
        """How many of the connections are open still."""
        return self._diversion.open_sockets

    def host(self, name: str, server: Server | None = None, *, port: int = 80) -> str:
        """Let a name resolve, and lead its address at one port to a server.

        Args:
            name: in lower case, IDNA form.
            server: may be opened later; without one the address refuses connections.
            port: of the public address. A server of https belongs at 443.

        Returns:
            The public address, the same for each call with this name.
        """
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = f"{_ADDRESSES}.{len(self._addresses) + 1}"
            self.resolve(name, [address])
        if server is not None:
            self.lead(address, server, port=port)
        return address

    def resolve(self, name: str, *answers: Answer) -> None:
        """Decide what a name resolves to.

        Args:
            name: in lower case, IDNA form.
            *answers: one for each look-up, the last of them for ever after: addresses, an
                `OSError` to raise, or `None` for a look-up that never ends. None at all is a name
                that does not exist.
        """
        self._names.know({name: answers or ([],)})

    def lead(self, address: str, server: Server, *, port: int = 80) -> None:
        """Lead an address at a port to a server."""
        self._ports[address, port] = server.port

    async def swallow(self, address: str, *, port: int = 80) -> None:
        """Let connections to an address at a port come to nothing, neither made nor refused.

        They lead to a listener whose queue is full and that accepts nobody.
        """
        listener = socket.create_server((LOOPBACK, 0), backlog=0)
        self._holding.append(listener)
        place = listener.getsockname()
        for _ in range(_FILLING):
            filling = socket.socket()
            self._holding.append(filling)
            filling.setblocking(False)  # noqa: FBT003 - its one argument
            with contextlib.suppress(BlockingIOError):
                filling.connect(place)
        self._ports[address, port] = place[1]

    async def __aenter__(self) -> Self:
        check_loop()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._holding:
            self._holding.pop().close()

    def _lead(self, address: str, port: int) -> int:
        try:
            return self._ports[address, port]
        except KeyError:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused") from None
