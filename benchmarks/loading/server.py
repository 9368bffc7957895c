"""A server over HTTP that can be asked what it holds.

    python -m benchmarks.loading.server ours|unheard|bare [IDLE]

Ours goes by the environment; "unheard" is ours without metrics and traces; the bare one is the library's with one
tool that does nothing. It says on its first line of output where it listens, answers each line of input with what
it holds, and ends with its input. IDLE is after how many seconds an unused session ends.
"""

import asyncio
import gc
import json
import os
import socket
import sys
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer

from searx_mcp.cli.logs import configure
from searx_mcp.server.app import build_server
from searx_mcp.server.events import CallLog
from searx_mcp.server.http import serve_http
from searx_mcp.server.web.connections import LIMITS
from searx_mcp.settings.sources import load
from searx_mcp.telemetry import Listener

Serve = Callable[[Callable[[str], None]], Coroutine[Any, Any, None]]
"""Serves until it is cancelled, and says where once it does."""
_ADD_LISTENER: Final = "add_listener"


@dataclass(frozen=True, slots=True)
class Held:
    """What a server holds.

    Attributes:
        tasks: of its event loop.
        objects: that the garbage collector knows of, after a collection.
    """

    tasks: int
    objects: int


async def _serve(kind: str, idle: float | None) -> None:
    ended = asyncio.Event()
    serve = _bare if kind == "bare" else _ours(idle, counts=kind != "unheard")
    async with asyncio.TaskGroup() as group:

        def listening(url: str) -> None:
            print(url, flush=True)
            group.create_task(_answer(ended))

        task = group.create_task(serve(listening))
        await ended.wait()
        task.cancel()


def _ours(idle: float | None, *, counts: bool) -> Serve:
    configure("INFO")
    if not counts:
        setattr(CallLog, _ADD_LISTENER, _add_nothing)
    settings = load(environ=os.environ).settings
    limits = LIMITS if idle is None else replace(LIMITS, session_idle=idle)

    async def serve(listening: Callable[[str], None]) -> None:
        server = build_server(settings)
        await serve_http(server, settings.http, listening=listening, limits=limits)

    return serve


def _add_nothing(_: CallLog, __: Listener) -> None:
    """Stand in for the method that adds a listener."""


async def _bare(listening: Callable[[str], None]) -> None:
    server: MCPServer[Any] = MCPServer("bare", version="1", log_level="WARNING")

    @server.tool()
    async def web_search(query: str, limit: int = 10) -> str:
        """Give back what is asked."""
        return query * limit

    # With the protocol named, as the event loop makes its own: it sends without delay only then.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_024)
        listening(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        config = uvicorn.Config(server.streamable_http_app(), log_config=None, access_log=False)
        await uvicorn.Server(config).serve([listener])


async def _answer(ended: asyncio.Event) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        gc.collect()
        held = Held(tasks=len(asyncio.all_tasks()), objects=len(gc.get_objects()))
        print(json.dumps(asdict(held)), flush=True)
    ended.set()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else None))
