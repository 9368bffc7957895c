"""The calls of a client that answer questions with evidence."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from typing_extensions import override

from searx_mcp.arguments import parse_corpus
from searx_mcp.evidence.requests import (
    AnswerArguments,
    AnswerRequest,
    CorpusSearchArguments,
    CorpusSearchRequest,
    IngestRequest,
    ReadArguments,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.progress import Progress
from searx_mcp.service import Service
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from searx_mcp.evidence.answer.answerer import Answerer
    from searx_mcp.evidence.checked import VerifyReport
    from searx_mcp.evidence.corpus.corpus import Corpus
    from searx_mcp.evidence.values import (
        CorpusStatus,
        EvidenceResponse,
        IngestResponse,
        ReadResponse,
    )


class CorpusCalls(Service):
    """Turns the arguments of a program into requests to the corpus, each with a deadline.

    Args:
        settings: the settings of the client.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    async def _answering(self) -> "Answerer":
        """Return what answers questions, wired on first use."""

    def _deadline(self, timeout: float | None) -> float:
        """Return the loop time by which a call with a timeout in seconds returns."""
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
    ) -> "ReadResponse":
        """Find the passages of one page that answer questions; the page is kept for later questions.

        Args:
            request: a request, or the address with the rest as keyword arguments.
            progress: called with each step.
            **arguments: the fields of `ReadRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read and is not kept; see `searx_mcp.errors`.
        """
        if not isinstance(request, ReadRequest):
            request = parse_corpus(ReadRequest, {"url": request, **arguments})
        return await (await self.corpus()).read(
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
    ) -> "EvidenceResponse":
        """Find evidence for a question in named pages or search results, and in pages they link to.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: called with each step.
            **arguments: the fields of `AnswerRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no page was named, and no instance could serve.
            FetchError: no page could be read; see `searx_mcp.errors`.
            DeadlineError: the call ran out of time before anything was found.
        """
        if not isinstance(request, AnswerRequest):
            request = parse_corpus(AnswerRequest, {"query": request, **arguments})
        return await (await self._answering()).answer(
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
    ) -> "EvidenceResponse":
        """Find evidence for a question in kept pages; sends no request to a site.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: called with each step.
            **arguments: the fields of `CorpusSearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
        """
        if not isinstance(request, CorpusSearchRequest):
            request = parse_corpus(CorpusSearchRequest, {"query": request, **arguments})
        return await (await self._answering()).search(
            request, deadline=self._deadline(None), progress=progress
        )

    @override
    async def corpus_status(
        self, request: StatusRequest | str = "", /, *, include_urls: bool = True
    ) -> "CorpusStatus":
        """Report which pages are kept, all or one; sends no request.

        Args:
            request: a request, or the address of one page; all pages unless given.
            include_urls: whether to list the pages.

        Raises:
            InvalidArgumentError: an argument is wrong.
        """
        if not isinstance(request, StatusRequest):
            request = parse_corpus(
                StatusRequest, {"source_url": request, "include_urls": include_urls}
            )
        return await (await self.corpus()).status(request)

    @override
    async def ingest(
        self,
        request: IngestRequest | str | Sequence[str],
        /,
        *,
        force_refresh: bool = False,
        progress: Progress | None = None,
    ) -> "IngestResponse":
        """Read pages and keep them for later questions; a page that fails has its `error` set.

        Args:
            request: a request, or one or more addresses.
            force_refresh: fetch them even if they are kept and fresh.
            progress: called with each step.

        Raises:
            InvalidArgumentError: an argument is wrong.
        """
        if not isinstance(request, IngestRequest):
            request = parse_corpus(IngestRequest, {"url": request, "force_refresh": force_refresh})
        return await (await self.corpus()).ingest_all(
            request, deadline=self._deadline(request.timeout), progress=progress
        )

    async def verify(self, text: str) -> "VerifyReport":
        """Check the quotes, sentences and links of a report against the kept pages; sends no request.

        Args:
            text: the report, in Markdown or plain text.

        Raises:
            InvalidArgumentError: the report is too long.
        """
        return await (await self._answering()).verify(text)

    async def corpus(self) -> "Corpus":
        """The corpus itself, which can export, remove and clear kept pages."""
        return (await self._answering()).corpus
