"""Retrieval of the chunks that match a question: by words, by vectors if there are any, or by both.

Words are scored by the same ranker as in search and `prompt`; those of a page's title count as a heading above the
whole page, several times. Vectors add to that score and never replace it:
`score = a * words / best + (1 - a) * similarity` (convex fusion; equal-weight rank fusion lost 2.9 points of
nDCG@10 on questions about one page). Similarity is not scaled: if all chunks are about equally near, it has little
effect. For the measurements see `docs/decisions/retrieval.md`.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.content.passages import Words, score_all, weigh
from searx_mcp.content.support import UNSUPPORTED, Support, support
from searx_mcp.content.words import terms
from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.corpus.ingestion import earlier
from searx_mcp.evidence.corpus.language_models import BATCH, Embedder, Reranker, cosine, unpack
from searx_mcp.evidence.storage.store import CorpusStore, PageHead, StoredChunk
from searx_mcp.models.progress import Progress
from searx_mcp.tasks import Spawn

_WHOLE_PAGES: Final = 400
"""Up to this many, all chunks of the named pages are scored; otherwise, those that the index finds."""
_CANDIDATES: Final = 128
"""Chunks from the index that are scored: 96.9 % of the questions of the labelled set have their answer among the
first 100, and 97.3 % among the first 200, which take twice the time."""
_NEAREST: Final = 2_000
"""Chunks that vectors alone search, if no word of the question is known. Chosen."""
_TITLE_WEIGHT: Final = 3
"""Weight of a word in a page's title, in words of headings."""
_WORDS_SHARE: Final = 0.6
"""Weight of the words in the score, if there are vectors."""
_USUAL_SCORE: Final = 0.2
"""Usual word score of a chunk that answers; if the best has less, words weigh less."""
_LEAST_COVERAGE: Final = 0.35
"""Share of the question's weight below which a chunk is marked, unless its vector says more: it marks 90 of 100
first chunks that do not answer, and 30 of those that do."""
_SAME: Final = 0.98
"""Similarity above which two chunks are duplicates, if they also have the same words."""
_SAME_WORDS: Final = 0.9
"""Share of the words of both that each one has."""
_NEW_VECTORS: Final = 256
"""Vectors computed while a question waits, for the chunks whose words match best; the rest are computed in the
background."""
_ROUND: Final = 1_024
"""Chunks without a vector in one query: each query scans all chunks."""
_KEPT_BACK: Final = 0.1
_MOST_KEPT_BACK: Final = 0.25
"""Share of the time, and seconds, reserved for results by words when no server answers."""

LEXICAL_ONLY: Final = "Embeddings were unavailable: chunks were matched by their words alone."
NOT_RERANKED: Final = "The rerank server did not answer: chunks are in the order of retrieval."
NO_WORDS: Final = "No word of the question was found; the longest passages are shown."

_log = logging.getLogger("searx_mcp.evidence.corpus")


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk that matches a question.

    Attributes:
        url: of its page.
        chunk: as stored.
        score: 0 to 1, higher is better; comparable within one answer.
        confidence: of a reranker, 0 to 1; `None` without one.
        low_confidence: whether it matches less well than an answer usually does.
        coverage: 0 to 1, the share of the question that it contains, by the weight of its words.
        title: of its page.
        copies: other pages with exactly the same text.
    """

    url: str
    chunk: StoredChunk
    score: float
    confidence: float | None = None
    low_confidence: bool = False
    coverage: float = 0.0
    title: str = ""
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a question.

    Attributes:
        hits: best first, no two with the same text.
        notes: sentences for the caller.
        evaluated: number of chunks that were scored.
        reranking_ms: milliseconds that the reranker took.
        support: how far they support the question.
        section: the heading above the first hit; may be empty.
    """

    hits: tuple[ChunkHit, ...]
    notes: tuple[str, ...] = ()
    evaluated: int = 0
    reranking_ms: float = 0.0
    support: Support = UNSUPPORTED
    section: str = ""


