"""Other servers beside ours: which of their tools is called, and what happens when they do not answer."""

import sys

import pytest
from mcp.types import Tool

HUNG = "import sys; sys.stdin.read()"
DEAF = """
from mcp.server.mcpserver import MCPServer
import anyio
server = MCPServer("deaf")
@server.tool()
async def web_search(query: str) -> str:
    await anyio.sleep_forever()
@server.tool()
async def fetch(url: str) -> str:
    print("no message", flush=True)
    return "a page"
server.run()
"""
"""Never answers a search, and writes what is no message before it reads a page."""


@pytest.fixture(scope="module")
def peer(load_benchmark):
    return load_benchmark("serving.peer")


@pytest.fixture(scope="module")
def peers(load_benchmark):
    return load_benchmark("peers")


def tool(name, required=(), **properties):
    rules = {key: value or {"type": "string"} for key, value in properties.items()}
    schema = {"type": "object", "properties": rules, "required": [*required]}
    return Tool(name=name, input_schema=schema)


URLS = {"type": "array", "items": {"type": "string"}}

FOUND = [
    (
        "search",
        [tool("search_suggestions", query=None), tool("searxng_web_search", ["query"], query=None)],
        ("searxng_web_search", {"query": "x"}),
    ),
    ("fetch", [tool("web_url_read", ["url"], url=None)], ("web_url_read", {"url": "x"})),
    ("fetch", [tool("crawl_pages", ["urls"], urls=URLS)], ("crawl_pages", {"urls": ["x"]})),
    (
        "search",
        [tool("web_news_search", query=None), tool("find", q=None), tool("search", ["q"], q=None)],
        ("search", {"q": "x"}),
    ),
    (
        "search",
        [tool("search_docs", query=None), tool("search", query=None)],
        ("search_docs", {"query": "x"}),
    ),
    ("search", [tool("web_search", ["query", "count"], query=None, count=None)], None),
    ("search", [tool("list_engines", query=None)], None),
    ("fetch", [tool("read_page", ["url", "query"], url=None, query=None)], None),
    ("fetch", [Tool(name="fetch", input_schema={"properties": [], "required": "url"})], None),
    ("fetch", [], None),
]


@pytest.mark.parametrize(("kind", "tools", "called"), FOUND, ids=str)
def test_the_tool_that_can_be_called_is_found_by_its_schema(peer, kind, tools, called):
    use = peer.use_of(peer.Kind(kind), tools)
    assert (use and (use.tool, use.arguments("x"))) == called


async def test_our_own_tools_are_found(peer, load_benchmark):
    tools, _ = await load_benchmark("requests").published("research")
    listed = [Tool.model_validate(each) for each in tools]
    uses = [peer.use_of(kind, listed) for kind in peer.Kind]
    assert [use.tool for use in uses] == ["web_search", "web_fetch"]


def test_a_tool_that_is_named_is_taken_whatever_its_name(peer):
    use = peer.use_of(peer.Kind.SEARCH, [tool("look", ["q"], q=None)], "look")
    assert (use.tool, use.argument) == ("look", "q")


@pytest.mark.parametrize("name", ["nothing", "read"])
def test_a_name_that_cannot_be_called_is_told_with_those_that_can(peer, name):
    tools = [tool("read", ["url"], url=None), tool("look", ["q"], q=None)]
    with pytest.raises(peer.PeerError, match=f"'{name}' is not among .*: 'look'"):
        peer.use_of(peer.Kind.SEARCH, tools, name)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--env", "NAME"], "--env takes NAME=VALUE."),
        (["--calls", "0"], "--calls must be 1 to 20."),
        (["--calls", "1e9"], "--calls must be 1 to 20."),
        (["--calls", "²"], "--calls must be 1 to 20."),
    ],
    ids=str,
)
def test_a_wrong_option_is_told_before_anything_starts(peers, monkeypatch, options, told):
    monkeypatch.setattr(sys, "argv", ["peers", *options, "--", "nobody"])
    with pytest.raises(SystemExit) as caught:
        peers.main()
    assert caught.value.code == told


def test_what_stands_behind_two_dashes_is_the_command(peers):
    assert peers.split_options(["--json", "--", "a", "--", "b"]) == (["--json"], ("a", "--", "b"))
    assert peers.split_options(["--json"]) == (["--json"], ())


@pytest.fixture
async def errors(tmp_path):
    with (tmp_path / "errors").open("w") as file:
        yield file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no-such-program-anywhere"], "does not start or speak MCP"),
        ([sys.executable, "-c", "print('hello')"], "does not start or speak MCP"),
        ([sys.executable, "-c", HUNG], "did not list its tools in 1 s"),
    ],
    ids=["not there", "no MCP", "hung"],
)
async def test_a_server_that_does_not_start_is_told(
    peer, load_benchmark, monkeypatch, errors, words, told
):
    monkeypatch.setattr(peer, "START", 1.0 if HUNG in words else 30.0)
    with pytest.raises((peer.PeerError, ExceptionGroup)) as caught:
        async with peer.open_peer(words, {}, errors):
            pytest.fail("it was opened")
    assert told in str(load_benchmark("peers").first_error(caught.value))


@pytest.mark.slow
async def test_a_server_that_does_not_answer_is_not_asked_for_ever(peer, monkeypatch, errors):
    monkeypatch.setattr(peer, "DEADLINE", 30.0)
    async with peer.open_peer([sys.executable, "-c", DEAF], {}, errors) as deaf:
        search, fetch = (peer.use_of(kind, deaf.tools) for kind in peer.Kind)
        read = await deaf.call(fetch, "http://127.0.0.1/")
        monkeypatch.setattr(peer, "DEADLINE", 0.1)
        silent = [await deaf.call(search, "hedges") for _ in range(peer.IN_A_ROW)]
        monkeypatch.setattr(peer, "DEADLINE", 30.0)
        late = await deaf.call(fetch, "http://127.0.0.1/")
    assert (read.text, read.is_error) == ("a page", False)
    assert [(each.seconds, each.is_error) for each in silent] == [(0.1, True)] * 3
    assert (late.seconds, late.text, late.is_error) == (30, "", True)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("http://{0}/hedges/1 http://{0}/hedges/2 http://{0}/hedges/3", 1),
        ("http://{0}/hedges/1 http://{0}/hedges/1 http://{0}/hedges/10", 0),
        ("", 0),
    ],
)
async def test_a_search_has_to_have_results_and_a_page_its_text(load_benchmark, peer, text, good):
    site = load_benchmark("serving.site")
    run = load_benchmark("serving.side_by_side").Run()
    async with site.open_site() as opened:
        said = text.format(opened.origin)
        run.add(peer.Kind.SEARCH, peer.Answered(1.0, said, is_error=False), opened)
        run.add(peer.Kind.SEARCH, peer.Answered(2.0, said, is_error=True), opened)
        run.add(peer.Kind.FETCH, peer.Answered(1.0, "", {"a": site.MARKER}, is_error=False), opened)
        run.add(peer.Kind.FETCH, peer.Answered(1.0, "[empty]", is_error=False), opened)
    assert run.good == {peer.Kind.SEARCH: good, peer.Kind.FETCH: 1}
    assert run.bad(peer.Kind.SEARCH) == 2 - good
    assert run.median(peer.Kind.SEARCH) == 1.5
    assert run.percentile(peer.Kind.SEARCH, 0.95) == 2
