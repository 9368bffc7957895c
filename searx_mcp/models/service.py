"""The protocols that every front talks to."""

from typing import Protocol

from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import FetchRequest, SearchRequest
from searx_mcp.models.response import SearchResponse


class Progress(Protocol):
    """Receives what a call is doing now; it must return at once and must not raise."""

    def __call__(self, message: str, /) -> None:
        """Take one short sentence for a person; it never holds the query."""
        ...


class Service(Protocol):
    """The operations of the project, whoever performs them: this process or a remote one.

    Both methods end by their deadline and raise only `searx_mcp.errors.SearxMcpError`.
    """

    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search the web and, if asked to, read the result pages."""
        ...

    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        """Read one page."""
        ...

    async def instances(self) -> PoolReport:
        """Report the pool; makes no request."""
        ...
