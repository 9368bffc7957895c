"""When searches come."""

import random
from collections.abc import Iterator

HOUR = 3_600.0
DAY = 24 * HOUR

WAKING = (7 * HOUR, 23 * HOUR)
"""Sixteen hours of a day in which anybody searches."""
SESSION_SIZE = 4
"""Searches of one session in the mean: an agent that looks something up asks again in other words."""
SESSION_GAP = 45.0
"""Mean seconds between two searches of a session."""


def dice(*seeds: object) -> random.Random:
    """Dice of a simulation, the same for the same seeds."""
    return random.Random(" ".join(map(str, seeds)))  # noqa: S311 - nobody's secrets


def poisson(rate: float, count: int, rng: random.Random) -> list[float]:
    """Seconds at which `count` independent searches come, `rate` a second in the mean."""
    times = []
    now = 0.0
    for _ in range(count):
        now += rng.expovariate(rate)
        times.append(now)
    return times


def month(days: int, a_day: int, rng: random.Random) -> list[float]:
    """Seconds at which searches come, `a_day` on each day, in sessions in the waking hours."""
    return [time for day in range(days) for time in _one_day(day * DAY, a_day, rng)]


def _one_day(midnight: float, searches: int, rng: random.Random) -> list[float]:
    begin, end = midnight + WAKING[0], midnight + WAKING[1]
    times: list[float] = []
    for size in _sizes(searches, rng):
        at = rng.uniform(begin, end)
        for _ in range(size):
            times.append(min(at, end))
            at += rng.expovariate(1 / SESSION_GAP)
    return sorted(times)


def _sizes(searches: int, rng: random.Random) -> Iterator[int]:
    while searches:
        size = min(searches, rng.randint(1, 2 * SESSION_SIZE - 1))
        yield size
        searches -= size
