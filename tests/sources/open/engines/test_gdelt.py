"""GDELT's search for news, and its answers."""

import pytest

from searx_mcp.models.request import TimeRange


@pytest.mark.parametrize(
    ("time_range", "timespan", "sort"),
    [
        (TimeRange.DAY, "1d", "DateDesc"),
        (TimeRange.WEEK, "7d", "HybridRel"),
        (TimeRange.MONTH, "1m", "HybridRel"),
        (TimeRange.YEAR, None, "HybridRel"),
        (TimeRange.ANY, None, "HybridRel"),
    ],
)
def test_an_age_is_a_timespan_and_the_news_of_a_day_come_newest_first(
    ask, engine, time_range, timespan, sort
):
    parameters = engine("gdelt").ask(ask(time_range=time_range)).parameters
    assert (parameters.get("timespan"), parameters["sort"]) == (timespan, sort)


def test_articles_have_titles_as_they_were_printed(read, answer):
    parsed = read("gdelt", answer("gdelt.json"))
    first, second = parsed.hits
    assert first.title == 'The "red" panda: escaped, found, fed - Example News'
    assert second.title == "Keeper's panda isn't lost (90% sure)"
    assert first.url == "https://news.example/2026/11/20/panda"
    assert first.published_at == "2026-11-20T10:15:00+00:00"
    assert (first.thumbnail, second.thumbnail) == ("https://news.example/panda.jpg", None)
    assert parsed.rows_seen == 2


def test_backslashes_and_controls_that_json_does_not_allow_are_read_over(read, answer):
    (hit,) = read("gdelt", answer("gdelt-escapes.json")).hits
    assert hit.title == "A panda's x path C:\\pandas & a tab here"


def test_hostile_values_are_text_or_nothing(read):
    articles = [
        {"url": "javascript:alert(1)", "title": "A"},
        {"url": "https://b.example/", "title": ["B"]},
        {
            "url": "https://c.example/", "title": "C \u202e<b>", "seendate": "20269999T999999Z",
            "socialimage": "data:image/png;base64,x",
        },
        5,
    ]  # fmt: skip
    parsed = read("gdelt", {"articles": articles})
    (hit,) = parsed.hits
    assert (hit.title, hit.published_at, hit.thumbnail) == ("C <b>", None, None)
    assert parsed.rows_seen == 3
