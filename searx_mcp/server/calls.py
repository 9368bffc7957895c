"""The calls of the MCP tools: arguments in, text and structured content out.

What writes results is loaded with the first call: a server answers `initialize` without it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.request import TOKEN_CHARS, SearchRequest
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.models.service import Progress, Service
from searx_mcp.render.batch import batch_data, batch_text
from searx_mcp.render.errors import (
    fetch_error_data,
    fetch_error_text,
    search_error_data,
    search_error_text,
)
from searx_mcp.render.excerpts import next_call
from searx_mcp.render.fence import one_url
from searx_mcp.render.page import page_text
from searx_mcp.render.public import page_data, response_data
from searx_mcp.render.search import lay_out, search_text
from searx_mcp.render.tokens import estimate, lines_within
from searx_mcp.server.channels import Channels
from searx_mcp.server.events import note_budget, note_empty
from searx_mcp.server.supervision import supervise
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

GetService = Callable[[], Awaitable[Service]]

_SMALLER_SEARCH = "Ask for fewer results, or without their pages (fetch_content false)."
_MOST_TOKENS = 1
"""Tokens per character, at most, on average; Latin text needs a third."""
_CALLS_TOKENS = 300
"""For the calls that read the further addresses of a call: five or six of usual length."""
_LEAST_TOKENS = 400
"""What a page's head and fence leave room for text in."""


class Calls:
    """Performs the tools with their raw arguments.

    Args:
        settings: budgets, defaults and the time a call may take.
        service: opens the service on the first call.
        boundary: of the fences around what strangers wrote; unknown to the pages, the same for the whole process
            so that prompt caches hold.
    """

    def __init__(self, settings: Settings, service: GetService, boundary: str) -> None:
        self._settings = settings
        self._service = service
        self._boundary = boundary
        self._fetch = settings.server.published().get(Tool.WEB_FETCH, "")
        self._channels = Channels(settings)

    async def web_search(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Search, and give the results or the reason for the failure."""
        limit = self._channels.seconds(context)
        try:
            request = parse_search(arguments, defaults=self._settings.search_defaults())
            usual = self._settings.web_search.default_timeout
            timeout = self._channels.timeout(request.timeout, usual, limit)
            budget = request.max_tokens or self._settings.server.search_token_budget
            budget = self._channels.tokens(budget, context)
            request = request.model_copy(update={"timeout": timeout, "max_tokens": budget})
            if request.queries:
                return await self._searches(request, budget, context)

            async def work(progress: Progress) -> SearchResponse:
                service = await self._service()
                return await service.search(request, progress=progress)

            note_budget(budget)
            response = await supervise(context, limit, work, otherwise=_SMALLER_SEARCH, due=timeout)
        except SearxMcpError as error:
            query = arguments.get("query")
            data = search_error_data(error, query if isinstance(query, str) else "", longest=limit)
            text = search_error_text(error, self._boundary, longest=limit)
            return self._channels.failed(text, data, context)
        if not response.results:
            note_empty()
        boundary, fetch = self._boundary, self._fetch
        is_remote = bool(self._settings.remote.url)
        layout = lay_out(
            response, budget=budget, boundary=boundary, fetch=fetch, specified=is_remote
        )
        return self._channels.succeeded(
            search_text(response, budget=budget, boundary=boundary, fetch=fetch, layout=layout),
            lambda: response_data(
                response, budget=budget, boundary=boundary, fetch=fetch, layout=layout
            ),
            context,
        )

    async def _searches(
        self, request: SearchRequest, budget: int, context: Context[Any, Any]
    ) -> CallToolResult:
        """Search for several things, and give all answers within one budget."""

        async def work(progress: Progress) -> SearchBatch:
            service = await self._service()
            return await service.search_all(request, progress=progress)

        limit = self._channels.seconds(context)
        note_budget(budget)
        batch = await supervise(
            context, limit, work, otherwise=_SMALLER_SEARCH, due=request.timeout
        )
        if not any(one.repeated or (one.result and one.result.results) for one in batch.queries):
            note_empty()
        return self._channels.succeeded(
            batch_text(batch, budget=budget, boundary=self._boundary, fetch=self._fetch),
            lambda: batch_data(batch, budget=budget, boundary=self._boundary, fetch=self._fetch),
            context,
        )

    async def web_fetch(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Read a page, and give it or the reason for the failure."""
        url, further = str(arguments.get("url", "")), Further((), self._fetch)
        limit = self._channels.seconds(context)
        try:
            request = parse_fetch(arguments)
            url, further = request.url, Further(request.further_urls, self._fetch)
            if request.timeout is not None and request.timeout > limit:
                request = request.model_copy(update={"timeout": max(5.0, limit)})
            budget = _fetch_budget(request, self._settings.server)
            budget = self._channels.tokens(budget, context)
            budget = max(min(budget, _LEAST_TOKENS), budget - further.cost)
            most = request.limit or request.max_chars or self._settings.web_fetch.default_max_chars
            request = request.model_copy(
                update={"max_chars": min(most, budget * TOKEN_CHARS), "limit": None}
            )

            async def work(progress: Progress) -> Page:
                service = await self._service()
                return await service.fetch(request, progress=progress)

            note_budget(budget)
            usual = self._settings.web_fetch.default_timeout
            due = self._channels.timeout(request.timeout, usual, limit)
            page = await supervise(context, limit, work, otherwise="Use another source.", due=due)
        except SearxMcpError as error:
            data = fetch_error_data(error, url, self._boundary, longest=limit)
            text = fetch_error_text(error, self._boundary, longest=limit)
            return self._channels.failed(further.after(text), further.within(data), context)
        return self._channels.succeeded(
            further.after(
                page_text(page, budget=budget, boundary=self._boundary, fetch=self._fetch)
            ),
            lambda: further.within(
                page_data(page, budget=budget, boundary=self._boundary, fetch=self._fetch)
            ),
            context,
        )


class Further:
    """The addresses that a call named beside the one that it reads, each as the call that reads it.

    Args:
        urls: the addresses.
        fetch: the published name of `web_fetch`.
    """

    def __init__(self, urls: Sequence[str], fetch: str) -> None:
        calls, _ = lines_within((next_call(fetch, url=one_url(url)) for url in urls), _CALLS_TOKENS)
        self._urls = [one_url(url) for url in urls[: len(calls)]]
        self._lines = ""
        if urls:
            unnamed = len(urls) - len(calls)
            more = [f"Addresses left out here: {unnamed}"] if unnamed else []
            head = "\nOne address is read per call. For the others:"
            self._lines = "\n".join((head, *calls, *more))
        self.cost = estimate(self._lines)

    def after(self, text: str) -> str:
        """The text, followed by the calls."""
        return f"{text}{self._lines}"

    def within(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data with the addresses."""
        return {**data, "further_urls": self._urls} if self._urls else {**data}


def _fetch_budget(request: FetchRequest, server: ServerConfig) -> int:
    """Tokens for a page: the configured number, unless the call sets a size."""
    named = request.limit or request.max_chars
    if named is None:
        return min(server.fetch_token_budget, server.fetch_token_limit)
    return max(_LEAST_TOKENS, min(named * _MOST_TOKENS, server.fetch_token_limit))
