"""Texts are scored as the official programs of the annotated sets score them."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def scores(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("extracting.scores")


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        pytest.param("one two three four", "one two three four", (1, 1, 1), id="equal"),
        pytest.param("One, TWO!", "one two", (1, 1, 1), id="case and marks do not count"),
        pytest.param("one two", "two one", (1, 1, 1), id="nor does the order"),
        pytest.param("one two", "one two three four", (2 / 3, 1 / 2, 1), id="too much"),
        pytest.param("one two three four", "one two", (2 / 3, 1, 1 / 2), id="too little"),
        pytest.param("one one two", "one two two", (2 / 3, 2 / 3, 2 / 3), id="words are counted"),
        pytest.param("one", "two", (0, 0, 0), id="nothing shared"),
        pytest.param("one", "", (0, 0, 0), id="no text"),
        pytest.param("", "", (1, 1, 1), id="nothing to find, nothing found"),
        pytest.param("", "one", (0, 0, 0), id="nothing to find, something found"),
        pytest.param("日本語 文", "日本語 文", (1, 1, 1), id="a run without spaces is one word"),
    ],
)
def test_words_are_compared_as_multisets(scores: ModuleType, gold, text, expected):
    score = scores.word_score(gold, text)
    assert (score.f1, score.precision, score.recall) == pytest.approx(expected)


def test_the_word_score_of_a_set_is_the_mean_over_its_pages(scores: ModuleType):
    pairs = [(scores.Gold("one two three four five six"), "one"), (scores.Gold("a"), "a")]
    score = scores.mean_word_score(pairs)
    assert score.precision == 1
    assert score.recall == pytest.approx((1 / 6 + 1) / 2)
    assert score.f1 == pytest.approx((2 / 7 + 1) / 2)


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        pytest.param("a b c d e", "a b c d e", (1, 0, 0), id="equal"),
        pytest.param("a b c d e", "a b c d", (1 / 2, 0, 1 / 2), id="one of two runs"),
        pytest.param("a b c d", "x a b c d", (1 / 2, 1 / 2, 0), id="a word in front"),
        pytest.param("a b", "a b", (1, 0, 0), id="a short text is one run"),
        pytest.param("A b c d", "a b c d", (0, 1 / 2, 1 / 2), id="case counts"),
        pytest.param("a, b - c: d", "a b c d", (1, 0, 0), id="marks do not"),
        pytest.param("", "", (0, 0, 0), id="nothing at all"),
        pytest.param("", "a b c d", (0, 1, 0), id="no gold"),
    ],
)
def test_runs_of_four_words_are_counted_and_made_shares(scores: ModuleType, gold, text, expected):
    assert scores.shingle_counts(gold, text) == pytest.approx(expected)


def test_the_shingle_score_is_made_of_mean_precision_and_mean_recall(scores: ModuleType):
    pairs = [
        (scores.Gold("a b c d e"), "a b c d"),
        (scores.Gold("a b c d"), "x a b c d"),
        (scores.Gold("a b c d"), ""),
    ]
    score = scores.shingle_score(pairs)
    assert score.precision == pytest.approx((1 + 1 / 2) / 2), "a page without a text has none"
    assert score.recall == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert score.f1 == pytest.approx(2 * 0.75 * 0.5 / 1.25)


def test_snippets_are_looked_for_without_regard_to_white_space(scores: ModuleType):
    gold = scores.Gold(present=("one  two", "three\nfour", "Five"), absent=("menu", "foot er"))
    assert scores.snippet_counts(gold, "one two\n\nthree four five foot\ter") == (2, 1, 1)


def test_the_snippet_score_adds_up_all_pages_before_it_divides(scores: ModuleType):
    pairs = [
        (scores.Gold(present=("a", "b", "c"), absent=("x",)), "a b c x"),
        (scores.Gold(present=("d",), absent=("x",)), ""),
    ]
    score = scores.snippet_score(pairs)
    assert (score.precision, score.recall) == (3 / 4, 3 / 4)
    assert score.f1 == pytest.approx(6 / 8)


def test_a_page_without_any_text_scores_zero_and_breaks_nothing(scores: ModuleType):
    pairs = [(scores.Gold("a b c d", present=("a",), absent=("b",)), "")]
    assert scores.shingle_score(pairs).f1 == 0
    assert scores.snippet_score(pairs).f1 == 0
    assert scores.mean_word_score(pairs).f1 == 0


def test_the_share_of_snippets_ignores_case_only(scores: ModuleType):
    assert scores.snippet_share(["One two", "three"], "ONE TWO and four") == 0.5
    assert scores.snippet_share([], "") == 1
