"""How long an instance rests."""

import random

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.timers import failing_time, limited_time, quarantine_time

HOUR = 3_600
DAY = 86_400


@pytest.mark.parametrize(
    ("episode", "low", "high"),
    [
        (1, 15, 30),
        (2, 30, 60),
        (3, 60, 120),
        (5, 240, 480),
        (7, 960, 1_920),
        (8, 1_800, 3_600),
        (500, 1_800, 3_600),
    ],
)
def test_a_failing_time_doubles_up_to_an_hour_and_keeps_half_of_it_as_a_floor(episode, low, high):
    times = [failing_time(episode, random.Random(seed)) for seed in range(200)]
    assert low <= min(times) < max(times) <= high
    assert max(times) - min(times) > (high - low) * 0.9


@pytest.mark.parametrize(("episode", "low"), [(1, 60), (2, 120), (4, 480), (7, HOUR), (500, HOUR)])
def test_where_no_limiter_of_searxng_is_the_wait_doubles_from_the_base_to_an_hour(episode, low):
    times = [
        limited_time(
            Verdict.RATE_LIMITED,
            Format.JSON,
            episode=episode,
            retry_after=None,
            base=60,
            rng=random.Random(seed),
            doubling=True,
        )
        for seed in range(50)
    ]
    assert low <= min(times) < max(times) <= low * 1.2


@pytest.mark.parametrize(
    ("verdict", "format_", "episode", "low"),
    [
        pytest.param(Verdict.RATE_LIMITED, Format.JSON, 1, HOUR, id="json window"),
        pytest.param(Verdict.RATE_LIMITED, Format.JSON, 4, HOUR, id="json window again"),
        pytest.param(Verdict.RATE_LIMITED, Format.HTML, 1, 600, id="html window"),
        pytest.param(Verdict.RATE_LIMITED, Format.HTML, 2, 1_200, id="html doubled"),
        pytest.param(Verdict.RATE_LIMITED, Format.HTML, 99, 6 * HOUR, id="html cap"),
        pytest.param(Verdict.BLOCKED, Format.HTML, 1, DAY, id="home page"),
        pytest.param(Verdict.BLOCKED, Format.HTML, 2, 3 * DAY, id="home page twice"),
        pytest.param(Verdict.CHALLENGE, Format.HTML, 3, 30 * DAY, id="challenge three times"),
        pytest.param(Verdict.BLOCKED, Format.HTML, 9, 30 * DAY, id="no step beyond the last"),
    ],
)
def test_without_retry_after_the_limiters_own_window_is_waited_for(verdict, format_, episode, low):
    for seed in range(50):
        wait = limited_time(
            verdict,
            format_,
            episode=episode,
            retry_after=None,
            base=60,
            rng=random.Random(seed),
        )
        assert low <= wait <= low * 1.2


@pytest.mark.parametrize(
    ("retry_after", "low"), [(5.0, 60), (120.0, 120), (86_400.0, 86_400)], ids=str
)
def test_retry_after_is_honoured_but_never_below_the_configured_base(retry_after, low):
    wait = limited_time(
        Verdict.RATE_LIMITED,
        Format.HTML,
        episode=1,
        retry_after=retry_after,
        base=60,
        rng=random.Random(1),
    )
    assert low <= wait <= low * 1.1


def test_the_configured_base_is_a_floor_under_the_windows():
    wait = limited_time(
        Verdict.RATE_LIMITED,
        Format.HTML,
        episode=1,
        retry_after=None,
        base=5_000,
        rng=random.Random(1),
    )
    assert wait >= 5_000


@pytest.mark.parametrize(("episode", "days"), [(1, 1), (2, 3), (3, 7), (9, 7)])
def test_quarantine_lasts_one_three_then_seven_days(episode, days):
    assert days * DAY <= quarantine_time(episode, random.Random(1)) <= days * DAY * 1.2
