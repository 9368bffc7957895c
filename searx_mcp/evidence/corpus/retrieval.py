"""Finding the chunks that fit a question: by their words, by vectors where there are any, or both.

The words are scored by the ranker that search and `prompt` use; those of a page's title count as a heading
above all of it, several times. Vectors add to that, they never replace it:
`score = a * words / best + (1 - a) * similarity` (convex fusion; equal-weight rank fusion lost 2.9 points of
nDCG@10 on questions about one page). Similarity is not scaled: where all chunks are about as near, it decides little. What was measured: `docs/decisions/retrieval.md`.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.content.passages import Words, score_all, weigh
from searx_mcp.content.support import UNSUPPORTED, Support, support
from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.corpus.embedding import BATCH, Embedder, cosine, unpack
from searx_mcp.evidence.corpus.reranking import Reranker
from searx_mcp.evidence.storage.store import CorpusStore, PageHead, StoredChunk, find_terms
from searx_mcp.models.progress import Progress
from searx_mcp.tasks import Spawn

_WHOLE_PAGES: Final = 400
"""Chunks up to which all of the named pages are scored; of more, those that the index finds."""
_CANDIDATES: Final = 128
"""Chunks of the index that are scored: of the questions of the labelled set, 96.9 % have their answer among the
first 100, and 97.3 % among the first 200, which take twice the time."""
_NEAREST: Final = 2_000
"""Chunks among which vectors alone look, where no word of the question is known. Chosen."""
_TITLE_WEIGHT: Final = 3
"""How much a word of the title of a page counts, in words of headings."""
_WORDS_SHARE: Final = 0.6
"""Of the score, where there are vectors."""
_USUAL_SCORE: Final = 0.2
"""What a chunk that answers has by its words; where the best has less, these have less to say."""
_LEAST_COVERAGE: Final = 0.35
"""Share of the question's weight below which a chunk is marked, where no vector says more: it marks 90 of 100 first
chunks that do not answer, and 30 of those that do."""
_SAME: Final = 0.98
"""Similarity above which two chunks say the same, if they also have the same words."""
_SAME_WORDS: Final = 0.9
"""Of the words of both, the share that each has."""
_NEW_VECTORS: Final = 256
"""Vectors made while a question waits, of the chunks whose words fit best; the rest are made behind it."""
_ROUND: Final = 1_024
"""Chunks without a vector that are looked up at once: each time, the store goes through all chunks."""
_KEPT_BACK: Final = 0.1
_MOST_KEPT_BACK: Final = 0.25
"""Share of the time, and seconds, left for what was found by words when no server answers."""

LEXICAL_ONLY: Final = "Embeddings were unavailable: chunks were matched by their words alone."
NOT_RERANKED: Final = "The rerank server did not answer: chunks are in the order of retrieval."
NO_WORDS: Final = "No word of the question was found: these are the longest chunks."

_log = logging.getLogger("searx_mcp.evidence.corpus")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that fits a question.

    Attributes:
        url: of its page.
        chunk: as it is kept.
        score: 0 to 1, higher is better; comparable within one answer.
        confidence: of a reranker, 0 to 1; `None` without one.
        low_confidence: whether it fits less than what usually answers.
        coverage: 0 to 1, the share of the question that is in it, by the weight of its words.
        title: of its page.
        copies: other pages that have the very same text.
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
        notes: sentences a caller should know.
        evaluated: chunks that were scored.
        reranking_ms: milliseconds that the reranker took.
        support: how far they support the question.
        section: the heading above the first; may be empty.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    evaluated: int = 0
    reranking_ms: float = 0.0
    support: Support = UNSUPPORTED
    section: str = ""


class Retriever:
    """Finds chunks in the store.

    Vectors that a question does not wait for, as after a change of the model, are made behind it, one
    batch at a time.
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
        """Take the parts; nothing is opened.

        Args:
            store: keeps chunks and vectors.
            embedder: makes vectors, if anything does.
            reranker: puts the best chunks in order, if anything does.
            candidates: chunks that the reranker is asked about.
            spawn: starts work that outlives a question; without it, no vectors are made but for one.
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
        held: Sequence[Hit] = (),
        progress: Progress | None = None,
    ) -> Retrieved:
        """Find the chunks that fit a question.

        Args:
            question: in words.
            urls: pages to look in; all unless given.
            limit: chunks at most.
            deadline: the event loop's time by which to return; what vectors or a reranker would add after it
                is left out, with a note.
            held: the chunks of those pages that are not in the store, without a score.
            progress: told before the reranker is asked.

        Returns:
            At most `limit` chunks. A page that is named has some, even if no word of the question stands in
            it, since a threshold that leaves nothing is no help; these are marked.
        """
        if not urls and urls is not None:
            return Retrieved(())
        deadline = _before(deadline)
        candidates, weights = await self._find(question, urls, held)
        named = {title: find_terms(title) for title in {each.title for each in candidates}}
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
            *(tuple(hits[:limit]), tuple(notes), len(candidates), reranking_ms),
            support=found,
            section=hits[0].chunk.path[-1] if hits and hits[0].chunk.path else "",
        )

    def make_vectors(self) -> None:
        """Make the vectors that are missing, behind all calls; returns at once."""
        is_free = self._making is None or self._making.done()
        if self._embedder is not None and self._spawn is not None and is_free:
            self._making = self._spawn(self._make_vectors(self._embedder))

    async def aclose(self) -> None:
        """Stop making vectors; harmless when called twice."""
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
                    return  # another process deletes what is made here
                last = set(texts)
                names = list(texts)
                for at in range(0, len(names), BATCH):
                    batch = names[at : at + BATCH]
                    made = await embedder.embed([texts[name] for name in batch])
                    vectors = dict(zip(batch, made, strict=True))
                    await self._store.keep_vectors(embedder.model, vectors)
        except SearxMcpError as error:
            self._are_missing = True  # the next question tries again
            _log.info("corpus.vectors_not_made code=%s", error.code)
        except Exception:  # noqa: BLE001 - a task of the client that fails would end the client
            _log.exception("corpus.vectors_broke")

    async def _find(
        self, question: str, urls: Sequence[str] | None, held: Sequence[Hit]
    ) -> tuple[list[Hit], Mapping[str, float] | None]:
        """The chunks worth a look, and what the words of the question weigh; `None`: among themselves."""
        words = find_terms(question)
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
        found += [Hit(each.url, each.chunk, 0.0, title=each.title) for each in matches]
        most = _NEAREST if self._embedder is not None else _WHOLE_PAGES
        if not found and urls is None and most == _NEAREST:
            heads = await self._store.heads()
        return found or await self._all_of(heads, most), weigh(known, total)

    async def _all_of(self, heads: Sequence[PageHead], most: int = _WHOLE_PAGES) -> list[Hit]:
        """The chunks of pages, in order, as many as are scored at once."""
        found: list[Hit] = []
        for head in heads:
            if len(found) < most:
                chunks = await self._store.chunks(head.url)
                found += [Hit(head.url, chunk, 0.0, title=head.title) for chunk in chunks]
        return found[:most]

    async def _with_vectors(
        self,
        embedder: Embedder,
        question: str,
        hits: list[Hit],
        most: int,
        deadline: float | None,
    ) -> list[Hit]:
        """Add to the scores of the words how near each chunk is to the question.

        Raises:
            SearxMcpError: the model cannot be asked.
        """
        (asked,) = await embedder.embed([question], deadline=deadline)
        packed = await self._vectors(embedder, hits, deadline)
        return await asyncio.to_thread(_fused, hits, asked, packed, embedder.floor, most)

    async def _vectors(
        self, embedder: Embedder, hits: Sequence[Hit], deadline: float | None
    ) -> dict[str, bytes]:
        """The vectors of chunks; those that are missing are made and kept."""
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


def _before(deadline: float | None) -> float | None:
    """When to stop waiting for servers, so that there is an answer by the deadline."""
    if deadline is None:
        return None
    left = deadline - asyncio.get_running_loop().time()
    return deadline - min(_KEPT_BACK * left, _MOST_KEPT_BACK)


def _words(chunk: StoredChunk, named: list[str]) -> Words:
    """The words of a chunk, under which the store found it, with those of its page's title several times."""
    titles, _, body = chunk.words.partition("\n")
    more = [*titles.split(" "), *named * (_TITLE_WEIGHT - 1)]
    return Words(body.split(" "), more, len(chunk.text))


