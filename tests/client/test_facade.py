"""The facade, against real instances and pages on loopback."""

import asyncio
import os
import random
from pathlib import Path

import pytest

from searx_mcp import SearxClient, Settings
from searx_mcp.client.facade import persistent_client
from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    SettingsError,
    UnavailableReason,
)
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import MonthReport
from searx_mcp.models.request import Category, SearchRequest
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

ARTICLE = article(
    "Pacing requests",
    [
        "Pacing keeps a pool of volunteers usable for everyone who shares an address.",
        "A client that remembers refusals does not ask again before the window is over.",
        "Unrelated words about gardening and weather fill the rest of this page.",
    ],
)


@pytest.fixture
async def own():
    """An own instance that gives JSON."""
    async with FakeSearxng(formats=("html", "json")) as fake:
        yield fake


def client_for(settings, catalog=None, **arguments) -> SearxClient:
    return SearxClient(settings, catalog=catalog, rng=random.Random(1), **arguments)


@pytest.mark.parametrize(
    "difference",
    [
        {"category": "news"},
        {"language": "de"},
        {"safe_search": 2},
        {"time_range": "week"},
        {"allowed_domains": ["example.org"]},
    ],
    ids=str,
)
async def test_what_an_instance_would_answer_differently_is_not_served_from_the_cache(
    own, settings_for, difference
):
    async with client_for(settings_for(own, own=[own])) as client:
        await client.search("pacing", fetch_content=False)
        response = await client.search("pacing", fetch_content=False, **difference)
    assert not response.cached
    assert own.searches >= 2


async def test_whoever_joins_a_search_keeps_the_own_deadline(settings_for, catalog_of):
    async with FakeSearxng(hang=True) as hung:
        settings = settings_for(hung, search={"attempt_timeout": 8})
        async with client_for(settings, catalog_of(hung)) as client:
            async with asyncio.TaskGroup() as group:
                patient = group.create_task(client.search("pacing", timeout=60))
                async with asyncio.timeout(5):
                    await hung.wait_for_requests(1)
                    with pytest.raises((DeadlineError, NoInstancesError)):
                        await client.search("pacing", timeout=1)
                assert not patient.done()
                await client.aclose()
                with pytest.raises((asyncio.CancelledError, NoInstancesError)):
                    await patient


async def test_what_the_caller_wants_to_know_never_leaves_the_machine(settings_for, catalog_of):
    async with FakeWeb({"/a": FakePage(ARTICLE)}) as web, FakeSearxng(links=web.links) as good:
        async with client_for(settings_for(web, good), catalog_of(good)) as client:
            response = await client.search(
                "page", search_prompt="gardening weather", max_tokens=3_000
            )
    sent = str([request for fake in (good, web) for request in fake.requests])
    assert "gardening" not in sent
    content = response.results[0].content
    assert content is not None
    assert "gardening" in content.summary
    assert content.key_points


async def test_requests_may_be_built_beforehand_and_tell_their_steps(settings_for, catalog_of):
    messages: list[str] = []
    async with FakeWeb({"/a": FakePage(ARTICLE)}) as web, FakeSearxng(links=web.links) as good:
        async with client_for(settings_for(web, good), catalog_of(good)) as client:
            found = await client.search(SearchRequest(query="x", category=Category.NEWS))
            page = await client.fetch(FetchRequest(url=web.url("/a")), progress=messages.append)
    assert found.category == Category.NEWS
    assert page.title == "Pacing requests"
    assert messages


async def test_public_instances_are_left_alone_once_an_own_one_is_configured(
    settings_for, catalog_of
):
    async with FakeSearxng(status=500) as own, FakeSearxng() as public:
        settings = settings_for(public, own=[own])
        async with client_for(settings, catalog_of(public)) as client:
            with pytest.raises(NoInstancesError):
                await client.search("private thoughts")
        both = settings_for(public, own=[own], instances={"public": "on"})
        async with client_for(both, catalog_of(public)) as client:
            response = await client.search("private thoughts", fetch_content=False)
    assert response.instance_used == public.url
    assert public.searches == 1


