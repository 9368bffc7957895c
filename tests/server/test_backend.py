"""The client that a server opens for its models."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys

import pytest

from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.server.backend import LazyService
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

PAGE = FakePage("<p>Otters live along the coast and eat fish all day.</p>")


@pytest.mark.parametrize("for_model", [False, True], ids=["program", "model"])
async def test_no_summary_is_made_that_no_model_sees(settings_for, tmp_path, for_model):
    async with FakeWeb({"/a": PAGE}) as web:
        settings = settings_for(web, storage={"folder": str(tmp_path)})
        async with LazyService(settings) as lazy:
            request = FetchRequest(url=web.url("/a"), for_model=for_model)
            page = await (await lazy.get()).fetch(request)
    text = "Otters live along the coast and eat fish all day."
    assert page.markdown_content == text
    assert (page.summary, page.key_points) == (("", ()) if for_model else (text, (text,)))


SERVED = """
import atexit, sys
before = set(sys.modules)
from searx_mcp.server import backend
backend.QUIET = 3_600  # what is imported behind these answers comes later
atexit.register(lambda: print(*set(sys.modules) - before, file=sys.stderr))
from searx_mcp.__main__ import main
main()
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}
OURS = {
    "__main__",
    "arguments",
    *("cli.logs", "cli.main", "cli.process", "cli.running"),
    "client.usable",
    "content.config",
    "errors",
    *("evidence.config", "evidence.requests"),
    "fetch.config",
    "files",
    *("http.config", "http.proxy"),
    *("models.argument", "models.base", "models.coercion"),
    *("models.credentials", "models.fetch_request", "models.request"),
    *("models.spelling", "models.style"),
    "pool.config",
    "search.config",
    *("server.app", "server.backend", "server.events", "server.guidance", "server.tools"),
    *("settings.environment", "settings.instances", "settings.server"),
    *("settings.sources", "settings.tools", "settings.values"),
    "sources.open.config",
    "storage.config",
    *("tasks", "telemetry"),
    *("urls.address", "urls.hosts"),
    *("verbs.evidence", "verbs.table", "verbs.verb", "verbs.web"),
    "workers.config",
}
"""Modules of the package that the first answers need. A host waits for these: think before you add one."""
OTHERS = {
    *("annotated_types", "anyio", "click", "cryptography", "httpx2", "idna", "mcp", "mcp_types"),
    *("opentelemetry", "pydantic", "pydantic_core", "python_multipart", "sse_starlette"),
    *("starlette", "typing_extensions", "typing_inspection", "uvicorn"),
    "platformdirs",
}
"""What the library of MCP loads itself, and what we add to it in the last row."""


@contextlib.contextmanager
def greeted(tmp_path, program):
    """Start a server that has given its first answers."""
    config = tmp_path / "empty.toml"
    config.touch()
    environment = {**os.environ, "SEARX_MCP_CONFIG": str(config), "SEARX_MCP_LOG_LEVEL": "ERROR"}
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, (method, params) in enumerate((("initialize", HELLO), ("tools/list", {}))):
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            assert "result" in json.loads(process.stdout.readline())
        yield process


LOADING = """
import sys
from searx_mcp.server import backend
backend.QUIET = 0
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "searx_mcp.verbs.web_writing":
            print("loading", file=sys.stderr, flush=True)
sys.meta_path.insert(0, Finder())
from searx_mcp.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("remote", ["", "http://127.0.0.1:1/"])
def test_what_a_call_needs_is_loaded_behind_the_first_answers(tmp_path, monkeypatch, remote):
    monkeypatch.setenv("SEARX_MCP_REMOTE__URL", remote)
    with greeted(tmp_path, LOADING) as process:
        assert process.stderr is not None
        assert "loading\n" in iter(process.stderr.readline, "")
        process.communicate(timeout=60)


FIRST = """
import asyncio, sys
from mcp.client import Client
from searx_mcp.server.app import build_server
from searx_mcp.server.backend import LazyService
from searx_mcp.settings.values import Settings

async def main():
    settings = Settings(instances={"own": [sys.argv[1]]}, storage={"folder": sys.argv[2]})
    async with LazyService(settings) as service:
        await service.load()
    async with Client(build_server(settings)) as client:
        before = set(sys.modules)
        found = await client.call_tool("web_search", {"query": "otters"})
        assert not found.is_error
        print(*(name for name in set(sys.modules) - before if name.startswith("searx_mcp.")))

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_first_search_after_that_loads_no_more_of_ours(tmp_path):
    async with FakeSearxng() as instance:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", FIRST, str(instance.url), str(tmp_path)),
            stdout=subprocess.PIPE,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0
    assert told.split() == []


@pytest.mark.slow
def test_only_what_the_first_answers_need_is_loaded_before_them(tmp_path):
    with greeted(tmp_path, SERVED) as process:
        _, told = process.communicate(timeout=60)
    loaded = set(told.split())
    packages = {name.rpartition(".")[0] for name in loaded}
    ours = {name.removeprefix("searx_mcp.") for name in loaded - packages if "searx_mcp." in name}
    assert ours - OURS == set()
    assert OURS - ours == set()
    of_others = {name.partition(".")[0] for name in loaded} - {"searx_mcp"}
    public = {name for name in of_others - sys.stdlib_module_names if not name.startswith("_")}
    # Libraries load these where they are installed; nothing of ours brings them.
    assert public - OTHERS - {"backports", "sniffio"} == set()


def test_a_server_leaves_the_logging_of_its_process_as_it_is():
    ran = subprocess.run(
        [sys.executable, "-c", LOGS], check=True, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.split() == ["[]", "False"]


LOGS = """
import logging, sys
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
build_server(Settings())
print(logging.getLogger().handlers, "rich" in sys.modules)
"""
