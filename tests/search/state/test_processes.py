"""Eight processes on one file, some of them killed."""

import asyncio
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("reserving_process.py")
LIMITS = {
    "https://slow.example/": [(3, 2_592_000.0)],
    "https://fast.example/": [(5, 0.1), (20, 1.0)],
    "https://both.example/": [(2, 0.05), (30, 3_600.0)],
    "https://free.example/": [(1_000, 1.0)],
    "public": [(6, 0.1), (25, 1.0), (60, 2_592_000.0)],
}
TURNS = 200


async def start(state: Path, log: Path, seed: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        str(state),
        str(log),
        str(seed),
        str(TURNS),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(state: Path, log: Path, seed: int, *, killed: int) -> None:
    """Run the program to its end, after it was killed in the middle of its work some times."""
    for life in range(killed):
        doomed = await start(state, log, seed + 100 * life)
        assert doomed.stdout is not None
        for _ in range(3 + seed):
            await doomed.stdout.readline()
        doomed.kill()
        await doomed.communicate()
    process = await start(state, log, seed)
    _, errors = await process.communicate()
    assert (errors.decode(), process.returncode) == ("", 0)


@pytest.mark.slow
async def test_eight_processes_some_of_them_killed_never_exceed_a_shared_budget(tmp_path):
    state = tmp_path / "state" / "state-v1.db"
    logs = [tmp_path / f"{number}.log" for number in range(8)]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for number, log in enumerate(logs):
            group.create_task(run(state, log, number, killed=2 if number < 3 else 0))

    with closing(sqlite3.connect(state)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        charges = connection.execute("SELECT instance, at FROM charges ORDER BY at").fetchall()
    assert sorted(path.name for path in state.parent.iterdir()) == [
        "state-v1.db",
        "state-v1.db.lock",
    ]
    for account, limits in LIMITS.items():
        times = [at for name, at in charges if account in {name, "public"}]
        assert times
        for limit, seconds in limits:
            pairs = zip(times, times[limit:], strict=False)
            assert all(later >= earlier + seconds for earlier, later in pairs)
    lines = [line.split() for log in logs for line in log.read_text().splitlines()]
    told = Counter((line[1], float(line[2])) for line in lines if line[0] == "charge")
    assert told <= Counter(charges)
    assert len({line[1] for line in lines if line[0] == "seed"}) == 1
    claimed = Counter(line[1] for line in lines if line[0] == "claim")
    assert max(claimed.values()) == 1
    assert len(claimed) >= TURNS - 6
