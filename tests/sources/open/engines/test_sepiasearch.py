"""Sepia Search, and its answers."""


def test_videos_are_read_with_length_views_and_licence(read, answer):
    parsed = read("sepiasearch", answer("sepiasearch.json"))
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


def test_hostile_values_are_text_or_nothing(read):
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
    parsed = read("sepiasearch", {"data": videos})
    (hit,) = parsed.hits
    assert (hit.title, hit.description, hit.thumbnail) == ("C", "A panda", None)
    assert hit.video
    assert hit.video.model_dump(exclude_defaults=True) == {}
    assert parsed.rows_seen == 3
