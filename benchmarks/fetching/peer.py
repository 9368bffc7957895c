"""mcp-server-fetch, run by the Python it is installed for: `pip install mcp-server-fetch`.

    PEER_PYTHON -m benchmarks.fetching.peer

Its two functions are called as its tool calls them: robots.txt is asked for with every page.
"""

import asyncio
import importlib
from urllib.parse import urlsplit

from benchmarks.fetching.load import jobs_from_stdin, report, run


async def _main() -> None:
    server = importlib.import_module("mcp_server_fetch.server")
    agent = server.DEFAULT_USER_AGENT_AUTONOMOUS

    async def fetch(url: str) -> str:
        await server.check_may_autonomously_fetch_url(url, agent, allow_private_ips=True)
        text, prefix = await server.fetch_url(
            url, agent, allow_private_ips=True, check_robots_txt=True
        )
        return f"{prefix}{text}"

    jobs = jobs_from_stdin()
    await fetch(f"http://{urlsplit(jobs[0][0]).netloc}/small")  # whatever is loaded late
    report(await run(fetch, jobs))


if __name__ == "__main__":
    asyncio.run(_main())
