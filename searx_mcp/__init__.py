"""Web search for AI agents over a pool of SearXNG instances.

The public names load on first use, so that importing the package costs nothing and the MCP server
can answer its first message before any of the searching code is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from searx_mcp.client.facade import SearxClient
    from searx_mcp.errors import SearxMcpError
    from searx_mcp.models.fetch_request import FetchRequest
    from searx_mcp.models.page import Page
    from searx_mcp.models.request import SearchRequest
    from searx_mcp.models.response import SearchResponse, SearchResult
    from searx_mcp.remote.client import RemoteClient
    from searx_mcp.service import Service
    from searx_mcp.settings.values import Settings

__all__ = [
    "FetchRequest",
    "Page",
    "RemoteClient",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "SearxClient",
    "SearxMcpError",
    "Service",
    "Settings",
    "__version__",
]

__version__ = "0.1.0"

_HOME = {
    "FetchRequest": "searx_mcp.models.fetch_request",
    "Page": "searx_mcp.models.page",
    "RemoteClient": "searx_mcp.remote.client",
    "SearchRequest": "searx_mcp.models.request",
    "SearchResponse": "searx_mcp.models.response",
    "SearchResult": "searx_mcp.models.response",
    "SearxClient": "searx_mcp.client.facade",
    "SearxMcpError": "searx_mcp.errors",
    "Service": "searx_mcp.service",
    "Settings": "searx_mcp.settings.values",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
