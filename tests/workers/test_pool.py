"""Processes that misbehave cost their own job, and nothing is left behind."""

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

from searx_mcp.errors import ContentError, ErrorCode, FetchError, TransportError
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import MAX_BODY
from searx_mcp.workers.pool import CHILD, ChildWorkers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes as Linux does"),
]

MODULE = "searx_mcp.testing.worker_jobs"
FORGED = b"\x00\x00\x00\x02\x00\x00\x00\x02{}{}"


async def test_a_job_gets_body_and_options_and_gives_its_result(pool_of, run):
    result = await run(pool_of(), "echo", "Straße".encode(), n=1, name="名前", none=None)
    assert result["text"] == "Straße"
    assert result["options"] == {"n": 1, "name": "名前", "none": None}


async def test_a_process_that_is_idle_is_used_again(pool_of, run):
    pool = pool_of(processes=2)
    pids = {(await run(pool, "echo"))["pid"] for _ in range(3)}
    assert len(pids) == 1
    assert os.getpid() not in pids


async def test_bodies_and_results_larger_than_a_pipe_arrive_whole(pool_of, run):
    body = b"0123456789abcdef" * 400_000
    assert (await run(pool_of(), "echo", body))["text"].encode() == body


async def test_jobs_run_side_by_side(pool_of, run, hang):
    pool = pool_of(processes=2)
    first, one = await hang(pool)
    second, other = await hang(pool)
    assert one != other
    first.cancel()
    second.cancel()


@pytest.mark.parametrize(
    ("function", "answer", "most"),
    [
        ("sched_getaffinity", {0}, 1),
        ("sched_getaffinity", {0, 1, 2}, 2),
        ("cpu_count", 3, 2),
        ("cpu_count", None, 1),
    ],
)
async def test_unless_told_so_many_jobs_run_at_once_as_there_are_cores_but_one(
    pool_of, run, hang, monkeypatch, function, answer, most
):
    with monkeypatch.context() as patch:
        patch.delattr(os, "sched_getaffinity")
        patch.setattr(os, function, lambda *_: answer, raising=False)
        pool = pool_of(processes=0)
    tasks = [*[(await hang(pool))[0] for _ in range(most)], run(pool, "echo")]
    await asyncio.sleep(0)
    assert repr(pool) == f"<ChildWorkers [{most} busy, 0 idle, 1 waiting]>"
    assert not pool._starting
    for task in tasks:
        task.cancel()


async def test_what_a_job_refuses_is_told_in_clean_words(pool_of, run):
    pool = pool_of()
    with pytest.raises(ContentError) as caught:
        await run(pool, "refuse")
    assert caught.value.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    assert caught.value.message == "needs a password"
    assert caught.value.advice == "Ask its author."


WRONG = {
    "fail": "failed",
    "no such job": "failed",
    "no_json": "failed",
    "segfault": "crashed",
    "abort": "crashed",
    "leave": "crashed",
    "quit_politely": "crashed",
    "forge": "crashed",
    "hang_beyond_a_fork": "crashed",
    "eat": "more memory",
}


async def test_a_job_that_goes_wrong_costs_only_itself(pool_of, run):
    pool = pool_of(memory="256MB")
    for job, said in WRONG.items():
        with pytest.raises(DefeatError, match=said) as caught:
            await run(pool, job, b"\xff" * 64)
        assert caught.value.code is ErrorCode.EXTRACTION_FAILED, job
        assert "secret" not in caught.value.message, job
        assert (await run(pool, "echo", b"next"))["text"] == "next", job


async def test_frames_that_nobody_asked_for_end_the_process(pool_of, run):
    pool = pool_of()
    before = await run(pool, "echo")
    # The first is taken for the answer: what a job says of its own body is its to say.
    assert await run(pool, "forge", FORGED * 2) == {}
    assert (await run(pool, "echo"))["pid"] != before["pid"]


