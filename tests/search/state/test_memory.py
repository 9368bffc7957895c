"""Budgets in memory."""

from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format
from searx_mcp.search.budget import windows
from searx_mcp.search.state.interface import Budget, Window
from searx_mcp.search.state.memory import MemoryStore

HOST = "https://a.example/"
NOW = 1_000_000.0
PUBLIC = windows(own=False, link_token=None)
OPEN = windows(own=False, link_token=False)


async def reserve(store, at, *, limits=PUBLIC, format=Format.HTML, host=HOST):  # noqa: A002 - the field's word
    return await store.reserve(host, format, limits, at)


async def test_an_own_instance_has_no_budget():
    store = MemoryStore()
    limits = windows(own=True, link_token=None)
    assert all([(await reserve(store, NOW, limits=limits)).granted for _ in range(500)])
    assert (await store.budget(HOST, limits, NOW)).left is None


async def test_a_host_with_the_link_token_is_asked_three_times_in_thirty_days():
    store = MemoryStore()
    for day in range(3):
        assert (await reserve(store, NOW + day * 86_400)).granted
    refused = await reserve(store, NOW + 3 * 86_400)
    assert not refused.granted
    assert refused.retry_at == NOW + 30 * 86_400
    budget = await store.budget(HOST, PUBLIC, NOW + 3 * 86_400)
    assert (budget.left, budget.free_at) == (0, NOW + 30 * 86_400)
    assert (await reserve(store, NOW + 30 * 86_400)).granted


async def test_pages_are_asked_for_once_in_thirty_seconds():
    store = MemoryStore()
    assert (await reserve(store, NOW, limits=OPEN)).granted
    refused = await reserve(store, NOW + 29, limits=OPEN)
    assert (refused.granted, refused.retry_at) == (False, NOW + 30)
    assert (await reserve(store, NOW + 30, limits=OPEN)).granted


async def test_pages_are_asked_for_eight_times_in_ten_minutes():
    store = MemoryStore()
    for turn in range(8):
        assert (await reserve(store, NOW + 30 * turn, limits=OPEN)).granted
    refused = await reserve(store, NOW + 240, limits=OPEN)
    assert (refused.granted, refused.retry_at) == (False, NOW + 600)


async def test_json_is_asked_for_three_times_an_hour_apart_from_pages():
    store = MemoryStore()
    for turn in range(3):
        assert (await reserve(store, NOW + turn, limits=OPEN, format=Format.JSON)).granted
    refused = await reserve(store, NOW + 3, limits=OPEN, format=Format.JSON)
    assert (refused.granted, refused.retry_at) == (False, NOW + 3_600)
    assert (await reserve(store, NOW + 3, limits=OPEN)).granted


async def test_every_search_counts_towards_thirty_days_whatever_its_format():
    store = MemoryStore()
    for turn in range(3):
        assert (await reserve(store, NOW + turn, format=Format.JSON)).granted
    assert not (await reserve(store, NOW + 10_000, format=Format.HTML)).granted


async def test_a_refusal_is_not_charged():
    store = MemoryStore()
    await reserve(store, NOW, limits=OPEN)
    for turn in range(20):
        await reserve(store, NOW + turn, limits=OPEN)
    assert (await reserve(store, NOW + 30, limits=OPEN)).granted


async def test_hosts_do_not_share_a_budget():
    store = MemoryStore()
    await reserve(store, NOW)
    assert (await reserve(store, NOW, host="https://b.example/")).granted


async def test_what_is_left_is_the_tightest_window():
    store = MemoryStore()
    assert await store.budget(HOST, PUBLIC, NOW) == Budget(left=1, free_at=NOW)
    await reserve(store, NOW)
    assert await store.budget(HOST, PUBLIC, NOW) == Budget(left=0, free_at=NOW + 30)
    assert (await store.budget(HOST, PUBLIC, NOW + 31)).left == 1


async def test_charges_older_than_every_window_are_forgotten():
    store = MemoryStore()
    await reserve(store, NOW)
    await reserve(store, NOW + 40 * 86_400)
    assert repr(store) == "<MemoryStore [1 charges]>"


async def test_closing_twice_is_harmless():
    store = MemoryStore()
    await store.aclose()
    await store.aclose()


@given(
    steps=st.lists(
        st.tuples(st.floats(0, 400), st.sampled_from(Format), st.booleans()), max_size=80
    )
)
async def test_no_window_is_ever_exceeded(steps):
    store = MemoryStore()
    now = NOW
    granted: list[tuple[float, Format]] = []
    for wait, format_, known in steps:
        now += wait
        limits = windows(own=False, link_token=False if known else None)
        if (await store.reserve(HOST, format_, limits, now)).granted:
            granted.append((now, format_))
            for window in limits:
                if window.format in (None, format_):
                    assert _inside(granted, window, now) <= window.limit


def _inside(granted: list[tuple[float, Format]], window: Window, now: float) -> int:
    return sum(
        at > now - window.seconds and window.format in (None, format_) for at, format_ in granted
    )