class Retriever:
    """Finds chunks in the store.

    Vectors that a question does not wait for, such as after a change of the model, are computed in the background,
    one batch at a time.
    """

    def __init__(
        self,
        store: CorpusStore,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        *,
        candidates: int = 30,
        spawn: Spawn | None = None,
    ) -> None:
        """Keep the parts; opens nothing.

        Args:
            store: of chunks and vectors.
            embedder: computes vectors, if there is one.
            reranker: reorders the best chunks, if there is one.
            candidates: number of chunks for the reranker.
            spawn: starts work that outlives a question; without it, only vectors that a question needs are computed.
        """
        self._store = store
        self._embedder = embedder
        self._reranker = reranker
        self._candidates = candidates
        self._spawn = spawn
        self._are_missing = True
        self._making: asyncio.Task[None] | None = None

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
        held: Sequence[ChunkHit] = (),
        progress: Progress | None = None,
    ) -> Retrieved:
        """Find the chunks that match a question.

        Args:
            question: in words.
            urls: pages to search; all unless given.
            limit: maximum number of chunks.
            deadline: the loop time by which to return; vectors or a reranking that come too late are skipped,
                with a note.
            held: the chunks of those pages that are not in the store, without a score.
            progress: called before the reranker is asked.

        Returns:
            At most `limit` chunks. A named page always has some, even if it contains no word of the question,
            since a threshold that leaves nothing is no help; these are marked.
        """
        if not urls and urls is not None:
            return Retrieved(hits=())
        deadline = earlier(deadline, share=_KEPT_BACK, most=_MOST_KEPT_BACK)
        candidates, weights = await self._find(question, urls, held)
        named = {title: terms(title) for title in {each.title for each in candidates}}
        parts = [_words(each.chunk, named[each.title]) for each in candidates]
        matches = await asyncio.to_thread(score_all, parts, question, weights=weights)
        found = await asyncio.to_thread(_supported, question, candidates, parts)
        notes: list[str] = []
        hits = [
            replace(
                hit,
                score=match.score,
                coverage=match.coverage,
                low_confidence=match.coverage < _LEAST_COVERAGE,
            )
            for hit, match in zip(candidates, matches, strict=True)
        ]
        hits.sort(key=lambda hit: -hit.score)
        most = max(limit, self._candidates if self._reranker else 0)
        if self._embedder is not None and hits:
            try:
                hits = await self._with_vectors(self._embedder, question, hits, most, deadline)
            except SearxMcpError:
                notes.append(LEXICAL_ONLY)
            if self._are_missing:
                self.make_vectors()
        if hits and not any(hit.score for hit in hits):
            notes.append(NO_WORDS)
            hits = [replace(hit, low_confidence=True) for hit in hits]
            hits.sort(key=lambda hit: -len(hit.chunk.text))
        else:
            hits = [hit for hit in hits if hit.score]
        hits = _each_once(hits)
        reranking_ms = 0.0
        if self._reranker is not None and hits:
            if progress is not None:
                progress(f"Reranking {min(len(hits), self._candidates)} chunks...")
            begun = asyncio.get_running_loop().time()
            hits = await self._reranked(self._reranker, question, hits, deadline, notes)
            reranking_ms = (asyncio.get_running_loop().time() - begun) * 1_000
        return Retrieved(
            hits=tuple(hits[:limit]),
            notes=tuple(notes),
            evaluated=len(candidates),
            reranking_ms=reranking_ms,
            support=found,
            section=hits[0].chunk.path[-1] if hits and hits[0].chunk.path else "",
        )

    def make_vectors(self) -> None:
        """Compute the missing vectors in the background; returns at once."""
        is_free = self._making is None or self._making.done()
        if self._embedder is not None and self._spawn is not None and is_free:
            self._making = self._spawn(self._make_vectors(self._embedder))

    async def aclose(self) -> None:
        """Stop computing vectors; harmless when called twice."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait([self._making])

    async def _make_vectors(self, embedder: Embedder) -> None:
        last: set[str] = set()
        self._are_missing = False
        try:
            while chunks := await self._store.unembedded(embedder.model, _ROUND):
                texts = {chunk.id: as_embedded(chunk) for chunk in chunks}
                if texts.keys() <= last:
                    return  # another process deletes what is stored here
                last = set(texts)
                names = list(texts)
                for at in range(0, len(names), BATCH):
                    batch = names[at : at + BATCH]
                    made = await embedder.embed([texts[name] for name in batch])
                    await self._store.keep_vectors(
                        embedder.model, dict(zip(batch, made, strict=True))
                    )
        except SearxMcpError as error:
            self._are_missing = True  # the next question tries again
            _log.info("corpus.vectors_not_made code=%s", error.code)
        except Exception:  # noqa: BLE001 - a task of the client that fails would end the client
            _log.exception("corpus.vectors_broke")

    async def _find(
        self, question: str, urls: Sequence[str] | None, held: Sequence[ChunkHit]
    ) -> tuple[list[ChunkHit], Mapping[str, float] | None]:
        """Return the candidate chunks, and the weights of the question's words; `None`: among the candidates."""
        words = terms(question)
        found, stored = list(held), urls
        heads: Sequence[PageHead] = ()
        if urls is not None:
            here = {hit.url for hit in held}
            stored = [url for url in urls if url not in here]
            heads = [head for url in stored if (head := await self._store.head(url)) is not None]
            if sum(head.chunks for head in heads) + len(found) <= _WHOLE_PAGES:
                return [*found, *await self._all_of(heads)], None
        total, known = await self._store.frequencies(words, urls=stored)
        matches = await self._store.match(words, urls=stored, limit=_CANDIDATES)
        found += [ChunkHit(each.url, each.chunk, 0.0, title=each.title) for each in matches]
        most = _NEAREST if self._embedder is not None else _WHOLE_PAGES
        if not found and urls is None and most == _NEAREST:
            heads = await self._store.heads()
        return found or await self._all_of(heads, most), weigh(known, total)

    async def _all_of(self, heads: Sequence[PageHead], most: int = _WHOLE_PAGES) -> list[ChunkHit]:
        """Return the chunks of pages, in order, as many as are scored at once."""
        found: list[ChunkHit] = []
        for head in heads:
            if len(found) < most:
                chunks = await self._store.chunks(head.url)
                found += [ChunkHit(head.url, chunk, 0.0, title=head.title) for chunk in chunks]
        return found[:most]

    async def _with_vectors(
        self,
        embedder: Embedder,
        question: str,
        hits: list[ChunkHit],
        most: int,
        deadline: float | None,
    ) -> list[ChunkHit]:
        """Add to the scores of the words how near each chunk is to the question.

        Raises:
            SearxMcpError: the model cannot be asked.
        """
        (asked,) = await embedder.embed([question], deadline=deadline)
        packed = await self._vectors(embedder, hits, deadline)
        return await asyncio.to_thread(_fused, hits, asked, packed, embedder.floor, most)

    async def _vectors(
        self, embedder: Embedder, hits: Sequence[ChunkHit], deadline: float | None
    ) -> dict[str, bytes]:
        """Return the vectors of chunks; missing ones are computed and stored."""
        texts = {hit.chunk.id: as_embedded(hit.chunk) for hit in hits}
        known = await self._store.vectors(embedder.model, list(texts))
        missing = [name for name in texts if name not in known]
        self._are_missing = self._are_missing or len(missing) > _NEW_VECTORS
        if missing := missing[:_NEW_VECTORS]:
            made = await embedder.embed([texts[name] for name in missing], deadline=deadline)
            new = dict(zip(missing, made, strict=True))
            await self._store.keep_vectors(embedder.model, new)
            known = {**known, **new}
        return known

    async def _reranked(
        self,
        reranker: Reranker,
        question: str,
        hits: list[ChunkHit],
        deadline: float | None,
        notes: list[str],
    ) -> list[ChunkHit]:
        """Move the best chunks to the front, in the reranker's order."""
        first, rest = hits[: self._candidates], hits[self._candidates :]
        scores = await reranker.rerank(
            question, [hit.chunk.text for hit in first], deadline=deadline
        )
        if scores is None:
            notes.append(NOT_RERANKED)
            return hits
        ordered = sorted(zip(first, scores, strict=True), key=lambda pair: -pair[1])
        # A threshold of the reranker never empties an answer; the reranker only changes the order.
        return [replace(hit, confidence=score) for hit, score in ordered] + rest


