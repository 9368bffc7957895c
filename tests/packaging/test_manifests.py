"""What registries and coding agents read of the project agrees with the program."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from searx_mcp.cli.main import cli
from searx_mcp.server.app import build_server
from searx_mcp.settings.sources import load
from searx_mcp.settings.tools import PROFILES
from searx_mcp.settings.values import Settings
from searx_mcp.sources.searxng.request import PROJECT_URL

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "plugin"
SKILLS = {path.parent.name: path.read_text("utf-8") for path in PLUGIN.glob("skills/*/SKILL.md")}
TEXT = {"type": "string", "minLength": 1}


def record(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object that has no other properties."""
    return {
        "type": "object",
        "required": [*required],
        "additionalProperties": False,
        "properties": properties,
    }


def rows(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}


PACKAGE = record(
    *("registryType", "identifier", "version", "transport"),
    registryType={"enum": ["pypi", "mcpb", "oci"]},
    identifier=TEXT,
    version={**TEXT, "pattern": r"^\d+\.\d+\.\d+\S*$"},
    runtimeHint={"enum": ["uvx"]},
    transport={"enum": [{"type": "stdio"}]},
    packageArguments=rows(record("type", "value", type={"enum": ["positional"]}, value=TEXT)),
    environmentVariables=rows(
        record(
            *("name", "description"),
            **dict.fromkeys(("name", "description", "placeholder", "default"), TEXT),
            isRequired={"type": "boolean"},
            choices=rows(TEXT),
        )
    ),
)
SERVER = record(
    *("$schema", "name", "description", "version", "packages"),
    **{"$schema": {**TEXT, "pattern": r"/schemas/2025-12-11/server\.schema\.json$"}},
    name={**TEXT, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
    title={**TEXT, "maxLength": 100},
    description={**TEXT, "maxLength": 100},
    repository=record("url", "source", url=TEXT, source=TEXT),
    version={**TEXT, "pattern": r"^\d+\.\d+\.\d+\S*$", "maxLength": 255},
    packages=rows(PACKAGE),
)
"""What the registry's schema of 2025-12-11 asks of the fields that we use; the whole of it is not ours to keep."""


def read(path: str) -> Any:
    return json.loads((ROOT / path).read_text("utf-8"))


def test_the_entry_of_the_registry_has_the_form_that_it_asks_for():
    assert [
        error.message for error in Draft7Validator(SERVER).iter_errors(read("server.json"))
    ] == []


def test_the_registry_finds_the_name_of_the_entry_in_the_readme():
    assert f"<!-- mcp-name: {read('server.json')['name']} -->" in (ROOT / "README.md").read_text(
        "utf-8"
    )


def test_the_entry_of_the_registry_is_that_of_the_project():
    server = read("server.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert server["repository"]["url"] == PROJECT_URL
    assert server["name"] == f"io.github.{PROJECT_URL.removeprefix('https://github.com/')}"
    assert server["packages"][0]["identifier"] == project["name"]


def test_the_variables_of_the_registry_are_settings():
    variables = read("server.json")["packages"][0]["environmentVariables"]
    example = {each["name"]: each.get("placeholder") or each["default"] for each in variables}
    settings = load(environ=example).settings
    assert [str(url) for url in settings.instances.own] == [f"{example['SEARXNG_URL']}/"]
    (profile,) = (each for each in variables if "choices" in each)
    assert profile["choices"] == [*PROFILES]
    assert profile["default"] == Settings().server.profile


@pytest.mark.parametrize(
    "arguments",
    [
        read("plugin/.mcp.json")["mcpServers"]["searx"]["args"][1:],
        [each["value"] for each in read("server.json")["packages"][0]["packageArguments"]],
    ],
    ids=["plugin", "registry"],
)
def test_the_arguments_that_start_the_server_are_a_command(arguments: list[str]):
    assert CliRunner().invoke(cli, [*arguments, "--help"]).exit_code == 0


def test_both_marketplaces_offer_the_plugin_of_this_repository():
    (claude,) = read(".claude-plugin/marketplace.json")["plugins"]
    (codex,) = read(".agents/plugins/marketplace.json")["plugins"]
    assert ROOT / claude["source"] == ROOT / codex["source"]["path"] == PLUGIN
    manifests = [read(f"plugin/.{agent}-plugin/plugin.json") for agent in ("claude", "codex")]
    assert {each["name"] for each in (claude, codex, *manifests)} == {"searx"}
    assert manifests[0]["description"] == manifests[1]["description"] == claude["description"]
    assert (PLUGIN / manifests[1]["mcpServers"]).is_file()
    assert (PLUGIN / manifests[1]["skills"]).is_dir()


def test_the_plugin_has_a_skill():
    assert len(SKILLS) == 1


@pytest.mark.parametrize("skill", SKILLS)
def test_an_agent_finds_the_skill_by_its_head(skill: str):
    _, head, body = SKILLS[skill].split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == skill
    assert "Use when" in fields["description"]
    assert len(fields["description"]) <= 1_024  # the agents' limit
    assert len(body.splitlines()) <= 500


@pytest.mark.parametrize("skill", SKILLS)
async def test_the_skill_names_only_tools_and_arguments_that_there_are(skill: str):
    tools = {tool.name: tool for tool in await build_server(Settings()).list_tools()}
    arguments = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)(?:: false)?`", SKILLS[skill]))
    values = {"day", "week", "month", "year", "general", "news", "it", "science", "images"}
    answers = {"no_instances_available", "retry_after"}
    assert named - tools.keys() - arguments - values - answers == set()
    assert tools.keys() <= named
