"""A client with the corpus of another namespace than the one that its settings name."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.client.corpus_calls import CorpusCalls
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.models.service import Progress, Service
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from searx_mcp.answer.answerer import Answerer


class Namespaced(CorpusCalls):
    """Searches and reads as a client does, and keeps pages apart from those of others.

    Args:
        client: open while this is used.
        settings: of the client.
        answering: gives what reads by question in the namespace.
    """

    def __init__(
        self, client: Service, settings: Settings, answering: "Callable[[], Awaitable[Answerer]]"
    ) -> None:
        super().__init__(settings)
        self._client = client
        self._answers = answering

    @override
    async def _answering(self) -> "Answerer":
        return await self._answers()

    @override
    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        return await self._client.search(request, progress=progress)

    @override
    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchBatch:
        return await self._client.search_all(request, progress=progress)

    @override
    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        return await self._client.fetch(request, progress=progress)

    @override
    async def instances(self) -> PoolReport:
        return await self._client.instances()
