"""Selection and order of the chunks that become evidence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Final

from searx_mcp.content.passages import score_all
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import FIGURE_WORDS, LINK_TARGET, terms, tokens
from searx_mcp.evidence.answer.citations import sentences_of
from searx_mcp.evidence.corpus.retrieval import ChunkHit
from searx_mcp.evidence.requests import Intent
from searx_mcp.evidence.storage.store import StoredChunk

MOST: Final = 24
"""Maximum chunks of evidence, some 9,000 tokens."""
_VECTOR_SHARE: Final = 0.5
"""Weight of a chunk's own score against that of its sentences, if vectors contribute to it. Chosen."""
_LINKED_SHARE: Final = 0.7
"""Factor for chunks of linked pages, relative to pages that the caller named. Chosen: of two equal matches, the
caller asked for one."""
_FORM_GAIN: Final = 0.25
"""Gain of a chunk in the form that the intent wants, as a share of its score. Chosen: it breaks ties."""
_WISH_GAIN: Final = 1.0
"""Gain of a chunk that satisfies a constraint, as a share of its score. Chosen: a caller's own words may reverse the
order."""
_KNOWN: Final = 0.85
"""Minimum share of a sentence's terms that occur together in known text, in addition to all its figures. Chosen."""
_KNOWN_SENTENCES: Final = 0.7
"""Minimum share of known sentences for a chunk to be redundant. Chosen."""
_BESIDE: Final = 2
"""Number of best chunks whose neighbours are shown. Chosen."""
_BESIDE_SHARE: Final = 0.5
"""Score of a neighbour, relative to the chunk next to it. Chosen."""
_BREADTH: Final = 3
_FURTHER_SHARE: Final = 0.5
"""If a question wants breadth, factor for further chunks of a page that already has so many. Chosen."""
_LIST = re.compile(r"^\s{0,3}(?:\d{1,3}[.)]|[-*+])\s", re.MULTILINE)
_TABLE = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_FIGURE = re.compile(r"\d")
_FORMS: Final = (
    (re.compile(r"\b(?:code|snippets?|commands?|syntax|config\w*)\b", re.IGNORECASE), "code"),
    (re.compile(r"\b(?:tables?|tabular)\b", re.IGNORECASE), "table"),
    (re.compile(r"\b(?:steps?|lists?|bullet\w*)\b", re.IGNORECASE), "list"),
    (
        re.compile(
            r"\b(?:numbers?|figures?|benchmarks?|statistics|prices?|dates?)\b", re.IGNORECASE
        ),
        "figure",
    ),
)
"""Words of a constraint that name a form and not a subject."""
_FORMS_WANTED: Final[Mapping[Intent, Sequence[str]]] = {
    Intent.HOW_TO: ("code", "list"),
    Intent.COMPARISON: ("table",),
    Intent.FACTUAL: ("figure",),
    Intent.EXPLORATORY: (),
}
_WISHING = re.compile(
    r"\b(?:must|should|please|only|prefer(?:ably)?|includ\w+|contain\w*|mention\w*|have|has|focus\w*|about)\b",
    re.IGNORECASE,
)
"""Words that only mark a constraint as one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may become evidence.

    Attributes:
        hit: as it was found.
        score: by which it is ordered.
        sub_query: the part of the question that it was found for.
        is_adjacent: whether it was selected only as a neighbour of another.
        is_due: whether it precedes better ones: the best of each part and of each named page, which the
            caller wants to hear of even if another page has more to say.
        best_for: the parts of the question for which no chunk is better.
    """

    hit: ChunkHit
    score: float
    sub_query: str
    is_adjacent: bool = False
    is_due: bool = False
    best_for: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[bool, float]:
        """The sort key; lower is earlier."""
        return not self.is_due, -self.score


@dataclass(frozen=True, slots=True)
class Wishes:
    """The caller's wishes in addition to the answer.

    Attributes:
        intent: of the question.
        constraints: properties of preferred chunks.
        known_context: text that need not be repeated.
    """

    intent: Intent
    constraints: tuple[str, ...] = ()
    known_context: str = ""

    def has(self, text: str) -> bool:
        """Return whether most sentences of a text are contained in the known text."""
        if not self.known_context:
            return False
        own = _sentences(text)
        told = sum(map(self._tells, own))
        return bool(own) and told >= _KNOWN_SENTENCES * len(own)

    def _tells(self, words: frozenset[str]) -> bool:
        """Return whether one known sentence, or two adjacent ones, contain another sentence."""
        known = _sentences(self.known_context)
        pairs = (first | second for first, second in pairwise(known))
        figures = {word for word in words if _FIGURE.search(word)}
        return any(
            figures <= each and len(words & each) >= _KNOWN * len(words)
            for each in chain(known, pairs)
        )


