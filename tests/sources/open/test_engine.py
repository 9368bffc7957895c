"""What an engine is asked."""

from datetime import date

import pytest

from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.engine import fitting, lies_on


@pytest.mark.parametrize(
    ("age", "first"),
    [
        (TimeRange.ANY, None),
        (TimeRange.DAY, date(2026, 11, 21)),
        (TimeRange.WEEK, date(2026, 11, 15)),
        (TimeRange.MONTH, date(2026, 10, 23)),
        (TimeRange.YEAR, date(2025, 11, 22)),
    ],
)
def test_an_age_is_the_first_day_that_a_result_may_be_of(ask, age, first):
    assert ask(time_range=age).since == first


@pytest.mark.parametrize(("most", "line"), [(3, ""), (4, "aaaa"), (8, "aaaa"), (9, "aaaa bbbb")])
def test_words_are_taken_while_they_fit(most, line):
    assert fitting(["aaaa", "bbbb", "c"], most) == line


@pytest.mark.parametrize(
    ("host", "lies"), [("a.org", True), ("b.a.org", True), ("ba.org", False), ("a.org.b", False)]
)
def test_a_host_lies_on_its_domain_and_those_above(host, lies):
    assert lies_on(host, "a.org") is lies
