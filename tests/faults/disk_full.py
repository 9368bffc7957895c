"""Reads pages while the files that keep them can grow, and while they cannot; prints JSON.

python disk_full.py FOLDER
"""

import asyncio
import json
import resource
import sys
from pathlib import Path

from searx_mcp import SearxClient
from searx_mcp.settings.values import Settings
from searx_mcp.storage.sqlite_pages import open_store
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, response

SETTINGS = Settings.model_validate(
    {"instances": {"public": "off"}, "fetch": {"host_rate": 6_000, "cache_ttl": 3_600}}
)
# Too various to be packed into the room that is left in the file.
BODIES = [
    "<title>Arrived</title>" + "".join(f"<p>Words number {n * m % 9973}</p>" for m in range(1_000))
    for n in range(1, 10)
]


async def main(folder: Path) -> dict[str, object]:
    file = folder / "pages.sqlite"
    scripts = {f"/{number}": response(body) for number, body in enumerate(BODIES)}
    async with RawServer(scripts) as server, FakeInternet({"www.example.org": server}) as internet:
        async with client_of(internet, file) as client:
            before = [await read(client, number) for number in range(3)]
            size, (soft, hard) = file.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
            full = [await read(client, number) for number in range(3, 9)]
            # What could not be written is at hand as long as the process lives.
            full.append("kept" if await is_kept(client, 8) else "lost")
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        async with client_of(internet, file) as client:
            kept = [await is_kept(client, number) for number in (0, 8)]
    return {"before": before, "full": full, "kept": kept}


def client_of(internet: FakeInternet, file: Path) -> SearxClient:
    pages = open_store(file, max_bytes=1 << 30, max_age=86_400)
    return SearxClient(SETTINGS, dialling=internet.dialling, pages=pages)


async def read(client: SearxClient, number: int) -> str:
    return (await client.fetch(f"http://www.example.org/{number}")).title


async def is_kept(client: SearxClient, number: int) -> bool:
    return (await client.fetch(f"http://www.example.org/{number}")).from_cache


print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))  # noqa: T201 - what the test reads
