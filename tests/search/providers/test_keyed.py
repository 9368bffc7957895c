"""Keyed providers among those who answer a search, in virtual time."""

import asyncio
import random
from dataclasses import replace

import pytest

from searx_mcp.errors import DeadlineError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.context import Found, SearchContext, TimePlan
from searx_mcp.search.providers.fallback import FallbackSearch
from searx_mcp.search.providers.keyed import KeyedSearch
from searx_mcp.sources.open.config import OpenSourcesMode, ProvidersConfig
from searx_mcp.sources.open.table import keyed_of
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.simulated_sources import SimulatedSources, SourceBehaviour
from tests.doubles.virtual_time import in_virtual_time

HOST = "https://a.example/"
REFUSED = Attempt(instance=HOST, verdict=Verdict.RATE_LIMITED, format=Format.HTML, status_code=429)
SPENT = NoInstancesError(
    "All is used up",
    reason=UnavailableReason.BUDGET_SPENT,
    attempts=(REFUSED,),
    advice="Wait.",
    retry_after=600.0,
)
ROWS = ("red panda 1", "red panda 2", "red panda 3")
PROVIDERS = ProvidersConfig.model_validate(
    {"google": {"key": "k", "search_engine_id": "i"}, "brave": {"key": "k"}}
)


class Instances:
    """A pool that finds what it is told, or cannot serve; it remembers when each search had to end."""

    def __init__(self, outcome: Found | Exception) -> None:
        self.outcome = outcome
        self.seconds: list[float] = []

    async def run(self, context: SearchContext) -> Found:
        self.seconds.append(context.deadline - asyncio.get_running_loop().time())
        await asyncio.sleep(0.5)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def web(*titles: str) -> Found:
    hits = tuple(
        Hit(url=f"https://web.example/{title}", title=title, position=n, engines=("bing",))
        for n, title in enumerate(titles, start=1)
    )
    return Found((ResultPage(hits=hits, rows_seen=len(hits)),), HOST, (), complete=False)


@pytest.fixture
def ordered(collections):
    """Make the order over a pool, simulated providers and simulated collections."""

    def make(clock, instances, mode=OpenSourcesMode.OFF, *, instead=False, **behaviours):
        engines = keyed_of(PROVIDERS)
        upstream = SimulatedSources(behaviours)
        rounds = ConcurrentQueries(
            upstream=upstream,
            sources=SourcePool(
                [(row.name, row.address) for row in engines.values()],
                config=PoolConfig(),
                rng=random.Random(1),
                keyed=engines.keys(),
            ),
            state=MemoryStore(),
            has_contact=False,
            clock=clock,
        )
        plan = TimePlan(12.0)
        world = collections(clock)
        world.upstream.behaviours = behaviours
        order = FallbackSearch(
            instances,
            None if mode is OpenSourcesMode.OFF else world.provider,
            mode=mode,
            has_own=lambda: False,
            plan=plan,
            keyed=KeyedSearch(engines, rounds, plan=plan, clock=clock),
            instead=instead,
        )

        async def search(*, text="red panda", source=Source.AUTO, seconds=20.0, **fields):
            query = InstanceQuery(text=text, **fields)
            deadline = asyncio.get_running_loop().time() + seconds
            return await order.run(SearchContext(query, 10, deadline, source))

        return upstream, search

    return make


def answers(*titles: str, **fields) -> SourceBehaviour:
    return SourceBehaviour(titles=titles, **fields)


def asked(upstream: SimulatedSources) -> list[str]:
    return [name for name, _ in upstream.asked]


@pytest.mark.parametrize("error", [SPENT, DeadlineError("No time.")], ids=["spent", "no time"])
@in_virtual_time
async def test_they_answer_in_the_time_that_instances_leave(ordered, clock, error):
    instances = Instances(error)
    upstream, search = ordered(clock, instances, google=answers(*ROWS))
    found = await search()
    assert (found.keyed, found.coverage) == ("Google Programmable Search", Coverage.WEB)
    assert instances.seconds == [pytest.approx(7.2)]
    assert found.attempts[-1].source == "google"
    assert asked(upstream) == ["google"]


@in_virtual_time
async def test_a_silent_one_leaves_time_for_the_next(ordered, clock):
    silent = SourceBehaviour(seconds=1_000)
    upstream, search = ordered(clock, Instances(SPENT), google=silent, brave=answers(*ROWS))
    found = await search(source=Source.KEYED)
    assert (found.keyed, asked(upstream)) == ("Brave Search API", ["google", "brave"])
    (missing,) = found.pages[0].unresponsive_engines
    assert (missing.engine, missing.reason) == ("google", "timeout")


