"""Why nothing could serve, and why an own instance could not."""

import asyncio

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, PastOutcome, Verdict
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.render.errors import search_error_text
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.search.providers.unavailable import unavailable
from searx_mcp.testing.searxng import FakeSearxng

OWN = "http://own.example/"
PUBLIC = "https://public.example/"
REASON = UnavailableReason
FAILURES = [
    verdict
    for verdict in Verdict
    if not verdict.ends_search
    and verdict not in {Verdict.IRRELEVANT, Verdict.JSON_OFF, Verdict.UNTRUSTED, Verdict.OVERTAKEN}
]
"""What can become of a search at an own instance; JSON that is off is followed by its pages."""


def attempt(verdict: Verdict, url: str = OWN, status: int | None = None) -> Attempt:
    return Attempt(instance=url, verdict=verdict, format=Format.JSON, status_code=status)


def failure(
    *attempts: Attempt, public: bool = False, rests: PastOutcome | None = None
) -> NoInstancesError:
    return unavailable(
        own=[OWN],
        has_public=public,
        attempts=attempts,
        budget_retry=None,
        state_retry=12,
        own_rests=rests,
    )


@pytest.mark.parametrize("verdict", FAILURES)
@pytest.mark.parametrize("status", [None, 401, 404, 500])
def test_each_cause_is_one_sentence_with_what_to_change_that_a_model_reads_whole(verdict, status):
    error = failure(attempt(verdict, status=status))
    said = search_error_text(error)
    assert error.message in said
    assert error.advice in said
    assert "`searx-mcp doctor`" in error.advice
    assert "own" in error.message
    assert "SEARXNG_URL at" not in said, "it is set"
    assert error.reason in {UnavailableReason.OWN_DOWN, UnavailableReason.OWN_FAILED}


def test_causes_differ():
    found = {failure(attempt(verdict)).message for verdict in FAILURES}
    assert len(found) == len(FAILURES)


def test_of_several_instances_the_one_nearest_to_an_answer_is_told():
    error = failure(attempt(Verdict.CONNECTION), attempt(Verdict.REFUSED, status=401))
    assert "credentials (401)" in error.message


def test_what_strangers_came_to_is_not_told_of_the_own_one():
    error = failure(attempt(Verdict.DNS), attempt(Verdict.RATE_LIMITED, PUBLIC, 429), public=True)
    assert "does not resolve" in error.message
    assert error.reason is UnavailableReason.OWN_DOWN


@pytest.mark.parametrize("verdict", FAILURES)
def test_an_instance_that_rests_is_told_with_its_reason_and_what_to_change_each_time(verdict):
    past = PastOutcome(at=1.0, verdict=verdict, format=Format.JSON, detail="It said so.")
    error = failure(rests=past)
    assert error.message.endswith("in cooldown: It said so")
    assert (error.reason, error.retry_after) == (UnavailableReason.OWN_FAILED, 12)
    assert error.advice in search_error_text(error)
    assert error.advice == failure(attempt(verdict)).advice


@pytest.mark.parametrize(("refuse", "wait"), [("limit", (10, 11)), ("block", (60, 66))])
async def test_each_message_about_a_limiter_names_the_line_to_change(bench, refuse, wait):
    async with FakeSearxng() as own, bench(own=[own]) as it:
        getattr(own, refuse)()
        first, *later = [await searched(it) for _ in range(3)]
    assert "Set server.limiter to false in its settings.yml" in first.advice
    assert "in cooldown" not in first.message
    for each in later:
        assert (each.advice, each.attempts) == (first.advice, ())
        assert "in cooldown" in each.message
        assert wait[0] <= each.retry_after <= wait[1]


async def searched(bench) -> NoInstancesError:
    deadline = asyncio.get_running_loop().time() + 10
    with pytest.raises(NoInstancesError) as caught:
        await bench.executor.run(SearchContext(InstanceQuery("tea"), 5, deadline))
    return caught.value


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda fake: fake.fail(401), "credentials (401)"),
        (lambda fake: fake.fail(404), "address of your own instance (404)"),
        (lambda fake: fake.fail(403), "refused the search (403)"),
        (lambda fake: fake.fail(429), "limiter of your own"),
        (lambda fake: fake.fail(500), "failed (500)"),
        (lambda fake: fake.block(), "for a bot"),
        (lambda fake: fake.challenge(), "challenge"),
        (lambda fake: fake.hang(), "in time"),
        (lambda fake: fake.drop(), "does not answer. The connection failed or broke"),
        (lambda fake: fake.answer_with(b"<h1>It works!</h1>"), "different program"),
        (lambda fake: fake.answer_with(b"{", content_type="application/json"), "cannot be read"),
        (lambda fake: fake.redirect("https://new.example/"), "different address"),
        (
            lambda fake: fake.fail_engines(),
            "Engines failed: alpha (timeout), beta (suspended: CAPTCHA), gamma (suspended: too",
        ),
    ],
    ids=lambda value: "" if callable(value) else value[:20],
)
async def test_what_is_wrong_with_an_own_instance_is_said(bench, break_it, said):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        break_it(own)
        error = await searched(it)
    assert said in error.message
    assert "`searx-mcp doctor`" in error.advice


@pytest.mark.parametrize(
    ("own", "public", "verdicts", "budget", "state", "reason", "retry"),
    [
        (False, False, [], None, None, REASON.NOTHING_CONFIGURED, None),
        (False, True, [Verdict.DNS, Verdict.TIMEOUT], None, 900, REASON.OFFLINE, 30),
        (False, True, [Verdict.CONNECTION], None, 12, REASON.OFFLINE, 12),
        (True, False, [Verdict.CONNECTION], None, 25, REASON.OWN_DOWN, 25),
        (True, True, [Verdict.CONNECTION, Verdict.DNS], None, None, REASON.OFFLINE, 30),
        (False, True, [], 120, None, REASON.BUDGET_SPENT, 120),
        (False, True, [], 120, 60, REASON.BUDGET_SPENT, 60),
        (False, True, [], None, 600, REASON.EXHAUSTED, 600),
        (False, True, [Verdict.RATE_LIMITED, Verdict.DNS], None, 600, REASON.EXHAUSTED, 600),
        (True, False, [Verdict.ENGINES_FAILED], None, None, REASON.OWN_FAILED, None),
        (True, False, [Verdict.TIMEOUT, Verdict.REFUSED], None, 9, REASON.OWN_FAILED, 9),
        (True, True, [Verdict.SERVER_ERROR], None, None, REASON.OWN_FAILED, None),
    ],
)
def test_the_reason_follows_from_what_was_tried(
    own, public, verdicts, budget, state, reason, retry
):
    error = unavailable(
        own=[OWN] * own,
        has_public=public,
        attempts=[attempt(verdict) for verdict in verdicts],
        budget_retry=budget,
        state_retry=state,
    )
    assert (error.reason, error.retry_after) == (reason, retry)
    assert [each.verdict for each in error.attempts] == verdicts
    assert error.advice
    assert error.advice in search_error_text(error), "models are shown all of it"
