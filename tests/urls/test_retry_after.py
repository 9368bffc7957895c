"""How long a host asks us to wait."""

import pytest

from searx_mcp.urls.retry_after import retry_after

DATE = "Fri, 20 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 5 ", 5.0),
        ("0", 1.0),
        ("86401", 86_400.0),
        ("9" * 5_000, 86_400.0),
        ("Fri, 20 Nov 2026 12:02:00 GMT", 120.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 1.0),
        ("Tue, 20 Nov 2096 12:00:00 GMT", 86_400.0),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_within_limits(value: str, seconds: float | None):
    assert retry_after({"Retry-After": value, "Date": DATE}) == seconds


@pytest.mark.parametrize("date", ["", "today", "Fri, 20 Nov 2026 12:00:00"])
def test_a_date_needs_the_answers_own_clock(date: str):
    assert retry_after({"retry-after": "Fri, 20 Nov 2026 12:02:00 GMT", "date": date}) is None
