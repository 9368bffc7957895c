"""Search, read the best pages, and print the passages that answer.

    python examples/search_and_read.py "Why do bees dance?"

It takes the settings of the command: SEARXNG_URL names an instance of your own.
"""

import asyncio
import os
import sys

from searx_mcp import SearxClient, SearxMcpError
from searx_mcp.settings.sources import load

PAGES = 3


async def main(question: str) -> int:
    """Print up to three pages with the passage of each that fits the question best."""
    async with SearxClient(load(environ=os.environ).settings) as client:
        try:
            found = await client.search(question, results_count=PAGES, fetch_content=False)
        except SearxMcpError as error:
            print(error.message, error.advice, file=sys.stderr)
            return 1
        async with asyncio.TaskGroup() as group:
            passages = [
                (result, group.create_task(best_passage(client, result.url, question)))
                for result in found.results
            ]
    for result, passage in passages:
        print(f"{result.title}\n{result.url}\n{passage.result()}\n")
    return 0


async def best_passage(client: SearxClient, url: str, question: str) -> str:
    """Give the passage of a page that fits a question best, or why there is none."""
    try:
        page = await client.read_page(url, query=question)
    except SearxMcpError as error:
        return f"[{error.code}] {error.message}"
    chunks = page.queries[0].results
    return chunks[0].text if chunks else "Nothing here answers the question."


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]))))