def _supported(question: str, hits: Sequence[Hit], parts: Sequence[Words]) -> Support:
    """How far the page that supports a question best does: a name or a number must stand in that page."""
    pages: dict[str, list[Words]] = {}
    for hit, words in zip(hits, parts, strict=True):
        pages.setdefault(hit.url, []).append(words)
    found = (support(question, own) for own in pages.values())
    return max(found, key=lambda each: (each.answered, each.score), default=UNSUPPORTED)


def _fused(
    hits: Sequence[Hit],
    asked: bytes,
    packed: Mapping[str, bytes],
    floor: float | None,
    most: int,
) -> list[Hit]:
    """Score hits by words and vectors, best first, without those that say the same as a better one.

    Args:
        hits: scored by their words.
        asked: the vector of the question.
        packed: vectors by the ids of chunks; what has none counts as the farthest.
        floor: similarity below which a hit that also has few words of the question is marked.
        most: of the best are compared with each other.
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
    # The order is that of this question; how high the best stands compares with other questions.
    top = max(hit.score for hit in scored) or 1.0
    scored = [replace(hit, score=hit.score / top * anchor) for hit in scored]
    scored.sort(key=lambda hit: -hit.score)
    return _unlike(scored, vectors, most)


def _mixed(words: float, nearness: float) -> float:
    return _WORDS_SHARE * words + (1 - _WORDS_SHARE) * nearness


def as_embedded(chunk: StoredChunk) -> str:
    """Return the text that a chunk's vector is made of: with the headings above it."""
    return "\n".join((" > ".join(chunk.path), chunk.text)) if chunk.path else chunk.text


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """One hit for each text: the best, which knows the other pages that have it."""
    first: dict[str, Hit] = {}
    for hit in hits:
        text = " ".join(hit.chunk.text.split())
        first[text] = _with_copy(first[text], hit) if text in first else hit
    return list(first.values())


def _unlike(hits: Sequence[Hit], vectors: Mapping[str, Sequence[float]], most: int) -> list[Hit]:
    """Leave out what says the same as a better hit, until there are so many; the rest is not shown.

    Words have a say, since a model gives all texts in a script that it hardly knows much the same vector.
    """
    kept: list[Hit] = []
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


def _has_same_words(hit: Hit, other: Hit) -> bool:
    words, others = (frozenset(find_terms(each.chunk.text)) for each in (hit, other))
    return len(words & others) >= _SAME_WORDS * len(words | others)


def _with_copy(hit: Hit, copy: Hit) -> Hit:
    urls = (url for url in (copy.url, *copy.copies) if url not in {hit.url, *hit.copies})
    return replace(hit, copies=(*hit.copies, *urls))
