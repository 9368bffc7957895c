"""A server that is run by its command and called over its standard streams, within a deadline."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TextIO

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent, Tool

from searx_mcp.models.spelling import shown

START: Final = 60.0
"""Seconds for a start, which may have to load a package first, and for the list of tools."""
DEADLINE: Final = 15.0
"""Seconds for a call; the servers that were measured give an instance 10 s or less."""
IN_A_ROW: Final = 3
"""Calls without an answer after which a server is not called any more."""
MAX_CHARS: Final = 1_000_000
"""Of a text that is counted; what a server writes beyond it costs no one less."""


class PeerError(Exception):
    """A server cannot be started, or has no tool that can be called."""


class Kind(StrEnum):
    """What a tool is called for."""

    SEARCH = "search"
    FETCH = "fetch"


_NAMED: Final = {
    Kind.SEARCH: re.compile(r"search|query"),
    Kind.FETCH: re.compile(r"fetch|read|url|crawl|scrape|extract"),
}
"""What the name of such a tool has."""
_ARGUMENTS: Final = {
    Kind.SEARCH: ("query", "q", "search_query", "search_term", "text"),
    Kind.FETCH: ("url", "uri", "link", "urls"),
}
"""Names of the argument that takes the query or the address, the likeliest first."""
_OTHER: Final = re.compile(r"suggest|image|video|news|answer|corpus|info|many|multi|batch")
"""What names of tools have that search or read, but not the web, or not one page."""


@dataclass(frozen=True, slots=True)
class Use:
    """How a tool is called.

    Attributes:
        tool: its name.
        argument: which one takes the query or the address.
        is_list: whether that takes a list.
        further: arguments of every call.
    """

    tool: str
    argument: str
    is_list: bool = False
    further: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, value: str) -> dict[str, Any]:
        """The arguments of a call."""
        return {self.argument: [value] if self.is_list else value, **self.further}


def use_of(kind: Kind, tools: Sequence[Tool], name: str | None = None) -> Use | None:
    """Find the tool for a kind of call, and the argument that it wants.

    Args:
        kind: what it is to do.
        tools: those the server lists.
        name: of the tool, if the caller knows it.

    Returns:
        How it is called; `None` if no name was given and no tool looks like it.

    Raises:
        PeerError: there is no tool of that name, or it cannot be called with one argument.
    """
    uses = {tool.name: use for tool in tools if (use := _use(kind, tool))}
    if name is not None:
        if name not in uses:
            raise PeerError(
                f"{shown(name)} is not among the tools that take one of {', '.join(_ARGUMENTS[kind])} "
                f"and need nothing else: {', '.join(map(shown, uses)) or 'there are none'}."
            )
        return uses[name]
    likely = [name for name in uses if _NAMED[kind].search(name.casefold())]
    # The first of those that are as likely: servers list their main tool first.
    best = max(likely, key=_likeliness, default=None)
    return uses[best] if best else None


def _likeliness(name: str) -> int:
    return ("web" in name.casefold()) - 2 * bool(_OTHER.search(name.casefold()))


def _use(kind: Kind, tool: Tool) -> Use | None:
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    for name in _ARGUMENTS[kind]:
        if name in properties and {*map(str, required)} <= {name}:
            rules = properties[name]
            return Use(tool.name, name, isinstance(rules, dict) and rules.get("type") == "array")
    return None


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a call.

    Attributes:
        seconds: until it ended, `DEADLINE` if it did not.
        text: all texts of the result, up to `MAX_CHARS`.
        data: structured content.
        is_error: whether the result says so, or there is none.
    """

    seconds: float
    text: str = ""
    data: Mapping[str, Any] | None = None
    is_error: bool = True


class Peer:
    """A running server.

    Args:
        client: connected to it.
        tools: that it lists.

    Attributes:
        tools: likewise.
    """

    def __init__(self, client: Client, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self._client = client
        self._silent = 0

    async def call(self, use: Use, value: str) -> Answered:
        """Call a tool; whatever goes wrong is an answer, too.

        After `IN_A_ROW` calls without an answer, the others fail at once and count as long as these.
        """
        if self._silent == IN_A_ROW:
            return Answered(DEADLINE)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(DEADLINE):
                result = await self._client.call_tool(use.tool, use.arguments(value))
        except TimeoutError:
            self._silent += 1
            return Answered(DEADLINE)
        except Exception:  # noqa: BLE001 - a stranger's program may fail in any way
            return Answered(time.perf_counter() - began)
        self._silent = 0
        seconds = time.perf_counter() - began
        texts = [part.text for part in result.content if isinstance(part, TextContent)]
        text = "\n".join(texts)[:MAX_CHARS]
        return Answered(seconds, text, result.structured_content, bool(result.is_error))


@asynccontextmanager
async def open_peer(
    command: Sequence[str], environ: Mapping[str, str], errors: TextIO
) -> AsyncIterator[Peer]:
    """Start a server, and end it when the block ends.

    It gets the few variables that hosts hand on, such as PATH, and those that are named.

    Args:
        command: the program and its arguments.
        environ: further variables.
        errors: a file for its standard error.

    Raises:
        PeerError: it does not start, or does not list its tools, within `START`.
    """
    program, *arguments = command
    parameters = StdioServerParameters(command=program, args=arguments, env={**environ})
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(START):
                transport = stdio_client(parameters, errlog=errors)
                # The handshake protocol: that is what most servers speak, and no probe goes before it.
                client = await stack.enter_async_context(Client(transport, mode="legacy"))
                tools = (await client.list_tools()).tools
        except TimeoutError as exc:
            raise PeerError(f"{shown(program)} did not list its tools in {START:g} s.") from exc
        except Exception as exc:
            raise PeerError(
                f"{shown(program)} does not start or speak MCP ({type(exc).__name__})."
            ) from exc
        yield Peer(client, tools)
