"""Results of tools in the channels of the protocol: text, and structured content beside it.

A result may carry both. Some clients show the model only the one, some only the other, some both, so
each is complete by itself. Where a client is known to drop the text or to show both, structured
content is left out: the text is the better reading for a model, and nothing is paid twice. What is known
of clients is data with its sources, in `clients.toml`; a client is found by the name that it gives of itself.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from searx_mcp.render.public import scrub
from searx_mcp.server.events import client_name, note_failure
from searx_mcp.settings.values import Settings

_LONGEST_NAME: Final = 64
"""Characters of a client's name that are compared."""
_RELAYED: Final = " (via "
"""Where `mcp-remote` puts its own name behind that of the client for which it speaks."""
_CHARS: Final = 4
"""Characters of a token: text and code of this repository have 3.1 to 3.4 by `render.tokens`, and only runs of
blanks have more."""
_SHARE: Final = 5 / 6
"""Of a client's deadline, what a call may take: the rest is for the way, and for a server that is busy. Of the 60
seconds of the TypeScript SDK it leaves the default of `server.tool_timeout`."""


class Shown(StrEnum):
    """What a client shows its model of a result that has text and structured content."""

    TEXT = "text"
    STRUCTURED = "structured"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client; `None` means unknown.

    Attributes:
        title: for a person.
        names: as it gives them, in lower case; one that ends in `*` is a prefix.
        structured: what it shows of a result that has both halves.
        result_tokens: of a result that it shows whole.
        result_chars: likewise.
        deadline: seconds after which it gives a call up.
        name_chars: of a tool's name.
        description_chars: of a tool's description.
        instructions_chars: of the server's instructions.
        source: of each fact, by its name.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    structured: Shown | None = None
    result_tokens: int | None = None
    result_chars: int | None = None
    deadline: float | None = None
    name_chars: int | None = None
    description_chars: int | None = None
    instructions_chars: int | None = None
    source: Mapping[str, str] = field(default_factory=dict)

    def within(self, tokens: int) -> int:
        """Bound the tokens of a result by what the client shows uncut."""
        chars = self.result_chars // _CHARS if self.result_chars else tokens
        return min(tokens, self.result_tokens or tokens, chars)

    def in_time(self, seconds: float) -> float:
        """Bound the seconds of a call so that its answer arrives before the client gives up."""
        return min(seconds, self.deadline * _SHARE) if self.deadline else seconds


UNKNOWN: Final = KnownClient()


def known_client(name: str | None) -> KnownClient:
    """Find a client by the name that it sends, or `UNKNOWN`.

    Args:
        name: a stranger's text; of a long one the beginning counts.
    """
    given = (name or "")[:_LONGEST_NAME].strip().lower().partition(_RELAYED)[0]
    exact, prefixes = _index()
    if (found := exact.get(given)) is not None:
        return found
    return next((each for prefix, each in prefixes if given.startswith(prefix)), UNKNOWN)


@cache
def known_clients() -> tuple[KnownClient, ...]:
    """All clients, in the order of the file."""
    text = files("searx_mcp.server").joinpath("clients.toml").read_text(encoding="utf-8")
    return tuple(_known(row) for row in tomllib.loads(text)["client"])


def _known(row: Mapping[str, Any]) -> KnownClient:
    shown = Shown(row["structured"]) if "structured" in row else None
    names = tuple(name.lower() for name in row["names"])
    return KnownClient(**{**row, "names": names, "structured": shown})


@cache
def _index() -> tuple[Mapping[str, KnownClient], tuple[tuple[str, KnownClient], ...]]:
    """The clients by exact name, and those with a prefix."""
    named = [(name, client) for client in known_clients() for name in client.names]
    exact = {name: client for name, client in named if not name.endswith("*")}
    return exact, tuple((name[:-1], client) for name, client in named if name.endswith("*"))


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
