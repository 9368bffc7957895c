"""Capturing one answer: a real search under the rules of a search."""

import json
from types import SimpleNamespace

import pytest

from searx_mcp.errors import InvalidArgumentError, NoInstancesError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Answer
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search.budget import month_account
from searx_mcp.search.capture import FixtureRecorder, find_instance
from searx_mcp.testing.searxng import FakeSearxng

QUERY = InstanceQuery("red pandas")


def recorder(bench) -> FixtureRecorder:
    return FixtureRecorder(
        bench.executor.runner,
        pool=bench.pool,
        upstream=bench.upstream,
        timeout=0.4,
        clock=bench.clock,
    )


def host(fake: FakeSearxng) -> str:
    return fake.url.split("/")[2]


async def test_a_capture_is_one_search_and_says_what_was_read(bench):
    async with FakeSearxng(
        answers=[Answer(text="red pandas eat bamboo")],
        suggestions=["red panda food"],
        engines_failed=[("brave", "timeout")],
    ) as fake:
        async with bench(public=[fake]) as it:
            taken = await recorder(it).capture(host(fake), QUERY)
            (row,) = it.pool.snapshot(it.clock())
    assert fake.searches == 1
    assert [request.path for request in fake.requests] == ["/robots.txt", "/config", "/search"]
    assert fake.requests[-1].query["q"] == "red pandas"
    assert (row.successes, row.failures, row.limiter) == (1, 0, False)
    assert taken.fixture is not None
    assert (taken.fixture.kind, taken.fixture.status) == ("html", 200)
    assert taken.report["verdict"] == "full"
    assert taken.report["rows_seen"] == taken.report["rows_used"] == 10
    assert taken.report["rows_by_template"] == {"default": 10}
    counted = ("answers", "infoboxes", "suggestions", "corrections", "unresponsive_engines")
    assert [taken.report[name] for name in counted] == [1, 0, 1, 0, 1]
    assert str(taken.report["instance_version"]).startswith("searxng/")
    for text in (taken.fixture.body, json.dumps(taken.report)):
        for secret in ("panda", "bamboo", "127.0.0.1", host(fake).split(":")[1]):
            assert secret not in text.casefold()


