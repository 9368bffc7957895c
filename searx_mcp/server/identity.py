"""Who calls over HTTP, and what a token allows: shared by MCP and REST.

An `Identity` stands in `scope["state"]["identity"]` of every request that was let in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from searx_mcp.settings.tools import Tool

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

_KEY: Final = "identity"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sends a request, and what they may do.

    Attributes:
        name: of the token, which logs and metrics show; empty where there is one token for all, or none.
        tools: that may be called; `None` allows all.
        per_minute: calls in any 60 seconds; `None` for no limit.
        per_day: likewise in any 24 hours.
        namespace: of the corpus; empty for the one that the settings name.
        metrics: whether they may see what all callers do.
    """

    name: str = ""
    tools: frozenset[Tool] | None = None
    per_minute: int | None = None
    per_day: int | None = None
    namespace: str = ""
    metrics: bool = False

    def may(self, tool: Tool) -> bool:
        """Tell whether a tool, or its REST route, may be called."""
        return self.tools is None or tool in self.tools


EVERYBODY: Final = Identity(metrics=True)
"""The identity of every caller if the server has a single token or none, or does not serve HTTP."""


def marked(scope: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """The scope of a request whose sender is known."""
    return {**scope, "state": {**scope.get("state", {}), _KEY: identity}}


def identity_of(scope: Mapping[str, Any]) -> Identity:
    """Who sent the request of a scope."""
    found = scope.get("state", {}).get(_KEY, EVERYBODY)
    return found if isinstance(found, Identity) else EVERYBODY


def caller_of(context: "Context[Any, Any]") -> Identity:
    """Who sent the request of an MCP call."""
    request = context.request_context.request
    return EVERYBODY if request is None else identity_of(request.scope)
