"""What stands behind a page among the results of which there is more."""

from typing import Any

import pytest

from searx_mcp.models.page import Passage
from searx_mcp.models.response import PageContent
from searx_mcp.render.reading import PageToShow, ShownPage

CUT = {"next_offset": 12}
WITH_CURSOR = {"cursor": "abcdefgh234567ab", **CUT}
IN_PARTS = {**WITH_CURSOR, "has_gaps": True}
ENDINGS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "", ""),
    (
        WITH_CURSOR,
        "Cut off at character 12 of 90.",
        ' To read on:\nopen {"cursor": "abcdefgh234567ab", "offset": 12}',
    ),
    (
        IN_PARTS,
        "The parts that fit the query best, of 90 characters.",
        ' To read on:\nopen {"cursor": "abcdefgh234567ab", "offset": 12}',
    ),
    (CUT, "Cut off at character 12 of 90.", " To read on, call open with the url of result 2."),
    (
        {"is_incomplete": True},
        "Only the beginning of the page was read.",
        " To read on, call open with the url of result 2 and a larger max_content_length.",
    ),
]


@pytest.mark.parametrize(("fields", "told", "how"), ENDINGS)
def test_a_page_with_more_says_so_and_how_to_read_on_if_a_tool_can(boundary, fields, told, how):
    for fetch, ending in (("open", told + how), ("", told)):
        reading = ShownPage(2, "https://a.example/", "A text.", 90, **fields, fetch=fetch)
        assert reading.block(boundary).partition(f"</web-content {boundary}>")[2].strip() == ending


@pytest.mark.parametrize("room", [*range(130, 200, 5)])
def test_a_cut_leaves_no_heading_without_its_text(boundary, room):
    text = "".join(f"## Part {n}\n\nSome words of part {n}.\n\n" for n in range(90))
    content = PageContent(
        markdown=text,
        word_count=1,
        fetch_time_ms=1,
        passages=(Passage(path=(), offset=0, text=text),),
    )
    source = PageToShow(1, "https://a.example/", content, boundary, 9_999)
    reading, _ = source.within(room)
    assert reading is None or not reading.markdown.splitlines()[-1].startswith("#")
