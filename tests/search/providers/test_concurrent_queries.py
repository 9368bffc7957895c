"""What the requests of an open source are charged to."""

from dataclasses import replace

import pytest

from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.members import rate_limits
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.state import Account, Window

ENGINE = replace(
    engines_of(OpenSourcesConfig())["openverse"],
    gap=2.0,
    gap_without_contact=None,
    burst=3,
    per_day=50,
    bucket="",
)


@pytest.mark.parametrize(
    ("gap_without_contact", "has_contact", "seconds"),
    [
        (None, True, 6.0),
        (None, False, 6.0),
        (5.0, True, 6.0),
        (5.0, False, 15.0),
        (0.0, False, 0.0),
    ],
)
def test_so_many_at_once_keep_the_gap_between_them_on_average(
    gap_without_contact, has_contact, seconds
):
    engine = replace(ENGINE, gap_without_contact=gap_without_contact)
    account = rate_limits(engine, has_contact=has_contact)
    assert account == Account(engine.address, (Window(3, seconds), Window(50, 86_400.0)))


def test_engines_of_one_operator_have_one_account():
    assert rate_limits(replace(ENGINE, bucket="b"), has_contact=True).name == "b"
