"""The passages of a Markdown text, ranked by how well they fit a question.

BM25 of each passage with the text itself as the collection (Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009), which also counts the words of the headings above; plus the share of the question that a passage
covers, by the weight of its words and by its pairs of words. The measurements, with the alternatives:
`docs/decisions/passages.md`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from searx_mcp.content.chunks import Text
from searx_mcp.content.markdown import in_code
from searx_mcp.content.outline import Span, block_ends, cut, has_words, sections
from searx_mcp.content.words import folded, stems, terms, tokens
from searx_mcp.models.page import Heading, Passage

_CHARS: Final = 600
"""Paragraphs of a section are joined up to this many characters, about 150 tokens: then some passages of different
sections fit in a window, and each is still meaningful."""
_MOST_CHARS: Final = 1_200
"""A longer block is split, unless it is code."""
_MOST_CODE: Final = 2_400
"""Likewise for fenced code, since parts of it are hard to understand alone."""

_K1: Final = 1.2
_B: Final = 0.75
_HEADING_WEIGHT: Final = 2.0
"""Weight of a word in the titles above a passage, relative to one in the passage."""

UNLIKE: Final = 8
"""Imaginary parts without a word of the question that `score_all` adds to its parts: one or two parts do not show how
rare a word is, and a word in them would weigh less than one that is in none."""
_SHARE_WEIGHT: Final = 0.15
"""Weight of coverage and of pairs relative to BM25, which is a share of its maximum: the best passage of a page has
about half of that."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage and how well it fits.

    Attributes:
        span: its position.
        score: as in `Match`.
    """

    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits a question, independently of other texts.

    Attributes:
        score: 0 to 1; 0 without a word of the question. The weighted mean of three shares: BM25 as a share of its
            maximum, `coverage`, and the share of pairs of neighbouring words in the question that are neighbours in
            the text; BM25 has the largest weight. It rises with each. For the 193 questions of
            `benchmarks/passages_data`, the passage that answers has 0.15 to 0.52 (the second and the eighth tenth),
            the best one of a page about something else 0 to 0.13.
        coverage: 0 to 1; the share of the question that is in the text or its headings, by the weight of its words.
    """

    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class _Found:
    """The parts of a question in one passage: how often each term occurs, and which pairs."""

    counts: dict[str, float]
    pairs: frozenset[tuple[str, str]]


def rank(markdown: str, outline: Sequence[Heading], question: str) -> list[Ranked]:
    """Rank all passages of a text by how well they fit a question.

    Args:
        markdown: the text. Linear in its length.
        outline: its headings, in order.
        question: words to search for.

    Returns:
        The whole text in parts of one section each, in whole paragraphs if these are not too long. After the parts
        with words of the question come the others, the closest to the best one first. Empty if it has no word of
        the question.
    """
    spans = [*_parts(markdown, outline)]
    matches = score_all([(markdown[each.start : each.end], each.path) for each in spans], question)
    ranked = [Ranked(span, match.score) for span, match in zip(spans, matches, strict=True)]
    if not any(each.score for each in ranked):
        return []
    top = max(range(len(ranked)), key=lambda index: ranked[index].score)
    order = sorted(range(len(ranked)), key=lambda index: (-ranked[index].score, abs(index - top)))
    return [ranked[index] for index in order]


