"""Headings of Markdown, and how they are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.outline import (
    Span,
    ancestors,
    cut,
    find,
    headings,
    near,
    path,
    section_span,
    sections,
    slug,
)
from searx_mcp.models.page import Heading


def titles(markdown: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in headings(markdown)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# A\n\n## B ##\n\n###### C\n", [(1, "A"), (2, "B"), (6, "C")]),
        ("#\tTab\n   ## Indented\n    # code", [(1, "Tab"), (2, "Indented")]),
        ("#hashtag\n####### seven\n#\n# \n##  ##", []),
        ("# C#\n# D #\n# # E", [(1, "C#"), (1, "D"), (1, "# E")]),
        ("A\n===\n\nB\n---\n", [(1, "A"), (2, "B")]),
        ("one\ntwo\n===", [(1, "one two")]),
        ("---\n\n***\n\n- a\n---\n> b\n---\n| c |\n---\n<p>\n---\n    d\n---", []),
        ("```\n# a\n```\n\n~~~\nb\n---\n~~~\n# c", [(1, "c")]),
        ("- x\n\n  ```sh\n  # a\n  ```\n\n# c", [(1, "c")]),
        ("---\ntitle: x\n---\n\n# A", [(1, "A")]),
        ("---\ntitle: x\n...\n# A", [(1, "A")]),
        ("> # quoted\n- # item", []),
        ("# [Link](https://e.org/a_b) *em* **st** `co_de` \\*", [(1, "Link em st co_de *")]),
        ("# [image: Logo] snake_case _em_ [x][y]", [(1, "Logo snake_case em x")]),
        ("# [[image: Badge]](u)", [(1, "Badge")]),
        ("# \u200b\n# a\u200bb", [(1, "ab")]),
        ("", []),
        ("===\n", []),
        ("-", []),
        ("a" * 2_000 + "\n===", []),
    ],
)
def test_headings_are_read_with_plain_titles(markdown: str, expected: list[tuple[int, str]]):
    assert titles(markdown) == expected


def test_offsets_count_code_points_up_to_the_heading():
    markdown = "\U0001f600é\n\n# A\n\ntext\n\nB\nb\n---\n"
    found = headings(markdown)
    assert [markdown[heading.offset :][:3] for heading in found] == ["# A", "B\nb"]


def test_titles_and_outlines_are_bounded():
    assert len(headings("# x\n" * 6_000)) == 5_000
    assert len(headings("# " + "x" * 500)[0].title) == 200


@given(st.text(alphabet="#=-`~ab \n\t>[]()*_\\1.", max_size=120))
def test_any_text_has_an_outline_in_order(markdown: str):
    offsets = [heading.offset for heading in headings(markdown)]
    assert offsets == sorted(set(offsets))
    assert all(0 <= offset < len(markdown) for offset in offsets)


def outline(*entries: tuple[int, str, str] | tuple[int, str]) -> tuple[Heading, ...]:
    return tuple(
        Heading(level=entry[0], title=entry[1], offset=at, anchor="".join(entry[2:3]))
        for at, entry in enumerate(entries)
    )


PAGE = outline(
    (1, "Manual", "top"),
    (2, "1. Getting started", "start"),
    (3, "Linux"),
    (3, "Windows"),
    (2, "2.3 Usage", "user-content-how-to"),
    (3, "Linux", "é"),
    (2, "Frequently Asked Questions"),
    (2, "What's new?"),
    (2, "A > B"),
)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        pytest.param("#start", 1, id="anchor"),
        pytest.param("start", 1, id="anchor without its mark"),
        pytest.param("#%C3%A9", 5, id="percent-encoded"),
        pytest.param("https://ex.org/a#start", 1, id="address"),
        pytest.param("#start:~:text=x", 1, id="text fragment"),
        pytest.param("#how-to", 4, id="prefix of a host"),
        pytest.param("#frequently-asked-questions", 6, id="slug"),
        pytest.param("#whats-new", 7, id="slug without punctuation"),
        pytest.param("#linux-1", 5, id="numbered slug"),
        pytest.param("#frequently_asked_questions", 6, id="fragment of another kind"),
        pytest.param("Windows", 3, id="title"),
        pytest.param("Linux", 2, id="the first of equal ones"),
        pytest.param("  frequently  ASKED questions ", 6, id="case and spaces"),
        pytest.param("whats new", 7, id="punctuation"),
        pytest.param("Usage", 4, id="without its number"),
        pytest.param("3. Getting Started", 1, id="with another number"),
        pytest.param("Usage > Linux", 5, id="path"),
        pytest.param("Manual > Usage > linux", 5, id="longer path"),
        pytest.param("Manual > Windows", 3, id="path with steps left out"),
        pytest.param("A > B", 8, id="a title and no path"),
        pytest.param("Freq", 6, id="beginning"),
        pytest.param("asked questions", 6, id="some of its words"),
        pytest.param("new", 7, id="one word"),
        pytest.param("Li", None, id="beginning of two"),
        pytest.param("#Freq", None, id="a fragment is no beginning"),
        pytest.param("#L10-L40", None, id="lines"),
        pytest.param("Windows > Linux", None, id="wrong path"),
        pytest.param("Nothing like it", None, id="unknown"),
        pytest.param("", None, id="empty"),
        pytest.param("#", None, id="empty fragment"),
        pytest.param("???", None, id="no letters"),
        pytest.param("\u200b", None, id="nothing visible"),
        pytest.param("#%ff%zz", None, id="broken escapes"),
    ],
)
def test_a_heading_is_found_by(name: str, index: int | None):
    assert find(PAGE, name) == index


@given(st.text(max_size=30) | st.sampled_from([heading.title for heading in PAGE]))
def test_any_name_is_looked_for(name: str):
    index = find(PAGE, name)
    assert index is None or 0 <= index < len(PAGE)
    assert find((), name) is None


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("Widows", ["Windows"]),
        ("frequent questions and answers", ["Frequently Asked Questions"]),
        ("started with linux", ["1. Getting started", "Linux"]),
        ("zzz", []),
    ],
)
def test_titles_near_to_a_name_are_told(name: str, titles: list[str]):
    assert near(PAGE, name) == titles


def test_ancestors_are_the_headings_above():
    assert ancestors(PAGE, 5) == (0, 4)
    assert ancestors(PAGE, 0) == ()
    assert ancestors(outline((3, "a"), (2, "b"), (4, "c")), 2) == (1,)


@pytest.mark.parametrize(
    ("title", "fragment"),
    [("What's new?", "whats-new"), ("C++ & you", "c--you"), ("Über_uns", "über_uns")],
)
def test_slugs_are_those_of_github(title: str, fragment: str):
    assert slug(title) == fragment


HOSTILE = {
    "marks": "#" * 100_000,
    "marks on lines": "# \n" * 50_000,
    "lines": "-\n" * 100_000,
    "paragraphs with lines": "a\n-\n" * 50_000,
    "long paragraph": ("a" * 900 + "\n") * 200 + "---\n",
    "front matter": "---\n" * 50_000,
    "front matter without an end": "---\n" + "a: b\n" * 50_000,
    "brackets": "# " + "[" * 100_000,
    "brackets in headings": ("# " + "[" * 900 + "\n") * 200,
    "stars": ("# " + "*" * 900 + "\n") * 200,
    "links": ("# " + "[a](" * 200 + "\n") * 200,
    "numbers": ("# " + "1." * 400 + "\n") * 200,
    "spaces": " " * 100_000 + "#",
}


@pytest.mark.parametrize("markdown", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_has_an_outline_too(markdown: str):
    found = headings(markdown)
    assert find(found, "a name of nothing > x") is None
    near(found, "abc" * 100)


def test_a_section_holds_the_sections_under_it(manual: str):
    outline = headings(manual)
    start, end = section_span(outline, 1, len(manual))
    assert manual[start:end].startswith("## Install")
    assert manual[start:end].rstrip().endswith("of the system.")
    assert manual[slice(*section_span(outline, 2, len(manual)))].rstrip().endswith("the system.")
    assert section_span(outline, 4, len(manual))[1] == len(manual)
    assert manual[slice(*section_span(outline, 0, len(manual)))].count("#") == 8


def test_a_path_leads_to_a_section(manual: str):
    outline = headings(manual)
    assert path(outline, 2) == ("Manual", "Install", "Linux")
    assert path(outline, 4) == ("Licence",)


def test_sections_cover_the_text_in_order(manual: str):
    outline = headings(manual)
    found = sections(outline, len(manual))
    assert "".join(manual[span.start : span.end] for span in found) == manual
    assert found[0].path == ()
    assert [span.path[-1] for span in found[1:]] == [
        "Manual",
        "Install",
        "Linux",
        "Configure",
        "Licence",
    ]
    assert sections((), 5) == [Span(0, 5, ())]
    assert sections((), 0) == []


@pytest.mark.parametrize(
    ("text", "max_chars", "head"),
    [
        pytest.param("short", 10, "short", id="all of it"),
        pytest.param("One a.\n\nTwo two two two", 12, "One a.\n\n", id="paragraph"),
        pytest.param("Abc def. Ghi jkl mno", 15, "Abc def.", id="sentence"),
        pytest.param("Abc defg\nghi jkl mno", 15, "Abc defg\n", id="line"),
        pytest.param("Abcdefgh ijklmnopqrs", 15, "Abcdefgh ", id="word"),
        pytest.param("a\n\nbcdefghijklmnopqrs", 15, "a\n\nbcdefghijklm", id="a paragraph too early"),
        pytest.param("abcdefghij", 4, "abcd", id="anywhere"),
        pytest.param("One a.\n\n# B\n\n## C\n\nTwo two", 18, "One a.\n\n", id="before headings"),
        pytest.param("- One a.\n22. Two two two", 14, "- One a.\n", id="before the mark of an item"),
        pytest.param("# A\n\nTwo two two", 6, "# A\n\n", id="a heading alone"),
        pytest.param("日本語。日本語の文", 6, "日本語。", id="sentence of Han"),
        pytest.param("abcde\u0301\u0302f", 6, "abcd", id="not between a letter and its marks"),
        pytest.param("abc\U0001f468\u200d\U0001f469x", 4, "abc", id="not in a family"),
        pytest.param("abc\U0001f468\u200d\U0001f469x", 5, "abc", id="nor behind its joiner"),
        pytest.param("abc\U0001f44d\U0001f3fdx", 4, "abc", id="not before a skin tone"),
        pytest.param("ab\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 5, "ab\U0001f1e9\U0001f1ea", id="not in a flag"),
        pytest.param("a" + "\u0301" * 100, 50, "a" + "\u0301" * 49, id="somewhere, at last"),
        pytest.param("abc", 0, "a", id="at least one"),
    ],
)  # fmt: skip
def test_a_text_is_cut_at_the_best_place(text: str, max_chars: int, head: str):
    assert text[: cut(text, 0, max_chars)] == head


@given(
    st.text(alphabet="ab .\n漢。\u0301\u200d\U0001f1e9\U0001f468", max_size=200), st.integers(1, 40)
)
def test_windows_go_on_to_the_end(text: str, max_chars: int):
    start, pieces = 0, []
    while start < len(text):
        end = cut(text, start, max_chars)
        assert start < end <= start + max_chars
        pieces.append(text[start:end])
        start = end
    assert "".join(pieces) == text
    assert cut(text, len(text), max_chars) == len(text)


@pytest.mark.parametrize(
    "unit", ["a", " ", ".", ". ", "\n", "!", "\u0301", "\U0001f1e6", "字", "a.b "]
)
def test_hostile_text_is_cut_too(unit: str):
    assert cut(unit * 100_000, 0, 50_000) <= 50_000
