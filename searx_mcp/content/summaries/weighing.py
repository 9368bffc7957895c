"""How much a sentence says: of what was asked, or of the whole page."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final

from searx_mcp.content.summaries.prose import Prose, Sentence

_K1: Final = 1.2
_B: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)."""

_HEADING: Final = 0.5
_BEFORE: Final = 0.3
_BEHIND: Final = 0.05
_BLOCK: Final = 0.05
"""What a word counts that stands in a heading above, in the sentence before, in the one behind, or
anywhere in the same block, where one in the sentence itself counts 1."""

_TITLE_SHARE: Final = 0.6
"""What a word of the question counts that the title of the page has: the whole page is about it."""

_FIGURE: Final = 1.3
"""By how much a sentence with a figure wins where a figure is asked for."""

_EARLY: Final = 0.1
_EARLY_REACH: Final = 5
"""By how much the first sentence wins over an equal later one that answers a question, and after how
many sentences that is halved."""

_LEAD: Final = 1.0
_LEAD_REACH: Final = 4
"""The same where nothing was asked: then a page says first what it is about."""

_OPENING: Final = 1.2
"""By how much the first sentence of a block wins."""

_COMMON: Final = 0.3
_FEW: Final = 10
"""A word in more than this share of at least so many sentences says nothing about any of them."""


_ENOUGH: Final = 3
"""Sentences from which on a page is told by them alone, and not by its labels and items too."""


def relevance(prose: Prose, asked: set[str], *, title: set[str], wants_figure: bool) -> list[float]:
    """How well each sentence answers, by BM25 over the sentences of the page.

    A sentence counts with its surroundings: its headings, its neighbours and its block.

    Args:
        prose: of the page.
        asked: terms of the question.
        title: terms of the title of the page.
        wants_figure: whether the answer has a figure, as far as the question shows.

    Returns:
        A score for each sentence; 0 where neither it nor its surroundings have a term.
    """
    sentences = prose.sentences
    own = [asked & sentence.terms for sentence in sentences]
    idf = _rarity(own, len(sentences), asked, title)
    headings = [asked & found for found in prose.headings]
    blocks: dict[int, set[str]] = {}
    for sentence, found in zip(sentences, own, strict=True):
        blocks.setdefault(sentence.block, set()).update(found)
    mean = sum(sentence.size for sentence in sentences) / max(1, len(sentences))
    scores = []
    for index, sentence in enumerate(sentences):
        if not (blocks[sentence.block] or headings[sentence.section]):
            scores.append(0.0)
            continue
        weights: dict[str, float] = dict.fromkeys(sorted(own[index]), 1.0)
        _add(weights, headings[sentence.section], _HEADING)
        _add(weights, blocks[sentence.block], _BLOCK)
        for at, weight in ((index - 1, _BEFORE), (index + 1, _BEHIND)):
            if (
                not sentence.is_row
                and 0 <= at < len(sentences)
                and sentences[at].block == sentence.block
            ):
                _add(weights, own[at], weight)
        score = _bm25(weights, idf, _K1 * (1 - _B + _B * sentence.size / mean))
        if wants_figure and score and has_figure(sentence.text):
            score *= _FIGURE
        scores.append(score * (1 + _EARLY / (1 + index / _EARLY_REACH)))
    return scores


def centrality(prose: Prose, *, title: set[str]) -> list[float]:
    """How much of the page each sentence holds: the cosine with the sum of all, by TF-IDF.

    The beginning of the page and of each block is preferred, and so is what shares words with the title. Rows of tables are
    worth nothing, nor is what does not end like a sentence, where there are sentences.
    """
    sentences = prose.sentences
    has_whole = sum(sentence.is_whole for sentence in sentences) >= _ENOUGH
    total = len(sentences)
    frequency = Counter(term for sentence in sentences for term in sentence.terms)
    limit = _COMMON * total if total >= _FEW else total
    idf = {term: math.log(1 + total / found) for term, found in frequency.items() if found <= limit}
    whole = Counter(chain.from_iterable(sentence.counts for sentence in sentences))
    # What a term adds to the norm of a sentence, and to its product with the sum of all.
    parts = {term: (weight * weight, weight * weight * whole[term]) for term, weight in idf.items()}
    scores = []
    block = -1
    for index, sentence in enumerate(sentences):
        found = [parts[term] for term in sentence.counts if term in parts]
        norm = math.sqrt(sum([square for square, _ in found])) or 1.0
        score = sum([product for _, product in found]) / norm
        score *= 1 + _LEAD / (1 + index / _LEAD_REACH)
        score *= _OPENING if sentence.block != block else 1.0
        score *= 1 + len(title & sentence.terms) / (2 * max(1, len(title)))
        is_part = sentence.is_row or (has_whole and not sentence.is_whole)
        scores.append(0.0 if is_part else score)
        block = sentence.block
    return scores


def has_figure(text: str) -> bool:
    """Whether a sentence holds a figure: a digit of any script, or a Han numeral before a unit."""
    return any(map(str.isdigit, text)) or not _HAN_FIGURES.isdisjoint(text)


_HAN_FIGURES: Final = frozenset("二三四五六七八九十百千万億亿两")


def _rarity(
    own: Sequence[set[str]], total: int, asked: set[str], title: set[str]
) -> dict[str, float]:
    frequency = Counter(term for found in own for term in found)
    return {
        term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
        * (_TITLE_SHARE if term in title else 1.0)
        for term in asked
    }


def _add(weights: dict[str, float], found: set[str], weight: float) -> None:
    for term in sorted(found):
        weights[term] = weights.get(term, 0.0) + weight


def _bm25(weights: dict[str, float], idf: dict[str, float], norm: float) -> float:
    return math.fsum(
        idf[term] * weight * (_K1 + 1) / (weight + norm) for term, weight in weights.items()
    )


def similarity(left: Sentence, right: Sentence) -> float:
    """Share of the terms of two sentences that both have."""
    common = len(left.terms & right.terms)
    return common / (len(left.terms) + len(right.terms) - common) if common else 0.0
