"""The search of Wikimedia Commons, and its answers."""

import json

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import RefusedError

VIDEOS = {"category": Category.VIDEOS}
FILES = {"category": Category.FILES}
MUSIC = {"category": Category.MUSIC}


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        pytest.param(
            {"text": "red panda"},
            "https://commons.wikimedia.org/w/api.php?action=query&format=json&formatversion=2"
            "&generator=search&gsrnamespace=6&prop=imageinfo"
            "&iiprop=url%7Csize%7Cmime%7Ctimestamp%7Cuser%7Cextmetadata&iiurlwidth=320"
            "&iiextmetadatafilter=LicenseShortName%7CLicenseUrl%7CArtist%7CImageDescription"
            "&gsrsearch=filetype%3Abitmap%7Cdrawing%20red%20panda&gsrlimit=10&gsroffset=0"
            "&iiextmetadatalanguage=en",
            id="a question",
        )
    ],
)
def test_a_question_becomes_an_address(ask, engine, fields, url):
    row = engine("commons")
    assert row.url(row.ask(ask(**fields))) == url


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        pytest.param({"page": 3}, "gsroffset", "20", id="third page"),
        pytest.param({"language": "de-AT"}, "iiextmetadatalanguage", "de", id="language"),
        pytest.param({"language": "all"}, "iiextmetadatalanguage", "en", id="any language"),
        pytest.param({"language": "x|y"}, "iiextmetadatalanguage", "en", id="no language"),
        pytest.param(VIDEOS, "gsrsearch", "filetype:video red panda", id="videos"),
        pytest.param(MUSIC, "gsrsearch", "filetype:audio red panda", id="music"),
        pytest.param(
            FILES, "gsrsearch", "filetype:multimedia|office|archive|3d red panda", id="files"
        ),
        pytest.param(
            {"aim": "audio", **VIDEOS}, "gsrsearch", "filetype:audio red panda", id="aim"
        ),
        pytest.param(
            {"aim": "x", **VIDEOS}, "gsrsearch", "filetype:video red panda", id="unknown aim"
        ),
        pytest.param(
            {"text": 'C++ & "<v>"'}, "gsrsearch", 'filetype:bitmap|drawing C++ & "<v>"', id="signs"
        ),
        pytest.param(
            {"text": "filetype:video|x insource:/a.*/ b~"},
            "gsrsearch",
            "filetype:bitmap|drawing filetype video x insource /a. / b",
            id="syntax",
        ),
        pytest.param(
            {"text": f"{'x' * 275} y"},
            "gsrsearch",
            f"filetype:bitmap|drawing {'x' * 275}",
            id="three hundred characters with its keyword",
        ),
        pytest.param(
            {"time_range": TimeRange.DAY}, "gsrsearch", "filetype:bitmap|drawing red panda", id="no ages"
        ),
    ],
)  # fmt: skip
def test_what_is_asked_changes_the_parameters(ask, engine, fields, name, value):
    assert engine("commons").ask(ask(**fields)).parameters[name] == value


def test_images_come_in_the_order_of_their_rank_with_their_licences(ask, engine, answer):
    parsed = engine("commons").parse(answer("commons.json"), ask())
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


def test_videos_can_be_played(ask, engine, answer):
    parsed = engine("commons").parse(answer("commons-video.json"), ask(**VIDEOS))
    (hit,) = parsed.hits
    assert hit.template == "videos"
    assert hit.video
    assert (hit.video.length, hit.video.seconds) == ("0:01:04", 64.5)
    assert hit.video.embed_url
    assert hit.video.embed_url.endswith("/Panda_eats.webm")
    assert parsed.has_next is False


def test_sounds_can_be_played(ask, engine, answer):
    (hit,) = engine("commons").parse(answer("commons-video.json"), ask(**MUSIC)).hits
    assert (hit.template, hit.video) == ("default", None)
    assert hit.media
    assert (hit.media.length, bool(hit.media.audio_url)) == ("0:01:04", True)


def test_other_files_have_a_name_a_size_and_a_type(ask, engine, answer):
    (hit,) = engine("commons").parse(answer("commons-video.json"), ask(**FILES)).hits
    assert hit.template == "file"
    assert hit.file
    assert (hit.file.filename, hit.file.size, hit.file.mimetype) == (
        "Panda eats.webm",
        "20.00 MiB",
        "video/webm",
    )


@pytest.mark.parametrize("code", ["ratelimited", "maxlag", "cirrussearch-too-busy-error"])
def test_a_limit_told_with_status_200_is_one(ask, engine, code):
    body = json.dumps({"error": {"code": code, "info": "red panda"}}).encode()
    with pytest.raises(RefusedError, match="asks to wait") as refused:
        engine("commons").parse(body, ask())
    assert refused.value.verdict is Verdict.RATE_LIMITED


def test_hostile_values_are_text_or_nothing(ask, engine):
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
    parsed = engine("commons").parse(json.dumps({"query": {"pages": pages}}).encode(), ask())
    (hit,) = parsed.hits
    assert (hit.title, hit.image, hit.description, hit.author) == ("C", None, "A panda", "Ada")
    assert hit.attribution == "C by Ada, CC0"
    assert parsed.rows_seen == 3
