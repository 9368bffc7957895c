"""Assembles evidence: selects chunks, numbers sources, checks quotes, adds images and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from searx_mcp.content.passages import rank
from searx_mcp.evidence.answer.citations import MisquoteError, cite
from searx_mcp.evidence.answer.gathering import Gathering
from searx_mcp.evidence.answer.question import Analysis
from searx_mcp.evidence.answer.selection import (
    MOST,
    Candidate,
    Wishes,
    copies_of,
    rate,
    select,
    with_neighbours,
)
from searx_mcp.evidence.corpus.corpus import as_text, table_heads
from searx_mcp.evidence.corpus.retrieval import ChunkHit
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.evidence.values import (
    Citation,
    Evidence,
    EvidenceImage,
    EvidenceResponse,
    EvidenceStats,
    Mode,
    Source,
)
from searx_mcp.models.response import SearchResult
from searx_mcp.models.spelling import counted

_QUOTED: Final = 12
"""Number of chunks to quote."""
_IMAGES: Final = 12
_CUT: Final = 12
"""Number of chunks that may be shown in part."""


@dataclass(frozen=True, slots=True)
class Material:
    """The material for evidence.

    Attributes:
        query: as asked.
        analysis: of the query.
        gathering: what was read and found.
        wishes: the caller's other wishes.
        unread: results of a search whose pages could not be read.
        full_tokens: up to this many tokens, all pages are returned in full; 0 for never.
        most: maximum number of chunks.
        searched: pages that were searched, if more than the gathered ones.
        has_vectors: whether vectors were used in the search.
    """

    query: str
    analysis: Analysis
    gathering: Gathering
    wishes: Wishes
    unread: Sequence[SearchResult] = ()
    full_tokens: int = 0
    most: int = MOST
    searched: int | None = None
    has_vectors: bool = False

    @property
    def pages(self) -> dict[str, StoredPage]:
        """The pages, by address."""
        return {url: done.page for url, done in self.gathering.pages.items() if done.page}

    @property
    def chunks(self) -> dict[str, Sequence[StoredChunk]]:
        """The chunks of each page, by address."""
        return {url: done.chunks for url, done in self.gathering.pages.items()}


@dataclass(frozen=True, slots=True)
class ChosenChunks:
    """The chunks that become evidence.

    Attributes:
        candidates: the chunks, in the order in which they are returned.
        mode: how they were selected.
        known: how many were dropped because the caller knows them.
        copies: the page that each duplicate repeats, by the duplicate's address.
    """

    candidates: Sequence[Candidate]
    mode: Mode
    known: int
    copies: Mapping[str, str]


class _Sources:
    """Numbers pages in the order in which their evidence comes."""

    def __init__(self, pages: Mapping[str, StoredPage], copies: Mapping[str, str]) -> None:
        self._pages = pages
        self._copies = copies
        self._numbers: dict[str, int] = {}
        self._sections: dict[str, dict[str, None]] = {}
        self._unread: dict[str, SearchResult] = {}

    def number(self, url: str, path: Sequence[str] = ()) -> int:
        """Return the number of a page; duplicates have that of the page they repeat."""
        url = self._copies.get(url, url)
        sections = self._sections.setdefault(url, {})
        if path:
            sections[path[-1]] = None
        return self._numbers.setdefault(url, len(self._numbers) + 1)

    def number_unread(self, result: SearchResult) -> int:
        """Return the number of a page that was not read."""
        self._unread[result.url] = result
        return self.number(result.url)

    def all(self) -> tuple[Source, ...]:
        """Return the sources, by number."""
        return tuple(map(self._source, self._numbers))

    def _source(self, url: str) -> Source:
        number = self._numbers[url]
        if (result := self._unread.get(url)) is not None:
            return Source(number=number, url=url, title=result.title, is_read=False)
        page = self._pages[url]
        return Source(
            number=number,
            url=url,
            title=page.title,
            sections=tuple(self._sections[url]),
            retrieved_at=as_text(page.fetched_at),
            content_hash=page.content_hash,
            copies=tuple(copy for copy, original in self._copies.items() if original == url),
        )


def choose(material: Material) -> ChosenChunks:
    """Select evidence: all pages in full if they fit, else the best chunks; one chunk if nothing answers."""
    chunks, wishes = material.chunks, material.wishes
    copies = copies_of({url: page.title for url, page in material.pages.items()}, chunks)
    rated, known = rate(
        {
            part: [hit for hit in hits if hit.url not in copies]
            for part, hits in material.gathering.found.items()
        },
        wishes,
        named=material.gathering.named,
        has_vectors=material.has_vectors,
    )
    if material.gathering.is_refused:
        return ChosenChunks(select(rated, most=1)[:1], Mode.CHUNK, known, copies)
    whole = [
        ChunkHit(url, chunk, 0.0, low_confidence=True)
        for url, page in chunks.items()
        if url not in copies
        for chunk in page
    ]
    if 0 < sum(hit.chunk.tokens for hit in whole) <= material.full_tokens:
        chosen = select(rated, most=len(whole), named=material.gathering.named)
        here = {each.hit.chunk.id for each in chosen}
        rest = [
            Candidate(hit, 0.0, "")
            for hit in whole
            if hit.chunk.id not in here and not wishes.has(hit.chunk.text)
        ]
        left_out = len({hit.chunk.id for hit in whole}) - len(chosen) - len(rest)
        return ChosenChunks([*chosen, *rest], Mode.FULL_CONTEXT, left_out, copies)
    chosen = select(rated, most=material.most, named=material.gathering.named)
    return ChosenChunks(chosen, Mode.CHUNK, known, copies)


def add_adjacent(material: Material, choice: ChosenChunks) -> ChosenChunks:
    """Add the neighbours of the best chunks, up to the maximum."""
    every = with_neighbours(choice.candidates, material.chunks, material.wishes)
    return replace(choice, candidates=every[: material.most])


def assemble(material: Material, choice: ChosenChunks) -> EvidenceResponse:
    """Assemble evidence; the caller adds the time it took.

    Linear in the text of the pages, except for quotes: each is compared with its page once.
    """
    gathering, pages, candidates = material.gathering, material.pages, choice.candidates
    sources = _Sources(pages, choice.copies)
    several = len(material.analysis.sub_queries) > 1
    heads = {
        name: head
        for url, page in pages.items()
        for name, head in table_heads(
            page, (each.hit.chunk for each in candidates if each.hit.url == url)
        ).items()
    }
    evidence = [
        Evidence(
            source=sources.number(each.hit.url, each.hit.chunk.path),
            id=each.hit.chunk.id,
            text=each.hit.chunk.text,
            table_head=heads.get(each.hit.chunk.id, ""),
            score=round(each.score, 4),
            confidence=_confidence(each.hit),
            sub_query=each.sub_query if several else "",
            section_path=each.hit.chunk.path,
            span=(each.hit.chunk.start, each.hit.chunk.end),
            is_adjacent=each.is_adjacent,
            low_confidence=each.hit.low_confidence,
            parts=_parts(each.hit.chunk.text, each.sub_query or material.query)
            if place < _CUT
            else (),
        )
        for place, each in enumerate(candidates)
    ]
    for step in gathering.steps:
        if not step.depth and step.url in pages:  # a page that the call named is always mentioned
            sources.number(step.url)
    unread = material.unread[: 0 if gathering.is_refused and evidence else None]
    evidence += [
        Evidence(source=sources.number_unread(result), text=result.description, score=0.0)
        for result in unread
        if result.description
    ]
    citations, dropped = _citations(material, candidates, evidence)
    notes = list(dict.fromkeys(chain(gathering.notes, *gathering.remarks.values())))
    if choice.known:
        notes.append(f"{counted(choice.known, 'passage')} left out: known_context says the same.")
    return EvidenceResponse(
        query=material.query,
        intent=material.analysis.intent,
        sub_queries=material.analysis.sub_queries,
        answered=gathering.is_covered(),
        parts=tuple(gathering.verdicts.values()),
        sources=sources.all(),
        evidence=tuple(evidence),
        images=_images(candidates, evidence, pages),
        steps=tuple(gathering.steps),
        citations=citations,
        stats=EvidenceStats(
            mode=choice.mode,
            documents_searched=len(pages) if material.searched is None else material.searched,
            documents_matched=len({each.source for each in evidence if each.id}),
            chunks_evaluated=gathering.evaluated,
            iterations=sum(step.depth > 0 for step in gathering.steps),
            depth=gathering.depth,
            urls_ingested=sum(
                done.was_fetched and done.new_chunks > 0 for done in gathering.pages.values()
            ),
            stop_reason=gathering.stop_reason,
            citations_dropped=dropped,
        ),
        notes=tuple(notes),
    )


def _parts(text: str, question: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the parts of a text, the best match for the question first."""
    return tuple((each.span.start, each.span.end) for each in rank(text, (), question))


