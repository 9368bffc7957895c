"""Programs started for their output."""

import asyncio
import os
import sys

import pytest

from searx_mcp.ops.own.programs import MAX_OUTPUT, Finished, run_program
from tests.ops.own.conftest import is_running

PYTHON = (sys.executable, "-S", "-E", "-u", "-c")
HANG = "import os, sys, time; print(os.getpid(), flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANG}"


async def test_a_program_reads_what_it_is_given_and_then_the_end():
    code = "import sys; print(sys.stdin.read()[::-1])"
    done = await run_program([*PYTHON, code], timeout=30, given=b"x" * 200_000 + b"ab")
    assert (done.code, done.out[:3], len(done.out)) == (0, "bax", 200_003)


@pytest.mark.parametrize(
    ("code", "arguments", "done"),
    [
        ("print('o'); print('e', file=sys.stderr); sys.exit(3)", (), Finished(3, "o\n", "e\n")),
        (
            "print(sys.argv[1:], repr(sys.stdin.read()))",
            ("$HOME; echo x", "*"),
            Finished(0, "['$HOME; echo x', '*'] ''\n", ""),
        ),
        (r"sys.stdout.buffer.write(b'\xff')", (), Finished(0, "\N{REPLACEMENT CHARACTER}", "")),
    ],
    ids=["streams and exit code", "no shell and no input", "not UTF-8"],
)
async def test_what_a_program_says_comes_back(code, arguments, done):
    program = [*PYTHON, f"import sys; {code}", *arguments]
    assert await run_program(program, timeout=30) == done


async def test_lines_are_told_as_they_come():
    lines: list[str] = []
    code = (
        r"import sys; sys.stdout.write('one\rtwo\n\n  \nthree\nhalf'); sys.stderr.write('four\n')"
    )
    await run_program([*PYTHON, code], timeout=30, on_line=lines.append)
    assert sorted(lines) == ["four", "one", "three", "two"]


async def test_of_long_output_the_end_is_kept():
    code = f"print('a' * {MAX_OUTPUT}); print('b' * 10_000, end='')"
    done = await run_program([*PYTHON, code], timeout=30)
    assert len(done.out) == MAX_OUTPUT
    assert done.out.endswith("a\n" + "b" * 10_000)


async def test_a_program_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        await run_program([str(tmp_path / "nothing")], timeout=30)


@pytest.fixture
def too_long(pass_by):
    """Runs a program until it prints its number, and its time is over; gives that number."""

    async def started(code: str) -> int:
        pids: list[int] = []

        def heard(line: str) -> None:
            pids.append(int(line))
            pass_by(60)

        with pytest.raises(TimeoutError):
            await run_program([*PYTHON, code], timeout=60, on_line=heard)
        return pids[0]

    return started


async def test_a_program_that_takes_too_long_is_ended(too_long):
    assert not is_running(await too_long(HANG))


@pytest.mark.slow
async def test_a_program_that_will_not_end_is_killed(too_long):
    assert not is_running(await too_long(STUBBORN))


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancelled_caller_leaves_no_program(times):
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(
            run_program(
                [*PYTHON, HANG], timeout=60, on_line=lambda line: started.set_result(int(line))
            )
        )
        async with asyncio.timeout(30):
            pid = await started
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
    assert task.cancelled()
    assert not is_running(pid)


ORPHAN = f"""
import os, time
parent = os.getpid()
if not os.fork():
    while os.getppid() == parent:
        time.sleep(0.01)
    {HANG}
"""


async def test_a_child_that_holds_the_streams_is_not_waited_for(too_long):
    os.kill(await too_long(ORPHAN), 9)
