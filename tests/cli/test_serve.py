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

import httpx2
import pytest

from tests.doubles.raw import Connection, RawServer
from tests.doubles.serving import DEADLINE, connected

MODERN = "2026-07-28"
TOKEN = "0123456789abcdef"
HTTP = ("serve", "--transport", "streamable-http", "--port", "0")


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        (("--host", "0.0.0.0"), {}, "http.token: other machines can reach 0.0.0.0"),
        (("--host", "::"), {}, "http.token: other machines can reach ::"),
        ((), {"MCP_HOST": "0.0.0.0"}, "Set MCP_AUTH_TOKEN"),
        ((), {"MCP_AUTH_TOKEN": "secretshort"}, "http.token"),
        ((), {"MCP_AUTH_TOKEN": "secret-für-alle-hier"}, "16 to 500 visible ASCII characters"),
        ((), {"SEARX_MCP_HTTP__TOKEN": "secret with spaces in it"}, "and no spaces"),
        (("--host", "no where"), {}, "http.host"),
        (("--host", "192.0.2.1"), {"MCP_AUTH_TOKEN": TOKEN}, "is not an address of this machine"),
        (("--port", "65536"), {}, "http.port"),
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
        env={
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_LOG_LEVEL": "CRITICAL",
            **environment,
        },
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


ends = pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end")


@pytest.mark.slow
@ends
async def test_a_signal_ends_it_with_its_streams_and_frees_the_port(tmp_path):
    async with started(tmp_path, MCP_AUTH_TOKEN=TOKEN) as (process, url, before):
        async with (
            connected(url, token=TOKEN) as modern,
            connected(url, token=TOKEN, mode="legacy") as legacy,  # has a stream open
        ):
            for client in (modern, legacy):
                assert len((await client.list_tools()).tools) == 4
            process.send_signal(signal.SIGTERM)
            out, err = await process.communicate()
    assert (process.returncode, out) == (128 + signal.SIGTERM, b"")
    for unwanted in ("Traceback", "ERROR", "WARNING", TOKEN):
        assert unwanted not in before + err.decode()
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.slow
@ends
async def test_whoever_lets_all_in_is_warned_and_a_second_signal_waits_for_no_call(tmp_path):
    flags = ("--host", "0.0.0.0", "--allow-unauthenticated")
    async with RawServer(greeting=Connection.hang) as site:
        environment = {"SEARX_MCP_FETCH__ALLOW_PRIVATE": f'["127.0.0.1:{site.port}"]'}
        async with started(tmp_path, *flags, **environment) as (process, url, before):
            assert "WARNING" in before
            assert "no token is required" in before
            here = url.replace("0.0.0.0", "127.0.0.1")
            with pytest.raises(httpx2.RemoteProtocolError):
                await interrupted(process, here, site)
            assert process.returncode == 128 + signal.SIGINT


