"""Sepia Search, and its answers."""

import json

import pytest

from searx_mcp.models.request import TimeRange


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        pytest.param(
            {"text": "red panda"},
            "https://sepiasearch.org/api/v1/search/videos?sort=-match&search=red%20panda&start=0"
            "&count=10&nsfw=false&languageOneOf%5B%5D=en&boostLanguages%5B%5D=en",
            id="a question",
        ),
        pytest.param(
            {"text": "red panda", "language": "all"},
            "https://sepiasearch.org/api/v1/search/videos?sort=-match&search=red%20panda&start=0"
            "&count=10&nsfw=false",
            id="any language",
        ),
    ],
)
def test_a_question_becomes_an_address(ask, engine, fields, url):
    row = engine("sepiasearch")
    assert row.url(row.ask(ask(**fields))) == url


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        pytest.param({"page": 3}, "&start=20&", id="third page"),
        pytest.param({"language": "fr-CA"}, "&languageOneOf%5B%5D=fr&", id="language"),
        pytest.param({"safe_search": 0}, "&nsfw=both", id="all ages"),
        pytest.param({"safe_search": 2}, "&nsfw=false", id="strict"),
        pytest.param({"time_range": TimeRange.DAY}, "&startDate=2026-11-21", id="day"),
        pytest.param(
            {"keywords": ("red panda", "C++", "&")},
            "&search=%22red%20panda%22%20C%2B%2B%20%26&",
            id="a phrase and signs",
        ),
    ],
)
def test_what_is_asked_changes_the_address(ask, engine, fields, part):
    row = engine("sepiasearch")
    assert part in row.url(row.ask(ask(**fields)))


def test_videos_are_read_with_length_views_and_licence(ask, engine, answer):
    parsed = engine("sepiasearch").parse(answer("sepiasearch.json"), ask())
    first, second = parsed.hits
    assert first.title == "Red panda, filmed for an example"
    assert first.url.startswith("https://tube.example/videos/watch/")
    assert first.description == "A **red panda** eats. Nothing else happens."
    assert (first.template, first.author, first.published_at) == (
        "videos",
        "Ada Example",
        "2026-05-01T10:30:00+00:00",
    )
    assert first.thumbnail == "https://tube.example/lazy-static/thumbnails/11.jpg"
    assert first.video
    assert first.video.model_dump() == {
        "length": "1:02:05", "seconds": 3725.0, "views": "321",
        "embed_url": "https://tube.example/videos/embed/11",
    }  # fmt: skip
    assert first.attribution == "Red panda, filmed for an example by Ada Example, Attribution"
    assert second.video
    assert (second.attribution, second.video.length, second.video.seconds) == ("", "", None)
    assert second.thumbnail == "https://tube.example/lazy-static/previews/12.jpg"
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_hostile_values_are_text_or_nothing(ask, engine):
    videos = [
        {"name": "A", "url": "javascript:alert(1)"},
        {"name": {"x": 1}, "url": "https://b.example/"},
        {
            "name": "C", "url": "https://c.example/", "embedUrl": "data:text/html,x", "views": -1,
            "duration": 1e300, "account": [], "licence": "CC0", "thumbnailUrl": "//evil.example/x",
            "description": "<img src=x onerror=x()>A <b>panda</b>",
        },
        "no video",
    ]  # fmt: skip
    parsed = engine("sepiasearch").parse(json.dumps({"data": videos}).encode(), ask())
    (hit,) = parsed.hits
    assert (hit.title, hit.description, hit.thumbnail) == ("C", "A panda", None)
    assert hit.video
    assert hit.video.model_dump(exclude_defaults=True) == {}
    assert parsed.rows_seen == 3
