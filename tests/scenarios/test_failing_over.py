"""Searches at instances that fail, through the public names alone."""

from collections.abc import Callable

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import DeadlineError, NoInstancesError
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng

pytestmark = pytest.mark.smoke

FAULTS: dict[str, tuple[Callable[[FakeSearxng], None], str, int | None, str]] = {
    "a limit": (lambda fake: fake.limit(), "rate_limited", 429, "own_failed"),
    "a server error": (lambda fake: fake.fail(500), "server_error", 500, "own_failed"),
    "a gateway's error": (lambda fake: fake.fail(502), "server_error", 502, "own_failed"),
    "maintenance": (
        lambda fake: fake.fail(503, {"Retry-After": "120"}),
        "server_error",
        503,
        "own_failed",
    ),
    "a forbidden page": (lambda fake: fake.fail(403), "refused", 403, "own_failed"),
    "a page that is gone": (lambda fake: fake.fail(404), "refused", 404, "own_failed"),
    "a challenge": (lambda fake: fake.challenge(), "challenge", 200, "own_failed"),
    "the way home": (lambda fake: fake.block(), "blocked", 302, "own_failed"),
    "a redirect elsewhere": (
        lambda fake: fake.redirect("http://127.0.0.1:9/"),
        "foreign_redirect",
        302,
        "own_failed",
    ),
    "engines that all fail": (
        lambda fake: fake.fail_engines(),
        "engines_failed",
        200,
        "own_failed",
    ),
    "a connection that breaks": (lambda fake: fake.drop(), "connection", None, "own_down"),
    "an empty body": (lambda fake: fake.answer_with(b""), "malformed", 200, "own_failed"),
    "a page of somebody else": (
        lambda fake: fake.answer_with(b"<html><body><h1>Parked</h1></body></html>"),
        "not_searxng",
        200,
        "own_failed",
    ),
    "JSON that is cut": (
        lambda fake: fake.answer_with(b'{"results": [', content_type="application/json"),
        "malformed",
        200,
        "own_failed",
    ),
    "bytes that are no text": (
        lambda fake: fake.answer_with(bytes(range(256)) * 40),
        "malformed",
        200,
        "own_failed",
    ),
}


@pytest.mark.parametrize(
    ("fail", "verdict", "status", "reason"), FAULTS.values(), ids=FAULTS.keys()
)
async def test_the_next_own_instance_answers_after(fail, verdict, status, reason, settings_for):
    async with FakeSearxng() as bad, FakeSearxng() as good:
        fail(bad)
        async with SearxClient(settings_for(own=[bad, good])) as client:
            answers = [await client.search(f"tea {n}", fetch_content=False) for n in range(3)]
    assert {answer.instance_used for answer in answers} == {good.url}
    tried = [each for answer in answers for each in answer.attempts if each.instance == bad.url]
    assert (verdict, status) in {(str(each.verdict), each.status_code) for each in tried}
    assert len(tried) < 2 * len(answers)


@pytest.mark.parametrize(
    ("fail", "verdict", "status", "reason"), FAULTS.values(), ids=FAULTS.keys()
)
async def test_alone_it_is_told_what_an_own_instance_said(
    fail, verdict, status, reason, settings_for
):
    async with FakeSearxng() as bad:
        fail(bad)
        async with SearxClient(settings_for(own=[bad])) as client:
            with pytest.raises(NoInstancesError) as caught:
                await client.search("tea", fetch_content=False)
            report = await client.instances()
    error = caught.value
    assert (error.code, error.reason) == ("no_instances_available", reason)
    assert (str(error.attempts[-1].verdict), error.attempts[-1].status_code) == (verdict, status)
    assert {each.instance for each in error.attempts} == {bad.url}
    (row,) = report.instances
    assert row.url == bad.url


@pytest.mark.parametrize("fault", ["a limit", "engines that all fail", "a connection that breaks"])
async def test_it_is_asked_again_once_it_is_well(fault, settings_for):
    fail, *_ = FAULTS[fault]
    async with FakeSearxng() as fake:
        fail(fake)
        async with SearxClient(settings_for(own=[fake])) as client:
            with pytest.raises(NoInstancesError):
                await client.search("tea", fetch_content=False)
            fake.recover()
            await client.admin.check()
            response = await client.search("tea", fetch_content=False)
    assert response.instance_used == fake.url
    assert response.results


