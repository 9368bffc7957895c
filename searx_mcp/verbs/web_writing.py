"""Formats searches and pages; for ChatGPT, as objects with fixed fields, in JSON."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel
from typing_extensions import override

from searx_mcp.arguments import parse_fetch
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page, type_shown
from searx_mcp.models.request import TOKEN_CHARS, RawSearchRequest, SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.models.spelling import folded, shown
from searx_mcp.render.batch import batch_data, batch_text, raw_data
from searx_mcp.render.errors import (
    fetch_error_data,
    fetch_error_text,
    search_error_data,
    search_error_text,
)
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.page import body, page_text, part
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
_TITLE_TOKENS: Final = 40
_FACT_TOKENS: Final = 40
_NOTE_TOKENS: Final = 60
_NOTES: Final = 6
_SAY_SO: Final = "If it fails again, use what you have, and say so."
_LEAST_PART: Final = 300
"""Minimum budget of `render.page.part`."""
_ID_NAMES: Final = ("id", "url", "uri")
_LATER_PART: Final = re.compile(r"([0-9]{1,9})@(.*)", re.DOTALL)
"""An id that reads on: character offset and page. No address starts with a digit or lacks a scheme."""
_FACTS: Final = ("author", "site", "language", "published", "modified")


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


def _search_failed(error: SearxMcpError, asked: Asked[RequestT], room: Room) -> Failed:
    """Format why a search failed."""
    return (
        search_error_text(error, room.boundary, longest=room.longest),
        search_error_data(error, asked.text("query"), longest=room.longest),
    )


def _is_empty(response: SearchResponse | SearchBatch) -> bool:
    if isinstance(response, SearchResponse):
        return not response.results
    return not any(each.result and each.result.results for each in response.queries)


class _Further:
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


def _further(asked: Asked[FetchRequest], room: Room) -> _Further:
    return _Further(asked.request.further_urls if asked.request else (), room.fetch)


class _Pages(Writing[FetchRequest, Page]):
    """Pages within a budget, which also limits the requested characters."""

    @override
    def fitted(
        self, request: FetchRequest, room: Room, settings: Settings
    ) -> tuple[FetchRequest, Room]:
        budget = room.budget or 0
        cost = _Further(request.further_urls, room.fetch).cost
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


class Result(BaseModel):
    """A result of a search; `id` is the argument of `fetch`."""

    id: str
    title: str
    url: str


class Results(BaseModel):
    """The response of `search`."""

    results: list[Result]


class Document(BaseModel):
    """The response of `fetch`: a page, or the part of it that begins at the offset of its `id`.

    Attributes:
        id: as requested.
        text: Markdown in a fence, then how to read on.
        url: after redirects.
        metadata: facts as text; `next_id` if the page continues.
    """

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def _results(response: SearchResponse, room: Room) -> Results:
    """Return the results that fit the budget, best first."""
    found = Results(results=[])
    for each in response.results:
        url = one_url(each.url)
        title = one_line(each.title, room.boundary, max_tokens=_TITLE_TOKENS)
        found.results.append(Result(id=url, title=title or url, url=url))
        if room.budget and _cost(found) > room.budget and len(found.results) > 1:
            found.results.pop()
            break
    return found


class _Documents(_Pages):
    @override
    def both(
        self, asked: Asked[FetchRequest], response: Page, room: Room
    ) -> tuple[str, Callable[[], Mapping[str, Any]]]:
        found = _document(response, room, asked=_id(asked.raw))
        return _json(found), found.model_dump


def _document(page: Page, room: Room, *, asked: str) -> Document:
    """Return the page within the budget; JSON costs more than the text in it."""
    budget = room.budget or _LEAST_PART
    left = budget
    while True:
        seen = part(page, budget=max(left, _LEAST_PART), boundary=room.boundary)
        facts = dict(_facts(page, room.boundary))
        url, text = one_url(page.url), body(seen, page, room.boundary)
        if seen.next_offset is not None:
            facts["next_id"] = following = f"{seen.next_offset}@{url}"
            span = f"{page.offset} to {seen.next_offset} of {page.total_chars}"
            text += (
                f"\nShown: characters {span}. To read on, call {room.fetch} with the id {following}"
            )
        elif page.truncated:
            text += "\nThe page was cut here while it was fetched."
        title = one_line(page.title, room.boundary, max_tokens=_TITLE_TOKENS)
        final = one_url(page.final_url)
        found = Document(
            id=one_url(asked), title=title or final, text=text, url=final, metadata=facts
        )
        cost = _cost(found)
        if cost <= budget or left <= _LEAST_PART:
            return found
        left = left * budget // cost - 1


def _facts(page: Page, boundary: str) -> Iterator[tuple[str, str]]:
    if media_type := type_shown(page.content_type):
        yield "content_type", media_type
    for name in _FACTS:
        if fact := one_line(getattr(page, name), boundary, max_tokens=_FACT_TOKENS):
            yield name, fact
    yield "characters", str(page.total_chars)
    if page.fetched_at:
        yield "fetched_at", page.fetched_at
    notes = (one_line(note, boundary, max_tokens=_NOTE_TOKENS) for note in page.notes[:_NOTES])
    if told := " ".join(notes):
        yield "notes", told


def _id(arguments: Mapping[str, object]) -> str:
    """Return the single argument of `fetch`, which some callers send as a list or call `url`.

    Raises:
        InvalidArgumentError: it is missing or not a string, or there is another argument.
    """
    given = {folded(name): value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in _ID_NAMES:
            raise InvalidArgumentError(shown(name)[1:-1], "is unknown; known: id")
    value = next((given[name] for name in _ID_NAMES if name in given), "")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise InvalidArgumentError("id", f"must be one text, not {shown(value)}")
    if not value.strip():
        raise InvalidArgumentError("id", "is missing; give the id of a result, or a URL")
    return value.strip()


def page_of(raw: Mapping[str, object]) -> FetchRequest:
    """Return the page of an id, from the id's character offset on.

    Raises:
        InvalidArgumentError: it identifies no page.
    """
    asked = _id(raw)
    if found := _LATER_PART.fullmatch(asked):
        return parse_fetch({"url": found[2], "offset": found[1]})
    return parse_fetch({"url": asked})


def _document_failed(error: SearxMcpError, asked: Asked[FetchRequest], room: Room) -> Failed:
    """Format why a page could not be read, by the only argument that the caller knows."""
    page = ""
    with suppress(InvalidArgumentError):
        page = _id(asked.raw)
    if isinstance(error, InvalidArgumentError) and error.field in {"url", "offset"}:
        reason = error.told(message for _, message in error.problems)
        error = InvalidArgumentError("id", reason, advice=error.advice, quoted=error.quoted)
    return (
        fetch_error_text(error, room.boundary, longest=room.longest),
        fetch_error_data(error, one_url(page), room.boundary, longest=room.longest),
    )


def _json(found: BaseModel) -> str:
    return json.dumps(found.model_dump(), ensure_ascii=False)


def _cost(found: BaseModel) -> int:
    return estimate(_json(found))


class WebWriting:
    """How the results of each verb are formatted."""

    searches: Final = _Searches(
        responses=(SearchResponse, SearchBatch),
        text=_search_text,
        data=_search_data,
        failed=_search_failed,
        otherwise=_SMALLER,
        tokens=lambda request, server: request.max_tokens or server.search_token_budget,
        is_empty=_is_empty,
    )
    raw: Final[Writing[RawSearchRequest, RawBatch]] = Writing(
        responses=(RawBatch,),
        text=lambda batch, _: str(raw_data(batch)),
        data=lambda batch, _: raw_data(batch),
        failed=_search_failed,
        otherwise=_SMALLER,
    )
    pages: Final = _Pages(
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
    results: Final[Writing[SearchRequest, SearchResponse]] = Writing(
        responses=(SearchResponse,),
        text=lambda response, room: _json(_results(response, room)),
        data=lambda response, room: _results(response, room).model_dump(),
        failed=_search_failed,
        otherwise=_SAY_SO,
        tokens=lambda _, server: server.search_token_budget,
        is_empty=lambda response: not response.results,
        output=Results,
    )
    documents: Final = _Documents(
        responses=(Page,),
        text=lambda page, room: _json(_document(page, room, asked=page.url)),
        data=lambda page, room: _document(page, room, asked=page.url).model_dump(),
        failed=_document_failed,
        otherwise=_SAY_SO,
        tokens=lambda _, server: min(server.fetch_token_budget, server.fetch_token_limit),
        output=Document,
    )
