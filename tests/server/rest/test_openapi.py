"""The OpenAPI document: valid, and true to what the server answers."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from searx_mcp.server.app import build_server
from searx_mcp.server.http import OPERATIONS, http_app
from searx_mcp.settings.server import HttpConfig, ServerConfig
from searx_mcp.settings.values import Settings
from tests.doubles.serving import serving


async def ask_for_document() -> Any:
    transport = httpx2.ASGITransport(http_app(build_server(Settings()), HttpConfig()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return (await client.get("/openapi.json")).json()


DOCUMENT = asyncio.run(ask_for_document())
URL = "https://a.example/bees"
BODIES: dict[str, dict[str, Any]] = {
    "tools_web_search": {"query": "bees"},
    "tools_web_fetch": {"url": URL, "max_chars": 5},
    "search": {"query": "bees"},
    "fetch": {"url": URL, "max_chars": 5},
    "read": {"url": URL, "query": "do they fly?"},
    "answer": {"query": "do they fly?"},
    "corpus_search": {"query": "do they fly?"},
    "corpus_ingest": {"url": URL},
    **{name: {"query": "bees"} for name in ("tavily_search", "external_search")},
    **{name: {"urls": [URL]} for name in ("tavily_extract", "external_load")},
    **{
        name: {"query": "bees"}
        for name in ("firecrawl_v1_search", "firecrawl_v2_search", "v2_search")
    },
    **{name: {"url": URL} for name in ("firecrawl_v1_scrape", "firecrawl_v2_scrape", "v2_scrape")},
    "jina_read": {"url": URL, "accept": "application/json"},
    "searxng_search": {"q": "bees", "format": "json"},
    "searxng_search_form": {"q": "bees", "format": "json"},
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
DESCRIBED = [each.ok() for each in SCHEMA.get_all_operations() if isinstance(each, Ok)]
IGNORES = {"searxng_config", "searxng_autocompleter", "searxng_stats_errors"}
"""Operations that ignore what they do not know, as in SearXNG."""
LEFT_OUT = ("raw_search", "jina_read", "firecrawl_v1_scrape", "v2_scrape", "v2_search")
"""What needs a key, what has headers beside which a client may send any other, and second names of one operation."""
ANSWERED = [each for each in OPERATIONS if each.name != "raw_search"]  # that needs a key

CASES = st.tuples(st.sampled_from(DESCRIBED), st.sampled_from(GenerationMode)).flatmap(
    lambda drawn: drawn[0].as_strategy(drawn[1])
)
"""Requests that the document allows, and some that it does not."""


def validator_of(operation, status: int) -> jsonschema.Draft202012Validator:
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    content = described["responses"][str(status)]["content"]
    schema = next(each["schema"] for kind, each in content.items() if kind.endswith("json"))
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


async def call(rest: httpx2.AsyncClient, operation, arguments, **query: str) -> httpx2.Response:
    if operation.read_arguments is not None:
        headers = {name: text for name, text in arguments.items() if name != "url"}
        path = operation.path.replace("{url}", arguments.get("url", ""))
        return await rest.get(path, headers=headers)
    if operation.method == "GET":
        return await rest.get(operation.path, params={**arguments, **query})
    if operation.takes_form:
        return await rest.post(operation.path, data=arguments)
    return await rest.post(operation.path, json=arguments, params=query or None)


def test_the_document_is_valid():
    SCHEMA.validate()
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("operation", ANSWERED, ids=lambda each: each.name)
@pytest.mark.parametrize("whole", ["false", "true"])
async def test_an_answer_is_as_described(rest, operation, whole):
    query = {"whole": whole} if operation.has_whole else {}
    answer = await call(rest, operation, BODIES.get(operation.name, {}), **query)
    assert answer.status_code == 200
    validator_of(operation, 200).validate(answer.json())
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    assert described["operationId"] == operation.name
    assert ({"basic": []} in described["security"]) is operation.name.startswith("searxng_")


@pytest.mark.parametrize(
    "operation",
    [each for each in OPERATIONS if each.name not in IGNORES],
    ids=lambda each: each.name,
)
async def test_an_error_is_as_described(rest, operation):
    answer = await call(rest, operation, {"nonsense": "1"})
    assert answer.status_code >= 400
    validator_of(operation, answer.status_code).validate(answer.json())


async def test_the_document_has_only_what_the_server_serves(open_rest):
    narrow = Settings(server=ServerConfig(tools=("web_fetch",)))
    async with open_rest(narrow) as few:
        paths = (await few.get("/openapi.json")).json()["paths"].keys()
    assert "/v1/fetch" in paths
    assert not {"/v1/search", "/search", "/v1/answer"} & paths


def test_what_docstrings_say_of_fields_stands_beside_them():
    schemas = DOCUMENT["components"]["schemas"]
    assert not [name for name, each in schemas.items() if "Attributes:" in str(each["description"])]
    assert schemas["ErrorDetail"]["description"] == (
        "What went wrong. Fields that do not apply are left out."
    )
    fields = {name: each.get("properties", {}) for name, each in schemas.items()}
    assert fields["ErrorDetail"]["retry_after"]["description"].startswith("Whole seconds after")
    assert fields["Chunk"]["sectionPath"]["description"].startswith("The headings above it")
    assert fields["Torrent"]["seeds"]["description"] == fields["Torrent"]["leeches"]["description"]
    assert (
        fields["FetchRequest"]["offset"]["description"] == "Characters to skip."
    )  # of its argument
    parameters = DOCUMENT["paths"]["/search"]["get"]["parameters"]
    assert [each["name"] for each in parameters if not each["description"]] == []


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("fetch", {"url": ""}),
        ("fetch", {}),
        ("fetch", {"cursor": ""}),
        ("tools_web_fetch", {"url": ""}),
        ("search", {"query": ""}),
        ("search", {"query": "bees", "results_count": 51}),
        ("answer", {"query": "why?", "constraints": 5.5}),
        ("answer", {"query": "why?", "url": [""]}),
        ("read", {"url": URL, "query": "", "queries": []}),
        ("fetch", {"cursor": "2222222222222222", "follow_redirects": 2}),
        ("tools_web_search", {"query": "bees", "search_prompt": 0}),
        ("searxng_search", {"q": "bees", "format": "json", "safesearch": "true"}),
        ("searxng_search", {"q": "bees", "format": "json", "safesearch": "3"}),
        ("searxng_search_form", {"q": "bees", "format": "json", "time_range": "decade"}),
    ],
)
async def test_what_the_document_forbids_is_refused(rest, name, body):
    operation = next(each for each in OPERATIONS if each.name == name)
    assert (await call(rest, operation, body)).status_code in {400, 422}
    assert not allowed_by_document(operation, body)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("fetch", {"url": URL, "cursor": None, "limit": None}),
        ("fetch", {"url": "", "cursor": "2222222222222222", "force_refresh": 0, "user_agent": ""}),
        ("tools_web_search", {"query": "bees", "search_prompt": None, "blocked_domains": ""}),
        ("tools_web_fetch", {"cursor": "2222222222222222", "url": None, "offset": None}),
        ("search", {"query": "bees", "search_prompt": None, "allowed_domains": "a.example"}),
        ("search", {"query": "bees", "safe_search": "off", "language": "EN_us", "engines": [""]}),
        ("search", {"query": "bees", "safe_search": True, "fetch_content": "no"}),
        ("answer", {"query": "why?", "constraints": "short", "url": URL}),
        ("read", {"url": URL, "query": "do they fly?", "queries": None}),
        ("searxng_search", {"q": "bees", "format": "json", "safesearch": "2"}),
        ("searxng_search_form", {"q": "bees", "format": "json", "theme": "simple"}),
    ],
)
async def test_what_the_document_allows_is_served(rest, name, body):
    operation = next(each for each in OPERATIONS if each.name == name)
    assert (await call(rest, operation, body)).status_code == 200
    assert allowed_by_document(operation, body)


def test_no_default_is_a_value_that_is_refused():
    schemas = DOCUMENT["components"]["schemas"]
    for operation in OPERATIONS:
        if operation.request is None:
            continue
        for rules in schemas[operation.request.__name__]["properties"].values():
            if "default" in rules:
                whole = {**rules, "components": DOCUMENT["components"]}
                jsonschema.Draft202012Validator(whole).validate(rules["default"])


def allowed_by_document(operation, body: dict[str, Any]) -> bool:
    """Whether the schema of an operation's arguments allows them; numbers of a form and a query are texts there."""
    written = body
    if operation.method == "GET" or operation.takes_form:
        written = {name: int(each) if each.isdigit() else each for name, each in body.items()}
    schema = DOCUMENT["components"]["schemas"][operation.request.__name__]
    whole = {**schema, "components": DOCUMENT["components"]}
    return bool(jsonschema.Draft202012Validator(whole).is_valid(written))