async def test_what_is_too_large_is_not_sent(pool_of, run):
    pool = pool_of()
    with pytest.raises(ContentError) as caught:
        await run(pool, "echo", bytes(MAX_BODY + 1))
    assert caught.value.code is ErrorCode.CONTENT_TOO_LARGE
    assert not pool._processes
    with pytest.raises(ContentError, match="no valid answer"):
        await run(pool, "flood", chars=MAX_BODY)
    assert (await run(pool, "echo"))["text"] == ""


async def test_options_that_are_no_json_are_the_callers_mistake(pool_of, run):
    with pytest.raises(ValueError, match="no JSON"):
        await run(pool_of(), "echo", of=object())


async def test_what_a_job_prints_is_no_answer(pool_of, run):
    assert await run(pool_of(), "chatter") == {"read": ""}


async def test_a_job_that_takes_too_long_is_killed(pool_of, hang, ended, run, pass_by):
    pool = pool_of(job_timeout=60)
    task, pid = await hang(pool)
    (process,) = pool._processes
    pass_by(60)
    with pytest.raises(DefeatError, match="within 60 s") as caught:
        await task
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED
    assert not process.is_usable
    await ended(pid)
    assert (await run(pool, "echo"))["pid"] != pid


async def test_the_callers_deadline_kills_a_job(pool_of, hang, ended, run, pass_by):
    pool = pool_of(job_timeout=120)
    await run(pool, "echo")
    task, pid = await hang(pool, seconds=60)
    pass_by(60)
    with pytest.raises(TransportError) as caught:
        await task
    assert caught.value.code is ErrorCode.TIMEOUT
    await ended(pid)
    assert (await run(pool, "echo"))["pid"] != pid


async def test_a_job_under_way_is_given_up_before_the_deadline_if_a_reserve_is_wanted(
    pool_of, hang, run, pass_by
):
    pool = pool_of(job_timeout=120)
    await run(pool, "echo")
    task, pid = await hang(pool, seconds=60, reserve=30)
    pass_by(30)
    with pytest.raises(DefeatError, match="could not be read within"):
        await task
    assert (await run(pool, "echo"))["pid"] != pid


async def test_a_job_that_has_not_begun_may_use_the_reserve(pool_of, run):
    assert (await run(pool_of(), "echo", b"late", seconds=60, reserve=60))["text"] == "late"


async def test_a_deadline_that_is_over_starts_nothing(pool_of, run):
    pool = pool_of()
    with pytest.raises(TransportError):
        await run(pool, "echo", seconds=0)
    assert not pool._starting
    assert not pool._processes


async def test_waiting_for_a_process_counts_against_the_deadline(pool_of, hang, run):
    pool = pool_of()
    hanging, _ = await hang(pool)
    with pytest.raises(TransportError) as caught:
        await run(pool, "echo", seconds=0.05)
    assert caught.value.code is ErrorCode.TIMEOUT
    assert not hanging.done()
    hanging.cancel()


async def test_however_many_wait_all_have_their_turn(pool_of, run):
    pool = pool_of()
    jobs = [run(pool, "echo", str(number).encode()) for number in range(300)]
    assert [(await job)["text"] for job in jobs] == [str(number) for number in range(300)]


async def test_a_process_that_is_killed_while_it_starts_costs_nobody_anything(pool_of, run):
    pool = pool_of()
    jobs = [run(pool, "echo", str(number).encode()) for number in range(5)]
    for _ in range(2):
        while not pool._processes:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        (process,) = pool._processes
        os.kill(process.pid, signal.SIGKILL)
        await process.gone()
    assert [(await job)["text"] for job in jobs] == [str(number) for number in range(5)]


