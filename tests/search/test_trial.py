"""One real search at one instance, under the rules of a search."""

from types import SimpleNamespace

import pytest

from searx_mcp.errors import InvalidArgumentError, NoInstancesError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search.budget import month_account
from searx_mcp.search.trial import TrialRunner, find_instance
from searx_mcp.testing.searxng import FakeSearxng
from tests.doubles.raised import raised

QUERY = InstanceQuery("red pandas")


def trials(bench) -> TrialRunner:
    return TrialRunner(
        bench.executor.runner,
        pool=bench.pool,
        upstream=bench.upstream,
        timeout=0.4,
        clock=bench.clock,
    )


def host(fake: FakeSearxng) -> str:
    return fake.url.split("/")[2]


async def test_a_trial_is_one_search_and_keeps_the_answer_as_it_came(bench):
    async with FakeSearxng() as fake:
        async with bench(public=[fake]) as it:
            asked = await trials(it).ask(host(fake), QUERY)
            (row,) = it.pool.snapshot(it.clock())
    assert [request.path for request in fake.requests] == ["/robots.txt", "/config", "/search"]
    assert fake.requests[-1].query["q"] == "red pandas"
    assert (row.successes, row.failures, row.limiter) == (1, 0, False)
    assert (asked.instance, asked.own, asked.cost) == (fake.url, False, 1)
    assert asked.outcome.page is not None
    assert (asked.outcome.page.rows_seen, len(asked.outcome.page.hits)) == (10, 10)
    assert asked.received is not None
    assert asked.received.status == 200
    assert b"red pandas" in asked.received.body


async def test_an_own_instance_is_asked_for_json_and_any_for_what_is_wanted(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        as_json = await trials(it).ask(own.url, QUERY)
        as_html = await trials(it).ask(own.url.rstrip("/").upper(), QUERY, Format.HTML)
    assert as_json.received is not None
    assert as_html.received is not None
    assert as_json.received.body.startswith(b"{")
    assert as_html.received.body.lstrip().startswith(b"<")


async def test_the_pool_learns_from_a_refusal(bench):
    async with FakeSearxng() as fake:
        fake.limit()
        async with bench(public=[fake]) as it:
            asked = await trials(it).ask(host(fake), QUERY)
            error = await raised(NoInstancesError, trials(it).ask(host(fake), QUERY))
    assert asked.received is not None
    assert asked.received.body == b"Too Many Requests"
    assert asked.outcome.verdict is Verdict.RATE_LIMITED
    assert error.retry_after is not None
    assert error.retry_after > 500
    assert fake.searches == 1


async def test_the_budget_of_the_instance_is_kept(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        await trials(it).ask(host(fake), QUERY)
        await raised(
            NoInstancesError,
            trials(it).ask(host(fake), QUERY),
            "may not be asked again for 30 seconds",
        )
    assert fake.searches == 1


@pytest.mark.parametrize(
    ("link_token", "spent"), [(True, 1), (None, 1), (False, 0)], ids=["wanted", "unknown", "not"]
)
async def test_a_trial_counts_towards_the_month_where_thirty_days_are_limited(
    bench, link_token, spent
):
    async with FakeSearxng() as fake, FakeSearxng() as own, bench(public=[fake], own=[own]) as it:
        record = InstanceRecord(url=fake.url, last_at=it.clock(), link_token=link_token)
        it.pool.restore({fake.url: record})
        month = month_account(it.pool.month_limited())
        (before,) = await it.state.budgets([month], it.clock())
        assert before.left == month.windows[-1].limit
        await trials(it).ask(own.url, QUERY)
        await trials(it).ask(fake.url, QUERY)
        (after,) = await it.state.budgets([month], it.clock())
    assert after.left == before.left - spent


async def test_what_is_kept_back_of_the_month_is_not_asked(bench):
    async with FakeSearxng(link_token=True) as fake, bench(public=[fake]) as it:
        for _ in range(2):
            await trials(it).ask(host(fake), QUERY)
            it.clock.advance(31)
        error = await raised(
            NoInstancesError,
            trials(it).ask(host(fake), QUERY),
            "budget for public instances is used up",
        )
    assert error.retry_after == 30 * 86_400 - 62
    assert [request.path for request in fake.requests].count("/robots.txt") == 1
    assert fake.searches == 2


async def test_an_instance_that_is_left_alone_is_not_asked(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        record = InstanceRecord(
            url=fake.url,
            last_at=it.clock(),
            state=InstanceState.BLACKLISTED,
            reason="It rewrites its results.",
        )
        it.pool.restore({fake.url: record})
        error = await raised(
            NoInstancesError, trials(it).ask(host(fake), QUERY), "in cooldown: It rewrites"
        )
    assert error.retry_after is None
    assert not fake.requests


async def test_an_own_instance_may_be_tried_while_it_rests_and_an_answer_ends_the_rest(bench):
    async with FakeSearxng(formats=("html", "json")) as fake, bench(own=[fake]) as it:
        fake.challenge()
        await trials(it).ask(host(fake), QUERY)
        assert it.pool.propose(it.clock()) is None
        fake.recover()
        await trials(it).ask(host(fake), QUERY)
        assert it.pool.propose(it.clock()) is not None


async def test_where_nothing_comes_back_there_is_no_answer_to_keep(bench):
    async with FakeSearxng(hang=True) as fake, bench(public=[fake]) as it:
        asked = await trials(it).ask(host(fake), QUERY)
    assert asked.received is None
    assert asked.outcome.verdict is Verdict.TIMEOUT
    assert (asked.outcome.status_code, asked.outcome.page) == (None, None)


async def test_only_instances_of_the_pool_are_asked(bench):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:
        await raised(
            InvalidArgumentError,
            trials(it).ask("b.example", QUERY),
            r"host: 'b\.example' is not in the pool",
        )
        await raised(
            InvalidArgumentError, trials(it).ask(host(fake)[:-1], QUERY), "did you mean 127"
        )
    assert not fake.requests


async def test_a_trial_that_is_cut_short_teaches_the_pool_nothing(bench, monkeypatch):
    async with FakeSearxng() as fake, bench(public=[fake]) as it:

        async def crash(*arguments, **options):
            raise RuntimeError("a bug")

        monkeypatch.setattr(it.upstream, "search", crash)
        await raised(RuntimeError, trials(it).ask(host(fake), QUERY))
        (row,) = it.pool.snapshot(it.clock())
    assert (row.successes, row.failures, row.state) == (0, 0, "new")


async def test_an_operator_who_names_us_is_not_asked_and_not_charged(bench):
    async with FakeSearxng(robots="User-agent: searx-mcp\nDisallow: /\n") as fake:
        async with bench(public=[fake]) as it:
            for text in ("robots.txt", "not be asked again"):
                await raised(NoInstancesError, trials(it).ask(host(fake), QUERY), text)
            assert not it.state._charges
    assert [request.path for request in fake.requests] == ["/robots.txt"]


async def test_an_instance_that_is_down_is_not_charged_for_a_trial(bench):
    async with FakeSearxng(status=503) as fake, bench(public=[fake]) as it:
        asked = await trials(it).ask(host(fake), QUERY)
        assert not it.state._charges
    assert (asked.outcome.verdict, asked.cost) == (Verdict.SERVER_ERROR, 0)
    assert fake.searches == 0


async def test_a_proxy_that_is_down_is_held_against_nobody(bench):
    own = SimpleNamespace(url="http://searx.example/")
    async with bench(own=[own], proxy="http://127.0.0.1:9") as it:
        asked = [await trials(it).ask("searx.example", QUERY) for _ in range(3)]
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
