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
    assert sent.items() <= asked.parameters.items()


def test_beyond_its_tenth_page_and_for_one_endless_word_it_is_not_asked(ask):
    assert brave.ask(ask(page=10)) is not None
    assert brave.ask(ask(page=11)) is None
    assert brave.ask(ask("a" * 401)) is None


@pytest.mark.parametrize("language", ["all", "auto", "xx"])
def test_a_language_it_does_not_know_is_not_sent(ask, language):
    asked = brave.ask(ask(language=language))
    assert asked is not None
    assert "search_lang" not in asked.parameters


def test_an_answer_is_read(ask, answer):
    parsed = brave.parse(answer("brave.json"), ask())
    first, second = parsed.hits
    assert (first.url, first.title) == ("https://pandas.example/red", "Red panda & others")
    assert first.description == "The red panda lives in the eastern Himalayas."
    assert (first.published_at, first.author) == ("2026-10-30T16:53:16", "Pandas")
    assert (first.engines, first.thumbnail) == (("brave",), "https://imgs.example/t.jpg")
    assert (second.title, second.published_at) == ("Firefox", None)
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_an_answer_without_web_has_found_nothing(ask):
    parsed = brave.parse(b'{"type": "search", "query": {"original": "x"}}', ask())
    assert (parsed.hits, parsed.has_next) == ((), False)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"web": {}}', b"[" * 100_000])
def test_what_is_no_answer_is_a_value_error(ask, body):
    with pytest.raises(ValueError, match=r"."):
        brave.parse(body, ask())


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


def test_only_a_failure_of_theirs_is_tried_once_more():
    refusal = brave.read_refusal(500, {}, b"oops")
    assert refusal is not None
    assert (refusal.verdict, refusal.again) == (Verdict.SERVER_ERROR, True)
    assert brave.read_refusal(404, {}, b"oops") is None


def test_the_key_stands_in_a_header_and_nowhere_else(ask):
    assert brave.configured(ProvidersConfig()) is None
    row = brave.configured(ProvidersConfig(brave=BraveConfig(key=SecretStr(KEY), per_month=7)))
    assert row is not None
    asked = row.ask(ask())
    assert asked is not None
    assert (row.key_headers, row.per_month) == ({"X-Subscription-Token": KEY}, 7)
    assert KEY not in f"{row.url(asked)} {row!r}"