async def test_twenty_callers_that_leave_at_once_leave_a_pool_that_works(pool_of, hang, ended, run):
    pool = pool_of(processes=2, job_timeout=120)
    hanging = [await hang(pool), await hang(pool)]
    tasks = [task for task, _ in hanging] + [run(pool, "echo") for _ in range(18)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    _, pending = await asyncio.wait(tasks)
    assert not pending
    assert repr(pool).endswith(" 0 waiting]>")
    for _, pid in hanging:
        await ended(pid)
    texts = [run(pool, "echo", str(number).encode()) for number in range(20)]
    assert [(await text)["text"] for text in texts] == [str(number) for number in range(20)]


async def test_a_process_handed_over_to_a_caller_that_leaves_serves_the_next_one(pool_of, run):
    pool = pool_of()
    pid = (await run(pool, "echo"))["pid"]
    process = await pool._take()
    leaving = asyncio.ensure_future(pool._take())
    await asyncio.sleep(0)
    pool._hand_over(process)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert (await run(pool, "echo"))["pid"] == pid


async def test_a_job_takes_whichever_process_is_ready_first(pool_of, hang, run):
    pool = pool_of(processes=2)
    pid = (await run(pool, "echo"))["pid"]
    jobs = [run(pool, "echo") for _ in range(5)]
    pids = [(await job)["pid"] for job in jobs]
    assert pids.count(pid) > 1


async def test_processes_start_one_after_the_other_and_no_more_than_allowed(pool_of, hang, run):
    pool = pool_of(processes=2)
    waiting = [run(pool, "echo") for _ in range(6)]
    while not pool._processes:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0)
    assert len(pool._processes) == 1
    await asyncio.wait(waiting)
    one, other = await hang(pool), await hang(pool)
    assert len(pool._processes) == 2
    for task, _ in (one, other):
        task.cancel()


async def test_warming_starts_one_process_for_the_job_that_comes(pool_of, run):
    pool = pool_of(processes=2)
    for _ in range(3):
        pool.warm()
    await asyncio.wait([pool._starting])
    pool.warm()
    assert pool._starting is None
    (process,) = pool._processes
    assert (await run(pool, "echo"))["pid"] == process.pid
    pool.warm()
    assert pool._starting is None
    assert len(pool._processes) == 1


async def test_a_job_that_comes_while_a_process_is_warming_waits_for_it(pool_of, run):
    pool = pool_of(processes=2)
    pool.warm()
    assert (await run(pool, "echo", b"x"))["text"] == "x"
    assert len(pool._processes) == 1


async def test_warming_in_vain_harms_nobody(pool_of, run, monkeypatch):
    pool = pool_of()
    with monkeypatch.context() as context:
        context.setattr(sys, "executable", "")
        pool.warm()
        await asyncio.wait([pool._starting])
    assert (await run(pool, "echo", b"x"))["text"] == "x"
    await pool.aclose()
    pool.warm()
    assert pool._starting is None


async def test_a_pool_that_is_closed_while_it_warms_leaves_nothing(pool_of):
    pool = pool_of()
    pool.warm()
    await pool.aclose()
    assert not pool._processes
    assert not pool._starting


async def test_a_caller_that_leaves_takes_its_process_along(pool_of, hang, ended, run):
    pool = pool_of(job_timeout=120)
    task, pid = await hang(pool)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ended(pid)
    assert (await run(pool, "echo"))["pid"] != pid


async def test_a_caller_that_leaves_the_queue_leaves_the_others_alone(pool_of, hang, run):
    pool = pool_of()
    hanging, _ = await hang(pool)
    leaving, staying = run(pool, "echo"), run(pool, "echo", b"stays")
    await asyncio.sleep(0)
    leaving.cancel()
    hanging.cancel()
    assert (await staying)["text"] == "stays"


@pytest.mark.parametrize("steps", [0, 1, 3, 5])
async def test_a_start_whose_caller_leaves_serves_the_next_one(pool_of, run, steps):
    pool = pool_of()
    leaving = run(pool, "echo")
    for _ in range(steps):
        await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    assert (await run(pool, "echo", b"next"))["text"] == "next"
    assert sum(process.is_usable for process in pool._processes) == 1


async def test_a_process_whose_caller_leaves_before_it_is_ready_serves_the_next_one(pool_of, run):
    pool = pool_of()
    leaving = run(pool, "echo")
    while not pool._processes:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0)
    (process,) = pool._processes
    leaving.cancel()
    await asyncio.wait([leaving])
    assert (await run(pool, "echo"))["pid"] == process.pid


