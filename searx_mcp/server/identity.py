"""The identity of an HTTP caller, and what its token allows: shared by MCP and REST.

Every accepted request has an `Identity` in `scope["state"]["identity"]`.
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
    """The sender of a request, and its permissions.

    Attributes:
        name: name of the token, for logs and metrics; empty if there is one token for all, or none.
        tools: tools that it may call; `None` allows all.
        per_minute: calls in any 60 seconds; `None` for no limit.
        per_day: calls in any 24 hours; `None` for no limit.
        namespace: namespace of the corpus; empty for that of the settings.
        metrics: whether the caller may see the activity of all callers.
    """

    name: str = ""
    tools: frozenset[Tool] | None = None
    per_minute: int | None = None
    per_day: int | None = None
    namespace: str = ""
    metrics: bool = False

    def may(self, tool: Tool) -> bool:
        """Return whether a tool, or its REST route, may be called."""
        return self.tools is None or tool in self.tools


EVERYBODY: Final = Identity(metrics=True)
"""The identity of every caller if the server has a single token or none, or does not serve HTTP."""


def with_identity(scope: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """Return the scope of a request with its sender."""
    return {**scope, "state": {**scope.get("state", {}), _KEY: identity}}


def identity_of(scope: Mapping[str, Any]) -> Identity:
    """Return the sender of a request by its scope."""
    found = scope.get("state", {}).get(_KEY, EVERYBODY)
    return found if isinstance(found, Identity) else EVERYBODY


def caller_of(context: "Context[Any, Any]") -> Identity:
    """Return the sender of an MCP call."""
    request = context.request_context.request
    return EVERYBODY if request is None else identity_of(request.scope)
