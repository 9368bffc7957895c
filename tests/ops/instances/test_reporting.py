"""What the list of instances says of each."""

from datetime import UTC, datetime, timedelta

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.instance import Uptime
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng


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
