"""Who answers a search, by the settings and by what the call asks for."""

import asyncio
import random
from dataclasses import dataclass, field, replace

import pytest

from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.context import OPEN_SOURCES, Found, SearchContext
from searx_mcp.search.providers.fallback import FallbackSearch
from searx_mcp.search.providers.keyed import KeyedSearch
from searx_mcp.search.providers.unavailable import SEEMS_OFFLINE
from searx_mcp.sources.open.config import OpenSourcesMode, ProvidersConfig
from searx_mcp.sources.open.table import keyed_of
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.raised import raised
from tests.doubles.simulated_sources import SimulatedSources, SourceBehaviour
from tests.doubles.virtual_time import in_virtual_time

HOST = "https://a.example/"
REFUSED = Attempt(instance=HOST, verdict=Verdict.RATE_LIMITED, format=Format.HTML, status_code=429)
SPENT = NoInstancesError(
    "All is used up",
    reason=UnavailableReason.EXHAUSTED,
    attempts=(REFUSED,),
    advice="Wait.",
    retry_after=600.0,
)
PANDAS = ("red panda 1", "red panda 2")
ROWS = (*PANDAS, "red panda 3")
PROVIDERS = ProvidersConfig.model_validate(
    {"google": {"key": "k", "search_engine_id": "i"}, "brave": {"key": "k"}}
)


@dataclass
class Instances:
    """A pool that finds what it is told, or cannot serve; it remembers when each search had to end."""

    outcome: Found | Exception
    seconds: float = 0.5
    deadlines: list[float] = field(default_factory=list)

    async def run(self, context) -> Found:
        self.deadlines.append(context.deadline)
        await asyncio.sleep(self.seconds)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def found(*titles: str, engine: str = "bing") -> Found:
    hits = tuple(
        Hit(url=f"https://web.example/{title}", title=title, position=n, engines=(engine,))
        for n, title in enumerate(titles, start=1)
    )
    failed = (UnresponsiveEngine(engine="google", reason="CAPTCHA"),)
    page = ResultPage(hits=hits, rows_seen=len(hits), unresponsive_engines=failed)
    return Found((page,), HOST, (), complete=False)


@pytest.fixture
def ordered(collections):
    """Make the order over a pool and simulated collections; with `keyed` over providers before them.

    Whoever behaves as told is a provider or a collection.
    """

    def make(
        clock,
        instances,
        mode=OpenSourcesMode.AUTO,
        *,
        own=False,
        keyed=False,
        instead=False,
        **behaviours,
    ):
        world, providers = collections(clock), SimulatedSources()
        world.answer(**behaviours)
        providers.behaviours = world.upstream.behaviours
        engines = keyed_of(PROVIDERS)
        pairs = [(row.name, row.address) for row in engines.values()]
        sources = SourcePool(pairs, config=PoolConfig(), rng=random.Random(1), keyed=engines.keys())
        rounds = ConcurrentQueries(
            upstream=providers,
            sources=sources,
            state=MemoryStore(),
            has_contact=False,
            clock=clock,
        )
        order = FallbackSearch(
            instances,
            None if mode is OpenSourcesMode.OFF else lambda: world.provider,
            mode=mode,
            has_own=lambda: own,
            phase=12.0,
            keyed=KeyedSearch(engines, rounds, phase=12.0, clock=clock) if keyed else None,
            instead=instead,
        )

        async def search(*, text="red panda", source=Source.AUTO, seconds=20.0, **fields):
            query = InstanceQuery(text=text, **({} if keyed else {"category": "images"}) | fields)
            deadline = asyncio.get_running_loop().time() + seconds
            return await order.run(SearchContext(query, 10, deadline, source))

        return (providers if keyed else world), search

    return make


def titles(answer: Found) -> list[str]:
    return [hit.title for page in answer.pages for hit in page.hits]


@pytest.mark.parametrize("mode", [OpenSourcesMode.AUTO, OpenSourcesMode.BLEND])
@in_virtual_time
async def test_instances_that_answer_are_all_that_is_asked(ordered, mode, clock):
    """Blending is for other categories."""
    world, search = ordered(clock, Instances(found("a")), mode, openverse=PANDAS)
    answer = await search()
    assert (titles(answer), answer.coverage) == (["a"], Coverage.WEB)
    assert world.asked() == []


