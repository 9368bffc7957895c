"""Bombs, each in a process of its own: what became of it, and what it took.

python -m benchmarks.fetching.bomb_run

Each line of standard input has the addresses of a small page and of a bomb, as JSON, and is answered with a line. The
processes are copies of one that has imported everything.
"""

import asyncio
import json
import os
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
    found = {"outcome": outcome, "size": size, "before": before, "grown": grown}
    print(json.dumps(found), flush=True)


def main() -> None:
    """Answer every line."""
    for line in sys.stdin:
        small, bomb = json.loads(line)
        process = os.fork()
        if not process:
            asyncio.run(_main(small, bomb))
            os._exit(0)
        if os.waitpid(process, 0)[1]:
            sys.exit(f"no answer to {bomb}")


if __name__ == "__main__":
    main()
