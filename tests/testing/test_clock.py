import math

import pytest

from searx_mcp.testing.clock import FakeClock


def test_a_clock_stands_still_until_it_is_advanced():
    clock = FakeClock(100.0)

    assert (clock(), clock()) == (100.0, 100.0)
    assert clock.advance(2.5) == 102.5
    assert clock() == 102.5


def test_a_clock_starts_in_our_time_unless_told_otherwise():
    assert FakeClock()() == 1_767_225_600.0


def test_advancing_refuses_to_go_back_and_jumping_does_not():
    clock = FakeClock(100.0)

    with pytest.raises(ValueError, match="jump"):
        clock.advance(-1)
    assert clock() == 100.0
    assert clock.jump(-40) == 60.0


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf])
def test_a_clock_refuses_times_that_are_no_times(seconds: float):
    with pytest.raises(ValueError, match="finite"):
        FakeClock().jump(seconds)