@in_virtual_time
async def test_when_no_instance_can_serve_collections_do(ordered, clock):
    _, search = ordered(clock, Instances(SPENT), openverse=PANDAS)
    answer = await search()
    assert (titles(answer), answer.instance) == ([*PANDAS], OPEN_SOURCES)
    assert (answer.coverage, answer.attempts[0]) == (Coverage.COLLECTIONS, REFUSED)
    assert len(answer.attempts) > 1


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(DeadlineError("No time."), id="no time"),
        pytest.param(
            NoInstancesError("None", reason=UnavailableReason.NOTHING_CONFIGURED), id="no instance"
        ),
        pytest.param(NoInstancesError("None", reason=UnavailableReason.BUDGET_SPENT), id="budget"),
    ],
)
@in_virtual_time
async def test_whatever_keeps_instances_from_serving_collections_may_answer(ordered, error, clock):
    _, search = ordered(clock, Instances(error), openverse=PANDAS)
    assert titles(await search()) == [*PANDAS]


@in_virtual_time
async def test_instances_leave_no_time_to_collections_that_rest(ordered, clock):
    instances = Instances(SPENT)
    world, search = ordered(clock, instances)
    world.answer(**dict.fromkeys(world.engines, SourceBehaviour(verdict=Verdict.REFUSED)))
    await raised(NoInstancesError, search())
    began = clock.elapsed
    await raised(NoInstancesError, search())
    assert instances.deadlines == [pytest.approx(7.2), pytest.approx(began + 12)]


@in_virtual_time
async def test_instances_leave_time_for_the_collections(ordered, clock):
    instances = Instances(SPENT)
    _, search = ordered(clock, instances, openverse=PANDAS)
    await search(seconds=20.0)
    clock.pass_by(60.0)
    began = clock.elapsed
    await search(seconds=5.0)
    long, short = instances.deadlines
    assert long == pytest.approx(7.2)
    assert short - began == pytest.approx(3.0)


@in_virtual_time
async def test_where_no_collection_fits_instances_have_all_the_time_and_their_own_error(
    ordered, clock
):
    instances = Instances(SPENT)
    _, search = ordered(clock, instances, openverse=PANDAS)
    error = await raised(NoInstancesError, search(category="weather"))
    assert error is SPENT
    assert instances.deadlines == [20.0]


@pytest.mark.parametrize("seconds", [600.0, None])
@in_virtual_time
async def test_when_everything_refuses_the_error_has_all_attempts_and_the_earliest_time(
    ordered, seconds, clock
):
    limit = SourceBehaviour(verdict=Verdict.RATE_LIMITED, pause=300.0)
    error = NoInstancesError(
        "All is used up", reason=UnavailableReason.EXHAUSTED, attempts=(REFUSED,),
        advice="Wait.", retry_after=seconds,
    )  # fmt: skip
    _, search = ordered(
        clock, Instances(error), openverse=limit, commons=limit, internetarchive=limit
    )
    unserved = await raised(NoInstancesError, search())
    assert unserved.retry_after == pytest.approx(315, abs=15)
    assert unserved.attempts[0] == REFUSED
    assert {attempt.verdict for attempt in unserved.attempts} == {Verdict.RATE_LIMITED}
    assert (unserved.reason, unserved.advice) == (UnavailableReason.EXHAUSTED, "Wait.")
    assert unserved.message.startswith("All is used up; no open source could answer (")


@in_virtual_time
async def test_collections_without_anything_relevant_do_not_hide_that_no_instance_served(
    ordered, clock
):
    _, search = ordered(clock, Instances(SPENT), openverse=["a tin can"])
    error = await raised(NoInstancesError, search(), "have nothing relevant")
    assert error.retry_after == 600.0


@in_virtual_time
async def test_who_reached_a_collection_is_not_offline(ordered, clock):
    offline = NoInstancesError(f"No network{SEEMS_OFFLINE}", reason=UnavailableReason.OFFLINE)
    down = SourceBehaviour(verdict=Verdict.DNS)
    _, search = ordered(clock, Instances(offline), openverse=down)
    error = await raised(NoInstancesError, search())
    assert error.reason is UnavailableReason.EXHAUSTED
    assert "offline" not in error.message


@in_virtual_time
async def test_that_the_machine_seems_to_be_offline_is_said_once(ordered, clock):
    offline = NoInstancesError(f"No network{SEEMS_OFFLINE}", reason=UnavailableReason.OFFLINE)
    down = SourceBehaviour(verdict=Verdict.DNS)
    _, search = ordered(
        clock, Instances(offline), openverse=down, commons=down, internetarchive=down
    )
    error = await raised(NoInstancesError, search())
    assert error.reason is UnavailableReason.OFFLINE
    assert error.message.startswith("No network; no open source could be reached (")
    assert error.message.endswith("): this machine seems to be offline")


