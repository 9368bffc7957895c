"""Answers: read here while they are short, then in jobs, and in a thread if there can be none."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from searx_mcp.http.body import Response
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import MAX_ON_LOOP, MAX_PARTS, Reader, Result, Workers
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers


def _thread(response: Response, asked: str) -> str:
    return f"{asked}, {len(response.body)} bytes, in {threading.current_thread().name}"


READER = Reader("echo", _thread, takes=str, gives=str)


async def _read(
    workers: Workers | None,
    length: int,
    reader: Reader[str, str] = READER,
    *,
    of: bytes = b"x",
) -> str:
    deadline = asyncio.get_running_loop().time() + 30
    return await reader.read_safely(
        Response(200, body=of * length), "here", workers=workers, deadline=deadline
    )


async def test_a_short_answer_is_read_at_once() -> None:
    here = threading.current_thread().name

    assert await _read(None, MAX_ON_LOOP) == f"here, {MAX_ON_LOOP} bytes, in {here}"


async def test_a_long_answer_is_never_read_on_the_event_loop() -> None:
    here = threading.current_thread().name

    assert not (await _read(None, MAX_ON_LOOP + 1)).endswith(here)


@pytest.mark.parametrize("part", [b"<p>", b"[]", b"{}", b"0,"])
async def test_an_answer_of_too_many_parts_is_given_to_no_parser(part: bytes) -> None:
    assert await _read(None, MAX_PARTS, of=part)
    with pytest.raises(DefeatError, match="too many parts"):
        await _read(None, MAX_PARTS + 1, of=part)


def _giving(result: Result) -> Workers:
    """Workers whose job gives this, whatever the body."""
    return ThreadWorkers(WorkersConfig(), jobs={READER.name: lambda _body, _options: result})


async def test_what_a_job_made_is_the_answer() -> None:
    made = READER.job(b"x", READER.options(Response(200), "a job"))

    assert await _read(_giving(made), MAX_ON_LOOP + 1) == made["answer"]


@pytest.mark.parametrize("result", [{}, {"answer": 3}, {"answer": {"a": "b"}}, {"other": "x"}])
async def test_a_job_that_makes_something_else_is_defeated(result: Result) -> None:
    with pytest.raises(DefeatError, match="no valid answer"):
        await _read(_giving(result), MAX_ON_LOOP + 1)


@pytest.mark.slow
async def test_a_job_runs_in_another_process(pool_of: Callable[..., ChildWorkers]) -> None:
    with pytest.raises(DefeatError):
        await _read(pool_of(), MAX_ON_LOOP + 1, Reader("fail", _thread, takes=str, gives=str))


@pytest.mark.slow
async def test_a_thread_does_where_no_process_can_be_started(
    pool_of: Callable[..., ChildWorkers],
) -> None:
    assert (await _read(pool_of(module="searx_mcp.nothing"), MAX_ON_LOOP + 1)).startswith("here")
