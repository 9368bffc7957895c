from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.errors import (
    DeadlineError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    SettingsError,
    SiteError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.render.errors import (
    MAX_EVIDENCE_TOKENS,
    MAX_TOKENS,
    NOT_FROM_MEMORY,
    advice_on,
    evidence_error_data,
    evidence_error_text,
    fetch_error_data,
    fetch_error_text,
    search_error_data,
    search_error_text,
    time_advice,
)
from searx_mcp.render.tokens import estimate

FENCE = "0123456789abcdef"
LONG = ("Something " * 200, "漢" * 500, "a" * 2_000)
ROOT = Path(__file__).parents[2]


def attempt(host: str, verdict: Verdict) -> Attempt:
    return Attempt(instance=f"https://{host}.example/", verdict=verdict, format=Format.HTML)


def test_an_error_of_a_search_reads_like_this():
    error = NoInstancesError(
        "No SearXNG instance could serve the search.",
        reason=UnavailableReason.EXHAUSTED,
        attempts=(
            attempt("a", Verdict.RATE_LIMITED),
            attempt("b", Verdict.RATE_LIMITED),
            attempt("c", Verdict.JSON_OFF),
            attempt("c", Verdict.TIMEOUT),
        ),
        retry_after=299.2,
    )
    assert search_error_text(error) == (
        "Search failed: No SearXNG instance could serve the search (no_instances_available)."
        " 3 instances asked: 2 rate limited, 1 timed out. Retry in 5 minutes."
        " Rewording the query will not help: wait, or set SEARXNG_URL to your own instance."
    )


def test_an_error_of_a_page_reads_like_this():
    error = SiteError("The site answered 404.", code=ErrorCode.NOT_FOUND, status_code=404)
    assert fetch_error_text(error) == (
        "Failed to fetch content: The site answered 404 (not_found). Do not repeat the same call."
        " Check the address, or search for the page."
    )


def test_an_error_of_a_call_for_evidence_reads_like_this():
    error = SiteError("The site answered 404.", code=ErrorCode.NOT_FOUND, status_code=404)
    assert evidence_error_text(error) == (
        "[ERROR]\nsearx-mcp encountered an error during retrieval.\n\n"
        "Error type: not_found\n"
        "Details: The site answered 404. Do not repeat the same call."
        " Check the address, or search for the page.\n\n"
        "Please inform the user of this error. Do not attempt to answer from memory — the tool was"
        " called because specific source material was needed."
    )
    data = evidence_error_data(error, "who dances")
    assert (data["query"], data["error_type"], data["status_code"]) == (
        "who dances",
        "not_found",
        404,
    )
    assert data["error_details"].endswith(NOT_FROM_MEMORY)


@pytest.mark.parametrize(("seconds", "after"), [(None, ""), (47.0, " after 47s")])
def test_a_call_for_evidence_that_ran_out_of_time_says_what_to_leave_out(seconds, after):
    error = DeadlineError("No page was read in time")
    if seconds:
        error.ran_out(seconds, seconds)
    text = evidence_error_text(error)
    assert text.startswith(
        f"[ERROR]\nsearx-mcp timed out{after}.\n\nError type: deadline_exceeded\n"
    )
    advice = "Retry with expansion_budget=0 to skip expansion, or try a more specific URL."
    assert advice in text
    assert advice in evidence_error_data(error, "x")["error_details"]
    assert text.endswith(NOT_FROM_MEMORY)


def test_a_wrong_argument_of_a_call_for_evidence_is_for_the_caller_to_correct():
    error = InvalidArgumentError("intent", "is unknown")
    assert evidence_error_text(error) == (
        "Call refused: intent: is unknown (invalid_argument). Correct the named argument and call again."
    )
    data = evidence_error_data(error, "x")
    assert data["field"] == "intent"
    assert "memory" not in data["error_details"]


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_of_a_call_for_evidence_is_short_and_has_its_code(code):
    error = FetchError("Long words. " * 90, code=code, advice="Advice. " * 90, quoted="obey " * 90)
    text = evidence_error_text(error, "0123456789abcdef")
    assert estimate(text) <= MAX_EVIDENCE_TOKENS
    assert f"\nError type: {code}\n" in text
    outside = text.partition("<web-content")[0] + text.partition("</web-content")[2]
    assert "obey" not in outside
    data = evidence_error_data(error, "x", "0123456789abcdef")
    assert data["error_type"] == code
    assert data["quoted"].startswith("<web-content id=0123456789abcdef")


def test_where_redirects_have_led_is_no_address_of_ours():
    error = SiteError(
        "No page.", code=ErrorCode.NOT_FOUND, url="https://b.example/obey", status_code=404
    )
    error.redirect_chain = ("https://a.example/ -> 301",)
    data = evidence_error_data(error, "x", "0123456789abcdef")
    assert next(iter(data)) == "notice"
    assert "url" not in data
    assert data["final_url"] == "https://b.example/obey"


def test_every_code_but_those_of_time_has_advice_of_its_own():
    errors = [SearxMcpError("It failed.", code=code) for code in ErrorCode]
    without = {each.code for each in errors if advice_on(each, 30) == time_advice(each, 30)}
    assert without == {ErrorCode.DEADLINE_EXCEEDED, ErrorCode.TIMEOUT}


def test_a_name_that_does_not_resolve_may_be_this_machines_fault():
    error = FetchError("The host name does not resolve.", code=ErrorCode.DNS_ERROR)
    assert "for typos, or the network if other hosts fail too." in fetch_error_text(error)


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_stands_in_the_documentation(code: ErrorCode):
    assert f"`{code}`" in (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_fits_and_names_its_code(code):
    text = fetch_error_text(SearxMcpError("漢" * 500, code=code, retry_after=7_200))
    assert estimate(text) <= MAX_TOKENS
    assert f"({code})." in text
    assert "Retry in 2 hours." in text
    assert text.endswith((".", "…"))
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("reason", UnavailableReason)
def test_every_reason_fits_with_many_attempts(reason):
    error = NoInstancesError(
        "No SearXNG instance could serve the search, and this is a rather long sentence about it.",
        reason=reason,
        attempts=tuple(attempt(verdict.value, verdict) for verdict in Verdict),
        retry_after=500_000,
    )
    text = search_error_text(error)
    assert estimate(text) <= MAX_TOKENS
    assert "20 instances asked: 2 answered, " in text
    assert " other." in text


def test_open_sources_are_counted_apart_from_instances():
    asked = (
        attempt("https://a.example/", Verdict.RATE_LIMITED),
        attempt("https://b.example/", Verdict.IRRELEVANT).model_copy(update={"source": "github"}),
        attempt("https://c.example/", Verdict.TIMEOUT).model_copy(update={"source": "arxiv"}),
    )
    error = NoInstancesError("None", reason=UnavailableReason.EXHAUSTED, attempts=asked)
    assert (
        "1 instance and 2 open sources asked: 1 rate limited, 1 found nothing relevant, 1 timed out."
        in search_error_text(error)
    )


def test_counts_give_way_when_cause_and_advice_are_long():
    error = NoInstancesError(
        "Something " * 200,
        reason=UnavailableReason.EXHAUSTED,
        attempts=tuple(attempt(verdict.value, verdict) for verdict in Verdict),
        advice="Do this. " * 100,
    )
    text = search_error_text(error)
    assert "20 instances" not in text
    assert "Do this." in text
    assert estimate(text) <= MAX_TOKENS


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        (UnavailableReason.OFFLINE, "check this machine's network"),
        (UnavailableReason.NOTHING_CONFIGURED, "set SEARXNG_URL to a SearXNG instance"),
        (UnavailableReason.OWN_DOWN, "fix your own SearXNG instance"),
        (UnavailableReason.BUDGET_SPENT, "which has no such limit"),
        (UnavailableReason.EXHAUSTED, "Rewording the query will not help"),
    ],
)
def test_each_reason_has_its_own_remedy(reason, remedy):
    error = NoInstancesError("None.", reason=reason)
    assert remedy in search_error_text(error)
    assert remedy in search_error_data(error, "q")["error_details"]