async def test_without_any_instance_the_error_says_what_to_do(settings_for):
    async with SearxClient(settings_for(instances={"public": "off"})) as client:
        with pytest.raises(NoInstancesError) as caught:
            await client.search("tea", fetch_content=False)
    assert caught.value.reason == "nothing_configured"
    assert "instances own up" in caught.value.advice


async def test_public_instances_of_one_grade_share_the_searches(settings_for, catalog_of):
    clock = FakeClock()
    async with FakeSearxng() as one, FakeSearxng() as two, FakeSearxng() as three:
        fakes = (one, two, three)
        catalog = catalog_of(*fakes, grades=("A", "A", "A"))
        async with SearxClient(settings_for(*fakes), catalog=catalog, clock=clock) as client:
            used = []
            for n in range(30):
                response = await client.search(f"tea {n}", fetch_content=False)
                used.append(response.instance_used)
                clock.advance(3_600)
    assert len(set(used)) > 1


async def test_a_better_grade_goes_first(settings_for, catalog_of):
    clock = FakeClock()
    async with FakeSearxng() as best, FakeSearxng() as other:
        catalog = catalog_of(other, best, grades=("B", "A+"))
        async with SearxClient(settings_for(best, other), catalog=catalog, clock=clock) as client:
            for n in range(3):
                answer = await client.search(f"tea {n}", fetch_content=False)
                assert answer.instance_used == best.url
                clock.advance(60)
    assert other.searches == 0


async def test_a_limited_public_instance_is_left_alone(settings_for, catalog_of):
    clock = FakeClock()
    async with FakeSearxng() as limited, FakeSearxng() as good:
        limited.limit()
        fakes = (limited, good)
        async with SearxClient(
            settings_for(*fakes), catalog=catalog_of(*fakes), clock=clock
        ) as client:
            for n in range(4):
                answer = await client.search(f"tea {n}", fetch_content=False)
                assert answer.instance_used == good.url
                clock.advance(600)
    assert limited.searches < good.searches


async def test_the_budget_of_public_instances_ends(settings_for, catalog_of):
    async with FakeSearxng() as fake:
        async with SearxClient(
            settings_for(fake), catalog=catalog_of(fake), clock=FakeClock()
        ) as client:

            async def search_often() -> None:
                for n in range(40):
                    await client.search(f"tea {n}", fetch_content=False)

            with pytest.raises(NoInstancesError) as caught:
                await search_often()
    assert caught.value.reason == "budget_spent"
    assert caught.value.retry_after
    assert fake.searches < 20


async def test_an_own_instance_goes_before_public_ones(settings_for, catalog_of):
    async with FakeSearxng() as own, FakeSearxng() as public:
        settings = settings_for(public, own=[own])
        async with SearxClient(settings, catalog=catalog_of(public)) as client:
            for n in range(4):
                await client.search(f"tea {n}", fetch_content=False)
    assert public.searches == 0
    assert own.searches >= 4


async def test_a_search_ends_when_its_time_is_over(settings_for):
    async with FakeSearxng(hang=True) as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            with pytest.raises((DeadlineError, NoInstancesError)) as caught:
                await client.search("tea", fetch_content=False, timeout=1)
    assert caught.value.code in {"deadline_exceeded", "no_instances_available"}


async def test_a_slow_instance_is_overtaken(settings_for):
    async with FakeSearxng(latency=8) as slow, FakeSearxng() as quick:
        async with SearxClient(settings_for(own=[slow, quick])) as client:
            used = [
                (await client.search(f"tea {n}", fetch_content=False)).instance_used
                for n in range(3)
            ]
    assert set(used) == {quick.url}


async def test_what_is_kept_answers_in_need(settings_for):
    clock = FakeClock()
    async with FakeSearxng(formats=["json"]) as fake:
        async with SearxClient(settings_for(own=[fake]), clock=clock) as client:
            fresh = await client.search("tea", fetch_content=False)
            clock.advance(7_200)
            fake.fail(500)
            kept = await client.search("tea", fetch_content=False)
    assert kept.results == fresh.results
    assert (kept.cached, kept.stale, kept.age_seconds) == (True, True, 7_200)


async def test_progress_is_told_step_by_step(settings_for):
    said: list[str] = []
    async with FakeSearxng() as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            await client.search("tea", fetch_content=False, progress=said.append)
    assert said
    assert all(said)