def rate(
    found: Mapping[str, Sequence[ChunkHit]],
    wishes: Wishes,
    *,
    named: Sequence[str] = (),
    has_vectors: bool = False,
) -> tuple[dict[str, list[Candidate]], int]:
    """Rank the hits of each part of a question, by their sentences and by the caller's other wishes.

    Args:
        found: hits by part of the question, best first.
        wishes: the caller's other wishes.
        named: addresses of the pages that the caller named; other pages must match better.
        has_vectors: whether vectors contribute to the scores of the hits.

    Returns:
        Candidates by part, best first; and the number of chunks that were dropped as known.
    """
    rated: dict[str, list[Candidate]] = {}
    left_out: set[str] = set()
    for part, hits in found.items():
        new = [hit for hit in hits if not wishes.has(hit.chunk.text)]
        left_out |= {hit.chunk.id for hit in hits} - {hit.chunk.id for hit in new}
        gains = _gains([hit.chunk for hit in new], wishes, part)
        scores = _scores(new, part, share=_VECTOR_SHARE if has_vectors else 0.0)
        ranked = [
            Candidate(hit, min(1.0, score * (1 + gain) * _nearness(hit, named)), part)
            for hit, score, gain in zip(new, scores, gains, strict=True)
        ]
        ranked.sort(key=lambda each: -each.score)
        rated[part] = _in_breadth(ranked) if wishes.intent is Intent.EXPLORATORY else ranked
    return rated, len(left_out)


def _nearness(hit: ChunkHit, named: Sequence[str]) -> float:
    return _LINKED_SHARE if named and {hit.url, *hit.copies}.isdisjoint(named) else 1.0


def _scores(hits: Sequence[ChunkHit], part: str, *, share: float) -> list[float]:
    """Score chunks by their best sentence, and their best two in a row; a reranker's score is final."""
    if any(hit.confidence is not None for hit in hits):
        return [hit.score if hit.confidence is None else hit.confidence for hit in hits]
    own = [0.0] * len(hits)
    top = max((hit.score for hit in hits), default=0.0)
    texts = [[*sentences_of(hit.chunk.text)] for hit in hits]
    for size in (1, 2):
        windows = [
            (place, " ".join(each.text for each in sentences[at : at + size]), sentences[at].above)
            for place, sentences in enumerate(texts)
            for at in range(len(sentences))
        ]
        parts = [(text, (*hits[place].chunk.path, above)) for place, text, above in windows]
        matches = score_all(parts, part)
        best = [0.0] * len(hits)
        for (place, *_), match in zip(windows, matches, strict=True):
            best[place] = max(best[place], match.score)
        most = max(best, default=0.0) or 1.0
        own = [mine + top * score / most / 2 for mine, score in zip(own, best, strict=True)]
    if not any(own):
        return [hit.score for hit in hits]
    return [share * hit.score + (1 - share) * score for hit, score in zip(hits, own, strict=True)]


def select(
    rated: Mapping[str, Sequence[Candidate]], *, most: int = MOST, named: Sequence[str] = ()
) -> list[Candidate]:
    """Select evidence: the best of each part of a question and of each named page, then the best of all.

    Args:
        rated: candidates by part of the question, best first.
        most: maximum number of chunks.
        named: addresses of pages that are always represented.

    Returns:
        Sorted by `place`, without duplicates.
    """
    every = sorted(chain.from_iterable(rated.values()), key=lambda each: -each.score)
    best = [each for candidates in rated.values() for each in candidates[:1]]
    due = [*best]
    for url in named:
        due += islice((each for each in every if url in {each.hit.url, *each.hit.copies}), 1)
    ids = {each.hit.chunk.id for each in due}
    chosen: dict[str, Candidate] = {}
    for each in chain(due, every):
        name = each.hit.chunk.id
        known = chosen.get(name)
        if (known is None and len(chosen) < most) or (known and each.score > known.score):
            parts = tuple(one.sub_query for one in best if one.hit.chunk.id == name)
            chosen[name] = replace(each, is_due=name in ids, best_for=parts)
    return sorted(chosen.values(), key=lambda each: each.place)


