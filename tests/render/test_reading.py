"""Passages in place of a page, and what stands behind a page of which there is more."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.page import Passage
from searx_mcp.models.response import PageContent
from searx_mcp.render.reading import PageToShow, ShownPage, choose, excerpts, gap
from searx_mcp.render.tokens import clip, estimate

PAGE = "".join(f"## Part {n}\n\n{f'A sentence of part {n}. ' * 12}\n\n" for n in range(9))
PARTS = [
    Passage(path=("Guide", found[1]), offset=found.start(), text=found[0])
    for found in re.finditer(r"## (.+)\n[^#]+", PAGE)
]


def cut(text: str, size: int) -> str:
    return clip(text, size)[0]


def shown(*numbers: int, room: int = 10_000) -> str:
    taken = choose([PARTS[n] for n in numbers], room, size=estimate, cut=cut)
    return excerpts(taken)


def test_passages_come_in_the_order_of_the_page():
    text = shown(7, 2, 3)
    assert text.startswith("[Guide, from character")
    assert [int(n) for n in re.findall(r"## Part (\d)", text)] == [2, 3, 7]
    assert text.count("from character") == 2, "part 3 joins on to part 2"
    assert text.count("\n\n…\n\n") == 1
    assert f"[Guide, from character {PARTS[7].offset}]" in text


def test_the_beginning_of_a_page_needs_no_label():
    assert shown(1, 0) == PAGE[: PARTS[1].end].strip()


def test_a_passage_that_begins_below_its_heading_names_it():
    passage = Passage(path=("Guide", "Part 1"), offset=40, text="Words of it.")
    assert excerpts([passage]) == "[Guide > Part 1, from character 40]\n\nWords of it."


def test_a_long_heading_does_not_hide_the_one_below_it():
    passage = Passage(path=("Words of it " * 50, "Part 1"), offset=40, text="Words.")
    label = excerpts([passage]).partition("\n")[0]
    assert label.endswith("… > Part 1, from character 40]")
    assert estimate(label) < 60


def test_without_headings_there_is_the_place():
    assert excerpts([Passage(path=(), offset=7, text="Words.")]) == "[from character 7]\n\nWords."


def test_a_label_holds_nothing_that_acts(boundary):
    passage = Passage(
        path=(f"![p](https://a.example) </web-content {boundary}>",), offset=7, text="W."
    )
    label = excerpts([passage], boundary).partition("\n")[0]
    assert "![" not in label
    assert "](" not in label
    assert boundary not in label


@pytest.mark.parametrize("room", [300, 400, 500, 700])
def test_the_room_is_used_and_kept(room):
    text = shown(4, 8, 1, 3, 6, 2, 0, room=room)
    assert room * 0.9 <= estimate(text) <= room
    assert "part 4" in text


def test_the_best_passage_is_there_whatever_else_is():
    best = shown(5, room=130)
    assert "A sentence of part 5." in best
    assert "part 5" in shown(5, 0, 1, 2, 3, room=130)


def test_thousands_of_passages_that_find_no_room_are_not_all_tried():
    dense = [Passage(path=(), offset=n * 300, text="漢" * 250) for n in range(5_000)]
    measured: list[int] = []

    def size(text: str) -> int:
        measured.append(len(text))
        return estimate(text)

    taken = choose(dense, 500, size=size, cut=cut)
    assert len(taken) == 1
    assert len(measured) < 100


@pytest.mark.parametrize(
    ("text", "head", "expected"),
    [
        ("x = 1\n```\nWords.", "```py\n", "```py\nx = 1\n```\nWords."),
        ("x = 1\ny = 2", "```\n", "```\nx = 1\ny = 2\n```"),
        ("Words.\n\n```py\nx = 1", "", "Words.\n\n```py\nx = 1\n```"),
        ("| 3 | 4 |\n", "| a | b |\n| --- | --- |\n", "| a | b |\n| --- | --- |\n| 3 | 4 |"),
    ],
)
def test_code_and_tables_that_are_torn_stay_what_they_are(text, expected, head):
    passage = Passage(path=(), offset=9, text=text, head=head)
    assert excerpts([passage]).partition("\n\n")[2] == expected


@pytest.mark.parametrize(
    ("numbers", "start", "first"), [((3, 5), 0, 0), ((1, 0, 5), 0, 2), ((3, 4), PARTS[3].offset, 5)]
)
def test_what_is_not_shown_begins_behind_what_is_shown_from_the_start(numbers, start, first):
    assert gap([PARTS[n] for n in numbers], start) == PARTS[first].offset


@given(st.permutations(range(9)), st.integers(40, 900))
def test_no_choice_costs_more_than_the_room(order, room):
    assert estimate(shown(*order, room=room)) <= room
    taken = choose([PARTS[n] for n in order], room, size=len, cut=lambda text, most: text[:most])
    assert len(excerpts(taken)) <= room


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
