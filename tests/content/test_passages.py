"""The passages of a text, those that fit a question best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.outline import headings
from searx_mcp.content.passages import relevant

MANUAL = """Before everything.

# Manual

General words about the program and its makers.

## Install

Get the package and unpack it anywhere.

### Linux

Use the package manager of the system.

## Configure

Timeouts are set in seconds. The retry limit is a number.

# Licence

Free for everybody.
"""
OUTLINE = headings(MANUAL)


def spans(question: str, max_chars: int = 1_000) -> list[str]:
    return [
        MANUAL[span.start : span.end].strip()
        for span in relevant(MANUAL, OUTLINE, question, max_chars)
    ]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I set timeouts?", "## Configure"),
        ("package manager", "### Linux"),
        ("licence", "# Licence"),
        ("install on LINUX", "### Linux"),
        ("everything", "Before everything."),
    ],
)
def test_the_passage_that_fits_best_comes_first(question: str, first: str):
    assert spans(question)[0].startswith(first)


@pytest.mark.parametrize("question", ["", "zebra", "???", "the"])
def test_without_a_word_of_the_question_there_is_no_passage(question: str):
    text = "The one.\n\n# A\n\nThe other.\n\n# B\n\nThe third."
    assert relevant(text, headings(text), question, 1_000) == []


def test_a_word_of_the_heading_counts_for_all_that_stands_under_it():
    text = "# Cats\n\n" + "They sleep. " * 200 + "\n\n# Dogs\n\n" + "They bark. " * 200
    found = relevant(text, headings(text), "dogs", 5_000)
    assert {span.path for span in found} == {("Dogs",)}
    assert len(found) > 1


def test_passages_fill_the_window_and_not_more():
    text = "\n\n".join(f"Filler sentence {number} without the word." for number in range(300))
    text = text.replace("sentence 50 ", "needle 50 ").replace("sentence 250 ", "needle 250 ")
    found = relevant(text, (), "needle", 3_000)
    assert len(found) == 2
    assert all("needle" in text[span.start : span.end] for span in found)
    assert sum(span.end - span.start for span in found) <= 3_000
    assert len(relevant(text, (), "needle", 1_300)) == 1


def test_a_passage_that_does_not_fit_at_all_is_cut():
    (span,) = relevant(MANUAL, OUTLINE, "timeouts", 30)
    assert 0 < span.end - span.start <= 30
    assert MANUAL[span.start :].startswith("## Configure")


def test_words_of_han_and_kana_are_found():
    text = "# 概要\n\nこれは説明です。\n\n# 設定\n\n時間の制限を秒で書く。\n\n# 終\n\nおわり。"
    found = relevant(text, headings(text), "制限", 1_000)
    assert text[found[0].start :].startswith("# 設定")


@given(
    st.lists(st.sampled_from(["# A\n", "## B\n", "cat ", "dog. ", "\n\n", "漢字。"]), max_size=60)
)
def test_passages_are_the_same_each_time_and_within_the_text(pieces: list[str]):
    text = "".join(pieces)
    found = relevant(text, headings(text), "cat 漢", 50)
    assert found == relevant(text, headings(text), "cat 漢", 50)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert sum(span.end - span.start for span in found) <= 50
