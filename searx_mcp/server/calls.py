"""The calls of the MCP tools: arguments in, text and structured content out.

A result may have both channels, text and structured content. Some clients show their model only one, some only the
other, some both, so each is complete by itself. For clients that drop the text or show both, structured content is
omitted: a model reads text better, and nobody pays for the same content twice. `clients.toml` lists the facts about
clients, with sources; a client is known by the name that it sends.

The modules that format results are imported with the first call: a server answers `initialize` without them.
"""

import asyncio
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, Generic, Literal, TypeAlias

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from searx_mcp.errors import SearxMcpError
from searx_mcp.render.structured import scrub
from searx_mcp.server.events import client_name, note_budget, note_empty, note_failure
from searx_mcp.server.supervision import perform_verb
from searx_mcp.service import Service
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.verb import Asked, Published, RequestT, ResponseT, Room, Verb

_LONGEST_NAME: Final = 64
"""Characters of a client's name to compare."""
_RELAY_MARK: Final = " (via "
"""Separates the client's name from that of `mcp-remote`, which forwards its calls."""
_CHARS_PER_TOKEN: Final = 4
"""Characters per token, on the safe side: by `render.tokens`, text and code of this repository have 3.1 to 3.4; only
runs of spaces have more."""
_DEADLINE_SHARE: Final = 5 / 6
"""Share of a client's deadline that a call may use; the rest is for transport and a busy server. For the 60
seconds of the TypeScript SDK, this gives the default of `server.tool_timeout`."""


class VisiblePart(StrEnum):
    """The part of a result with text and structured content that a client shows its model."""

    TEXT = "text"
    STRUCTURED = "structured"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """Facts about a client; `None` means unknown.

    Attributes:
        title: name for a person.
        names: names that it sends, in lower case; one that ends in `*` is a prefix.
        structured: part that it shows of a result with both.
        result_tokens: most tokens of a result that it shows uncut.
        result_chars: most characters of a result that it shows uncut.
        deadline: seconds after which it abandons a call.
        name_chars: most characters of a tool's name.
        description_chars: most characters of a tool's description.
        instructions_chars: most characters of the server's instructions.
        source: source of each fact, by field.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    structured: VisiblePart | None = None
    result_tokens: int | None = None
    result_chars: int | None = None
    deadline: float | None = None
    name_chars: int | None = None
    description_chars: int | None = None
    instructions_chars: int | None = None
    source: Mapping[str, str] = field(default_factory=dict)

    def within(self, tokens: int) -> int:
        """Limit a number of tokens to what the client shows uncut."""
        chars = self.result_chars // _CHARS_PER_TOKEN if self.result_chars else tokens
        return min(tokens, self.result_tokens or tokens, chars)

    def in_time(self, seconds: float) -> float:
        """Limit the seconds of a call so that the client gets its answer before it gives up."""
        return min(seconds, self.deadline * _DEADLINE_SHARE) if self.deadline else seconds


UNKNOWN: Final = KnownClient()


def known_client(name: str) -> KnownClient:
    """Find a client by the name that it sends; `UNKNOWN` if there is none.

    Args:
        name: untrusted text; only the beginning of a long one counts.
    """
    given = name[:_LONGEST_NAME].strip().lower().partition(_RELAY_MARK)[0]
    exact, prefixes = _index()
    if (found := exact.get(given)) is not None:
        return found
    return next((each for prefix, each in prefixes if given.startswith(prefix)), UNKNOWN)


@cache
def known_clients() -> tuple[KnownClient, ...]:
    """Return all clients, in the order of the file."""
    text = files("searx_mcp.server").joinpath("clients.toml").read_text(encoding="utf-8")
    return tuple(_parse_client(row) for row in tomllib.loads(text)["client"])


def _parse_client(row: Mapping[str, Any]) -> KnownClient:
    visible = VisiblePart(row["structured"]) if "structured" in row else None
    names = tuple(name.lower() for name in row["names"])
    return KnownClient(**{**row, "names": names, "structured": visible})


@cache
def _index() -> tuple[Mapping[str, KnownClient], tuple[tuple[str, KnownClient], ...]]:
    """Return the clients by exact name, and those with a prefix."""
    named = [(name, client) for client in known_clients() for name in client.names]
    exact = {name: client for name, client in named if not name.endswith("*")}
    return exact, tuple((name[:-1], client) for name, client in named if name.endswith("*"))


_TEXT_ONLY_VERSIONS: Final = frozenset({"2024-11-05", "2025-03-26"})
"""Protocol versions before structured content, which came with 2025-06-18: a client that forwards the unknown field
would make its user pay twice."""

Setting: TypeAlias = Literal["auto", "on", "off"]


def wants_structured(setting: Setting, client: KnownClient) -> bool:
    """Return whether to attach structured content.

    Args:
        setting: `server.structured_output`.
        client: the calling client.
    """
    if setting == "auto":
        return client.structured in {None, VisiblePart.TEXT}
    return setting == "on"


class Channels:
    """Builds results for the calling client, within its limits.

    Args:
        settings: settings of structured content and of the time limit of a call.
        both: whether clients of this tool need both channels, whatever is known about them.
    """

    def __init__(self, settings: Settings, *, both: bool = False) -> None:
        self._both = both
        self._setting: Setting = settings.server.structured_output
        self._limit, self._is_limit_chosen = _limit(settings)

    def tokens(self, budget: int, context: Context[Any, Any]) -> int:
        """Limit the tokens of a result to what the client shows uncut."""
        return _client(context).within(budget)

    def seconds(self, context: Context[Any, Any]) -> float:
        """Return the seconds that a call may take: the operator's limit if set, or the default within the client's."""
        return self._limit if self._is_limit_chosen else _client(context).in_time(self._limit)

    def succeeded(
        self, text: str, data: Callable[[], Mapping[str, Any]], context: Context[Any, Any]
    ) -> CallToolResult:
        """Build a result with the text, and with the data if the client needs them."""
        structured = scrub(data()) if self._is_wanted(context) else None
        return CallToolResult(
            content=[TextContent(type="text", text=scrub(text))], structured_content=structured
        )

    def failed(
        self, text: str, data: Mapping[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Build a failure that the model can read and act on."""
        note_failure(str(data.get("error_type", "")))
        structured = scrub(data) if self._is_wanted(context) else None
        return CallToolResult(
            content=[TextContent(type="text", text=scrub(text))],
            structured_content=structured,
            is_error=True,
        )

    def _is_wanted(self, context: Context[Any, Any]) -> bool:
        if self._both:
            return self._setting != "off"
        if self._setting == "auto" and context.protocol_version in _TEXT_ONLY_VERSIONS:
            return False
        return wants_structured(self._setting, _client(context))


def _limit(settings: Settings) -> tuple[float, bool]:
    """Return the time limit of a call in seconds, and whether the operator has set it."""
    server, remote = settings.server, settings.remote
    is_chosen = "tool_timeout" in server.model_fields_set
    if not remote.url:
        return server.tool_timeout, is_chosen
    most = min(server.tool_timeout, remote.timeout) if is_chosen else remote.timeout
    return most, is_chosen or "timeout" in remote.model_fields_set


def _client(context: Context[Any, Any]) -> KnownClient:
    """Return the calling client: named in the handshake, and since 2026-07-28 with each request."""
    return known_client(client_name(context))


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
