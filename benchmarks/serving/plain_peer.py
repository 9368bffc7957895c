"""The least that searches and reads over MCP: a baseline, with no pool, no extraction and no guard.

    python -m benchmarks.serving.plain_peer http://127.0.0.1:8080/

Asks one instance for JSON, and gives pages as they are without tags.
"""

import asyncio
import json
import re
import sys
import urllib.request
from typing import Any, Final
from urllib.parse import urlencode, urljoin

from mcp.server.mcpserver import MCPServer

_TIMEOUT: Final = 10.0
"""Seconds for one request."""
_MAX_BODY: Final = 1 << 21
"""Bytes of one."""
_TAGS: Final = re.compile(rb"<[^>]*>")


def main() -> None:
    """Serve over standard input and output."""
    instance = sys.argv[1]
    server = MCPServer("plain")

    @server.tool()
    async def search(query: str) -> str:
        """Search the web."""
        return await asyncio.to_thread(_search, instance, query)

    @server.tool()
    async def fetch(url: str) -> str:
        """Read a page."""
        page = await asyncio.to_thread(_body, url)
        return _TAGS.sub(b" ", page).decode("utf-8", "replace")

    server.run()


def _search(instance: str, query: str) -> str:
    asked = urljoin(instance, f"search?{urlencode({'q': query, 'format': 'json'})}")
    answer: dict[str, Any] = json.loads(_body(asked))
    return "\n".join(
        f"{row['title']}\n{row['url']}\n{row['content']}\n" for row in answer["results"]
    )


def _body(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:  # noqa: S310 - loopback, as it is told
        body: bytes = response.read(_MAX_BODY)
        return body


if __name__ == "__main__":
    main()
