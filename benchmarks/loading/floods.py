"""One client that takes all it can get, from an address of its own.

    python -m benchmarks.loading.floods KIND URL TOKEN

Says on its first line of output that it has begun, and ends with its standard input. It is nice to other processes: it
stands for another machine, which would not take the processor from the server.
"""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

ADDRESS: Final = "127.0.0.2"
CHEAP: Final = {"query": "hedges", "fetch_content": False}
"""A search whose answer is kept."""
_PAUSE: Final = 0.5
"""Seconds until a connection that was ended, or could not be opened, is opened again."""
_SOON: Final = 0.05
_PIPED: Final = 50
_LETTER: Final = 0.5
_BEGIN: Final = 1.5
"""Seconds until the flood counts as begun."""


class Kind(StrEnum):
    """What a client floods with."""

    IDLE = "idle connections"
    REFUSED = "refused calls with unfinished bodies"
    PIPELINED = "pipelined calls"
    SLOW_HEADS = "slow heads"
    SLOW_READERS = "unread answers"
    CANCELLED = "cancelled calls"
    SESSIONS = "sessions"


@dataclass(frozen=True, slots=True)
class Target:
    """What is flooded.

    Attributes:
        host: of the server.
        port: of the server.
        token: that it wants.
    """

    host: str
    port: int
    token: str

    def post(self, path: str, body: Mapping[str, object], *, has_token: bool = True) -> bytes:
        """A whole request."""
        data = json.dumps(body).encode()
        return self.head("POST", path, len(data), has_token=has_token) + data

    def head(self, method: str, path: str, size: int, *, has_token: bool) -> bytes:
        """The head of a request that promises so many bytes."""
        kinds = "application/json" + ", text/event-stream" * (path == "/mcp")
        told = f"Authorization: Bearer {self.token}\r\n" if has_token else ""
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{told}"
            f"Accept: {kinds}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {size}\r\n\r\n"
        ).encode()


_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_Attack = Callable[[Target, asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


async def _idle(_: Target, reader: asyncio.StreamReader, __: object, ___: int) -> None:
    await reader.read()


async def _refused(
    target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int
) -> None:
    writer.write(target.head("POST", "/v1/search", 1_000, has_token=False) + b"{")
    await reader.read()


async def _pipelined(
    target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int
) -> None:
    calls = target.post("/v1/search", CHEAP) * _PIPED
    while True:
        writer.write(calls)
        await writer.drain()
        for _ in range(_PIPED):
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))


async def _slow_head(_: Target, __: object, writer: asyncio.StreamWriter, ___: int) -> None:
    writer.write(b"GET /")
    while not writer.transport.is_closing():
        writer.write(b"x")
        await asyncio.sleep(_LETTER)


async def _slow_reader(target: Target, _: object, writer: asyncio.StreamWriter, __: int) -> None:
    writer.transport.pause_reading()  # type: ignore[attr-defined] # - a socket's has it
    while not writer.transport.is_closing():
        writer.write(target.head("GET", "/openapi.json", 0, has_token=True))
        await writer.drain()
        await asyncio.sleep(_LETTER)


async def _cancelled(target: Target, _: object, writer: asyncio.StreamWriter, number: int) -> None:
    writer.write(target.post("/v1/search", {**CHEAP, "query": f"hedges {number}"}))
    await writer.drain()


async def _session(
    target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int
) -> None:
    said = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a flood", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said}
    writer.write(target.post("/mcp", hello))
    await reader.readuntil(b"\r\n\r\n")


_ATTACKS: Final[Mapping[Kind, tuple[_Attack, int, float]]] = {
    Kind.IDLE: (_idle, 4_500, _PAUSE),
    Kind.REFUSED: (_refused, 3_000, _PAUSE),
    Kind.PIPELINED: (_pipelined, 200, _PAUSE),
    Kind.SLOW_HEADS: (_slow_head, 1_000, _PAUSE),
    Kind.SLOW_READERS: (_slow_reader, 200, _PAUSE),
    Kind.CANCELLED: (_cancelled, 50, _SOON),
    Kind.SESSIONS: (_session, 50, _SOON),
}
"""How, over how many connections at a time, and how many seconds after one has ended the next is opened."""


async def _again(kind: Kind, target: Target, first: int) -> None:
    attack, step, pause = _ATTACKS[kind]
    number = first
    while True:
        with suppress(OSError, EOFError, ValueError):
            reader, writer = await asyncio.open_connection(
                target.host, target.port, local_addr=(ADDRESS, 0)
            )
            try:
                await attack(target, reader, writer, number)
            finally:
                writer.transport.abort()
        number += step
        await asyncio.sleep(pause)


async def _flood(kind: Kind, target: Target) -> None:
    async with asyncio.TaskGroup() as group:
        clients = [
            group.create_task(_again(kind, target, first)) for first in range(_ATTACKS[kind][1])
        ]
        await asyncio.sleep(_BEGIN)
        print("begun", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for client in clients:
            client.cancel()


if __name__ == "__main__":
    os.nice(5)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    parts = urlsplit(sys.argv[2])
    aim = Target(parts.hostname or "", parts.port or 80, sys.argv[3])
    asyncio.run(_flood(Kind(sys.argv[1]), aim))
