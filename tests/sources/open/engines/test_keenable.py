"""Keenable's search, and its answers."""

import pytest

from searx_mcp.models.request import TimeRange


def test_a_question_is_sent_as_json(ask, engine):
    row = engine("keenable")
    asked = row.ask(ask())
    assert row.url(asked) == "https://api.keenable.ai/v1/search/public"
    assert asked.body == {
        "query": "red panda", "mode": "pro", "max_results": 10, "snippet_max_length": 500,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("time_range", "day"),
    [
        (TimeRange.ANY, None),
        (TimeRange.DAY, "2026-11-21"),
        (TimeRange.WEEK, "2026-11-15"),
        (TimeRange.MONTH, "2026-10-23"),
        (TimeRange.YEAR, "2025-11-22"),
    ],
)
def test_an_age_is_a_day_after_which_pages_are_published(ask, engine, time_range, day):
    body = engine("keenable").ask(ask(time_range=time_range)).body
    assert body.get("published_after") == day


@pytest.mark.parametrize(
    "text", ['C++ & "<vector>"', "熊猫", "x" * 300, 'a","mode":"x', "site:a.example"]
)
def test_the_question_stays_as_it_is_in_any_language(ask, engine, text):
    asked = engine("keenable").ask(ask(text=text, language="zh", keywords=()))
    assert asked.body["query"] == text


def test_results_are_described_by_text_of_the_page(read, answer):
    parsed = read("keenable", answer("keenable.json"))
    first, second = parsed.hits
    assert (first.title, first.url) == ("Red pandas, explained", "https://pandas.example/guide")
    assert first.description == "# Red pandas Red pandas live in examples. They eat bamboo."
    assert second.description == "Toys, all red."
    assert (first.published_at, second.published_at) == ("2026-08-01T09:00:00+00:00", None)
    assert parsed.rows_seen == 2


def test_hostile_values_are_text_or_nothing(read):
    results = [
        {"url": "javascript:alert(1)", "title": "A"},
        {"url": ["https://b.example/"], "title": "B"},
        {"url": "https://c.example/", "title": "C\x1b[31m", "snippet": {"x": 1}, "published_at": 5},
        {"url": "https://c.example/", "title": "C again"},
    ]
    parsed = read("keenable", {"results": results})
    (hit,) = parsed.hits
    assert (hit.title, hit.description, hit.published_at) == ("C", "", None)
    assert parsed.rows_seen == 4