@pytest.mark.parametrize(
    ("mode", "own", "source", "falls_back"),
    [
        (OpenSourcesMode.AUTO, False, Source.AUTO, True),
        (OpenSourcesMode.AUTO, False, Source.INSTANCES, False),
        (OpenSourcesMode.AUTO, True, Source.AUTO, False),
        (OpenSourcesMode.FALLBACK, True, Source.AUTO, True),
        (OpenSourcesMode.BLEND, True, Source.AUTO, True),
        (OpenSourcesMode.OFF, False, Source.AUTO, False),
    ],
)
@in_virtual_time
async def test_the_queries_of_somebody_with_an_instance_stay_there_unless_told_otherwise(
    ordered, mode, own, source, falls_back, clock
):
    world, search = ordered(clock, Instances(SPENT), mode, own=own, openverse=PANDAS)
    if falls_back:
        assert titles(await search(source=source)) == [*PANDAS]
    else:
        assert await raised(NoInstancesError, search(source=source)) is SPENT
        assert world.asked() == []


@in_virtual_time
async def test_a_call_may_ask_for_collections_alone(ordered, clock):
    instances = Instances(found("a"))
    _, search = ordered(clock, instances, own=True, openverse=PANDAS)
    answer = await search(source=Source.OPEN)
    assert (titles(answer), instances.deadlines) == ([*PANDAS], [])


@in_virtual_time
async def test_collections_that_are_switched_off_cannot_be_asked_for(ordered, clock):
    _, search = ordered(clock, Instances(found("a")), OpenSourcesMode.OFF)
    error = await raised(InvalidArgumentError, search(source=Source.OPEN))
    assert error.field == "source"
    assert "open_sources.mode" in error.advice


@in_virtual_time
async def test_blending_asks_both_at_once_and_fuses_them(ordered, clock):
    instances = Instances(found("rust async runtime", "tokio"), seconds=1.0)
    _, search = ordered(
        clock,
        instances,
        OpenSourcesMode.BLEND,
        github=["tokio-rs rust async runtime", "rust async runtime"],
    )
    answer = await search(category="it", text="rust async runtime")
    assert clock.elapsed < 2.0
    assert (answer.coverage, answer.instance) == (Coverage.MIXED, HOST)
    assert {"rust async runtime", "tokio", "tokio-rs rust async runtime"} == {*titles(answer)}
    assert [hit.position for hit in answer.pages[0].hits] == [*range(1, 5)]
    engines = {each.engine for each in answer.pages[0].unresponsive_engines}
    assert "google" in engines


@in_virtual_time
async def test_blending_does_without_the_one_that_fails(ordered, clock):
    titled = ["rust async runtime"]
    _, search = ordered(clock, Instances(SPENT), OpenSourcesMode.BLEND, github=titled)
    answer = await search(category="it", text="rust async runtime")
    assert (answer.coverage, titles(answer)) == (Coverage.COLLECTIONS, titled)
    assert answer.attempts[0] == REFUSED
    _, search = ordered(clock, Instances(found("a")), OpenSourcesMode.BLEND)
    answer = await search(category="it", text="rust async runtime")
    assert (answer.coverage, titles(answer)) == (Coverage.WEB, ["a"])
    assert len(answer.attempts) > 0


@pytest.mark.parametrize("failure", [SPENT, DeadlineError("Out of time", attempts=(REFUSED,))])
@in_virtual_time
async def test_blending_fails_when_both_do(ordered, clock, failure):
    _, search = ordered(clock, Instances(failure), OpenSourcesMode.BLEND)
    error = await raised(type(failure), search(category="it", text="rust async runtime"))
    assert error.attempts[0] == REFUSED


# Keyed providers, which are asked after the instances and before the collections.


def answering(*titles: str, **fields) -> SourceBehaviour:
    return SourceBehaviour(titles=titles, **fields)


def asked(upstream: SimulatedSources) -> list[str]:
    return [name for name, _ in upstream.asked]


@pytest.mark.parametrize("error", [SPENT, DeadlineError("No time.")], ids=["spent", "no time"])
@in_virtual_time
async def test_they_answer_in_the_time_that_instances_leave(ordered, clock, error):
    instances = Instances(error)
    upstream, search = ordered(
        clock, instances, OpenSourcesMode.OFF, keyed=True, google=answering(*ROWS)
    )
    answer = await search()
    assert (answer.keyed, answer.coverage) == ("Google Programmable Search", Coverage.WEB)
    assert instances.deadlines == [pytest.approx(7.2)]
    assert answer.attempts[-1].source == "google"
    assert asked(upstream) == ["google"]


