"""An agent over MCP: a loop that calls the tools a model asks for, until it answers.

    python examples/agent_loop.py "Why do bees dance?"

`decide` is where a model goes. Here it follows a script, so that no model and no key are needed.
"""

import asyncio
import os
import re
import sys
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters
from mcp.types import TextContent, Tool

MAX_STEPS = 10
ADDRESS = re.compile(r"https?://[^\s<>\")]+")


class Call(NamedTuple):
    """A tool that the model wants to be called."""

    name: str
    arguments: dict[str, Any]


def decide(_tools: list[Tool], messages: list[str]) -> Call | str:
    """Take the next step: a call, or the answer. Replace this with a request to your model."""
    question, *results = messages
    match results:
        case []:
            return Call("web_search", {"query": question, "fetch_content": False})
        case [found] if address := ADDRESS.search(found):
            return Call("read_page", {"url": address[0], "query": question})
        case _:
            return results[-1]


async def main(question: str) -> None:
    """Run the loop with the server as a child process."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "searx_mcp", "stdio"], env=dict(os.environ)
    )
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        messages = [question]
        for _ in range(MAX_STEPS):
            step = decide(tools, messages)
            if isinstance(step, str):
                print(step)
                return
            print(f"-> {step.name} {step.arguments}")
            result = await client.call_tool(step.name, step.arguments)
            messages.append("".join(c.text for c in result.content if isinstance(c, TextContent)))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
