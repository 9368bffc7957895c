"""A service with the two specified routes alone, as another project has it, over a real socket."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest
from aiohttp import web
from typing_extensions import override

from searx_mcp.remote.client import RemoteClient
from searx_mcp.settings.server import RemoteConfig
from searx_mcp.settings.values import Settings
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest

KEY = "k-0123456789abcdef"
ROWS = [
    {
        "url": f"https://{n}.example/bees",
        "title": f"Bees {n}",
        "snippet": f"What {n} says.",
        "published_at": "2026-05-01",
    }
    for n in range(1, 26)
]
TEXT = "".join(f"Line {n} of the page.\n" for n in range(1, 101))


class Proxy(LoopbackServer):
    """Answers `web_search` and `web_fetch`, and nothing else.

    Attributes:
        bodies: of the requests, in order.
        rows: that a search finds.
        page: what a fetch answers besides the content, in place of what it says itself.
        text: of every page.
    """

    def __init__(self) -> None:
        super().__init__(self._respond_to)
        self.bodies: list[dict[str, Any]] = []
        self.rows = ROWS
        self.page: dict[str, Any] = {}
        self.text = TEXT

    @override
    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def _respond_to(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        if received.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"error": "no key"}, status=401)
        if not received.path.startswith("/v1/tools/"):
            return web.json_response({"error": "unknown route"}, status=404)
        body = json.loads(await request.read())
        self.bodies.append(body)
        if received.path.endswith("web_search"):
            rows = self.rows[: body["max_results"]]
            return web.json_response({"results": rows, "count": len(rows)})
        most = body.get("max_chars", len(self.text))
        answer = {
            "content": self.text[:most],
            "status": 200,
            "content_type": "text/html; charset=utf-8",
            "truncated": most < len(self.text),
        }
        return web.json_response(answer | self.page)


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    async with Proxy() as server:
        yield server


@asynccontextmanager
async def asking(base: str, *, timeout: float = 20, key: str = KEY) -> AsyncIterator[RemoteClient]:  # noqa: ASYNC109 - the setting
    """A client of a service."""
    remote = RemoteConfig.model_validate({"url": base, "key": key, "timeout": timeout})
    async with RemoteClient(Settings(remote=remote)) as client:
        yield client


def answer(
    status: int, body: object = None, *headers: str, content_type: str = "application/json"
) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} Any",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(data)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data
