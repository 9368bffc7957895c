"""Which instances are listed in which order, and what the list says of each."""

from datetime import UTC, datetime, timedelta

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.instance import InstanceReport, InstanceState, SortKey, Tier, Uptime
from searx_mcp.ops.instance_reports import Selection
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng


def row(name: str, **fields) -> InstanceReport:
    base = {"tier": Tier.A, "grade": "A", "state": InstanceState.HEALTHY, "score": 0.5}
    return InstanceReport.model_validate({"url": f"https://{name}.example/", **base, **fields})


ROWS = (
    row("own", tier=Tier.OWN, score=1, p50=0.3, p95=0.9, success=0.9, budget_left=None),
    row("b", score=0.7, p50=0.2, p95=1.0, success=1.0, budget_left=1),
    row("a", state="quarantined", retry_after=60, budget_left=2, success=0.0),
    row("c", state="blacklisted", score=0.1, budget_left=0, tier=Tier.A_PLUS),
)


def names(selection: Selection) -> str:
    return " ".join(found.url.split("//")[1].split(".")[0] for found in selection.of(ROWS))


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (None, "own b a c"),
        (SortKey.HOST, "a b c own"),
        (SortKey.SCORE, "own b a c"),
        (SortKey.STATE, "own b a c"),
        (SortKey.SUCCESS, "b own a c"),
        (SortKey.P50, "b own a c"),
        (SortKey.P95, "own b a c"),
        (SortKey.LEFT, "own a b c"),
        (SortKey.NEXT, "own b a c"),
    ],
)
def test_the_best_comes_first_and_what_is_unknown_last(sort, order):
    assert names(Selection(sort=sort)) == order
    assert names(Selection(sort=sort, reverse=True)) == " ".join(reversed(order.split()))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(states=[InstanceState.HEALTHY]), "own b"),
        (Selection(states=[InstanceState.BLACKLISTED, InstanceState.QUARANTINED]), "a c"),
        (Selection(tiers=[Tier.OWN, Tier.A_PLUS]), "own c"),
        (Selection(host="B.EX"), "b"),
        (Selection(usable=True), "own b"),
        (Selection(usable=True, tiers=[Tier.A]), "b"),
    ],
    ids=["state", "states", "tiers", "host", "usable", "both"],
)
def test_only_what_is_wanted_is_listed(selection, expected):
    assert names(selection) == expected


async def test_the_list_has_uptime_the_last_check_and_the_end_of_a_limit(settings_for, catalog_of):
    clock = FakeClock()
    async with FakeSearxng(status=429) as limited, FakeSearxng() as unasked:
        catalog = catalog_of(limited, unasked)
        listed = [
            entry.model_copy(update={"uptime": uptime})
            for entry, uptime in zip(
                catalog.instances, (Uptime(day=1.0, month=99.5), Uptime(week=88.0)), strict=True
            )
        ]
        catalog = catalog.model_copy(update={"instances": tuple(listed)})
        settings = settings_for(limited, unasked, search={"max_instances": 1})
        async with SearxClient(settings, catalog=catalog, clock=clock) as client:
            before = {row.url: row for row in (await client.instances()).instances}
            with pytest.raises(NoInstancesError):
                await client.search("x", fetch_content=False)
            after = {row.url: row for row in (await client.instances()).instances}
            clock.advance(86_400)
            later = {row.url: row for row in (await client.instances()).instances}
    now = datetime.fromtimestamp(FakeClock()(), UTC)
    assert [before[fake.url].uptime for fake in (limited, unasked)] == [99.5, 88.0]
    assert {row.last_checked for row in before.values()} == {None}
    assert [after[fake.url].last_checked for fake in (limited, unasked)] == [now, None]
    until = after[limited.url].rate_limited_until
    assert until is not None
    assert timedelta(seconds=60) <= until - now < timedelta(days=1)
    assert after[unasked.url].rate_limited_until is None
    assert later[limited.url].rate_limited_until is None