async def interrupted(process: asyncio.subprocess.Process, url: str, site: RawServer) -> None:
    """Call, end the server while it reads a page, and do not wait for that."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "web_fetch", "arguments": {"url": site.url}, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "web_fetch",
    }
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        call = asyncio.ensure_future(http.post(url, json=request, headers=headers))
        await site.until_connected()
        process.send_signal(signal.SIGINT)
        while await listens(url):
            pass
        assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        await process.wait()
        await call


async def listens(url: str) -> bool:
    host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
    try:
        _, writer = await asyncio.open_connection(host, port)
    except ConnectionError:
        return False
    writer.close()
    return True


@pytest.mark.slow
@ends
async def test_its_log_tells_the_address_the_calls_and_why_it_ends(tmp_path):
    environment = {"MCP_AUTH_TOKEN": TOKEN, "SEARX_MCP_LOG_LEVEL": "info"}
    async with started(tmp_path, **environment) as (process, url, _):
        async with connected(url, token=TOKEN) as client:
            await client.call_tool("web_fetch", {"url": "http://127.0.0.1:9/marker"})
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
    lines = [line.partition("Z ")[2] for line in err.decode().splitlines()]
    shown = " ".join(lines)
    assert [line.split()[1] for line in lines] == [
        "server.start",
        "server.call",
        "server.done",
        "server.stop",
    ]
    assert f"transport=streamable-http url={url} " in lines[0]
    assert lines[-1] == "INFO server.stop transport=streamable-http reason=signal"
    assert "marker" not in shown
    assert TOKEN not in shown


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (
            ("--remote", "https://s.example/", "search", "bees"),
            2,
            "--remote is only for serving MCP",
        ),
        (("--remote", "s.example", "stdio"), 5, "remote.url (from --remote): "),
        (("--remote", "https://s.example/", *HTTP), 5, "remote.url: only a server on standard"),
        (
            ("--remote", "https://s.example/", "serve", "--port", "0"),
            5,
            "remote.url: only a server on standard",
        ),
    ],
)
async def test_where_a_service_elsewhere_cannot_be_used_is_told(run_cli, arguments, code, told):
    ran = await run_cli(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("serve", "--transport", "sse"),
            "server.transport (from --transport): 'sse' is not one of",
        ),
        ((*HTTP, "--host", "a b"), "http.host (from --host): 'a b' is not"),
        (("serve", "--port", "x"), "http.port (from --port): 'x' is not a whole number"),
        (
            ("--config", "nowhere.toml", "stdio"),
            "config (from --config): nowhere.toml is not a file",
        ),
        (("--env-file", "nowhere.env", "stdio"), "(from --env-file): nowhere.env cannot be read"),
    ],
)
async def test_a_wrong_setting_is_told_by_the_option_that_gave_it(run_cli, arguments, told):
    ran = await run_cli(*arguments)
    assert (ran.code, ran.out) == (5, "")
    assert told in ran.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("MCP_PORT=x", "http.port (from {}): 'x' is not a whole number"),
        ("SEARX_MCP_HTTP__PORT=x", "http.port (from {}): 'x' is not a whole number"),
        ("searx_mcp_search__cache_ttl=x", "search.cache_ttl (from {}): 'x' is not"),
        ("SEARX_MCP_SERCH__CACHE_TTL=6", "serch.cache_ttl (from {}): is not a setting (did you"),
        ("SEARXNG_URL=ftp://x", "instances.own (from {}): 'ftp://x' is not"),
        ("SEARX_MCP_SEARCH=6", "search (from {}): '6' is not a table"),
        ("SEARX_MCP_CONFIG=nowhere.toml", "config (from {}): nowhere.toml is not a file"),
        ("SEARX_MCP_NETWORK__PROXY=env\nHTTPS_PROXY=x://y", "network.proxy (from {}"),
        ("MCP_LOG_LEVEL=loud", "MCP_LOG_LEVEL (from {}): 'LOUD' is not a log level"),
        ("MCP_PORT 80", "env-file (from --env-file): {} cannot be read: line 3 is not NAME=value"),
    ],
)
async def test_a_wrong_value_is_told_by_the_line_of_its_file(run_cli, tmp_path, line, told):
    path = tmp_path / "my.env"
    path.write_text(f"# Mine.\n\n{line}\n", encoding="utf-8")
    where = (
        f"{path}" if told.startswith("env-file") else f"file {path}, line {3 + line.count(chr(10))}"
    )
    ran = await run_cli("--env-file", str(path), "config", MCP_PORT="", SEARX_MCP_CONFIG="")
    assert (ran.code, ran.out) == (5, "")
    assert told.format(where) in ran.err
    path.write_text("MCP_PORT=1", encoding="utf-8")
    told_by = await run_cli("--env-file", str(path), "config", MCP_PORT="x")
    assert "http.port (from environment MCP_PORT)" in told_by.err


@pytest.mark.parametrize("option", ["--host", "--port"])
async def test_an_address_is_not_taken_for_standard_input(run_cli, option):
    ran = await run_cli("serve", "--transport", "stdio", option, "5")
    assert (ran.code, ran.out) == (2, "")
    assert f"{option}: is for HTTP; leave it or --transport stdio out" in ran.err


async def test_settings_of_a_named_file_are_shown_without_its_key(run_cli, tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text(f"ENRIPROXY_URL=https://s.example\nENRIPROXY_API_KEY={TOKEN}\n")
    ran = await run_cli("--env-file", str(file), "config", "--json")
    assert ran.code == 0
    assert "https://s.example/" in ran.out
    assert TOKEN not in ran.out + ran.err