def passages(
    markdown: str,
    outline: Sequence[Heading],
    question: str,
    *,
    title: str = "",
    begin: int = 0,
    end: int | None = None,
) -> list[Passage]:
    """Rank the passages of a part of a page by how well they fit a question.

    Args:
        markdown: of the page.
        outline: its headings, in order.
        question: words to search for.
        title: of the page; a heading that it begins with is in no path.
        begin: code points before the part.
        end: code points up to its end; by default the end of the page.

    Returns:
        All of the part; empty if the page has no word of the question.
    """
    text = Text(markdown)
    last = len(markdown) if end is None else end
    found: list[Passage] = []
    for span in (each.span for each in rank(markdown, outline, question)):
        start, stop = max(begin, span.start), min(span.end, last)
        if start < stop:
            is_titled = bool(span.path) and title.startswith(span.path[0])
            found.append(
                Passage(
                    path=span.path[1:] if is_titled else span.path,
                    offset=start,
                    text=markdown[start:stop],
                    head=text.head(start),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text.

    Attributes:
        body: its terms (`words.terms`), in order.
        titles: those of the headings above it.
        length: its code points.
    """

    body: Sequence[str]
    titles: Sequence[str]
    length: int


def words_of(text: str, titles: Sequence[str] = ()) -> Words:
    """Split a Markdown text and the headings above it into words."""
    return Words(stems(tokens(text)), stems(tokens(" ".join(titles))), len(text))


def score_all(
    parts: Sequence[Words | tuple[str, Sequence[str]]],
    question: str,
    *,
    weights: Mapping[str, float] | None = None,
) -> list[Match]:
    """Score how well texts fit a question, as `rank` does for the passages of a page.

    Args:
        parts: Markdown texts with the headings above each, or their words if they are known, which takes a
            twentieth of the time. Linear in their length.
        question: words to search for.
        weights: of the question's terms (`words.terms`), from `weigh` for a collection; missing ones are
            computed from the parts. By default all are.

    Returns:
        One match for each part, in their order.
    """
    asked = terms(question)
    wanted, pairs = frozenset(asked), frozenset(pairwise(asked))
    found = [
        _count(each.body, each.titles, wanted, pairs)
        if isinstance(each, Words)
        else _find(*each, wanted, pairs)
        for each in parts
    ]
    known = Counter(term for each in found for term in each.counts)
    weighed = weigh({term: known[term] for term in wanted}, len(found) + UNLIKE)
    weighed |= {term: weight for term, weight in (weights or {}).items() if term in wanted}
    whole = math.fsum(weighed.values())
    lengths = [each.length if isinstance(each, Words) else len(each[0]) for each in parts]
    usual = sum(lengths) / max(1, len(lengths)) or 1.0
    return [
        _match(each, weighed, whole, len(pairs), length / usual)
        for each, length in zip(found, lengths, strict=True)
    ]


def weigh(times: Mapping[str, int], total: int) -> dict[str, float]:
    """Compute the weight of each term for a text that contains it (inverse document frequency).

    Args:
        times: how many texts of a collection have each term.
        total: texts of the collection.
    """
    return {
        term: math.log(1 + (total - found + 0.5) / (found + 0.5)) for term, found in times.items()
    }


def _parts(markdown: str, outline: Sequence[Heading]) -> Iterator[Span]:
    """Split the whole text, in order: blocks of one section, joined while they are short."""
    is_code = in_code(markdown)
    start = 0
    is_filled = False
    path: tuple[str, ...] = ()
    for section in sections(outline, len(markdown)):
        path, behind = section.path, section.start
        for end in block_ends(markdown, section, is_code):
            if is_filled and end - start > _CHARS:
                yield Span(start, behind, path)
                start, is_filled = behind, False
            most = _MOST_CODE if is_code(behind) else _MOST_CHARS
            while end - start > most:
                stop = _cut(markdown, start, most, is_code)
                yield Span(start, stop, path)
                start = stop
            is_filled = is_filled or has_words(markdown[max(start, behind) : end])
            behind = end
        if is_filled:
            yield Span(start, behind, path)
            start, is_filled = behind, False
    if start < len(markdown):
        yield Span(start, len(markdown), path)


def _cut(markdown: str, start: int, most: int, is_code: Callable[[int], bool]) -> int:
    """Find where to split a block that is too long; code and tables between two lines."""
    if is_code(start) or markdown.startswith("|", start):
        line = markdown.rfind("\n", start + most // 2, start + most) + 1
        if line:
            return line
    return cut(markdown, start, most)


def _find(
    body: str, path: Sequence[str], wanted: frozenset[str], pairs: frozenset[tuple[str, str]]
) -> _Found:
    """Find the parts of the question in a passage and in the titles above it."""
    found: list[Sequence[str]] = []
    for text in (body, " ".join(path)):
        plain = folded(text)
        # Searching for the terms is much faster than splitting the text into words.
        found.append(stems(tokens(text)) if any(term in plain for term in wanted) else ())
    return _count(found[0], found[1], wanted, pairs)


def _count(
    body: Sequence[str],
    titles: Sequence[str],
    wanted: frozenset[str],
    pairs: frozenset[tuple[str, str]],
) -> _Found:
    """Find the parts of the question among the words of a passage and of the titles above it."""
    counts: dict[str, float] = {}
    seen: set[tuple[str, str]] = set()
    for words, weight in ((body, 1.0), (titles, _HEADING_WEIGHT)):
        for term in words:
            if term in wanted:
                counts[term] = counts.get(term, 0.0) + weight
        seen |= pairs.intersection(pairwise(words))
    return _Found(counts, frozenset(seen))


def _match(
    found: _Found, weights: dict[str, float], whole: float, pairs: int, length: float
) -> Match:
    """Combine the three shares; `length` is relative to the average text."""
    if not found.counts or not whole:
        return Match(0.0, 0.0)
    # BM25 approaches this sum of weights as all terms occur more often.
    share = _bm25(found.counts, weights, length) / (whole * (_K1 + 1))
    covered = math.fsum(weights[term] for term in found.counts) / whole
    score, most = share + _SHARE_WEIGHT * covered, 1 + _SHARE_WEIGHT
    if pairs:
        score, most = score + _SHARE_WEIGHT * len(found.pairs) / pairs, most + _SHARE_WEIGHT
    return Match(min(1.0, score / most), min(1.0, covered))


def _bm25(counts: dict[str, float], weights: dict[str, float], length: float) -> float:
    norm = _K1 * (1 - _B + _B * length)
    # Sorted, so that the floating-point sum is the same in every run.
    return sum(
        weights[term] * times * (_K1 + 1) / (times + norm)
        for term, times in sorted(counts.items())
        if term in weights
    )
