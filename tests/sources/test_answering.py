"""Long answers of instances, whoever wrote them, read apart from the event loop."""

import json
import random

import pytest

from searx_mcp import SearxClient, Settings
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.attempt import Verdict
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from searx_mcp.workers.jobs import MAX_ON_LOOP

HEAD = '<meta name="generator" content="searxng/2026.8.22"><body class="results_endpoint">'
FORMATTING = "".join(f"<div><b id={number}>x</div>" for number in range(4_900))
ATTRIBUTES = " ".join(f"a{number}=1" for number in range(100_000))

pytestmark = pytest.mark.slow


def _client(instance: FakeSearxng, *, processes: bool) -> SearxClient:
    settings = Settings.model_validate(
        {
            "instances": {"own": [instance.url]},
            "open_sources": {"mode": "off"},
            # A process is started meanwhile, on a machine that may be busy.
            "search": {"attempt_timeout": 60, "phase_timeout": 120},
            "web_search": {"default_timeout": 120},
        }
    )
    return SearxClient(settings, rng=random.Random(1), processes=processes)


@pytest.mark.parametrize("processes", [True, False], ids=["processes", "threads"])
async def test_a_long_answer_is_read(processes):
    rows = [
        {"url": f"https://a.example/{n}", "title": f"Row {n}", "content": "x" * 500}
        for n in range(99)
    ]
    body = json.dumps({"results": rows}).encode()
    assert len(body) > MAX_ON_LOOP

    async with (
        FakeSearxng(raw_body=body, content_type="application/json") as instance,
        _client(instance, processes=processes) as client,
    ):
        response = await client.search("rows", results_count=5)

    assert [result.title for result in response.results] == [f"Row {n}" for n in range(5)]


@pytest.mark.parametrize("processes", [True, False], ids=["processes", "threads"])
@pytest.mark.parametrize(
    "page",
    [f"<div id=urls>{FORMATTING}", f"<div id=urls><div {ATTRIBUTES}>"],
    ids=["tags", "names"],
)
async def test_a_page_that_would_swell_its_reader_is_one_failed_attempt(page, processes):
    async with (
        FakeSearxng(raw_body=f"{HEAD}{page}".encode(), content_type="text/html") as instance,
        _client(instance, processes=processes) as client,
    ):
        with pytest.raises(NoInstancesError) as failed:
            await client.search("rows")

    assert {attempt.verdict for attempt in failed.value.attempts} == {Verdict.MALFORMED}


@pytest.mark.parametrize("processes", [True, False], ids=["processes", "threads"])
async def test_only_beside_the_event_loop_is_a_page_of_many_elements_plain_text(
    settings_for, processes
):
    page = f"<article><h1>Bees</h1><p>{'<b>fly</b> ' * 16_000}</p></article>"
    async with (
        FakeWeb({"/bees": FakePage(page)}) as web,
        SearxClient(settings_for(web), processes=processes) as client,
    ):
        found = await client.fetch(web.url("/bees"), max_chars=1_000)

    assert found.markdown_content.startswith("# Bees") is processes
    assert any("Plain text instead" in note for note in found.notes) is not processes
