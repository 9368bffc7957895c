"""Keeps pages until it is killed; started, and killed, by `test_processes.py`.

    python keeping_process.py PLACE SEED

The place is a file, or the address of a server.

The cursor of each kept page is a line on standard output, written once the page is kept.
"""

import asyncio
import random
import sys
import time
from itertools import count
from pathlib import Path

from searx_mcp.content.document import Document
from searx_mcp.storage.pages import Capture, CapturedPage, PageKey, PageStore
from searx_mcp.storage.redis_pages import RedisPageStore
from searx_mcp.storage.sqlite_pages import SqlitePageStore


def store_at(place: str) -> PageStore:
    if place.startswith("redis://"):
        return RedisPageStore(
            place,
            prefix="killed:",
            secret=b"correct horse battery staple",
            max_bytes=100 << 20,
            max_age=86_400,
            patience=30,
        )
    return SqlitePageStore(Path(place), max_bytes=100 << 20, max_age=86_400, patience=30)


async def run(store: PageStore, seed: int) -> None:
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
    asyncio.run(run(store_at(sys.argv[1]), int(sys.argv[2])))
