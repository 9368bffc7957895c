"""Keeps pages until it is killed; started, and killed, by `test_processes.py`.

    python keeping_process.py FILE SEED

The cursor of each kept page is a line on standard output, written once the page is kept.
"""

import asyncio
import random
import sys
import time
from itertools import count
from pathlib import Path

from searx_mcp.content.document import Document
from searx_mcp.storage.pages import Capture, CapturedPage, PageKey
from searx_mcp.storage.sqlite_pages import open_store


async def run(file: Path, seed: int) -> None:
    store = open_store(file, max_bytes=100 << 20, max_age=86_400)
    dice = random.Random(seed)
    for number in count():
        text = dice.randbytes(dice.randrange(10, 20_000)).hex()
        url = f"https://{seed}.example/{number}"
        page = CapturedPage(
            document=Document(markdown=text, word_count=1),
            final_url=url,
            content_type="text/plain",
            content_length=len(text),
            status_code=200,
        )
        now = time.time()  # noqa: TID251 - the clock that processes share
        capture = Capture(page, url, now, now + 60, 1 << 20)
        print(await store.keep(PageKey("shared", url), capture, now), flush=True)  # noqa: T201 - what the parent waits for


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2])))
