"""Answers with evidence: reads pages, follows links, selects chunks, checks quotes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from searx_mcp.errors import DeadlineError
from searx_mcp.evidence.answer.assembly import Material, add_adjacent, assemble, choose
from searx_mcp.evidence.answer.expansion import RETRIEVED, Expander, search_each_part, tell
from searx_mcp.evidence.answer.gathering import OUT_OF_TIME, Gathering, Stopwatch
from searx_mcp.evidence.answer.question import analyse
from searx_mcp.evidence.answer.report import (
    ClaimInReport,
    QuoteInReport,
    Report,
    address_key,
    read_report,
)
from searx_mcp.evidence.answer.selection import Wishes
from searx_mcp.evidence.answer.verification import check_report
from searx_mcp.evidence.checked import CheckedQuote, VerifyReport
from searx_mcp.evidence.config import AnswerConfig
from searx_mcp.evidence.corpus.corpus import Corpus
from searx_mcp.evidence.corpus.ingestion import Ingested, address_of
from searx_mcp.evidence.requests import AnswerRequest, CorpusSearchRequest
from searx_mcp.evidence.values import EvidenceResponse, EvidenceStats, Mode
from searx_mcp.fetch.site_index import SiteIndexes
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import MAX_QUERY_LENGTH, SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult

FULL_CONTEXT_TOKENS: Final = 6_000
"""Up to this many tokens, all pages are returned in full, if the call has no budget."""
_FULL_SHARE: Final = 0.75
"""Share of a call's budget; the rest is for sources, quotes and figures."""
_QUOTES: Final = 20
"""Quotes checked in one batch: their pages are in memory together."""
_CANDIDATES: Final = 5
"""Pages searched for a quote, in addition to the one it is attributed to."""
NOTHING_FOUND: Final = "The web search found nothing: try fewer or more general words."
NOTHING_KEPT: Final = "No page is kept yet: read some first."
NOT_INDEXED: Final = "not indexed: read it first."
TOO_LATE: Final = "No page was read in time"
PARTIAL: Final = "Time ran out: this is what was found by then."
_SNIPPETS: Final = 3
"""Search results that are shown unread, if too little was read."""


