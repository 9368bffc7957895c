"""Results of tools in the channels of the protocol: text and structured content.

A result may carry both. Some clients show the model only one, some only the other, some both, so
each is complete by itself. If a client is known to drop the text or to show both, structured
content is omitted: text is better for a model, and nothing is paid twice. The facts about clients are
data with sources, in `clients.toml`; a client is identified by the name that it sends.
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

from searx_mcp.render.structured import scrub
from searx_mcp.server.events import client_name, note_failure
from searx_mcp.settings.values import Settings

_LONGEST_NAME: Final = 64
"""Characters of a client's name that are compared."""
_RELAYED: Final = " (via "
"""Where `mcp-remote` puts its own name, after that of the client that it serves."""
_CHARS: Final = 4
"""Characters per token: text and code of this repository have 3.1 to 3.4 by `render.tokens`, and only runs of
spaces have more."""
_SHARE: Final = 5 / 6
"""Share of a client's deadline for a call: the rest is for transport, and for a busy server. Of the 60
seconds of the TypeScript SDK it leaves the default of `server.tool_timeout`."""


class Shown(StrEnum):
    """What a client shows its model of a result with text and structured content."""

    TEXT = "text"
    STRUCTURED = "structured"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client; `None` means unknown.

    Attributes:
        title: for a person.
        names: as sent, in lower case; one that ends in `*` is a prefix.
        structured: what it shows of a result that has both.
        result_tokens: maximum of a result that it shows uncut.
        result_chars: maximum of a result that it shows uncut.
        deadline: seconds after which it abandons a call.
        name_chars: maximum of a tool's name.
        description_chars: maximum of a tool's description.
        instructions_chars: maximum of the server's instructions.
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
        """Limit the tokens of a result to what the client shows uncut."""
        chars = self.result_chars // _CHARS if self.result_chars else tokens
        return min(tokens, self.result_tokens or tokens, chars)

    def in_time(self, seconds: float) -> float:
        """Limit the seconds of a call so that its answer arrives before the client gives up."""
        return min(seconds, self.deadline * _SHARE) if self.deadline else seconds


UNKNOWN: Final = KnownClient()


def known_client(name: str | None) -> KnownClient:
    """Find a client by the name that it sends; `UNKNOWN` if there is none.

    Args:
        name: untrusted text; only the beginning of a long one counts.
    """
    given = (name or "")[:_LONGEST_NAME].strip().lower().partition(_RELAYED)[0]
    exact, prefixes = _index()
    if (found := exact.get(given)) is not None:
        return found
    return next((each for prefix, each in prefixes if given.startswith(prefix)), UNKNOWN)


@cache
def known_clients() -> tuple[KnownClient, ...]:
    """Return all clients, in the order of the file."""
    text = files("searx_mcp.server").joinpath("clients.toml").read_text(encoding="utf-8")
    return tuple(_known(row) for row in tomllib.loads(text)["client"])


def _known(row: Mapping[str, Any]) -> KnownClient:
    shown = Shown(row["structured"]) if "structured" in row else None
    names = tuple(name.lower() for name in row["names"])
    return KnownClient(**{**row, "names": names, "structured": shown})


@cache
def _index() -> tuple[Mapping[str, KnownClient], tuple[tuple[str, KnownClient], ...]]:
    """Return the clients by exact name, and those with a prefix."""
    named = [(name, client) for client in known_clients() for name in client.names]
    exact = {name: client for name, client in named if not name.endswith("*")}
    return exact, tuple((name[:-1], client) for name, client in named if name.endswith("*"))


_TEXT_ALONE: Final = frozenset({"2024-11-05", "2025-03-26"})
"""Protocol versions in which results have no structured content: it came with 2025-06-18, and a
client that forwards unknown fields would make its user pay twice."""

Setting: TypeAlias = Literal["auto", "on", "off"]


def wants_structured(setting: Setting, client: KnownClient) -> bool:
    """Return whether to attach structured content.

    Args:
        setting: `server.structured_output`.
        client: the calling client.
    """
    if setting == "auto":
        return client.structured in {None, Shown.TEXT}
    return setting == "on"


class Channels:
    """Builds results for the calling client, within its limits.

    Args:
        settings: for structured content, and for the time of a call.
        both: whether the clients of these tools need both forms, whatever is known of them.
    """

    def __init__(self, settings: Settings, *, both: bool = False) -> None:
        self._both = both
        self._setting: Setting = settings.server.structured_output
        self._limit, self._is_limit_chosen = _limit(settings)

    def tokens(self, budget: int, context: Context[Any, Any]) -> int:
        """Limit the tokens of a result to what the client shows uncut."""
        return _client(context).within(budget)

    def seconds(self, context: Context[Any, Any]) -> float:
        """Return the seconds that a call may take: the operator's limit, or the client's if that is shorter."""
        return self._limit if self._is_limit_chosen else _client(context).in_time(self._limit)

    def succeeded(
        self, text: str, data: Callable[[], Mapping[str, Any]], context: Context[Any, Any]
    ) -> CallToolResult:
        """Build a result: the text, and the data if the client uses them."""
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
        if self._setting == "auto" and context.protocol_version in _TEXT_ALONE:
            return False
        return wants_structured(self._setting, _client(context))


def _limit(settings: Settings) -> tuple[float, bool]:
    """Return the seconds of a call, and whether the operator has set them."""
    server, remote = settings.server, settings.remote
    is_chosen = "tool_timeout" in server.model_fields_set
    if not remote.url:
        return server.tool_timeout, is_chosen
    most = min(server.tool_timeout, remote.timeout) if is_chosen else remote.timeout
    return most, is_chosen or "timeout" in remote.model_fields_set


def _client(context: Context[Any, Any]) -> KnownClient:
    """Return the calling client: named in the handshake, and since 2026-07-28 with each request."""
    return known_client(client_name(context) or None)
