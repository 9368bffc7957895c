"""Finding the chunks that fit a question: by their words, by vectors where there are any, or both.

The words are scored by the ranker that search and `prompt` use; those of a page's title count as a heading
above all of it. Vectors add to that, they never replace it:
`score = a * words + (1 - a) * similarity`, each scaled over the candidates (convex fusion; equal-weight rank
fusion lost 2.9 points of nDCG@10 on questions about one page). What was measured: `docs/decisions/retrieval.md`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.content.passages import score_parts, weigh
from searx_mcp.content.words import stems, tokens
from searx_mcp.corpus.embedding import Embedder, similarity
from searx_mcp.corpus.reranking import Reranker
from searx_mcp.errors import SearxMcpError
from searx_mcp.storage.corpus import CorpusStore, StoredChunk, find_terms

_WHOLE_PAGES: Final = 400
"""Chunks up to which all of the named pages are scored; of more, those that the index finds."""
_CANDIDATES: Final = 200
_WORDS_SHARE: Final = 0.6
"""Of the score, where there are vectors."""
_LEAST_COVERAGE: Final = 0.35
"""Share of the question's weight below which a chunk is marked, where no vector says more: on questions with
less overlap, the first three had the answer in 60 of 100 cases, on others in 93."""
_SAME: Final = 0.98
"""Similarity above which two chunks say the same."""
_NEW_VECTORS: Final = 256
"""Vectors made while a question waits; the rest are made behind it."""

_COMPARED: Final = 50
"""Best hits that are compared with each other; of others nobody sees two."""

LEXICAL_ONLY: Final = "The embedding server did not answer: chunks were found by their words alone."
NOT_RERANKED: Final = "The rerank server did not answer: chunks are in the order of the search."
NO_WORDS: Final = "No word of the question stands there: these are the longest parts."


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that fits a question.

    Attributes:
        url: of its page.
        chunk: as it is kept.
        score: 0 to 1, higher is better; comparable within one answer.
        confidence: of a reranker, 0 to 1; `None` without one.
        low_confidence: whether it fits less than what usually answers.
        title: of its page.
        copies: other pages that have the very same text.
    """

    url: str
    chunk: StoredChunk
    score: float
    confidence: float | None = None
    low_confidence: bool = False
    title: str = ""
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a question.

    Attributes:
        hits: best first, no two with the same text.
        notes: sentences a caller should know.
        evaluated: chunks that were scored.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    evaluated: int = 0


