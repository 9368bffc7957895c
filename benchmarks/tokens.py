"""What the tools and their results cost a model, beside what other servers cost.

    python -m benchmarks.tokens [--json] [--quick]

Results come from a loopback instance and site through the server itself. Tokens are counted with the
vocabulary of o200k_base if `rs-bpe` is installed, else estimated; `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from mcp import Client
from mcp.types import CallToolResult, Implementation, TextContent

from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.serving.counting import Counter, best_counter
from benchmarks.serving.site import QUESTION, RESULTS, Site, bare, open_site
from searx_mcp.client.facade import SearxClient
from searx_mcp.render.errors import MAX_EVIDENCE_TOKENS, MAX_TOKENS
from searx_mcp.render.tokens import estimate
from searx_mcp.server.app import build_server
from searx_mcp.server.calls import VisiblePart, known_clients
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng

PEERS: Final = Path(__file__).parent / "serving" / "peer_figures.toml"
SCHEMAS: Final[Mapping[str, tuple[int, int]]] = {
    "default": (700, 1_300),
    "research": (700, 1_700),
    "small": (300, 300),
    "chatgpt": (300, 300),
}
"""By profile: tokens of the first two tools, and of all of them."""
OVER_BARE: Final = 1.1
"""A result over a bare numbered list of title, address and snippet; 1.07 was measured."""
UNKNOWN: Final = "a client nobody knows"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is measured.

    Attributes:
        tool: its name in the profile.
        name: what it shows.
        arguments: of which `{article}`, `{missing}`, `{archive}` and `{result}` become addresses.
        limit: the most tokens of its text by our estimate, or the key of `[server]` that says so.
        results: how many results it lists, to tell what one costs.
    """

    tool: str
    name: str
    arguments: Mapping[str, object]
    limit: int | str | None = None
    results: int = 0


_LISTED: Final = {"query": "hedges", "results_count": RESULTS, "fetch_content": False}
CALLS: Final = (
    Call("web_search", f"{RESULTS} results", _LISTED, results=RESULTS),
    Call("web_search", "10 results and their pages", {"query": "hedges"}, "search_token_budget"),
    Call("web_fetch", "article", {"url": "{article}"}, "fetch_token_budget"),
    Call(
        "web_fetch",
        "article, asked",
        {"url": "{article}", "prompt": QUESTION},
        "fetch_token_budget",
    ),
    Call(
        "web_fetch",
        "article, whole",
        {"url": "{article}", "max_chars": 40_000},
        "fetch_token_limit",
    ),
    Call(
        "read_page",
        "article, asked",
        {"url": "{article}", "query": QUESTION},
        "response_token_budget",
    ),
    Call(
        "answer",
        "from one page",
        {"url": "{article}", "query": QUESTION},
        "response_token_budget",
    ),
    Call("answer", "from a search", {"query": QUESTION}, "response_token_budget"),
    Call("ingest", "two pages", {"url": ["{article}", "{result}"]}, "response_token_budget"),
    Call("search_corpus", "asked", {"query": QUESTION}, "response_token_budget"),
    Call("corpus_status", "all pages", {}, "response_token_budget"),
    Call("search", "10 results", {"query": "hedges"}, "search_token_budget"),
    Call("fetch", "article", {"id": "{article}"}, "fetch_token_budget"),
)
ERRORS: Final = (
    Call("web_search", "nothing to search for", {}, MAX_TOKENS),
    Call("web_search", "unknown argument", {"query": "hedges", "freshnes": "day"}, MAX_TOKENS),
    Call("web_search", "wrong value", {"query": "hedges", "results_count": 500}, MAX_TOKENS),
    Call("web_fetch", "private address", {"url": "http://10.0.0.1/admin"}, MAX_TOKENS),
    Call("web_fetch", "scheme", {"url": "file:///etc/hosts"}, MAX_TOKENS),
    Call("web_fetch", "not there", {"url": "{missing}"}, MAX_TOKENS),
    Call("web_fetch", "an archive", {"url": "{archive}"}, MAX_TOKENS),
    Call("web_fetch", "cursor that is gone", {"cursor": "c-0000000000000000"}, MAX_TOKENS),
    Call("read_page", "not there", {"url": "{missing}", "query": QUESTION}, MAX_TOKENS),
    Call("answer", "not there", {"url": "{missing}", "query": QUESTION}, MAX_EVIDENCE_TOKENS),
)
NO_INSTANCE: Final = (
    Call("web_search", "instance out of order", {"query": "hedges in winter"}, MAX_TOKENS),
    Call("answer", "instance out of order", {"query": "hedges in spring"}, MAX_EVIDENCE_TOKENS),
)