def with_neighbours(
    chosen: Sequence[Candidate],
    chunks: Mapping[str, Sequence[StoredChunk]],
    wishes: Wishes,
) -> list[Candidate]:
    """Add the neighbours of the best candidates, in the same section of the page.

    Args:
        chosen: candidates, sorted by `place`.
        chunks: of their pages, in order, by address.
        wishes: their known text is not added.
    """
    seen = {each.hit.chunk.id for each in chosen}
    added: list[Candidate] = []
    for each in sorted(chosen, key=lambda each: -each.score)[:_BESIDE]:
        page = chunks.get(each.hit.url, ())
        at = next((index for index, one in enumerate(page) if one.id == each.hit.chunk.id), None)
        if at is None:
            continue
        for place in (at - 1, at + 1):
            if not 0 <= place < len(page) or page[place].id in seen:
                continue
            beside = page[place]
            if beside.path[:1] == each.hit.chunk.path[:1] and not wishes.has(beside.text):
                seen.add(beside.id)
                hit = replace(each.hit, chunk=beside, confidence=None, copies=())
                added.append(
                    Candidate(hit, each.score * _BESIDE_SHARE, each.sub_query, is_adjacent=True)
                )
    return sorted((*chosen, *added), key=lambda each: each.place)


def copies_of(
    titles: Mapping[str, str], pages: Mapping[str, Sequence[StoredChunk]]
) -> dict[str, str]:
    """Find pages that have the title and the text of an earlier one.

    Args:
        titles: by address.
        pages: chunks by address, in the order in which they were read. Linear in their text.

    Returns:
        The earlier page, by the address of the later one.
    """
    first: dict[tuple[str, str], str] = {}
    copies = {}
    for url, chunks in pages.items():
        text = "".join(LINK_TARGET.sub("", chunk.text) for chunk in chunks)
        original = first.setdefault((titles.get(url, ""), text), url)
        if original != url:
            copies[url] = original
    return copies


def _gains(chunks: Sequence[StoredChunk], wishes: Wishes, part: str) -> list[float]:
    """Return the gain of each chunk for its form and for the constraints, as a share of its score."""
    forms = _FORMS_WANTED[wishes.intent]
    if wishes.intent is Intent.FACTUAL and FIGURE_WORDS.isdisjoint(tokens(part)):
        forms = ()
    gains = [_FORM_GAIN * any(_has(chunk.text, form) for form in forms) for chunk in chunks]
    for constraint in wishes.constraints:
        forms = [form for words, form in _FORMS if words.search(constraint)]
        if forms:
            fits = [float(any(_has(chunk.text, form) for form in forms)) for chunk in chunks]
        else:
            parts = [(chunk.text, chunk.path) for chunk in chunks]
            fits = [match.coverage for match in score_all(parts, _WISHING.sub(" ", constraint))]
        gains = [gain + _WISH_GAIN * fit for gain, fit in zip(gains, fits, strict=True)]
    return gains


def _has(text: str, form: str) -> bool:
    match form:
        case "code":
            return "```" in text or "~~~" in text or bool(re.search(r"^ {4}\S", text, re.MULTILINE))
        case "table":
            return bool(_TABLE.search(text))
        case "list":
            return len(_LIST.findall(text)) > 1
        case _:
            return bool(_FIGURE.search(text))


def _in_breadth(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Move chunks of a page with several better ones behind those of other pages."""
    counts: dict[str, int] = {}
    spread: list[Candidate] = []
    for each in ranked:
        counts[each.hit.url] = counts.get(each.hit.url, 0) + 1
        is_further = counts[each.hit.url] > _BREADTH
        spread.append(replace(each, score=each.score * _FURTHER_SHARE) if is_further else each)
    return sorted(spread, key=lambda each: -each.score)


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each sentence of a text; headings and sentences without terms are skipped."""
    found = []
    for line in text.splitlines():
        if _HEADING.match(line):
            continue
        start = 0
        for end in (*sentence_ends(line), len(line)):
            if words := frozenset(terms(line[start:end])):
                found.append(words)
            start = end
    return tuple(found)
