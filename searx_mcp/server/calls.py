"""The calls of the MCP tools: arguments in, text and structured content out.

The modules that format results are imported with the first call: a server answers `initialize` without them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Generic

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from searx_mcp.errors import SearxMcpError
from searx_mcp.server.channels import Channels
from searx_mcp.server.events import note_budget, note_empty
from searx_mcp.server.supervision import perform_verb
from searx_mcp.service import Service
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.verb import Asked, Published, RequestT, ResponseT, Room, Verb


class Calls(Generic[RequestT, ResponseT]):
    """Performs a tool with the raw arguments of its calls.

    Args:
        verb: verb that the tool performs.
        published: the tool as clients see it.
        settings: settings with budgets, defaults and the time limit of a call.
        service: opens the service on the first call.
        boundary: boundary of the fences around untrusted text; unknown to pages, and constant for the process, so
            that prompt caches work.
    """

    def __init__(
        self,
        verb: Verb[RequestT, ResponseT],
        published: Published,
        settings: Settings,
        service: Callable[[], Awaitable[Service]],
        boundary: str,
    ) -> None:
        self._verb = verb
        self._writing = verb.writing()
        self._settings = settings
        self._service = service
        self._channels = Channels(settings, both=published.is_twofold)
        names = settings.server.published()
        self._room = Room(
            boundary=boundary,
            fetch=names.get(published.reads_on, ""),
            finds=names.get(Tool.SEARCH_CORPUS, ""),
            is_remote=bool(settings.remote.url),
        )

    async def perform(self, raw: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        """Perform a call, and return its result or an error result."""
        channels, writing = self._channels, self._writing
        room = replace(self._room, longest=channels.seconds(context))
        asked: Asked[RequestT] = Asked(raw)
        try:
            request = self._verb.parse(raw, self._settings)
            asked = replace(asked, request=request)
            budget = channels.tokens(writing.tokens(request, self._settings.server), context)
            room = replace(room, budget=budget)
            request, room = writing.fitted(request, room, self._settings)
            note_budget(room.budget or budget)
            response = await perform_verb(
                self._verb,
                request,
                self._service,
                listener=context,
                limit=room.longest,
                settings=self._settings,
            )
        except SearxMcpError as error:
            return channels.failed(*writing.failed(error, asked, room), context)
        if writing.is_empty(response):
            note_empty()
        # In a thread: formatting a thousand long passages takes most of a second.
        return await asyncio.to_thread(
            lambda: channels.succeeded(*writing.both(asked, response, room), context)
        )
