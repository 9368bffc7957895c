"""What every store promises, whatever it is made of."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.instance import InstanceChoice, InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search.budget import charges_by_day, instance_account
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.storage.state import Account, Budget, Reservation, StateStore, Window

HOST = "https://a.example/"
OTHER = "https://b.example/"
NOW = 1_000_000_000.0
DAY = 86_400.0
PUBLIC = instance_account(HOST, own=False, link_token=None)
OPEN = instance_account(HOST, own=False, link_token=False)
OWN = instance_account(HOST, own=True, link_token=None)


@pytest.fixture(
    params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.slow)], scope="session"
)
def new_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], StateStore]:
    """Make new stores of each kind: what holds for one holds for the others."""
    if request.param == "redis":
        url: str = request.getfixturevalue("redis_url")
        return lambda: RedisStore(url, prefix=f"{secrets.token_hex(8)}:", patience=10)
    if request.param == "sqlite":
        return lambda: open_store(tmp_path_factory.mktemp("state") / FILE_NAME)
    return lambda: open_store(None)


@pytest.fixture
async def store(new_store: Callable[[], StateStore]) -> AsyncIterator[StateStore]:
    """A store of each kind."""
    store = new_store()
    yield store
    await store.aclose()
    assert store.problem == ""


def account(*windows: Window, name: str = HOST) -> Account:
    return Account(name, windows)


async def reserve(store, at, *accounts: Account, format=Format.HTML):  # noqa: A002 - the field's word
    return await store.reserve(accounts or (PUBLIC,), format, at)


async def budget_of(store, of, at):
    (budget,) = await store.budgets([of], at)
    return budget


async def test_an_own_instance_has_no_budget(store):
    assert all([(await reserve(store, NOW, OWN)).granted for _ in range(500)])
    assert await budget_of(store, OWN, NOW) == Budget(left=None, free_at=NOW)
    assert (await budget_of(store, PUBLIC, NOW)).left == 1


@pytest.mark.parametrize(
    ("of", "asks_for", "granted", "refused", "free"),
    [
        (PUBLIC, Format.HTML, [0, DAY, 2 * DAY], 3 * DAY, 30 * DAY),
        (OPEN, Format.HTML, [0], 29, 30),
        (OPEN, Format.HTML, [30 * turn for turn in range(8)], 240, 600),
        (OPEN, Format.JSON, [0, 1, 2], 3, 3_600),
    ],
    ids=["month", "pages in 30 seconds", "pages in 10 minutes", "JSON"],
)
async def test_a_window_that_is_full_refuses_until_its_first_charge_leaves_it(
    store, of, asks_for, granted, refused, free
):
    for at in granted:
        assert (await reserve(store, NOW + at, of, format=asks_for)).granted
    reservation = await reserve(store, NOW + refused, of, format=asks_for)
    assert (reservation.granted, reservation.retry_at) == (False, NOW + free)
    if asks_for is Format.JSON:
        assert (await reserve(store, NOW + refused, of)).granted, "pages have windows of their own"
    else:
        assert await budget_of(store, of, NOW + refused) == Budget(left=0, free_at=NOW + free)
    assert (await reserve(store, NOW + free, of, format=asks_for)).granted


async def test_every_search_counts_towards_thirty_days_whatever_its_format(store):
    for turn in range(3):
        assert (await reserve(store, NOW + turn, format=Format.JSON)).granted
    assert not (await reserve(store, NOW + 10_000, format=Format.HTML)).granted


async def test_what_is_left_is_the_tightest_window(store):
    assert await budget_of(store, PUBLIC, NOW) == Budget(left=1, free_at=NOW)
    await reserve(store, NOW)
    assert await budget_of(store, PUBLIC, NOW) == Budget(left=0, free_at=NOW + 30)
    assert (await budget_of(store, PUBLIC, NOW + 31)).left == 1


async def test_no_window_has_less_than_nothing_left(store):
    for turn in range(6):
        await reserve(store, NOW + 30 * turn, OPEN)
    assert (await budget_of(store, PUBLIC, NOW + 3_600)).left == 0


async def test_charges_count_again_when_a_longer_window_comes_to_apply(store):
    for turn in range(3):
        await reserve(store, NOW + 60 * turn, OPEN)
    assert (await reserve(store, NOW + 2 * DAY, OPEN)).granted
    assert not (await reserve(store, NOW + 3 * DAY, PUBLIC)).granted


async def test_charges_no_window_asks_for_any_more_are_forgotten(store):
    await reserve(store, NOW)
    await reserve(store, NOW + 80 * DAY)
    year = account(Window(limit=10, seconds=365 * DAY))
    assert (await budget_of(store, year, NOW + 80 * DAY)).left == 9


async def test_many_reservations_at_once_are_granted_as_often_as_the_window_allows(store):
    seventeen = account(Window(limit=17, seconds=60))
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(reserve(store, NOW, seventeen)) for _ in range(200)]
    assert sum(task.result().granted for task in asked) == 17


SHARED = account(Window(limit=2, seconds=600), name="public")


async def test_a_request_is_charged_to_all_its_accounts(store):
    assert await reserve(store, NOW, OPEN, SHARED) == Reservation(granted=True)
    assert [b.left for b in await store.budgets([OPEN, SHARED], NOW)] == [0, 1]


async def test_a_request_that_one_account_refuses_is_charged_to_none(store):
    other = replace(OPEN, name=OTHER)
    for turn in range(2):
        assert (await reserve(store, NOW + 30 * turn, OPEN, SHARED)).granted
    before = await store.budgets([OPEN, other, SHARED], NOW + 31)
    refused = await reserve(store, NOW + 31, other, SHARED)
    assert refused == Reservation(granted=False, retry_at=NOW + 600, refused_by="public")
    refused = await reserve(store, NOW + 31, OPEN, replace(SHARED, windows=()))
    assert refused == Reservation(granted=False, retry_at=NOW + 60, refused_by=HOST)
    assert await store.budgets([OPEN, other, SHARED], NOW + 31) == before
    assert before[1] == Budget(left=1, free_at=NOW + 31)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["as given", "reversed"])
async def test_of_several_accounts_that_refuse_the_one_that_is_free_last_is_named(store, order):
    accounts = [account(Window(1, 60)), account(Window(1, 90), name="public")]
    given = [accounts[place] for place in order]
    assert (await reserve(store, NOW, *given)).granted
    refused = await reserve(store, NOW + 1, *given)
    assert refused == Reservation(granted=False, retry_at=NOW + 90, refused_by="public")


async def test_an_account_that_others_share_counts_their_charges_and_has_none_of_its_own(store):
    hosts = [account(Window(5, 60), name=f"https://{name}.example/") for name in "abc"]
    a, b, _ = hosts
    shared = Account("public", (Window(2, 60),), members=(a.name, b.name))
    assert (await reserve(store, NOW, a, shared)).granted
    assert (await reserve(store, NOW, b, shared)).granted
    refused = await reserve(store, NOW + 1, a, shared)
    assert refused == Reservation(granted=False, retry_at=NOW + 60, refused_by="public")
    assert [each.left for each in await store.budgets([*hosts, shared], NOW)] == [4, 4, 5, 0]
    without_b = replace(shared, members=(a.name,))
    assert (await budget_of(store, without_b, NOW)).left == 1, "whoever leaves takes them along"
    assert (await budget_of(store, replace(shared, members=()), NOW)).left == 2


async def test_an_unlimited_account_beside_a_limited_one_is_not_charged(store):
    assert (await reserve(store, NOW, OWN, SHARED)).granted
    assert [b.left for b in await store.budgets([PUBLIC, SHARED], NOW)] == [1, 1]


async def test_accounts_are_granted_together_or_not_at_all_however_many_ask_at_once(store):
    hosts = [account(Window(3, 60), name=f"https://{name}.example/") for name in "abcdefgh"]
    shared = account(Window(10, 60), name="public")
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(reserve(store, NOW, h, shared)) for _ in range(5) for h in hosts]
    *of_hosts, of_shared = await store.budgets([*hosts, shared], NOW)
    assert sum(task.result().granted for task in asked) == 10
    assert sum(3 - budget.left for budget in of_hosts) == 10
    assert of_shared.left == 0


async def test_budgets_come_in_the_order_of_the_accounts(store):
    await reserve(store, NOW, account(Window(5, 60)))
    strange = account(Window(4, 60), name="https://b\u00fccher.example/\"'\\\n\U0001f600/")
    await reserve(store, NOW, strange)
    accounts = [
        strange,
        replace(OWN, name="https://own.example/"),
        account(Window(7, 60), name=OTHER),
        account(Window(5, 60), Window(3, 90)),
        account(Window(9, 60)),
    ]
    budgets = await store.budgets(accounts, NOW)
    assert [budget.left for budget in budgets] == [3, None, 7, 2, 8]
    assert await store.budgets([], NOW) == ()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["longer last", "longer first"])
async def test_an_account_may_be_asked_about_twice_with_different_windows(store, order):
    minute, hour = account(Window(5, 60)), account(Window(5, 3_600))
    await reserve(store, NOW, minute)
    accounts = [[minute, hour][place] for place in order]
    budgets = await store.budgets(accounts, NOW + 100)
    assert [budgets[place].left for place in order] == [5, 4]


async def test_the_seed_of_an_installation_stays_and_has_63_bits(store):
    seeds = {await store.installation_seed() for _ in range(3)}
    await store.aclose()
    seeds.add(await store.installation_seed())
    (seed,) = seeds
    assert 0 <= seed < 2**63


async def test_a_clock_put_back_frees_nothing_and_locks_nobody_out_for_longer_than_the_window(
    store,
):
    ahead = NOW + 365 * DAY
    for turn in range(3):
        assert (await reserve(store, ahead + 30 * turn)).granted
    refused = await reserve(store, NOW)
    assert (refused.granted, refused.retry_at) == (False, NOW + 30 * DAY)
    assert (await reserve(store, NOW + 30 * DAY)).granted


async def test_a_clock_a_little_behind_anothers_changes_no_charge(store):
    await reserve(store, NOW + 1, OPEN)
    refused = await reserve(store, NOW, OPEN)
    assert (refused.granted, refused.retry_at) == (False, NOW + 31)
    assert (await budget_of(store, OPEN, NOW)).left == 0


async def test_a_clock_put_forward_frees_a_window_once(store):
    three = account(Window(limit=3, seconds=60))
    assert [(await reserve(store, NOW, three)).granted for _ in range(4)].count(True) == 3
    later = NOW + 10_000
    assert [(await reserve(store, later, three)).granted for _ in range(4)].count(True) == 3
    assert not (await reserve(store, NOW + 1, three)).granted


@pytest.mark.parametrize("spent_ago", [0.0, 12 * DAY, 29 * DAY])
async def test_a_clock_put_ahead_by_a_month_and_back_refunds_nothing(store, spent_ago):
    for turn in range(3):
        assert (await reserve(store, NOW - spent_ago + 40 * turn)).granted
    assert (await reserve(store, NOW + 31 * DAY)).granted
    refused = await reserve(store, NOW + 120)
    assert not refused.granted
    assert NOW + 120 < refused.retry_at <= NOW + 120 + 30 * DAY


RECORD = InstanceRecord(
    url=HOST,
    state=InstanceState.RATE_LIMITED,
    until=NOW + 600,
    reason="It said so.",
    healthy_since=NOW - DAY,
    last_at=NOW,
    successes=3,
    failures=1,
    consecutive_failures=1,
    observed=2.6,
    count=3.5,
    observed_at=NOW - 5,
    latency=0.25,
    latency_at=NOW - 6,
    latencies=(0.1, 0.25),
    outcomes=(
        PastOutcome(at=NOW - 6, verdict=Verdict.FULL, format=Format.HTML, status_code=200),
        PastOutcome(at=NOW, verdict=Verdict.RATE_LIMITED, format=Format.JSON, detail="429"),
    ),
    json_enabled=False,
    json_recheck=NOW + 7 * DAY,
    json_listed=True,
    link_token=True,
    failing_episode=1,
    limit_episode=2,
    quarantine_episode=3,
    limits=(NOW - 100, NOW),
    recent=(True, False),
    without_engines=1,
    degraded_at=NOW,
    successes_in_a_row=0,
    overtaken=1,
    overtaken_at=NOW - 8,
    trust_violations=2,
    certificate_failures=1,
    bans=1,
    drift=4,
    last_verdict=Verdict.RATE_LIMITED,
    last_detail="429",
    facts=ConfigFacts(version="2026.8.1", limiter_enabled=True, engines=("bing", "brave")),
    robots_read_at=NOW - 7,
)


async def test_what_is_saved_is_loaded_field_by_field(store):
    records = {HOST: RECORD, OTHER: InstanceRecord(url=OTHER)}
    await store.save(records, NOW)
    assert await store.load(NOW) == records


@pytest.mark.parametrize(
    ("last_at", "kept"),
    [(NOW - 1, "old"), (NOW, "new"), (NOW + 1, "new")],
    ids=["earlier", "equal", "later"],
)
async def test_the_record_that_changed_last_is_kept(store, last_at, kept):
    await store.save({HOST: RECORD.model_copy(update={"last_detail": "old"})}, NOW)
    incoming = RECORD.model_copy(update={"last_detail": "new", "last_at": last_at})
    await store.save({HOST: incoming}, NOW)
    assert (await store.load(NOW))[HOST].last_detail == kept


async def test_a_record_from_the_future_keeps_what_was_left_of_its_wait(store):
    ahead = 365 * DAY
    moved = {"last_at": NOW + ahead, "until": RECORD.until + ahead}
    later = RECORD.model_copy(update=moved)
    believed = later.settled(NOW)
    assert believed.until == RECORD.until
    await store.save({HOST: later}, NOW + ahead)
    assert await store.load(NOW) == {HOST: believed}
    assert await store.load(NOW + 10) == {HOST: believed}


async def test_a_record_from_the_future_gives_way_to_the_next_one(store):
    await store.save({HOST: RECORD.model_copy(update={"last_at": NOW + DAY})}, NOW + DAY)
    await store.save({HOST: RECORD}, NOW)
    assert await store.load(NOW) == {HOST: RECORD}


async def test_no_wait_ends_later_than_forty_days_from_now(store):
    endless = RECORD.model_copy(update={"until": NOW + 400 * DAY, "json_recheck": NOW + 41 * DAY})
    await store.save({HOST: endless}, NOW)
    record = (await store.load(NOW))[HOST]
    assert (record.until, record.json_recheck) == (NOW + 40 * DAY, NOW + 40 * DAY)


async def test_a_job_is_done_once_in_its_period(store):
    assert await store.claim("probe", seconds=300, now=NOW)
    assert not await store.claim("probe", seconds=300, now=NOW + 299)
    assert await store.claim("other", seconds=300, now=NOW)
    assert await store.claim("probe", seconds=300, now=NOW + 300)
    assert not await store.claim("probe", seconds=300, now=NOW + 301)


async def test_a_job_claimed_in_the_future_is_free_after_one_period(store):
    assert await store.claim("probe", seconds=300, now=NOW + DAY)
    assert not await store.claim("probe", seconds=300, now=NOW)
    assert not await store.claim("probe", seconds=300, now=NOW + 299)
    assert await store.claim("probe", seconds=300, now=NOW + 300)


async def test_one_of_many_claims_at_once_succeeds(store):
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(store.claim("probe", seconds=60, now=NOW)) for _ in range(50)]
    assert sum(task.result() for task in asked) == 1


async def test_what_the_user_chose_is_kept_sorted_and_once(store):
    assert await store.choices() == {InstanceChoice.OWN: (), InstanceChoice.BLOCKED: ()}
    assert await store.choose(InstanceChoice.OWN, "https://b.example/", chosen=True)
    assert await store.choose(InstanceChoice.OWN, "https://a.example/", chosen=True)
    assert not await store.choose(InstanceChoice.OWN, "https://b.example/", chosen=True)
    assert await store.choose(InstanceChoice.BLOCKED, "b.example", chosen=True)
    assert await store.choices() == {
        InstanceChoice.OWN: ("https://a.example/", "https://b.example/"),
        InstanceChoice.BLOCKED: ("b.example",),
    }


async def test_a_choice_is_taken_back_for_its_kind_alone(store):
    for kind in InstanceChoice:
        await store.choose(kind, "a.example", chosen=True)
    assert await store.choose(InstanceChoice.OWN, "a.example", chosen=False)
    assert not await store.choose(InstanceChoice.OWN, "a.example", chosen=False)
    assert await store.choices() == {InstanceChoice.OWN: (), InstanceChoice.BLOCKED: ("a.example",)}


@pytest.mark.parametrize("chosen", [True, False], ids=["chosen", "taken back"])
async def test_of_many_that_choose_the_same_at_once_one_changes_it(store, chosen):
    await store.choose(InstanceChoice.BLOCKED, "a.example", chosen=not chosen)
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(store.choose(InstanceChoice.BLOCKED, "a.example", chosen=chosen))
            for _ in range(30)
        ]
    assert sum(task.result() for task in asked) == 1
    assert (await store.choices())[InstanceChoice.BLOCKED] == (("a.example",) if chosen else ())


async def test_purging_forgets_everything(store):
    await reserve(store, NOW)
    await store.save({HOST: RECORD}, NOW)
    await store.claim("probe", seconds=300, now=NOW)
    await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    seed = await store.installation_seed()
    await store.purge()
    assert await store.choices() == {InstanceChoice.OWN: (), InstanceChoice.BLOCKED: ()}
    assert await store.installation_seed() != seed
    assert (await budget_of(store, PUBLIC, NOW)).left == 1
    assert await store.load(NOW) == {}
    assert await store.claim("probe", seconds=300, now=NOW)


async def test_a_store_that_was_let_go_of_still_remembers(store):
    await reserve(store, NOW)
    await store.choose(InstanceChoice.OWN, "https://b\u00fccher.example/\"'\\/", chosen=True)
    await store.aclose()
    await store.aclose()
    assert not (await reserve(store, NOW + 1)).granted
    assert (await store.choices())[InstanceChoice.OWN] == ("https://b\u00fccher.example/\"'\\/",)


@settings(deadline=None, max_examples=40)  # files are made: how long that takes says nothing
@given(
    steps=st.lists(
        st.tuples(st.floats(0, 4_000), st.sampled_from(Format), st.booleans()), max_size=60
    )
)
async def test_no_window_is_ever_exceeded(new_store, steps):
    """Whichever of the windows apply at the time, as an instance changes its limiter."""
    async with aclosing(new_store()) as store:
        now = NOW
        granted: list[tuple[float, Format]] = []
        for wait, format_, known in steps:
            now += wait
            limited = instance_account(HOST, own=False, link_token=False if known else None)
            if (await store.reserve([limited], format_, now)).granted:
                granted.append((now, format_))
                for window in limited.windows:
                    if window.format in (None, format_):
                        assert _inside(granted, window, now) <= window.limit


@settings(deadline=None, max_examples=40)  # files are made: how long that takes says nothing
@given(
    steps=st.lists(
        st.tuples(
            st.floats(0, 50),
            st.sampled_from([0.0, 0.0, 0.0, -100_000.0, -200.0, -40.0, 200.0, 100_000.0]),
            st.booleans(),
        ),
        max_size=60,
    )
)
async def test_each_step_of_the_clock_forward_frees_a_window_at_most_once(new_store, steps):
    """In true time, with a clock that is put back and forward by the given steps."""
    window = Window(limit=3, seconds=100)
    async with aclosing(new_store()) as store:
        true_time, error = NOW, 0.0
        granted: list[tuple[float, Format]] = []
        forward: list[float] = []
        for wait, step, restart in steps:
            true_time += wait
            error += step
            if step > 0:
                forward.append(true_time)
            if restart:
                await store.aclose()
            now = true_time + error
            reservation = await store.reserve([account(window)], Format.HTML, now)
            assert reservation.granted or now < reservation.retry_at <= now + 60 + window.seconds
            if reservation.granted:
                granted.append((true_time, Format.HTML))
                freed = sum(at > true_time - window.seconds for at in forward)
                assert _inside(granted, window, true_time) <= window.limit * (1 + freed)


def _inside(granted: list[tuple[float, Format]], window: Window, now: float) -> int:
    return sum(
        at + window.seconds > now and window.format in (None, format_) for at, format_ in granted
    )


async def test_charges_are_counted_by_their_age_in_days(store):
    a, b = (Account(f"https://{name}.example/", (Window(50, 30 * DAY),)) for name in "ab")
    for account, age in ((b, 29.5), (a, 6.6), (a, 6.5), (a, 0.5), (b, 0.1)):
        assert (await store.reserve([account], Format.HTML, NOW - age * DAY)).granted
    together = Account("public", (Window(1, 60),), members=(a.name, b.name))
    counted = await charges_by_day(store, [a, together, b], NOW)
    assert [{day: n for day, n in enumerate(row) if n} for row in counted] == [
        {0: 1, 6: 2},
        {0: 2, 6: 2, 29: 1},
        {0: 1, 29: 1},
    ]
    assert await charges_by_day(store, [], NOW) == ()
