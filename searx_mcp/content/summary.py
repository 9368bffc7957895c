"""Extractive summaries: whole sentences of the page, in the order of the page.

Nothing is written anew, so nothing can be made up. With a query, sentences are scored by BM25
(Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with the page itself as the
collection; without one, by how close they are to the whole, and by how early they stand. Either
way an early sentence wins over an equal later one, and a sentence that repeats another is left out.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import words

_MAX_SENTENCES: Final = 400
"""Considered at most: the first pages of a book are enough to say what it is about."""

_MIN_WORDS: Final = 4
"""Shorter ones are labels: "Read more.", "Figure 3."."""

_K1: Final = 1.2
_B: Final = 0.75
_LEAD: Final = 0.3
"""Share by which the first sentence is preferred; falls with the position."""

_REPEATS: Final = 0.6
"""Jaccard similarity of the words from which on a sentence says nothing new."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_NO_PROSE = re.compile(
    r"\s*(?:#{1,6}\s|\||[-*_=]{3,}\s*$"  # heading, table, rule
    r"|(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[^\]]*\]\([^)]*\)[\s,;|·•/-]*)+$"  # nothing but links
    r"|\[image: [^\]]*\]\s*$)"
)
_MARKER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")


def summarize(text: str, *, query: str = "", max_chars: int) -> str:
    """Choose the sentences that say most.

    Args:
        text: Markdown or plain text. Code, headings, tables and rows of links are left out.
        query: what the reader wants to know; empty for a summary of the whole.
        max_chars: characters of the summary at most.

    Returns:
        Sentences joined by spaces, each as it stands in the text; empty if there is none. If not
        even the best fits, it is cut at a word, with an ellipsis.
    """
    sentences = list(islice(_sentences(text), _MAX_SENTENCES))
    terms = [words(sentence) for sentence in sentences]
    scores = _relevance(terms, set(words(query)))
    if not any(scores):
        scores = _centrality(terms)
    ranked = sorted(range(len(sentences)), key=lambda index: (-scores[index], index))
    ranked = [index for index in ranked if scores[index] > 0]
    chosen = _choose(ranked, sentences, terms, max_chars)
    if chosen or not ranked:
        return " ".join(sentences[index] for index in sorted(chosen))
    return _cut(sentences[ranked[0]], max_chars)


def _sentences(text: str) -> Iterator[str]:
    for line in _prose(text.splitlines()):
        start = 0
        for end in sentence_ends(line):
            yield from _worth(line[start:end])
            start = end
        yield from _worth(line[start:])


def _prose(lines: Iterable[str]) -> Iterator[str]:
    """Lines that hold sentences, without their markers."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        elif not _NO_PROSE.match(line):
            yield _MARKER.sub("", line, count=1)


def _worth(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    if len(words(sentence)) >= _MIN_WORDS:
        yield sentence


def _relevance(terms: list[list[str]], query: set[str]) -> list[float]:
    """BM25 of each sentence for the query."""
    total = len(terms)
    mean = sum(map(len, terms)) / total if total else 0.0
    frequency = Counter(term for sentence in terms for term in set(sentence) & query)
    idf = {
        term: math.log(1 + (total - found + 0.5) / (found + 0.5))
        for term, found in frequency.items()
    }
    scores = []
    for index, sentence in enumerate(terms):
        counts = Counter(term for term in sentence if term in idf)
        length = _K1 * (1 - _B + _B * len(sentence) / mean)
        score = sum(
            idf[term] * count * (_K1 + 1) / (count + length)
            # Sorted, so that the sum of floats is the same in every run.
            for term, count in sorted(counts.items())
        )
        scores.append(score * _lead(index))
    return scores


def _centrality(terms: list[list[str]]) -> list[float]:
    """Cosine of each sentence with the sum of all, terms weighted by TF-IDF."""
    total = len(terms)
    frequency = Counter(term for sentence in terms for term in set(sentence))
    idf = {term: math.log(1 + total / found) for term, found in frequency.items()}
    whole = Counter(term for sentence in terms for term in sentence)
    centre = {term: count * idf[term] for term, count in whole.items()}
    scores = []
    for index, sentence in enumerate(terms):
        weights = {term: count * idf[term] for term, count in Counter(sentence).items()}
        norm = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        dot = math.fsum(weight * centre[term] for term, weight in weights.items())
        scores.append(dot / norm * _lead(index))
    return scores


def _lead(index: int) -> float:
    return 1 + _LEAD / (1 + index)


def _choose(
    ranked: list[int], sentences: list[str], terms: list[list[str]], max_chars: int
) -> list[int]:
    """The best sentences that fit together and do not repeat each other."""
    chosen: list[int] = []
    left = max_chars
    for index in ranked:
        length = len(sentences[index]) + bool(chosen)
        if length > left:
            if not chosen:
                break
            continue
        if any(_similarity(terms[index], terms[other]) >= _REPEATS for other in chosen):
            continue
        chosen.append(index)
        left -= length
    return chosen


def _similarity(left: list[str], right: list[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / len(one | other)


def _cut(sentence: str, max_chars: int) -> str:
    head = sentence[: max_chars - 1]
    at_word = head.rpartition(" ")[0]
    return (at_word or head).rstrip() + "…"
