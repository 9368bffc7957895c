"""The search of Wikimedia Commons, and its answers."""

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import RefusedError

VIDEOS = {"category": Category.VIDEOS}
FILES = {"category": Category.FILES}
MUSIC = {"category": Category.MUSIC}


def test_images_come_in_the_order_of_their_rank_with_their_licences(read, answer):
    parsed = read("commons", answer("commons.json"))
    first, second = parsed.hits
    assert (first.title, second.title) == ("Red panda (example)", "Panda skull.v2")
    assert first.url == "https://commons.wikimedia.org/wiki/File:Red_panda_(example).jpg"
    assert (first.template, first.author) == ("images", "Ada Example")
    assert first.description == "A red panda that was invented"
    assert first.published_at == "2021-06-07T08:09:10+00:00"
    assert first.thumbnail
    assert "/thumb/1/11/" in first.thumbnail
    assert first.image
    assert (first.image.resolution, first.image.format, first.image.size) == (
        "4000 x 3000",
        "image/jpeg",
        "3.00 MiB",
    )
    assert first.attribution == (
        "Red panda (example) by Ada Example, CC BY-SA 4.0 "
        "(https://creativecommons.org/licenses/by-sa/4.0)"
    )
    assert second.attribution == "Panda skull.v2 by Unknown author, Public domain"
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_videos_can_be_played(read, answer):
    parsed = read("commons", answer("commons-video.json"), **VIDEOS)
    (hit,) = parsed.hits
    assert hit.template == "videos"
    assert hit.video
    assert (hit.video.length, hit.video.seconds) == ("0:01:04", 64.5)
    assert hit.video.embed_url
    assert hit.video.embed_url.endswith("/Panda_eats.webm")
    assert parsed.has_next is False


def test_sounds_can_be_played(read, answer):
    (hit,) = read("commons", answer("commons-video.json"), **MUSIC).hits
    assert (hit.template, hit.video) == ("default", None)
    assert hit.media
    assert (hit.media.length, bool(hit.media.audio_url)) == ("0:01:04", True)


def test_other_files_have_a_name_a_size_and_a_type(read, answer):
    (hit,) = read("commons", answer("commons-video.json"), **FILES).hits
    assert hit.template == "file"
    assert hit.file
    assert (hit.file.filename, hit.file.size, hit.file.mimetype) == (
        "Panda eats.webm",
        "20.00 MiB",
        "video/webm",
    )


@pytest.mark.parametrize("code", ["ratelimited", "maxlag", "cirrussearch-too-busy-error"])
def test_a_limit_told_with_status_200_is_one(read, code):
    with pytest.raises(RefusedError, match="asked us to wait") as refused:
        read("commons", {"error": {"code": code, "info": "red panda"}})
    assert refused.value.verdict is Verdict.RATE_LIMITED


def test_hostile_values_are_text_or_nothing(read):
    about = {
        "ImageDescription": {"value": "<script>x()</script>A <b>panda</b>"},
        "Artist": {"value": "<a href='javascript:x()'>Ada</a>"},
        "LicenseShortName": {"value": "CC0"},
        "LicenseUrl": {"value": "javascript:alert(1)"},
    }
    page = "https://commons.wikimedia.org/wiki/File:"
    pages = [
        {"title": "File:A.jpg", "index": 1, "imageinfo": [{"descriptionurl": "javascript:x()"}]},
        {"title": "File:B.jpg", "index": "x", "imageinfo": "none"},
        {
            "title": "File:C", "index": 3,
            "imageinfo": [{"descriptionurl": f"{page}C", "url": "file:///c", "extmetadata": about}],
        },
    ]  # fmt: skip
    parsed = read("commons", {"query": {"pages": pages}})
    (hit,) = parsed.hits
    assert (hit.title, hit.image, hit.description, hit.author) == ("C", None, "A panda", "Ada")
    assert hit.attribution == "C by Ada, CC0"
    assert parsed.rows_seen == 3