async def test_a_process_without_work_is_ended_after_a_time(pool_of, run, ended):
    pool = pool_of(idle=1)
    await ended((await run(pool, "echo"))["pid"])
    assert (await run(pool, "echo", b"again"))["text"] == "again"


async def test_a_process_is_replaced_after_some_jobs(pool_of, run):
    pool = pool_of(jobs_per_process=2)
    pids = [(await run(pool, "echo"))["pid"] for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


@pytest.mark.parametrize("is_gone", [True, False], ids=["killed", "ending"])
async def test_an_idle_process_that_is_gone_or_ending_is_replaced(pool_of, run, is_gone):
    pool = pool_of()
    pid = (await run(pool, "echo"))["pid"]
    (process,) = pool._processes
    process.end()
    if is_gone:
        await process.gone()
    assert (await run(pool, "echo"))["pid"] != pid


async def test_of_a_body_that_is_not_read_little_is_buffered(pool_of, run):
    pool = pool_of()
    pid = (await run(pool, "echo"))["pid"]
    (process,) = pool._processes
    assert process._transport is not None
    pipe = process._transport.get_pipe_transport(0)
    assert isinstance(pipe, asyncio.WriteTransport)
    os.kill(pid, signal.SIGSTOP)
    task = run(pool, "echo", b"x" * (8 << 20))
    for _ in range(50):
        await asyncio.sleep(0)
    assert 0 < pipe.get_write_buffer_size() <= 1 << 18
    os.kill(pid, signal.SIGCONT)
    assert len((await task)["text"]) == 8 << 20


async def test_a_process_that_is_killed_while_it_is_sent_a_body_is_replaced(pool_of, run):
    pool = pool_of()
    pid = (await run(pool, "echo"))["pid"]
    os.kill(pid, signal.SIGSTOP)
    task = run(pool, "echo", b"x" * (8 << 20))
    for _ in range(50):
        await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    assert len((await task)["text"]) == 8 << 20


@pytest.mark.parametrize(("by", "times"), [(signal.SIGKILL, 2), (signal.SIGTERM, 1)])
async def test_a_job_whose_process_is_killed_is_done_by_another(pool_of, run, tmp_path, by, times):
    deaths = tmp_path / "deaths"
    done = await run(pool_of(), "die", b"x", by=by, times=times, deaths=str(deaths))
    pids = [*map(int, deaths.read_text(encoding="ascii").split())]
    assert done["text"] == "x"
    assert pids[-1] == done["pid"]
    assert len(set(pids)) == times + 1


async def test_a_job_whose_processes_are_all_killed_may_be_tried_later(
    pool_of, run, tmp_path, caplog
):
    pool, deaths = pool_of(), tmp_path / "deaths"
    with pytest.raises(FetchError, match="killed each time") as caught:
        await run(pool, "die", by=signal.SIGKILL, times=99, deaths=str(deaths))
    assert caught.value.code is ErrorCode.INTERNAL
    assert not isinstance(caught.value, ContentError)
    assert len(deaths.read_text(encoding="ascii").split()) == 3
    assert "workers.killed code=-9 tries=3" in caplog.messages
    assert (await run(pool, "echo", b"next"))["text"] == "next"


async def test_of_many_jobs_none_is_lost_while_their_processes_are_killed(pool_of, run, tmp_path):
    pool, jobs = pool_of(processes=2), []
    for number in range(9):
        given = {"by": signal.SIGKILL, "times": number % 3, "deaths": str(tmp_path / str(number))}
        jobs.append(run(pool, "die", str(number).encode(), **given))
    assert [(await job)["text"] for job in jobs] == [*map(str, range(9))]


@pytest.mark.parametrize(("times", "is_read"), [(1, True), (2, False)])
async def test_a_document_that_crashes_its_reader_twice_is_not_read(
    pool_of, run, tmp_path, times, is_read
):
    deaths = tmp_path / "deaths"
    task = run(pool_of(), "die", b"x", by=signal.SIGSEGV, times=times, deaths=str(deaths))
    if is_read:
        assert (await task)["text"] == "x"
    else:
        with pytest.raises(DefeatError, match="crashed"):
            await task
    assert len(deaths.read_text(encoding="ascii").split()) == 2


async def test_a_document_that_needs_too_much_is_not_given_to_a_second_process(
    pool_of, run, tmp_path
):
    deaths = tmp_path / "deaths"
    with pytest.raises(DefeatError, match="more time"):
        await run(pool_of(), "die", by=signal.SIGXCPU, times=9, deaths=str(deaths))
    assert len(deaths.read_text(encoding="ascii").split()) == 1


@pytest.mark.parametrize(
    ("module", "python"),
    [("searx_mcp.no_such_module", sys.executable), ("this", sys.executable), (CHILD, "")],
    ids=["no module", "no worker", "no interpreter"],
)
async def test_what_is_no_worker_is_told_apart(pool_of, run, monkeypatch, module, python):
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(FetchError, match="no process could be started"):
        await run(pool_of(module=module), "echo")


async def test_a_process_has_limits_and_no_secrets(pool_of, run, monkeypatch, tmp_path):
    monkeypatch.setenv("SEARX_MCP_FETCH__GITHUB_TOKEN", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@localhost")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)  # noqa: FBT003 - positional only
        found = await run(pool_of(memory="256MB", job_timeout=7), "surroundings")
    assert "secret" not in str(found["environment"])
    assert found["memory"] == [256 << 20] * 2
    assert found["open_files"] == [64, 64]
    assert found["core"] == [0, 0]
    assert 7 < found["cpu"] < 60
    # Three standard streams, two pipes, and the folder that is listed.
    assert len(found["files"]) <= 6
    assert "" not in found["path"]


async def test_closing_ends_every_job_and_every_process(pool_of, hang, run):
    pool = pool_of(processes=2)
    tasks = [await hang(pool), await hang(pool)]
    waiting = run(pool, "echo")
    await asyncio.sleep(0)
    await pool.aclose()
    for task in [waiting, *(task for task, _ in tasks)]:
        with pytest.raises(FetchError, match="closing"):
            await task
    assert not any(is_there(pid) for _, pid in tasks)
    await pool.aclose()
    with pytest.raises(FetchError, match="closing"):
        await run(pool, "echo")


@pytest.mark.parametrize("steps", [0, 1, 3, 5])
async def test_closing_in_the_middle_of_a_start_leaves_nothing(pool_of, run, steps):
    pool = pool_of()
    task = run(pool, "echo")
    for _ in range(steps):
        await asyncio.sleep(0)
    await pool.aclose()
    with pytest.raises(FetchError):
        await task
    assert not pool._processes
    assert not pool._starting


def open_files() -> int:
    gc.collect()
    return len([*Path("/proc/self/fd").iterdir()])


def is_there(pid: int) -> bool:
    """Whether a process exists, if only as a zombie."""
    return Path(f"/proc/{pid}").exists()


def test_pools_come_and_go_with_their_loops():
    async def visit() -> None:
        pool = ChildWorkers(WorkersConfig(processes=1), module=MODULE)
        deadline = asyncio.get_running_loop().time() + 60
        try:
            assert (await pool.run("echo", b"Hello.", {}, deadline=deadline))["text"] == "Hello."
        finally:
            await pool.aclose()

    asyncio.run(visit())
    before = open_files()
    for _ in range(2):
        asyncio.run(visit())
    assert open_files() <= before


PARENT = f"""
import asyncio, sys
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.pool import ChildWorkers

async def main():
    pool = ChildWorkers(WorkersConfig(processes=1), module={MODULE!r})
    deadline = asyncio.get_running_loop().time() + 60
    print((await pool.run("echo", b"", {{}}, deadline=deadline))["pid"], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_process_ends_with_its_parent_however_that_ends(start_program, ended):
    parent = await start_program(sys.executable, "-c", PARENT)
    pid = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await ended(pid)


def test_the_usual_module_knows_the_usual_jobs():
    assert CHILD == "searx_mcp.workers.child"
