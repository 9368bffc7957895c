"""What is said of an answer."""

from dataclasses import replace

import pytest

from searx_mcp.errors import DeadlineError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import Coverage
from searx_mcp.search.answers.serving import Served
from searx_mcp.search.merge import keep_domains, merge
from searx_mcp.search.providers.interface import Found
from searx_mcp.search.providers.remarks import COVERAGE
from searx_mcp.search.searcher import notes


def found(count: int = 1, *, own: bool = False) -> Found:
    hits = tuple(Hit(url=f"https://h{n}.example/", title="T", position=n + 1) for n in range(count))
    return Found((ResultPage(hits=hits),), "https://i.example/", (), complete=True, own=own)


def offline(retry_after: float | None) -> NoInstancesError:
    return NoInstancesError("No.", reason=UnavailableReason.OFFLINE, retry_after=retry_after)


REQUEST = SearchRequest(query="bees", results_count=1)


def told(request: SearchRequest, served: Served, count: int) -> tuple[str, ...]:
    results = merge(served.found.pages)[:count]
    return notes(request, served, found=results, kept=results)


@pytest.mark.parametrize(
    ("age", "error", "expected"),
    [
        (425.0, None, "Answer of 7 minutes ago; a newer one is being fetched."),
        (
            11_000.0,
            offline(119.2),
            "Answer of 3 hours ago: no instance could serve now (offline), the next may in 120 s.",
        ),
        (
            90.0,
            offline(None),
            "Answer of 1 minute ago: no instance could serve now (offline).",
        ),
        (
            172_800.0,
            offline(0.0),
            "Answer of 2 days ago: no instance could serve now (offline), the next may in 1 s.",
        ),
        (
            1.0,
            DeadlineError("Over."),
            "Answer of 1 second ago: there was no time for a newer one (deadline_exceeded).",
        ),
        (0.0, None, "Answer of 0 seconds ago; a newer one is being fetched."),
    ],
    ids=["refreshing", "wait", "no-wait", "now", "deadline", "new"],
)
def test_a_stale_answer_says_how_old_it_is_and_why_it_is_given(age, error, expected):
    served = Served(found(), age, is_stale=True, error=error)
    assert told(REQUEST, served, 1) == (expected,)


@pytest.mark.parametrize(
    ("served", "total"),
    [(Served(found()), 1), (Served(found(), 120.0), 1), (Served(found(0)), 0)],
    ids=["now", "fresh", "nothing"],
)
def test_an_answer_that_is_not_stale_says_nothing(served, total):
    assert told(REQUEST, served, total) == ()


@pytest.mark.parametrize("coverage", [Coverage.COLLECTIONS, Coverage.MIXED])
def test_what_an_answer_was_found_in_comes_before_what_else_is_to_be_said(coverage):
    served = Served(replace(found(), coverage=coverage, remarks=("a",)))
    assert told(REQUEST, served, 1) == (COVERAGE[coverage], "a")


def test_staleness_comes_before_everything_else():
    request = SearchRequest(query="bees", results_count=5, language="all")
    said = told(request, Served(found(), 400.0, is_stale=True), 1)
    assert [note.split(" ")[0] for note in said] == ["Answer", "Language", "1"]


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (Served(found(own=True)), "your instance has no more"),
        (Served(found()), "public instances are asked for one page a call; page 2 may have more"),
        (Served(found(own=True), 400.0, is_stale=True), "the older answer has no more"),
    ],
    ids=["own", "public", "stale"],
)
def test_fewer_results_than_asked_for_are_explained(served, reason):
    request = SearchRequest(query="bees", results_count=5)
    assert reason in told(request, served, 1)[-1]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            {"allowed_domains": ("x.example", "y.example")},
            "All 3 results were left out, being outside allowed_domains.",
        ),
        (
            {"blocked_domains": ("example",)},
            "All 3 results were left out, being in blocked_domains.",
        ),
        (
            {"allowed_domains": ("h0.example", "x.example"), "blocked_domains": ("h0.example",)},
            "All 3 results were left out, being outside allowed_domains or in blocked_domains.",
        ),
        (
            {"blocked_domains": ("h0.example",)},
            "2 of 10 results asked for: 1 left out, being in blocked_domains.",
        ),
        ({"blocked_domains": ("x.example",), "results_count": 3}, None),
    ],
    ids=str,
)
def test_results_that_the_domains_leave_out_are_explained(request_, said):
    request = SearchRequest(query="bees", **request_)
    results = merge(found(3).pages)
    kept = keep_domains(results, allowed=request.allowed_domains, blocked=request.blocked_domains)
    assert notes(request, Served(found(3)), found=results, kept=kept) == ((said,) if said else ())


@pytest.mark.parametrize(
    ("request_", "page", "skipped", "said"),
    [
        ({"page": 7}, 7, 0, "The list ends before page 7: nothing more was found."),
        ({"offset": 90}, 10, 0, "The list ends before offset 90: nothing more was found."),
        ({"offset": 5}, 1, 5, "The list ends before offset 5: nothing more was found."),
        ({}, 1, 0, None),
    ],
    ids=str,
)
def test_a_page_beyond_the_end_says_so(request_, page, skipped, said):
    request = SearchRequest(query="bees", **request_)
    served = Served(found(skipped and 3))
    results = merge(served.found.pages)
    saying = notes(request, served, found=results, kept=results, page=page, skipped=skipped)
    assert saying == ((said,) if said else ())


def refused(*urls: str, verdict: Verdict = Verdict.JSON_OFF) -> tuple[Attempt, ...]:
    asked = [Attempt(instance=url, verdict=verdict, format=Format.JSON) for url in urls]
    return (
        *asked,
        Attempt(instance="https://i.example/", verdict=Verdict.FULL, format=Format.HTML),
    )


@pytest.mark.parametrize(
    ("urls", "hosts"),
    [
        (["https://i.example/"], "i.example"),
        (["https://i.example:8443/searx/", "https://j.example/"], "i.example:8443, j.example"),
    ],
    ids=["one", "several"],
)
def test_an_own_instance_without_json_is_one_line_with_the_remedy(urls, hosts):
    served = Served(replace(found(own=True), attempts=refused(*urls)))
    (said,) = told(REQUEST, served, 1)
    assert said.startswith(f"JSON is off at {hosts}, so its pages are read instead: add json to ")
    assert said.endswith(" (searx-mcp doctor shows the lines).")


def test_a_limit_for_json_at_an_own_instance_is_one_line_with_the_remedy():
    attempts = refused("https://i.example/", verdict=Verdict.RATE_LIMITED)
    (said,) = told(REQUEST, Served(replace(found(own=True), attempts=attempts)), 1)
    assert said.startswith("JSON is limited at i.example, so its pages are read instead: set ")
    assert "server.limiter to false" in said


@pytest.mark.parametrize(
    ("attempts", "own", "age"),
    [
        (refused("https://i.example/"), False, None),
        (refused("https://i.example/"), True, 120.0),
        (refused(), True, None),
    ],
    ids=["public", "cached", "not refused"],
)
def test_nothing_is_said_of_json_otherwise(attempts, own, age):
    served = Served(replace(found(own=own), attempts=attempts), age)
    assert told(REQUEST, served, 1) == ()
