"""Results of tools in the channels of the protocol: text, and structured content beside it.

A result may carry both. Some clients show the model only the one, some only the other, some both, so
each is complete by itself. Where a client is known to drop the text or to show both, structured
content is left out: the text is the better reading for a model, and nothing is paid twice. What is known
of clients, and from where: `searx_mcp.server.clients`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from searx_mcp.render.public import scrub
from searx_mcp.server.clients import KnownClient, Shown, known_client
from searx_mcp.server.events import client_name, note_failure
from searx_mcp.settings.values import Settings

_TEXT_ALONE: Final = frozenset({"2024-11-05", "2025-03-26"})
"""Revisions of the protocol in which results have no structured content: it came with 2025-06-18, and a
client that hands on what it does not know would have its user pay twice."""

Setting: TypeAlias = Literal["auto", "on", "off"]


def wants_structured(setting: Setting, client: KnownClient) -> bool:
    """Tell whether to attach structured content.

    Args:
        setting: `server.structured_output`.
        client: who asks.
    """
    if setting == "auto":
        return client.structured in {None, Shown.TEXT}
    return setting == "on"


class Channels:
    """Makes results for the calling client, within its limits.

    Args:
        settings: whether to attach structured content, and the time of a call.
        both: whether the clients of these tools want both halves, whatever is known of them.
    """

    def __init__(self, settings: Settings, *, both: bool = False) -> None:
        self._both = both
        self._setting: Setting = settings.server.structured_output
        self._limit, self._is_limit_chosen = _limit(settings)

    def tokens(self, budget: int, context: Context[Any, Any]) -> int:
        """Bound the tokens of a result by what the client shows uncut."""
        return _client(context).within(budget)

    def seconds(self, context: Context[Any, Any]) -> float:
        """The time a call may take: the operator's limit, or the client's if that is shorter."""
        return self._limit if self._is_limit_chosen else _client(context).in_time(self._limit)

    def succeeded(
        self, text: str, data: Callable[[], Mapping[str, Any]], context: Context[Any, Any]
    ) -> CallToolResult:
        """Make a result: the text, and the data if the client reads them."""
        structured = scrub(data()) if self._is_wanted(context) else None
        return CallToolResult(
            content=[TextContent(type="text", text=scrub(text))], structured_content=structured
        )

    def failed(
        self, text: str, data: Mapping[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Make a failure that the model can read and act on."""
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
        if self._setting == "auto" and context.protocol_version in _TEXT_ALONE:
            return False
        return wants_structured(self._setting, _client(context))


def _limit(settings: Settings) -> tuple[float, bool]:
    """The time of a call, and whether the operator has set it."""
    server, remote = settings.server, settings.remote
    is_chosen = "tool_timeout" in server.model_fields_set
    if not remote.url:
        return server.tool_timeout, is_chosen
    most = min(server.tool_timeout, remote.timeout) if is_chosen else remote.timeout
    return most, is_chosen or "timeout" in remote.model_fields_set


def _client(context: Context[Any, Any]) -> KnownClient:
    """The calling client: named in the handshake, and since 2026-07-28 with each request."""
    return known_client(client_name(context) or None)
