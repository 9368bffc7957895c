"""Openverse's search for images and sounds, and its answers."""

import pytest

from searx_mcp.models.request import Category

MUSIC = {"category": Category.MUSIC}


def test_images_are_read_with_their_licences(read, answer):
    parsed = read("openverse", answer("openverse.json"))
    first, second = parsed.hits
    assert (first.title, first.url) == (
        "Red panda on a branch",
        "https://photos.example/people/ada/1",
    )
    assert (first.template, first.author, first.description) == (
        "images",
        "Ada Example",
        "red panda, zoo",
    )
    assert first.thumbnail
    assert first.thumbnail.endswith("/thumb/")
    assert first.image
    assert first.image.model_dump() == {
        "url": "https://live.photos.example/1_b.jpg", "resolution": "1024 x 683", "format": "jpg",
        "source": "flickr", "size": "1.50 MiB",
    }  # fmt: skip
    assert "licensed under CC BY 2.0" in first.attribution
    assert second.image
    assert second.image.resolution == ""
    assert second.attribution == (
        "Panda, drawn, CC0 1.0 (https://creativecommons.org/publicdomain/zero/1.0/)"
    )
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_sounds_can_be_played(read, answer):
    parsed = read("openverse", answer("openverse-audio.json"), **MUSIC)
    (hit,) = parsed.hits
    assert (hit.template, hit.image) == ("default", None)
    assert hit.media
    assert (hit.media.length, hit.media.seconds) == ("0:03:33", 213.4)
    assert hit.media.audio_url == "https://music.example/3.mp3"
    assert parsed.has_next is False


def test_hostile_values_are_text_or_nothing(read):
    results = [
        {"title": "A", "foreign_landing_url": "javascript:alert(1)", "url": "https://a.example/"},
        {"title": ["B"], "foreign_landing_url": "https://b.example/"},
        {
            "title": "C", "foreign_landing_url": "https://c.example/", "url": "data:image/png;base64,x",
            "thumbnail": "javascript:alert(1)", "duration": "long", "tags": [5, {"name": ["x"]}],
            "license": 5, "width": -1, "height": "x",
        },
    ]  # fmt: skip
    body = {"results": results}
    parsed = read("openverse", body)
    (hit,) = parsed.hits
    assert (hit.title, hit.image, hit.thumbnail, hit.attribution) == ("C", None, None, "")
    assert parsed.rows_seen == 3
    (sound,) = read("openverse", body, **MUSIC).hits
    assert sound.media
    assert (sound.media.audio_url, sound.media.seconds) == (None, None)


@pytest.mark.parametrize(("status", "told"), [(403, "your network"), (429, None), (404, None)])
def test_a_guard_that_refuses_a_network_is_told_as_such(engine, status, told):
    refusal = engine("openverse").read_refusal(status, {}, b"<html>")
    assert (refusal and told in refusal.detail) if told else refusal is None
