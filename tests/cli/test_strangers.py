"""Whatever strangers write, nothing of it acts on a terminal."""

import html
import json

import pytest

from searx_mcp.models.hits import Answer
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb


def environment(*reachable, own=()) -> dict[str, str]:
    return {
        "SEARX_MCP_INSTANCES__OWN": json.dumps([fake.url for fake in own]),
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps([fake.origin for fake in reachable]),
    }


def acts(output: str) -> list[str]:
    """Characters that a terminal obeys, or that put others in another order."""
    return [char for char in output if char != "\n" and not char.isprintable()]


@pytest.mark.parametrize("options", [(), ("--pages",), ("--json",)], ids=["text", "pages", "json"])
async def test_no_word_of_an_instance_acts_on_a_terminal(run_cli, hostile, options):
    words = hostile.words
    page = FakePage(f"<title>{html.escape(words)}</title><p>{html.escape(words)}</p>" * 9)
    async with FakeWeb({"/a": page}) as web:
        own = FakeSearxng(
            results=[
                FakeResult(
                    url=web.url("/a"),
                    title=words,
                    description=words,
                    engines=(words,),
                    author=words,
                )
            ],
            answers=[Answer(text=words)],
            suggestions=[words],
            engines_failed=[(words, words)],
            formats=("html", "json"),
        )
        async with own:
            ran = await run_cli("search", "bees", *options, **environment(web, own=[own]))
    assert ran.code == 0
    assert acts(ran.out + ran.err) == []
    assert "obey" in ran.out
    assert "[link=https://evil.example]l[/link]" in ran.out, "shown, and not read as markup"


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
async def test_no_word_of_a_page_acts_on_a_terminal(run_cli, hostile, options):
    said = html.escape(hostile.words)
    body = f"<html lang='{said}'><head><title>{said}</title><meta name=author content='{said}'>"
    page = FakePage(f"{body}</head><body><h1>{said}</h1><p>{said}</p></body></html>")
    async with FakeWeb({"/a": page}) as web:
        ran = await run_cli("fetch", web.url("/a"), *options, **environment(web))
        missing = await run_cli("fetch", web.url("/a"), "--section", "Zebra", **environment(web))
    assert ran.code == 0
    assert "[link=https://evil.example]l[/link]" in ran.out
    assert missing.code != 0
    assert "obey" in missing.err
    assert acts(ran.out + ran.err + missing.out + missing.err) == []


async def test_no_word_of_a_configuration_acts_on_a_terminal(run_cli, hostile):
    async with FakeSearxng(version=hostile.words, formats=("html", "json")) as own:
        outputs = [
            await run_cli(*command, **environment(own=[own]))
            for command in (
                ("instances", "check"),
                ("instances", "list"),
                ("instances", "show", own.url),
                ("doctor", own.url),
            )
        ]
    for ran in outputs:
        assert acts(ran.out + ran.err) == []
