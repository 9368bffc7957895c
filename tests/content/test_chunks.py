"""The chunks of a page."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.chunks import CHUNK_CHARS, Piece, chunk_id, pieces
from searx_mcp.content.outline import headings

SENTENCE = "Something is said here about number {}, and it is said at some length. "


def prose(first: int, sentences: int) -> str:
    return "".join(SENTENCE.format(n) for n in range(first, first + sentences)).strip()


def chunks(markdown: str, **given_) -> list[str]:
    return [markdown[each.start : each.end] for each in parted(markdown, **given_)]


def parted(markdown: str, **given_) -> list[Piece]:
    return pieces(markdown, headings(markdown), **given_)


def test_a_section_is_a_chunk_of_its_own():
    sections = [f"## {name}\n\n{prose(0, 8)}" for name in "ABC"]
    text = "# Manual\n\n" + "\n\n".join(sections) + "\n"
    found = parted(text)
    assert [text[each.start : each.end] for each in found] == [
        f"# Manual\n\n{sections[0]}",
        *sections[1:],
    ]
    assert [each.path for each in found] == [("Manual", "A"), ("Manual", "B"), ("Manual", "C")]


def test_small_sections_of_one_parent_are_one_chunk():
    text = "# FAQ\n\n" + "".join(f"## Q{n}?\n\n{prose(n, 2)}\n\n" for n in range(20))
    found = parted(text)
    assert all(400 < each.end - each.start <= CHUNK_CHARS for each in found)
    assert {each.path for each in found} == {("FAQ",)}
    assert all(text[each.start] == "#" for each in found)


@pytest.mark.parametrize(
    ("first", "second", "together"), [(2, 5, True), (2, 12, False), (6, 5, False)]
)
def test_a_small_section_is_with_the_next_one_if_both_are_half_a_chunk(first, second, together):
    text = f"# A\n\n## One\n\n{prose(0, first)}\n\n## Two\n\n{prose(20, second)}\n"
    assert (len(chunks(text)) == 1) is together


def test_a_long_section_is_cut_behind_paragraphs_and_overlaps_by_whole_sentences():
    paragraphs = [prose(10 * n, 4) for n in range(30)]
    found = chunks("# A\n\n" + "\n\n".join(paragraphs))
    assert all(800 <= len(each) <= CHUNK_CHARS for each in found)
    for before, after in pairwise(found):
        assert before.endswith(".")
        shared = next(n for n in range(400, 0, -1) if before.endswith(after[:n]))
        assert 100 <= shared <= 250
        assert after.startswith("Something")


PICTURE = f"[image: {'What is to be seen in it, ' * 8}for readers.]"


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        pytest.param(prose(0, 100), "Something", ".", id="a long paragraph, behind sentences"),
        pytest.param(
            "# A\n\n" + "\n".join(f"- Item {n}. It says something. And more." for n in range(200)),
            ("- Item", "# A"), ".", id="a long list, between its items",
        ),
        pytest.param(
            "# A\n\n" + "".join(f"{prose(10 * n, 6)}\n\n{PICTURE}\n\n" for n in range(12)),
            ("# A", "Something"), (".", "]"), id="not at a picture",
        ),
        pytest.param(
            "# A\n\n" + "".join(f"**Part {n}**\n\n{prose(10 * n, 5)}\n\n" for n in range(12)),
            ("# A", "Something", "**Part"), ".", id="not behind a bold line, which heads something",
        ),
    ],
)  # fmt: skip
def test_a_long_text_is_cut(text: str, begins, ends):
    found = chunks(text)
    assert len(found) > 3
    assert all(each.startswith(begins) and each.endswith(ends) for each in found)
    assert all(len(each) <= CHUNK_CHARS for each in found)


@pytest.mark.parametrize(
    ("text", "title", "paths"),
    [
        pytest.param(f"# Manual\n\n## A\n\n{prose(0, 9)}", "Manual - Example", [("A",)], id="no title"),
        pytest.param(
            f"# A\n\n{prose(0, 9)}\n\n## A1\n\nSmall.\n\n# B\n\n{prose(0, 9)}\n\n## B1\n\nSmall too.\n",
            "", [("A",), ("A", "A1"), ("B",), ("B", "B1")], id="small sections of different parents stay apart",
        ),
        pytest.param(
            f"# A\n\n{prose(0, 9)}\n\n## Related\n\n## Send us a message\n", "", [("A",)],
            id="a heading that nothing follows is with what stands before it",
        ),
    ],
)  # fmt: skip
def test_chunks_have_the_paths_of_their_sections(text: str, title: str, paths):
    found = parted(text, title=title)
    assert [each.path for each in found] == paths
    assert found[-1].end == len(text.rstrip())


TABLE = "| Name | Value |\n| --- | --- |\n"
CODE = "```python\n"


@pytest.mark.parametrize(
    ("block", "more"),
    [
        pytest.param(TABLE, "| Some name | Some value. |\n" * 60, id="table"),
        pytest.param(CODE, "x = 1\n\ny = 2\n" * 120 + "```\n", id="code"),
    ],
)
def test_code_and_tables_are_whole_unless_they_are_very_long(block: str, more: str):
    block += more
    text = f"# A\n\n{prose(0, 16)}\n\nThis is it:\n\n{block}\n{prose(50, 16)}"
    (whole,) = (each for each in chunks(text) if block.strip() in each)
    assert len(whole) <= 2.25 * CHUNK_CHARS
    assert "This is it:" in whole
    long = f"# A\n\n{block}{more * 3}" if block[0] == "|" else f"# A\n\n{block[:-4] * 4}"
    found = parted(long)
    assert len(found) > 2
    assert all(long[each.end : each.end + 1] in {"\n", ""} for each in found)


def test_a_size_may_be_counted_in_something_else():
    text = "\n\n".join(f"## {n}\n\n{prose(0, 40)}" for n in range(3))
    in_words: Callable[[str], int] = lambda each: len(each.split())  # noqa: E731 - a measure
    sizes = [in_words(each) for each in chunks(text, most=100, measure=in_words)]
    assert 60 < sum(sizes) / len(sizes) <= max(sizes) <= 110


PIECES = [
    "# A\n\n", "## B\n\n", "### C\n", "Cat sat. ", "dog. ", "\n\n", "漢字。", "```\n", "| a | b |\n",
    "- item\n", "Look:\n\n", "x" * 90, " ", "\n", "\u00a0", "**Bold**\n\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=80), st.integers(1, 300))
def test_chunks_cut_the_exact_text_and_leave_out_only_blank_space(parts: list[str], most: int):
    text = "".join(parts)
    found = parted(text, most=most)
    position = 0
    for each in found:
        assert each.start < each.end <= len(text)
        assert not text[position : each.start].strip()
        cut = text[each.start : each.end]
        assert cut.strip() == cut.strip("\n").strip()
        assert cut[-1].strip()
        position = max(position, each.end)
    assert not text[position:].strip()
    assert found == parted(text, most=most)
    starts = [each.start for each in found]
    assert starts == sorted(set(starts))


def ids(text: str) -> list[str]:
    return [
        chunk_id("https://e.org/", each.path, text[each.start : each.end]) for each in parted(text)
    ]


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=2, max_size=6),
    st.data(),
)
def test_a_changed_paragraph_changes_only_chunks_of_its_section(sections, data):
    """The others keep their ids, and so do those of the section that end before its chunk begins.

    No section is so small that it is merged with its neighbours, neither before nor after.
    """
    page = [
        [prose(1_000 * section + 20 * at, size + 5) for at, size in enumerate(sizes)]
        for section, sizes in enumerate(sections)
    ]
    section = data.draw(st.integers(0, len(page) - 1))
    at = data.draw(st.integers(0, len(page[section]) - 1))
    before = _written(page)
    old = page[section][at]
    page[section][at] = data.draw(
        st.sampled_from([old.replace("number", "figure"), prose(90_000, 6), prose(90_000, 20)])
    )
    after = _written(page)
    kept = set(ids(after))
    start, end = before.index(f"## S{section}\n"), before.find(f"## S{section + 1}\n")
    place = before.index(old, start)
    for each in parted(before):
        cut = before[each.start : each.end]
        is_elsewhere = each.end <= start or (end >= 0 and each.start >= end)
        if is_elsewhere or each.end < place - CHUNK_CHARS:
            assert chunk_id("https://e.org/", each.path, cut) in kept


def test_an_edit_changes_only_the_chunks_that_hold_it_as_a_rule():
    """In one long section; after a cut that has to move, the following ones are soon the same as before."""
    paragraphs = [prose(20 * n, 1 + n * 7 % 5) for n in range(120)]
    old = ids("# A\n\n" + "\n\n".join(paragraphs))
    gone = []
    for at in range(5, 115, 10):
        edited = [*paragraphs[:at], f"New. {paragraphs[at]} And more of it.", *paragraphs[at + 1 :]]
        gone.append(len({*old} - {*ids("# A\n\n" + "\n\n".join(edited))}))
    assert len(old) > 20
    assert sum(each <= 2 for each in gone) >= 8
    assert max(gone) < len(old) / 2


def _written(page: list[list[str]]) -> str:
    return "\n\n".join(f"## S{at}\n\n" + "\n\n".join(each) for at, each in enumerate(page))


@pytest.mark.parametrize(
    "unit",
    ["a", " ", ". ", "A. ", "\n", "字", "。", "a\n\n", "# a\n", "## a\n\nb\n", "|a\n", "```\na\n\n", "- a\n",
     "> a\n", "a:\n\n", "**a**\n\n", "    a\n", "|a|\n\n", "```", "* * *\n"],
)  # fmt: skip
def test_hostile_text_is_parted_too(unit: str):
    text = unit * (60_000 // len(unit))
    found = parted(text)
    assert all(each.end - each.start <= 2.25 * CHUNK_CHARS for each in found)
    assert sum(each.end - each.start for each in found) <= 1.5 * len(text)


def test_an_id_is_made_of_address_path_and_text():
    made = [
        ("https://e.org/", ("A", "B")),
        ("https://e.org/", ("A",)),
        ("https://e.org/x", ("A", "B")),
    ]
    ids = {chunk_id(address, path, "text") for address, path in made}
    assert {len(each) for each in ids} == {64}
    assert len(ids) == 3
