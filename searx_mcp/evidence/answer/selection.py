"""Which chunks become evidence, and in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Final

from searx_mcp.content.passages import score_all
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import FIGURE_WORDS, terms, tokens
from searx_mcp.evidence.answer.page_sentences import sentences_of
from searx_mcp.evidence.corpus.retrieval import Hit
from searx_mcp.evidence.requests import Intent
from searx_mcp.evidence.storage.store import StoredChunk

MOST: Final = 24
"""Chunks of evidence, some 9,000 tokens."""
_VECTOR_SHARE: Final = 0.5
"""What the score of a chunk counts beside that of its sentences, where vectors have a say in it. Chosen."""
_LINKED_SHARE: Final = 0.7
"""What a chunk of a linked page counts beside those of the pages that the caller named. Chosen: of two that fit
alike, the caller asked for one."""
_FORM_GAIN: Final = 0.25
"""What a chunk that has the form which an intent wants gains, as a share of its score. Chosen: it parts equals."""
_WISH_GAIN: Final = 1.0
"""Likewise of one that has what a constraint wants. Chosen: a caller's own words may turn the order over."""
_KNOWN: Final = 0.85
"""Share of the terms of a sentence that stand together in what is known already, and all of its figures. Chosen."""
_KNOWN_SENTENCES: Final = 0.7
"""Share of a chunk's sentences that are known, from which on it says nothing new. Chosen."""
_BESIDE: Final = 2
"""Best chunks whose neighbours are shown. Chosen."""
_BESIDE_SHARE: Final = 0.5
"""Score of a neighbour, in scores of the chunk that it stands beside. Chosen."""
_BREADTH: Final = 3
_FURTHER_SHARE: Final = 0.5
"""Where a question wants breadth, what further chunks of a page count that has so many already. Chosen."""
_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
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
"""Words of a constraint that name a form and no subject."""
_WISHING = re.compile(
    r"\b(?:must|should|please|only|prefer(?:ably)?|includ\w+|contain\w*|mention\w*|have|has|focus\w*|about)\b",
    re.IGNORECASE,
)
"""Words of a constraint that say no more than that it is one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may become evidence.

    Attributes:
        hit: as it was found.
        score: by which it is ordered.
        sub_query: the part of the question that it was found for.
        is_adjacent: whether it is here because it stands beside another.
        is_due: whether it comes before better ones: the best of each part, and of each named page, which the
            caller wants to hear of even where another page has more to say.
    """

    hit: Hit
    score: float
    sub_query: str
    is_adjacent: bool = False
    is_due: bool = False

    @property
    def place(self) -> tuple[bool, float]:
        """Its place among others; less is earlier."""
        return not self.is_due, -self.score


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a caller wants of evidence besides the answer.

    Attributes:
        intent: of the question.
        constraints: what chunks should have.
        known_context: what need not be said again.
    """

    intent: Intent
    constraints: tuple[str, ...] = ()
    known_context: str = ""

    def has(self, text: str) -> bool:
        """Tell whether most sentences of a text stand in what is known already."""
        if not self.known_context:
            return False
        own = _sentences(text)
        told = sum(map(self._tells, own))
        return bool(own) and told >= _KNOWN_SENTENCES * len(own)

    def _tells(self, words: frozenset[str]) -> bool:
        """Tell whether one sentence of what is known, or two together, say what another one says."""
        known = _sentences(self.known_context)
        pairs = (first | second for first, second in pairwise(known))
        figures = {word for word in words if _FIGURE.search(word)}
        return any(
            figures <= each and len(words & each) >= _KNOWN * len(words)
            for each in chain(known, pairs)
        )


def rate(
    found: Mapping[str, Sequence[Hit]],
    wishes: Wishes,
    *,
    named: Sequence[str] = (),
    has_vectors: bool = False,
) -> tuple[dict[str, list[Candidate]], int]:
    """Order what was found for each part of a question, by its sentences and by what the caller wants besides.

    Args:
        found: hits by part of the question, best first.
        wishes: what the caller wants besides.
        named: addresses of the pages that the caller named; those of others have to fit better.
        has_vectors: whether the scores of the hits say more than their words do.

    Returns:
        Candidates by part, best first; and how many chunks were left out because they are known.
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


