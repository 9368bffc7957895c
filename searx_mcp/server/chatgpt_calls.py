"""The calls of the tools for ChatGPT: a string in, an object with fixed fields out."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.media_type import type_shown
from searx_mcp.models.page import Page
from searx_mcp.models.request import TOKEN_CHARS
from searx_mcp.models.response import SearchResponse
from searx_mcp.models.service import Progress
from searx_mcp.models.spelling import folded, shown
from searx_mcp.render.errors import (
    fetch_error_data,
    fetch_error_text,
    search_error_data,
    search_error_text,
)
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.page import body, part
from searx_mcp.render.tokens import estimate
from searx_mcp.server.calls import GetService
from searx_mcp.server.channels import Channels
from searx_mcp.server.events import note_budget, note_empty
from searx_mcp.server.supervision import supervise
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

_TITLE_TOKENS: Final = 40
_FACT_TOKENS: Final = 40
_NOTE_TOKENS: Final = 60
_NOTES: Final = 6
_OTHERWISE: Final = "If it fails again, use what you have, and say so."
_NAMES: Final = ("id", "url", "uri")
_LEAST_TOKENS: Final = 300
"""What `render.page.part` needs at least."""
_PART: Final = re.compile(r"([0-9]{1,9})@(.*)", re.DOTALL)
"""An id that reads on: at which character, and of which page. No address begins with a digit and has no scheme."""
_FACTS: Final = ("author", "site", "language", "published", "modified")


class Result(BaseModel):
    """A result of a search; `id` is what `fetch` takes."""

    id: str
    title: str
    url: str


class Results(BaseModel):
    """What `search` gives."""

    results: list[Result]


class Document(BaseModel):
    """What `fetch` gives: a page, or the part of it that begins at the offset of its `id`.

    Attributes:
        id: as asked for.
        text: Markdown in a fence, then how to read on.
        url: after redirects.
        metadata: facts in words; `next_id` where the page goes on.
    """

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class Calls:
    """Performs the tools with their raw arguments.

    Args:
        settings: budgets, defaults and the time a call may take.
        service: opens the service on the first call.
        boundary: of the fences around what strangers wrote.
    """

    def __init__(self, settings: Settings, service: GetService, boundary: str) -> None:
        self._settings = settings
        self._service = service
        self._boundary = boundary
        self._channels = Channels(settings, both=True)
        self._name = settings.server.published().get(Tool.FETCH, Tool.FETCH)

    async def search(self, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        """Search, and give an id, a title and an address for each result."""
        limit = self._channels.seconds(context)
        try:
            request = parse_search(arguments, defaults=self._settings.search_defaults())
            usual = self._settings.web_search.default_timeout
            timeout = self._channels.timeout(request.timeout, usual, limit)
            update = {"timeout": timeout, "fetch_content": False, "queries": ()}
            request = request.model_copy(update=update)

            async def work(progress: Progress) -> SearchResponse:
                service = await self._service()
                return await service.search(request, progress=progress)

            budget = self._channels.tokens(self._settings.server.search_token_budget, context)
            note_budget(budget)
            response = await supervise(context, limit, work, otherwise=_OTHERWISE, due=timeout)
        except SearxMcpError as error:
            query = arguments.get("query")
            data = search_error_data(error, query if isinstance(query, str) else "", longest=limit)
            text = search_error_text(error, self._boundary, longest=limit)
            return self._channels.failed(text, data, context)
        if not response.results:
            note_empty()
        return self._found(self._results(response, budget), context)

    def _found(self, found: BaseModel, context: Context[Any, Any]) -> CallToolResult:
        return self._channels.succeeded(_json(found), found.model_dump, context)

    def _results(self, response: SearchResponse, budget: int) -> Results:
        """The results that fit the budget, best first."""
        found = Results(results=[])
        for each in response.results:
            url = one_url(each.url)
            title = one_line(each.title, self._boundary, max_tokens=_TITLE_TOKENS)
            found.results.append(Result(id=url, title=title or url, url=url))
            if _cost(found) > budget and len(found.results) > 1:
                found.results.pop()
                break
        return found

    async def fetch(self, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        """Read a page, or continue one, and give it or the reason for the failure."""
        limit, asked = self._channels.seconds(context), ""
        try:
            asked = _id(arguments)
            request = _request(asked)
            server = self._settings.server
            budget = min(server.fetch_token_budget, server.fetch_token_limit)
            budget = self._channels.tokens(budget, context)
            most = min(self._settings.web_fetch.default_max_chars, budget * TOKEN_CHARS)
            usual = self._settings.web_fetch.default_timeout
            timeout = self._channels.timeout(None, usual, limit)
            request = request.model_copy(update={"max_chars": most, "timeout": timeout})

            async def work(progress: Progress) -> Page:
                service = await self._service()
                return await service.fetch(request, progress=progress)

            note_budget(budget)
            page = await supervise(context, limit, work, otherwise=_OTHERWISE, due=timeout)
        except SearxMcpError as error:
            told = _of_id(error)
            data = fetch_error_data(told, one_url(asked), self._boundary, longest=limit)
            text = fetch_error_text(told, self._boundary, longest=limit)
            return self._channels.failed(text, data, context)
        return self._found(self._document(asked, page, budget), context)

    def _document(self, asked: str, page: Page, budget: int) -> Document:
        """The page within the budget; JSON costs more than the text in it."""
        room = budget
        while True:
            seen = part(page, budget=max(room, _LEAST_TOKENS), boundary=self._boundary)
            facts = dict(self._facts(page))
            url, text = one_url(page.url), body(seen, page, self._boundary)
            if seen.next_offset is not None:
                facts["next_id"] = following = f"{seen.next_offset}@{url}"
                span = f"{page.offset} to {seen.next_offset} of {page.total_chars}"
                text += f"\nShown: characters {span}. To read on, call {self._name} with the id {following}"
            elif page.truncated:
                text += "\nThe page was cut here while it was fetched."
            title = one_line(page.title, self._boundary, max_tokens=_TITLE_TOKENS)
            final = one_url(page.final_url)
            found = Document(
                id=one_url(asked), title=title or final, text=text, url=final, metadata=facts
            )
            cost = _cost(found)
            if cost <= budget or room <= _LEAST_TOKENS:
                return found
            room = room * budget // cost - 1

    def _facts(self, page: Page) -> Iterator[tuple[str, str]]:
        if media_type := type_shown(page.content_type):
            yield "content_type", media_type
        for name in _FACTS:
            if fact := one_line(getattr(page, name), self._boundary, max_tokens=_FACT_TOKENS):
                yield name, fact
        yield "characters", str(page.total_chars)
        if page.fetched_at:
            yield "fetched_at", page.fetched_at
        notes = (
            one_line(note, self._boundary, max_tokens=_NOTE_TOKENS) for note in page.notes[:_NOTES]
        )
        if told := " ".join(notes):
            yield "notes", told


def _id(arguments: Mapping[str, Any]) -> str:
    """The single argument, which some callers give as a list or name `url`.

    Raises:
        InvalidArgumentError: it is missing or no text, or there is another one.
    """
    given = {folded(name): value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in _NAMES:
            raise InvalidArgumentError(shown(name)[1:-1], "is unknown; known: id")
    value = next((given[name] for name in _NAMES if name in given), "")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise InvalidArgumentError("id", f"must be one text, not {shown(value)}")
    if not value.strip():
        raise InvalidArgumentError("id", "is missing; give the id of a result, or a URL")
    return value.strip()


def _request(asked: str) -> FetchRequest:
    """The page that an id names, from the character on that it names."""
    if found := _PART.fullmatch(asked):
        return parse_fetch({"url": found[2], "offset": found[1]})
    return parse_fetch({"url": asked})


def _of_id(error: SearxMcpError) -> SearxMcpError:
    """The error as one of the only argument that the caller knows."""
    if not isinstance(error, InvalidArgumentError) or error.field not in {"url", "offset"}:
        return error
    reason = error.told(message for _, message in error.problems)
    return InvalidArgumentError("id", reason, advice=error.advice, quoted=error.quoted)


def _json(found: BaseModel) -> str:
    return json.dumps(found.model_dump(), ensure_ascii=False)


def _cost(found: BaseModel) -> int:
    return estimate(_json(found))
