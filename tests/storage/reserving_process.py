"""Reserves and claims as fast as it can; started, and killed, by `test_processes.py`.

    python reserving_process.py STATE LOG_FILE SEED TURNS

STATE is a file, or the address of a Redis server.
Each granted reservation, each claimed job and the seed of the installation is a line of the log,
written at once. A dot on standard output tells that another ten turns are done. Before each fifty
turns it waits for a line on standard input, or its end.
"""

import asyncio
import logging
import random
import sys
import time
from pathlib import Path

from searx_mcp.models.attempt import Format
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.sqlite_state import open_store
from searx_mcp.storage.state import Account, StateStore, Window

HOSTS = [
    Account("https://slow.example/", (Window(3, 2_592_000),)),
    Account("https://fast.example/", (Window(5, 0.1), Window(20, 1))),
    Account("https://both.example/", (Window(2, 0.05), Window(30, 3_600))),
    Account("https://free.example/", (Window(1_000, 1),)),
]
SHARED = Account(
    "public",
    (Window(6, 0.1), Window(25, 1), Window(60, 2_592_000)),
    members=tuple(host.name for host in HOSTS),
)


def opened(state: str) -> StateStore:
    if not state.startswith("redis:"):
        return open_store(Path(state))
    store = RedisStore(state, prefix="processes:", patience=10)
    store._link.retry_interval = 0.05
    return store


async def run(state: str, log: Path, seed: int, turns: int) -> str:
    store = opened(state)
    dice = random.Random(seed)
    with log.open("ab", buffering=0) as out:
        out.write(f"seed {await store.installation_seed()}\n".encode())
        for turn in range(turns):
            if turn % 50 == 0:
                sys.stdin.readline()
            host = dice.choice(HOSTS)
            now = time.time()  # noqa: TID251 - the clock that processes share
            reservation = await store.reserve([host, SHARED], Format.HTML, now)
            if reservation.granted:
                out.write(f"charge {host.name} {now!r}\n".encode())
            if await store.claim(f"job {turn}", seconds=86_400, now=now):
                out.write(f"claim {turn}\n".encode())
            if turn % 10 == 9:
                print(".", flush=True)  # noqa: T201 - what the parent waits for
    while await store.load(time.time()) or store.problem:  # noqa: TID251 - as above
        pass  # a server that was started anew is found again
    await store.aclose()
    return store.problem


if __name__ == "__main__":
    logging.getLogger("searx_mcp").setLevel(logging.ERROR)
    state_text, log_file, seed_text, turns_text = sys.argv[1:]
    sys.exit(asyncio.run(run(state_text, Path(log_file), int(seed_text), int(turns_text))) or 0)