async def test_the_report_shows_what_is_left_of_the_month_of_all_public_instances(
    settings_for, catalog_of
):
    clock = FakeClock()
    async with FakeSearxng(link_token=True) as good, FakeSearxng(link_token=True) as spare:
        settings = settings_for(good, spare, web_search={"use_random_instances": False})
        async with client_for(settings, catalog_of(good, spare), clock=clock) as client:
            fresh = await client.instances()
            for host in (good, spare, good, spare):
                await client.admin.test(host.url, "x")
                clock.advance(31)
            spent = await client.instances()
    assert fresh.month == MonthReport(
        capacity=6, spent=0, left_now=4, left_month=4, kept_back=2, retry_after=0
    )
    assert {row.retry_after for row in fresh.instances} == {0}
    wait = 30 * 86_400 - 4 * 31
    assert spent.month == MonthReport(
        capacity=6, spent=4, left_now=0, left_month=0, kept_back=2, retry_after=wait
    )
    assert {(row.budget_left, row.retry_after) for row in spent.instances} == {(1, wait)}


async def test_instances_that_count_no_month_have_none(settings_for, catalog_of):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with client_for(settings_for(own=[own])) as client:
            assert (await client.instances()).month is None
        async with client_for(settings_for(public), catalog_of(public)) as client:
            before = (await client.instances()).month
            await client.search("x", fetch_content=False)
            after = await client.instances()
    assert before is not None
    assert after.instances[0].link_token is False
    assert after.month is None


@pytest.mark.parametrize(("days", "warned"), [(1, False), (90, False), (91, True)])
async def test_an_old_catalog_is_pointed_out(settings_for, catalog_of, days, warned):
    async with FakeSearxng() as good:
        catalog = catalog_of(good)
    clock = FakeClock(catalog.listed_at.timestamp() + days * 86_400)
    async with client_for(settings_for(good), catalog, clock=clock) as client:
        report = await client.instances()
    assert report.catalog_age_days == days
    assert bool(report.notes) is warned


async def test_budgets_survive_closing_and_opening_again(settings_for, catalog_of):
    clock = FakeClock()
    async with FakeSearxng() as good:
        client = client_for(settings_for(good), catalog_of(good), clock=clock)
        async with client:
            await client.search("x", fetch_content=False)
        async with client:
            with pytest.raises(NoInstancesError) as caught:
                await client.search("y", fetch_content=False)
    assert caught.value.reason is UnavailableReason.BUDGET_SPENT


async def test_a_client_is_used_inside_its_block_and_entered_once():
    client = SearxClient()
    assert repr(client) == "<SearxClient closed>"
    with pytest.raises(RuntimeError, match="open the SearxClient first"):
        await client.search("x")
    async with client:
        with pytest.raises(RuntimeError, match="already open"):
            await client.__aenter__()
        assert repr(client).startswith("<SearxClient <InstancePool")
        elsewhere = asyncio.to_thread(lambda: asyncio.run(client.search("x")))
        with pytest.raises(RuntimeError, match="open in another event loop"):
            await elsewhere
    await client.aclose()


@pytest.mark.parametrize(
    ("method", "field"),
    [
        *(("search", "query"), ("search_all", "quer(y|ies)"), ("answer", "query")),
        *(("search_corpus", "query"), ("fetch", "url"), ("read_page", "url"), ("ingest", "url")),
    ],
)
async def test_what_is_no_text_is_a_wrong_argument(method, field):
    async with SearxClient() as client:
        for wrong in (None, 5):
            with pytest.raises(InvalidArgumentError, match=rf"\b{field}\b"):
                await getattr(client, method)(wrong)


@pytest.mark.parametrize(
    ("tables", "field"),
    [
        ({"fetch": {"blocklist_file": "/nowhere/hosts"}}, "fetch.blocklist_file"),
        ({"redis": {"url": "redis://127.0.0.1/0?nonsense=1"}}, "redis.url"),
        ({"instances": {"catalog": "/nowhere/instances.json"}}, "instances.catalog"),
        (
            {
                "fetch": {"browser": True, "browser_path": __file__},
                "network": {"proxy": "http://127.0.0.1:1"},
            },
            "fetch.browser",
        ),
    ],
)
async def test_a_setting_that_cannot_be_used_is_named_when_the_client_opens(tables, field):
    client = SearxClient(Settings.model_validate(tables))
    with pytest.raises(SettingsError) as caught:
        async with client:
            pass
    assert (caught.value.field, repr(client)) == (field, "<SearxClient closed>")


async def test_closing_ends_what_is_under_way_and_leaves_no_task(settings_for, catalog_of):
    before = asyncio.all_tasks()
    async with FakeSearxng(hang=True) as hung:
        settings = settings_for(hung, search={"attempt_timeout": 10})
        client = client_for(settings, catalog_of(hung), background=True)
        async with asyncio.timeout(5):
            async with client:
                search = asyncio.ensure_future(client.search("x"))
                await hung.wait_for_requests(1)
            with pytest.raises((asyncio.CancelledError, NoInstancesError)):
                await search
    assert asyncio.all_tasks() - before == set()


