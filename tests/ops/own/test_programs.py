"""Programs started for their output."""

import asyncio
import os
import sys

import pytest

from searx_mcp.ops.own.programs import MAX_OUTPUT, run_program

PYTHON = (sys.executable, "-S", "-E", "-u", "-c")
HANG = "import os, sys, time; print(os.getpid(), flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANG}"


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_program_reads_what_it_is_given_and_then_the_end():
    code = "import sys; print(sys.stdin.read()[::-1])"
    done = await run_program([*PYTHON, code], timeout=30, given=b"x" * 200_000 + b"ab")
    assert (done.code, done.out[:3], len(done.out)) == (0, "bax", 200_003)


async def test_both_streams_and_the_exit_code_come_back():
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = await run_program([*PYTHON, code], timeout=30)
    assert (done.code, done.out, done.err) == (3, "out\n", "err\n")


async def test_there_is_no_shell_and_no_input():
    code = "import sys; print(sys.argv[1:], repr(sys.stdin.read()))"
    done = await run_program([*PYTHON, code, "$HOME; echo x", "*"], timeout=30)
    assert done.out == "['$HOME; echo x', '*'] ''\n"


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


async def test_what_is_not_utf_8_is_replaced():
    done = await run_program([*PYTHON, r"import sys; sys.stdout.buffer.write(b'\xff')"], timeout=30)
    assert done.out == "\N{REPLACEMENT CHARACTER}"


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


async def test_a_cancelled_caller_leaves_no_program():
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(
            run_program(
                [*PYTHON, HANG], timeout=60, on_line=lambda line: started.set_result(int(line))
            )
        )
        async with asyncio.timeout(30):
            pid = await started
        task.cancel()
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
