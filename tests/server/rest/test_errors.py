"""Errors of REST: statuses, bodies, headers."""

import logging

import pytest

from searx_mcp.errors import (
    PAGE_ERRORS,
    ContentError,
    CursorError,
    DeadlineError,
    ErrorCode,
    NoInstancesError,
    PolicyError,
    SearxMcpError,
    SettingsError,
    SiteError,
    TransportError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.server.rest.operation import STATUSES

SEARCH, FETCH = "/v1/search", "/v1/fetch"
ATTEMPT = Attempt(instance="https://i.example/", verdict=Verdict.TIMEOUT, format=Format.JSON)


def late() -> SearxMcpError:
    error = DeadlineError("The call was not completed", attempts=(ATTEMPT,))
    error.ran_out(30, 30)
    return error


@pytest.mark.parametrize(
    ("failure", "status", "told"),
    [
        (
            NoInstancesError(
                "None of 1 instances answered",
                reason=UnavailableReason.EXHAUSTED,
                attempts=(ATTEMPT,),
                retry_after=6.2,
            ),
            503,
            {"code": "no_instances_available", "reason": "exhausted", "retry_after": 7},
        ),
        (late(), 504, {"code": "deadline_exceeded", "time_limit": 30.0}),
        (SettingsError("proxy.url", "is wrong"), 500, {"code": "invalid_argument"}),
        (
            SearxMcpError("Busy", code=ErrorCode.RATE_LIMITED, retry_after=3),
            429,
            {"retry_after": 3},
        ),
        (ZeroDivisionError("secret"), 500, {"code": "internal"}),
        (
            SiteError("Gone", code=ErrorCode.NOT_FOUND, url="https://a.example/", status_code=404),
            424,
            {"code": "not_found", "status_code": 404, "url": "https://a.example/"},
        ),
        (
            SiteError("Slow down", code=ErrorCode.RATE_LIMITED, status_code=429, retry_after=60),
            424,
            {"code": "rate_limited", "status_code": 429, "retry_after": 60},
        ),
        (TransportError("Too slow", code=ErrorCode.TIMEOUT), 424, {"code": "timeout"}),
        (ContentError("Too big", code=ErrorCode.CONTENT_TOO_LARGE), 424, {}),
        (PolicyError("Private", code=ErrorCode.BLOCKED_ADDRESS), 422, {"code": "blocked_address"}),
        (
            PolicyError("No", code=ErrorCode.ROBOTS_DISALLOWED, quoted="Disallow: /"),
            422,
            {"code": "robots_disallowed", "quoted": "Disallow: /"},
        ),
        (CursorError("Expired", code=ErrorCode.CURSOR_EXPIRED), 422, {"code": "cursor_expired"}),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, Exception) else "",
)
async def test_each_failure_has_a_status_and_a_body_that_says_all(
    rest, service, failure, status, told
):
    service.failure = failure
    path, body = FETCH, {"url": "https://a.example/"}
    answer = await rest.post(path, json=body)
    error = answer.json()["error"]
    assert answer.status_code == status
    assert {name: error[name] for name in told} == told
    assert error["message"]
    assert error["advice"]
    assert answer.headers.get("retry-after") == (
        str(error["retry_after"]) if "retry_after" in error else None
    )
    assert "secret" not in answer.text
    if getattr(failure, "attempts", ()):
        assert error["attempts"][0]["instance"] == "https://i.example/"


def test_every_code_has_a_status_and_none_says_that_the_route_is_not_there():
    assert STATUSES.keys() == set(ErrorCode)
    assert {404, 408, 413, 415}.isdisjoint(STATUSES.values())


def test_only_what_a_page_fails_with_is_told_as_the_failure_of_a_page():
    told = {code for code, status in STATUSES.items() if status == 424}
    ours = PolicyError.codes | CursorError.codes | {ErrorCode.RATE_LIMITED}
    assert told == PAGE_ERRORS.keys() - ours


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"bees"', b'{"query": NaN}', b"[" * 5_000, b"\xff"]
)
async def test_a_body_that_is_no_object_is_a_bad_request(rest, service, body):
    answer = await rest.post(SEARCH, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_argument"
    assert not service.asked


@pytest.mark.parametrize(
    ("method", "path", "status", "told"),
    [
        ("GET", SEARCH, 405, "POST"),
        ("PUT", SEARCH, 405, "POST"),
        ("DELETE", "/search", 405, "GET, HEAD, POST"),
        ("POST", "/r/https://a.example/bees", 405, "GET, HEAD"),
        ("GET", "/v1/nothing", 404, "/v1"),
        ("GET", "/v1/search/", 404, "/v1"),
    ],
)
async def test_a_wrong_route_or_method_is_told_in_the_same_form(rest, method, path, status, told):
    answer = await rest.request(method, path)
    assert answer.status_code == status
    assert told in answer.json()["error"]["message"]
    assert answer.headers.get("allow") == (told if status == 405 else None)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (SEARCH, {"results_count": 0, "page": 99, "sizes": 1}),
        (FETCH, {"limit": 0, "timeout": 0, "sizes": 1}),
        ("/v1/tools/web_search", {"max_results": 99, "recency": "soon"}),
    ],
)
async def test_all_wrong_arguments_are_told_at_once(rest, path, wrong):
    named = {"url": "https://a.example/"} if path == FETCH else {"query": "x"}
    answer = await rest.post(path, json=named | wrong)
    assert answer.status_code == 422
    message = answer.json()["error"]["message"]
    assert all(f"{name}: " in message for name in wrong)


async def test_advice_is_left_out_where_the_message_says_what_to_do(rest):
    wrong = await rest.post(SEARCH, json={"query": "bees", "max_results": "x"})
    refused = await rest.post(SEARCH, content=b"q", headers={"Content-Type": "text/plain"})
    for answer in (wrong, refused):
        assert answer.json()["error"]["message"]
        assert "advice" not in answer.json()["error"]


@pytest.mark.slow
async def test_a_request_is_found_in_the_log_by_the_id_of_its_answer(open_rest, caplog):
    async with open_rest() as rest:
        caplog.set_level(logging.INFO, "searx_mcp.server")
        named = await rest.post(SEARCH, json={"query": "q"}, headers={"X-Request-Id": "my-id.1"})
        made = await rest.post(SEARCH, json={"query": "q"}, headers={"X-Request-Id": "a b"})
    assert named.headers["x-request-id"] == "my-id.1"
    assert made.headers["x-request-id"] not in {"", "a b"}
    lines = [record.getMessage() for record in caplog.records]
    assert not [line for line in lines if "server.request" in line]
    answered = [line for line in lines if "server.response" in line and "my-id.1" in line]
    assert "caller=None code=ok status=200" in answered[0]
    assert any(made.headers["x-request-id"] in line for line in lines)


async def test_a_refusal_of_the_guard_has_a_request_id_too(rest):
    answer = await rest.post(SEARCH, content=b"q", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert answer.headers["x-request-id"]