@in_virtual_time
async def test_the_last_that_can_answer_has_all_the_time_of_the_search(ordered, clock):
    refuses, slow = SourceBehaviour(verdict=Verdict.REFUSED), answers(*ROWS, seconds=11)
    upstream, search = ordered(clock, Instances(SPENT), google=refuses, brave=slow)
    found = await search(source=Source.KEYED)
    assert (found.keyed, asked(upstream)) == ("Brave Search API", ["google", "brave"])


@in_virtual_time
async def test_instances_leave_no_time_to_providers_that_rest(ordered, clock):
    refuses = SourceBehaviour(verdict=Verdict.REFUSED)
    instances = Instances(SPENT)
    _, search = ordered(clock, instances, google=refuses, brave=refuses)
    for _ in range(2):
        with pytest.raises(NoInstancesError):
            await search()
    assert instances.seconds == [pytest.approx(7.2), pytest.approx(12)]


@in_virtual_time
async def test_an_answer_without_results_is_one(ordered, clock):
    upstream, search = ordered(clock, Instances(SPENT))
    found = await search()
    assert (found.pages[0].hits, found.complete) == ((), True)
    assert asked(upstream) == ["google"]


@in_virtual_time
async def test_collections_come_after_them(ordered, clock):
    refuses = SourceBehaviour(verdict=Verdict.REFUSED)
    upstream, search = ordered(
        clock,
        Instances(SPENT),
        OpenSourcesMode.FALLBACK,
        google=refuses,
        brave=refuses,
        wikipedia=answers(*ROWS),
    )
    found = await search()
    assert found.coverage is Coverage.COLLECTIONS
    assert asked(upstream) == ["google", "brave"]
    sources = list(dict.fromkeys(attempt.source for attempt in found.attempts))
    assert sources[:3] == ["", "google", "brave"]
    assert "wikipedia" in sources


@in_virtual_time
async def test_beside_collections_they_stand_for_the_web(ordered, clock):
    _, search = ordered(
        clock,
        Instances(SPENT),
        OpenSourcesMode.BLEND,
        google=answers(*ROWS),
        stackexchange=answers("How to write a red panda in Python"),
    )
    found = await search(text="python red panda", category="it")
    assert found.coverage is Coverage.MIXED
    assert found.remarks[0] == "Answered by Google Programmable Search, with your key."
    assert any(each.startswith("Open sources asked") for each in found.remarks)


@in_virtual_time
async def test_when_nobody_can_serve_the_error_is_that_of_the_instances(ordered, clock):
    limits = SourceBehaviour(verdict=Verdict.RATE_LIMITED)
    _, search = ordered(clock, Instances(SPENT), google=limits, brave=limits)
    with pytest.raises(NoInstancesError) as caught:
        await search()
    error = caught.value
    assert error.message == (
        "All is used up; no keyed provider could answer (google: rate limited, brave: rate limited)"
    )
    assert (error.advice, error.attempts[0]) == ("Wait.", REFUSED)
    assert error.retry_after == pytest.approx(66, abs=6)


@pytest.mark.parametrize(
    ("source", "instead", "expected"),
    [
        (Source.AUTO, True, "Google Programmable Search"),
        (Source.KEYED, False, "Google Programmable Search"),
        (Source.INSTANCES, True, ""),
        (Source.AUTO, False, ""),
    ],
)
@in_virtual_time
async def test_the_call_and_then_the_settings_say_who_is_asked(
    ordered, clock, source, instead, expected
):
    instances = Instances(web("a"))
    _, search = ordered(clock, instances, instead=instead, google=answers(*ROWS))
    found = await search(source=source)
    assert found.keyed == expected
    assert len(instances.seconds) == (not expected)


@in_virtual_time
async def test_what_does_not_fit_them_leaves_all_the_time_to_instances(ordered, clock):
    instances = Instances(web("a"))
    upstream, search = ordered(clock, instances, instead=True, google=answers(*ROWS))
    await search(category="images")
    assert asked(upstream) == []
    assert instances.seconds == [pytest.approx(20)]


@in_virtual_time
async def test_a_search_that_is_given_up_leaves_nothing_behind(ordered, clock):
    upstream, search = ordered(clock, Instances(SPENT), google=SourceBehaviour(seconds=5))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await search(source=Source.KEYED)
    assert not upstream.under_way.total()
    upstream.behaviours = {"google": replace(answers(*ROWS))}
    assert (await search(source=Source.KEYED)).keyed == "Google Programmable Search"
