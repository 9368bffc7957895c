"""Every key of the `[web_search]` table changes what a client does."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.response import PageContent
from searx_mcp.search.config import WebSearchConfig
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, silent

PARAGRAPHS = [f"Sentence {n} says something new about bees and flowers." for n in range(40)]
CODE = "<article><p>Some words about code.</p><pre><code>print('buzz')</code></pre></article>"
PAGES = {
    "/text": FakePage(article("Bees", PARAGRAPHS)),
    "/code": FakePage(CODE),
    "/silent": silent(),
    "/silent2": silent(),
    "/silent3": silent(),
}


class Dice(random.Random):
    """Remembers between which bounds it was thrown."""

    def __init__(self) -> None:
        super().__init__(1)
        self.bounds: list[tuple[float, float]] = []

    @override
    def uniform(self, a: float, b: float) -> float:
        self.bounds.append((a, b))
        return super().uniform(a, b)


class Stage:
    """A web site, two good instances and the settings under test."""

    def __init__(self, settings_for, catalog_of, web: FakeWeb, *fakes: FakeSearxng) -> None:
        self.settings_for = settings_for
        self.catalog_of = catalog_of
        self.web = web
        self.fakes = fakes
        self.dice = Dice()

    def client(self, key: str, value: object, *, background: bool = False) -> SearxClient:
        table = {"request_delay_range": [0, 0], "use_random_instances": False, key: value}
        settings = self.settings_for(self.web, *self.fakes, web_search=table)
        return SearxClient(
            settings, catalog=self.catalog_of(*self.fakes), rng=self.dice, background=background
        )


async def default_results_count(stage: Stage) -> object:
    async with stage.client("default_results_count", 4) as client:
        return (await client.search("bees", fetch_content=False)).results_count


async def max_results_count(stage: Stage) -> object:
    async with stage.client("max_results_count", 12) as client:
        with pytest.raises(InvalidArgumentError) as caught:
            await client.search("bees", results_count=13)
        return caught.value.field


async def max_concurrent_fetches(stage: Stage) -> object:
    links = [stage.web.url(path) for path in ("/silent", "/silent2", "/silent3")]
    async with FakeSearxng(links=links) as fake:
        stage.fakes = (fake,)
        async with stage.client("max_concurrent_fetches", 2) as client:
            search = asyncio.ensure_future(client.search("bees"))
            async with asyncio.timeout(60):
                await stage.web.wait_for_requests(2)
            for _ in range(50):
                await asyncio.sleep(0)
            search.cancel()
            return len(stage.web.requests)


async def instance_health_check_interval(stage: Stage) -> object:
    async with stage.client("instance_health_check_interval", 77, background=True) as client:
        schedule = (await client._asking()).schedule
        assert schedule is not None
        return schedule.interval


async def max_consecutive_failures(stage: Stage) -> object:
    stage.fakes[0].fail(500)
    async with stage.client("max_consecutive_failures", 1) as client:
        await client.search("bees", fetch_content=False)
        report = await client.instances()
        return next(row.state for row in report.instances if row.url == stage.fakes[0].url)


async def rate_limit_backoff_base(stage: Stage) -> object:
    stage.fakes[0].limit()
    async with stage.client("rate_limit_backoff_base", 50_000) as client:
        await client.search("bees", fetch_content=False)
        report = await client.instances()
        return max(row.retry_after for row in report.instances) >= 50_000


async def rotate_user_agents(stage: Stage) -> object:
    async with stage.client("rotate_user_agents", value=False) as client:
        await client.search("bees", fetch_content=False)
    return stage.fakes[0].requests[0].headers["User-Agent"].split("/")[0]


async def request_delay_range(stage: Stage) -> object:
    async with stage.client("request_delay_range", [3, 7]) as client:
        await client.search("bees", fetch_content=False)
    return (3, 7) in stage.dice.bounds


async def use_random_instances(stage: Stage) -> object:
    catalog = stage.catalog_of(*stage.fakes, grades=("A+", "A+"))
    first = set()
    for seed in range(12):
        table = {"request_delay_range": [0, 0], "use_random_instances": True}
        settings = stage.settings_for(*stage.fakes, web_search=table)
        async with SearxClient(settings, catalog=catalog, rng=random.Random(seed)) as client:
            first.add((await client.search("bees", fetch_content=False)).instance_used)
    return len(first)


CONTENTS: dict[str, tuple[object, str, Callable[[PageContent | None], object]]] = {
    "default_timeout": (1, "/silent", lambda page: page is None),
    "content_fetch_timeout": (1, "/silent", lambda page: page is None),
    "max_content_size": ("1KB", "/text", lambda page: page and page.truncated),
    "summarize_long_content": (False, "/text", lambda page: page and not page.summary),
    "max_summary_length": (70, "/text", lambda page: page and 0 < len(page.summary) <= 70),
    "extract_code_blocks": (False, "/code", lambda page: page and "buzz" not in page.markdown),
}
"""By key: a value, the page of a result, and what holds for the content of the result then."""


@pytest.mark.parametrize("key", CONTENTS)
async def test_the_key_changes_the_content_of_a_result(settings_for, catalog_of, key):
    value, path, holds = CONTENTS[key]
    async with (
        asyncio.timeout(60),
        FakeWeb(PAGES) as web,
        FakeSearxng(links=[web.url(path)]) as fake,
        Stage(settings_for, catalog_of, web, fake).client(key, value) as client,
    ):
        assert holds((await client.search("bees")).results[0].content)


EFFECTS: dict[Callable[[Stage], Awaitable[object]], object] = {
    default_results_count: 4,
    max_results_count: "results_count",
    max_concurrent_fetches: 2,
    instance_health_check_interval: 77,
    max_consecutive_failures: "failing",
    rate_limit_backoff_base: True,
    rotate_user_agents: "searx-mcp",
    request_delay_range: True,
    use_random_instances: 2,
}


@pytest.mark.parametrize(
    ("act", "expected"), list(EFFECTS.items()), ids=[act.__name__ for act in EFFECTS]
)
async def test_the_key_has_an_effect(settings_for, catalog_of, act, expected):
    async with FakeWeb(PAGES) as web, FakeSearxng() as first, FakeSearxng() as second:
        assert await act(Stage(settings_for, catalog_of, web, first, second)) == expected


def test_every_key_of_the_table_is_tried():
    assert {*CONTENTS, *(act.__name__ for act in EFFECTS)} == set(WebSearchConfig.model_fields)


async def test_the_defaults_of_the_table_are_those_of_the_specification():
    config = WebSearchConfig()
    assert config.model_dump() == {
        "default_results_count": 10,
        "max_results_count": 50,
        "max_concurrent_fetches": 5,
        "default_timeout": 30,
        "content_fetch_timeout": 45,
        "max_content_size": 2 * 1_024 * 1_024,
        "instance_health_check_interval": 300,
        "max_consecutive_failures": 3,
        "rate_limit_backoff_base": 60,
        "rotate_user_agents": True,
        "request_delay_range": (100, 500),
        "use_random_instances": True,
        "summarize_long_content": True,
        "max_summary_length": 500,
        "extract_code_blocks": True,
    }