def _nearness(hit: Hit, named: Sequence[str]) -> float:
    is_near = not named or not {hit.url, *hit.copies}.isdisjoint(named)
    return 1.0 if is_near else _LINKED_SHARE


def _scores(hits: Sequence[Hit], part: str, *, share: float) -> list[float]:
    """Score chunks by their best sentence, and their best two in a row; what a reranker says stands."""
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
    """Choose evidence: the best of each part of a question and of each named page, then the best of all.

    Args:
        rated: candidates by part of the question, best first.
        most: chunks at most.
        named: addresses of pages that are represented whatever others say.

    Returns:
        By place, no chunk twice.
    """
    every = sorted(chain.from_iterable(rated.values()), key=lambda each: -each.score)
    due = [each for candidates in rated.values() for each in candidates[:1]]
    for url in named:
        own = (each for each in every if url in {each.hit.url, *each.hit.copies})
        due += islice(own, 1)
    ids = {each.hit.chunk.id for each in due}
    chosen: dict[str, Candidate] = {}
    for each in chain(due, every):
        known = chosen.get(each.hit.chunk.id)
        if (known is None and len(chosen) < most) or (known and each.score > known.score):
            chosen[each.hit.chunk.id] = replace(each, is_due=each.hit.chunk.id in ids)
    return sorted(chosen.values(), key=lambda each: each.place)


def with_neighbours(
    chosen: Sequence[Candidate],
    chunks: Mapping[str, Sequence[StoredChunk]],
    wishes: Wishes,
) -> list[Candidate]:
    """Add what stands before and behind the best candidates, in the same section of the page.

    Args:
        chosen: candidates, by place.
        chunks: of their pages, in order, by address.
        wishes: what is known already is not added.
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
        text = "".join(_TARGET.sub("", chunk.text) for chunk in chunks)
        original = first.setdefault((titles.get(url, ""), text), url)
        if original != url:
            copies[url] = original
    return copies


def _gains(chunks: Sequence[StoredChunk], wishes: Wishes, part: str) -> list[float]:
    """What each chunk gains for its form and for the constraints, as a share of its score."""
    gains = [_FORM_GAIN * _fits_intent(chunk.text, wishes.intent, part) for chunk in chunks]
    for constraint in wishes.constraints:
        forms = [form for words, form in _FORMS if words.search(constraint)]
        if forms:
            fits = [float(any(_has(chunk.text, form) for form in forms)) for chunk in chunks]
        else:
            parts = [(chunk.text, chunk.path) for chunk in chunks]
            fits = [match.coverage for match in score_all(parts, _WISHING.sub(" ", constraint))]
        gains = [gain + _WISH_GAIN * fit for gain, fit in zip(gains, fits, strict=True)]
    return gains


def _fits_intent(text: str, intent: Intent, part: str) -> float:
    """Tell whether a chunk has the form that a kind of question wants."""
    match intent:
        case Intent.HOW_TO:
            return float(_has(text, "code") or _has(text, "list"))
        case Intent.COMPARISON:
            return float(_has(text, "table"))
        case Intent.FACTUAL:
            wants_figure = not FIGURE_WORDS.isdisjoint(tokens(part))
            return float(wants_figure and _has(text, "figure"))
        case Intent.EXPLORATORY:
            return 0.0


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
    """Let chunks of a page that has several better ones stand behind those of other pages."""
    counts: dict[str, int] = {}
    spread: list[Candidate] = []
    for each in ranked:
        counts[each.hit.url] = counts.get(each.hit.url, 0) + 1
        is_further = counts[each.hit.url] > _BREADTH
        spread.append(replace(each, score=each.score * _FURTHER_SHARE) if is_further else each)
    return sorted(spread, key=lambda each: -each.score)


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    """The terms of each sentence of a text; headings are left out, and what has none."""
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
