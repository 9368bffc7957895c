"""Formats searches and pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from typing_extensions import override

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.request import TOKEN_CHARS, RawSearchRequest, SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.render.batch import batch_data, batch_text, raw_data
from searx_mcp.render.errors import (
    fetch_error_data,
    fetch_error_text,
    search_error_data,
    search_error_text,
)
from searx_mcp.render.fence import one_url
from searx_mcp.render.page import page_text
from searx_mcp.render.public import page_data, response_data
from searx_mcp.render.reading import next_call
from searx_mcp.render.search import lay_out, search_text
from searx_mcp.render.tokens import estimate, lines_within
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.verb import Asked, Failed, RequestT, Room, Writing

_SMALLER: Final = "Ask for fewer results, or without their pages (fetch_content false)."
_LEAST_TOKENS: Final = 400
"""Minimum budget that leaves room for text after a page's head and fence."""
_MOST_TOKENS: Final = 1
"""Maximum tokens per character, on average; Latin text needs a third."""
_CALLS_TOKENS: Final = 300
"""Tokens for the calls that read a call's further addresses: five or six of usual length."""


class _Searches(Writing[SearchRequest, SearchResponse | SearchBatch]):
    @override
    def both(
        self,
        asked: Asked[SearchRequest],
        response: SearchResponse | SearchBatch,
        room: Room,
    ) -> tuple[str, Callable[[], Mapping[str, Any]]]:
        if isinstance(response, SearchBatch) or room.budget is None:
            return super().both(asked, response, room)
        budget, boundary, fetch = room.budget, room.boundary, room.fetch
        layout = lay_out(
            response, budget=budget, boundary=boundary, fetch=fetch, specified=room.is_remote
        )
        text = search_text(response, budget=budget, boundary=boundary, fetch=fetch, layout=layout)
        return text, lambda: response_data(
            response, budget=budget, boundary=boundary, fetch=fetch, layout=layout
        )


def _search_text(response: SearchResponse | SearchBatch, room: Room) -> str:
    budget, boundary, fetch = room.budget, room.boundary, room.fetch
    if isinstance(response, SearchBatch):
        return batch_text(response, budget=budget, boundary=boundary, fetch=fetch)
    return search_text(response, budget=budget, boundary=boundary, fetch=fetch)


def _search_data(response: SearchResponse | SearchBatch, room: Room) -> dict[str, Any]:
    budget, boundary, fetch = room.budget, room.boundary, room.fetch
    if isinstance(response, SearchBatch):
        return batch_data(response, budget=budget, boundary=boundary, fetch=fetch)
    return response_data(response, budget=budget, boundary=boundary, fetch=fetch)


def search_failed(error: SearxMcpError, asked: Asked[RequestT], room: Room) -> Failed:
    """Format why a search failed."""
    return (
        search_error_text(error, room.boundary, longest=room.longest),
        search_error_data(error, asked.text("query"), longest=room.longest),
    )


def _is_empty(response: SearchResponse | SearchBatch) -> bool:
    if isinstance(response, SearchResponse):
        return not response.results
    return not any(each.result and each.result.results for each in response.queries)


class Further:
    """The addresses of a call except the one that it reads, each as the call that reads it.

    Args:
        urls: the addresses.
        fetch: the published name of `web_fetch`.
    """

    def __init__(self, urls: Sequence[str], fetch: str) -> None:
        named = {next_call(fetch, url=one_url(url)): one_url(url) for url in urls}
        calls, _ = lines_within(named, _CALLS_TOKENS)
        self._urls = [named[call] for call in calls]
        self._lines = ""
        if urls:
            unnamed = len(named) - len(calls)
            more = [f"Addresses left out here: {unnamed}"] if unnamed else []
            self._lines = "\n".join(
                ("\nOne address is read per call. For the others:", *calls, *more)
            )
        self.cost = estimate(self._lines)

    def after(self, text: str) -> str:
        """Return the text, followed by the calls."""
        return f"{text}{self._lines}"

    def within(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data with the addresses."""
        return {**data, "further_urls": self._urls} if self._urls else {**data}


def _further(asked: Asked[FetchRequest], room: Room) -> Further:
    return Further(asked.request.further_urls if asked.request else (), room.fetch)


class Pages(Writing[FetchRequest, Page]):
    """Pages within a budget, which also limits the requested characters."""

    @override
    def fitted(
        self, request: FetchRequest, room: Room, settings: Settings
    ) -> tuple[FetchRequest, Room]:
        budget = room.budget or 0
        cost = Further(request.further_urls, room.fetch).cost
        budget = max(min(budget, _LEAST_TOKENS), budget - cost)
        most = request.limit or request.max_chars or settings.web_fetch.default_max_chars
        update = {
            "max_chars": min(most, budget * TOKEN_CHARS),
            "limit": None,
            "for_model": True,
        }
        return request.model_copy(update=update), replace(room, budget=budget)

    @override
    def both(
        self, asked: Asked[FetchRequest], response: Page, room: Room
    ) -> tuple[str, Callable[[], Mapping[str, Any]]]:
        text, data = super().both(asked, response, room)
        further = _further(asked, room)
        return further.after(text), lambda: further.within(data())


def _page_tokens(request: FetchRequest, server: ServerConfig) -> int:
    """Return the tokens for a page: the configured number, unless the call sets a size."""
    named = request.limit or request.max_chars
    if named is None:
        return min(server.fetch_token_budget, server.fetch_token_limit)
    return max(_LEAST_TOKENS, min(named * _MOST_TOKENS, server.fetch_token_limit))


def _page_failed(error: SearxMcpError, asked: Asked[FetchRequest], room: Room) -> Failed:
    further = _further(asked, room)
    url = asked.request.url if asked.request else str(asked.raw.get("url", ""))
    text = fetch_error_text(error, room.boundary, longest=room.longest)
    data = fetch_error_data(error, url, room.boundary, longest=room.longest)
    return further.after(text), further.within(data)


class WebWriting:
    """How the results of each verb are formatted."""

    searches: Final = _Searches(
        responses=(SearchResponse, SearchBatch),
        text=_search_text,
        data=_search_data,
        failed=search_failed,
        otherwise=_SMALLER,
        tokens=lambda request, server: request.max_tokens or server.search_token_budget,
        is_empty=_is_empty,
    )
    raw: Final[Writing[RawSearchRequest, RawBatch]] = Writing(
        responses=(RawBatch,),
        text=lambda batch, _: str(raw_data(batch)),
        data=lambda batch, _: raw_data(batch),
        failed=search_failed,
        otherwise=_SMALLER,
    )
    pages: Final = Pages(
        responses=(Page,),
        text=lambda page, room: page_text(
            page, budget=room.budget, boundary=room.boundary, fetch=room.fetch
        ),
        data=lambda page, room: page_data(
            page, budget=room.budget, boundary=room.boundary, fetch=room.fetch
        ),
        failed=_page_failed,
        otherwise="Use another source.",
        tokens=_page_tokens,
    )
