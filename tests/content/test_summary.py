"""Which sentences a summary is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.summary import summarize

PAGE = """# Otters of the coast

Otters live along the coast and eat fish. They sleep in the water and hold hands.

- [Home](https://e.org/) | [About](https://e.org/about)
- Their fur is the densest of all animals on earth.

| Table | of numbers that no one reads. |
| --- | --- |

```python
print("This is code, and no sentence at all.")
```

> A quoted sentence about fishing boats stands here. Read more.

Otters live along the coast and eat fish! Hunters once killed nearly all of them for the fur.
"""


def test_without_a_query_the_beginning_leads():
    summary = summarize(PAGE, max_chars=120)
    assert summary.startswith("Otters live along the coast and eat fish.")


def test_a_query_chooses_the_sentences_that_answer_it():
    assert summarize(PAGE, query="dense fur of animals", max_chars=60) == (
        "Their fur is the densest of all animals on earth."
    )


def test_sentences_stand_in_the_order_of_the_page():
    summary = summarize(PAGE, query="hunters killed all for fur", max_chars=200)
    assert summary == (
        "Their fur is the densest of all animals on earth. "
        "Hunters once killed nearly all of them for the fur."
    )


def test_a_query_that_the_page_does_not_know_is_as_good_as_none():
    assert summarize(PAGE, query="zebra", max_chars=100) == summarize(PAGE, max_chars=100)


def test_only_prose_is_chosen_and_nothing_twice():
    summary = summarize(PAGE, max_chars=2_000)
    for left_out in ("#", "Home", "Table", "print", "Read more", "fish!", "> "):
        assert left_out not in summary
    assert "A quoted sentence about fishing boats stands here." in summary


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Dr. Smith met Mr. Jones at noon. They had tea together.",
            "Dr. Smith met Mr. Jones at noon.",
        ),
        (
            "Use tools, e.g. a hammer, for it. Then rest a while.",
            "Use tools, e.g. a hammer, for it.",
        ),
        (
            "It costs 3.50 in J. R. Smith's shop. Pay there in cash.",
            "It costs 3.50 in J. R. Smith's shop.",
        ),
        (
            "The pkg. holds many small files. It is big enough now.",
            "The pkg. holds many small files.",
        ),
        ("He said \u201cgo away now.\u201d She left the room.", "He said \u201cgo away now.\u201d"),
        ("今日は天気がいいです。明日は雨が降ります。", "今日は天気がいいです。"),
        ("这是第一个句子\uff01这是第二个句子\uff1f", "这是第一个句子\uff01"),
        ("یہ پہلا جملہ ہے\u06d4 یہ دوسرا جملہ ہے\u06d4", "یہ پہلا جملہ ہے\u06d4"),
        ("यह पहला वाक्य है। यह दूसरा वाक्य है।", "यह पहला वाक्य है।"),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, first: str):
    assert summarize(text, max_chars=len(first)) == first


def test_a_sentence_that_does_not_fit_is_cut_at_a_word():
    text = "word " * 40 + "end."
    assert summarize(text, max_chars=22) == "word word word word…"
    assert summarize("字" * 100, max_chars=10) == "字" * 9 + "…"


@pytest.mark.parametrize(
    "text", ["", "# Heading only here now", "```\nnever closed code.", "One two."]
)
def test_without_prose_there_is_no_summary(text: str):
    assert summarize(text, query="code", max_chars=100) == ""


def test_very_long_runs_of_stops_are_read_in_one_go():
    assert summarize("!" * 50_000 + "[x] four words are enough.", max_chars=50).endswith("…")


SENTENCES = st.lists(
    st.sampled_from(
        ["The cat sat on the mat.", "Why do dogs bark at night?", "これは日本語の文です。"]
    ),
    max_size=12,
)


@given(SENTENCES, st.sampled_from(["", "cat", "dogs night", "文"]), st.integers(50, 300))
def test_a_summary_is_short_and_verbatim(sentences: list[str], query: str, max_chars: int):
    text = "\n".join(sentences)
    summary = summarize(text, query=query, max_chars=max_chars)
    assert len(summary) <= max_chars
    rest = summary
    for sentence in sorted(set(sentences), key=len, reverse=True):
        rest = rest.replace(sentence, "")
    assert not rest.strip()


@given(st.text(), st.text(), st.integers(50, 500))
def test_any_text_has_a_summary_within_the_bound(text: str, query: str, max_chars: int):
    summary = summarize(text, query=query, max_chars=max_chars)
    assert len(summary) <= max_chars
    assert summary == summarize(text, query=query, max_chars=max_chars)