@dataclass(frozen=True, slots=True)
class Size:
    """What a result has.

    Attributes:
        text: what stands in the text.
        data: structured content, if there is any.
        is_error: whether it says so of itself.
    """

    text: str
    data: Mapping[str, Any] | None
    is_error: bool


def main() -> None:
    """Measure and report."""
    options = command_line("What the tools and their results cost a model.")
    targets, tables = asyncio.run(measure(best_counter()))
    report(targets, as_json=options.json, tables=() if options.quick else tables)


async def measure(counter: Counter) -> tuple[list[Ratio], tuple[Table, ...]]:
    """Call the tools of every profile, and count."""
    parts = [await _schemas(counter), await _results(counter), await _clients(counter)]
    parts.append(await _errors())
    targets = [target for part in parts for target in part[0]]
    return targets, tuple(part[1] for part in parts)


def profiles() -> tuple[str, ...]:
    """The names of the profiles there are."""
    return get_args(ServerConfig.model_fields["profile"].annotation)


Part = tuple[list[Ratio], Table]


async def _schemas(counter: Counter) -> Part:
    targets: list[Ratio] = []
    rows: list[tuple[str | float, ...]] = []
    for profile in profiles():
        async with Client(build_server(_settings(profile))) as client:
            listed = await client.list_tools()
            instructions = counter.count(client.instructions or "")
        tools = json.loads(listed.model_dump_json(by_alias=True, exclude_unset=True))["tools"]
        seen = counter.schema(tools)
        rows.append((f"ours, {profile}", len(tools), seen, counter.whole(tools), instructions))
        if profile in SCHEMAS:
            of_two, of_all = SCHEMAS[profile]
            two = counter.schema(tools[:2])
            targets.append(_at_most(f"{profile}: tokens of the first two tools", two, of_two))
            targets.append(_at_most(f"{profile}: tokens of all tools", seen, of_all))
    figures = tomllib.loads(PEERS.read_text())
    rows += [
        (peer["name"], peer["tools"], peer["model"], peer["list"], "") for peer in figures["peer"]
    ]
    return targets, Table(
        f"Tools as a model sees them, tokens of {counter.name}",
        ("server", "tools", "name, description, arguments", "whole list", "instructions"),
        tuple(rows),
        (f"Other servers: o200k, measured on {figures['measured']}.",),
    )


async def _results(counter: Counter) -> Part:
    rows: list[tuple[str | float, ...]] = []
    failed, beyond, over_bare = 0, 0, 0.0
    async with _world() as (site, instance), AsyncExitStack() as stack:
        floor = counter.count(bare(site.listed)) / RESULTS
        rows.append(("bare numbered list", round(floor * RESULTS), 0, round(floor, 1), ""))
        lists = await stack.enter_async_context(
            FakeSearxng(results=site.listed, formats=("html", "json"), page_size=RESULTS)
        )
        for profile in profiles():
            listing = await stack.enter_async_context(_open(profile, site, lists))
            reading = await stack.enter_async_context(_open(profile, site, instance))
            for call in CALLS:
                client = listing if call.results else reading
                if not await _has(client, call.tool):
                    continue
                size = await _call(client, call, site)
                text, data = counter.count(size.text), counter.data(size.data)
                held = estimate(size.text)
                each = round(text / call.results, 1) if call.results else ""
                rows.append((f"{profile}: {call.tool}, {call.name}", text, data, each, held))
                failed += size.is_error
                beyond += _is_beyond(held, call, ServerConfig(profile=profile))
                if call.results:
                    over_bare = max(over_bare, text / call.results / floor)
    rows += _results_of_peers()
    return [
        _at_most("results: calls that failed", failed, 0),
        _at_most("results: calls beyond their budget", beyond, 0),
        _at_most("results: a result over a bare list", over_bare, OVER_BARE),
    ], Table(
        f"Results, tokens of {counter.name}",
        ("call", "text", "structured", "a result", "text, our estimate"),
        tuple(rows),
    )


def _is_beyond(tokens: int, call: Call, server: ServerConfig) -> bool:
    limit = getattr(server, call.limit) if isinstance(call.limit, str) else call.limit
    return limit is not None and tokens > limit


