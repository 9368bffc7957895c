"""Trouble on our own machine: faults 45 and 47 to 50 of the list in `test_table.py`."""

import asyncio
import contextlib
import gc
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.page import Page
from searx_mcp.testing.clock import FakeClock
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, response

HOST = "fault.example.org"
URL = f"http://{HOST}/page"
TEXT = "<title>Arrived</title>" + "<p>Some words of a page that comes in two pieces.</p>" * 20
PAGE = response(TEXT)
DAY = 86_400.0


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(400 * DAY, id="45 clock jumps ahead"),
        pytest.param(-400 * DAY, id="45 clock jumps back"),
        pytest.param(-1_767_225_600.0, id="45 clock starts anew"),
    ],
)
async def test_a_clock_that_jumps_during_a_call_changes_nothing(
    internet, settings_of, watch, seconds
):
    clock = FakeClock()

    async def jumping(connection):
        await connection.send(PAGE[:400])
        clock.jump(seconds)
        await connection.send(PAGE[400:])

    settings = settings_of(fetch={"cache_ttl": 300, "stale_if_error": DAY})
    async with RawServer({"/page": jumping, "/after": PAGE}) as server:
        internet.host(HOST, server)
        async with SearxClient(settings, dialling=internet.dialling, clock=clock) as client:
            for path in ("page", "after", "page", "after"):
                page = await watch(client.fetch(f"http://{HOST}/{path}"))
                assert isinstance(page, Page), page
                assert page.title == "Arrived"
                clock.jump(-seconds / 3)


@pytest.mark.parametrize("deadline", [1, 120])
async def test_a_host_program_that_blocks_the_loop_delays_a_call_and_breaks_nothing(play, deadline):
    """Fault 45: slow loop; `time.sleep` in the program that we are a part of."""

    async def blocking(connection):
        await connection.send(PAGE[:400])
        asyncio.get_running_loop().call_soon(time.sleep, 0.4)
        await asyncio.sleep(0)
        await connection.send(PAGE[400:])

    ending = await play(blocking, deadline=deadline)
    assert ending.verdict in ({"page"} if deadline > 1 else {"page", "truncated", "timeout"})


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count without a path for each


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_a_process_without_a_free_descriptor_gets_an_error_and_recovers(
    internet, settings_of, watch
):
    """Fault 48: fd exhaustion (RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with RawServer({"/page": PAGE}) as server:
        internet.host(HOST, server)
        async with SearxClient(settings_of(), dialling=internet.dialling) as client:
            gc.collect()  # what others left would free descriptors meanwhile
            # The highest descriptor counts, not how many there are: what is below is filled up.
            plugs = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (max(plugs) + 1, hard))
                with contextlib.suppress(OSError):
                    while True:
                        plugs.append(os.open(os.devnull, os.O_RDONLY))
                error = await watch(client.fetch(URL))
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for plug in plugs:
                    os.close(plug)
            assert isinstance(error, SearxMcpError)
            assert error.code == "connection_error"
            assert not server.connections
            # For a minute nobody asks again for a robots.txt that could not be had.
            page = await watch(client.fetch(URL, ignore_robots=True))
            assert isinstance(page, Page)


@pytest.mark.slow
def test_a_full_disk_costs_the_kept_pages_and_no_call(tmp_path):
    """Fault 49: disk full for the cache."""
    found = run("disk_full.py", str(tmp_path))
    assert found == {
        "before": ["Arrived"] * 3,
        "full": ["Arrived"] * 6 + ["kept"],
        "kept": [True, False],
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip", "deflate"])
def test_a_bomb_costs_a_few_megabytes_at_most(kind):
    """Fault 30: 200 MB of text in little; the highest resident memory of a process of its own."""
    found = run("bomb.py", kind)
    assert found["verdict"] == "truncated"
    assert found["growth"] < 16_000_000


RUN = """
import runpy, sys
_, root, program, *sys.argv[1:] = sys.argv
sys.path.append(root)
runpy.run_path(program, run_name="__main__")
"""
"""Runs a program that finds `tests.doubles` behind the package that is installed, as the tests do."""


def run(program: str, *arguments: str) -> dict[str, Any]:
    """Run a program of this folder; it prints JSON."""
    here = Path(__file__)
    done = subprocess.run(
        [
            *(sys.executable, "-W", "error", "-c", RUN),
            *(str(here.parents[2]), str(here.with_name(program)), *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_two_loops_in_two_threads_keep_out_of_each_others_way(settings_of):
    """Fault 50: two loops."""
    titles: list[str] = []
    together = threading.Barrier(2, timeout=30)

    async def read() -> None:
        async with RawServer({f"/{number}": PAGE for number in range(20)}) as server:
            async with FakeInternet({HOST: server}) as internet:
                async with SearxClient(settings_of(), dialling=internet.dialling) as client:
                    together.wait()
                    pages = [await client.fetch(f"http://{HOST}/{number}") for number in range(20)]
        titles.extend(page.title for page in pages)

    threads = [threading.Thread(target=asyncio.run, args=(read(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert titles == ["Arrived"] * 40


async def test_a_client_can_be_opened_and_closed_a_hundred_times(internet, settings_of):
    """Fault 50: start and stop 100 times, in one loop."""
    tasks: list[int] = []
    files: list[int] = []
    async with RawServer({"/page": PAGE}) as server:
        internet.host(HOST, server)
        client = SearxClient(settings_of(), dialling=internet.dialling)
        for _ in range(100):
            async with client:
                assert (await client.fetch(URL)).title == "Arrived"
            async with asyncio.timeout(30):
                await server.until_idle()
            tasks.append(len(asyncio.all_tasks()))
            files.append(open_files())
    assert tasks[-1] <= tasks[0]
    assert files[-1] <= files[2]


def test_a_client_can_live_in_one_loop_after_the_other(settings_of):
    """Fault 50: start and stop, each time in a new loop."""

    async def read(client: SearxClient, internet: FakeInternet) -> str:
        async with RawServer({"/page": PAGE}) as server, internet:
            internet.host(HOST, server)
            async with client:
                return (await client.fetch(URL)).title

    internet = FakeInternet()
    client = SearxClient(settings_of(), dialling=internet.dialling)
    titles = [asyncio.run(read(client, internet)) for _ in range(10)]
    assert titles == ["Arrived"] * 10


INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}


@pytest.mark.slow
async def test_a_host_that_leaves_in_the_middle_of_a_call_takes_the_process_along(
    start_program, tmp_path
):
    """Fault 47: client disconnect, on standard input and output."""
    config = tmp_path / "empty.toml"
    config.touch()
    asked = asyncio.Event()

    async def silent(connection):
        asked.set()
        await connection.hang()

    async with RawServer({"/page": silent}) as server:
        environment = {
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": f"127.0.0.1:{server.port}",
        }
        process = await start_program(
            *(sys.executable, "-m", "searx_mcp", "stdio"), stderr=None, env=environment
        )
        stdin, stdout = process.stdin, process.stdout

        def say(method: str, params: object, **fields: object) -> None:
            message = {"jsonrpc": "2.0", "method": method, "params": params, **fields}
            stdin.write(json.dumps(message).encode() + b"\n")

        say("initialize", INITIALIZE, id=1)
        assert await stdout.readline(), "the process ended"
        say("notifications/initialized", {})
        url = f"http://127.0.0.1:{server.port}/page"
        say("tools/call", {"name": "web_fetch", "arguments": {"url": url}}, id=2)
        await asked.wait()
        stdin.close()
        assert await process.wait() == 0
        await server.until_idle()
