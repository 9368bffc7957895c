"""Extractive summaries: whole sentences of the page, in the order of the page.

No text is generated, so none can be made up. With a query, sentences are weighted by how well they and the text around
them answer it; without one, or if no sentence answers it, the page's own description comes first, and then sentences
that are central to the page and early in it. Repetitions are left out.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from searx_mcp.content.sentences import PageSentences, Sentence, read
from searx_mcp.content.words import FIGURE_PARTS, FIGURE_WORDS, stems, terms, tokens

_MAX_SENTENCES: Final = 400
"""Most sentences that are considered: the first pages of a book are enough for its subject."""
_MAX_CHARS: Final = 40_000
"""Most characters of the page that are considered; about 8 ms. For a longer one, half of this is its beginning and half
are lines with words of the query."""

_REPEATS: Final = 0.6
"""Share of common terms from which a sentence is a repetition."""
_NOVELTY: Final = 0.5
"""Share of a sentence's weight that it loses if it fully repeats another (maximal marginal relevance, Carbonell and
Goldstein 1998)."""
_WORTH: Final = 0.2
"""Share of the best weight below which a sentence does not answer the query."""

_TRUE: Final = 0.65
"""Share of a description's terms that the text must have. In a sixth of WCXB dev, 75 % of the pages with a description
have more; compared with the text of another page, 1 %."""
_TELLING: Final = 6
"""Fewest terms of such a description; a site's motto has fewer, which any text may have by chance."""

_CANDIDATES: Final = 60
"""Best sentences that are candidates: each choice reads all that are left."""

_END: Final = re.compile(r"[^\w\s)\]\u2019'\"`]['\")\]\u2019\u201d]*$")
"""The end of a sentence: punctuation, and closing characters after it."""
_SEPARATOR: Final = "; "
_OPEN: Final = (":", "?", "\uff1a", "\uff1f")
"""Ends of sentences that only announce something or ask."""

_KEY_POINTS: Final = 5
_POINT_CHARS: Final = 320
_POINTS_OF_BLOCK: Final = 1
_POINT_REPEATS: Final = 0.4
"""Key points are separate sentences: readable in length, one from each block, and unlike each other."""

_K1: Final = 1.2
_B: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)."""

_HEADING: Final = 0.5
_BEFORE: Final = 0.3
_BLOCK: Final = 0.05
"""Weights of a word in a heading above, in the sentence before, or anywhere in the same block; a
word in the sentence itself has 1."""

_TITLE_SHARE: Final = 0.6
"""Weight of a word of the question that is in the page's title: the whole page is about it."""

_FIGURE: Final = 1.3
"""Factor for a sentence with a figure if the question asks for one."""

_LEAD: Final = 1.0
_LEAD_REACH: Final = 4
"""Advantage of the first sentence over an equal later one without a question, since a page begins with its subject, and
the number of sentences after which it is halved."""

_COMMON: Final = 0.3
_FEW: Final = 10
"""A word in more than this share of at least this many sentences is ignored."""


_ENOUGH: Final = 3
"""Sentences from which a summary needs no labels and list items."""


_HAN_FIGURES: Final = frozenset("二三四五六七八九十百千万億亿两")


@dataclass(frozen=True, slots=True)
class Digest:
    """Sentences that summarise a page, in its order.

    Attributes:
        summary: joined.
        key_points: one by one, at most five.
    """

    summary: str
    key_points: tuple[str, ...]


def digest(
    text: str, *, query: str = "", title: str = "", description: str = "", max_chars: int
) -> Digest:
    """Choose the sentences of `summarize`, and up to five with a different point each; the arguments are the same.

    Key points have the form of a summary's sentences, and come in the order of the page, each from another paragraph.
    """
    weighed = _weighed(text, query, title, description)
    return Digest(_summary(weighed, max_chars), _points(weighed))


