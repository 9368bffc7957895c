"""The passages of a text in Markdown, in the order in which they fit a question.

BM25 of each passage with the text itself as the collection (Robertson and Zaragoza, "The Probabilistic
Relevance Framework", 2009), in which the words of the headings above count too; and on top of it how much of
the question a passage has, by the weight of its words and by its pairs of words. What was measured, and
beside what else: `docs/decisions/passages.md`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from searx_mcp.content.markdown import in_code
from searx_mcp.content.outline import Span, block_ends, cut, has_words, sections
from searx_mcp.content.words import folded, stems, terms, tokens
from searx_mcp.models.page import Heading, Passage

_CHARS: Final = 600
"""Paragraphs of a section are joined up to so many characters, about 150 tokens: some passages of different
sections then fit a window, and each still says something."""
_MOST_CHARS: Final = 1_200
"""A block that is longer is parted, unless it is code."""
_MOST_CODE: Final = 2_400
"""Likewise for fenced code, whose parts do not stand well alone."""

_K1: Final = 1.2
_B: Final = 0.75
_HEADING_WEIGHT: Final = 2.0
"""How much a word in the titles above a passage counts, in words of the passage."""

UNLIKE: Final = 8
"""Parts without a word of the question that `score_all` imagines beside those it gets: of one or two parts
nothing can be told about how rare a word is, and it would weigh less than one that is in none."""
_SHARE_WEIGHT: Final = 0.15
"""What coverage and pairs each count beside BM25, which is a share of what it can be at most: the best passage of a page
has about half of that."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage and how well it fits.

    Attributes:
        span: where it stands.
        score: as of `Match`.
    """

    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits a question, whatever other texts do.

    Attributes:
        score: 0 to 1; 0 without a word of the question. The mean of three shares: BM25 of the most that it
            could be, `coverage`, and pairs of neighbouring words of the question that are neighbours in
            the text; BM25 counts the most. It rises with each. Of the 193 questions of
            `benchmarks/passages_data`, the passage that answers has 0.15 to 0.52 (the second and the eighth
            tenth), the best one of a page about something else 0 to 0.13.
        coverage: 0 to 1; the share of the question that is in the text or its headings, by the weight of
            its words.
    """

    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class _Found:
    """The parts of a question that stand in one passage: how often, by term, and which pairs."""

    counts: dict[str, float]
    pairs: frozenset[tuple[str, str]]


def rank(markdown: str, outline: Sequence[Heading], question: str) -> list[Ranked]:
    """All passages of a text, those that fit a question best first.

    Args:
        markdown: the text. Linear in its length.
        outline: its headings, in order.
        question: words to look for.

    Returns:
        The whole text in parts of a section each, of whole paragraphs where these are not too long. Behind
        those with words of the question come the others, the nearest to the best one first. Empty if it has no
        word of the question.
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
    """The passages of a part of a page, those that fit a question best first.

    Args:
        markdown: of the page.
        outline: its headings, in order.
        question: words to look for.
        title: of the page; a heading that it begins with is in no path.
        begin: code points before the part.
        end: code points up to its end; all of the page unless given.

    Returns:
        All of the part; empty if the page has no word of the question.
    """
    is_code = in_code(markdown)
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
                    is_code=start > 0 and is_code(start - 1) and is_code(start),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Words:
    """A text by its words.

    Attributes:
        body: its terms (`words.terms`), in order.
        titles: those of the headings above it.
        length: its code points.
    """

    body: Sequence[str]
    titles: Sequence[str]
    length: int


def words_of(text: str, titles: Sequence[str] = ()) -> Words:
    """Take a text in Markdown and the headings above it apart."""
    return Words(stems(tokens(text)), stems(tokens(" ".join(titles))), len(text))


def score_all(
    parts: Sequence[Words | tuple[str, Sequence[str]]],
    question: str,
    *,
    weights: Mapping[str, float] | None = None,
) -> list[Match]:
    """Tell how well texts fit a question, by what orders the passages of a page.

    Args:
        parts: texts in Markdown with the headings above each, or their words where they are known, which takes a
            twentieth of the time. Linear in their length.
        question: words to look for.
        weights: of the question's terms (`words.terms`), as `weigh` gives them for a collection; one that
            is not among them weighs what it does in the parts. All do unless given.

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
    known = _frequency(found)
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
    """Give what each term tells of a text it stands in (inverse document frequency).

    Args:
        times: how many texts of a collection have each term.
        total: texts of the collection.
    """
    return {
        term: math.log(1 + (total - found + 0.5) / (found + 0.5)) for term, found in times.items()
    }


def _parts(markdown: str, outline: Sequence[Heading]) -> Iterator[Span]:
    """The whole text in order: blocks of one section, joined while they are short."""
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
    """Find where to part a block that is too long: code and tables between two lines."""
    if is_code(start) or markdown.startswith("|", start):
        line = markdown.rfind("\n", start + most // 2, start + most) + 1
        if line:
            return line
    return cut(markdown, start, most)


def _find(
    body: str, path: Sequence[str], wanted: frozenset[str], pairs: frozenset[tuple[str, str]]
) -> _Found:
    """Give what of the question stands in a passage and in the titles above it."""
    found: list[Sequence[str]] = []
    for text in (body, " ".join(path)):
        plain = folded(text)
        # It is much faster to look for the terms than to take all words apart.
        found.append(stems(tokens(text)) if any(term in plain for term in wanted) else ())
    return _count(found[0], found[1], wanted, pairs)


def _count(
    body: Sequence[str],
    titles: Sequence[str],
    wanted: frozenset[str],
    pairs: frozenset[tuple[str, str]],
) -> _Found:
    """Give what of the question stands among the words of a passage and of the titles above it."""
    counts: dict[str, float] = {}
    seen: set[tuple[str, str]] = set()
    for words, weight in ((body, 1.0), (titles, _HEADING_WEIGHT)):
        for term in words:
            if term in wanted:
                counts[term] = counts.get(term, 0.0) + weight
        seen |= pairs.intersection(pairwise(words))
    return _Found(counts, frozenset(seen))


def _frequency(found: Iterable[_Found]) -> Counter[str]:
    """Count the passages that have each term."""
    return Counter(term for each in found for term in each.counts)


def _match(
    found: _Found, weights: dict[str, float], whole: float, pairs: int, length: float
) -> Match:
    """Put the three shares together; `length` is that of the text by that of a usual one."""
    if not found.counts or not whole:
        return Match(0.0, 0.0)
    # BM25 nears this sum of weights, the more often all terms stand in a text.
    share = _bm25(found.counts, weights, length) / (whole * (_K1 + 1))
    covered = math.fsum(weights[term] for term in found.counts) / whole
    score, most = share + _SHARE_WEIGHT * covered, 1 + _SHARE_WEIGHT
    if pairs:
        score, most = score + _SHARE_WEIGHT * len(found.pairs) / pairs, most + _SHARE_WEIGHT
    return Match(min(1.0, score / most), min(1.0, covered))


def _bm25(counts: dict[str, float], weights: dict[str, float], length: float) -> float:
    norm = _K1 * (1 - _B + _B * length)
    # Sorted, so that the sum of floats is the same in every run.
    return sum(
        weights[term] * times * (_K1 + 1) / (times + norm)
        for term, times in sorted(counts.items())
        if term in weights
    )
