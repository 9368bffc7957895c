"""What tables and lines say."""

import pytest

from searx_mcp.cli.instances import print_pool
from searx_mcp.models.instance import (
    InstanceReport,
    InstanceState,
    MonthReport,
    PoolReport,
    Tier,
)


def row(state: InstanceState, retry_after: float = 0.0) -> InstanceReport:
    return InstanceReport(
        url="https://a.example/",
        tier=Tier.A,
        grade="A",
        state=state,
        score=0.5,
        retry_after=retry_after,
    )


@pytest.mark.parametrize(
    ("state", "retry_after", "shown"),
    [
        (InstanceState.HEALTHY, 0, "now"),
        (InstanceState.FAILING, 90, "in 1.5 min"),
        (InstanceState.BLACKLISTED, 0, "never"),
    ],
    ids=["open", "waiting", "given up"],
)
def test_a_row_ends_with_the_next_try(capsys, state, retry_after, shown):
    print_pool(PoolReport(instances=(row(state, retry_after),)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2
    assert lines[1].endswith(f"any   {shown}")


@pytest.mark.parametrize(
    ("month", "shown"),
    [
        (
            MonthReport(capacity=252, spent=58, left_now=50, left_month=143, kept_back=51),
            "143 of 201 searches left this month, 50 may be used now; 51 kept back.",
        ),
        (
            MonthReport(
                capacity=252, spent=58, left_now=0, left_month=143, kept_back=51, retry_after=9_000
            ),
            "143 of 201 searches left this month, none may be used now, one in 2.5 h; 51 kept back.",
        ),
    ],
    ids=["some", "none"],
)
def test_the_month_is_a_line_below_the_table(capsys, month, shown):
    print_pool(PoolReport(instances=(row(InstanceState.NEW),), month=month))
    assert capsys.readouterr().out.splitlines()[-1].rstrip() == f"Public budget: {shown}"
