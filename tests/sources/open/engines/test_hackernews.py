"""The search of Hacker News, and its answers."""

import pytest

from searx_mcp.models.request import Category, TimeRange

DISCUSSION = "https://news.ycombinator.com/item?id="


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        # What the index answers 400 to since June 2026 (last30days-skill#591, #655).
        pytest.param({"time_range": TimeRange.WEEK}, "points", id="points"),
        pytest.param({}, "numericFilters", id="filters without an age"),
        pytest.param({}, "optionalWords", id="two words"),
        pytest.param(
            {
                "keywords": ("red", "panda", "zoo"),
                "category": Category.NEWS,
                "time_range": TimeRange.DAY,
            },
            "optionalWords",
            id="the newest with any of the words",
        ),
    ],
)
def test_what_would_spoil_the_answer_is_not_sent(ask, engine, fields, parameter):
    row = engine("hackernews")
    assert parameter not in row.url(row.ask(ask(**fields)))


def test_a_story_is_the_page_it_is_about(read, answer):
    parsed = read("hackernews", answer("hackernews.json"))
    first = parsed.hits[0]
    assert first.url == "https://pandas.example/database"
    assert first.title == "The red panda database & its examples"
    assert first.description == f"Hacker News: 123 points, 45 comments, {DISCUSSION}90000001"
    assert (first.published_at, first.author) == ("2026-10-03T08:00:00+00:00", "ada")


def test_a_story_without_an_address_is_its_own_text(read, answer):
    parsed = read("hackernews", answer("hackernews.json"))
    second = parsed.hits[1]
    assert second.url == f"{DISCUSSION}90000002"
    assert second.title == "Ask HN: Who feeds your vector<panda>?"
    assert second.description.startswith("I have pandas. They sort a std::vector<int>. Hacker News")


def test_a_story_of_few_points_is_only_counted(read, answer):
    parsed = read("hackernews", answer("hackernews.json"))
    assert (len(parsed.hits), parsed.rows_seen, parsed.has_next) == (2, 3, False)


def test_hostile_rows_become_text_or_nothing(read):
    hits = [
        {"objectID": "../evil", "points": 9, "title": "x", "url": "https://a.example/"},
        {"objectID": "²", "points": 9, "title": "x"},
        {"objectID": 7, "points": 9, "title": "x"},
        {"objectID": "1", "points": "many", "title": "x"},
        {"objectID": "2", "points": 9, "title": None, "url": "https://a.example/"},
        {
            "objectID": "3",
            "points": 9,
            "num_comments": -4,
            "created_at_i": 10**40,
            "title": "A &#x202e;title",
            "url": "javascript:alert(1)",
            "story_text": "<script>x</script>y<img src=x onerror=alert(1)>",
        },
    ]
    parsed = read("hackernews", {"hits": hits})
    (hit,) = parsed.hits
    assert (hit.url, hit.title, hit.published_at) == (f"{DISCUSSION}3", "A title", None)
    assert hit.description == f"y Hacker News: 9 points, 0 comments, {DISCUSSION}3"
    assert parsed.rows_seen == 6
