"""What tables and lines say."""

import re

import pytest

from searx_mcp.cli import instances as pool_commands
from searx_mcp.cli.instances import print_pool
from searx_mcp.cli.output import (
    duration,
    print_attempts,
    print_page,
    print_response,
    print_settings,
)
from searx_mcp.errors import DeadlineError, ErrorCode, PolicyError
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Answer
from searx_mcp.models.instance import (
    InstanceReport,
    InstanceState,
    MonthReport,
    PoolReport,
    Tier,
)
from searx_mcp.models.page import Page
from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.response import FetchStats, PageContent, SearchResponse, SearchResult
from searx_mcp.ops.instance_reports import Selection
from searx_mcp.render.tokens import estimate
from searx_mcp.settings.sources import SettingRow


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


MARKDOWN = "# A\n\n" + "Words here. " * 400
RESULT = SearchResult(
    title="A [b]",
    url="https://a.example/",
    score=1,
    description="About.",
    engines=("bing", "brave"),
    published_at="2026-01-02",
    content=PageContent(markdown=MARKDOWN, word_count=5, fetch_time_ms=1, summary="Short."),
)
ATTEMPTS = (
    Attempt(
        instance="https://a.example/",
        verdict=Verdict.RATE_LIMITED,
        format=Format.HTML,
        status_code=429,
        elapsed_ms=12,
        detail="Why [b].",
    ),
    Attempt(
        instance="https://b.example/x/", verdict=Verdict.FULL, format=Format.JSON, elapsed_ms=3
    ),
)


def response(*results: SearchResult, **fields) -> SearchResponse:
    usual = {
        "query": "bees",
        "category": "general",
        "language": "en",
        "safe_search": SafeSearch.OFF,
        "time_range": TimeRange.ANY,
        "fetch_content": True,
        "results_count": len(results),
        "total_results": len(results),
        "search_time_ms": 12,
        "instance_used": "https://a.example/",
        "results": results,
        "engines_used": (),
    }
    return SearchResponse(**(usual | fields))


def test_an_answer_reads_like_this(capsys):
    other = SearchResult(title="B", url="https://b.example/", score=0)
    told = response(
        RESULT,
        other,
        answers=(Answer(text="42"),),
        notes=("One.", "Two."),
        content_fetch_stats=FetchStats(attempted=3, successful=2),
        attempts=ATTEMPTS,
    )
    print_response(told, pages=False, budget=None)
    shown, errors = capsys.readouterr()
    assert shown == (
        "Found 2 search results for query 'bees'\n"
        "Answer: 42\n"
        "\n"
        "1. A [b]\n"
        "   https://a.example/\n"
        "   About.\n"
        "   bing, brave · 2026-01-02 · 5 words read\n"
        "   Short.\n"
        "\n"
        "2. B\n"
        "   https://b.example/\n"
        "\n"
        "Note: One.\n"
        "Note: Two.\n"
        "12 ms, answered by https://a.example/, 2 of 3 pages read, 2 requests\n"
    )
    assert errors == ""


def test_an_answer_of_the_cache_and_an_empty_one_say_so(capsys):
    print_response(response(cached=True, attempts=ATTEMPTS[:1]), pages=True, budget=200)
    assert capsys.readouterr().out == (
        "No search results found.\n\nfrom the cache, answered by https://a.example/\n"
    )


def test_a_page_that_was_not_read_says_why(capsys):
    unread = SearchResult(
        title="B",
        url="https://b.example/",
        score=0,
        error_type="blocked_by_site",
        error_details="The site refused access (HTTP 403).",
    )
    print_response(response(unread), pages=False, budget=None)
    assert "\n   Page not read: The site refused access (HTTP 403).\n" in capsys.readouterr().out


def test_pages_share_the_room_evenly(capsys):
    print_response(response(RESULT, RESULT), pages=True, budget=120)
    shown = capsys.readouterr().out
    assert "Short." not in shown
    pages = re.findall(r"# A\n\n(?:Words here\. ?)+", shown)
    assert [50 < estimate(page) <= 60 for page in pages] == [True, True]
    print_response(response(RESULT), pages=True, budget=None)
    assert MARKDOWN.strip() in capsys.readouterr().out