def _words(chunk: StoredChunk, named: list[str]) -> Words:
    """Return the words by which the store found a chunk, with those of its page's title several times."""
    titles, _, body = chunk.words.partition("\n")
    more = [*titles.split(" "), *named * (_TITLE_WEIGHT - 1)]
    return Words(body.split(" "), more, len(chunk.text))


def _supported(question: str, hits: Sequence[ChunkHit], parts: Sequence[Words]) -> Support:
    """Return the support by the page that supports a question best: it must itself contain the names and numbers."""
    pages: dict[str, list[Words]] = {}
    for hit, words in zip(hits, parts, strict=True):
        pages.setdefault(hit.url, []).append(words)
    found = (support(question, own) for own in pages.values())
    return max(found, key=lambda each: (each.answered, each.score), default=UNSUPPORTED)


def _fused(
    hits: Sequence[ChunkHit],
    asked: bytes,
    packed: Mapping[str, bytes],
    floor: float | None,
    most: int,
) -> list[ChunkHit]:
    """Score hits by words and vectors, best first, without near-duplicates of a better one.

    Args:
        hits: scored by their words.
        asked: the vector of the question.
        packed: vectors by the ids of chunks; a chunk without one counts as the farthest.
        floor: similarity below which a hit is marked if it also has few words of the question.
        most: number of the best hits that are compared with each other.
    """
    vectors = {name: unpack(vector) for name, vector in packed.items()}
    question = unpack(asked)
    near = {name: cosine(question, vector) for name, vector in vectors.items()}
    farthest = min(near.values())
    best = max(_USUAL_SCORE, *(hit.score for hit in hits))
    scored, anchor = [], 0.0
    for hit in hits:
        nearness = near.get(hit.chunk.id, farthest)
        score = max(0.0, _mixed(hit.score / best, nearness))
        anchor = max(anchor, _mixed(hit.score, max(0.0, nearness)))
        is_far = floor is None or nearness < floor
        scored.append(replace(hit, score=score, low_confidence=hit.low_confidence and is_far))
    # The order is relative to this question; the best score is comparable across questions.
    top = max(hit.score for hit in scored) or 1.0
    scored = [replace(hit, score=hit.score / top * anchor) for hit in scored]
    scored.sort(key=lambda hit: -hit.score)
    return _unlike(scored, vectors, most)