def _results_of_peers() -> Iterator[tuple[str | float, ...]]:
    for peer in tomllib.loads(PEERS.read_text())["peer"]:
        if each := peer.get("per_result"):
            data = RESULTS * peer.get("per_result_structured", 0)
            yield f"{peer['name']}: {RESULTS} results", RESULTS * each, data, each, ""
        if fetched := peer.get("fetch"):
            data = peer.get("fetch_structured", 0)
            yield f"{peer['name']}: article, default", fetched, data, "", ""
            yield f"{peer['name']}: article, whole", peer["page"], "", "", ""


async def _clients(counter: Counter) -> Part:
    """What each client pays that forwards whatever it is given."""
    rows: list[tuple[str | float, ...]] = []
    most = 0.0
    async with _world() as (site, instance):
        forwarding = [
            client.names[0].removesuffix("*")
            for client in known_clients()
            if client.structured is VisiblePart.BOTH
        ]
        for name in (UNKNOWN, *forwarding):
            async with _open("default", site, instance, client_name=name) as client:
                for call in CALLS[:3]:
                    size = await _call(client, call, site)
                    text, data = counter.count(size.text), counter.data(size.data)
                    paid = (text + data) / text
                    rows.append((f"{name}: {call.tool}, {call.name}", text, data, round(paid, 2)))
                    if name in forwarding:
                        most = max(most, paid)
    return [_at_most("known to forward both: paid / text", most, 1)], Table(
        f"Both halves, tokens of {counter.name}",
        ("client and call", "text", "structured", "both / text"),
        tuple(rows),
    )


async def _errors() -> Part:
    rows: list[tuple[str | float, ...]] = []
    silent = beyond = 0
    async with _world() as (site, instance), _open("default", site, instance) as client:
        for call in ERRORS + NO_INSTANCE:
            if call in NO_INSTANCE:
                instance.fail(503)
            size = await _call(client, call, site)
            cost = estimate(size.text)
            silent += not size.is_error
            beyond += _is_beyond(cost, call, ServerConfig())
            rows.append((f"{call.tool}, {call.name}", cost, call.limit or ""))
    return [
        _at_most("errors that are told as none", silent, 0),
        _at_most("errors beyond their budget", beyond, 0),
    ], Table("Errors, tokens of our estimate", ("error", "text", "at most"), tuple(rows))


@asynccontextmanager
async def _world() -> AsyncIterator[tuple[Site, FakeSearxng]]:
    async with (
        open_site() as site,
        FakeSearxng(results=site.rows, formats=("html", "json"), page_size=RESULTS) as instance,
    ):
        yield site, instance


@asynccontextmanager
async def _open(
    profile: str, site: Site, instance: FakeSearxng, *, client_name: str = UNKNOWN
) -> AsyncIterator[Client]:
    settings = _settings(
        profile,
        {
            "instances": {"own": [instance.url]},
            "fetch": {"allow_private": [site.origin], "host_rate": 6_000},
            "open_sources": {"mode": "off"},
        },
    )
    info = Implementation(name=client_name, version="1")
    async with SearxClient(settings) as service:
        server = build_server(settings, service=service)
        async with Client(server, client_info=info) as client:
            yield client


def _settings(profile: str, tables: Mapping[str, object] | None = None) -> Settings:
    return Settings.model_validate({**(tables or {}), "server": {"profile": profile}})


async def _has(client: Client, tool: str) -> bool:
    return any(published.name == tool for published in (await client.list_tools()).tools)


async def _call(client: Client, call: Call, site: Site) -> Size:
    result = await client.call_tool(call.tool, _filled(call.arguments, site))
    if not isinstance(result, CallToolResult):
        raise TypeError(f"{call.tool} answered with {type(result).__name__}")
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    return Size("\n".join(texts), result.structured_content, bool(result.is_error))


def _filled(arguments: Mapping[str, object], site: Site) -> dict[str, Any]:
    addresses = {
        "{article}": site.article,
        "{missing}": site.missing,
        "{archive}": site.archive,
        "{result}": site.rows[0].url,
    }

    def fill(value: object) -> object:
        if isinstance(value, list):
            return [fill(part) for part in value]
        return addresses.get(value, value) if isinstance(value, str) else value

    return {name: fill(value) for name, value in arguments.items()}


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, float(value), limit, at_least=False)


if __name__ == "__main__":
    main()
