"""What public instances allow us, one by one and together, and when it will be spent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceReport, InstanceState, MonthReport, Tier
from searx_mcp.search.budget import (
    DAY,
    MONTH,
    account_of,
    days_left,
    instance_account,
    month_account,
    month_report,
    month_total,
    pace,
)
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.state import Account, Budget, Window

HOST = "https://a.example/"
NOW = 1_000_000_000.0
HOUR = 3_600.0


def limited(hosts: int) -> tuple[str, ...]:
    """That many instances with the window of thirty days."""
    return tuple(f"https://i{n}.example/" for n in range(hosts))


async def take(store: MemoryStore, hosts: int, now: float) -> bool:
    """Ask for one search of the month, at an instance that has no limit of its own."""
    one = Account(limited(1)[0], (Window(10_000, 30 * DAY),))
    accounts = [one, month_account(limited(hosts))]
    return (await store.reserve(accounts, Format.HTML, now)).granted


def limits(hosts: int) -> dict[int, int]:
    """Searches by days."""
    windows = month_account(limited(hosts)).windows
    assert all(window.format is None for window in windows)
    return {round(window.seconds / DAY): window.limit for window in windows}


_PAGES = (Window(1, 30, Format.HTML), Window(8, 600, Format.HTML))
_SHORT = (Window(3, HOUR, Format.JSON), *_PAGES)
_MONTHLY = (*_SHORT, Window(3, 30 * DAY))


@pytest.mark.parametrize(
    ("known", "windows"),
    [
        pytest.param({"link_token": None}, _MONTHLY, id="unknown, like one with the link token"),
        pytest.param({"link_token": True}, _MONTHLY, id="with the link token"),
        pytest.param({"link_token": False}, _SHORT, id="without the link token: no month"),
        pytest.param(
            {"link_token": False, "is_unlimited": True},
            (Window(1, 30), Window(8, 600)),
            id="without a limiter, both formats have the windows of pages",
        ),
        pytest.param({"link_token": True, "own": True}, (), id="own"),
    ],
)
def test_the_windows_of_an_instance_follow_from_its_limiter(known, windows):
    assert instance_account(HOST, **{"own": False, **known}) == Account(HOST, windows)


@pytest.mark.parametrize(
    ("tier", "limiter", "link_token", "expected"),
    [
        (Tier.OWN, False, False, {"own": True, "link_token": False}),
        (Tier.A, False, False, {"own": False, "link_token": False, "is_unlimited": True}),
        (Tier.A, False, True, {"own": False, "link_token": True}),
        (Tier.A, True, False, {"own": False, "link_token": False}),
        (Tier.A, None, None, {"own": False, "link_token": None}),
    ],
)
def test_the_account_of_a_reported_instance_follows_from_its_limiter(
    tier, limiter, link_token, expected
):
    row = InstanceReport(
        url=HOST, tier=tier, grade=None, state=InstanceState.NEW, score=1.0,
        limiter=limiter, link_token=link_token,
    )  # fmt: skip
    assert account_of(row) == instance_account(HOST, **expected)


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        pytest.param(0, {30: 1}, id="none"),
        pytest.param(1, {30: 2}, id="one"),
        pytest.param(3, {30: 7}, id="three: less than a burst"),
        pytest.param(
            12,
            {1: 10, 3: 11, 4: 12, 6: 13, 8: 14, 9: 15, 11: 16, 13: 17, 14: 18, 16: 19}
            | {18: 20, 19: 21, 21: 22, 23: 23, 24: 24, 26: 25, 28: 26, 29: 27, 30: 28},
            id="twelve: the least burst",
        ),
    ],
)
def test_the_month_of_few_hosts(hosts, expected):
    assert limits(hosts) == expected
    assert month_account(limited(hosts)).name == month_total(limited(hosts)).name == MONTH


def test_the_month_of_a_whole_list_has_a_window_for_each_day():
    month = limits(84)
    assert [*month] == [*range(1, 31)]
    assert [month[days] for days in (1, 2, 4, 8, 16, 30)] == [55, 60, 70, 90, 130, 201]


@pytest.mark.parametrize("hosts", [1, 2, 3, 12, 40, 84, 200])
def test_every_number_of_days_keeps_to_the_burst_and_its_share_of_the_rest(hosts):
    usable = max(1, int(0.8 * 3 * hosts))
    burst = min(usable, max(10, usable // 4))
    for days, limit in limits(hosts).items():
        assert limit == int(burst + (usable - burst) * days / 30 + 1e-9)
    assert limits(hosts)[30] == usable <= 0.8 * 3 * hosts


@given(
    hosts=st.integers(1, 40),
    waits=st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, HOUR, DAY - 1, 5 * DAY]), max_size=300),
)
async def test_no_thirty_days_hold_more_than_four_fifths(hosts, waits):
    store, now = MemoryStore(), NOW
    taken = []
    for wait in waits:
        now += wait
        if await take(store, hosts, now):
            taken.append(now)
    usable = 3 * hosts * 4 // 5
    for first, later in zip(taken, taken[usable:], strict=False):
        assert later >= first + 30 * DAY
    assert usable <= 0.8 * 3 * hosts


@pytest.mark.parametrize("hosts", [17, 40, 84])
async def test_whoever_searches_all_the_time_gets_a_burst_and_then_some_every_day(hosts):
    """Sixty days; seventeen hosts are the fewest that give one a day."""
    usable = 3 * hosts * 4 // 5
    burst = max(10, usable // 4)
    store = MemoryStore()
    per_day = [0] * 61
    for day in range(61):
        while await take(store, hosts, NOW + day * DAY):
            per_day[day] += 1
    assert per_day[0] == burst + (usable - burst) // 30
    assert min(per_day) >= 1
    for day in range(31):
        assert sum(per_day[day : day + 30]) <= usable
    assert sum(per_day[:30]) == usable


async def report(store: MemoryStore, hosts: int, now: float) -> MonthReport:
    paced, total = await store.budgets(
        [month_account(limited(hosts)), month_total(limited(hosts))], now
    )
    return month_report(hosts, paced=paced, total=total, now=now)


async def test_the_report_tells_what_is_left_now_and_of_the_month():
    store = MemoryStore()
    fresh = await report(store, 84, NOW)
    assert fresh == MonthReport(capacity=252, spent=0, left_now=55, left_month=201, kept_back=51)
    for _ in range(55):
        await take(store, 84, NOW)
    spent = {"capacity": 252, "spent": 55, "left_month": 146, "kept_back": 51}
    at_once = await report(store, 84, NOW + 0.25)
    assert at_once == MonthReport(**spent, left_now=0, retry_after=86_399.8)
    assert await report(store, 84, NOW + DAY) == MonthReport(**spent, left_now=5)
    assert await report(store, 84, NOW + 30 * DAY) == fresh


async def test_a_pool_that_has_shrunk_has_nothing_left():
    store = MemoryStore()
    for _ in range(40):
        await take(store, 84, NOW)
    shrunk = await report(store, 3, NOW)
    assert shrunk == MonthReport(
        capacity=9, spent=9, left_now=0, left_month=0, kept_back=2, retry_after=30 * DAY
    )


def test_a_store_that_cannot_tell_shows_nothing_left():
    busy = Budget(left=0, free_at=NOW + 3)
    shown = month_report(1, paced=busy, total=busy, now=NOW)
    assert shown == MonthReport(
        capacity=3, spent=3, left_now=0, left_month=0, kept_back=1, retry_after=3
    )


async def test_an_instance_that_turns_out_to_have_no_such_window_takes_its_charges_with_it():
    store = MemoryStore()
    one, *others = limited(3)
    account = instance_account(one, own=False, link_token=None)
    await store.reserve([account, month_account(limited(3))], Format.HTML, NOW)
    (known,) = await store.budgets([month_account(others)], NOW)
    assert known.left == month_account(others).windows[-1].limit


NOW = 1_800_000_000.0
THREE = (Window(3, 30 * DAY),)
SHORT = (Window(1, 30), Window(8, 600), Window(3, 3_600, Format.JSON))
PACED = month_account([f"https://i{n}.example/" for n in range(84)]).windows
"""201 in 30 days, 50 at once."""


def days(**counts: int) -> tuple[int, ...]:
    """Charges by their age in days: `days(d0=2, d9=1)`."""
    return tuple(counts.get(f"d{age}", 0) for age in range(30))


@pytest.mark.parametrize(
    ("windows", "by_day", "left"),
    [
        ((), days(d0=100), None),
        (SHORT, days(d0=100), None),
        (THREE, days(), None),
        (THREE, days(d0=3), 0.0),
        (THREE, days(d29=3), 0.0),
        (THREE, days(d8=2), None),
        (THREE, days(d0=1), 14.25),
        (THREE, days(d0=1, d1=1), 3.75),
        (THREE, days(d1=1, d28=2), 0.0),
        (THREE, days(d1=1, d28=1), 14.25),
        ((Window(30, 30 * DAY),), days(**{f"d{age}": 1 for age in range(29)}), None),
        ((Window(30, 30 * DAY),), days(**{f"d{age}": 2 for age in range(7)}), 8.25),
        (PACED, days(**{f"d{age}": 5 for age in range(30)}), None),
        (PACED, days(d0=22, d1=22), 13.0),
        (PACED, days(**{f"d{age}": 12 for age in range(7)}), 0.75),
        (PACED, days(d0=55), 0.0),
    ],
    ids=[
        "no limit",
        "short windows let go soon",
        "never asked",
        "spent now",
        "spent long ago",
        "nothing in the last week",
        "one a week",
        "two a week",
        "spent, and soon free",
        "an old charge leaves in time",
        "just what the window allows",
        "twice what the window allows",
        "the month at its pace",
        "a burst of the month",
        "too much for the month",
        "the burst of the month is spent",
    ],
)
def test_a_budget_lasts_or_is_dry_in_days(windows, by_day, left):
    assert days_left(windows, by_day) == left


def test_the_pace_is_that_of_the_last_week():
    assert pace(days(d0=3, d6=4, d7=50)) == 1.0
