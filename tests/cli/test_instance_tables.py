"""Tables of the pool, at 80 and 120 columns."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from searx_mcp.cli.instance_tables import budget_table, check_table, forecast, pool_table
from searx_mcp.models.administration import BudgetLine, Check, Checked, ConfigReport, Robots
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = "https://a-very-long-name-of-a-host.somewhere.in.the.world.example.org/searxng/"

ROW = InstanceReport(
    url=LONG,
    tier=Tier.A_PLUS,
    grade="A+",
    state=InstanceState.RATE_LIMITED,
    score=0.345,
    success=0.995,
    p50=10.02,
    p95=12.5,
    format=Format.HTML,
    budget_left=8,
    retry_after=20 * 86_400,
)
CONFIG = ConfigReport(
    version="2026.8.22+9fea41204", limiter=True, link_token=True, engines=("a",) * 272
)
CHECKED = Checked(
    checks=(
        Check(url=LONG, alive=True, elapsed_ms=1_234, robots=Robots.OPTED_OUT, config=CONFIG),
        Check(url="https://b.example/", alive=False, elapsed_ms=5_000),
        Check(
            url="https://c.example/",
            alive=True,
            elapsed_ms=9,
            robots=Robots.UNREADABLE,
            detail="There was no complete answer in time.",
            config=ConfigReport(limiter=False),
        ),
    )
)
LINE = BudgetLine(
    name=LONG,
    spent=2,
    left=0,
    limit=3,
    free_at=NOW + timedelta(days=27.8),
    pace=0.29,
    dry_at=NOW + timedelta(days=5),
)


def lines(table, width: int) -> list[str]:
    console = Console(width=width, highlight=False, soft_wrap=True, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "make",
    [
        lambda width: pool_table([ROW], width=width),
        lambda width: check_table(CHECKED, width=width),
        lambda width: budget_table([LINE], now=NOW, width=width),
    ],
    ids=["pool", "check", "budget"],
)
def test_a_table_fits_the_terminal_and_cuts_nothing_but_addresses(make, width):
    shown = lines(make(width), width)
    assert max(map(len, shown)) <= width
    for line in shown:
        _, _, figures = line.partition(" ")
        assert "…" not in figures


def test_a_wide_table_says_more():
    wide, narrow = ("\n".join(lines(pool_table([ROW], width=w), w)) for w in (120, 80))
    assert "grade" in wide
    assert "grade" not in narrow
    for words in ("rate limited", "100%", "10.02", "html", "20.0 d"):
        assert words in wide
        assert words in narrow
    assert "There was no complete answer" in "\n".join(lines(check_table(CHECKED, width=120), 120))


@pytest.mark.parametrize(
    ("dry_in", "shown"),
    [
        (None, "lasts"),
        (timedelta(0), "dry now"),
        (timedelta(days=7), "dry on Friday 27 November"),
        (timedelta(days=18), "dry on Tuesday 8 December"),
    ],
    ids=["lasts", "now", "a week", "a month"],
)
def test_a_forecast_names_the_day(dry_in, shown):
    line = LINE.model_copy(update={"dry_at": None if dry_in is None else NOW + dry_in})
    assert forecast(line, NOW).plain == shown


def test_a_budget_that_is_spent_within_the_day_is_dry_today():
    noon = NOW.astimezone().replace(hour=12)
    line = LINE.model_copy(update={"dry_at": noon + timedelta(hours=6)})
    assert forecast(line, noon).plain == "dry today"
