"""The lines of a page, joined into paragraphs."""

import pytest

from searx_mcp.content.pdf_layout import Bookmark, Line, blocks

WIDTH = 5.0
"""Points a character takes."""


def typeset(text: str, *, leading: float = 13.0, size: float = 10.0, left: float = 72.0):
    """Lines from the top; two spaces before one are an indent, an empty line is half a gap."""
    lines = []
    base = 700.0
    for row in text.strip("\n").split("\n"):
        if not row.strip():
            base -= leading / 2
            continue
        base -= leading
        words = row.strip()
        start = left + WIDTH * (len(row) - len(row.lstrip()))
        is_hyphenated = words.endswith("~")
        words = words.rstrip("~")
        lines.append(Line(words, start, start + WIDTH * len(words), base, size, is_hyphenated))
    return lines


def put_together(lines, bookmarks=()):
    return [block.text for block in blocks(lines, bookmarks)]


FULL = "This line goes on to the margin on the right"
ALSO = "and this one does the same, up to its limits"


LAYOUTS = {
    "one paragraph": (f"{FULL}\n{ALSO}\nand ends.", [f"{FULL} {ALSO} and ends."]),
    "a short line ends it": (
        f"{FULL}\nand ends.\n{FULL}\nand ends.",
        [f"{FULL} and ends.\n{FULL} and ends."],
    ),
    "a wide gap separates": (f"{FULL}\nand ends.\n\n{FULL}\nand ends.", [f"{FULL} and ends."] * 2),
    "an indent begins one": (
        f"{FULL}\nand ends.\n   {FULL[:-3]}\n{ALSO}",
        [f"{FULL} and ends.", f"{FULL[:-3]} {ALSO}"],
    ),
    "an indent begins one behind a full line, too": (
        f"{FULL}\n{FULL}\n   {FULL[:-3]}\n{ALSO}",
        [f"{FULL} {FULL}", f"{FULL[:-3]} {ALSO}"],
    ),
    "a hanging indent does not": (
        f"{FULL}\n   {ALSO[:-3]}\n   {ALSO[:-3]}\n   the end.",
        [f"{FULL} {ALSO[:-3]} {ALSO[:-3]} the end."],
    ),
    "short lines stay lines": (
        f"{FULL}\n{ALSO}\nif x:\n    y()\nelse:\n    z()\n{FULL}\n{ALSO}",
        [f"{FULL} {ALSO} if x:\ny()\nelse:\nz()\n{FULL} {ALSO}"],
    ),
    "items of a list": (
        f"{FULL}\nTo buy:\n\u2022 one\n\u2022 {ALSO}\n  goes on\n1. two\n{FULL}",
        [f"{FULL} To buy:\n- one\n- {ALSO} goes on\n1. two\n{FULL}"],
    ),
    "hyphens at ends of lines": (
        f"{FULL}\nan exam~\nple and a Franco-~\nPrussian, the 1~\n2 of them",
        [f"{FULL} an example and a Franco--Prussian, the 1-2 of them"],
    ),
    "markup is text": (
        f"{FULL}\n- - -\n# text\n* [a](http://a.example)",
        [f"{FULL}\n- \\- -\n\\# text\n- [a]\\(http://a.example)"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_lines_become_paragraphs(text, expected):
    assert put_together(typeset(text)) == expected


def test_another_size_of_type_is_another_block():
    heading = Line("Bees", 72, 120, 700, 16)
    text = [Line(FULL, 72, 300, 687, 10), Line("and ends.", 72, 120, 674, 10)]
    assert put_together([heading, *text]) == ["Bees", f"{FULL} and ends."]


def test_the_next_column_goes_on_or_begins_something():
    left = typeset(f"{FULL}\n{ALSO}")
    on = typeset(f"{ALSO}\nand ends.", left=350)
    anew = typeset(f"{FULL}\nand ends.", left=350)
    assert put_together([*left, *on]) == [f"{FULL} {ALSO} {ALSO} and ends."]
    assert put_together([*left, *anew]) == [f"{FULL} {ALSO}", f"{FULL} and ends."]


def test_a_title_across_both_columns_does_not_move_their_margin():
    title = Line("A title that spans the page", 72, 540, 720, 10)
    column = typeset("\n".join([FULL, ALSO] * 15))
    assert put_together([title, *column])[-1].count("\n") == 0


def test_a_bookmark_takes_the_place_of_its_line():
    lines = typeset("Bees and flowers\n\n\nThey meet.\n\n\n2.1 Pollen\n\n\nIt is yellow.")
    found = [
        *blocks(
            lines,
            [
                Bookmark("Bees and Flowers", 1, 0, None),
                Bookmark("Pollen", 2, 0, lines[2].base + 12),
                Bookmark("2. More", 6, 0, 0.0),
            ],
        )
    ]
    assert [block.text for block in found] == [
        "# Bees and flowers",
        "They meet.",
        "## 2.1 Pollen",
        "It is yellow.",
        "###### 2. More",
    ]
    assert [block.title for block in found if block.heading] == [
        "Bees and flowers",
        "2.1 Pollen",
        "2. More",
    ]


def test_a_bookmark_finds_the_line_below_the_place_it_leads_to():
    lines = typeset("Pollen\n\n\nIt is yellow.\n\n\nPollen\n\n\nIt is heavy.")
    found = put_together(lines, [Bookmark("Pollen", 1, 0, lines[2].base + 12)])
    assert found == ["Pollen\nIt is yellow.", "# Pollen", "It is heavy."]


def test_equal_bookmarks_take_one_line_each():
    lines = typeset("Pollen\n\n\nIt is yellow.\n\n\nPollen\n\n\nIt is heavy.")
    same = Bookmark("Pollen", 1, 0, None)
    assert put_together(lines, [same, same])[::2] == ["# Pollen", "# Pollen"]


def test_no_lines_are_no_blocks():
    assert put_together([]) == []
    assert put_together([], [Bookmark("Alone", 1, 0, 50.0)]) == ["# Alone"]


def test_any_geometry_gives_all_the_words():
    lines = [
        Line("upside", 500, 100, 700, 10),
        Line("down", 100, 100, 700, 0.1),
        Line("same", -5, -10, 700, 900),
        Line("place", 0, 0, 0, 1),
    ]
    assert " ".join(put_together(lines)).split() == ["upside", "down", "same", "place"]