def _confidence(hit: ChunkHit) -> float:
    """Return the reranker's confidence; without a reranker, the share of the question that a chunk contains."""
    return round(hit.coverage if hit.confidence is None else hit.confidence, 4)


def _citations(
    material: Material, candidates: Sequence[Candidate], evidence: Sequence[Evidence]
) -> tuple[tuple[Citation, ...], int]:
    """Return quotes of the best chunks, best first, and how many chunks were not in their page.

    A chunk has one quote for the part of the question that it was found for, and one for each answered part for which
    it is the best. Chunks with low confidence are quoted if there are no others, and none if nothing is answered.
    """
    gathering = material.gathering
    if gathering.is_refused:
        return (), 0
    pairs = zip(candidates, evidence, strict=False)
    found = [(each, shown) for each, shown in pairs if each.score and not each.is_adjacent]
    telling = [pair for pair in found if not pair[0].hit.low_confidence] or found
    telling.sort(key=lambda pair: -pair[0].score)
    citations: dict[str, Citation] = {}
    dropped = 0
    for each, shown in telling:
        if len(citations) >= _QUOTED:
            break
        answered = [part for part in each.best_for if gathering.verdicts[part].answered]
        page = material.pages[each.hit.url]
        try:
            for question in dict.fromkeys((each.sub_query or material.query, *answered)):
                cited = cite(each.hit.chunk, page, question, source=shown.source)
                if cited is not None:
                    citations.setdefault(cited.text, cited)
        except MisquoteError:
            dropped += 1
    return tuple(citations.values())[:_QUOTED], dropped


def _images(
    candidates: Sequence[Candidate], evidence: Sequence[Evidence], pages: Mapping[str, StoredPage]
) -> tuple[EvidenceImage, ...]:
    """Return the images whose words are in a chunk."""
    images: dict[str, EvidenceImage] = {}
    for each, shown in zip(candidates, evidence, strict=False):
        for image in pages[each.hit.url].document.images:
            words = image.alt or image.caption
            if words and words in each.hit.chunk.text and len(images) < _IMAGES:
                images.setdefault(
                    image.url,
                    EvidenceImage(
                        url=image.url, alt=image.alt, caption=image.caption, source=shown.source
                    ),
                )
    return tuple(images.values())
