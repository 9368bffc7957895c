"""`searx-mcp serve`: where it listens, what it refuses to start with, and how it ends."""

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.doubles.serving import connected

DEADLINE = 60
"""Seconds until a test fails that would hang; nothing is measured."""
TOKEN = "0123456789abcdef"
HTTP = ("serve", "--transport", "streamable-http", "--port", "0")


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        (("--host", "0.0.0.0"), {}, "http.token: others than this machine reach 0.0.0.0"),
        (("--host", "::"), {}, "http.token: others than this machine reach ::"),
        ((), {"MCP_HOST": "0.0.0.0"}, "Set MCP_AUTH_TOKEN"),
        ((), {"MCP_AUTH_TOKEN": "secretshort"}, "http.token"),
        ((), {"MCP_AUTH_TOKEN": "secret-für-alle-hier"}, "16 to 500 visible ASCII characters"),
        ((), {"SEARX_MCP_HTTP__TOKEN": "secret with spaces in it"}, "and no spaces"),
        (("--host", "no where"), {}, "http.host"),
        (("--host", "192.0.2.1"), {"MCP_AUTH_TOKEN": TOKEN}, "is no address of this machine"),
        (("--port", "65536"), {}, "http.port"),
        (("--transport", "sse"), {}, "server.transport"),
        ((), {"MCP_TRANSPORT": "carrier-pigeon"}, "http"),
        ((), {"SEARX_MCP_HTTP__ALLOWED_HOSTS": "a b"}, "http.allowed_hosts"),
        ((), {"SEARX_MCP_HTTP__ALLOWED_ORIGINS": "a.example"}, "http.allowed_origins"),
        ((), {"SEARX_MCP_HTTP__ALLOW_UNAUTHENTICATED": "1"}, "allow_unauthenticated"),
    ],
)
async def test_what_it_cannot_serve_with_is_named_and_no_secret_is_shown(
    run_cli, arguments, environment, told
):
    first = ("serve",) if "MCP_TRANSPORT" in environment else HTTP
    ran = await run_cli(*first, *arguments, **environment)
    assert (ran.code, ran.out) == (5, "")
    assert told in ran.err
    assert "secret" not in ran.err
    assert TOKEN not in ran.err


@asynccontextmanager
async def started(
    tmp_path: Path, *arguments: str, **environment: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str, str]]:
    """Start a server; gives the process, its address, and what it said before that."""
    config = tmp_path / "empty.toml"
    config.touch()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "searx_mcp", *HTTP, *arguments),
        env={**os.environ, "SEARX_MCP_CONFIG": str(config), **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    before, said = "", ""
    try:
        async with asyncio.timeout(DEADLINE):
            while not (found := re.search(r"listening on (http://\S+)", said)):
                before += said
                said = (await process.stderr.readline()).decode()
                assert said, before
            yield process, found[1], before
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end")
async def test_it_serves_both_eras_until_a_signal_ends_it_and_frees_the_port(tmp_path):
    async with started(tmp_path, MCP_AUTH_TOKEN=TOKEN) as (process, url, before):
        for mode in ("auto", "legacy"):
            async with connected(url, mode=mode, token=TOKEN) as client:
                assert len((await client.list_tools()).tools) == 4
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()
    assert (process.returncode, out, err, before) == (128 + signal.SIGTERM, b"", b"", "")
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.slow
async def test_whoever_lets_everybody_in_is_warned_at_every_start(tmp_path):
    flags = ("--host", "0.0.0.0", "--allow-unauthenticated")
    async with started(tmp_path, *flags) as (_, _, before):
        assert "WARNING" in before
        assert "there is no token" in before
