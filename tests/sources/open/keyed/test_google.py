"""What Google Programmable Search is asked, and its answers as documented."""

import json

import pytest
from pydantic import SecretStr

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.config import GoogleConfig, ProvidersConfig
from searx_mcp.sources.open.engine import RefusedError
from searx_mcp.sources.open.keyed import google

KEY = "AIzaSyA-hunter2"
CX = "017576662512468239146:omuauf_lfve"


def providers(**google_table) -> ProvidersConfig:
    table = {"key": SecretStr(KEY), "search_engine_id": CX, **google_table}
    return ProvidersConfig(google=GoogleConfig.model_validate(table))


def error(code: int, reason: str, *, message: str = "No.", **more) -> bytes:
    """An error of Google's APIs, as their front end writes it."""
    listed = [{"message": message, "domain": "global", "reason": reason}]
    return json.dumps(
        {"error": {"code": code, "message": message, "errors": listed, **more}}
    ).encode()


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({}, {"q": "red panda", "num": "10", "start": "1", "safe": "active", "lr": "lang_en", "hl": "en"}),
        ({"page": 3}, {"start": "21"}),
        ({"page": 10}, {"start": "91"}),
        *(({"language": unknown}, {"lr": None, "hl": None, "gl": None}) for unknown in ("all", "auto", "th")),
        ({"safe_search": 0}, {"safe": "off"}),
        ({"safe_search": 2}, {"safe": "active"}),
        ({"language": "de-AT"}, {"lr": "lang_de", "hl": "de", "gl": "at"}),
        ({"language": "zh"}, {"lr": "lang_zh-CN"}),
        ({"language": "zh-TW"}, {"lr": "lang_zh-TW", "gl": "tw"}),
        ({"language": "he"}, {"lr": "lang_iw"}),
        ({"time_range": TimeRange.WEEK}, {"dateRestrict": "w1"}),
    ],
)  # fmt: skip
def test_the_parameters_are_those_that_are_documented(ask, fields, sent):
    asked = google.ask(ask(**fields))
    assert asked is not None
    assert {name: asked.parameters.get(name) for name in sent} == sent


@pytest.mark.parametrize(
    ("status", "body", "verdict", "said", "pause"),
    [
        pytest.param(
            400, error(400, "badRequest", details=[{"reason": "API_KEY_INVALID"}]),
            Verdict.REFUSED, "It rejected your key (HTTP 400, API_KEY_INVALID).", 3_600, id="wrong key",
        ),
        pytest.param(
            400, error(400, "badRequest", message="Request contains an invalid argument."),
            Verdict.REFUSED, "It refused the request (HTTP 400, badRequest).", None, id="wrong argument",
        ),
        pytest.param(
            403, error(403, "forbidden", details=[{"reason": "SERVICE_DISABLED"}]),
            Verdict.REFUSED, "It rejected your key (HTTP 403, SERVICE_DISABLED).", 3_600, id="API off",
        ),
        pytest.param(
            403, error(403, "dailyLimitExceeded"),
            Verdict.RATE_LIMITED, "Your quota is spent (HTTP 403, dailyLimitExceeded).", 3_600, id="old day limit",
        ),
        pytest.param(
            429,
            error(
                429, "rateLimitExceeded",
                message="Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service"
                " 'customsearch.googleapis.com' for consumer 'project_number:4711'.",
            ),
            Verdict.RATE_LIMITED, "Your quota is spent (HTTP 429, rateLimitExceeded).", 3_600, id="day",
        ),
        pytest.param(
            429, error(429, "rateLimitExceeded", message="limit 'Queries per minute per user'"),
            Verdict.RATE_LIMITED, "Your quota is spent (HTTP 429, rateLimitExceeded).", None, id="minute",
        ),
        pytest.param(
            404, error(404, "notFound"), Verdict.REFUSED,
            "It does not know your search engine (HTTP 404, notFound): see providers.google.search_engine_id.",
            3_600, id="unknown engine",
        ),
        pytest.param(403, error(403, "<b>4711"), Verdict.REFUSED, "It rejected your key (HTTP 403).", 3_600, id="hostile reason"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_by_its_reason_and_never_by_its_text(status, body, verdict, said, pause):
    refusal = google.read_refusal(status, {}, body)
    assert isinstance(refusal, RefusedError)
    assert (refusal.verdict, refusal.detail, refusal.pause) == (verdict, said, pause)
    assert not refusal.again


@pytest.mark.parametrize("missing", ["key", "search_engine_id"])
def test_without_a_key_or_a_search_engine_there_is_nobody_to_ask(missing):
    assert google.configured(providers(**{missing: ""})) is None


def test_the_key_stands_in_a_header_and_nowhere_else(ask):
    row = google.configured(providers())
    assert row is not None
    asked = row.ask(ask())
    assert asked is not None
    assert row.key_headers == {"X-Goog-Api-Key": KEY}
    assert KEY not in f"{row.url(asked)} {row!r}"
    assert "cx=017576662512468239146%3Aomuauf_lfve" in row.url(asked)


@pytest.mark.parametrize(
    ("least", "asked", "sent"),
    [("off", 0, "off"), ("off", 1, "active"), ("moderate", 0, "active"), ("strict", 0, "active")],
)
def test_the_setting_is_the_least_filter(ask, least, asked, sent):
    row = google.configured(providers(safe_search=least))
    assert row is not None
    request = row.ask(ask(safe_search=asked))
    assert request is not None
    assert request.parameters["safe"] == sent
