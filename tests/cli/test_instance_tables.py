"""Tables of the pool, at 80 and 120 columns."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from searx_mcp.cli.instance_tables import (
    budget_table,
    check_table,
    forecast,
    percent,
    pool_table,
    when,
)
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


KNOWN = InstanceReport(
    url="https://a.example/",
    tier=Tier.A,
    grade="A-",
    state=InstanceState.HEALTHY,
    score=0.4567,
    success=0.875,
    p50=1.234,
    p95=2.5,
    format=Format.HTML,
    budget_left=0,
    retry_after=5_400.0,
)
UNKNOWN = InstanceReport(
    url="https://b.example/", tier=Tier.C, grade=None, state=InstanceState.NEW, score=0
)
OPEN = KNOWN.model_copy(update={"tier": Tier.OPEN})
CHECKS = Checked(
    checks=(
        Check(
            url="https://a.example/",
            alive=True,
            elapsed_ms=12,
            robots=Robots.ALLOWED,
            config=ConfigReport(version="1", limiter=True, link_token=True, engines=()),
        ),
        Check(
            url="https://b.example/",
            alive=False,
            elapsed_ms=12,
            robots=Robots.UNREADABLE,
            detail="Why.",
            config=ConfigReport(limiter=False),
        ),
        Check(url="https://c.example/", alive=False, elapsed_ms=1, robots=Robots.OPTED_OUT),
        Check(
            url="https://d.example/", alive=False, elapsed_ms=1, config=ConfigReport(limiter=True)
        ),
    )
)
BUDGETS = (
    BudgetLine(
        name="https://a.example/",
        spent=2,
        left=0,
        limit=3,
        free_at=NOW + timedelta(hours=3),
        pace=0.26,
        dry_at=NOW,
    ),
    BudgetLine(name="public", spent=0, left=None, free_at=NOW - timedelta(hours=3)),
)


@pytest.mark.parametrize(
    ("width", "make", "rows"),
    [
        (
            110,
            lambda width: pool_table([KNOWN, UNKNOWN, OPEN], width=width),
            [
                "instance tier grade score state success p50 p95 format left next try",
                "a.example A A- 0.46 healthy 88% 1.23 s 2.50 s html 0 in 1.5 h",
                "b.example C ? 0.00 new any now",
                "a.example open healthy 88% 1.23 s 2.50 s html 0 in 1.5 h",
            ],
        ),
        (
            109,
            lambda width: pool_table([KNOWN, UNKNOWN, OPEN], width=width),
            [
                "instance tier score state ok p50 p95 form left next try",
                "a.example A 0.46 healthy 88% 1.23 2.50 html 0 1.5 h",
                "b.example C 0.00 new any now",
                "a.example open healthy 88% 1.23 2.50 html 0 1.5 h",
            ],
        ),
        (
            110,
            lambda width: check_table(CHECKS, width=width),
            [
                "instance answers robots.txt limiter engines version",
                "a.example 12 ms allows us on, token 0 1",
                "b.example no Why. off",
                "c.example no names us",
                "d.example no on",
            ],
        ),
        (
            109,
            lambda width: check_table(CHECKS, width=width),
            [
                "instance answers robots.txt limiter engines version",
                "a.example 12 ms allows us on, token 0 1",
                "b.example no unreadable off",
                "c.example no names us",
                "d.example no on",
            ],
        ),
        (
            80,
            lambda width: budget_table(BUDGETS, now=NOW, width=width),
            [
                "instance spent of left free a day at this pace",
                "a.example 2 3 0 in 3.0 h 0.3 dry now",
                "public 0 any in 0 s lasts",
            ],
        ),
    ],
    ids=["wide pool", "pool", "wide checks", "checks", "budgets"],
)
def test_a_table_has_these_cells(width, make, rows):
    assert [" ".join(line.split()) for line in lines(make(width), width)] == rows


@pytest.mark.parametrize(
    ("share", "shown"), [(None, ""), (0, "0%"), (0.004, "0%"), (0.005, "1%"), (0.995, "100%")]
)
def test_a_share_is_rounded_half_up(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("ahead", "shown"), [(-7_200, "2.0 h ago"), (0, "0 s ago"), (1, "in 1 s"), (90_000, "in 1.0 d")]
)
def test_a_time_is_told_with_its_distance(ahead, shown):
    at = NOW + timedelta(seconds=ahead)
    assert when(at, NOW) == f"{at.astimezone():%Y-%m-%d %H:%M} ({shown})"