def summarize(
    text: str, *, query: str = "", title: str = "", description: str = "", max_chars: int
) -> str:
    """Choose the most informative sentences.

    Args:
        text: Markdown or plain text. Code, headings and rows of links are left out; so are table rows and text
            that does not end like a sentence, unless they answer the query or, for the latter, the page has few
            sentences.
        query: what the reader wants to know; empty for a summary of the whole.
        title: of the page; sentences with its words are about the page's subject.
        description: the page's own; without a query its sentences come first if the text has most of their
            words.
        max_chars: characters of the summary at most.

    Returns:
        Sentences joined by spaces, with a semicolon after text that does not end like a sentence, each in the
        words of the text, without addresses of links, images, footnote references and emphasis; empty if there
        is none. If not even the best fits, it is cut at a word, with an ellipsis.
    """
    return _summary(_weighed(text, query, title, description), max_chars)


class _Weighed(NamedTuple):
    """Sentences, the weight of each, and how many of the first ones are the page's description."""

    sentences: list[Sentence]
    weights: list[float]
    described: int = 0


def _weighed(text: str, query: str, title: str, description: str) -> _Weighed:
    asked = set(terms(query)) if query else set()
    if len(text) > _MAX_CHARS:
        text = _window(text, asked)
    prose = read(text, most=_MAX_SENTENCES)
    about = set(stems(tokens(title)))
    if asked:
        wants_figure = not FIGURE_WORDS.isdisjoint(tokens(query)) or any(
            part in query for part in FIGURE_PARTS
        )
        weights = _relevance(prose, asked, title=about, wants_figure=wants_figure)
        if any(weights):
            return _Weighed(prose.sentences, weights)
    weights = _centrality(prose, title=about)
    first = _description(description, prose.sentences) if description else []
    most = max(weights, default=0.0) or 1.0
    return _Weighed(first + prose.sentences, [most] * len(first) + weights, len(first))


def _description(text: str, sentences: list[Sentence]) -> list[Sentence]:
    """The sentences of the page's description, if the text agrees with it."""
    described = [each for each in read(text, most=_MAX_SENTENCES).sentences if each.is_whole]
    said = frozenset().union(*(each.terms for each in described))
    known = frozenset().union(*(each.terms for each in sentences))
    is_true = len(said) >= _TELLING and len(said & known) >= _TRUE * len(said)
    return described if is_true else []


