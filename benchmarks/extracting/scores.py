"""How far a text is from what people marked on a page, in the official way of each set."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_WORD = re.compile(r"\w+")
_SHINGLE: Final = 4
"""Words in a row, as `evaluate.py` of article-extraction-benchmark takes them."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What the main content of a page is.

    Attributes:
        text: the content, or empty where only snippets are known.
        present: snippets that belong to it.
        absent: snippets of the page that do not.
    """

    text: str = ""
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """Of one text or of many, each from 0 to 1.

    Attributes:
        f1: the harmonic mean that the set reports, over its pages.
        precision: how much of the text belongs to the content.
        recall: how much of the content is in the text.
    """

    f1: float
    precision: float
    recall: float


Scorer = Callable[[Sequence[tuple[Gold, str]]], Score]
"""Pairs of gold and text to one score; there is at least one pair."""


def word_score(gold: str, text: str) -> Score:
    r"""Compare the words of two texts, wherever they stand.

    WCXB, `evaluate.py`: runs of `\w` in lower case as multisets; precision and recall are shares of
    the text's and of the gold's words. Against an empty gold an empty text is right.
    """
    expected, found = _words(gold.lower()), _words(text.lower())
    if not expected:
        right = float(not found)
        return Score(right, right, right)
    if not found:
        return Score(0.0, 0.0, 0.0)
    shared = (Counter(expected) & Counter(found)).total()
    precision, recall = shared / len(found), shared / len(expected)
    return Score(_harmonic(precision, recall), precision, recall)


def mean_word_score(pairs: Sequence[tuple[Gold, str]]) -> Score:
    """Score pages by their words.

    WCXB: the mean over pages of precision, of recall and of F1, so that every page counts the same.
    """
    scores = [word_score(gold.text, text) for gold, text in pairs]
    return Score(
        statistics.fmean(score.f1 for score in scores),
        statistics.fmean(score.precision for score in scores),
        statistics.fmean(score.recall for score in scores),
    )


def shingle_counts(gold: str, text: str) -> tuple[float, float, float]:
    """Count runs of four words that two texts share, that are only in the text, only in the gold.

    article-extraction-benchmark, `evaluate.py`: multisets of runs of four words, as they are written
    (a shorter text is one run); the three counts are divided by their sum, so that a long page does
    not weigh more than a short one.
    """
    expected, found = _shingles(gold), _shingles(text)
    shared = (expected & found).total()
    beyond, missing = found.total() - shared, expected.total() - shared
    total = shared + beyond + missing
    if not total:
        return 0.0, 0.0, 0.0
    return shared / total, beyond / total, missing / total


def shingle_score(pairs: Sequence[tuple[Gold, str]]) -> Score:
    """Score pages by runs of four words.

    article-extraction-benchmark: the mean precision of the pages with a text, the mean recall of
    those with a gold, and F1 of the two means.
    """
    counts = [shingle_counts(gold.text, text) for gold, text in pairs]
    precision = _mean(shared / (shared + beyond) for shared, beyond, _ in counts if shared + beyond)
    recall = _mean(shared / (shared + missing) for shared, _, missing in counts if shared + missing)
    return Score(_harmonic(precision, recall), precision, recall)


def snippet_counts(gold: Gold, text: str) -> tuple[int, int, int]:
    """Count snippets found, found though they are no content, and missed.

    trafilatura, `eval_common.py`: substrings after runs of white space became one space.
    """
    shown = _on_one_line(text)
    found = sum(_on_one_line(snippet) in shown for snippet in gold.present)
    wrong = sum(_on_one_line(snippet) in shown for snippet in gold.absent)
    return found, wrong, len(gold.present) - found


def snippet_score(pairs: Sequence[tuple[Gold, str]]) -> Score:
    """Score pages by their snippets.

    trafilatura, `eval_common.py`: counts of all pages are added up before they are divided.
    """
    counts = [snippet_counts(gold, text) for gold, text in pairs]
    found, wrong, missed = (sum(column) for column in zip(*counts, strict=True))
    return Score(
        _share(2 * found, 2 * found + wrong + missed),
        _share(found, found + wrong),
        _share(found, found + missed),
    )


def snippet_share(snippets: Sequence[str], text: str) -> float:
    """Give the share of snippets in a text; 1 if there are none.

    WCXB, `evaluate.py`: substrings in lower case, white space as it is.
    """
    shown = text.lower()
    return _mean(float(snippet.lower() in shown) for snippet in snippets) if snippets else 1.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _words(text)
    runs = (tuple(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1)))
    return Counter(run for run in runs if run)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _harmonic(precision: float, recall: float) -> float:
    return _share(2 * precision * recall, precision + recall)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return statistics.fmean(known) if known else 0.0
