"""How long an instance rests."""

import random

import pytest
from typing_extensions import override

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.timers import (
    failing_time,
    limited_time,
    own_limited_time,
    quarantine_time,
)

HOUR = 3_600
DAY = 86_400


class Dice(random.Random):
    """Throws the lowest or the highest number that may come."""

    def __init__(self, *, high: bool) -> None:
        super().__init__()
        self._high = high

    @override
    def uniform(self, a: float, b: float) -> float:
        return max(a, b) if self._high else min(a, b)


def between(wait):
    """The shortest and the longest wait."""
    return [pytest.approx(wait(Dice(high=high))) for high in (False, True)]


@pytest.mark.parametrize(
    ("episode", "retry_after", "low", "high"),
    [
        (1, None, 15, 30),
        (2, None, 30, 60),
        (3, None, 60, 120),
        (7, None, 960, 1_920),
        (8, None, 1_800, 3_600),
        (5_000, None, 1_800, 3_600),
        (1, 600, 600, 660),
        (1, 20, 20, 30),
        (8, 20, 1_800, 3_600),
    ],
)
def test_a_failing_time_doubles_to_an_hour_keeps_half_as_a_floor_and_honours_retry_after(
    episode, retry_after, low, high
):
    wait = between(lambda dice: failing_time(episode, dice, retry_after=retry_after))
    assert wait == [low, high]


JSON, HTML = Format.JSON, Format.HTML
LIMITED, BLOCKED, CHALLENGE = Verdict.RATE_LIMITED, Verdict.BLOCKED, Verdict.CHALLENGE


@pytest.mark.parametrize(
    ("verdict", "format_", "episode", "facts", "low", "high"),
    [
        pytest.param(LIMITED, JSON, 1, {}, HOUR, 1.2 * HOUR, id="json window"),
        pytest.param(LIMITED, JSON, 4, {}, HOUR, 1.2 * HOUR, id="json window again"),
        pytest.param(LIMITED, HTML, 1, {}, 600, 720, id="html window"),
        pytest.param(LIMITED, HTML, 2, {}, 1_200, 1_440, id="html doubled"),
        pytest.param(LIMITED, HTML, 6, {}, 19_200, 23_040, id="html before the cap"),
        pytest.param(LIMITED, HTML, 5_000, {}, 6 * HOUR, 7.2 * HOUR, id="html cap"),
        pytest.param(BLOCKED, HTML, 1, {}, DAY, 1.2 * DAY, id="home page"),
        pytest.param(BLOCKED, HTML, 2, {}, 3 * DAY, 3.6 * DAY, id="home page twice"),
        pytest.param(CHALLENGE, HTML, 3, {}, 30 * DAY, 36 * DAY, id="challenge three times"),
        pytest.param(BLOCKED, HTML, 9, {}, 30 * DAY, 36 * DAY, id="no step beyond the last"),
        pytest.param(LIMITED, HTML, 1, {"base": 5_000}, 5_000, 6_000, id="base is a floor"),
        pytest.param(LIMITED, JSON, 1, {"doubling": True}, 60, 72, id="doubling"),
        pytest.param(LIMITED, JSON, 4, {"doubling": True}, 480, 576, id="doubled"),
        pytest.param(LIMITED, JSON, 7, {"doubling": True}, HOUR, 1.2 * HOUR, id="doubled to 1 h"),
        pytest.param(LIMITED, JSON, 5_000, {"doubling": True}, HOUR, 1.2 * HOUR, id="no overflow"),
        pytest.param(CHALLENGE, JSON, 1, {"doubling": True}, DAY, 1.2 * DAY, id="block all the same"),
        pytest.param(LIMITED, HTML, 1, {"retry_after": 5.0}, 60, 66, id="retry-after below base"),
        pytest.param(LIMITED, HTML, 1, {"retry_after": 120.0}, 120, 132, id="retry-after"),
        pytest.param(BLOCKED, HTML, 9, {"retry_after": 900.0}, 900, 990, id="retry-after wins"),
    ],
)  # fmt: skip
def test_a_limit_is_waited_out_for_what_the_host_says_or_its_limiters_window(
    verdict, format_, episode, facts, low, high
):
    given = {"retry_after": None, "base": 60, **facts}
    wait = between(lambda dice: limited_time(verdict, format_, episode=episode, rng=dice, **given))
    assert wait == [low, high]


@pytest.mark.parametrize(
    ("verdict", "episode", "retry_after", "low", "high"),
    [
        pytest.param(LIMITED, 1, None, 10, 11, id="seconds"),
        pytest.param(LIMITED, 3, None, 40, 44, id="doubled"),
        pytest.param(LIMITED, 5_000, None, 120, 120, id="two minutes at most"),
        pytest.param(LIMITED, 9, 3.0, 3, 3.3, id="what it asks for"),
        pytest.param(LIMITED, 1, 5_000.0, 120, 120, id="but two minutes at most"),
        pytest.param(BLOCKED, 1, None, 60, 66, id="home page"),
        pytest.param(CHALLENGE, 2, None, 300, 330, id="challenge twice"),
        pytest.param(CHALLENGE, 9, 9_000.0, 600, 600, id="challenge, ten minutes at most"),
    ],
)  # fmt: skip
def test_an_own_instance_that_limits_us_is_asked_again_within_minutes(
    verdict, episode, retry_after, low, high
):
    wait = between(
        lambda dice: own_limited_time(verdict, episode=episode, retry_after=retry_after, rng=dice)
    )
    assert wait == [low, high]


@pytest.mark.parametrize(("episode", "days"), [(1, 1), (2, 3), (3, 7), (9, 7)])
def test_quarantine_lasts_one_three_then_seven_days(episode, days):
    assert between(lambda dice: quarantine_time(episode, dice)) == [days * DAY, days * DAY * 1.2]