def test_what_only_a_person_may_give_is_not_described():
    fields = DOCUMENT["components"]["schemas"]["FetchRequest"]["properties"]
    assert "url" in fields
    assert not {"by_person", "further_urls"} & fields.keys()


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[*HealthCheck], deadline=None)
@given(case=CASES)
async def test_what_a_client_makes_of_the_document_is_answered_as_it_says(shared_app, case):
    sent = requests.Request(**case.as_transport_kwargs("http://localhost")).prepare()
    transport = httpx2.ASGITransport(shared_app)
    what: dict[str, Any] = {"headers": dict(sent.headers), "content": sent.body}
    async with httpx2.AsyncClient(transport=transport) as rest:
        answer = await rest.request(str(sent.method), str(sent.url), **what)
    case.validate_response(answer, checks=CHECKS)


@pytest.mark.slow
async def test_a_client_of_the_document_meets_nothing_else_over_a_real_connection(
    service, tmp_path: Path
):
    """The program schemathesis with the limits of each argument, and what lies beyond them.

    What the document allows is served and what it forbids is refused.
    """
    async with serving(build_server(Settings(), service=service)) as url:
        process = await asyncio.create_subprocess_exec(
            *(
                *(sys.executable, "-m", "schemathesis.cli", "run"),
                url.removesuffix("mcp") + "openapi.json",
            ),
            *(each for name in LEFT_OUT for each in ("--exclude-operation-id", name)),
            *("--phases", "coverage", "--seed", "1", "--no-color"),
            *("--checks", "all", "--warnings", "off"),
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            told, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
    said = told.decode("utf-8", "replace")
    assert process.returncode == 0, said[-5_000:]
    assert "API Operations:" in said
