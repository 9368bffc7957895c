"""Evidence from the real `searx-mcp` process, through the official client."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from searx_mcp.testing.web import FakePage, FakeWeb

pytestmark = pytest.mark.slow

QUESTION = "How many kilograms of honey does a colony store for winter?"
FACT = "A colony stores 27 kilograms of honey for winter."


def page(title: str, text: str, link: str = "") -> FakePage:
    more = f"<p>More on <a href='{link}'>{link.strip('/')} honey</a>.</p>" if link else ""
    return FakePage(f"<title>{title}</title><article><h1>{title}</h1><p>{text}</p>{more}</article>")


def site() -> FakeWeb:
    return FakeWeb(
        {
            "/bees": page("Bees", "Bees dance to tell each other where flowers are.", "/hive"),
            "/hive": page("Hive", "A hive is made of combs of wax, cleaned daily.", "/winter"),
            "/winter": page("Winter", FACT),
            "/wasps": page("Wasps", "Wasps build nests of paper and store no honey."),
        }
    )


@asynccontextmanager
async def serving(mode: str, folder: Path, web: FakeWeb) -> AsyncIterator[Client]:
    config = folder / "searx-mcp.toml"
    config.touch()
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "searx_mcp", "stdio"],
        env={
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
            "SEARX_MCP_INSTANCES__PUBLIC": "off",
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
            "SEARX_MCP_SERVER__PROFILE": "research",
            "SEARX_MCP_STORAGE__FOLDER": str(folder / "state"),
        },
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_a_fact_two_links_away_is_cited_and_later_found_without_a_request(
    tmp_path: Path,
) -> None:
    told: list[str] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with site() as web:
        async with serving("auto", tmp_path, web) as client:
            found = await client.call_tool(
                "answer",
                {"url": web.url("/bees"), "query": QUESTION},
                progress_callback=tell,
            )
            assert isinstance(found, CallToolResult)
            both = await call(
                client, "answer", url=web.url("/bees"), urls=[web.url("/wasps")],
                query="Who builds with wax and who with paper?", expansion_budget=0,
            )  # fmt: skip
            asked = len(web.requests)
            again = await call(client, "search_corpus", query=QUESTION)
            status = await call(client, "corpus_status")
            wrong = await call(client, "answer", url=web.url("/bees"), query="x", intent="guess")
        async with serving("auto", tmp_path, web) as client:
            kept = await call(client, "search_corpus", query=QUESTION)
        assert len(web.requests) == asked
    assert told[-1].startswith("Assembling results")
    for result in (found, again, kept):
        assert f'"{FACT}"\n    — Winter, {web.url("/winter")}' in text(result)
        data = result.structured_content
        assert data is not None
        assert (data["citations"][0]["text"], data["citations"][0]["url"]) == (
            FACT,
            web.url("/winter"),
        )
    sources = text(both).partition("[EVIDENCE]")[0]
    assert web.url("/bees") in sources
    assert web.url("/wasps") in sources
    counts = status.structured_content
    assert counts is not None
    assert {kept["url"] for kept in counts["urls"]} == {
        web.url(path) for path in ("/bees", "/hive", "/winter", "/wasps")
    }
    assert counts["documents"] == 4
    assert counts["chunks"] == sum(kept["chunks"] for kept in counts["urls"])
    assert counts["tokens"] == sum(kept["tokens"] for kept in counts["urls"])
    assert wrong.is_error
    assert "intent: " in text(wrong)


async def test_pages_are_kept_and_read_by_question(tmp_path: Path) -> None:
    async with site() as web, serving("legacy", tmp_path, web) as client:
        kept = await call(client, "ingest", url=[web.url("/bees"), web.url("/gone")])
        asked = len(web.requests)
        read = await call(client, "read_page", url=web.url("/bees"), query="where are flowers")
        assert len(web.requests) == asked, "it is fresh"
        failed = await call(client, "answer", url=web.url("/gone"), query="x")
    assert "1 chunk, 1 of them new" in text(kept)
    assert "failed, not_found" in text(kept)
    data = read.structured_content
    assert data is not None
    assert "Bees dance" in data["queries"][0]["results"][0]["text"]
    assert "Bees dance" in text(read)
    assert failed.is_error
    assert text(failed).startswith("[ERROR]\n")
    assert "not_found" in json.dumps(failed.structured_content)
