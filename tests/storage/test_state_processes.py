"""Several processes on one file or server, some of them killed, or the server."""

import asyncio
import sqlite3
import sys
from collections import Counter
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from searx_mcp.storage.redis import RedisLink

PROGRAM = Path(__file__).with_name("reserving_process.py")
LIMITS = {
    "https://slow.example/": [(3, 2_592_000.0)],
    "https://fast.example/": [(5, 0.1), (20, 1.0)],
    "https://both.example/": [(2, 0.05), (30, 3_600.0)],
    "https://free.example/": [(1_000, 1.0)],
    "public": [(6, 0.1), (25, 1.0), (60, 2_592_000.0)],
}
TURNS = 150


@pytest.fixture
def start(start_program):
    """Starts the program."""

    def started(state: Path | str, log: Path, seed: int):
        return start_program(sys.executable, PROGRAM, str(state), log, str(seed), str(TURNS))

    return started


@pytest.fixture
def run(start):
    """Runs the program to its end, after it was killed in the middle of its work some times."""

    async def ran(state: Path | str, log: Path, seed: int, *, killed: int) -> None:
        for life in range(killed):
            doomed = await start(state, log, seed + 100 * life)
            doomed.stdin.close()
            for _ in range(3 + seed):
                await doomed.stdout.readline()
            doomed.kill()
            await doomed.communicate()
        process = await start(state, log, seed)
        _, errors = await process.communicate(b"")
        assert (errors.decode(), process.returncode) == ("", 0)

    return ran


@pytest.mark.slow
async def test_processes_some_of_them_killed_never_exceed_a_shared_budget(run, tmp_path):
    state = tmp_path / "state" / "state-v1.db"
    lines = await told_by_four(run, state, tmp_path)
    with closing(sqlite3.connect(state)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        charges = connection.execute("SELECT instance, at FROM charges ORDER BY at").fetchall()
    assert sorted(path.name for path in state.parent.iterdir()) == [
        "state-v1.db",
        "state-v1.db.lock",
    ]
    check(charges, lines)


@pytest.mark.slow
async def test_processes_on_a_server_never_exceed_a_shared_budget(run, tmp_path, start_redis):
    url = start_redis().url
    lines = await told_by_four(run, url, tmp_path)
    check(await kept_on(url), lines)


@pytest.mark.slow
async def test_while_a_server_is_killed_and_started_anew_no_process_exceeds_a_budget(
    start, tmp_path, start_redis
):
    server = start_redis()
    logs = [tmp_path / f"{number}.log" for number in range(4)]
    processes = [await start(server.url, log, number) for number, log in enumerate(logs)]
    for _ in range(3):
        for process in processes:
            process.stdin.write(b"go on\n")
        for _ in range(3):
            await processes[0].stdout.readline()
        server.kill()
        await asyncio.to_thread(server.start)
    ends = [await process.communicate(b"") for process in processes]

    assert [
        (errors.decode(), process.returncode)
        for (_, errors), process in zip(ends, processes, strict=True)
    ] == [("", 0)] * 4, "nothing failed, and all found the server again"
    charges = await kept_on(server.url)
    told = []
    for log in logs:
        lines = [line.split() for line in log.read_text().splitlines()]
        ours = sorted((float(line[2]), line[1]) for line in lines if line[0] == "charge")
        keep_to_limits([(name, at) for at, name in ours])
        told += [(name, at) for at, name in ours]
    assert Counter(told) <= Counter(charges), "nothing granted is forgotten"


async def told_by_four(run, state: Path | str, folder: Path) -> list[list[str]]:
    """What four processes have told, two of which were killed and started again."""
    logs = [folder / f"{number}.log" for number in range(4)]
    async with asyncio.TaskGroup() as group:
        for number, log in enumerate(logs):
            group.create_task(run(state, log, number, killed=1 if number < 2 else 0))
    return [line.split() for log in logs for line in log.read_text().splitlines()]


async def kept_on(url: str) -> list[tuple[str, float]]:
    """All charges on a server, the earliest first."""
    prefix = "processes:v1:charges:"
    async with aclosing(RedisLink(url, patience=10)) as link:
        (keys,) = await link.run(lambda session: session.ask(("KEYS", f"{prefix}*")))
        commands = [("ZRANGE", key, 0, -1, "WITHSCORES") for key in keys]
        replies = await link.run(lambda session: session.ask(*commands))
    names = [key.decode().removeprefix(prefix) for key in keys]
    charges = [
        (name, float(at)) for name, reply in zip(names, replies, strict=True) for at in reply[1::2]
    ]
    return sorted(charges, key=lambda charge: charge[1])


def check(charges: list[tuple[str, float]], lines: list[list[str]]) -> None:
    """No window holds too many, and what the processes were told is what is kept."""
    keep_to_limits(charges)
    assert {name for name, _ in charges} == LIMITS.keys() - {"public"}
    told = Counter((line[1], float(line[2])) for line in lines if line[0] == "charge")
    assert told <= Counter(charges)
    assert len({line[1] for line in lines if line[0] == "seed"}) == 1
    claimed = Counter(line[1] for line in lines if line[0] == "claim")
    assert max(claimed.values()) == 1
    assert len(claimed) >= TURNS - 6


def keep_to_limits(charges: list[tuple[str, float]]) -> None:
    for account, limits in LIMITS.items():
        times = [at for name, at in charges if account in {name, "public"}]
        for limit, seconds in limits:
            pairs = zip(times, times[limit:], strict=False)
            assert all(later >= earlier + seconds for earlier, later in pairs)
