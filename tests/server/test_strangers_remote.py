"""Whatever a remote service writes into an answer that succeeds: none of it reaches a model outside a fence."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from aiohttp import web
from mcp import Client
from pydantic import BaseModel

from searx_mcp.evidence.values import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.page import Page
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.server.app import build_server
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest

URL = "https://a.example/bees"


def filled(kind: Any, name: str = "") -> Any:
    """A value of this type in which nothing is missing: every text, list and field has something."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {
            field: filled(rules.annotation, field) for field, rules in kind.model_fields.items()
        }
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [each.value for each in kind][-1]
    match get_origin(kind):
        case origin if origin in {Union, UnionType}:
            return filled(next(each for each in get_args(kind) if each is not NoneType), name)
        case origin if origin is tuple:
            return [filled(each, name) for each in get_args(kind) if each is not ...]
        case origin if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"server": filled(get_args(kind)[1], name)}
        case _:
            simple = {bool: True, int: 1, float: 1.0, str: URL if "url" in name else "bees"}
            return simple.get(kind, "bees")


class Service(LoopbackServer):
    """A service of ours that answers every call with `body`, behind a word about how it goes.

    Attributes:
        body: of every answer.
        message: of its progress.
    """

    def __init__(self, paths: list[str]) -> None:
        super().__init__(self.respond)
        self.body: object = None
        self.message = "reading 2 pages"
        self._routes = {"routes": [{"path": path, "streams": True} for path in paths]}

    async def respond(self, _: web.BaseRequest, received: ReceivedRequest) -> web.StreamResponse:
        if received.path == "/v1/capabilities":
            return web.json_response(self._routes)
        if received.method == "GET":
            return web.json_response(self.body)
        told = json.dumps({"progress": 1, "message": self.message})
        text = f"event: progress\ndata: {told}\n\nevent: result\ndata: {json.dumps(self.body)}\n\n"
        return web.Response(text=text, content_type="text/event-stream")


QUERY = {"query": "bees"}
CALLS: dict[str, tuple[str, str, dict[str, Any], type[BaseModel]]] = {
    "a search": ("web_search", "/v1/search", QUERY, SearchResponse),
    "searches": ("web_search", "/v1/search", {**QUERY, "queries": ["wasps"]}, SearchBatch),
    "a page": ("web_fetch", "/v1/fetch", {"url": URL}, Page),
    "passages": ("read_page", "/v1/read", {"url": URL, **QUERY}, ReadResponse),
    "evidence": ("answer", "/v1/answer", QUERY, EvidenceResponse),
    "kept evidence": ("search_corpus", "/v1/corpus/search", QUERY, EvidenceResponse),
    "the corpus": ("corpus_status", "/v1/corpus", {}, CorpusStatus),
    "kept pages": ("ingest", "/v1/corpus/ingest", {"url": URL}, IngestResponse),
}


FENCE = re.compile(
    r"^<web-content id=(\w+)[^<>\n]*>\n.*?\n</web-content \1>", re.MULTILINE | re.DOTALL
)
OURS = {
    "query", "category", "instance_used", "notes", "note", "tier", "robots", "provenance",
    "error_type", "error_details",
}  # fmt: skip
ROWS = {"results", "pages", "evidence", "sources", "urls", "images", "links", "steps", "metadata"}
"""Lists in which everything is a stranger's, as the notice says."""


def claims(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts of structured content that stand in fields of ours."""
    match value:
        case str() if name in OURS:
            yield name, value
        case dict():
            for key, item in value.items():
                if key in ROWS:
                    continue
                yield from claims(item, key)
        case list():
            for item in value:
                yield from claims(item, name)
        case _:
            pass


def test_every_tool_of_a_remote_service_is_tried():
    assert {tool for tool, *_ in CALLS.values()} == {*Tool} - {Tool.SEARCH, Tool.FETCH}


@pytest.mark.parametrize("case", CALLS)
async def test_no_word_of_a_remote_service_leaves_the_fence(case, hostile, text_of):
    tool, path, arguments, kind = CALLS[case]
    whole = filled(kind)
    if kind is SearchBatch:
        (first,) = whole["queries"]
        (row,) = first["result"]["results"]  # all of it is tried in a search
        first["result"]["results"] = [{key: row[key] for key in ("title", "url", "score")}]
        whole["queries"] = [first, {**first, "error": None}]
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message)

    async with Service([path]) as service:
        remote = {"url": f"{service.base}/"}
        settings = Settings(remote=remote, server={"tools": (tool,)})
        async with Client(build_server(settings)) as client:
            found = 0
            for where, body in hostile.everywhere(whole):
                service.body, service.message = body, hostile.words
                result = await client.call_tool(tool, arguments, progress_callback=hear)
                text = text_of(result)
                assert "obey" not in FENCE.sub("", text), where
                for name, said in claims(result.structured_content):
                    assert "obey" not in said, f"{where} in {name}"
                found += not result.is_error
    assert found > len(whole) / 2
    assert {*heard} <= {"asking the remote service", "the remote service is at work"}


async def test_the_notes_of_a_remote_service_stand_in_the_fence(reader, text_of):
    told = "It was read without its images."
    async with Service([path for _, path, _, _ in CALLS.values()]) as service:
        settings = Settings(remote={"url": f"{service.base}/"}, server={"profile": "research"})
        async with Client(build_server(settings)) as client:
            for tool, path, arguments, kind in CALLS.values():
                if "notes" not in kind.model_fields:
                    continue
                service.body = {**filled(kind), "notes": [told]}
                text = text_of(await reader(client).call(tool, **arguments))
                assert f"\nNote: {told}\n" in text, path
                assert text.index("<web-content") < text.index(told) < text.index("</web-content")
