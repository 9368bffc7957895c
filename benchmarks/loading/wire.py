"""A client of MCP over HTTP that does as little as it can, so that the server is what is measured."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

_CLIENT: Final = {"name": "a benchmark", "version": "1"}
_HEAD: Final = 1 << 16
"""Bytes of a head or of the line before a chunk."""


class Era(StrEnum):
    """The version of the protocol that a client speaks: the last with sessions, and the one without."""

    SESSION = "2025-11-25"
    STATELESS = "2026-07-28"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call came to.

    Attributes:
        code: of the error, or empty.
        text: what a model reads.
    """

    code: str
    text: str


class Wire:
    """One connection of one client; in the era of sessions, `greet` comes first.

    Args:
        url: of the endpoint.
        token: that the server wants, or empty.
        era: of all its requests.
        session: of another connection of the same client.
    """

    def __init__(self, url: str, token: str, era: Era, *, session: str = "") -> None:
        parts = urlsplit(url)
        self.session = session
        self._host, self._port, self._path = parts.hostname or "", parts.port or 80, parts.path
        self._token = token
        self._era = era
        self._number = 0

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(
            self._host, self._port, limit=_HEAD
        )
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Without a farewell, as a client that is killed; whatever is on its way is lost.
        self._writer.transport.abort()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def greet(self) -> None:
        """Open a session, if the era has them."""
        if self._era is Era.SESSION:
            said = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": _CLIENT}
            await self._ask("initialize", said)
            await self.tell("notifications/initialized", {})

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """Call a tool.

        Raises:
            RuntimeError: the server answers with something else than a result of a tool.
        """
        answer = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in answer:
            raise RuntimeError(f"no result: {answer}")
        result = answer["result"]
        data = result.get("structuredContent") or {}
        code = str(data.get("error_type", "no code")) if result.get("isError") else ""
        return Reply(code, "".join(part.get("text", "") for part in result["content"]))

    async def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})
        await self._received()

    async def begin(self, tool: str, arguments: Mapping[str, object]) -> int:
        """Send a call, whose answer nobody waits for, and give its number."""
        self._request("tools/call", {"name": tool, "arguments": arguments})
        await self._writer.drain()
        return self._number

    async def listen(self) -> None:
        """Open the stream for what the server says unasked, and wait for its head."""
        self._write("GET", b"", {})
        await self._reader.readuntil(b"\r\n\r\n")

    async def leave(self) -> None:
        """End the session, if there is one."""
        if not self.session:
            return
        self._write("DELETE", b"", {})
        await self._received()

    async def half(self) -> None:
        """Send a head and not the body that it promises."""
        self._writer.write(b"".join(self._head("POST", 100, {})))
        await self._writer.drain()

    async def _ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        self._request(method, params)
        return await self._received()

    def _request(self, method: str, params: Mapping[str, object]) -> None:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        headers: dict[str, str] = {}
        if self._era is Era.STATELESS:
            params = message["params"]
            meta = {
                PROTOCOL_VERSION_META_KEY: self._era,
                CLIENT_INFO_META_KEY: _CLIENT,
                CLIENT_CAPABILITIES_META_KEY: {},
            }
            message = {**message, "params": {**params, "_meta": meta}}
            headers = {"Mcp-Method": message["method"]}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        self._write("POST", json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)

    def _write(self, method: str, body: bytes, headers: Mapping[str, str]) -> None:
        self._writer.write(b"".join((*self._head(method, len(body), headers), body)))

    def _head(self, method: str, size: int, headers: Mapping[str, str]) -> Iterator[bytes]:
        yield f"{method} {self._path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n".encode()
        yield b"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        yield f"Content-Length: {size}\r\nMCP-Protocol-Version: {self._era}\r\n".encode()
        if self._token:
            yield f"Authorization: Bearer {self._token}\r\n".encode()
        if self.session:
            yield f"Mcp-Session-Id: {self.session}\r\n".encode()
        for name, value in headers.items():
            yield f"{name}: {value}\r\n".encode()
        yield b"\r\n"

    async def _received(self) -> dict[str, Any]:
        """The message of an answer, or nothing if it has none."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *lines = head.split("\r\n")
        pairs = (line.split(": ", 1) for line in lines if line)
        headers = {name.lower(): value for name, value in pairs}
        self.session = headers.get("mcp-session-id", self.session)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join([chunk async for chunk in self._chunks()])
        else:
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        if status.split()[1] not in {"200", "202"}:
            raise RuntimeError(f"{status}: {body[:500]!r}")
        if headers.get("content-type", "").startswith("text/event-stream"):
            # The last event is the answer; pings stand between them.
            body = [line for line in body.splitlines() if line.startswith(b"data: ")][-1][6:]
        message: dict[str, Any] = json.loads(body) if body.strip() else {}
        return message

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readline(), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)
