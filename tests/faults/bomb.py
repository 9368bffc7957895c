"""Reads a page of 200 MB that is small on the wire; prints what that came to, as JSON.

python bomb.py gzip|deflate
"""

import asyncio
import json
import sys
import zlib
from pathlib import Path

from searx_mcp import SearxClient
from searx_mcp.settings.values import Settings
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, response

SETTINGS = Settings.model_validate(
    {"instances": {"public": "off"}, "web_fetch": {"max_content_size": "64KB"}}
)
SIZE = 200_000_000
BLOCK = b"<p>Not worth reading. " * 50_000
BITS = {"gzip": 31, "deflate": -15}


def bomb(kind: str) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, BITS[kind])
    first, other = (packer.compress(BLOCK) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = first + other * (SIZE // len(BLOCK))
    return response(packed, headers={"Content-Encoding": kind})


def highest_memory() -> int:
    """Bytes resident at most since the last `forget_highest`."""
    status = Path("/proc/self/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1_024


def forget_highest() -> None:
    Path("/proc/self/clear_refs").write_text("5", "utf-8")


async def main(kind: str) -> dict[str, object]:
    warming = response(BLOCK[:400_000])
    scripts = {"/": bomb(kind), "/warming": warming}
    async with RawServer(scripts) as server, FakeInternet({"www.example.org": server}) as internet:
        async with SearxClient(SETTINGS, dialling=internet.dialling) as client:
            # What a page of the greatest length costs anyway is no part of it.
            for number in range(3):
                await client.fetch(f"http://www.example.org/warming#{number}")
            forget_highest()
            before = highest_memory()
            page = await client.fetch("http://www.example.org/")
            verdict = "truncated" if page.truncated else "page"
            return {"verdict": verdict, "growth": highest_memory() - before}


print(json.dumps(asyncio.run(main(sys.argv[1]))))  # noqa: T201 - what the test reads
