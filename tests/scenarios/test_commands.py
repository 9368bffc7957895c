"""The command as people and scripts use it."""

import json
from typing import Any

import pytest

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

pytestmark = [pytest.mark.smoke, pytest.mark.usefixtures("home", "patient_search")]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SEARX_MCP_STORAGE__FOLDER", str(tmp_path / "state"))


@pytest.fixture
async def web():
    pages = {"/tea": FakePage(article("Tea", ["Tea is made of leaves that are dried."] * 3))}
    async with FakeWeb(pages) as site:
        yield site


@pytest.fixture
async def own(web):
    async with FakeSearxng(links=web.links, formats=["json", "html"]) as fake:
        yield fake


@pytest.fixture
def run(run_cli, own, web):
    async def run(*arguments: str, **environment: str) -> Any:
        return await run_cli(
            *arguments,
            **{
                "SEARX_MCP_INSTANCES__OWN": own.url,
                "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
                "SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "120",  # on a busy machine, too
                **environment,
            },
        )

    return run


async def test_a_search_prints_results_for_a_person(run, own, web):
    ran = await run("search", "tea leaves", "--no-fetch-content")
    assert ran.code == 0
    assert web.url("/tea") in ran.out
    assert ran.out.startswith("1 ") or "1. " in ran.out
    assert own.url.removesuffix("/") in ran.out


async def test_a_search_reads_pages_unless_told_otherwise(run):
    data = json.loads((await run("search", "tea leaves", "--json")).out)
    (result,) = data["results"]
    assert result["content"]["markdown"].startswith("# Tea")
    assert result["content"]["summary"].startswith("Tea is made of leaves")


@pytest.mark.parametrize("arguments", [("show", "nobody.example"), ("add", "not an address")])
async def test_a_failure_is_a_sentence_for_a_person(run, arguments):
    ran = await run("instances", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.strip()
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("verb", ["unblock", "reset"])
async def test_an_instance_that_is_unknown_is_named(run, verb):
    ran = await run("instances", verb, "nobody.example", "--json")
    assert ran.code == 2
    assert "nobody.example" in json.loads(ran.out)["error_details"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("config",),
        ("config", "--json"),
        ("paths",),
        ("paths", "--json"),
        ("instances", "budget"),
        ("instances", "budget", "--json"),
        ("suggest", "te"),
        ("--version",),
        ("--help",),
        ("instances", "--help"),
        ("search", "--help"),
        ("fetch", "--help"),
    ],
    ids=" ".join,
)
async def test_a_command_without_needs_does_its_work(run, arguments):
    ran = await run(*arguments)
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    if "--json" in arguments:
        json.loads(ran.out)


async def test_a_page_is_remembered_by_the_next_command(run, web):
    await run("fetch", web.url("/tea"))
    data = json.loads((await run("fetch", web.url("/tea"), "--json")).out)
    assert data["from_cache"]
    assert len(web.requests) == 1


async def test_what_an_instance_did_is_remembered_by_the_next_command(run, own):
    own.fail(500)
    await run("search", "tea", "--no-fetch-content")
    (row,) = [
        row
        for row in json.loads((await run("instances", "list", "--json")).out)["instances"]
        if row["url"] == own.url
    ]
    assert (row["failures"], row["last_verdict"]) == (1, "server_error")


async def test_several_searches_are_printed_one_after_the_other(run, web):
    ran = await run("search", "tea", "--queries", "coffee", "--no-fetch-content")
    assert ran.code == 0
    assert "\nSearch 1 of 2: tea\n" in ran.out
    assert "\nSearch 2 of 2: coffee\n" in ran.out
    assert "Also found above: result 1 of search 1.\n" in ran.out
    data = json.loads((await run("search", "tea", "--queries", "coffee", "--json")).out)
    assert [each["query"] for each in data["queries"]] == ["tea", "coffee"]
