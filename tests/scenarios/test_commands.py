"""The command as people and scripts use it."""

import json
from typing import Any

import pytest

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

pytestmark = [pytest.mark.smoke, pytest.mark.usefixtures("home")]


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


async def test_a_page_is_printed_as_markdown(run, web):
    ran = await run("fetch", web.url("/tea"))
    assert ran.code == 0
    assert "Tea is made of leaves that are dried." in ran.out


FAILURES = {
    "a page that is not there": (("fetch", "{web}/gone"), 1, "not_found"),
    "a private address": (("fetch", "http://10.0.0.1/"), 1, "blocked_address"),
    "another scheme": (("fetch", "ftp://example.org/"), 1, "blocked_scheme"),
    "a category that is none": (("search", "tea", "--category", "no;such"), 2, "invalid_argument"),
    "a query without words": (("search", " "), 2, "invalid_argument"),
    "too many results": (("search", "tea", "--results-count", "99"), 2, "invalid_argument"),
    "an instance that is not in the pool": (
        ("instances", "show", "nobody.example"),
        2,
        "invalid_argument",
    ),
    "an instance that is no address": (
        ("instances", "add", "not an address"),
        2,
        "invalid_argument",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "error"), FAILURES.values(), ids=FAILURES.keys())
async def test_a_failure_is_a_sentence_for_a_person(run, web, arguments, code, error):
    ran = await run(*(each.format(web=web.base) for each in arguments))
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.strip()
    assert "Traceback" not in ran.err


async def test_without_an_instance_that_answers_the_exit_code_is_3(run, own):
    own.fail(500)
    ran = await run("search", "tea", "--json")
    data = json.loads(ran.out)
    assert ran.code == 3
    assert (data["error_type"], data["reason"]) == ("no_instances_available", "own_failed")
    assert data["attempted_instances"] == [own.url]


async def test_a_wrong_setting_ends_with_5(run):
    ran = await run("search", "tea", SEARX_MCP_SEARCH__CACHE_TTL="soon")
    assert ran.code == 5
    assert "search.cache_ttl" in ran.err


async def test_the_pool_is_listed(run, own):
    data = json.loads((await run("instances", "list", "--json")).out)
    (row,) = [row for row in data["instances"] if row["tier"] == "own"]
    assert row["url"] == own.url
    person = await run("instances", "list")
    assert own.url.split("//")[1].rstrip("/") in person.out


async def test_an_instance_is_explained(run, own):
    await run("search", "tea", "--no-fetch-content")
    data = json.loads((await run("instances", "show", own.url, "--json")).out)
    assert own.url in json.dumps(data)
    assert (await run("instances", "show", own.url.split("/")[2])).code == 0


async def test_instances_are_added_and_removed(run):
    async with FakeSearxng() as another:
        added = await run("instances", "add", another.url, "--json")
        assert added.code == 0, added.err
        listed = json.loads((await run("instances", "list", "--json")).out)
        assert another.url in [row["url"] for row in listed["instances"]]
        removed = await run("instances", "remove", another.url, "--json")
        assert removed.code == 0, removed.err
        listed = json.loads((await run("instances", "list", "--json")).out)
        assert another.url not in [row["url"] for row in listed["instances"]]


@pytest.mark.parametrize("more", [("check",), ("test", "tea")], ids=" ".join)
async def test_an_instance_is_asked_whether_it_is_well(run, own, more):
    verb, *query = more
    ran = await run("instances", verb, own.url, *query, "--json")
    assert ran.code == 0, ran.err
    assert own.requests
    json.loads(ran.out)


@pytest.mark.parametrize("verb", ["unblock", "reset"])
async def test_an_instance_that_is_unknown_is_named(run, verb):
    ran = await run("instances", verb, "nobody.example", "--json")
    assert ran.code == 2
    assert "nobody.example" in json.loads(ran.out)["error_details"]


async def test_what_was_chosen_and_learned_is_taken_along(run, own, tmp_path):
    await run("search", "tea", "--no-fetch-content")
    exported = await run("instances", "export")
    assert exported.code == 0
    file = tmp_path / "export.json"
    file.write_text(exported.out)
    imported = await run(
        "instances", "import", str(file), SEARX_MCP_STORAGE__FOLDER=str(tmp_path / "other")
    )
    assert imported.code == 0, imported.err


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


async def test_a_blocked_instance_is_unblocked_again(run):
    blocked = json.loads((await run("instances", "block", "nobody.example", "--json")).out)
    again = json.loads((await run("instances", "block", "nobody.example", "--json")).out)
    freed = json.loads((await run("instances", "unblock", "nobody.example", "--json")).out)
    assert (blocked["changed"], again["changed"], freed["changed"]) == (True, False, True)


async def test_what_was_kept_is_purged(run, own, web):
    await run("fetch", web.url("/tea"))
    ran = await run("purge", "--yes")
    assert ran.code == 0, ran.err
    await run("fetch", web.url("/tea"))
    assert len(web.requests) == 2


async def test_several_searches_are_printed_one_after_the_other(run, web):
    ran = await run("search", "tea", "--queries", "coffee", "--no-fetch-content")
    assert ran.code == 0
    assert "\nSearch 1: tea\n" in ran.out
    assert "\nSearch 2: coffee\n" in ran.out
    assert f"Also result 1 of search 1: {web.url('/tea')}\n" in ran.out
    data = json.loads((await run("search", "tea", "--queries", "coffee", "--json")).out)
    assert [each["query"] for each in data["queries"]] == ["tea", "coffee"]
