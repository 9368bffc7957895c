"""Replaces how names are resolved and sockets opened, for programs that need another way than the system."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakSet

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.http.guard import Dial, open_socket

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Dialling:
    """The two hooks between guarded traffic and the network.

    Attributes:
        resolver: resolves all names instead of the system's resolver; its creator closes it.
        dial: opens the sockets of guarded connections after the guard has allowed them.
    """

    resolver: AbstractResolver | None = None
    dial: Dial = open_socket


Answer = Sequence[str] | OSError | None
"""The result of resolving a name: addresses, an error to raise, or `None` to never answer."""

Lead = Callable[[str, int], int]
"""Returns the local port that stands for a public address and port.

Raises `ConnectionRefusedError` where nothing listens."""


class StaticResolver(AbstractResolver):
    """A resolver with fixed answers.

    Attributes:
        asked: the names that were resolved, in order.
    """

    def __init__(self, otherwise: Answer = ()) -> None:
        """Start without names.

        Args:
            otherwise: the answer for unknown names; without addresses, they do not exist.
        """
        self.asked: list[str] = []
        self._otherwise = otherwise
        self._answers: dict[str, list[Answer]] = {}

    def know(self, answers: Mapping[str, Sequence[Answer]]) -> None:
        """Set the answers of names: one for each lookup; the last repeats for ever."""
        for name, each in answers.items():
            self._answers[name.lower().removesuffix(".")] = list(each)

    def forget(self) -> None:
        """Forget all names."""
        self._answers.clear()

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the fixed answer.

        Raises:
            OSError: the name is set to fail, or does not exist.
        """
        self.asked.append(host)
        answers = self._answers.get(host.lower().removesuffix("."))
        answer = self._otherwise
        if answers:
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, OSError):
            raise answer
        if not answer:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in answer
        ]

    @override
    async def close(self) -> None:
        """Do nothing: there is no connection."""


def check_loop() -> None:
    """Check that the running loop connects with `socket.connect`.

    Raises:
        RuntimeError: it does not, like the proactor loop of Windows.
    """
    if not isinstance(loop := asyncio.get_running_loop(), asyncio.SelectorEventLoop):
        kind = type(loop).__name__
        message = f"diverted sockets need a loop of asyncio.SelectorEventLoop's kind, not {kind}"
        raise RuntimeError(message)  # noqa: TRY004 - the loop is no argument


class SocketRedirect:
    """Opens sockets that lead to local ports, whatever address they connect to.

    Only for loops that pass `check_loop`: others would connect to the real address.

    Attributes:
        dialled: every address and port that was connected to, in order.
    """

    def __init__(self, lead: Lead) -> None:
        """Set the function that returns the port for an address."""
        self.dialled: list[tuple[str, int]] = []
        self._lead = lead
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def open_sockets(self) -> int:
        """Number of sockets still open."""
        return sum(each.fileno() >= 0 for each in self._sockets)

    def dial(self, target: AddrInfoType) -> socket.socket:
        """Open the socket for one connection attempt; a `Dial`.

        Raises:
            RuntimeError: the running loop would bypass the redirect.
        """
        check_loop()
        opened = _DivertedSocket(target[0], self._divert)
        self._sockets.add(opened)
        return opened

    def _divert(self, address: str, port: int) -> tuple[str, int]:
        self.dialled.append((address, port))
        return LOOPBACK, self._lead(address, port)


class _DivertedSocket(socket.socket):
    """A TCP socket that reports the requested family, and always connects to 127.0.0.1."""

    def __init__(self, family: int, divert: Callable[[str, int], tuple[str, int]]) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._shown_family = socket.AddressFamily(family)
        self._divert = divert

    @property
    @override
    def family(self) -> socket.AddressFamily:
        # The loop parses the address by its family.
        return self._shown_family

    @override
    def connect(self, address: Any, /) -> None:
        host, port = address[:2]
        super().connect(self._divert(host, port))