def _mixed(words: float, nearness: float) -> float:
    return _WORDS_SHARE * words + (1 - _WORDS_SHARE) * nearness


def as_embedded(chunk: StoredChunk) -> str:
    """Return the text for a chunk's vector: the chunk with the headings above it."""
    return "\n".join((" > ".join(chunk.path), chunk.text)) if chunk.path else chunk.text


def _each_once(hits: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Return one hit per text: the best, with the other pages that have the text."""
    first: dict[str, ChunkHit] = {}
    for hit in hits:
        text = " ".join(hit.chunk.text.split())
        first[text] = _with_copy(first[text], hit) if text in first else hit
    return list(first.values())


def _unlike(
    hits: Sequence[ChunkHit], vectors: Mapping[str, Sequence[float]], most: int
) -> list[ChunkHit]:
    """Drop near-duplicates of better hits, until there are `most`; the rest is not shown.

    Words count too, since a model gives all texts in a script that it hardly knows nearly the same vector.
    """
    kept: list[ChunkHit] = []
    for place, hit in enumerate(hits):
        if len(kept) == most:
            return [*kept, *hits[place:]]
        vector = vectors.get(hit.chunk.id, ())
        twin = next(
            (
                index
                for index, other in enumerate(kept)
                if cosine(vector, vectors.get(other.chunk.id, ())) > _SAME
                and _has_same_words(hit, other)
            ),
            None,
        )
        if twin is None:
            kept.append(hit)
        else:
            kept[twin] = _with_copy(kept[twin], hit)
    return kept


def _has_same_words(hit: ChunkHit, other: ChunkHit) -> bool:
    words, others = (frozenset(terms(each.chunk.text)) for each in (hit, other))
    return len(words & others) >= _SAME_WORDS * len(words | others)


def _with_copy(hit: ChunkHit, copy: ChunkHit) -> ChunkHit:
    urls = (url for url in (copy.url, *copy.copies) if url not in {hit.url, *hit.copies})
    return replace(hit, copies=(*hit.copies, *urls))