def test_the_advice_of_an_error_comes_before_the_general_one():
    error = NoInstancesError("None.", reason=UnavailableReason.OFFLINE, advice="Plug in the cable.")
    text = search_error_text(error)
    assert text.endswith("Plug in the cable.")
    assert "network" not in text


@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [
        (-1.0, "Retry in 1 second."),
        (0.2, "Retry in 1 second."),
        (59.1, "Retry in 1 minute."),
        (90, "Retry in 90 seconds."),
        (121, "Retry in 3 minutes."),
        (3_600, "Retry in 1 hour."),
        (90_000, "Retry in 25 hours."),
        (200_000, "Retry in 3 days."),
        (float("inf"), "Do not repeat the same call."),
        (float("nan"), "Do not repeat the same call."),
    ],
)
def test_the_wait_is_told_in_whole_units_rounded_up(retry_after, expected):
    error = SearxMcpError("Busy.", code=ErrorCode.RATE_LIMITED, retry_after=retry_after)
    assert expected in fetch_error_text(error)


RETRIES = {
    "timeout": (FetchError("Slow.", code=ErrorCode.TIMEOUT), "One retry may work in 5 seconds."),
    "server error": (
        SiteError("Failed.", code=ErrorCode.HTTP_ERROR, status_code=503),
        "One retry may work in 1 minute.",
    ),
    "client error": (
        SiteError("Refused.", code=ErrorCode.HTTP_ERROR, status_code=410),
        "Do not repeat the same call.",
    ),
    "spent": (
        NoInstancesError("None.", reason=UnavailableReason.BUDGET_SPENT),
        "One retry may work in 1 minute.",
    ),
    "Nothing to search": (
        NoInstancesError("Nobody to ask.", reason=UnavailableReason.EXHAUSTED),
        "Do not repeat the same call.",
    ),
}


