"""Keenable's search, and its answers."""

import pytest

from searx_mcp.models.request import TimeRange

TEXTS = ('C++ & "<vector>"', "熊猫", "x" * 300, 'a","mode":"x', "site:a.example")


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        (
            {},
            {"query": "red panda", "mode": "pro", "max_results": 10, "snippet_max_length": 500,
             "published_after": None},
        ),
        ({"time_range": TimeRange.DAY}, {"published_after": "2026-11-21"}),
        ({"time_range": TimeRange.WEEK}, {"published_after": "2026-11-15"}),
        ({"time_range": TimeRange.MONTH}, {"published_after": "2026-10-23"}),
        ({"time_range": TimeRange.YEAR}, {"published_after": "2025-11-22"}),
        *(({"text": text, "language": "zh", "keywords": ()}, {"query": text}) for text in TEXTS),
    ],
)  # fmt: skip
def test_a_question_is_sent_as_it_is_with_the_day_from_which_pages_are(ask, engine, fields, sent):
    body = engine("keenable").ask(ask(**fields)).body
    assert {name: body.get(name) for name in sent} == sent
