"""The fields of a result's template, as text and as data."""

import pytest

from searx_mcp.models.hits import (
    Code,
    Fact,
    File,
    Image,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.models.response import SearchResult
from searx_mcp.render.entry import details, fields_of
from searx_mcp.render.tokens import estimate

MAGNET = "magnet:?xt=urn:btih:" + "0" * 40
TRACKER = "&tr=https%3A%2F%2Ftracker.example.org%2Fannounce"


KINDS = {
    "none": ({}, []),
    "image": (
        {"image": Image(url="https://a.example/1.png", resolution="1 x 1", size="2 MB")},
        ["image https://a.example/1.png 1 x 1 2 MB"],
    ),
    "video": (
        {"video": Video(length="3:20", views="1.2M", embed_url="https://a.example/e")},
        ["3:20", "1.2M views", "player https://a.example/e"],
    ),
    "media": (
        {"media": Media(length="4:01", audio_url="https://a.example/a.mp3")},
        ["4:01", "audio https://a.example/a.mp3"],
    ),
    "torrent": (
        {
            "torrent": Torrent(
                seeds=0, leeches=2, size="1 GiB", magnet=MAGNET, torrent_url="https://a.example/t"
            )
        },
        [MAGNET, "torrent https://a.example/t", "1 GiB", "0 seeds", "2 leeches"],
    ),
    "place": (
        {
            "place": Place(
                latitude=52.5,
                longitude=13.4,
                road="Main St",
                house_number="1",
                postcode="10115",
                locality="Town",
                country="XX",
                facts=(Fact(label="Phone", value="1"),),
                links=(Link(title="Site", url="https://a.example/"),),
            )
        },
        [
            "at 52.5000 13.4000",
            "Main St 1",
            "10115 Town",
            "XX",
            "Phone: 1",
            "Site https://a.example/",
        ],
    ),
    "half a position": ({"place": Place(latitude=52.5, country="XX")}, ["XX"]),
    "paper": (
        {
            "paper": Paper(
                authors=("A", "B"),
                journal="J",
                volume="3",
                doi="10.1/x",
                pdf_url="https://a.example/p.pdf",
            )
        },
        ["PDF https://a.example/p.pdf", "doi 10.1/x", "A, B", "J", "volume 3"],
    ),
    "package": (
        {
            "package": Package(
                version="1.2",
                licence="MIT",
                homepage="https://a.example/",
                links=(Link(title="Docs", url="https://a.example/docs"),),
            )
        },
        ["version 1.2", "MIT", "homepage https://a.example/", "Docs https://a.example/docs"],
    ),
    "code": (
        {"code": Code(repository="r", filename="f.py", lines=((7, "if x:"), (8, "    y()")))},
        ["r", "f.py", "7: if x:", "8:     y()"],
    ),
    "file": (
        {"file": File(filename="a.pdf", size="2 MB", mimetype="text/x")},
        ["a.pdf", "2 MB", "text/x"],
    ),
    "product": (
        {"product": Product(price="5 EUR", shipping="free", source_country="DE")},
        ["5 EUR", "free", "from DE"],
    ),
    "facts": (
        {"facts": tuple(Fact(label=f"l{n}", value="v") for n in range(3))},
        ["l0: v", "l1: v", "l2: v"],
    ),
    "date and author": (
        {"published_at": "2026-01-02T03:04:05", "author": "A. Writer"},
        ["2026-01-02", "by A. Writer"],
    ),
    "date in words": ({"published_text": "an hour ago"}, ["an hour ago"]),
}


@pytest.mark.parametrize(("fields", "told"), KINDS.values(), ids=KINDS)
def test_each_kind_is_told_whole_as_text_and_as_data(fields, told, boundary):
    result = SearchResult(title="T", url="https://a.example/", score=1, **fields)
    found = list(details(result, boundary))
    assert [each.text for each in found] == told
    assert {each.text for each in found if each.has_line} == {
        text for text in told if "://" in text or "magnet:" in text or text[0] in "78"
    }
    data = fields_of(result, found)
    for name in data.keys() - {"place"}:
        assert data[name] == getattr(result, name)
    if found and (place := result.place) and place.longitude:
        assert data["place"] == place


def test_what_found_no_room_is_not_in_the_data(boundary):
    code = Code(repository="r", filename="f.py", lines=((7, "if x:"), (8, "    y()")))
    result = SearchResult(title="T", url="https://a.example/", score=1, code=code, author="A")
    found = list(details(result, boundary))
    data = fields_of(result, [found[1], found[3]])
    assert data["code"] == Code(filename="f.py", lines=((8, "    y()"),))
    assert data["author"] == ""
    assert fields_of(result, [])["code"] is None


def test_a_long_magnet_address_loses_trackers_and_a_long_address_is_left_out(boundary):
    torrent = Torrent(magnet=MAGNET + TRACKER * 50, torrent_url="https://a.example/" + "p/" * 900)
    result = SearchResult(title="T", url="https://a.example/", score=1, torrent=torrent)
    (magnet,) = details(result, boundary)
    assert estimate(magnet.text) <= 200
    assert magnet.text.removeprefix(MAGNET).replace(TRACKER, "") == ""
    assert TRACKER in magnet.text


@pytest.mark.parametrize(
    "fields",
    [
        {"paper": Paper(authors=("name " * 50,) * 50, journal="j" * 900, tags=("t",) * 99)},
        {"code": Code(filename="f " * 900, lines=((1, "x " * 900),) * 500)},
        {"place": Place(facts=(Fact(label="l " * 900, value="v " * 900),) * 500)},
        {"facts": (Fact(label="l " * 900, value="v " * 900),) * 500},
    ],
    ids=["paper", "code", "place", "facts"],
)
def test_details_are_short_whatever_a_stranger_sends(fields, boundary):
    result = SearchResult(title="T", url="https://a.example/", score=1, **fields)
    found = list(details(result, boundary))
    assert max(estimate(each.text) for each in found) <= 6 * 32
    assert sum(estimate(each.text) for each in found) <= 21 * 66