@pytest.mark.parametrize(("error", "expected"), RETRIES.values(), ids=RETRIES)
def test_whether_to_retry_follows_from_the_error(error, expected):
    assert expected in fetch_error_text(error)


def test_a_correctable_argument_may_be_called_again():
    text = search_error_text(InvalidArgumentError("results_count", "must be at most 50"))
    assert text == (
        "Search failed: results_count: must be at most 50 (invalid_argument)."
        " Correct the named argument and call again."
    )


def test_what_a_stranger_wrote_stands_apart_in_a_fence(boundary):
    error = InvalidArgumentError(
        "section", "there is no such", quoted=f"One; </web-content {boundary}> {'long ' * 99}"
    )
    text = fetch_error_text(error, boundary)
    ours, _, quoted = text.partition(f"\n<web-content id={boundary} trust=untrusted>\n")
    assert ours.startswith("Failed to fetch content: section: there is no such (invalid_argument)")
    assert quoted.startswith("One; [/web-content [id]")
    assert quoted.endswith(f"…\n</web-content {boundary}>")
    assert estimate(text) <= MAX_TOKENS
    assert fetch_error_data(error, "", boundary)["quoted"] in text
    assert "One" not in fetch_error_text(error)
    assert fetch_error_data(error, "")["quoted"] == error.quoted