async def test_an_own_instance_is_asked_for_json_and_any_for_what_is_wanted(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        as_json = await recorder(it).capture(own.url, QUERY)
        as_html = await recorder(it).capture(own.url.rstrip("/").upper(), QUERY, Format.HTML)
    assert as_json.fixture is not None
    assert as_html.fixture is not None
    assert (as_json.fixture.kind, as_html.fixture.kind) == ("json", "html")


async def test_a_refusal_is_captured_too_and_the_pool_learns_from_it(bench):
    async with FakeSearxng() as fake:
        fake.limit()
        async with bench(public=[fake]) as it:
            taken = await recorder(it).capture(host(fake), QUERY)
            with pytest.raises(NoInstancesError) as caught:
                await recorder(it).capture(host(fake), QUERY)
    assert taken.fixture is not None
    assert taken.fixture.body == "Too Many Requests"
    assert taken.report["verdict"] == "rate_limited"
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 500
    assert fake.searches == 1


async def test_the_budget_of_the_instance_is_kept(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        await recorder(it).capture(host(fake), QUERY)
        with pytest.raises(NoInstancesError, match="may not be asked again for 30 seconds"):
            await recorder(it).capture(host(fake), QUERY)
    assert fake.searches == 1


@pytest.mark.parametrize(
    ("link_token", "spent"), [(True, 1), (None, 1), (False, 0)], ids=["wanted", "unknown", "not"]
)
async def test_a_capture_counts_towards_the_month_where_thirty_days_are_limited(
    bench, link_token, spent
):
    async with FakeSearxng() as fake, FakeSearxng() as own, bench(public=[fake], own=[own]) as it:
        record = InstanceRecord(url=fake.url, last_at=it.clock(), link_token=link_token)
        it.pool.restore({fake.url: record})
        month = month_account(it.pool.month_limited())
        (before,) = await it.state.budgets([month], it.clock())
        assert before.left == month.windows[-1].limit
        await recorder(it).capture(own.url, QUERY)
        await recorder(it).capture(fake.url, QUERY)
        (after,) = await it.state.budgets([month], it.clock())
    assert after.left == before.left - spent


async def test_what_is_kept_back_of_the_month_is_not_captured(bench):
    async with FakeSearxng(link_token=True) as fake, bench(public=[fake]) as it:
        for _ in range(2):
            await recorder(it).capture(host(fake), QUERY)
            it.clock.advance(31)
        with pytest.raises(
            NoInstancesError, match="budget for public instances is used up"
        ) as caught:
            await recorder(it).capture(host(fake), QUERY)
    assert caught.value.retry_after == 30 * 86_400 - 62
    assert fake.searches == 2


async def test_an_instance_that_is_left_alone_is_not_captured(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        record = InstanceRecord(
            url=fake.url,
            last_at=it.clock(),
            state=InstanceState.BLACKLISTED,
            reason="It rewrites its results.",
        )
        it.pool.restore({fake.url: record})
        with pytest.raises(NoInstancesError, match="in cooldown: It rewrites") as caught:
            await recorder(it).capture(host(fake), QUERY)
    assert caught.value.retry_after is None
    assert not fake.requests


async def test_an_own_instance_may_be_tried_while_it_rests_and_an_answer_ends_the_rest(bench):
    async with FakeSearxng(formats=("html", "json")) as fake, bench(own=[fake]) as it:
        fake.challenge()
        await recorder(it).ask(host(fake), QUERY)
        assert it.pool.propose(it.clock()) is None
        fake.recover()
        await recorder(it).ask(host(fake), QUERY)
        assert it.pool.propose(it.clock()) is not None


async def test_where_nothing_comes_back_there_is_a_report_only(bench):
    async with FakeSearxng(hang=True) as fake, bench(public=[fake]) as it:
        taken = await recorder(it).capture(host(fake), QUERY)
    assert taken.fixture is None
    assert (taken.report["verdict"], taken.report["status"]) == ("timeout", None)
    assert taken.report["rows_seen"] == 0


async def test_only_instances_of_the_pool_are_captured(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        with pytest.raises(InvalidArgumentError, match=r"host: 'b\.example' is not in the pool"):
            await recorder(it).capture("b.example", QUERY)
        with pytest.raises(InvalidArgumentError, match="did you mean 127"):
            await recorder(it).capture(host(fake)[:-1], QUERY)
    assert not fake.requests


async def test_a_capture_that_is_cut_short_teaches_the_pool_nothing(bench, monkeypatch):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:

        async def crash(*arguments, **options):
            raise RuntimeError("a bug")

        monkeypatch.setattr(it.upstream, "search", crash)
        with pytest.raises(RuntimeError):
            await recorder(it).capture(host(fake), QUERY)
        (row,) = it.pool.snapshot(it.clock())
    assert (row.successes, row.failures, row.state) == (0, 0, "new")


async def test_an_operator_who_names_us_is_not_captured_and_not_charged(bench):
    async with FakeSearxng(robots="User-agent: searx-mcp\nDisallow: /\n") as fake:
        async with bench(public=[fake]) as it:
            for text in ("robots.txt", "not be asked again"):
                with pytest.raises(NoInstancesError, match=text):
                    await recorder(it).capture(host(fake), QUERY)
            assert not it.state._charges
    assert [request.path for request in fake.requests] == ["/robots.txt"]


async def test_the_robots_txt_is_read_once_for_captures_and_searches_together(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        await recorder(it).capture(host(fake), QUERY)
        it.clock.advance(31)
        await recorder(it).capture(host(fake), QUERY)
    assert [request.path for request in fake.requests].count("/robots.txt") == 1


async def test_an_instance_that_is_down_is_not_charged_for_a_capture(bench):
    async with FakeSearxng(status=503) as fake, bench(public=[fake]) as it:
        asked = await recorder(it).ask(host(fake), QUERY)
        assert not it.state._charges
    assert (asked.outcome.verdict, asked.cost) == (Verdict.SERVER_ERROR, 0)
    assert fake.searches == 0


async def test_a_proxy_that_is_down_is_held_against_nobody(bench):
    own = SimpleNamespace(url="http://searx.example/")
    async with bench(own=[own], proxy="http://127.0.0.1:9") as it:
        asked = [await recorder(it).ask("searx.example", QUERY) for _ in range(3)]
        (row,) = it.pool.snapshot(it.clock())
    details = {each.outcome.detail for each in asked}
    assert details == {"The proxy of network.proxy cannot be reached."}
    assert (row.state, row.failures) == ("new", 0)


URLS = (
    "https://a.example/",
    "http://127.0.0.1:8888/",
    "https://two.example/",
    "https://two.example/searx/",
)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("a.example", URLS[0]),
        (" A.Example ", URLS[0]),
        ("https://a.example", URLS[0]),
        ("127.0.0.1:8888", URLS[1]),
        ("https://two.example/searx", URLS[3]),
        ("https://two.example/", URLS[2]),
    ],
)
def test_a_host_or_an_address_is_found(host, url):
    assert find_instance(host, URLS) == url


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("a.exampel", "did you mean a.example?"),
        ("127.0.0.1", "did you mean 127.0.0.1:8888?"),
        ("zzz", "'zzz' is not in the pool"),
        ("two.example", "has several instances"),
    ],
)
def test_what_is_not_clear_is_asked_back(host, words):
    with pytest.raises(InvalidArgumentError) as caught:
        find_instance(host, URLS)
    assert words in caught.value.message
