"""One query through the pool."""

import asyncio
import contextlib
import socket
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.errors import DeadlineError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config_facts import CategoryFacts, ConfigFacts
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.pool.record import OPTED_OUT
from searx_mcp.search.budget import account_of, instance_account, month_account
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.searxng import FakeSearxng
from tests.doubles.raised import raised

QUERY = InstanceQuery(text="hello world")
DAY = 86_400


async def left(bench, url: str):
    """How many requests the budget of a public instance, not known yet, still allows."""
    account = instance_account(url, own=False, link_token=None)
    (budget,) = await bench.state.budgets([account], bench.clock())
    return budget.left


async def go(bench, *, wanted=10, seconds=10.0, query=QUERY, progress=None):
    deadline = asyncio.get_running_loop().time() + seconds
    return await bench.executor.run(SearchContext(query, wanted, deadline, progress=progress))


def verdicts(found_or_error) -> list[Verdict]:
    return [attempt.verdict for attempt in found_or_error.attempts]


async def test_json_of_a_host_without_a_limiter_is_served_as_often_as_its_pages(bench):
    async with FakeSearxng(formats=("html", "json")) as open_host, bench(public=[open_host]) as it:
        it.pool.learn_facts(open_host.url, ConfigFacts(limiter_enabled=False), it.clock())
        asked = []
        for _ in range(8):
            found = await go(it)
            asked += [attempt.format for attempt in found.attempts]
            it.clock.advance(40)
        error = await raised(NoInstancesError, go(it))
        assert asked == [Format.HTML, *[Format.JSON] * 7]
        assert error.retry_after == pytest.approx(600 - 8 * 40, abs=1)


async def test_the_first_good_answer_ends_the_search(bench):
    async with FakeSearxng() as first, FakeSearxng() as second, bench(public=[first, second]) as it:
        found = await go(it)
    assert (found.instance, len(found.pages[0].hits)) == (first.url, 10)
    assert verdicts(found) == [Verdict.FULL]
    assert second.searches == 0


@pytest.mark.parametrize(
    ("break_it", "verdict"),
    [
        (lambda fake: fake.limit(), Verdict.RATE_LIMITED),
        (lambda fake: fake.block(), Verdict.BLOCKED),
        (lambda fake: fake.challenge(), Verdict.CHALLENGE),
        (lambda fake: fake.fail_engines(), Verdict.ENGINES_FAILED),
        (lambda fake: fake.fail(503), Verdict.SERVER_ERROR),
        (lambda fake: fake.fail(404), Verdict.REFUSED),
        (lambda fake: fake.hang(), Verdict.TIMEOUT),
        (lambda fake: fake.drop(), Verdict.CONNECTION),
        (lambda fake: fake.answer_with(b"\x00\xff" * 50), Verdict.NOT_SEARXNG),
        (lambda fake: fake.redirect("https://elsewhere.example/"), Verdict.FOREIGN_REDIRECT),
    ],
    ids=lambda value: str(value) if isinstance(value, Verdict) else "",
)
async def test_an_instance_in_trouble_is_followed_by_the_next(bench, break_it, verdict):
    async with FakeSearxng() as first, FakeSearxng() as second, bench(public=[first, second]) as it:
        break_it(first)
        found = await go(it)
    assert (found.instance, verdicts(found)[-1]) == (second.url, Verdict.FULL)
    assert verdicts(found)[0] in {verdict, Verdict.MALFORMED}


async def test_a_clean_empty_answer_is_an_answer(bench):
    async with FakeSearxng(results=[]) as first, FakeSearxng() as second:
        async with bench(public=[first, second]) as it:
            found = await go(it)
    assert (verdicts(found), found.pages[0].hits) == ([Verdict.EMPTY], ())


async def test_json_switched_off_is_answered_with_html_by_the_same_instance(bench):
    async with FakeSearxng(formats=("html",)) as own, bench(own=[own]) as it:
        found = await go(it)
        again = await go(it)
    assert verdicts(found) == [Verdict.JSON_OFF, Verdict.FULL]
    assert [attempt.format for attempt in found.attempts] == [Format.JSON, Format.HTML]
    assert [attempt.format for attempt in again.attempts] == [Format.HTML]


