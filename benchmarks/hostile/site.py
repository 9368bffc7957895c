"""The hostile site and the hostile instances, in a process of their own.

    python -m benchmarks.hostile.site

Says the origin of each attack on the first line of output, and ends with its standard input.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from benchmarks.hostile.attacks import ANSWERS, ATTACKS, TEXT
from tests.doubles.raw import Connection, RawServer, response

_GOOD: Final = response("The bees dance. " * 40, content_type=TEXT)
_HEALTHY: Final = response("OK", content_type=TEXT)
_MISSING: Final = response("Nothing is here.", status="404 Not Found", content_type=TEXT)
_FORBIDDEN: Final = response("", status="403 Forbidden", content_type=TEXT)


async def _converse(connection: Connection) -> None:
    while True:
        await connection.request()
        target = urlsplit(connection.path)
        if target.path.endswith("/search"):
            await _answer(connection, parse_qs(target.query))
        elif target.path.endswith("/healthz"):
            await connection.send(_HEALTHY)
        elif target.path == "/good":
            await connection.send(_GOOD)
        else:
            kind, _, name = unquote(target.path.lstrip("/")).partition("/")
            attack = ATTACKS.get(kind, {}).get(name)
            await (connection.send(_MISSING) if attack is None else attack.send(connection))


async def _answer(connection: Connection, query: dict[str, list[str]]) -> None:
    attack = ANSWERS[query["q"][0]]
    asks_json = query.get("format") == ["json"]
    await (attack.send(connection) if asks_json is attack.is_json else connection.send(_FORBIDDEN))


async def _serve() -> None:
    """Give every attack on the wire a host of its own: one that fails again and again is left alone."""
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(RawServer(greeting=_converse))
        servers = {
            f"{kind}/{name}": shared
            if kind != "wire"
            else await stack.enter_async_context(RawServer(greeting=_converse))
            for kind, attacks in ATTACKS.items()
            for name in attacks
        }
        origins = {name: f"127.0.0.1:{server.port}" for name, server in servers.items()}
        print(json.dumps(origins), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
