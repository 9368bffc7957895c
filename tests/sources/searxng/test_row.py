from typing import Any

import pytest

from searx_mcp.models.hits import Fact, Image, Infobox, Video
from searx_mcp.sources.searxng.row import Row, instant, words

BASE = "https://search.example/searx/"


def test_a_row_without_a_title_is_named_by_its_address():
    hit = Row(url="https://a.example/x", title=" \u200b").to_hit(position=4, base_url=BASE)

    assert hit is not None
    assert (hit.title, hit.position, hit.template) == ("a.example/x", 4, "default")


def test_an_image_without_a_page_is_its_own_page():
    row = Row(template="images", title="t", details={"img_src": "https://i.example/a.png"})

    hit = row.to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert (hit.url, hit.image) == ("https://i.example/a.png", Image(url="https://i.example/a.png"))


def test_an_image_without_its_file_is_still_a_page():
    hit = Row(template="images", url="https://a.example/").to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert hit.image is None


def test_a_row_without_an_address_is_no_hit():
    assert (
        Row(title="t", details={"img_src": "https://i.example/"}).to_hit(position=1, base_url=BASE)
        is None
    )


def test_texts_are_bounded():
    row = Row(url="https://a.example/", title="t" * 900, description="d" * 9_000)

    hit = row.to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert (len(hit.title), len(hit.description)) == (500, 2_000)


def test_the_fields_of_its_template_come_along():
    details = {"length": 61, "seed": 5}

    hit = Row(url="https://a.example/", template="videos", details=details).to_hit(
        position=1, base_url=BASE
    )

    assert hit is not None
    assert hit.video == Video(length="0:01:01", seconds=61.0)
    assert hit.torrent is None


def test_a_time_in_words_stays_in_words():
    for published, at, left in (
        ("Feb 5, 2026", "2026-02-05", ""),
        ("5 minute(s) ago", None, "5 minute(s) ago"),
        ("None", None, ""),
        (None, None, ""),
    ):
        hit = Row(url="https://a.example/", published=published).to_hit(position=1, base_url=BASE)
        assert hit is not None
        assert (hit.published_at, hit.published_text) == (at, left)


def test_a_table_without_an_address_is_a_box_and_one_with_is_a_hit():
    details = {"caption": "Facts", "kvmap": {"a": 1}}
    bare = Row(template="keyvalue", engines=["db"], details=details)
    linked = Row(template="keyvalue", url="https://a.example/", details=details)

    assert bare.to_hit(position=1, base_url=BASE) is None
    assert bare.to_infobox() == Infobox(
        title="Facts", attributes=(Fact(label="a", value="1"),), engine="db"
    )
    hit = linked.to_hit(position=1, base_url=BASE)
    assert hit is not None
    assert hit.facts == (Fact(label="a", value="1"),)
    assert linked.to_infobox() is None


def test_a_box_is_named_by_caption_title_or_engine():
    facts = {"kvmap": {"a": 1}}

    def title(**fields: Any) -> str | None:
        details = facts | {"caption": fields.pop("caption", "")}
        box = Row(template="keyvalue", details=details, **fields).to_infobox()
        return box.title if box else None

    assert title(caption="C", title="T", engines=["e"]) == "C"
    assert title(title="T", engines=["e"]) == "T"
    assert title(engines=["e"]) == "e"
    assert title() is None


def test_a_table_in_which_nothing_can_be_read_is_no_box():
    row = Row(template="keyvalue", engines=["db"], details={"kvmap": {"a": None, "": 1}})

    assert row.to_infobox() is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-02-01T00:46:35+00:00", "2026-02-01T00:46:35+00:00", id="JSON aware"),
        pytest.param("2026-02-05T17:25:32", "2026-02-05T17:25:32", id="JSON naive"),
        pytest.param("2026-02-01 00:46:35+0000", "2026-02-01T00:46:35+00:00", id="HTML"),
        pytest.param("2026-02-01", "2026-02-01", id="date"),
        pytest.param("2019", "2019", id="year"),
        pytest.param("Feb 5, 2026", "2026-02-05", id="until 2023-06"),
        pytest.param("February 5, 2026", "2026-02-05", id="long"),
        pytest.param("Sept. 30, 2026", "2026-09-30", id="abbreviated"),
        pytest.param("5 Feb 2026", "2026-02-05", id="British"),
        pytest.param("30 June 2026", "2026-06-30", id="long British"),
        pytest.param("Feb 30, 2026", None, id="no such day of the month"),
        pytest.param("Foo 5, 2026", None, id="no such month"),
        pytest.param("5 févr. 2026", None, id="French"),
        pytest.param("None", None, id="None in words"),
        pytest.param("5 minute(s) ago", None, id="distance"),
        pytest.param("2026-13-45", None, id="no such day"),
        pytest.param(1767225600, None, id="number"),
        pytest.param("", None, id="empty"),
    ],
)
def test_times_become_iso_or_nothing(value, expected):
    assert instant(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("3 hour(s), 5 minute(s) ago", "3 hour(s), 5 minute(s) ago", id="distance"),
        pytest.param("5 févr. 2026", "5 févr. 2026", id="French"),
        pytest.param("None", "", id="None in words"),
        pytest.param(5, "", id="number"),
    ],
)
def test_what_cannot_be_read_keeps_its_words(value, expected):
    assert words(value) == expected