@in_virtual_time
async def test_a_silent_one_leaves_time_for_the_next(ordered, clock):
    silent = SourceBehaviour(seconds=1_000)
    upstream, search = ordered(
        clock,
        Instances(SPENT),
        OpenSourcesMode.OFF,
        keyed=True,
        google=silent,
        brave=answering(*ROWS),
    )
    answer = await search(source=Source.KEYED)
    assert (answer.keyed, asked(upstream)) == ("Brave Search API", ["google", "brave"])
    (missing,) = answer.pages[0].unresponsive_engines
    assert (missing.engine, missing.reason) == ("google", "timeout")


@in_virtual_time
async def test_the_last_that_can_answer_has_all_the_time_of_the_search(ordered, clock):
    refuses, slow = SourceBehaviour(verdict=Verdict.REFUSED), answering(*ROWS, seconds=11)
    upstream, search = ordered(
        clock, Instances(SPENT), OpenSourcesMode.OFF, keyed=True, google=refuses, brave=slow
    )
    answer = await search(source=Source.KEYED)
    assert (answer.keyed, asked(upstream)) == ("Brave Search API", ["google", "brave"])


@in_virtual_time
async def test_instances_leave_no_time_to_providers_that_rest(ordered, clock):
    refuses = SourceBehaviour(verdict=Verdict.REFUSED)
    instances = Instances(SPENT)
    _, search = ordered(
        clock, instances, OpenSourcesMode.OFF, keyed=True, google=refuses, brave=refuses
    )
    await raised(NoInstancesError, search())
    began = clock.elapsed
    await raised(NoInstancesError, search())
    assert instances.deadlines == [pytest.approx(7.2), pytest.approx(began + 12)]


@in_virtual_time
async def test_an_answer_without_results_is_one(ordered, clock):
    upstream, search = ordered(clock, Instances(SPENT), OpenSourcesMode.OFF, keyed=True)
    answer = await search()
    assert (answer.pages[0].hits, answer.complete) == ((), True)
    assert asked(upstream) == ["google"]


@in_virtual_time
async def test_collections_come_after_them(ordered, clock):
    refuses = SourceBehaviour(verdict=Verdict.REFUSED)
    upstream, search = ordered(
        clock,
        Instances(SPENT),
        OpenSourcesMode.FALLBACK,
        keyed=True,
        google=refuses,
        brave=refuses,
        wikipedia=answering(*ROWS),
    )
    answer = await search()
    assert answer.coverage is Coverage.COLLECTIONS
    assert asked(upstream) == ["google", "brave"]
    sources = list(dict.fromkeys(attempt.source for attempt in answer.attempts))
    assert sources[:3] == ["", "google", "brave"]
    assert "wikipedia" in sources


@in_virtual_time
async def test_beside_collections_they_stand_for_the_web(ordered, clock):
    _, search = ordered(
        clock,
        Instances(SPENT),
        OpenSourcesMode.BLEND,
        keyed=True,
        google=answering(*ROWS),
        stackexchange=answering("How to write a red panda in Python"),
    )
    answer = await search(text="python red panda", category="it")
    assert answer.coverage is Coverage.MIXED
    assert answer.remarks[0] == "Answered by Google Programmable Search, with your key."
    assert any(each.startswith("Open sources asked") for each in answer.remarks)


@in_virtual_time
async def test_when_nobody_can_serve_the_error_is_that_of_the_instances(ordered, clock):
    limits = SourceBehaviour(verdict=Verdict.RATE_LIMITED)
    _, search = ordered(
        clock, Instances(SPENT), OpenSourcesMode.OFF, keyed=True, google=limits, brave=limits
    )
    error = await raised(NoInstancesError, search())
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
    instances = Instances(found("a"))
    _, search = ordered(
        clock, instances, OpenSourcesMode.OFF, keyed=True, instead=instead, google=answering(*ROWS)
    )
    answer = await search(source=source)
    assert answer.keyed == expected
    assert len(instances.deadlines) == (not expected)


@in_virtual_time
async def test_what_does_not_fit_them_leaves_all_the_time_to_instances(ordered, clock):
    instances = Instances(found("a"))
    upstream, search = ordered(
        clock, instances, OpenSourcesMode.OFF, keyed=True, instead=True, google=answering(*ROWS)
    )
    await search(category="images")
    assert asked(upstream) == []
    assert instances.deadlines == [pytest.approx(20)]


@in_virtual_time
async def test_a_search_that_is_given_up_leaves_nothing_behind(ordered, clock):
    upstream, search = ordered(
        clock, Instances(SPENT), OpenSourcesMode.OFF, keyed=True, google=SourceBehaviour(seconds=5)
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await search(source=Source.KEYED)
    assert not upstream.under_way.total()
    upstream.behaviours = {"google": replace(answering(*ROWS))}
    assert (await search(source=Source.KEYED)).keyed == "Google Programmable Search"
