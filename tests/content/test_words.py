"""What a word is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.words import count, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, wide World!", ["hello", "wide", "world"]),
        ("don't re-read snake_case 3.14", ["don't", "re-read", "snake_case", "3", "14"]),
        ("漢字かな text", ["漢", "字", "か", "な", "text"]),
        ("한국어 페이지", ["한국어", "페이지"]),
        ("यह पहला वाक्य है।", ["यह", "पहला", "वाक्य", "है"]),
        ("Привет мир", ["привет", "мир"]),
        ("[a link](https://e.org/x) b", ["a", "link", "b"]),
        ("**bold** --- | # `code`", ["bold", "code"]),
        ("", []),
    ],
)
def test_words_are_found_in_any_script(text: str, found: list[str]):
    assert words(text) == found


@given(text=st.text("aÉß9_-' \u2019\u0301\u0130.[](漢", max_size=20))
def test_words_are_the_same_beside_those_of_another_script(text: str):
    assert words(f"{text} 語 मैं") == [*words(text), "語", "मैं"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("some words [a link](https://e.org/x), and more; " * 10_000, id="sentences"),
        pytest.param("漢" * 300_000, id="no spaces"),
        pytest.param("word\n" * 65_536, id="lines"),
    ],
)
def test_words_are_counted_however_long_a_text_is(text: str):
    assert count(text) == len(words(text))
