"""What is said of a job that went wrong."""

import json
import signal

import pytest

from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.render.errors import fetch_error_text
from searx_mcp.workers.failures import (
    OUT_OF_MEMORY,
    DefeatError,
    as_header,
    broken,
    closed,
    ended,
    from_header,
    is_over_limit,
    needs_process,
    no_start,
    short_of_memory,
    too_large,
    too_slow,
    unexpected,
    was_killed,
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (OUT_OF_MEMORY, "more memory"),
        (-signal.SIGSEGV, "crashed"),
        (0, "crashed"),
        (1, "crashed"),
        (None, "crashed"),
        pytest.param(
            -getattr(signal, "SIGXCPU", 0),
            "more time",
            marks=pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="POSIX only"),
        ),
    ],
)
def test_the_exit_code_tells_why_a_process_ended(code, said):
    error = ended(code)
    assert error.code is ErrorCode.EXTRACTION_FAILED
    assert said in error.message
    assert not was_killed(code)
    assert is_over_limit(code) == ("more" in said)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
def test_a_process_that_something_else_ended_is_our_failure(name):
    if not hasattr(signal, name):
        pytest.skip("POSIX only")
    code = -getattr(signal, name)
    assert was_killed(code)
    assert not is_over_limit(code)
    assert ended(code).code is ErrorCode.INTERNAL


@pytest.mark.parametrize("error", [no_start(), ended(-9), closed()], ids=lambda each: each.message)
def test_of_our_failures_a_model_hears_that_a_retry_may_work(error):
    said = fetch_error_text(error)
    assert "One retry may work in 5 seconds." in said
    assert "Do not repeat" not in said


@pytest.mark.parametrize("kind", [ContentError, SkeletonError, DefeatError])
def test_an_error_survives_its_way(kind):
    error = kind(
        "no", code=ErrorCode.UNSUPPORTED_ENCODING, advice="Go away.", url="https://a.example/?b=ü"
    )
    found = from_header(json.loads(json.dumps(as_header(error))))
    assert type(found) is kind
    assert (found.message, found.code, found.advice) == ("no", error.code, "Go away.")
    assert found.url == error.url


def test_only_a_body_that_was_too_much_is_a_defeat():
    defeats = [unexpected(), short_of_memory(), too_slow(1), ended(None), broken()]
    others = [too_large(), no_start(), closed(), needs_process(), ended(-9)]
    assert all(isinstance(error, DefeatError) for error in defeats)
    assert not any(isinstance(error, DefeatError) for error in others)


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ({"failed": "blocked_address", "message": "x"}, ErrorCode.EXTRACTION_FAILED),
        ({"failed": "content_too_large", "message": "x"}, ErrorCode.CONTENT_TOO_LARGE),
        ({"failed": None}, ErrorCode.EXTRACTION_FAILED),
        ({"failed": ["content_too_large"], "message": 5}, ErrorCode.EXTRACTION_FAILED),
        ({"failed": "x", "kind": "KeyboardInterrupt", "url": {}}, ErrorCode.EXTRACTION_FAILED),
        ({"failed": "x", "kind": ["SkeletonError"]}, ErrorCode.EXTRACTION_FAILED),
    ],
)
def test_an_error_from_outside_has_only_the_codes_of_bodies(header, code):
    error = from_header(header)
    assert type(error) is ContentError
    assert error.code is code
    assert error.message


def test_an_error_from_outside_is_one_clean_line():
    error = from_header(
        {"failed": "x", "message": "a\n\x1b[31mb" + "c" * 999, "advice": "d\ne", "url": "f\ng"}
    )
    assert error.message.startswith("a bc")
    assert len(error.message) <= 300
    assert error.advice == "d e"
    assert error.url == "f g"
