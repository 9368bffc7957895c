"""What is known of MCP clients: which half of a result they show, and how much they take for how long.

The facts are data with their sources, in `clients.toml`; a client is found by the name that it gives of itself.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

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
    return tuple(_client(row) for row in tomllib.loads(text)["client"])


def _client(row: Mapping[str, Any]) -> KnownClient:
    shown = Shown(row["structured"]) if "structured" in row else None
    names = tuple(name.lower() for name in row["names"])
    return KnownClient(**{**row, "names": names, "structured": shown})


@cache
def _index() -> tuple[Mapping[str, KnownClient], tuple[tuple[str, KnownClient], ...]]:
    """The clients by exact name, and those with a prefix."""
    named = [(name, client) for client in known_clients() for name in client.names]
    exact = {name: client for name, client in named if not name.endswith("*")}
    return exact, tuple((name[:-1], client) for name, client in named if name.endswith("*"))