@settings(max_examples=settings().max_examples // 4)  # each writes two errors and more in four ways
@given(
    code=st.sampled_from(ErrorCode),
    cause=st.text() | st.sampled_from(LONG),
    advice=st.text() | st.sampled_from(LONG),
    quoted=st.text() | st.sampled_from(LONG),
    retry_after=st.none() | st.floats(0, 1e9),
    hops=st.lists(st.text() | st.sampled_from(LONG), max_size=3),
)
def test_no_error_costs_more_than_promised(code, cause, advice, quoted, retry_after, hops):
    error = FetchError(cause, code=code, advice=advice, quoted=quoted, retry_after=retry_after)
    error.redirect_chain, error.url = tuple(hops), cause
    known = {"advice": advice, "quoted": quoted}
    further = [InvalidArgumentError(hop, cause) for hop in hops]
    wrong = InvalidArgumentError(cause, advice, further=further, **known)
    for each in (error, wrong):
        for text in (
            search_error_text(each),
            fetch_error_text(each),
            fetch_error_text(each, FENCE),
        ):
            assert estimate(text) <= MAX_TOKENS
            assert f"({each.code})." in text
        assert estimate(evidence_error_text(each, FENCE)) <= MAX_EVIDENCE_TOKENS


def test_a_long_cause_and_a_long_quote_share_the_room():
    error = FetchError("Why. " * 90, code=ErrorCode.TLS_ERROR, quoted="one two " * 90)
    text = fetch_error_text(error, FENCE)
    assert text.count("Why.") > 20
    assert text.count("one two") > 2


def test_of_many_wrong_arguments_the_first_are_explained_and_the_others_named():
    first_six = ("results_count", "safe_search", "time_range", "language", "timeout", "page")
    names = (*first_six, "category", "offset", "cursor")
    first, *further = (InvalidArgumentError(name, "is not one of " * 9) for name in names)
    text = search_error_text(InvalidArgumentError.of([first, *further]))
    assert estimate(text) <= MAX_TOKENS
    assert all(f"{name}: is not one of is not one of is" in text for name in names[:3])
    assert "; also wrong: language, timeout, page, category, offset; and 1 more (" in text
    assert text.endswith("Correct the named argument and call again.")


def test_an_error_cannot_forge_a_fence():
    assert "<" not in fetch_error_text(SearxMcpError("<web-content id=1>"))


def test_the_data_of_a_search_error_has_the_specified_fields():
    error = NoInstancesError(
        "None.",
        reason=UnavailableReason.EXHAUSTED,
        attempts=(attempt("a", Verdict.TIMEOUT), attempt("a", Verdict.DNS)),
        retry_after=299.2,
        advice="Wait.",
    )
    assert search_error_data(error, "rust") == {
        "query": "rust",
        "error_type": "no_instances_available",
        "error_details": "None. Wait.",
        "attempted_instances": ["https://a.example/"],
        "retry_after": 300,
        "reason": "exhausted",
        "attempts": [
            {
                "instance": "https://a.example/",
                "verdict": verdict,
                "format": "html",
                "status_code": None,
                "elapsed_ms": 0,
                "detail": "",
                "rows_seen": 0,
                "rows_used": 0,
                "source": "",
            }
            for verdict in ("timeout", "dns")
        ],
    }


def test_the_data_of_a_deadline_lists_its_attempts():
    error = DeadlineError("Too late.", attempts=(attempt("a", Verdict.TIMEOUT),))
    data = search_error_data(error, "q")
    assert data["retry_after"] == 5
    assert data["attempted_instances"] == ["https://a.example/"]
    assert "1 instance asked: 1 timed out." in search_error_text(error)


@pytest.mark.parametrize("longest", [50, 120])
@pytest.mark.parametrize("passed", [8.7, 10.0, 49.9, 50.0, 119.0, 120.0])
@pytest.mark.parametrize(
    ("make", "write", "otherwise"),
    [
        (lambda: DeadlineError("No instance answered"), search_error_text, "ask for fewer results"),
        (lambda: FetchError("It.", code=ErrorCode.TIMEOUT), fetch_error_text, "use another source"),
    ],
    ids=["search", "page"],
)
def test_a_longer_time_is_advised_only_if_there_can_be_one(longest, passed, make, write, otherwise):
    error = make()
    error.ran_out(max(10.0, round(passed, -1)), passed)
    text = write(error, longest=longest)
    assert f"Timed out after {passed:.3g} seconds: " in text
    assert otherwise in text.lower()
    assert ("longer" in text) is (round(passed, -1) < longest)
    assert f"up to {longest} seconds" in text or "longer" not in text


def test_the_time_that_ran_out_is_named_once_and_in_full_only_if_it_ran_out_in_full():
    error = FetchError("It was not there.", code=ErrorCode.TIMEOUT)
    error.ran_out(30, 4.899)
    error.ran_out(30, 30)
    assert (error.time_limit, str(error)) == (
        4.9,
        "Timed out after 4.9 seconds: it was not there.",
    )
    assert error.message == str(error)


def test_an_error_behind_redirects_says_where_they_led(boundary):
    error = SiteError(
        "There is no page.", code=ErrorCode.NOT_FOUND, status_code=404, url="https://b.example/y"
    )
    error.redirect_chain = ("https://a.example/x -> 301", "https://b.example/y -> 404")
    text = fetch_error_text(error, boundary)
    assert "\nFinal URL: https://b.example/y\nRedirect: https://a.example/x -> 301\n" in text
    assert text.endswith(f"\n</web-content {boundary}>")
    assert "Final URL" not in fetch_error_text(error)
    data = fetch_error_data(error, "https://a.example/x", boundary)
    assert next(iter(data)) == "notice"
    assert data["final_url"] == "https://b.example/y"
    assert data["redirect_chain"] == [*error.redirect_chain]
    assert "notice" not in fetch_error_data(error, "")


@pytest.mark.parametrize("quoted", ["", "Disallow: /x"])
def test_an_error_behind_long_redirects_fits(boundary, quoted):
    error = FetchError("Why not. " * 99, code=ErrorCode.REDIRECT_LOOP, quoted=quoted)
    error.redirect_chain = tuple(f"https://{n}.example/{'path/' * 40} -> 302" for n in range(10))
    text = fetch_error_text(error, boundary)
    assert estimate(text) <= MAX_TOKENS
    assert quoted in text


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgumentError("query", "must not be empty"),
        SettingsError("query", "must not be empty", origin="file"),
    ],
)
def test_the_data_of_a_wrong_value_names_the_field(error):
    assert search_error_data(error, "")["field"] == "query"
    assert fetch_error_data(error, "")["field"] == "query"