def _window(text: str, asked: set[str]) -> str:
    """The part of a long page that is considered."""
    half = text.rfind("\n", 0, _MAX_CHARS // 2) + 1 or _MAX_CHARS // 2
    if not asked:
        return text[:_MAX_CHARS]
    lines, left = [text[:half]], _MAX_CHARS - half
    for line in text[half:].split("\n"):
        lower = line.lower()
        if len(line) < left and (line.startswith("#") or any(term in lower for term in asked)):
            lines += (line, "")
            left -= len(line)
    return "\n".join(lines)


def _summary(weighed: _Weighed, max_chars: int) -> str:
    sentences, ranked = weighed.sentences, _ranked(weighed.weights)
    chosen = _choose(sentences, weighed.weights, ranked, max_chars)
    if chosen or not ranked:
        return _joined([sentences[index].text for index in sorted(chosen)])
    return _cut(sentences[ranked[0]].text, max_chars)


def _joined(sentences: list[str]) -> str:
    """Join sentences to one line; list items and cells, which may have no punctuation, end in a semicolon."""
    ended = [text if _END.search(text) else f"{text};" for text in sentences[:-1]]
    return " ".join((*ended, *sentences[-1:]))


def _ranked(weights: list[float]) -> list[int]:
    """The sentences above the threshold, best first."""
    least = _WORTH * max(weights, default=0.0)
    ranked = sorted(range(len(weights)), key=lambda index: (-weights[index], index))
    worth = [index for index in ranked if weights[index] > 0 and weights[index] >= least]
    return worth[:_CANDIDATES]


def _choose(
    sentences: list[Sentence], weights: list[float], ranked: list[int], max_chars: int
) -> list[int]:
    """The best sentences that fit together and do not repeat each other."""
    chosen: list[int] = []
    left, waiting = max_chars, list(ranked)
    if not waiting or len(sentences[waiting[0]].text) > left:
        return []
    repeated = dict.fromkeys(waiting, 0.0)
    while waiting:
        index = max(waiting, key=partial(_gain, weights, repeated))
        chosen.append(index)
        left -= len(sentences[index].text) + len(_SEPARATOR)
        for other in waiting:
            common = _similarity(sentences[index], sentences[other])
            repeated[other] = max(repeated[other], common)
        waiting = [
            other
            for other in waiting
            if other != index and repeated[other] < _REPEATS and len(sentences[other].text) <= left
        ]
    return chosen


def _gain(weights: list[float], repeated: dict[int, float], index: int) -> tuple[float, int]:
    return weights[index] * (1 - _NOVELTY * repeated[index]), -index


def _points(weighed: _Weighed) -> tuple[str, ...]:
    sentences = weighed.sentences
    chosen: list[int] = []
    for index in _ranked(weighed.weights):
        sentence = sentences[index]
        others = [sentences[other] for other in chosen]
        if index < weighed.described or len(sentence.text) > _POINT_CHARS:
            continue
        if sentence.text.endswith(_OPEN):
            continue
        if sum(other.block == sentence.block for other in others) >= _POINTS_OF_BLOCK:
            continue
        if all(_similarity(sentence, other) < _POINT_REPEATS for other in others):
            chosen.append(index)
        if len(chosen) == _KEY_POINTS:
            break
    return tuple(sentences[index].text for index in sorted(chosen))


def _cut(sentence: str, max_chars: int) -> str:
    head = sentence[: max_chars - 1]
    at_word = head.rpartition(" ")[0]
    return (at_word or head).rstrip() + "…"


def _relevance(
    prose: PageSentences, asked: set[str], *, title: set[str], wants_figure: bool
) -> list[float]:
    """Score how well each sentence answers, by BM25 over the sentences of the page.

    A sentence counts with its context: its headings, its neighbours and its block.

    Args:
        prose: of the page.
        asked: terms of the question.
        title: terms of the title of the page.
        wants_figure: whether the answer probably has a figure, judging by the question.

    Returns:
        A score for each sentence; 0 if neither it nor its context has a term.
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
        if not sentence.is_row and index and sentences[index - 1].block == sentence.block:
            _add(weights, own[index - 1], _BEFORE)
        score = _bm25(weights, idf, _K1 * (1 - _B + _B * sentence.size / mean))
        if wants_figure and score and _has_figure(sentence.text):
            score *= _FIGURE
        scores.append(score)
    return scores


def _centrality(prose: PageSentences, *, title: set[str]) -> list[float]:
    """Score how central each sentence is to the page: the cosine with the sum of all, by TF-IDF.

    The beginning of the page is preferred, and so are sentences with words of the title. Table rows
    score 0; so does text that does not end like a sentence, if there are sentences.
    """
    sentences = prose.sentences
    has_whole = sum(sentence.is_whole for sentence in sentences) >= _ENOUGH
    total = len(sentences)
    frequency = Counter(term for sentence in sentences for term in sentence.terms)
    limit = _COMMON * total if total >= _FEW else total
    idf = {term: math.log(1 + total / found) for term, found in frequency.items() if found <= limit}
    whole = Counter(chain.from_iterable(sentence.counts for sentence in sentences))
    # The contribution of a term to the norm of a sentence, and to its product with the sum of all.
    parts = {term: (weight * weight, weight * weight * whole[term]) for term, weight in idf.items()}
    scores = []
    for index, sentence in enumerate(sentences):
        found = [parts[term] for term in sentence.counts if term in parts]
        norm = math.sqrt(sum([square for square, _ in found])) or 1.0
        score = sum([product for _, product in found]) / norm
        score *= 1 + _LEAD / (1 + index / _LEAD_REACH)
        score *= 1 + len(title & sentence.terms) / (2 * max(1, len(title)))
        is_part = sentence.is_row or (has_whole and not sentence.is_whole)
        scores.append(0.0 if is_part else score)
    return scores


def _has_figure(text: str) -> bool:
    """Whether a sentence contains a figure: a digit of any script, or a Han numeral before a unit."""
    return any(map(str.isdigit, text)) or not _HAN_FIGURES.isdisjoint(text)


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


def _similarity(left: Sentence, right: Sentence) -> float:
    """Share of the terms of two sentences that are common to both."""
    common = len(left.terms & right.terms)
    return common / (len(left.terms) + len(right.terms) - common) if common else 0.0