async def test_a_server_looks_after_its_own_instances_before_anybody_searches(settings_for):
    async with FakeSearxng() as own, asyncio.timeout(10):
        async with SearxClient(settings_for(own=[own]), background=True):
            await own.wait_for_requests(1)
        assert "/healthz" in {request.path for request in own.requests}
    assert own.searches == 0


async def test_engines_are_asked_for_by_name_and_have_answers_of_their_own(own, settings_for):
    async with client_for(settings_for(own=[own])) as client:
        for engines in (None, "Bing, duckduckgo", ["duckduckgo", "bing"]):
            await client.search("x", engines=engines, fetch_content=False)
    asked = [request.query for request in own.requests]
    assert [query.get("engines") for query in asked] == [None, "bing,duckduckgo"]
    assert [query.get("categories") for query in asked] == ["general", None]


async def test_any_category_of_searxng_or_of_the_settings_is_searched(own, settings_for):
    settings = settings_for(own=[own], instances={"categories": ["House Rules"]})
    async with client_for(settings) as client:
        for category in ("social_media", "house rules"):
            found = await client.search("x", category=category, fetch_content=False)
            assert found.category == own.requests[-1].query["categories"]
    assert [request.query["categories"] for request in own.requests] == [
        "social media",
        "House Rules",
    ]


@pytest.mark.parametrize(
    ("given", "used", "note"),
    [
        ("EN_us", "en-US", ""),
        ("ALL", "all", "Language all: results in any language."),
        ("Auto", "auto", "Language auto: the instance chose it"),
    ],
)
async def test_the_language_that_was_used_is_told(own, settings_for, given, used, note):
    async with client_for(settings_for(own=[own])) as client:
        found = await client.search("x", language=given, fetch_content=False)
    assert found.language == used == own.requests[0].query["language"]
    assert [text for text in found.notes if text.startswith("Language")] == [
        text for text in found.notes if note and text.startswith(note)
    ]
    assert bool(note) is any(text.startswith("Language") for text in found.notes)


async def test_only_own_instances_are_asked_for_suggestions(settings_for, catalog_of):
    async with FakeSearxng() as public, FakeSearxng() as silent, FakeSearxng() as own:
        own.answer_with(b'["be", ["bees", "beer"]]', path="/autocompleter")
        async with client_for(settings_for(public), catalog_of(public)) as client:
            assert await client.suggest("be") == ()
        async with client_for(settings_for(own=[silent, own])) as client:
            assert await client.suggest("be") == ("bees", "beer")
    assert not public.requests


async def test_processes_of_an_installation_are_one_client_to_a_public_instance(
    settings_for, catalog_of, tmp_path
):
    clock = FakeClock()
    async with FakeSearxng() as public:
        for process in range(4):
            state = open_store(tmp_path / FILE_NAME)
            async with SearxClient(
                settings_for(public),
                catalog=catalog_of(public),
                state=state,
                clock=clock,
                rng=random.Random(process),
            ) as client:
                await client.search("red panda", fetch_content=False)
            await state.aclose()
            clock.advance(60)
    agents = {each.headers["User-Agent"] for each in public.requests if each.path == "/search"}
    assert public.searches == 4
    assert len(agents) == 1
    assert agents.pop().startswith("Mozilla/5.0 ")


async def test_several_searches_have_an_answer_each(own, settings_for):
    async with client_for(settings_for(own=[own])) as client:
        batch = await client.search_all(["bees", "wasps"], fetch_content=False)
        with pytest.raises(InvalidArgumentError):
            await client.search(SearchRequest(query="bees", queries=("wasps",)))
    assert [each.query for each in batch.queries] == ["bees", "wasps"]
    asked = {request.query["q"] for request in own.requests if "q" in request.query}
    assert asked >= {"bees", "wasps"}


def _opened_in(folder: Path) -> list[str]:
    """The files in a folder that this process has open."""
    opened = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
    return [path for path in opened if path.startswith(str(folder))]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_a_client_that_cannot_open_leaves_no_file_open(tmp_path):
    settings = Settings.model_validate(
        {"storage": {"folder": str(tmp_path)}, "fetch": {"blocklist_file": "/no/such/file"}}
    )

    with pytest.raises(SettingsError, match=r"fetch\.blocklist_file"):
        async with persistent_client(settings, background=True):
            pass

    assert not _opened_in(tmp_path)
