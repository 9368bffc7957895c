"""One bomb in a fresh process: what became of it, and what it took.

python -m benchmarks.fetching.bomb_run SMALL_URL BOMB_URL
"""

import asyncio
import json
import sys

from benchmarks.fetching import memory
from benchmarks.fetching.bombs import TRUNCATED, WHOLE
from benchmarks.fetching.clients import TIMEOUT, settings_for
from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError


async def _main(small: str, bomb: str) -> None:
    async with SearxClient(settings_for([small, bomb])) as client:
        await client.fetch(small)  # whatever is loaded late
        before = memory.resident()
        memory.forget_peak()
        size = 0
        try:
            page = await client.fetch(bomb, timeout=TIMEOUT)
        except SearxMcpError as error:
            outcome = str(error.code)
        else:
            outcome = TRUNCATED if any("incomplete" in note for note in page.notes) else WHOLE
            size = page.content_length
        grown = memory.peak() - before
    json.dump({"outcome": outcome, "size": size, "before": before, "grown": grown}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2]))
