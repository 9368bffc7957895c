"""Stack Exchange's search, and its answers."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.engine import RefusedError
from searx_mcp.sources.open.engines import stackexchange

THROTTLED = b"""{
  "error_id": 502, "error_name": "throttle_violation",
  "error_message": "too many requests from this IP, more requests available in 17524 seconds"
}"""
BACKOFF = b"""{
  "error_id": 502, "error_name": "throttle_violation",
  "error_message": "Violation of backoff parameter"
}"""
BAD = b'{"error_id": 400, "error_name": "bad_parameter", "error_message": "site"}'
KEY = b"""{
  "error_id": 400, "error_name": "bad_parameter",
  "error_message": "`key` doesn't match a known application"
}"""
AWAY = b'{"error_id": 503, "error_name": "temporarily_unavailable", "error_message": "later"}'
ERRORS = [
    pytest.param(THROTTLED, Verdict.RATE_LIMITED, 17524.0, False, id="quota"),
    pytest.param(BACKOFF, Verdict.RATE_LIMITED, None, False, id="backoff"),
    pytest.param(BAD, Verdict.REFUSED, None, True, id="parameter"),
    pytest.param(KEY, Verdict.REFUSED, 3_600.0, False, id="a key that it does not know"),
    pytest.param(AWAY, Verdict.SERVER_ERROR, None, False, id="down"),
]


def test_an_age_counts_from_the_days_of_the_asker(ask, engine):
    east = datetime(2026, 11, 22, 12, tzinfo=timezone(timedelta(hours=9)))
    asked = engine("stackexchange").ask(ask(time_range=TimeRange.DAY, now=east))
    assert asked.parameters["fromdate"] == str(1795219200 - 9 * 3600)


def test_every_site_has_its_host():
    assert stackexchange.HOSTS["stackoverflow"] == "stackoverflow.com"
    assert stackexchange.HOSTS["math"] == "math.stackexchange.com"
    assert stackexchange.HOSTS["ru.stackoverflow"] == "ru.stackoverflow.com"


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        pytest.param({"aim": "unix"}, "unix.stackexchange.com", id="site"),
        pytest.param({"language": "ja"}, "ja.stackoverflow.com", id="language"),
    ],
)
def test_rows_lead_to_the_site_that_was_asked(read, answer, fields, host):
    parsed = read("stackexchange", answer("stackexchange-backoff.json"), **fields)
    assert parsed.hits[0].url == f"https://{host}/q/9000003"
    assert parsed.hits[0].attribution.endswith(f"on {host}, CC BY-SA")


@pytest.mark.parametrize(
    ("members", "now", "pause"),
    [
        pytest.param({}, datetime(2026, 11, 22, 18, tzinfo=UTC), 21_600.0, id="quota"),
        pytest.param(
            {}, datetime(2026, 11, 22, 18, tzinfo=timezone(timedelta(hours=6))), 43_200.0, id="zone"
        ),
        pytest.param(
            {"backoff": 30}, datetime(2026, 11, 22, 23, 59, 50, tzinfo=UTC), 30.0, id="backoff"
        ),
    ],
)
def test_a_used_up_quota_is_a_pause_to_the_end_of_the_day(read, members, now, pause):
    assert (
        read("stackexchange", {"items": [], "quota_remaining": 0, **members}, now=now).pause
        == pause
    )


@pytest.mark.parametrize(("body", "verdict", "pause", "ours"), ERRORS)
def test_an_error_is_refused_with_its_reason(ask, engine, body, verdict, pause, ours):
    row = engine("stackexchange")
    with pytest.raises(RefusedError) as raised:
        row.parse(body, ask())
    assert (raised.value.verdict, raised.value.pause) == (verdict, pause)
    assert raised.value.ours is ours
    read = row.read_refusal(400, {}, body)
    assert (read.verdict, read.pause) == (verdict, pause)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Too many requests</html>", id="a page"),
        pytest.param(b"{}", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"error_name": 5}', id="another type"),
    ],
)
def test_a_refusal_without_a_reason_is_told_by_its_status(engine, body):
    assert engine("stackexchange").read_refusal(503, {}, body) is None
