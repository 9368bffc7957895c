"""The calls of a client that read by question and give evidence."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from typing_extensions import override

from searx_mcp.arguments import parse_corpus
from searx_mcp.models.corpus_request import (
    AnswerArguments,
    AnswerRequest,
    CorpusSearchArguments,
    CorpusSearchRequest,
    IngestRequest,
    ReadArguments,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
    VerifyReport,
)
from searx_mcp.models.service import Progress, Service
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from searx_mcp.answer.answerer import Answerer
    from searx_mcp.corpus.corpus import Corpus


class CorpusCalls(Service):
    """Turns what a program writes into requests to the corpus, each with a deadline.

    Args:
        settings: of the client.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    async def _answering(self) -> "Answerer":
        """What reads by question, wired at its first use."""

    def _deadline(self, timeout: float | None) -> float:
        """The event loop's time by which a call that names so many seconds returns."""
        seconds = self.settings.server.tool_timeout if timeout is None else timeout
        return asyncio.get_running_loop().time() + seconds

    @override
    async def read_page(
        self,
        request: ReadRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[ReadArguments],
    ) -> ReadResponse:
        """Find in one page what answers questions; the page is kept, and asked again without a request.

        Args:
            request: a request, or the address with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `ReadRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read, and is not kept; see `searx_mcp.errors`.
        """
        if isinstance(request, str):
            request = parse_corpus(ReadRequest, {"url": request, **arguments})
        corpus = await self.corpus()
        return await corpus.read(
            request, deadline=self._deadline(request.timeout), progress=progress
        )

    @override
    async def answer(
        self,
        request: AnswerRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[AnswerArguments],
    ) -> EvidenceResponse:
        """Give evidence for a question, from pages that are named or found, and from pages they link to.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `AnswerRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no page was named, and no instance could serve.
            FetchError: not one page could be read; see `searx_mcp.errors`.
            DeadlineError: the call ran out of time before anything was found.
        """
        if isinstance(request, str):
            request = parse_corpus(AnswerRequest, {"query": request, **arguments})
        answerer = await self._answering()
        return await answerer.answer(
            request, deadline=self._deadline(request.timeout), progress=progress
        )

    @override
    async def search_corpus(
        self,
        request: CorpusSearchRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[CorpusSearchArguments],
    ) -> EvidenceResponse:
        """Give evidence for a question from pages that are kept; makes no request.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `CorpusSearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
        """
        if isinstance(request, str):
            request = parse_corpus(CorpusSearchRequest, {"query": request, **arguments})
        answerer = await self._answering()
        return await answerer.search(request, deadline=self._deadline(None), progress=progress)

    @override
    async def corpus_status(
        self, request: StatusRequest | str = "", /, *, include_urls: bool = True
    ) -> CorpusStatus:
        """Tell which pages are kept, of all or of one; makes no request.

        Args:
            request: a request, or the address of a page; all of them unless given.
            include_urls: whether the pages are listed.
        """
        if isinstance(request, str):
            raw = {"source_url": request, "include_urls": include_urls}
            request = parse_corpus(StatusRequest, raw)
        return await (await self.corpus()).status(request)

    @override
    async def ingest(
        self,
        request: IngestRequest | str | Sequence[str],
        /,
        *,
        force_refresh: bool = False,
        progress: Progress | None = None,
    ) -> IngestResponse:
        """Read pages and keep them, to be asked later; what fails is said of each.

        Args:
            request: a request, or one or several addresses.
            force_refresh: fetch them even if they are kept and fresh.
            progress: told each step.
        """
        if not isinstance(request, IngestRequest):
            raw = {"url": request, "force_refresh": force_refresh}
            request = parse_corpus(IngestRequest, raw)
        corpus = await self.corpus()
        return await corpus.ingest_all(
            request, deadline=self._deadline(request.timeout), progress=progress
        )

    async def verify(self, text: str) -> VerifyReport:
        """Check the quotes and links of a report against the pages that are kept; makes no request.

        Args:
            text: of the report, in Markdown or plain.
        """
        return await (await self._answering()).verify(text)

    async def corpus(self) -> "Corpus":
        """The corpus itself: it exports, removes and clears what is kept."""
        return (await self._answering()).corpus
