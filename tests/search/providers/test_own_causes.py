"""Why an own instance could not serve."""

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
FAILURES = [
    verdict
    for verdict in Verdict
    if not verdict.ends_search
    and verdict not in {Verdict.IRRELEVANT, Verdict.JSON_OFF, Verdict.UNTRUSTED, Verdict.OVERTAKEN}
]
"""What can become of a search at an own instance; JSON that is off is followed by its pages."""


def attempt(
    verdict: Verdict, url: str = OWN, status: int | None = None, detail: str = ""
) -> Attempt:
    return Attempt(
        instance=url, verdict=verdict, format=Format.JSON, status_code=status, detail=detail
    )


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


@pytest.mark.parametrize("refuse", ["limit", "block"])
async def test_each_message_about_a_limiter_names_the_line_to_change(bench, refuse):
    async with FakeSearxng() as own, bench(own=[own]) as it:
        getattr(own, refuse)()
        errors = []
        for _ in range(3):
            deadline = asyncio.get_running_loop().time() + 10
            context = SearchContext(InstanceQuery("tea"), 10, deadline)
            with pytest.raises(NoInstancesError) as caught:
                await it.executor.run(context)
            errors.append(caught.value)
    assert "Set server.limiter to false in its settings.yml" in errors[0].advice
    assert {each.advice for each in errors} == {errors[0].advice}
    assert ["in cooldown" in each.message for each in errors] == [False, True, True]


async def searched(bench, **config: object) -> NoInstancesError:
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


async def test_one_that_rests_says_so_in_the_next_search(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        own.fail(429)
        await searched(it)
        again = await searched(it)
    assert again.attempts == ()
    assert "in cooldown" in again.message
    assert again.retry_after == pytest.approx(10.5, abs=0.6)