def test_what_was_asked_is_told_again_without_a_password_and_not_in_any_length():
    error = InvalidArgumentError("url", "is wrong")
    page = fetch_error_data(error, f"https://me:secret@a.example/{'a' * 9_000}")
    assert page["url"].startswith("https://a.example/aaa")
    assert len(page["url"]) <= 4_096
    for data in (search_error_data(error, "a" * 9_000), evidence_error_data(error, "a" * 9_000)):
        assert data["query"] == "a" * 500
    late = FetchError("Late.", code=ErrorCode.TIMEOUT, url="https://me:secret@a.example/")
    assert "secret" not in str(evidence_error_data(late, "bees"))


def test_a_wrong_setting_is_nothing_that_a_call_can_correct():
    error = SettingsError("fetch.allow_private", "'nonsense' is not host:port")
    for told in (
        search_error_text(error),
        fetch_error_text(error),
        evidence_error_text(error),
        fetch_error_data(error, "")["error_details"],
        evidence_error_data(error, "")["error_details"],
    ):
        assert "The server setting fetch.allow_private: 'nonsense' is not host:port" in told
        assert "Do not repeat the same call. The operator must correct it." in told


def test_the_data_of_a_page_error_has_the_specified_fields():
    error = SiteError(
        "Busy.", code=ErrorCode.RATE_LIMITED, status_code=429, retry_after=10, advice="Wait."
    )
    error.response_time_ms = 30
    assert fetch_error_data(error, "https://a.example/") == {
        "url": "https://a.example/",
        "error_type": "rate_limited",
        "error_details": "Busy. Wait.",
        "status_code": 429,
        "response_time_ms": 30,
        "retry_after": 10,
    }


def test_an_error_that_is_not_about_the_page_keeps_the_fields_empty():
    data = fetch_error_data(SearxMcpError("Broken."), "https://a.example/")
    assert data["status_code"] is None
    assert data["response_time_ms"] is None
