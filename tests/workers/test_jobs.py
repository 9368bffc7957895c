"""Answers: read here while they are short, then in jobs, and in a thread if there can be none.

Frames: what comes in pieces is put together, what is too long is refused unread.
"""

import asyncio
import io
import json
import struct
import threading
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.http.body import Response
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import (
    MAX_BODY,
    MAX_HEADER,
    MAX_ON_LOOP,
    MAX_PARTS,
    Frame,
    FrameError,
    FrameReader,
    Reader,
    Result,
    Workers,
    decode_header,
    decode_result,
    encode_head,
    read_frame,
)
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


def test_what_a_job_takes_and_gives_goes_through_json() -> None:
    day = date(2026, 2, 28)
    job = Reader[date, set[date]]("day", lambda _, asked: {asked}, takes=date, gives=set[date])
    options = json.loads(json.dumps(job.options(Response(200), day)))

    assert job.made(json.loads(json.dumps(job.job(b"x", options)))) == {day}


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


def framed(header, body=b""):
    return encode_head(header, len(body)) + body


JSON = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20))


@given(st.lists(st.tuples(JSON, st.binary(max_size=50)), max_size=4), st.integers(1, 40))
def test_frames_survive_any_cutting(frames, size):
    data = b"".join(framed(header, body) for header, body in frames)
    reader = FrameReader()
    found = [
        frame
        for start in range(0, len(data), size)
        for frame in reader.feed(data[start : start + size])
    ]
    stream = io.BytesIO(data)
    assert found == [read_frame(stream) for _ in frames] == [Frame(*frame) for frame in frames]
    assert read_frame(stream) is None


@pytest.mark.parametrize("kept", [0, 3, 8, 10, 14, 18])
def test_the_end_inside_a_frame_is_the_end(kept):
    data = framed({"a": 1}, b"body")
    assert read_frame(io.BytesIO(data[:kept])) is None
    assert [*FrameReader().feed(data[:kept])] == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(struct.pack(">II", MAX_HEADER + 1, 0), id="a header too long"),
        pytest.param(struct.pack(">II", 2, MAX_BODY + 1), id="a body too long"),
        pytest.param(b"HTTP/1.1 200 OK\r\n", id="something else"),
        pytest.param(struct.pack(">II", 2, 0) + b"[]", id="a list"),
        pytest.param(struct.pack(">II", 3, 0) + b"{]}", id="no JSON"),
        pytest.param(struct.pack(">II", 2, 0) + b"\xff\xfe", id="no text"),
        pytest.param(struct.pack(">II", 200_000, 0) + b"[" * 200_000, id="nested without end"),
    ],
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))
    with pytest.raises(FrameError):
        _ = [*FrameReader().feed(data)]


@pytest.mark.parametrize(
    ("header", "length"),
    [({"long": "x" * MAX_HEADER}, 0), ({}, MAX_BODY + 1), ({"what": object()}, 0)],
)
def test_what_does_not_fit_is_not_sent(header, length):
    with pytest.raises(FrameError):
        encode_head(header, length)


def test_a_cycle_is_not_sent():
    header: dict[str, object] = {}
    header["self"] = header
    with pytest.raises(FrameError):
        encode_head(header, 0)


def test_lone_surrogates_survive_in_a_header():
    header = {"options": {"text": "\ud800"}}
    assert decode_header(encode_head(header, 0)[8:]) == header
    assert json.dumps(header).isascii()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"text": "\\ud800"}', id="a lone surrogate"),
        pytest.param(b'{"n": NaN}', id="no number"),
        pytest.param(b"[1]", id="a list"),
        pytest.param(b"[" * 200_000, id="nested without end"),
        pytest.param(b"\xff", id="no text"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_result_that_nothing_could_encode_is_none(text):
    with pytest.raises(FrameError):
        decode_result(text)


def test_a_result_keeps_every_character():
    result = {"text": "Straße 名前 \U0001f600 \\ud800 \t\n"}
    assert decode_result(json.dumps(result).encode()) == result
    assert decode_result(json.dumps(result, ensure_ascii=False).encode()) == result


def test_a_reader_takes_no_more_than_it_is_told():
    assert [*FrameReader(4).feed(framed({}, b"four"))] == [Frame({}, b"four")]
    with pytest.raises(FrameError):
        _ = [*FrameReader(3).feed(framed({}, b"four"))]
