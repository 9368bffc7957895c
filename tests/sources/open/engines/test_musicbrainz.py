"""MusicBrainz's search, and its answers."""

import pytest


def test_albums_that_fit_badly_are_left_out(read, answer):
    parsed = read("musicbrainz", answer("musicbrainz.json"))
    first, second = parsed.hits
    assert (first.title, second.title) == ("Red Panda", "Red")
    number = "00000000-0000-4000-8000-0000000000a1"
    assert first.url == f"https://musicbrainz.org/release-group/{number}"
    assert first.author == "The Examples feat. Ada"
    assert first.description == "Album by The Examples feat. Ada, Live, invented one, indie pop"
    assert (first.published_at, second.published_at) == ("1999-05-04", None)
    assert (parsed.rows_seen, parsed.has_next) == (3, True)


def test_artists_are_told_by_kind_place_and_time(read, answer):
    parsed = read("musicbrainz", answer("musicbrainz-artist.json"), aim="artist")
    assert [(hit.title, hit.description) for hit in parsed.hits] == [
        ("The Examples", "Group, United Kingdom, 1990 to 2001-02, invented band, doom metal, uk"),
        ("Ada Panda", "Person, since 1980"),
    ]
    assert parsed.hits[0].url.startswith("https://musicbrainz.org/artist/")
    assert parsed.has_next is False


def test_recordings_have_a_length(read, answer):
    parsed = read("musicbrainz", answer("musicbrainz-recording.json"), aim="recording")
    (hit,) = parsed.hits
    assert hit.url.startswith("https://musicbrainz.org/recording/")
    assert hit.description == "Recording by The Examples, on Red Panda"
    assert hit.media
    assert (hit.media.length, hit.media.seconds) == ("0:03:33", 212.96)
    assert (hit.author, hit.published_at) == ("The Examples", "1999")


@pytest.mark.parametrize(
    ("status", "headers", "is_load"),
    [
        pytest.param(503, {"X-RateLimit-Zone": "global"}, True, id="all clients together"),
        pytest.param(503, {"x-ratelimit-zone": "ip"}, False, id="our address"),
        pytest.param(503, {}, False, id="not told"),
        pytest.param(429, {"x-ratelimit-zone": "global"}, False, id="another status"),
    ],
)
def test_a_load_of_theirs_may_be_tried_once_more(engine, status, headers, is_load):
    refusal = engine("musicbrainz").read_refusal(status, headers, b"")
    assert (refusal is not None and refusal.again) is is_load


def test_hostile_values_are_text_or_nothing(read):
    number = "00000000-0000-4000-8000-0000000000f1"
    items = [
        {"id": "../x", "title": "A"},
        {"id": 5, "title": "B"},
        {
            "id": number, "title": "C\u202e\x1b[31m", "score": "100", "length": "long",
            "artist-credit": [5, {"name": ["x"], "joinphrase": "\n& "}], "releases": {},
            "disambiguation": {"x": 1}, "tags": "x", "first-release-date": ["x"],
        },
    ]  # fmt: skip
    parsed = read("musicbrainz", {"recordings": items})
    (hit,) = parsed.hits
    assert (hit.title, hit.media, hit.published_at) == ("C", None, None)
    assert parsed.rows_seen == 3
