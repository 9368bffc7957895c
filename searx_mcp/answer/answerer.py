"""Answers with evidence: pages read and followed, chunks chosen, quotes checked."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from searx_mcp.answer.assembly import Material, assemble
from searx_mcp.answer.config import AnswerConfig
from searx_mcp.answer.expansion import OUT_OF_TIME, RETRIEVED, Expander, Gathering
from searx_mcp.answer.question import analyse
from searx_mcp.answer.selection import Wishes
from searx_mcp.corpus.corpus import Corpus
from searx_mcp.corpus.ingestion import Ingested, address_of
from searx_mcp.errors import DeadlineError
from searx_mcp.models.corpus_request import AnswerRequest, CorpusSearchRequest
from searx_mcp.models.evidence import EvidenceResponse, EvidenceStats, Timing, VerifyReport
from searx_mcp.models.request import MAX_QUERY_LENGTH, SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.models.service import Progress

FULL_CONTEXT_TOKENS: Final = 6_000
"""Tokens up to which all of all pages is given, where a call names no budget."""
_FULL_SHARE: Final = 0.75
"""Of a budget that a call names; sources, quotes and figures take the rest."""
PARTIAL: Final = "Time ran out: this is what was found until then."
_SNIPPETS: Final = 3
"""Results of a search that are shown although they were not read, if too little was."""


class WebSearch(Protocol):
    """Searches the web."""

    async def __call__(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Give results; raises `SearxMcpError` only."""
        ...


@dataclass(slots=True)
class _Clock:
    """Milliseconds of the steps of a call, from one mark to the next."""

    now: Callable[[], float]
    started: float
    last: float
    spent: dict[str, float]

    @classmethod
    def start(cls) -> "_Clock":
        now = asyncio.get_running_loop().time
        return cls(now, now(), now(), {})

    def mark(self, step: str) -> None:
        at = self.now()
        self.spent[step] = self.spent.get(step, 0.0) + (at - self.last) * 1_000
        self.last = at

    def timing(self) -> Timing:
        total = (self.now() - self.started) * 1_000
        return Timing(
            total=round(total, 1), **{name: round(ms, 1) for name, ms in self.spent.items()}
        )


class Answerer:
    """Finds evidence for questions, in pages that are named, found or kept."""

    def __init__(
        self, corpus: Corpus, search: WebSearch, *, config: AnswerConfig, language: str = "en"
    ) -> None:
        """Take the parts.

        Args:
            corpus: reads, keeps and searches pages.
            search: finds pages where a call names none.
            config: how far it goes.
            language: of the search.
        """
        self.corpus = corpus
        self._search = search
        self._config = config
        self._language = language

    async def answer(
        self,
        request: AnswerRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Give evidence for a question.

        Args:
            request: the question, and where to begin.
            deadline: the event loop's time by which to return; what is in hand by then is given, and
                marked partial.
            progress: told each step.

        Raises:
            SearxMcpError: not one page could be read, or the search failed; see `searx_mcp.errors`.
        """
        clock = _Clock.start()
        analysis = analyse(request.query, request.intent)
        _tell(
            progress, f"Analyzing query — decomposed into {len(analysis.sub_queries)} sub-queries"
        )
        clock.mark("analysis")
        gathering = Gathering(analysis.sub_queries)
        budget = request.expansion_budget
        is_late = False
        results: SearchResponse | None = None
        try:
            async with asyncio.timeout_at(deadline):
                seeds: Sequence[str] = request.addresses
                if not seeds:
                    results = await self._found(request, progress)
                    seeds = [each.url for each in results.results[: self._config.seeds]]
                await Expander(self.corpus, max_depth=self._config.max_expansion_depth).gather(
                    gathering,
                    seeds,
                    budget=self._config.expansion_budget if budget is None else budget,
                    is_automatic=budget is None,
                    deadline=deadline,
                    progress=progress,
                )
        except TimeoutError as exc:
            if not gathering.found:
                raise DeadlineError("No page was read in time") from exc
            gathering.stop_reason, is_late = OUT_OF_TIME, True
        clock.mark("expansion" if gathering.depth else "ingestion")
        unread = _unread(results, gathering)
        if gathering.errors and not (gathering.pages or unread):
            raise gathering.errors[0]
        limit = request.max_tokens
        material = Material(
            request.query,
            analysis,
            gathering,
            Wishes(analysis.intent, request.constraints, request.known_context),
            unread=unread,
            full_tokens=FULL_CONTEXT_TOKENS if limit is None else round(_FULL_SHARE * limit),
        )
        return await self._done(material, clock, budget=budget, is_late=is_late, progress=progress)

    async def search(
        self,
        request: CorpusSearchRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Give evidence from pages that are kept; makes no request.

        Args:
            request: the question, and which pages to look in.
            deadline: the event loop's time by which to return.
            progress: told each step.
        """
        clock = _Clock.start()
        analysis = analyse(request.query, request.intent)
        clock.mark("analysis")
        gathering = Gathering(analysis.sub_queries)
        urls = [address_of(url) for url in request.source_urls] or None
        for question in analysis.sub_queries:
            found = await self.corpus.retrieve(
                question, urls=urls, limit=max(RETRIEVED, request.top_k), deadline=deadline
            )
            gathering.found[question] = found.hits
            gathering.evaluated = max(gathering.evaluated, found.evaluated)
            gathering.notes.extend(note for note in found.notes if note not in gathering.notes)
        clock.mark("retrieval")
        wanted = {hit.url for hits in gathering.found.values() for hit in hits}
        for page in await self.corpus.pages(sorted(wanted)):
            gathering.pages[page.url] = Ingested(page.url, page, await self.corpus.chunks(page.url))
        material = Material(
            request.query, analysis, gathering, Wishes(analysis.intent), most=request.top_k
        )
        return await self._done(material, clock, budget=0, progress=progress)

    async def verify(self, text: str) -> VerifyReport:
        """Check the quotes and links of a report against the pages that are kept."""
        raise NotImplementedError

    async def _done(
        self,
        material: Material,
        clock: _Clock,
        *,
        budget: int | None,
        is_late: bool = False,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Put the evidence together, and keep its pages for longer than others."""
        _tell(progress, "Assembling results...")
        response = await asyncio.to_thread(assemble, material)
        clock.mark("merge")
        await self.corpus.pin([source.url for source in response.sources if source.is_read])
        known = dict(response.stats) | {
            "budget": budget,
            "max_depth": self._config.max_expansion_depth,
            "timing": clock.timing(),
        }
        notes = (PARTIAL, *response.notes) if is_late else response.notes
        return response.model_copy(
            update={"stats": EvidenceStats(**known), "is_partial": is_late, "notes": notes}
        )

    async def _found(self, request: AnswerRequest, progress: Progress | None) -> SearchResponse:
        asked = SearchRequest(
            query=request.query[:MAX_QUERY_LENGTH],
            language=self._language,
            results_count=max(self._config.seeds, _SNIPPETS),
            fetch_content=False,
        )
        _tell(progress, "Searching the web...")
        return await self._search(asked, progress=progress)


def _unread(results: SearchResponse | None, gathering: Gathering) -> tuple[SearchResult, ...]:
    """The best results of a search whose pages were not read."""
    if results is None:
        return ()
    tried = {step.url for step in gathering.steps if not step.failure}
    unread = [each for each in results.results if address_of(each.url) not in tried]
    return tuple(unread[:_SNIPPETS])


def _tell(progress: Progress | None, message: str) -> None:
    if progress is not None:
        progress(message)
