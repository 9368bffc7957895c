"""When a budget will be spent at the pace of the last week."""

import pytest

from searx_mcp.models.attempt import Format
from searx_mcp.search.state.budget import month_account
from searx_mcp.search.state.forecast import DAY, charges_by_day, days_left, pace
from searx_mcp.search.state.interface import Account, Window

NOW = 1_800_000_000.0
THREE = (Window(3, 30 * DAY),)
SHORT = (Window(1, 30), Window(8, 600), Window(3, 3_600, Format.JSON))
MONTH = month_account([f"https://i{n}.example/" for n in range(84)]).windows
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
        (MONTH, days(**{f"d{age}": 5 for age in range(30)}), None),
        (MONTH, days(d0=22, d1=22), 13.0),
        (MONTH, days(**{f"d{age}": 12 for age in range(7)}), 0.75),
        (MONTH, days(d0=55), 0.0),
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


async def test_charges_are_counted_by_their_age_in_days(store):
    a, b = (Account(f"https://{name}.example/", (Window(50, 30 * DAY),)) for name in "ab")
    for account, age in ((b, 29.5), (a, 6.6), (a, 6.5), (a, 0.5), (b, 0.1)):
        assert (await store.reserve([account], Format.HTML, NOW - age * DAY)).granted
    together = Account("public", (Window(1, 60),), members=(a.name, b.name))
    counted = await charges_by_day(store, [a, together, b], NOW)
    assert counted == (days(d0=1, d6=2), days(d0=2, d6=2, d29=1), days(d0=1, d29=1))
    assert await charges_by_day(store, [], NOW) == ()
