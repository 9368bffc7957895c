"""How many calls a token has left, and how many wrong tokens an address may send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.server.web.quotas import Quotas, SlidingCount, WrongTokens


@given(
    limit=st.integers(1, 20),
    gaps=st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=200),
)
def test_no_window_has_more_than_its_limit_and_waiting_helps(limit, gaps):
    count, now, granted = SlidingCount(limit, 60.0), 1_000.0, []
    for gap in gaps:
        now += gap
        wait = count.wait(now)
        if wait:
            assert 0 < wait <= 61.01
            now += wait + 1e-6
            assert count.wait(now) == 0
        count.add(now)
        granted.append(now)
    for end in granted:
        assert sum(end - 60 < at <= end for at in granted) <= limit


def test_room_that_is_left_is_granted():
    count = SlidingCount(3, 60.0)
    for now in (10.0, 10.5, 40.0):
        assert count.wait(now) == 0
        count.add(now)
    assert count.wait(40.0) == pytest.approx(31.0)
    assert count.wait(71.0) == 0


def test_a_limit_that_was_lowered_waits_for_enough_to_leave():
    quotas = Quotas()
    for now in (0.0, 10.0, 20.0, 30.0):
        assert quotas.charge("a", per_minute=10, per_day=None, now=now) == 0
    assert quotas.charge("a", per_minute=2, per_day=None, now=30.0) == pytest.approx(51.0)
    assert quotas.charge("a", per_minute=5, per_day=None, now=30.0) == 0


def test_a_refused_call_is_counted_nowhere_and_names_do_not_share():
    quotas = Quotas()
    for _ in range(5):
        assert quotas.charge("a", per_minute=5, per_day=6, now=0.0) == 0
    assert 60 <= quotas.charge("a", per_minute=5, per_day=6, now=0.0) <= 61
    assert quotas.charge("b", per_minute=5, per_day=6, now=0.0) == 0
    assert quotas.charge("a", per_minute=5, per_day=6, now=61.0) == 0
    day = quotas.charge("a", per_minute=5, per_day=6, now=61.0)
    assert 86_000 < day <= 86_400 + 1_440


@pytest.mark.parametrize(
    ("address", "other", "shares"),
    [
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "", True),
        ("a-socket", "", True),
    ],
)
def test_wrong_tokens_are_counted_by_customer(address, other, shares):
    wrong = WrongTokens()
    for _ in range(10):
        assert wrong.charge(address, 0.0) == 0
    assert 0 < wrong.charge(address, 0.0) <= 61
    assert bool(wrong.charge(other, 0.0)) is shares
    assert wrong.charge(address, 62.0) == 0


def test_many_addresses_take_bounded_space_and_the_busy_one_stays():
    wrong = WrongTokens()
    for number in range(20_000):
        wrong.charge("192.0.2.7", 0.0)
        wrong.charge(f"10.0.{number >> 8}.{number & 255}", 0.0)
    assert len(wrong._counts) <= 4_096
    assert wrong.charge("192.0.2.7", 0.0)
