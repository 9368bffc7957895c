"""Web search and page reading as LangChain tools.

    python examples/langchain_tools.py "why do bees dance"

Give `tools(client)` to an agent. Without a model, this program calls them as one would.
"""

import asyncio
import os
import secrets
import sys

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool, ToolException, tool

from searx_mcp import SearxClient, SearxMcpError
from searx_mcp.evidence.render.corpus import read_text
from searx_mcp.render.search import search_text
from searx_mcp.settings.sources import load

TOKENS = 4_000  # of a result, at most


def tools(client: SearxClient) -> list[BaseTool]:
    """Make the tools; what pages say stands in fences whose name no page can guess."""
    boundary = secrets.token_hex(4)

    @tool
    async def web_search(query: str) -> str:
        """Search the web. Returns titles, addresses and snippets."""
        try:
            found = await client.search(query, fetch_content=False)
        except SearxMcpError as error:
            raise ToolException(f"{error.message} {error.advice}") from error
        return search_text(found, budget=TOKENS, boundary=boundary)

    @tool
    async def read_page(url: str, question: str) -> str:
        """Find the passages of a web page that answer a question."""
        try:
            page = await client.read_page(url, query=question)
        except SearxMcpError as error:
            raise ToolException(f"{error.message} {error.advice}") from error
        return read_text(page, budget=TOKENS, boundary=boundary)

    for each in (web_search, read_page):
        each.handle_tool_error = True
    return [web_search, read_page]


async def main(question: str) -> None:
    """Search as an agent does: the call comes from a model, the message goes back to it."""
    async with SearxClient(load(environ=os.environ).settings) as client:
        search, _ = tools(client)
        call = ToolCall(name=search.name, args={"query": question}, id="1", type="tool_call")
        (await search.ainvoke(call)).pretty_print()


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
