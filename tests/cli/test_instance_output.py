"""What a person reads of the pool, of one instance, and of a change."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from searx_mcp.models.administration import (
    BudgetLine,
    Checked,
    ConfigReport,
    InstanceCheck,
    InstanceDetails,
    Ledger,
    MemberReason,
    OpenSource,
    Refresh,
    Robots,
    Timers,
    Trial,
    WindowReport,
)
from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.instance import (
    EngineReport,
    EngineState,
    InstanceReport,
    InstanceState,
    MonthReport,
    PoolReport,
    Tier,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = "https://a-very-long-name-of-a-host.somewhere.in.the.world.example.org/searxng/"

PARTS = [
    *("prior", "observed", "confidence", "latency", "access", "format"),
    *(f"prior_{name}" for name in ("success", "latency", "uptime", "grade", "engines")),
]


def row(**fields) -> InstanceReport:
    usual = {"url": "https://a.example/", "tier": Tier.A, "grade": None, "score": 0.5}
    return InstanceReport(**usual | {"state": InstanceState.NEW} | fields)


KNOWN = row(
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
UNKNOWN = row(url="https://b.example/", tier=Tier.C, score=0)
GIVEN_UP = row(url="https://c.example/", grade="A+", state=InstanceState.BLACKLISTED)
OPEN = KNOWN.model_copy(update={"tier": Tier.OPEN})
WIDE = row(
    url=LONG,
    tier=Tier.A_PLUS,
    grade="A+",
    state=InstanceState.RATE_LIMITED,
    success=0.995,
    p50=10.02,
    p95=12.5,
    format=Format.HTML,
    budget_left=8,
    retry_after=20 * 86_400,
)


def check(url: str, config: ConfigReport | None = None, **fields) -> InstanceCheck:
    return InstanceCheck(
        **{"url": url, "alive": False, "elapsed_ms": 12, "config": config} | fields
    )


CHECKS = [
    check(
        "https://a.example/",
        ConfigReport(version="1", limiter=True, link_token=True, engines=()),
        alive=True,
        robots=Robots.ALLOWED,
    ),
    check(
        "https://b.example/",
        ConfigReport(limiter=False),
        robots=Robots.UNREADABLE,
        detail="No complete answer arrived in time.",
    ),
    check("https://c.example/", robots=Robots.OPTED_OUT),
    check("https://d.example/", ConfigReport(limiter=True)),
]
WIDE_CHECK = check(
    LONG,
    ConfigReport(
        version="2026.8.22+9fea41204", limiter=True, link_token=True, engines=("a",) * 272
    ),
    alive=True,
    elapsed_ms=1_234,
    robots=Robots.OPTED_OUT,
)
SPENT = BudgetLine(
    name="https://a.example/",
    spent=2,
    left=0,
    limit=3,
    free_at=NOW + timedelta(hours=3),
    pace=0.26,
    dry_at=NOW,
)
WIDE_LINE = SPENT.model_copy(
    update={"name": LONG, "free_at": NOW + timedelta(days=27.8), "dry_at": NOW + timedelta(days=5)}
)
UNTOUCHED = BudgetLine(name="public", spent=0, left=None, free_at=NOW - timedelta(hours=3))


def pools(*rows: InstanceReport):
    return {"command": "instances list", "admin": {"list": PoolReport(instances=rows)}}


def checks(*each: InstanceCheck):
    return {"command": "instances check", "admin": {"check": Checked(checks=each)}}


def budgets(*each: BudgetLine, at: datetime = NOW):
    return {"command": "instances budget --all", "admin": {"budget": Ledger(at=at, instances=each)}}


async def test_a_pipe_gets_the_table_of_a_wide_terminal(printed):
    made = pools(KNOWN, WIDE, row(url="https://例え.example/"))
    piped = await printed(**made)
    assert piped.lines[:4] == (await printed(**made, columns=500)).lines[:4]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "make",
    [pools(WIDE), checks(WIDE_CHECK, *CHECKS), budgets(WIDE_LINE)],
    ids=["pool", "check", "budget"],
)
async def test_a_table_fits_the_terminal_and_cuts_nothing_but_addresses(printed, make, width):
    shown = (await printed(**make, columns=width)).lines
    assert max(map(len, shown)) <= width
    for line in shown:
        _, _, figures = line.partition(" ")
        assert "…" not in figures


@pytest.mark.parametrize(
    ("dry_in", "shown"),
    [
        (None, "won't run out"),
        (timedelta(0), "used up"),
        (timedelta(hours=6), "runs out today"),
        (timedelta(days=7), "runs out Fri 27 Nov"),
        (timedelta(days=18), "runs out Tue 8 Dec"),
    ],
    ids=["lasts", "now", "today", "a week", "a month"],
)
async def test_a_forecast_names_the_day(printed, dry_in, shown):
    noon = NOW.replace(hour=12, tzinfo=None).astimezone()  # the day is that of this machine
    line = SPENT.model_copy(update={"dry_at": None if dry_in is None else noon + dry_in})
    ran = await printed(**budgets(line, at=noon))
    assert ran.lines[1].rstrip().endswith(f"  {shown}")


@pytest.mark.parametrize(
    ("width", "make", "rows"),
    [
        (
            110,
            pools(KNOWN, UNKNOWN, GIVEN_UP, OPEN),
            [
                "instance tier grade score state success p50 p95 format left next try",
                "a.example A A- 0.46 healthy 88% 1.23 s 2.50 s html 0 in 1.5 h",
                "b.example C ? 0.00 new any now",
                "c.example A A+ 0.50 blacklisted any never",
                "a.example open healthy 88% 1.23 s 2.50 s html 0 in 1.5 h",
            ],
        ),
        (
            109,
            pools(KNOWN, UNKNOWN, GIVEN_UP, OPEN),
            [
                "instance tier score state ok p50 p95 fmt left next try",
                "a.example A 0.46 healthy 88% 1.23 2.50 html 0 1.5 h",
                "b.example C 0.00 new any now",
                "c.example A 0.50 blacklisted any never",
                "a.example open healthy 88% 1.23 2.50 html 0 1.5 h",
            ],
        ),
        (
            60,
            pools(KNOWN, KNOWN.model_copy(update={"success": 0.0})),
            [
                "instance tier score state ok left next try",
                "a.example A 0.46 healthy 88% 0 1.5 h",
                "a.example A 0.46 healthy 0 1.5 h",
            ],
        ),
        (
            110,
            checks(*CHECKS),
            [
                "instance answers robots.txt limiter engines version",
                "a.example 12 ms allowed on, token 0 1",
                "b.example no No complete answer arrived in time. off",
                "c.example no opted out",
                "d.example no on",
            ],
        ),
        (
            109,
            checks(*CHECKS),
            [
                "instance answers robots.txt limiter engines version",
                "a.example 12 ms allowed on, token 0 1",
                "b.example no unreadable off",
                "c.example no opted out",
                "d.example no on",
            ],
        ),
        (
            80,
            budgets(SPENT, UNTOUCHED),
            [
                "instance spent of left free a day at this rate",
                "a.example 2 3 0 in 3.0 h 0.3 used up",
                "public 0 any in 0 s won't run out",
            ],
        ),
    ],
    ids=["wide pool", "pool", "narrow pool", "wide checks", "checks", "budgets"],
)
async def test_a_table_has_these_cells(printed, width, make, rows):
    shown = (await printed(**make, columns=width)).lines
    assert [" ".join(line.split()) for line in shown[: len(rows)]] == rows


async def test_a_share_is_rounded_half_up(printed):
    shares = (None, 0, 0.004, 0.005, 0.995)
    ran = await printed(**pools(*(row(success=share) for share in shares)))
    shown = re.findall(r" new +(\d+%)?", ran.out)
    assert shown[:5] == ["", "0%", "0%", "1%", "100%"]


async def test_a_time_is_told_with_its_distance(printed):
    aheads = {
        "learned_at": (-7_200, "2.0 h ago"),
        "healthy_since": (0, "0 s ago"),
        "waits_until": (1, "in 1 s"),
        "robots_read_at": (90_000, "in 1.0 d"),
    }
    at = {name: NOW + timedelta(seconds=ahead) for name, (ahead, _) in aheads.items()}
    shown = await page(printed, timers=Timers(**at))
    for name, (_, told) in aheads.items():
        assert f"  {at[name].astimezone():%Y-%m-%d %H:%M} ({told})\n" in shown


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"left_now": 50}, "50 available now"),
        ({"left_now": 0, "retry_after": 9_000}, "none available now, one more in 2.5 h"),
    ],
    ids=["some", "none"],
)
async def test_the_month_is_a_line_below_the_table(printed, fields, shown):
    month = MonthReport(capacity=252, spent=58, left_month=143, kept_back=51, **fields)
    report = PoolReport(instances=(UNKNOWN,), month=month)
    ran = await printed("instances list", admin={"list": report})
    assert ran.lines[-1].rstrip() == (
        f"Public budget: 143 of 201 searches left this month, {shown}; 51 held in reserve."
    )


@pytest.mark.parametrize(("days", "age"), [(0, "0 days"), (1, "1 day"), (116, "116 days")])
async def test_the_age_of_the_list_does_not_read_as_that_of_its_figures(printed, days, age):
    source = "hosts: a 2026-08-05; figures: b 2025-03-05"
    report = PoolReport(instances=(UNKNOWN,), catalog_source=source, catalog_age_days=days)
    ran = await printed("instances list", admin={"list": report})
    assert ran.lines[-1].rstrip() == f"Public list ({age} old): {source}."


async def written(printed, details: InstanceDetails) -> list[str]:
    ran = await printed("instances show a", admin={"show": details}, now=NOW, columns=100)
    return [line.rstrip() for line in ran.lines]


SEEN = Timers(learned_at=NOW, waits_until=NOW + timedelta(days=1))


async def page(printed, config: ConfigReport | None = None, timers: Timers = SEEN, **fields) -> str:
    instance = row(score_parts=dict.fromkeys(PARTS, 0.5), **fields)
    details = InstanceDetails(
        instance=instance, source=MemberReason.LIST, timers=timers, config=config
    )
    return "\n".join(await written(printed, details))


async def test_engines_of_an_own_instance_are_listed_with_what_they_bring(printed):
    bing = EngineReport(name="bing", state=EngineState.WELL, answered=12, results=96)
    brave = EngineReport(
        name="brave", state=EngineState.REFUSED, reason="CAPTCHA", retry_after=90, refused=2
    )

    shown = await page(printed, tier=Tier.OWN, engines=(bing, brave))
    spread = await page(
        printed, tier=Tier.OWN, engines=(brave.model_copy(update={"spared": True}),)
    )

    lines = [line.split() for line in shown.splitlines()]
    assert ["bing", "well", "now", "12", "0", "0", "96"] in lines
    assert ["brave", "refused", "(CAPTCHA)", "in", "1.5", "min", "0", "2", "0", "0"] in lines
    assert "use the ones that work" not in shown
    assert "Some engines were refused lately; searches use the ones that work." in spread


async def test_a_new_instance_has_a_short_page(printed):
    shown = await page(printed)
    assert "limit  none" in shown
    assert "not read yet" in shown
    assert "requests" not in shown
    assert "Last requests" not in shown
    assert "(in 1.0 d)" in shown


async def test_trouble_is_told_with_its_reason(printed):
    shown = await page(
        printed,
        state=InstanceState.BLACKLISTED,
        reason="It rewrites [b]links[/b].",
        drift=3,
        failures=3,
    )
    assert "blacklisted" in shown
    assert "It rewrites [b]links[/b]." in shown
    assert "never" in shown
    assert "3 answers had rows that could not be read" in shown


@pytest.mark.parametrize(
    ("engines", "shown"),
    [(None, ""), ((), "0:"), (("a", "b"), "2: a, b"), (tuple("abcdefghijklmn"), " and 2 more")],
    ids=["unknown", "none", "some", "many"],
)
async def test_engines_are_told_as_far_as_config_told_them(printed, engines, shown):
    text = await page(printed, ConfigReport(engines=engines, limiter=False))
    assert shown in text
    assert ("engines " in text.partition("Reported by /config")[2]) is (engines is not None)
    assert "not stated" in text


LIMITED = KNOWN.model_copy(
    update={
        "state": InstanceState.RATE_LIMITED,
        "score_parts": {name: place / 16 for place, name in enumerate(PARTS, 1)},
        "success": 0.8749,
        "successes": 7,
        "failures": 1,
        "reason": "It said 429.",
        "drift": 2,
    }
)
EVERYTHING = InstanceDetails(
    instance=LIMITED,
    source=MemberReason.LIST,
    timers=Timers(learned_at=NOW - timedelta(minutes=3), waits_until=NOW + timedelta(hours=5)),
    windows=(
        WindowReport(limit=1, seconds=30, spent=1, format=Format.HTML),
        WindowReport(limit=3, seconds=30 * 86_400),
    ),
    config=ConfigReport(
        version="2026.8",
        limiter=True,
        link_token=False,
        engines=tuple(f"e{number}" for number in range(14)),
        categories=("general", "it"),
    ),
    outcomes=(
        PastOutcome(
            at=NOW.timestamp() - 90,
            format=Format.HTML,
            verdict=Verdict.RATE_LIMITED,
            status_code=429,
            elapsed_ms=12,
            detail="Too many.",
        ),
        PastOutcome(
            at=NOW.timestamp() + 5, format=Format.JSON, verdict=Verdict.FULL, elapsed_ms=345
        ),
    ),
)


def at(time: datetime) -> str:
    return f"{time.astimezone():%Y-%m-%d %H:%M}"


async def test_everything_that_is_known_of_an_instance_reads_like_this(printed):
    assert await written(printed, EVERYTHING) == [
        "https://a.example/",
        "origin      from the list of public instances",
        "tier        A, grade A-",
        "state       rate limited",
        "reason      It said 429.",
        "next try    in 1.5 h",
        "requests    8, 87% successful",
        "latency     p50 1.23 s, p95 2.50 s",
        "format      the next request asks for HTML",
        "unreadable  2 answers had rows that could not be read",
        "",
        "Score",
        "score        0.457 = access · format · (.75 reliability + .25 latency)",
        "access       0.31",
        "format       0.38",
        "latency      0.25",
        "reliability  0.81 · 0.06 expected + 0.19 · 0.12 observed",
        "expected     success 0.44, latency 0.50, uptime 0.56, grade 0.62, engines 0.69",
        "",
        "Times",
        f"last seen      {at(NOW - timedelta(minutes=3))} (3.0 min ago)",
        f"cooldown ends  {at(NOW + timedelta(hours=5))} (in 5.0 h)",
        "",
        "Budget",
        "in 30 s    1 of 1 for HTML",
        "in 30.0 d  0 of 3",
        "",
        "Reported by /config",
        "version          2026.8",
        "limiter          yes",
        "link token       no",
        "public instance  not stated",
        "engines          14: e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11 and 2 more",
        "categories       general, it",
        "",
        "Last requests",
        "when         format  verdict       status  ms",
        "1.5 min ago  html    rate limited  429     12",
        "  Too many.",
        "0 s ago      json    full                  345",
    ]


@pytest.mark.parametrize(
    ("tier", "source", "licence", "origin", "lines"),
    [
        (
            Tier.OPEN,
            MemberReason.TABLE,
            "CC0",
            "an open source: the documented API of a collection, not an instance",
            ["Collection", "licence     CC0"],
        ),
        (
            Tier.KEYED,
            MemberReason.KEY,
            "",
            "a keyed provider: an API that you have a key for, not an instance",
            ["Provider"],
        ),
    ],
)
async def test_what_is_no_instance_has_terms_and_no_score(
    printed, tier, source, licence, origin, lines
):
    described = OpenSource(
        title="Things",
        operator="A foundation (XX)",
        categories=("it", "science"),
        licence=licence,
        terms_url="https://t.example/",
        terms_checked="2026-01",
    )
    details = InstanceDetails(
        instance=LIMITED.model_copy(update={"tier": tier, "grade": None}),
        source=source,
        open_source=described,
    )
    shown = await written(printed, details)
    assert shown[1:3] == [f"origin      {origin}", f"tier        {tier}"]
    assert shown[shown.index(lines[0]) :] == [
        lines[0],
        "name        Things",
        "operator    A foundation (XX)",
        "categories  it, science",
        "terms       https://t.example/ (read 2026-01)",
        *lines[1:],
        "",
        "Budget",
        "limit  none",
    ]


COUNTED = "9 listed, 5 kept, 4 in the pool."
FREE = "Cost: none; your own instances have no budget."
COST = "Cost: 1 request. Left now:"


@pytest.mark.parametrize(
    ("fields", "read", "more"),
    [
        ({}, "0 of 0 rows read in 5 ms (JSON, status 429)", [FREE]),
        ({"status_code": None}, "0 of 0 rows read in 5 ms (JSON)", [FREE]),
        (
            {"rows_used": 1, "rows_seen": 2, "detail": "Why.", "left": 3},
            "1 of 2 rows read in 5 ms (JSON, status 429)",
            ["Why.", "Cost: none; no search was sent."],
        ),
        (
            {"answers": 1, "suggestions": 2, "unresponsive_engines": 3, "cost": 1, "left": 0},
            "0 of 0 rows read in 5 ms (JSON, status 429)",
            [
                "1 answer, 2 suggestions, 3 engines without an answer",
                f"{COST} 0 at this instance.",
            ],
        ),
        (
            {"infoboxes": 1, "cost": 1, "month_left": 0},
            "0 of 0 rows read in 5 ms (JSON, status 429)",
            [
                "1 infobox",
                f"{COST} any number at this instance, 0 across all public instances.",
            ],
        ),
    ],
    ids=["free", "no status", "not sent", "one account", "two accounts"],
)
async def test_a_trial_tells_what_came_what_it_cost_and_what_is_left(printed, fields, read, more):
    usual = {
        "instance": "https://a.example/",
        "verdict": Verdict.RATE_LIMITED,
        "format": Format.JSON,
        "status_code": 429,
        "elapsed_ms": 5,
    }
    ran = await printed("instances test a x", admin={"test": Trial(**(usual | fields))})
    assert ran.lines == [f"rate limited: {read}", *more]


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"listed": 0, "problem": "Status 500."}, ["The list was not updated: Status 500."]),
        ({"changed": True}, [COUNTED, "The list has changed."]),
        ({"changed": False}, [COUNTED, "The list has not changed."]),
        (
            {"dropped": {"bad_grade": 1, "onion": 2, "a_b": 1}},
            [
                COUNTED,
                "  2 dropped: onion",
                "  1 dropped: a b",
                "  1 dropped: bad grade",
                "The list has not changed.",
            ],
        ),
    ],
)
async def test_a_list_that_was_fetched_is_counted(printed, fields, lines):
    refresh = Refresh(**{"source": "x", "listed": 9, "kept": 5, "in_pool": 4, **fields})
    ran = await printed("instances refresh", admin={"refresh": refresh})
    assert (ran.lines, ran.code) == (lines, int("problem" in fields))


@pytest.mark.parametrize(
    ("is_terminal", "everything"), [(True, False), (True, True), (False, False)]
)
async def test_a_terminal_shows_a_page_of_the_pool_and_the_whole_in_numbers(
    printed, is_terminal, everything
):
    made = pools(*(KNOWN,) * 20, UNKNOWN, GIVEN_UP)
    made["command"] += " --all" * everything
    shown = await printed(**made, columns=200 * is_terminal)
    assert ("b.example" in shown.out) is (everything or not is_terminal)
    assert ("… and 2 more: --all shows them" in shown.out) is (is_terminal and not everything)
    assert (
        "22 in all: 21 A, 1 C. 1 new, 20 healthy, 1 blacklisted. 1 can be asked now." in shown.out
    )
