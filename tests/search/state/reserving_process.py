"""Reserves and claims as fast as it can; started, and killed, by `test_processes.py`.

    python reserving_process.py STATE_FILE LOG_FILE SEED TURNS

Each granted reservation and each claimed job is a line of the log, written at once. A dot on
standard output tells that another ten turns are done.
"""

import asyncio
import random
import sys
import time
from pathlib import Path

from searx_mcp.models.attempt import Format
from searx_mcp.search.state.interface import Window
from searx_mcp.search.state.sqlite import open_store

WINDOWS = {
    "https://slow.example/": [Window(limit=3, seconds=2_592_000)],
    "https://fast.example/": [Window(limit=5, seconds=0.1), Window(limit=20, seconds=1)],
    "https://both.example/": [Window(limit=2, seconds=0.05), Window(limit=30, seconds=3_600)],
}


async def run(state: Path, log: Path, seed: int, turns: int) -> str:
    store = open_store(state)
    dice = random.Random(seed)
    with log.open("ab", buffering=0) as out:
        for turn in range(turns):
            host, windows = dice.choice([*WINDOWS.items()])
            now = time.time()  # noqa: TID251 - the clock that processes share
            reservation = await store.reserve(host, Format.HTML, windows, now)
            if reservation.granted:
                out.write(f"charge {host} {now!r}\n".encode())
            if await store.claim(f"job {turn}", seconds=86_400, now=now):
                out.write(f"claim {turn}\n".encode())
            if turn % 10 == 9:
                print(".", flush=True)  # noqa: T201 - what the parent waits for
    await store.aclose()
    return store.problem


if __name__ == "__main__":
    state_file, log_file, seed_text, turns_text = sys.argv[1:]
    sys.exit(
        asyncio.run(run(Path(state_file), Path(log_file), int(seed_text), int(turns_text))) or 0
    )
