"""Engines that fail, by what `/stats/errors` tells of them."""

import json

import pytest

from searx_mcp.pool.engine_care import Trouble
from searx_mcp.sources.searxng.engine_errors import FailingEngine, failing_engines


def errors(name: str | None, message: str | None, percentage: object = 100, **more: object) -> str:
    error = {"exception_classname": name, "log_message": message, "percentage": percentage} | more
    return json.dumps({"bing": [error]})


@pytest.mark.parametrize(
    ("text", "reason", "trouble"),
    [
        (errors("searx.exceptions.SearxEngineCaptchaException", None), "CAPTCHA", Trouble.REFUSES),
        (
            errors("searx.exceptions.SearxEngineTooManyRequestsException", ""),
            "too many requests",
            Trouble.REFUSES,
        ),
        (
            errors("searx.exceptions.SearxEngineAccessDeniedException", "HTTP 403"),
            "access denied",
            Trouble.REFUSES,
        ),
        (errors("httpx.ConnectTimeout", None), "timeout", Trouble.SLOW),
        (errors(None, "engine timed out"), "timeout", Trouble.SLOW),
        (errors("httpx.ConnectError", None), "no connection", Trouble.UNREACHED),
        (errors("httpx.ProxyError", None), "no connection", Trouble.UNREACHED),
        (errors(None, "HTTP connection error"), "no connection", Trouble.UNREACHED),
        (errors(None, "network error"), "no connection", Trouble.UNREACHED),
        (errors("lxml.etree.ParserError", None), "ParserError", Trouble.OTHER),
        (errors("builtins.KeyError", "no\x1b[31m key"), "no key", Trouble.OTHER),
        (errors(None, None), "unknown", Trouble.OTHER),
    ],
    ids=str,
)
def test_an_engine_fails_for_a_reason(text, reason, trouble):
    assert failing_engines(text) == (FailingEngine("bing", reason, trouble),)


def test_the_worst_error_counts():
    few = {"exception_classname": "x.Captcha", "log_message": "", "percentage": 50}
    most = {"exception_classname": "x.Timeout", "log_message": "", "percentage": 60}
    found = failing_engines(json.dumps({"b": [few, most], "a": [few]}))
    assert found is not None
    assert [(each.name, each.reason) for each in found] == [("a", "CAPTCHA"), ("b", "timeout")]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        errors("x.Timeout", "", 45),
        errors("x.Timeout", "", secondary=True),
        errors("x.Timeout", "", "much"),
        '{"bing": {}}',
        '{"bing": [1]}',
    ],
    ids=["none", "seldom", "of a row", "no number", "no list", "no error"],
)
def test_an_engine_that_mostly_works_does_not_fail(text):
    assert failing_engines(text) == ()


@pytest.mark.parametrize("text", ["[]", "<html>", "[" * 100_000], ids=["list", "page", "deep"])
def test_another_document_tells_nothing(text):
    assert failing_engines(text) is None
