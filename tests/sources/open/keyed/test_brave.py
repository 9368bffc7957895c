"""What Brave's Search API is asked, and its answers as documented."""

import json

import pytest
from pydantic import SecretStr

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.config import BraveConfig, ProvidersConfig
from searx_mcp.sources.open.keyed import brave

KEY = "BSA-hunter2"


def error(status: int, code: str) -> bytes:
    told = {"id": "ade84851", "status": status, "code": code, "detail": "No.", "meta": {}}
    return json.dumps({"type": "ErrorResponse", "error": told, "time": 1_754_364_294}).encode()


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        (
            {},
            {"q": "red panda", "count": "20", "offset": "0", "safesearch": "moderate", "search_lang": "en",
             "country": "ALL", "result_filter": "web"},
        ),
        ({"page": 2}, {"offset": "1"}),
        ({"page": 10}, {"offset": "9"}),
        *(({"language": unknown}, {"search_lang": None}) for unknown in ("all", "auto", "xx")),
        ({"safe_search": 0}, {"safesearch": "off"}),
        ({"safe_search": 2}, {"safesearch": "strict"}),
        ({"language": "de-AT"}, {"search_lang": "de", "country": "AT"}),
        ({"language": "en-GB"}, {"search_lang": "en-gb", "country": "GB"}),
        ({"language": "ja"}, {"search_lang": "jp"}),
        ({"language": "pt"}, {"search_lang": "pt-pt"}),
        ({"language": "zh-TW"}, {"search_lang": "zh-hant", "country": "TW"}),
        ({"language": "de-LI"}, {"search_lang": "de", "country": "ALL"}),
        ({"time_range": TimeRange.MONTH}, {"freshness": "pm"}),
        ({"text": "word " * 60}, {"q": " ".join(["word"] * 50)}),
        ({"text": f"{'a' * 300} {'b' * 200}"}, {"q": "a" * 300}),
    ],
)  # fmt: skip
def test_the_parameters_are_those_that_are_documented(ask, fields, sent):
    asked = brave.ask(ask(**fields))
    assert asked is not None
    assert {name: asked.parameters.get(name) for name in sent} == sent


@pytest.mark.parametrize(
    ("status", "headers", "body", "verdict", "said", "pause"),
    [
        pytest.param(
            422, {}, error(422, "SUBSCRIPTION_TOKEN_INVALID"),
            Verdict.REFUSED, "It rejected your key (HTTP 422, SUBSCRIPTION_TOKEN_INVALID).", 3_600, id="wrong key",
        ),
        pytest.param(422, {}, error(422, "VALIDATION"), Verdict.REFUSED, "It refused the request (HTTP 422, VALIDATION).", None, id="ours"),
        pytest.param(401, {}, error(401, ""), Verdict.REFUSED, "It rejected your key (HTTP 401).", 3_600, id="401"),
        pytest.param(
            429, {"X-RateLimit-Remaining": "0, 1985", "X-RateLimit-Reset": "1, 1419704"}, error(429, "RATE_LIMITED"),
            Verdict.RATE_LIMITED, "Your plan allows no more requests now (HTTP 429, RATE_LIMITED).", 1, id="second",
        ),
        pytest.param(
            429, {"X-RateLimit-Remaining": "0, 0", "X-RateLimit-Reset": "1, 1419704"}, error(429, "QUOTA_LIMITED"),
            Verdict.RATE_LIMITED, "Your plan allows no more requests now (HTTP 429, QUOTA_LIMITED).", 86_400, id="month",
        ),
        pytest.param(429, {"Retry-After": "9"}, error(429, "RATE_LIMITED"), Verdict.RATE_LIMITED, "Your plan allows no more requests now (HTTP 429, RATE_LIMITED).", 9, id="retry after"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_by_its_code(status, headers, body, verdict, said, pause):
    refusal = brave.read_refusal(status, headers, body)
    assert refusal is not None
    assert (refusal.verdict, refusal.detail, refusal.pause) == (verdict, said, pause)
    assert not refusal.again


def test_the_key_stands_in_a_header_and_nowhere_else(ask):
    assert brave.configured(ProvidersConfig()) is None
    row = brave.configured(ProvidersConfig(brave=BraveConfig(key=SecretStr(KEY), per_month=7)))
    assert row is not None
    asked = row.ask(ask())
    assert asked is not None
    assert (row.key_headers, row.per_month) == ({"X-Subscription-Token": KEY}, 7)
    assert KEY not in f"{row.url(asked)} {row!r}"
