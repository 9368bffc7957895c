"""What a person reads of an answer, a page and a search that failed."""

import re

import pytest

from searx_mcp.errors import DeadlineError, ErrorCode, PolicyError
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Answer
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.response import (
    BatchedSearch,
    DroppedPage,
    FetchStats,
    PageContent,
    Poor,
    RepeatedHit,
    SearchBatch,
    SearchResponse,
    SearchResult,
)
from searx_mcp.render.tokens import estimate

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


BATCH = "search bees --queries wasps --queries ants"
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


async def test_an_answer_reads_like_this(printed):
    other = SearchResult(title="B", url="https://b.example/", score=0)
    told = response(
        RESULT,
        other,
        answers=(Answer(text="42"),),
        notes=("One.", "Two."),
        content_fetch_stats=FetchStats(attempted=3, successful=2),
        attempts=ATTEMPTS,
        total_results=9,
        next_offset=5,
    )
    ran = await printed("search bees", search=told)
    assert ran.out == (
        "Found 2 search results for query 'bees'; there are 9 in all (continue with --offset 5):\n"
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
    assert ran.err == ""


async def test_a_search_that_found_nothing_new_does_not_claim_to_have_found_nothing(printed):
    hit = RepeatedHit(url=RESULT.url, search=1, result=1)
    searches = (
        BatchedSearch(query="bees", result=response(RESULT)),
        BatchedSearch(query="wasps", result=response(), repeated=(hit,)),
        BatchedSearch(query="ants", result=response()),
    )
    shown = (await printed(BATCH, search_all=SearchBatch(queries=searches))).out
    assert shown.count("No search results found.") == 1
    assert "Also found above: result 1 of search 1.\n\nSearch 3 of 3: ants\nNo search" in shown


async def test_results_left_out_for_their_pages_are_counted(printed):
    pages = (
        DroppedPage(url="https://c.example/", reason=Poor.SPAM, result_dropped=True),
        DroppedPage(url="https://d.example/", reason=Poor.LOGIN),
    )
    stats = FetchStats(attempted=3, successful=1, failed=2, dropped=pages)
    shown = (await printed("search bees", search=response(RESULT, content_fetch_stats=stats))).out
    assert "1 of 3. Left out: 1 spam, 1 login (1 with the result).\n12 ms" in shown
    assert shown.count("1 of 3") == 1


async def test_an_answer_of_the_cache_and_an_empty_one_say_so(printed):
    found = response(cached=True, attempts=ATTEMPTS[:1])
    shown = (await printed("search bees --pages --max-tokens 200", search=found)).out
    assert shown.startswith("No search results found.\nLeave out")
    assert shown.endswith("\n\nfrom the cache, answered by https://a.example/\n")


async def test_a_page_that_was_not_read_says_why(printed):
    unread = SearchResult(
        title="B",
        url="https://b.example/",
        score=0,
        error_type="blocked_by_site",
        error_details="The site refused access (HTTP 403).",
    )
    shown = (await printed("search bees", search=response(unread))).out
    assert "\n   Page not read: The site refused access (HTTP 403).\n" in shown


async def test_pages_share_the_room_evenly(printed):
    ran = await printed("search bees --pages --max-tokens 900", search=response(RESULT, RESULT))
    shown = ran.out
    assert "Short." not in shown
    pages = re.findall(r"# A\n\n(?:Words here\. ?)+", shown)
    assert [250 < estimate(page) <= 450 for page in pages] == [True, True]
    assert shown.count("Part of the page; all of it: searx-mcp fetch https://a.example/") == 2
    assert MARKDOWN.strip() in (await printed("search bees --pages", search=response(RESULT))).out


@pytest.mark.parametrize("pages", [False, True], ids=["summaries", "pages"])
@pytest.mark.parametrize("budget", [200, 350, 700, 2_000])
async def test_what_is_printed_holds_to_the_tokens_and_says_what_is_missing(printed, budget, pages):
    found = response(
        *[
            SearchResult(
                title=f"Title {number}",
                url=f"https://a.example/{number}",
                score=1 / number,
                description=f"Snippet {number}. " * 30,
                engines=("bing",),
                content=PageContent(
                    markdown=MARKDOWN, word_count=5, fetch_time_ms=1, summary=f"Told {number}. " * 9
                ),
                error_details="The site refused access (HTTP 403).",
            )
            for number in range(1, 21)
        ],
        query="bees " * 60,
        answers=(Answer(text="42 " * 90),),
        notes=("One note. " * 20,) * 8,
    )
    more = f"--max-tokens {budget}{' --pages' * pages}"
    alone = (await printed(f"search bees {more}", search=found)).out
    searches = tuple(BatchedSearch(query=f"bees {place}", result=found) for place in range(10))
    several = SearchBatch(queries=searches)
    batch = (await printed(f"{BATCH} {more}", search_all=several)).out
    assert [estimate(shown) <= budget for shown in (alone, batch)] == [True, True]
    assert "1. Title 1\n   https://a.example/1\n" in alone
    assert "left out for lack of room: ask again with a larger --max-tokens." in alone
    assert "left out for lack of room: ask for fewer, or with a larger --max-tokens." in batch
    whole = (await printed(f"search bees{' --pages' * pages}", search=found)).out
    assert "20. Title 20" in whole
    assert "left out" not in whole


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


PART = Passage(text="Text [b].", path=(), offset=20)
HEAD = "T [b]  https://a.example/b\ntext/html, 2 words, 7 ms"


@pytest.mark.parametrize(
    ("fields", "head"),
    [
        ({}, f"{HEAD}\n"),
        ({"truncated": True}, f"{HEAD}, truncated\n"),
        ({"tier": "github"}, f"{HEAD}, from github\n"),
        ({"from_cache": True, "age_seconds": 5}, f"{HEAD}, cached 5 s ago\n"),
        ({"age_seconds": 5}, f"{HEAD}\n"),
        (
            {"notes": ("One.",), "quoted_notes": ("Two | a |",)},
            f"{HEAD}\nNote: One.\nNote: Two | a |\n",
        ),
        (
            {"redirect_target": "https://c.example/[b]"},
            f"{HEAD}\nRedirect target: https://c.example/[b]\n",
        ),
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
        (
            {"cursor": "abc", "next_offset": 0, "total_chars": 40, "passages": (PART,)},
            (
                f"{HEAD}\nThe parts that fit the prompt best, of 40 characters. To read on: searx-mcp"
                " fetch --cursor abc --offset 0\n"
            ),
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value) or "whole",
)
async def test_a_page_has_its_head_on_standard_error(printed, fields, head):
    ran = await printed("fetch https://a.example/", fetch=PAGE.model_copy(update=fields))
    assert (ran.out, ran.err) == ("Text [b].\n", head)


async def test_attempts_are_a_table_on_standard_error_and_nothing_without_them(printed):
    for error in (DeadlineError("Late."), PolicyError("No.", code=ErrorCode.BLOCKED_PORT)):
        ran = await printed("search bees", search=error)
        assert (ran.out, ran.err.splitlines()[0]) == ("", f"searx-mcp: {error.message}")
    ran = await printed("search bees", search=DeadlineError("Late.", attempts=ATTEMPTS))
    assert ran.out == ""
    assert [line.split() for line in ran.err.splitlines()[:3]] == [
        ["instance", "format", "verdict", "status", "ms", "detail"],
        ["a.example", "html", "rate", "limited", "429", "12", "Why", "[b]."],
        ["b.example/x", "json", "full", "3"],
    ]


@pytest.mark.parametrize(
    ("provider", "problem", "advice"),
    [
        ("google", "no keyed provider has a key", "BRAVE_API_KEY"),
        ("bing", "'bing' is not one of google, brave", ""),
    ],
)
async def test_raw_answers_need_a_known_provider_and_its_key(run_cli, provider, problem, advice):
    ran = await run_cli("search", "red panda", "--raw", provider, SEARX_MCP_INSTANCES__PUBLIC="off")
    assert ran.code != 0
    assert f"searx-mcp: --raw: {problem}" in ran.err
    assert advice in ran.err


async def test_a_page_that_does_not_answer_its_prompt_says_so_first(printed):
    found = {"answered": False, "support": 0.13, "missing_terms": ("moon",)}
    ran = await printed("fetch https://a.example/", fetch=PAGE.model_copy(update=found))
    first, second, *_ = ran.lines
    assert first == 'This page does not answer the question. Best match 0.13; not found: "moon".'
    assert second.startswith("Next: ")