async def test_json_that_is_limited_is_answered_with_pages_for_as_long_as_the_limit_lasts(bench):
    fake = FakeSearxng(formats=("html", "json"), limiter=FakeLimiter())
    async with fake as own, bench(own=[own]) as it:
        found = [await go(it) for _ in range(7)]
        assert [each.attempts[-1].format for each in found] == [Format.JSON] * 4 + [Format.HTML] * 3
        assert verdicts(found[4]) == [Verdict.RATE_LIMITED, Verdict.FULL]
        assert [len(each.attempts) for each in found[5:]] == [1, 1]
        (row,) = it.pool.snapshot(it.clock())
        assert (row.state, row.failures) == (InstanceState.HEALTHY, 0)
        it.clock.advance(3_600)
        assert (await go(it)).attempts[0].format is Format.JSON


async def test_an_own_instance_that_limits_pages_too_is_asked_again_within_two_minutes(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        own.fail(429, {"Retry-After": "5000"})
        for _ in range(9):
            await raised(NoInstancesError, go(it))
            it.clock.advance(120)
        own.recover()
        assert (await go(it)).instance == own.url


async def test_as_many_searches_as_there_are_places_reach_an_own_instance_at_once(bench):
    count = 64
    async with FakeSearxng(formats=("html", "json")) as own:
        async with bench(own=[own], attempt_timeout=10) as it, asyncio.TaskGroup() as group:
            own.hold()
            tasks = [group.create_task(go(it)) for _ in range(count)]
            await own.wait_for_requests(count)
            own.recover()
        assert {tuple(verdicts(task.result())) for task in tasks} == {(Verdict.FULL,)}


async def test_a_search_that_finds_no_place_until_its_call_ends_says_so(bench):
    said: list[str] = []
    async with FakeSearxng(formats=("html", "json")) as own:
        async with bench(own=[own], own_at_once=1, attempt_timeout=10) as it:
            async with asyncio.TaskGroup() as group:
                own.hold()
                first = group.create_task(go(it))
                await own.wait_for_requests(1)
                error = await raised(
                    DeadlineError,
                    go(it, seconds=0.3, progress=said.append),
                    "busy with 1 other search",
                )
                own.recover()
            assert verdicts(first.result()) == [Verdict.FULL]
            assert it.pool.snapshot(it.clock())[0].failures == 0
    assert "search.own_at_once" in error.advice
    assert any("waiting for one of 1 searches" in each for each in said)
    assert own.searches == 1


async def test_an_own_instance_with_slow_engines_answers_in_time_with_what_it_has(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        own.slow_engine("alpha", 60, timeout=10)
        found = await go(it, seconds=2)
    assert verdicts(found) == [Verdict.FULL]
    assert [each.engine for each in found.pages[0].unresponsive_engines] == ["alpha"]
    assert 1.6 < float(own.requests[0].query["timeout_limit"]) <= 1.7


async def test_a_public_instance_is_not_told_our_deadline(bench):
    async with FakeSearxng() as public, bench(public=[public]) as it:
        await go(it)
    assert "timeout_limit" not in public.requests[-1].query


async def test_at_most_three_different_instances_are_asked(bench):
    async with AsyncExitStack() as stack:
        fakes = [await stack.enter_async_context(FakeSearxng(status=500)) for _ in range(4)]
        async with bench(public=fakes) as it:
            error = await raised(NoInstancesError, go(it))
    assert verdicts(error) == [Verdict.SERVER_ERROR] * 3
    assert [len(fake.requests) for fake in fakes] == [1, 1, 1, 0]
    assert error.reason is UnavailableReason.EXHAUSTED


async def test_without_time_for_an_attempt_the_deadline_is_what_is_reported(bench):
    async with FakeSearxng() as only, bench(public=[only]) as it:
        await raised(DeadlineError, go(it, seconds=0.01))
    assert only.searches == 0


async def test_a_public_instance_is_asked_again_only_when_its_budget_allows(bench):
    async with FakeSearxng() as only, bench(public=[only]) as it:
        await go(it)
        error = await raised(NoInstancesError, go(it))
        assert only.searches == 1
        it.clock.advance(30)
        await go(it)
    assert only.searches == 2
    assert error.reason is UnavailableReason.BUDGET_SPENT
    assert error.retry_after == pytest.approx(30, abs=0.1)


async def test_a_budget_of_json_that_is_spent_leaves_the_pages(bench):
    limited = FakeSearxng(limiter=FakeLimiter(clock=lambda: 0.0))
    async with limited as only, bench(public=[only]) as it:
        account = instance_account(only.url, own=False, link_token=None)
        json_only = replace(account, windows=account.windows[:3])
        for _ in range(3):
            assert (await it.state.reserve([json_only], Format.JSON, it.clock())).granted
        it.pool.learn_facts(
            only.url, ConfigFacts(limiter_enabled=True, link_token=False), it.clock()
        )
        found = await go(it)
    assert (verdicts(found), found.attempts[0].format) == ([Verdict.FULL], Format.HTML)


async def test_a_spent_budget_does_not_use_up_the_three_instances(bench):
    async with AsyncExitStack() as stack:
        fakes = [await stack.enter_async_context(FakeSearxng()) for _ in range(4)]
        async with bench(public=fakes) as it:
            asked = [(await go(it)).instance for _ in range(4)]
    assert asked == [fake.url for fake in fakes]


async def test_a_refused_request_is_charged_like_any_other(bench):
    async with FakeSearxng() as only, bench(public=[only]) as it:
        only.limit()
        await raised(NoInstancesError, go(it))
        assert await left(it, only.url) == 0


async def test_an_own_instance_has_no_budget_and_serves_all_pages_wanted(bench):
    async with FakeSearxng(formats=("html", "json"), pages=3) as own, bench(own=[own]) as it:
        found = await go(it, wanted=25)
    assert sum(len(page.hits) for page in found.pages) == 30
    assert [request.parameters.get("pageno", "1") for request in own.requests] == ["1", "2", "3"]
    assert {request.path for request in own.requests} == {"/search"}, "and no robots.txt"
    assert not found.complete


async def test_paging_stops_when_a_page_brings_nothing_new(bench):
    async with FakeSearxng(formats=("html", "json"), pages=2) as own, bench(own=[own]) as it:
        found = await go(it, wanted=50)
    assert len(found.pages) == 2
    assert found.complete


async def test_paging_stops_when_the_time_is_over(bench):
    async with FakeSearxng(formats=("html", "json"), latency=0.3) as own, bench(own=[own]) as it:
        found = await go(it, wanted=50, seconds=0.39)
    assert len(found.pages) == 1
    assert not found.complete


async def test_a_further_page_that_fails_leaves_what_is_there(bench):
    async with FakeSearxng(formats=("html", "json"), pages=3) as own, bench(own=[own]) as it:

        def trouble(message: str) -> None:
            if message.endswith("full"):
                own.fail(500)

        found = await go(it, wanted=30, progress=trouble)
    assert (len(found.pages), verdicts(found)) == (1, [Verdict.FULL, Verdict.SERVER_ERROR])


async def test_a_public_instance_is_asked_for_one_page_only(bench):
    async with FakeSearxng(pages=3) as public, bench(public=[public]) as it:
        found = await go(it, wanted=30)
    assert public.searches == 1
    assert found.complete


async def test_the_query_appears_in_no_progress_message_and_no_attempt(bench):
    messages: list[str] = []
    secret = InstanceQuery(text="secretword")
    async with FakeSearxng(status=500) as bad, FakeSearxng() as good:
        async with bench(public=[bad, good]) as it:
            found = await go(it, query=secret, progress=messages.append)
    assert messages
    assert "secretword" not in " ".join(messages) + repr(found.attempts)


async def test_robots_txt_and_config_of_a_public_instance_are_read_once_a_day_before_its_first_search(
    bench,
):
    async with FakeSearxng() as public, bench(public=[public]) as it:
        for wait in (0, 40, DAY):
            it.clock.advance(wait)
            await go(it)
    assert [request.path for request in public.requests] == [
        "/robots.txt", "/config", "/search", "/search", "/robots.txt", "/config", "/search",
    ]  # fmt: skip


@pytest.mark.parametrize(("link_token", "left_of_it"), [(True, 2), (False, 7)])
async def test_what_config_says_decides_what_the_first_search_is_charged_to(
    bench, link_token, left_of_it
):
    async with FakeSearxng(link_token=link_token) as public, bench(public=[public]) as it:
        await go(it)
        (row,) = it.pool.snapshot(it.clock())
        account = account_of(row)
        longest = replace(account, windows=account.windows[-1:])
        (budget,) = await it.state.budgets([longest], it.clock())
    assert budget.left == left_of_it


async def test_a_config_that_cannot_be_had_costs_no_search(bench):
    async with FakeSearxng() as public, bench(public=[public]) as it:
        public.answer_with(b"", path="/config", status=500)
        found = await go(it)
    assert verdicts(found) == [Verdict.FULL]


async def test_an_operator_who_names_us_is_neither_searched_nor_charged_nor_asked_again(bench):
    async with FakeSearxng(robots="User-agent: searx-mcp\nDisallow: /\n") as first:
        async with FakeSearxng() as second, bench(public=[first, second]) as it:
            found = [await go(it), await go_later(it)]
            assert await left(it, first.url) == 1
            report = it.pool.snapshot(it.clock())[0]
    assert [each.instance for each in found] == [second.url] * 2
    assert verdicts(found[0]) == [Verdict.FULL], "nobody was asked in vain"
    assert [request.path for request in first.requests] == ["/robots.txt"]
    assert (report.state, report.failures) == (InstanceState.QUARANTINED, 0)
    assert "robots.txt" in report.reason


async def go_later(bench):
    bench.clock.advance(60)
    return await go(bench)


async def test_an_operator_who_names_us_during_a_search_is_not_forgotten_when_it_succeeds(bench):
    async with FakeSearxng() as only, bench(public=[only]) as it:

        def read_meanwhile(said: str) -> None:
            if said.startswith("asking"):
                it.pool.read_robots(only.url, opted_out=True, now=it.clock())

        await go(it, progress=read_meanwhile)
        it.clock.advance(29 * DAY)
        await raised(NoInstancesError, go(it))
        (row,) = it.pool.snapshot(it.clock())
    assert (row.state, row.reason, row.successes, only.searches) == ("quarantined", OPTED_OUT, 1, 1)


async def test_an_instance_that_is_down_is_found_out_by_its_robots_txt_and_not_charged(bench):
    async with FakeSearxng(status=502) as first, FakeSearxng() as second:
        async with bench(public=[first, second]) as it:
            found = await go(it)
            assert await left(it, first.url) == 1
    assert verdicts(found) == [Verdict.SERVER_ERROR, Verdict.FULL]
    assert first.searches == 0


async def test_those_that_are_down_do_not_use_up_the_three_instances(bench):
    async with AsyncExitStack() as stack:
        down = [await stack.enter_async_context(FakeSearxng(status=502)) for _ in range(2)]
        failing = [FakeSearxng(), FakeSearxng()]
        for fake in failing:
            await stack.enter_async_context(fake)
            fake.answer_with(b"", status=404)
        async with bench(public=[*down, *failing]) as it:
            error = await raised(NoInstancesError, go(it))
    assert verdicts(error) == [Verdict.SERVER_ERROR] * 2 + [Verdict.REFUSED] * 2


async def test_an_instance_that_has_rested_is_tried_with_its_robots_txt_first(bench):
    async with FakeSearxng() as first, FakeSearxng() as second, bench(public=[first, second]) as it:
        await go(it)
        first.fail(404)
        it.clock.advance(60)
        assert (await go(it)).instance == second.url
        rests = it.pool.snapshot(it.clock())[0]
        assert rests.state is InstanceState.FAILING
        first.fail(503)
        it.clock.advance(60)
        searches = first.searches
        assert (await go(it)).instance == second.url
        assert first.searches == searches, "it is still down: no search was spent on it"
        first.recover()
        it.clock.advance(120)
        assert (await go(it)).instance == first.url


async def test_the_month_of_all_public_instances_together_is_kept(bench):
    async with AsyncExitStack() as stack:
        limiters = [
            FakeLimiter(clock=lambda: it.clock())  # noqa: PLW0108 - its clock comes later
            for _ in range(4)
        ]
        fakes = [
            await stack.enter_async_context(FakeSearxng(link_token=True, limiter=limiter))
            for limiter in limiters
        ]
        limited = [fake.url for fake in fakes]
        async with bench(public=fakes) as it:
            usable = month_account(limited).windows[-1].limit
            answered = 0
            for _ in range(20):
                it.clock.advance(DAY / 19)
                with contextlib.suppress(NoInstancesError):
                    await go(it)
                    answered += 1
            error = await raised(NoInstancesError, go(it))
    assert answered == usable < 4 * 3
    assert sum(fake.searches for fake in fakes) == usable
    assert {fake.requests[-1].path for fake in fakes if fake.requests} == {"/search"}
    assert error.reason is UnavailableReason.BUDGET_SPENT
    assert (error.retry_after or 0) > 20 * DAY


async def test_an_instance_without_token_is_not_counted_against_the_month(bench):
    async with FakeSearxng() as only, bench(public=[only]) as it:
        for _ in range(12):
            await go(it)
            it.clock.advance(80)
        assert it.pool.month_limited() == ()
    assert only.searches == 12


async def test_a_search_goes_to_an_instance_whose_engines_can_serve_it(bench):
    able = {name: CategoryFacts(time_range=True, paging=True, both=True) for name in ("general",)}
    async with FakeSearxng() as first, FakeSearxng() as second, bench(public=[first, second]) as it:
        facts = ConfigFacts(engines=("a",), categories=able)
        it.pool.learn_facts(first.url, facts, it.clock())
        found = await go(it, query=InstanceQuery(text="tea", category="science"))
    assert found.instance == second.url
    assert first.requests == []


async def test_results_that_lead_home_count_against_an_instance_and_are_not_given_out(bench):
    async with FakeSearxng() as first, FakeSearxng() as second:
        first.lead_home()
        async with bench(public=[first, second]) as it:
            found = await go(it)
            report = it.pool.snapshot(it.clock())[0]
    assert (found.instance, verdicts(found)) == (second.url, [Verdict.UNTRUSTED, Verdict.FULL])
    assert report.last_verdict is Verdict.UNTRUSTED
    assert report.last_detail


async def test_public_instances_see_a_coherent_browser_and_own_ones_our_name(bench):
    async with FakeSearxng(formats=("html", "json"), status=500) as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            found = await go(it)
    assert found.instance == public.url, "own ones that all fail are followed by public ones"
    assert own.requests[0].headers["User-Agent"].startswith("searx-mcp/")
    (headers,) = (each.headers for each in public.requests if each.path == "/search")
    assert headers["User-Agent"].startswith("Mozilla/5.0")
    assert (headers["DNT"], headers["Sec-GPC"]) == ("1", "1")
    assert "Referer" not in headers
    assert "Cookie" not in headers


class NoNames(AbstractResolver):
    """A machine without a network: no name resolves."""

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        raise OSError(socket.EAI_NONAME, "no such name")

    @override
    async def close(self) -> None:
        """Nothing is open."""


async def test_without_a_network_nothing_is_charged_and_nothing_is_held_against_anybody(bench):
    hosts = ["https://one.searx-test.org/", "https://two.searx-test.org/"]
    async with bench(elsewhere=hosts, resolver=NoNames()) as it:
        for _ in range(5):
            error = await raised(NoInstancesError, go(it), "offline")
            assert verdicts(error) == [Verdict.DNS, Verdict.DNS]
            assert error.reason is UnavailableReason.OFFLINE
        for report in it.pool.snapshot(it.clock()):
            assert report.state is InstanceState.NEW
            assert await left(it, report.url) == 1


@pytest.mark.parametrize("count", [1, 2])
async def test_hosts_that_do_not_resolve_are_learned_once_another_one_answered(bench, count):
    async with FakeSearxng() as good:
        hosts = [f"https://gone{number}.searx-test.org/" for number in range(count)]
        async with bench(public=[good], elsewhere=hosts, resolver=NoNames()) as it:
            good.fail(500)
            error = await raised(NoInstancesError, go(it))
            states = {report.url: report.state for report in it.pool.snapshot(it.clock())}
            budget = await left(it, hosts[0])
    assert verdicts(error) == [Verdict.SERVER_ERROR, *[Verdict.DNS] * count]
    assert {states[host] for host in hosts} == {InstanceState.FAILING}
    assert budget == 1, "nothing was sent"


async def test_a_host_that_is_gone_is_learned_once_another_one_answered(bench):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng() as good, bench(public=[gone, good]) as it:
        found = await go(it)
        states = {report.url: report for report in it.pool.snapshot(it.clock())}
    assert verdicts(found) == [Verdict.CONNECTION, Verdict.FULL]
    assert states[gone.url].failures == 1


async def test_cancelling_a_search_settles_what_was_held_back_and_teaches_nothing_else(bench):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng(hang=True) as hung, bench(public=[gone, hung], attempt_timeout=5) as it:
        task = asyncio.ensure_future(go(it))
        async with asyncio.timeout(60):
            await hung.wait_for_requests(1)
        task.cancel()
        await raised(asyncio.CancelledError, task)
        report = it.pool.snapshot(it.clock())[1]
        # A public instance with a request under way would not be proposed.
        proposal = it.pool.propose(it.clock(), exclude=[gone.url])
    assert (report.url, report.state, report.failures) == (hung.url, InstanceState.NEW, 0)
    assert proposal is not None
    assert proposal.url == hung.url
