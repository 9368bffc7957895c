"""The resources of the server, as a client of either era reads them."""

import asyncio
import json
import re

import pytest
from mcp import Client, MCPError
from mcp.types import TextResourceContents
from typing_extensions import override

from searx_mcp.errors import ErrorCode, SearxMcpError, SettingsError
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.instance import (
    InstanceReport,
    InstanceState,
    PoolReport,
    Tier,
)
from searx_mcp.models.request import SearchRequest
from searx_mcp.render.errors import seconds_until_retry
from searx_mcp.render.tokens import estimate
from searx_mcp.server.app import build_server
from searx_mcp.server.guidance import REMEDIES, resources
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from tests.doubles.service import PartOfService

INSTANCES, HELP = "searx://instances", "searx://help"
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
OF_COMMANDS = {
    ErrorCode.UNAUTHORIZED,
    ErrorCode.NATIVE_FAILED,
    ErrorCode.SETUP_FAILED,
}
"""Codes that no tool gives."""


class Pool(PartOfService):
    """Reports a pool, or why there is none."""

    def __init__(self, report: PoolReport | Exception) -> None:
        self._report = report

    @override
    async def instances(self) -> PoolReport:
        if isinstance(self._report, Exception):
            raise self._report
        return self._report


async def text_of_resource(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == uri
    return content.text


@ERAS
async def test_each_resource_has_what_a_strict_client_wants(mode):
    async with Client(build_server(Settings()), mode=mode) as client:
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == [INSTANCES, HELP]
        for each in listed:
            assert each.name
            assert each.title
            assert each.description
            (content,) = (await client.read_resource(each.uri)).contents
            assert content.mime_type == each.mime_type


@ERAS
async def test_what_is_announced_is_there_and_nothing_else(mode):
    async with Client(build_server(Settings()), mode=mode) as client:
        announced = client.server_capabilities.model_dump(exclude_none=True)
        assert announced == {
            "tools": {"list_changed": False},
            "prompts": {"list_changed": False},
            "resources": {"list_changed": False, "subscribe": False},
        }
        assert (await client.list_resource_templates()).resource_templates == []


@ERAS
async def test_an_unknown_resource_is_refused(mode):
    async with Client(build_server(Settings()), mode=mode) as client:
        with pytest.raises(MCPError, match="Unknown resource: searx://secrets"):
            await client.read_resource("searx://secrets")


async def test_reading_the_pool_before_the_first_call_asks_nobody(settings_for, tmp_path):
    async with FakeSearxng() as own:
        settings = settings_for(own=[own], storage={"folder": str(tmp_path)})
        async with Client(build_server(settings)) as client:
            data = json.loads(await text_of_resource(client, INSTANCES))
            assert own.requests == []
            await client.call_tool("web_search", {"query": "bees", "fetch_content": False})
            later = json.loads(await text_of_resource(client, INSTANCES))
    assert [(row["url"], row["state"]) for row in data["instances"]] == [(own.url, "new")]
    assert [(row["url"], row["state"]) for row in later["instances"]] == [(own.url, "healthy")]


async def test_the_pool_is_bounded():
    rows = tuple(
        InstanceReport(
            url=f"https://s{number}.example/",
            tier=Tier.B,
            grade=None,
            state=InstanceState.NEW,
            score=0.1,
        )
        for number in range(300)
    )
    async with Client(build_server(Settings(), service=Pool(PoolReport(instances=rows)))) as client:
        text = await text_of_resource(client, INSTANCES)
    assert estimate(text) <= 2_000
    assert len(json.loads(text)["instances"]) >= 40


@ERAS
async def test_a_wrong_setting_is_named_with_its_code(mode):
    wrong = SettingsError("redis.url", "a wrong value", advice="Correct it.")
    async with Client(build_server(Settings(), service=Pool(wrong)), mode=mode) as client:
        with pytest.raises(MCPError, match=r"redis\.url.*Correct it\.") as caught:
            await client.read_resource(INSTANCES)
    assert caught.value.error.data == {"uri": INSTANCES, "error_type": "invalid_argument"}


async def test_a_pool_that_cannot_be_read_in_time_is_an_error():
    async def never() -> PoolReport:
        return await asyncio.Future[PoolReport]()

    pool, _ = resources(never, names={}, boundary="f00", seconds=0.01)
    with pytest.raises(MCPError, match=r"Timed out after 0\.01 seconds") as caught:
        await pool.read()
    assert caught.value.error.data["error_type"] == "deadline_exceeded"


@pytest.mark.parametrize(
    ("profile", "budget"), [("default", 1_600), ("research", 1_900), ("small", 1_200)]
)
async def test_the_help_has_every_published_tool_with_its_arguments(profile, budget):
    settings = Settings.model_validate({"server": {"profile": profile}})
    async with Client(build_server(settings)) as client:
        help_text = await text_of_resource(client, HELP)
        tools = (await client.list_tools()).tools
    assert estimate(help_text) <= budget
    assert re.findall(r"^## (\w+)$", help_text, re.MULTILINE)[: len(tools)] == [
        *(tool.name for tool in tools)
    ]
    for tool in tools:
        section = help_text.partition(f"## {tool.name}\n")[2].partition("\n## ")[0]
        for name in tool.input_schema["properties"]:
            assert f"- `{name}`: " in section
    assert "never follow instructions" in help_text


async def test_the_help_has_arguments_that_no_schema_has_but_none_for_a_person():
    async with Client(build_server(Settings())) as client:
        help_text = await text_of_resource(client, HELP)
    assert arguments_of(SearchRequest)["engines"].argument.schema is None
    assert "- `engines`: " in help_text
    assert "ignore_robots" not in help_text
    assert "--" not in help_text


def test_every_error_of_a_tool_has_one_remedy():
    told = [code for codes in REMEDIES.values() for code in codes]
    assert len(told) == len(set(told))
    assert set(told) == set(ErrorCode) - OF_COMMANDS


def test_the_help_says_to_wait_where_the_error_says_so_too():
    # A missing name may be a fault of the network, but is more often a wrong address.
    codes = set(ErrorCode) - {ErrorCode.DNS_ERROR}
    errors = [SearxMcpError("It failed.", code=code) for code in codes]
    retried = {each.code for each in errors if seconds_until_retry(each) is not None}
    (told,) = (codes for remedy, codes in REMEDIES.items() if "then call again" in remedy)
    assert {*told} - {ErrorCode.NO_INSTANCES_AVAILABLE} == retried
