"""Captures as bytes, and the cursors that name them."""

import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.document import Document
from searx_mcp.models.fetch_request import CURSOR_PATTERN
from searx_mcp.models.page import Heading, PageImage
from searx_mcp.storage.packing import (
    pack,
    pack_about,
    pack_robots,
    unpack,
    unpack_capture,
    unpack_robots,
)
from searx_mcp.storage.pages import Capture, CapturedPage, KeptRobots, Validators

NOW = 1_000_000_000.0
PAGE = CapturedPage(
    document=Document(
        markdown="# \u00c4 \U0001f600\n",
        word_count=1,
        outline=(Heading(level=1, title="\u00c4", offset=0, anchor="a"),),
        images=(PageImage(url="https://a.example/i.png"),),
        notes=("One.",),
    ),
    final_url="https://a.example/",
    content_type="text/html",
    content_length=4,
    status_code=200,
    headers={"server": "x", "last-modified": "y"},
    redirect_chain=("https://a.example/ -> 200",),
)


def page_of(**document: object) -> CapturedPage:
    return PAGE.model_copy(update={"document": PAGE.document.model_copy(update=document)})


def body_of(text: str) -> bytes:
    return zlib.compress(text.encode())


def test_a_page_comes_back_as_it_was():
    packed = pack("mine", PAGE)
    assert unpack("mine", packed.cursor, packed.body) == PAGE
    assert re.fullmatch(CURSOR_PATTERN, packed.cursor)
    assert len(packed.cursor) == 16


_TEXT = st.text(max_size=30)


@given(
    markdown=_TEXT,
    title=_TEXT,
    headers=st.dictionaries(_TEXT, _TEXT, max_size=3),
    number=st.integers(0, 1 << 62),
    namespace=st.text(max_size=5),
)
def test_any_page_comes_back_as_it_was(markdown, title, headers, number, namespace):
    page = page_of(markdown=markdown, title=title).model_copy(
        update={"headers": headers, "content_length": number}
    )
    packed = pack(namespace, page)
    assert unpack(namespace, packed.cursor, packed.body) == page


def test_a_cursor_is_the_same_in_every_process_and_version():
    """It must not change: cursors outlive the program that gave them."""
    assert pack("default", PAGE).cursor == "7q6t5otqihewb3e6"


def test_whether_a_page_was_a_skeleton_is_not_kept():
    packed = pack("mine", page_of(is_skeleton=True))
    assert packed == pack("mine", PAGE)


def test_equal_pages_have_equal_cursors():
    again = PAGE.model_copy(update={"headers": {"last-modified": "y", "server": "x"}})
    assert again == PAGE
    assert pack("mine", again) == pack("mine", PAGE)
    other = page_of(markdown="# B\n")
    assert pack("mine", other).cursor != pack("mine", PAGE).cursor


def test_a_field_at_its_default_changes_no_cursor():
    """So a version with one field more finds the pages of this one."""
    assert b"author" not in zlib.decompress(pack("mine", PAGE).body)


@pytest.mark.parametrize(("one", "other"), [("mine", "yours"), ("a", ""), ("1:", ""), ("", "0:")])
def test_a_cursor_of_another_namespace_finds_nothing(one, other):
    packed = pack(one, PAGE)
    assert pack(other, PAGE).cursor != packed.cursor
    assert unpack(other, packed.cursor, packed.body) is None


@pytest.mark.parametrize(
    "damage",
    [b"", b"no zlib", body_of("{}"), body_of("[1]"), pack("mine", PAGE).body[:-5]],
    ids=["nothing", "no zlib", "another object", "a list", "cut off"],
)
def test_a_body_that_is_not_the_cursors_is_no_page(damage):
    assert unpack("mine", pack("mine", PAGE).cursor, damage) is None


def test_a_page_of_a_newer_version_is_read_without_the_fields_that_only_that_has():
    class Newer(CapturedPage):
        mood: str = "none"

    newer = Newer.model_validate({**PAGE.model_dump(), "mood": "sunny"})
    packed = pack("mine", newer)
    assert unpack("mine", packed.cursor, packed.body) == PAGE


def test_a_page_in_which_another_version_says_a_field_otherwise_is_none():
    class Newer(CapturedPage):
        status_code: list[int]  # type: ignore[assignment] # - as a newer version may have it

    packed = pack("mine", Newer.model_validate({**PAGE.model_dump(), "status_code": [200]}))
    assert unpack("mine", packed.cursor, packed.body) is None


def test_half_a_character_is_kept_as_a_miss_and_no_error():
    packed = pack("mine", page_of(markdown="\ud800"))
    assert unpack("mine", packed.cursor, packed.body) is None


def test_what_a_capture_says_comes_back_as_it_was():
    capture = Capture(
        page=PAGE,
        url="https://a.example/#x",
        fetched_at=NOW,
        fresh_until=NOW + 5,
        max_bytes=7,
        validators=Validators('W/"x"', "Sun, 09 Sep 2001 01:46:40 GMT"),
        may_be_stale=False,
    )
    about = pack_about(capture)
    assert unpack_capture(PAGE, about, fetched_at=NOW, fresh_until=NOW + 5) == capture


def test_of_what_another_version_says_the_known_is_read():
    about = body_of('{"url": "x", "max_bytes": 1, "mood": "sunny"}')
    capture = unpack_capture(PAGE, about, fetched_at=NOW, fresh_until=NOW)
    assert capture == Capture(PAGE, "x", NOW, NOW, 1)


BOMB = zlib.compress(b'{"url": "x", "max_bytes": 1}' + b" " * (64 << 20), 1)


@pytest.mark.parametrize(
    "about",
    [b"", b"no zlib", body_of("{}"), body_of('{"url": 1}'), BOMB],
    ids=["nothing", "no zlib", "another object", "another type", "a bomb"],
)
def test_what_cannot_be_read_is_no_capture(about):
    assert unpack_capture(PAGE, about, fetched_at=NOW, fresh_until=NOW) is None


def test_a_robots_txt_comes_back_as_it_was():
    robots = KeptRobots(200, "User-agent: *\nDisallow: /\u00e4\ufffd\n", NOW)
    assert unpack_robots(pack_robots(robots), fetched_at=NOW) == robots
    assert unpack_robots(b"", fetched_at=NOW) is None
    assert unpack_robots(body_of('{"status": "x"}'), fetched_at=NOW) is None