PAGE = Page(
    url="https://a.example/",
    final_url="https://a.example/b",
    title="T [b]",
    content_type="text/html",
    content_length=1,
    status_code=200,
    response_time_ms=7,
    markdown_content="Text [b].",
    word_count=2,
)
HEAD = "T [b]  https://a.example/b\ntext/html, 2 words, 7 ms"


@pytest.mark.parametrize(
    ("fields", "head"),
    [
        ({}, f"{HEAD}\n"),
        ({"truncated": True}, f"{HEAD}, truncated\n"),
        ({"tier": "github"}, f"{HEAD}, from github\n"),
        ({"from_cache": True, "age_seconds": 5}, f"{HEAD}, kept 5 s ago\n"),
        ({"age_seconds": 5}, f"{HEAD}\n"),
        ({"notes": ("One.", "Two.")}, f"{HEAD}\nNote: One.\nNote: Two.\n"),
        ({"title": ""}, f"{HEAD}\n".replace("T [b]", "(no title)")),
        ({"cursor": "abc"}, f"{HEAD}\n"),
        ({"next_offset": 12}, f"{HEAD}\n"),
        (
            {"cursor": "abc", "offset": 3, "next_offset": 12, "total_chars": 40},
            (
                f"{HEAD}\nCharacters 3 to 12 of 40. To read on: searx-mcp fetch --cursor abc"
                " --offset 12\n"
            ),
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value) or "whole",
)
def test_a_page_has_its_head_on_standard_error(capsys, fields, head):
    print_page(PAGE.model_copy(update=fields))
    assert capsys.readouterr() == ("Text [b].\n", head)


def test_attempts_are_a_table_on_standard_error_and_nothing_without_them(capsys):
    print_attempts(DeadlineError("Late."))
    print_attempts(PolicyError("No.", code=ErrorCode.BLOCKED_PORT))
    assert capsys.readouterr() == ("", "")
    print_attempts(DeadlineError("Late.", attempts=ATTEMPTS))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split() for line in err.splitlines()] == [
        ["instance", "format", "verdict", "status", "ms", "detail"],
        ["a.example", "html", "rate", "limited", "429", "12", "Why", "[b]."],
        ["b.example/x", "json", "full", "3"],
    ]


def test_a_long_value_is_folded_and_its_origin_stays_in_sight(capsys):
    long = SettingRow("a.c", "x" * 70, "file f", "", "", "")
    print_settings([SettingRow("a.b", 1, "default", "", 1, ""), long])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["setting", "value", "from"],
        ["a.b", "1", "default"],
        ["a.c", "x" * 60, "file", "f"],
        ["x" * 10],
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1.0 min"),
        (3_599, "60.0 min"),
        (3_600, "1.0 h"),
        (86_399, "24.0 h"),
        (86_400, "1.0 d"),
        (216_000, "2.5 d"),
    ],
)
def test_a_length_of_time_is_told_in_the_largest_unit_that_fits(seconds, shown):
    assert duration(seconds) == shown


class Watched:
    """A pool that is looked at so many times, and is left then."""

    def __init__(self, report: PoolReport, times: int) -> None:
        self._report = report
        self.left = times

    async def list(self, selection: Selection) -> PoolReport:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self._report


@pytest.mark.parametrize(
    ("count", "rows", "more"), [(3, 3, ""), (4, 4, ""), (5, 4, "… and 1 more"), (0, 0, "")]
)
async def test_a_watched_list_has_the_rows_that_a_window_holds(
    capsys, monkeypatch, count, rows, more
):
    monkeypatch.setattr(pool_commands, "WATCH_INTERVAL", 0.0)
    for name, value in {"LINES": "10", "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    report = PoolReport(instances=(row(InstanceState.HEALTHY),) * count, notes=("A note.",))
    pool = Watched(report, times=3)
    with pytest.raises(KeyboardInterrupt):
        await pool_commands._watch(pool, Selection())  # type: ignore[arg-type] # - only what is called
    shown = capsys.readouterr().out
    assert pool.left == 0
    assert shown.count("healthy") == rows * 3
    assert shown.count("A note.") == 3
    assert more in shown
    assert ("a taller window" in shown) is bool(more)


async def test_a_watched_list_is_drawn_as_often_as_the_help_says(run_cli):
    ran = await run_cli("instances", "list", "--help")
    assert f"every {pool_commands.WATCH_INTERVAL:g} seconds" in " ".join(ran.out.split())
    assert pool_commands.WATCH_INTERVAL == 2
