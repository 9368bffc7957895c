"""Every program in `examples/` runs as its first lines say, against an instance on loopback."""

import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import pytest

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "Why do bees dance?"
SAID = "Bees dance to tell where food is."
FAR = "The fair opens at nine."
ASIDE = (
    f"{FAR} " + "A jar of honey holds one pound, and its label names the garden and the year. " * 80
)
PAGES = {
    "/bees": FakePage(article("Bees", [ASIDE, SAID])),
    "/tea": FakePage(article("Tea", ["Warm."])),
}
NEEDS = {"fastapi_app": "fastapi", "langchain_tools": "langchain_core"}

Start = Callable[..., Awaitable[Process]]


def needs(example: str) -> None:
    """Skip a test without the package that an example is about."""
    package = NEEDS.get(example)
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is missing; install it: pip install --group examples")


@pytest.fixture
async def site() -> AsyncIterator[FakeWeb]:
    async with FakeWeb(PAGES) as web:
        yield web


@pytest.fixture
async def instance(site: FakeWeb) -> AsyncIterator[FakeSearxng]:
    async with FakeSearxng(links=site.links, formats=("json",)) as fake:
        yield fake


@pytest.fixture
def start(start_program: Start, site: FakeWeb, instance: FakeSearxng, tmp_path: Path) -> Start:
    """Start Python, with warnings as errors and settings from the environment."""
    config = tmp_path / "empty.toml"
    config.touch()
    settings = {
        "SEARXNG_URL": instance.url,
        "SEARX_MCP_CONFIG": str(config),
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": site.origin,
        "SEARX_MCP_OPEN_SOURCES__MODE": "off",
        "LANGSMITH_TRACING": "false",
        "PYTHONWARNINGS": "error",
        "PYTHONUNBUFFERED": "1",
    }

    async def python(*arguments: str | Path, **environment: str) -> Process:
        return await start_program(
            sys.executable, *arguments, env={**os.environ, **settings, **environment}
        )

    return python


@pytest.fixture
def run(start: Start) -> Callable[..., Awaitable[tuple[int | None, str, str]]]:
    """Run an example with the question, to its end."""

    async def example(name: str) -> tuple[int | None, str, str]:
        needs(name)
        process = await start(EXAMPLES / f"{name}.py", QUESTION)
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    return example


async def listening(process: Process, *, on_error: bool) -> str:
    """Wait until a server says where it listens; give its address."""
    stream = process.stderr if on_error else process.stdout
    assert stream is not None
    said = b""
    async for line in stream:
        said += line
        if b"unning on " in line:
            return line.decode().split("unning on ")[1].split()[0]
    pytest.fail(said.decode())


async def stop(process: Process) -> None:
    """End a server as a supervisor does; what it kept open would be a warning, and so an error."""
    process.terminate()
    out, err = await process.communicate()
    assert process.returncode in {0, -signal.SIGTERM}
    assert b"Traceback" not in out + err


def test_there_is_a_test_for_each_example():
    tests = Path(__file__).read_text("utf-8")
    missing = [path.stem for path in EXAMPLES.glob("*.py") if f'"{path.stem}' not in tests]
    assert missing == []


def test_an_example_fits_on_a_page():
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert len(lines) == 5
    assert max(lines.values()) <= 60


async def test_the_script_prints_the_passage_of_each_page(run, site: FakeWeb):
    code, out, err = await run("search_and_read")
    assert (code, err) == (0, "")
    assert SAID in out
    assert FAR not in out
    assert site.url("/bees") in out
    assert site.url("/tea") in out


async def test_the_script_says_why_there_are_no_results(run, instance: FakeSearxng):
    instance.fail(503)
    code, out, err = await run("search_and_read")
    assert (code, out) == (1, "")
    assert "instance" in err
    assert "Traceback" not in err


async def test_the_langchain_tool_answers_a_call_with_a_message(run, site: FakeWeb):
    code, out, err = await run("langchain_tools")
    assert (code, err) == (0, "")
    assert "Tool Message" in out
    assert site.url("/bees") in out
    assert "trust=untrusted" in out


async def test_the_langchain_tool_tells_a_model_of_a_failed_search(run, instance: FakeSearxng):
    instance.fail(503)
    code, out, err = await run("langchain_tools")
    assert (code, err) == (0, "")
    assert "Tool Message" in out
    assert "instance" in out


async def test_the_agent_searches_reads_and_answers(run, site: FakeWeb):
    code, out, _ = await run("agent_loop")
    assert code == 0
    assert out.index("-> web_search") < out.index("-> read_page") < out.index(SAID)
    assert [request.path for request in site.requests] == ["/bees"]


async def test_the_aiohttp_app_shows_results_and_escapes_them(
    start: Start, site: FakeWeb, unused_port: Callable[[], int]
):
    server = await start(EXAMPLES / "aiohttp_app.py", PORT=str(unused_port()))
    url = await listening(server, on_error=False)
    async with aiohttp.ClientSession() as http:
        async with http.get(url) as response:
            assert "<form>" in await response.text()
        async with http.get(url, params={"q": "<b>bees"}) as response:
            text = await response.text()
    assert f'<a href="{site.url("/bees")}">' in text
    assert "<b>" not in text
    await stop(server)


async def test_the_fastapi_app_has_typed_answers_and_errors(
    start: Start, site: FakeWeb, instance: FakeSearxng
):
    needs("fastapi_app")
    command = ("-m", "uvicorn", "--app-dir", EXAMPLES, "fastapi_app:app", "--port", "0")
    server = await start(*command)
    url = await listening(server, on_error=True)
    async with aiohttp.ClientSession(url) as http:
        async with http.get("/search", params={"q": QUESTION}) as response:
            found = await response.json()
        assert found["results"][0]["url"] == site.url("/bees")
        async with http.get("/page", params={"url": site.url("/bees")}) as response:
            assert SAID in (await response.json())["markdown_content"]
        for address, status in (("ftp://site.example/", 422), (site.url("/none"), 424)):
            async with http.get("/page", params={"url": address}) as response:
                assert response.status == status, address
        async with http.get("/openapi.json") as response:
            assert "SearchResponse" in (await response.json())["components"]["schemas"]
        instance.fail(503)
        async with http.get("/search", params={"q": "tea"}) as response:
            assert response.status == 503
            assert (await response.json())["code"] == "no_instances_available"
    await stop(server)
