"""What a process does between its pipes."""

import io
import json
import subprocess
import sys
from contextlib import nullcontext

import pytest

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.workers.child import GREETING, serve
from searx_mcp.workers.failures import from_header
from searx_mcp.workers.jobs import encode_head, read_frame


def refuse(_body, _options):
    raise ContentError("no", code=ErrorCode.UNSUPPORTED_ENCODING, advice="Go away.")


def fail(_body, _options):
    raise ValueError("secret")


JOBS = {
    "upper": lambda body, options: {"text": body.decode().upper(), **options},
    "refuse": refuse,
    "fail": fail,
    "surrogate": lambda _body, _options: {"text": "\ud800"},
}


@pytest.fixture
def exchange():
    """Gives the answers to some requests."""

    def run(*requests):
        data = b"".join(encode_head(header, len(body)) + body for header, body in requests)
        answers = io.BytesIO()
        serve(io.BytesIO(data), answers, JOBS, watch=nullcontext)
        answers.seek(0)
        assert read_frame(answers) == (GREETING, b"")
        found = []
        while (frame := read_frame(answers)) is not None:
            found.append(frame)
        return found

    return run


def test_requests_are_answered_in_order(exchange):
    first, second = exchange(
        ({"job": "upper", "options": {"n": 1}}, b"a"), ({"job": "upper", "options": {}}, b"b")
    )
    assert (first.header, json.loads(first.body)) == ({}, {"text": "A", "n": 1})
    assert json.loads(second.body) == {"text": "B"}


@pytest.mark.parametrize(
    ("request_header", "code", "said"),
    [
        ({"job": "refuse"}, ErrorCode.UNSUPPORTED_ENCODING, "no"),
        ({"job": "fail"}, ErrorCode.EXTRACTION_FAILED, "failed"),
        ({"job": "surrogate"}, ErrorCode.EXTRACTION_FAILED, "failed"),
        ({"job": ["upper"]}, ErrorCode.EXTRACTION_FAILED, "failed"),
        ({}, ErrorCode.EXTRACTION_FAILED, "failed"),
    ],
)
def test_a_job_that_fails_is_answered_too(exchange, capsys, request_header, code, said):
    failed, after = exchange((request_header, b"x"), ({"job": "upper"}, b"x"))
    error = from_header(failed.header)
    assert error.code is code
    assert said in error.message
    assert "secret" not in error.message
    assert json.loads(after.body) == {"text": "X"}


def test_what_is_no_request_ends_it():
    answers = io.BytesIO()
    serve(io.BytesIO(b"GET / HTTP/1.1\r\n"), answers, JOBS, watch=nullcontext)
    answers.seek(0)
    assert read_frame(answers) == (GREETING, b"")
    assert answers.read() == b""


@pytest.mark.slow
async def test_a_process_whose_parent_does_nothing_ends_its_hanging_job_itself(start_program):
    module = "searx_mcp.testing.worker_jobs"
    process = await start_program(sys.executable, "-m", module, str(1 << 30), "0.1")
    process.stdin.write(encode_head({"job": "hang", "options": {}}, 0))
    assert await process.wait() == 1, "as faulthandler ends it"


@pytest.mark.slow
def test_a_process_ends_when_its_input_does():
    command = [sys.executable, "-m", "searx_mcp.workers.child", str(1 << 30), "5"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=True)
    assert read_frame(io.BytesIO(done.stdout)) == (GREETING, b"")