class WebSearch(Protocol):
    """Searches the web."""

    async def __call__(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Return results; raises only `SearxMcpError`."""
        ...


class Answerer:
    """Finds evidence for questions, in named, found or stored pages."""

    def __init__(
        self,
        corpus: Corpus,
        search: WebSearch,
        *,
        indexes: SiteIndexes,
        config: AnswerConfig,
        language: str = "en",
    ) -> None:
        """Keep the parts.

        Args:
            corpus: reads, stores and searches pages.
            search: finds pages if a call names none.
            indexes: asked for more pages on the sites that a call names.
            config: limits of the work.
            language: of the search.
        """
        self.corpus = corpus
        self._search = search
        self._indexes = indexes
        self._config = config
        self._language = language

    async def answer(
        self,
        request: AnswerRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Return evidence for a question.

        Args:
            request: the question, and where to start.
            deadline: the loop time by which to return; what has been found by then is returned, marked as
                partial.
            progress: called with each step.

        Raises:
            SearxMcpError: no page could be read, or the search failed; see `searx_mcp.errors`.
        """
        watch = Stopwatch()
        analysis = analyse(request.query, request.intent)
        tell(
            progress,
            f"Analyzing query — decomposed into {len(analysis.sub_queries)} sub-queries",
        )
        watch.mark("analysis")
        named = tuple(dict.fromkeys(map(address_of, request.addresses)))
        gathering = Gathering(analysis.sub_queries, analysis.has_sides, named)
        budget = request.expansion_budget
        results: SearchResponse | None = None
        try:
            async with asyncio.timeout_at(deadline):
                seeds: Sequence[str] = request.addresses
                if not seeds:
                    results = await self._found(request, deadline, progress)
                    seeds = [each.url for each in results.results[: self._config.seeds]]
                    watch.mark("retrieval")
                expander = Expander(
                    self.corpus, self._indexes, max_depth=self._config.max_expansion_depth
                )
                await expander.gather(
                    gathering,
                    seeds,
                    budget=self._config.expansion_budget if budget is None else budget,
                    is_automatic=budget is None,
                    watch=watch,
                    deadline=deadline,
                    progress=progress,
                )
        except TimeoutError as exc:
            if not gathering.pages and results is None:
                raise DeadlineError(TOO_LATE) from exc
            gathering.stop_reason = OUT_OF_TIME
        unread = _unread(results, gathering)
        if gathering.errors and not (gathering.pages or unread or gathering.is_protected):
            if gathering.is_late:
                raise DeadlineError(TOO_LATE) from gathering.errors[0]
            raise gathering.errors[0]
        if results is not None and not results.results:
            gathering.note(NOTHING_FOUND)
        limit = request.max_tokens
        material = Material(
            request.query,
            analysis,
            gathering,
            Wishes(analysis.intent, request.constraints, request.known_context),
            unread=unread,
            has_vectors=self.corpus.has_vectors,
            full_tokens=FULL_CONTEXT_TOKENS if limit is None else round(_FULL_SHARE * limit),
        )
        return await self._done(material, watch, budget=budget, progress=progress)

    async def search(
        self,
        request: CorpusSearchRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Return evidence from stored pages; makes no request.

        Args:
            request: the question, and which pages to search.
            deadline: the loop time by which to return.
            progress: called with each step.
        """
        watch = Stopwatch()
        analysis = analyse(request.query, request.intent)
        watch.mark("analysis")
        gathering = Gathering(analysis.sub_queries, analysis.has_sides)
        heads = {head.url: head for head in await self.corpus.heads()}
        urls = list(dict.fromkeys(map(address_of, request.source_urls))) or None
        if not heads:
            gathering.note(NOTHING_KEPT)
        for url in urls or ():
            if url not in heads:
                gathering.note(f"{url}: {NOT_INDEXED}")
        searched = len(heads.keys() & set(urls)) if urls else len(heads)
        tell(progress, f"Searching {searched} documents...")
        await search_each_part(
            self.corpus,
            gathering,
            watch,
            urls=urls,
            limit=max(RETRIEVED, request.top_k),
            deadline=deadline,
            progress=progress,
        )
        wanted = dict.fromkeys(hit.url for hits in gathering.found.values() for hit in hits)
        for page in await self.corpus.pages(wanted):
            gathering.pages[page.url] = Ingested(page.url, page, await self.corpus.chunks(page.url))
        # Another process may have deleted a page since it was found.
        gathering.found = {
            part: tuple(hit for hit in hits if hit.url in gathering.pages)
            for part, hits in gathering.found.items()
        }
        material = Material(
            request.query,
            analysis,
            gathering,
            Wishes(analysis.intent),
            most=request.top_k,
            searched=searched,
            has_vectors=self.corpus.has_vectors,
        )
        return await self._done(material, watch, budget=0, progress=progress)

    async def verify(self, text: str) -> VerifyReport:
        """Check the quotes, sentences and links of a report against the stored pages; makes no request.

        Args:
            text: the report, in Markdown or plain text.

        Raises:
            InvalidArgumentError: it is too long, or has too many quotes, sentences or links.
        """
        report = await asyncio.to_thread(read_report, text)
        heads = await self.corpus.heads()
        kept = {address: head.url for head in heads for address in (head.final_url, head.url)}
        links = check_report(Report((), report.links), dict.fromkeys(kept, "")).links
        kept = {address_key(address): url for address, url in kept.items()}
        quotes: list[CheckedQuote] = []
        for start in range(0, len(report.quotes), _QUOTES):
            quotes += await self._verified(report.quotes[start : start + _QUOTES], kept)
        return VerifyReport(
            quotes=tuple(quotes),
            links=links,
            sentences=await self._verified_sentences(report.claims, kept),
        )

    async def _verified_sentences(
        self, claims: Sequence[ClaimInReport], kept: Mapping[str, str]
    ) -> tuple[CheckedQuote, ...]:
        """Check sentences against the pages that they link; sentences with the same links share one reading."""
        by_pages: dict[tuple[str, ...], list[ClaimInReport]] = {}
        for claim in claims:
            named = dict.fromkeys(kept[key] for key in map(address_key, claim.urls) if key in kept)
            by_pages.setdefault(tuple(named)[:_CANDIDATES], []).append(claim)
        checked: list[CheckedQuote] = []
        for urls, group in by_pages.items():
            pages = await self._texts(urls)
            report = Report((), (), tuple(group))
            checked += (await asyncio.to_thread(check_report, report, pages)).sentences
        return tuple(sorted(checked, key=lambda each: each.line))

    async def _verified(
        self, quotes: Sequence[QuoteInReport], kept: Mapping[str, str]
    ) -> Sequence[CheckedQuote]:
        """Check some quotes: in the pages they are attributed to, and in those that contain their words."""
        among: dict[QuoteInReport, Sequence[str]] = {}
        for quote in quotes:
            named = [kept[key] for key in map(address_key, quote.urls) if key in kept]
            likely = await self.corpus.pages_with(" ".join(quote.parts), limit=_CANDIDATES)
            among[quote] = tuple(dict.fromkeys((*named, *likely)))
        pages = await self._texts(sorted({url for urls in among.values() for url in urls}))
        report = Report(tuple(quotes), ())
        return (await asyncio.to_thread(check_report, report, pages, among=among)).quotes

    async def _texts(self, urls: Sequence[str]) -> dict[str, str]:
        """Return the Markdown of stored pages, by each of their addresses."""
        return {
            address: page.document.markdown
            for page in await self.corpus.pages(urls)
            for address in (page.url, page.final_url)
        }

    async def _done(
        self,
        material: Material,
        watch: Stopwatch,
        *,
        budget: int | None,
        progress: Progress | None = None,
    ) -> EvidenceResponse:
        """Assemble the evidence, and keep its pages longer than others."""
        choice = await asyncio.to_thread(choose, material)
        watch.mark("merge")
        is_refused = material.gathering.is_refused
        if choice.mode is Mode.CHUNK and choice.candidates and not is_refused:
            tell(progress, "Grabbing adjacent context...")
            choice = await asyncio.to_thread(add_adjacent, material, choice)
            watch.mark("locality")
        tokens = sum(each.hit.chunk.tokens for each in choice.candidates)
        tell(progress, f"Assembling results ({len(choice.candidates)} chunks, {tokens} tokens)...")
        response = await asyncio.to_thread(assemble, material, choice)
        await self.corpus.pin([source.url for source in response.sources if source.is_read])
        watch.mark("merge")
        known = dict(response.stats) | {
            "budget": budget,
            "max_depth": self._config.max_expansion_depth,
            "timing": watch.timing(),
        }
        is_late = material.gathering.is_late
        notes = (PARTIAL, *response.notes) if is_late else response.notes
        return response.model_copy(
            update={"stats": EvidenceStats(**known), "is_partial": is_late, "notes": notes}
        )

    async def _found(
        self, request: AnswerRequest, deadline: float | None, progress: Progress | None
    ) -> SearchResponse:
        """Search the web; takes at most half of the time, since the pages must still be read."""
        timeout = None
        if deadline is not None:
            timeout = max(1.0, (deadline - asyncio.get_running_loop().time()) / 2)
        asked = SearchRequest(
            query=request.query[:MAX_QUERY_LENGTH],
            language=self._language,
            results_count=max(self._config.seeds, _SNIPPETS),
            fetch_content=False,
            timeout=timeout,
        )
        tell(progress, "Searching the web...")
        return await self._search(asked, progress=progress)


def _unread(results: SearchResponse | None, gathering: Gathering) -> tuple[SearchResult, ...]:
    """Return the best results of a search whose pages were not read."""
    if results is None:
        return ()
    tried = {step.url for step in gathering.steps if not step.failure}
    return tuple(each for each in results.results if address_of(each.url) not in tried)[:_SNIPPETS]