class Retriever:
    """Finds chunks in the store."""

    def __init__(
        self,
        store: CorpusStore,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        *,
        candidates: int = 30,
    ) -> None:
        """Take the parts; nothing is opened.

        Args:
            store: keeps chunks and vectors.
            embedder: makes vectors, if anything does.
            reranker: puts the best chunks in order, if anything does.
            candidates: chunks that the reranker is asked about.
        """
        self._store = store
        self._embedder = embedder
        self._reranker = reranker
        self._candidates = candidates

    @property
    def model(self) -> str:
        """The model whose vectors are used; empty without one."""
        return self._embedder.model if self._embedder else ""

    async def retrieve(
        self,
        question: str,
        *,
        urls: Sequence[str] | None,
        limit: int,
        deadline: float | None = None,
    ) -> Retrieved:
        """Find the chunks that fit a question.

        Args:
            question: in words.
            urls: pages to look in; all unless given.
            limit: chunks at most.
            deadline: the event loop's time by which to return; what vectors or a reranker would add after it
                is left out, with a note.

        Returns:
            At most `limit` chunks. A page that is named has some, even if no word of the question stands in
            it, since a threshold that leaves nothing helps nobody; these are marked.
        """
        if not urls and urls is not None:
            return Retrieved(())
        candidates, weights = await self._find(question, urls)
        parts = [(each.chunk.text, (each.title, *each.chunk.path)) for each in candidates]
        matches = await asyncio.to_thread(score_parts, parts, question, weights=weights)
        notes: list[str] = []
        hits = [
            replace(hit, score=match.score, low_confidence=match.coverage < _LEAST_COVERAGE)
            for hit, match in zip(candidates, matches, strict=True)
        ]
        if self._embedder is not None and hits:
            try:
                hits = await self._with_vectors(self._embedder, question, hits, deadline)
            except SearxMcpError:
                notes.append(LEXICAL_ONLY)
        if hits and not any(hit.score for hit in hits):
            notes.append(NO_WORDS)
            hits = [replace(hit, low_confidence=True) for hit in hits]
            hits.sort(key=lambda hit: -len(hit.chunk.text))
        else:
            hits = sorted((hit for hit in hits if hit.score), key=lambda hit: -hit.score)
        hits = _each_once(hits)
        if self._reranker is not None and hits:
            hits = await self._reranked(self._reranker, question, hits, deadline, notes)
        return Retrieved(tuple(hits[:limit]), tuple(notes), len(candidates))

    async def _find(
        self, question: str, urls: Sequence[str] | None
    ) -> tuple[list[Hit], Mapping[str, float] | None]:
        """The chunks worth a look, and what the words of the question weigh; `None`: among themselves."""
        words = find_terms(question)
        if urls is not None:
            heads = [head for url in urls if (head := await self._store.head(url)) is not None]
            if sum(head.chunks for head in heads) <= _WHOLE_PAGES:
                return [
                    Hit(head.url, chunk, 0.0, title=head.title)
                    for head in heads
                    for chunk in await self._store.chunks(head.url)
                ], None
        total, known = await self._store.frequencies(words, urls=urls)
        found = await self._store.match(words, urls=urls, limit=_CANDIDATES)
        hits = [Hit(each.url, each.chunk, 0.0, title=each.title) for each in found]
        return hits, weigh(known, total)

    async def _with_vectors(
        self, embedder: Embedder, question: str, hits: list[Hit], deadline: float | None
    ) -> list[Hit]:
        """Add to the scores of the words how near each chunk is to the question.

        Raises:
            SearxMcpError: the model cannot be asked.
        """
        wordings = {title: beside_title(question, title) for title in {hit.title for hit in hits}}
        texts = list(dict.fromkeys(wordings.values()))
        made = await embedder.embed(texts, deadline=deadline)
        asked = dict(zip(texts, made, strict=True))
        known = await self._vectors(embedder, hits, deadline)
        near = {
            hit.chunk.id: similarity(asked[wordings[hit.title]], known[hit.chunk.id])
            for hit in hits
            if hit.chunk.id in known
        }
        low, high = min(near.values()), max(near.values())
        spread = high - low or 1.0
        best = max(hit.score for hit in hits) or 1.0
        scored, anchor = [], 0.0
        for hit in hits:
            nearness = near.get(hit.chunk.id, low)
            score = _fused(hit.score / best, (nearness - low) / spread)
            anchor = max(anchor, _fused(hit.score, max(0.0, nearness)))
            is_far = embedder.floor is not None and nearness < embedder.floor
            scored.append(replace(hit, score=score, low_confidence=hit.low_confidence and is_far))
        # The order is that of this question; how high the best stands compares with other questions.
        top = max(hit.score for hit in scored) or 1.0
        scored = [replace(hit, score=hit.score / top * anchor) for hit in scored]
        scored.sort(key=lambda hit: -hit.score)
        return _unlike(scored, known)

    async def _vectors(
        self, embedder: Embedder, hits: Sequence[Hit], deadline: float | None
    ) -> dict[str, bytes]:
        """The vectors of chunks; those that are missing are made and kept."""
        texts = {hit.chunk.id: as_embedded(hit.chunk) for hit in hits}
        known = await self._store.vectors(embedder.model, list(texts))
        missing = [name for name in texts if name not in known][:_NEW_VECTORS]
        if missing:
            made = await embedder.embed([texts[name] for name in missing], deadline=deadline)
            new = dict(zip(missing, made, strict=True))
            await self._store.keep_vectors(embedder.model, new)
            known = {**known, **new}
        return known

    async def _reranked(
        self,
        reranker: Reranker,
        question: str,
        hits: list[Hit],
        deadline: float | None,
        notes: list[str],
    ) -> list[Hit]:
        """Put the best chunks in the order of the reranker, before all others."""
        first, rest = hits[: self._candidates], hits[self._candidates :]
        scores = await reranker.rerank(
            question, [hit.chunk.text for hit in first], deadline=deadline
        )
        if scores is None:
            notes.append(NOT_RERANKED)
            return hits
        ordered = sorted(zip(first, scores, strict=True), key=lambda pair: -pair[1])
        # A threshold of the reranker never empties an answer; it only has a say on the order.
        return [replace(hit, confidence=score) for hit, score in ordered] + rest


def beside_title(question: str, title: str) -> str:
    """What a question asks beside the name of a page: its words without those of the title.

    The name stands in all of the page, most of all in its first lines, which are nearer to a question that
    has it than the chunk that answers. Of a question with nothing else all is left.
    """
    named = frozenset(find_terms(title))
    left = [word for word in question.split() if not named.issuperset(find_terms(word))]
    return " ".join(left) if stems(tokens(" ".join(left))) else question


def _fused(words: float, nearness: float) -> float:
    return _WORDS_SHARE * words + (1 - _WORDS_SHARE) * nearness


def as_embedded(chunk: StoredChunk) -> str:
    """Give the text of which a chunk has its vector: with the headings above it."""
    return "\n".join((" > ".join(chunk.path), chunk.text)) if chunk.path else chunk.text


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """One hit for each text: the best, which knows the other pages that have it."""
    first: dict[str, Hit] = {}
    for hit in hits:
        text = " ".join(hit.chunk.text.split())
        if (known := first.get(text)) is None:
            first[text] = hit
        elif hit.url != known.url:
            first[text] = replace(known, copies=(*known.copies, hit.url))
    return list(first.values())


def _unlike(hits: Sequence[Hit], vectors: Mapping[str, bytes]) -> list[Hit]:
    """Leave out what says the same as a better hit; only the best are compared with each other."""
    kept: list[Hit] = []
    for place, hit in enumerate(hits):
        vector = vectors.get(hit.chunk.id)
        if place < _COMPARED and vector is not None:
            twin = next(
                (
                    index
                    for index, other in enumerate(kept)
                    if (seen := vectors.get(other.chunk.id)) and similarity(vector, seen) > _SAME
                ),
                None,
            )
            if twin is not None:
                known = kept[twin]
                if hit.url != known.url:
                    kept[twin] = replace(known, copies=(*known.copies, hit.url))
                continue
        kept.append(hit)
    return kept
