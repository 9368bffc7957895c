"""What a new user copies from the README and the first pages works."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from mcp import Client
from mcp.types import TextContent

from searx_mcp.cli.main import cli
from searx_mcp.ops.setup.clients import CLIENTS, ClientId, snippet
from searx_mcp.server.app import build_server
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

ROOT = Path(__file__).parents[1]
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in (
        *("README.md", "docs/index.md", "docs/getting-started.md", "docs/guides/clients.md"),
    )
}
README, CLIENTS_PAGE = PAGES["README.md"], PAGES["docs/guides/clients.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_LINES = 150


def blocks(text: str, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(text) if kind == language]


def commands() -> list[str]:
    """Every call of the command, in blocks and in inline code."""
    found = []
    for text in PAGES.values():
        lines = "\n".join(blocks(text, "sh")).splitlines()
        lines += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
        for line in lines:
            match = re.search(r"(?:^|[ /])searx-mcp( [a-z-].*)", line.partition("#")[0])
            if match and match[1].strip() not in {"setup", "--help"}:
                found.append(match[1].strip())
    return sorted(set(found))


@pytest.mark.parametrize("line", commands())
def test_every_command_that_is_shown_can_be_called(line):
    arguments = shlex.split(line.replace("CLIENT", "cursor"))
    context = cli.make_context("searx-mcp", list(arguments))
    rest = [*context._protected_args, *context.args]
    while rest:
        assert isinstance(context.command, click.Group)
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, context)
        rest = [*context._protected_args, *context.args]


def test_the_first_pages_show_commands():
    assert {line.split()[0] for line in commands()} >= {"setup", "demo", "doctor", "instances"}


@pytest.mark.parametrize("client", ClientId)
def test_the_entry_to_write_by_hand_is_the_one_that_setup_writes(client):
    shown = [json.loads(block) for block in blocks(CLIENTS_PAGE, "json")]
    assert json.loads(snippet(client, ("/path/to/searx-mcp",), {})) in shown
    assert f"`{client.value}`" in CLIENTS_PAGE
    assert CLIENTS[client].title in README
    assert f"`{client.value}`" in README


def test_the_entry_of_the_readme_is_one_of_uvx():
    (shown,) = map(json.loads, blocks(README, "json"))
    assert shown == json.loads(snippet(ClientId.CURSOR, ("uvx", "searx-mcp"), {}))


def test_the_readme_stays_short_and_begins_with_what_it_is():
    assert len(README.splitlines()) < MOST_LINES
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)
    assert headings[:3] == ["Start", "Connect", "What the model sees"]
    develop = README.partition("## Develop")[2]
    demo, tests = blocks(develop, "sh")[0].splitlines()
    assert demo.endswith("searx-mcp demo")
    assert tests.endswith("tox")


@pytest.mark.usefixtures("patient_search")
async def test_the_model_sees_what_the_readme_shows(settings_for):
    paragraphs = (
        "A honey bee that has found flowers dances on the comb to tell the others where they are.",
        "One second of waggling is about one kilometre of flight.",
    )
    site = FakeWeb({"/waggle-dance": FakePage(article("The waggle dance", paragraphs))})
    async with site as web:
        row = FakeResult(
            url=web.links[0],
            title="The waggle dance",
            description="How honey bees tell each other where flowers are.",
        )
        async with FakeSearxng(formats=("html", "json"), results=[row]) as instance:
            longest = {"default_timeout": 120}
            settings = settings_for(web, instance, own=[instance], web_search=longest)
            async with Client(build_server(settings)) as client:
                result = await client.call_tool("web_search", {"query": "why do bees dance"})
    (content,) = result.content
    assert isinstance(content, TextContent)
    text = content.text.replace(f"http://{web.origin}", "https://bees.example")
    text = text.replace(web.origin, "bees.example")
    (shown,) = blocks(README, "text")
    assert _unmarked(text) == _unmarked(shown)


def _unmarked(text: str) -> str:
    """The text without the fence's name, which is another in each process."""
    return re.sub(r"(</?web-content )(?:id=)?[0-9a-f]+", r"\1", text).strip()
