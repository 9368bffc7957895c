"""Why nothing could serve."""

import pytest

from searx_mcp.errors import UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.render.errors import search_error_text
from searx_mcp.search.providers.unavailable import unavailable

REASON = UnavailableReason
OWN = "https://a.example/"
PUBLIC = "https://p.example/"


def attempt(verdict: Verdict) -> Attempt:
    return Attempt(instance=OWN, verdict=verdict, format=Format.HTML)


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
    assert [a.verdict for a in error.attempts] == verdicts


def test_every_reason_has_a_text_of_its_own_with_something_to_do():
    texts = set()
    for own, public, verdicts, budget in (
        (False, False, [], None),
        (False, True, [Verdict.DNS], None),
        (True, False, [Verdict.DNS], None),
        (True, False, [Verdict.SERVER_ERROR], None),
        (False, True, [], 5),
        (False, True, [Verdict.REFUSED], None),
    ):
        error = unavailable(
            own=[OWN] * own,
            has_public=public,
            attempts=[attempt(verdict) for verdict in verdicts],
            budget_retry=budget,
            state_retry=None,
        )
        assert error.advice
        assert error.advice in search_error_text(error), "models are shown all of it"
        texts.add((error.message, error.advice))
    assert len(texts) == len(UnavailableReason)
