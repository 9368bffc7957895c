"""Sections, and where a text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.outline import headings
from searx_mcp.content.sections import Span, cut, path, section_span, sections


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
