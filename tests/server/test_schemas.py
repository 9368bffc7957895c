"""What is published, in the words that every large client understands, and as it was last looked at.

`scripts/write_config.py` writes `tests/server/published` anew after a change that is meant.
"""

import json
import re
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from mcp.types import Tool
from pydantic import BaseModel, Field

from searx_mcp.server.calls import known_clients
from searx_mcp.server.tools import output_schema
from searx_mcp.settings.values import Settings

PROFILES = get_args(type(Settings().server).model_fields["profile"].annotation)
PUBLISHED = Path(__file__).parent / "published"

TYPES = {"object", "array", "string", "integer", "number", "boolean"}
KEYWORDS = {
    *("type", "description", "properties", "required", "items", "enum", "default"),
    *("minimum", "maximum", "minLength", "maxLength"),
}
"""What Claude, OpenAI's and Gemini's functions and VS Code all read. Gemini refuses `additionalProperties`, `$ref`
and unions (ihor-sokoliuk/mcp-searxng#89, google-gemini/gemini-cli#13694), and enums of anything but text."""
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
"""Of tools and arguments: OpenAI's pattern, and beginning as Gemini wants it."""


def flaws(schema: Any, where: str = "") -> list[str]:
    """Everything in a schema that one of the large clients refuses or misreads."""
    if not isinstance(schema, dict):
        return [f"{where}: no schema"]
    found = [f"{where}: {word}" for word in schema if word not in KEYWORDS]
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        found.append(f"{where}: type {kind}")
    members = schema.get("enum", ["any"])
    if not members or not all(isinstance(member, str) and member for member in members):
        found.append(f"{where}: enum {members}")
    if "enum" in schema and kind != "string":
        found.append(f"{where}: enum of {kind}")
    if None in schema.values() or ("default" in schema and schema["default"] is None):
        found.append(f"{where}: null")
    if "default" in schema and "enum" in schema and schema["default"] not in members:
        found.append(f"{where}: default {schema['default']}")
    if (kind == "array") is not ("items" in schema):
        found.append(f"{where}: items")
    if kind == "array":
        found += flaws(schema.get("items"), f"{where}[]")
    properties = schema.get("properties", {})
    found += [f"{where}: name {name}" for name in properties if not NAME.fullmatch(name)]
    found += [
        f"{where}: required {name}" for name in schema.get("required", ()) if name not in properties
    ]
    for name, rules in properties.items():
        found += flaws(rules, f"{where}.{name}")
    return found


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 0
    LARGE = 1


class Part(BaseModel):
    """A part, as its developers describe it."""

    name: str
    colour: Colour = Field(default=Colour.RED, description="As painted.")
    size: Size | None = None


class Whole(BaseModel):
    parts: tuple[Part, ...] = ()
    span: tuple[int, int]
    either: int | str = 0
    title: str | None = None
    sizes: dict[str, int] = Field(default_factory=dict)
    note: Literal["", "old"] = ""


def test_the_schema_of_a_model_has_types_and_choices_alone():
    part = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "size": {"type": "integer"},
        },
    }
    assert output_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "span": {"type": "array", "items": {"type": "integer"}},
            "either": {},
            "title": {"type": "string"},
            "sizes": {"type": "object"},
            "note": {"type": "string"},
        },
    }


FLAWED = [
    ({}, ": type None"),
    ({"type": ["string", "null"]}, ": type ['string', 'null']"),
    ({"type": "null"}, ": type null"),
    ({"anyOf": [{"type": "string"}]}, ": anyOf"),
    ({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}, ".a: $ref"),
    ({"type": "object", "additionalProperties": False}, ": additionalProperties"),
    ({"type": "string", "enum": ["a", ""]}, ": enum ['a', '']"),
    ({"type": "integer", "enum": [1]}, ": enum [1]"),
    ({"type": "string", "enum": ["a"], "default": "b"}, ": default b"),
    ({"type": "string", "default": None}, ": null"),
    ({"type": "string", "format": "uri"}, ": format"),
    ({"type": "array"}, ": items"),
    ({"type": "array", "items": {}}, "[]: type None"),
    ({"type": "object", "properties": {"a b": {"type": "string"}}}, ": name a b"),
    ({"type": "object", "properties": {}, "required": ["a"]}, ": required a"),
]


@pytest.mark.parametrize(("schema", "flaw"), FLAWED, ids=str)
def test_a_flaw_is_found(schema, flaw):
    assert flaw in flaws(schema)


@pytest.fixture
async def listed(connect, settings_for):
    """Give the tools of a profile as they arrive at a client, and the server's instructions."""

    async def _listed(profile: str, structured: str = "auto") -> tuple[list[Tool], str]:
        settings = settings_for(server={"profile": profile, "structured_output": structured})
        async with connect(settings) as client:
            return (await client.list_tools()).tools, client.instructions or ""

    return _listed


@pytest.mark.parametrize("profile", PROFILES)
async def test_every_schema_is_one_that_the_large_clients_read(listed, profile):
    tools, _ = await listed(profile, "on")
    for tool in tools:
        assert flaws(tool.input_schema, tool.name) == []
        assert flaws(tool.output_schema, tool.name) == []


@pytest.mark.parametrize("profile", PROFILES)
async def test_names_and_texts_have_the_lengths_that_known_clients_show(listed, profile):
    tools, instructions = await listed(profile)
    for client in known_clients():
        for tool in tools:
            assert NAME.fullmatch(tool.name)
            assert len(tool.name) <= (client.name_chars or 64)
            assert len((tool.description or "").encode()) <= (client.description_chars or 1_024)
        assert len(instructions.encode()) <= (client.instructions_chars or 2_048)


@pytest.mark.parametrize("profile", PROFILES)
async def test_what_is_published_is_what_was_last_looked_at(listed, profile):
    tools, _ = await listed(profile)
    rows = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    looked_at = (PUBLISHED / f"{profile}.json").read_text(encoding="utf-8")
    assert rows == json.loads(looked_at), "if it is meant, run scripts/write_config.py"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_ask_claude_code_to_show_results_whole(connect, settings_for, mode):
    settings = settings_for(
        server={
            "profile": "research",
            "fetch_token_limit": 30_000,
            "response_token_budget": 7_000,
        }
    )
    async with connect(settings, mode=mode) as client:
        tools = (await client.list_tools()).tools
    hints = {tool.name: (tool.meta or {}).get("anthropic/maxResultSizeChars") for tool in tools}
    assert hints == {
        **dict.fromkeys(("web_search", "read_page", "answer", "search_corpus"), 500_000),
        "web_fetch": 300_000,
        **dict.fromkeys(("corpus_status", "ingest"), 70_000),
    }
