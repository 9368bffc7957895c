"""The state machine of one instance: what counts against it, and what is forgiven."""

import random

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.life import Life
from searx_mcp.pool.outcome import Outcome

NOW = 1_000_000.0
HOUR = 3_600.0
DAY = 24 * HOUR
CONFIG = PoolConfig()
PAGE = ResultPage(hits=(Hit(url="https://a.example/", title="A", position=1),))
REASONS = {
    Verdict.TLS: "The TLS handshake or the certificate failed.",
    Verdict.FOREIGN_REDIRECT: "The answer is a redirect to https://elsewhere.example.",
}


def learn(life: Life, *verdicts: Verdict, now: float = NOW, offence: str = "", **fields) -> Life:
    for verdict in verdicts:
        page = PAGE if verdict.ends_search or offence else None
        detail = REASONS.get(verdict, "A sentence.")
        life.begin(now)
        life.learn(
            Outcome(verdict, Format.HTML, 0.5, page=page, detail=detail, offence=offence, **fields),
            now,
            config=CONFIG,
            rng=random.Random(1),
        )
    return life


def after_each_rest(life: Life, verdict: Verdict, times: int, **fields) -> float:
    """Fail as often as said, each time when its rest is over; gives the time then."""
    now = NOW
    for _ in range(times):
        now += life.retry_after(now) + 1
        learn(life, verdict, now=now, **fields)
    return now


def overtake(life: Life, times: int = 1, now: float = NOW) -> Life:
    for _ in range(times):
        life.begin(now)
        life.be_overtaken(now, config=CONFIG, rng=random.Random(1))
    return life


def test_being_overtaken_three_times_in_a_row_is_a_timeout_and_three_timeouts_are_too_many():
    life = learn(Life(trusted=True), Verdict.FULL)
    overtake(life, 2)
    assert life.consecutive_failures == 0
    overtake(life)
    assert life.consecutive_failures == 1
    overtake(life, 6)
    assert life.state is InstanceState.FAILING
    assert "slow" in life.reason


def test_an_answer_between_forgives_being_overtaken():
    life = Life(trusted=True)
    for _ in range(20):
        overtake(life, 2)
        learn(life, Verdict.FULL)
    assert life.state is InstanceState.HEALTHY


def test_being_overtaken_on_trial_sends_it_back():
    life = learn(Life(trusted=True), Verdict.DNS)
    overtake(life, now=NOW + 31)
    assert life.state is InstanceState.FAILING
    assert life.retry_after(NOW + 31) >= 30


def test_requests_that_fail_together_are_one_episode():
    life = Life(trusted=True)
    learn(life, *[Verdict.CONNECTION] * 3)
    wait = life.retry_after(NOW)
    learn(life, *[Verdict.CONNECTION] * 7)
    assert (life.failing_episode, life.retry_after(NOW)) == (1, wait)


def test_a_late_failure_does_not_shorten_the_wait_of_a_limit():
    life = learn(Life(trusted=True), Verdict.RATE_LIMITED)
    wait = life.retry_after(NOW)
    learn(life, *[Verdict.TIMEOUT] * 4)
    life.probed(alive=False, now=NOW, config=CONFIG, rng=random.Random(1))
    assert (life.state, life.retry_after(NOW)) == (InstanceState.RATE_LIMITED, wait)


def test_a_public_instance_that_finds_nothing_three_times_in_a_row_is_degraded_until_it_does():
    for own, expected in ((False, InstanceState.DEGRADED), (True, InstanceState.HEALTHY)):
        life = learn(Life(trusted=own), Verdict.FULL, Verdict.EMPTY, Verdict.EMPTY)
        assert life.state is InstanceState.HEALTHY
        learn(life, Verdict.EMPTY)
        assert life.state is expected
        assert learn(life, Verdict.FULL).state is InstanceState.HEALTHY


def test_a_result_between_forgives_answers_without_any():
    life = learn(Life(trusted=False), *[Verdict.EMPTY, Verdict.EMPTY, Verdict.THIN] * 3)
    assert life.state is InstanceState.HEALTHY


def test_an_hour_in_health_forgets_the_failing_episodes():
    life = Life(trusted=False)
    now = after_each_rest(life, Verdict.DNS, 3)
    now += life.retry_after(now)
    learn(life, Verdict.FULL, now=now)
    learn(life, Verdict.DNS, now=now + HOUR)
    assert life.retry_after(now + HOUR) <= 30


def test_less_than_an_hour_in_health_does_not():
    life = Life(trusted=False)
    now = after_each_rest(life, Verdict.DNS, 3)
    now += life.retry_after(now)
    learn(life, Verdict.FULL, now=now)
    learn(life, Verdict.DNS, now=now + HOUR - 1)
    assert life.retry_after(now + HOUR - 1) >= 120


@pytest.mark.parametrize(
    ("verdict", "offence", "needed"),
    [
        (Verdict.TLS, "", 3),
        (Verdict.FULL, "4 of 10 results lead to the instance itself.", 3),
        (Verdict.UNTRUSTED, "All results lead to the instance itself.", 3),
        (Verdict.FOREIGN_REDIRECT, "", 1),
    ],
)
def test_what_breaks_trust_quarantines_a_public_instance_and_the_reason_is_kept(
    verdict, offence, needed
):
    life = Life(trusted=False)
    now = after_each_rest(life, verdict, needed - 1, offence=offence)
    assert life.quarantine_episode == 0
    now += life.retry_after(now) + 1
    learn(life, verdict, now=now, offence=offence)
    assert life.state is InstanceState.QUARANTINED
    assert DAY <= life.retry_after(now) <= 1.2 * DAY
    assert life.reason in {
        offence,
        REASONS.get(verdict),
        "Its certificate failed three times in a row.",
    }


@pytest.mark.parametrize("verdict", [Verdict.TLS, Verdict.FOREIGN_REDIRECT, Verdict.UNTRUSTED])
def test_whoever_breaks_trust_three_times_over_is_blacklisted_for_good(verdict):
    life = Life(trusted=False)
    offence = "All results lead to the instance itself." if verdict is Verdict.UNTRUSTED else ""
    now = after_each_rest(life, verdict, 9, offence=offence)
    assert life.state is InstanceState.BLACKLISTED
    assert life.reason
    assert not life.is_open(now + 1_000 * DAY)
    assert life.retry_after(now) == 0


@pytest.mark.parametrize("verdict", [Verdict.TLS, Verdict.FOREIGN_REDIRECT, Verdict.RATE_LIMITED])
def test_an_own_instance_is_neither_quarantined_nor_blacklisted(verdict):
    life = Life(trusted=True)
    after_each_rest(life, verdict, 12)
    assert life.state in {InstanceState.FAILING, InstanceState.RATE_LIMITED, InstanceState.HEALTHY}


def test_an_honest_page_between_forgives_offences_and_certificates():
    life = Life(trusted=False)
    for start in range(5):
        now = NOW + start * DAY
        learn(life, Verdict.FULL, Verdict.FULL, now=now, offence="Some lead home.")
        learn(life, Verdict.FULL, now=now)
    assert life.state is InstanceState.HEALTHY


def test_an_operator_who_asks_us_to_stay_away_is_left_alone_for_a_month():
    life = learn(Life(trusted=False), Verdict.FULL)
    life.opt_out(NOW)
    assert life.state is InstanceState.QUARANTINED
    assert life.reason == "Its robots.txt asks searx-mcp to stay away."
    assert not life.is_open(NOW + 30 * DAY - 1)
    assert life.is_open(NOW + 30 * DAY)


def test_a_good_answer_takes_the_reason_away():
    life = learn(Life(trusted=False), Verdict.DNS)
    assert life.reason == "A sentence."
    learn(life, Verdict.FULL, now=NOW + 31)
    assert life.reason == ""


@pytest.mark.parametrize("alive", [True, False])
def test_a_health_check_neither_ends_nor_shortens_a_quarantine(alive):
    life = learn(Life(trusted=False), Verdict.NOT_SEARXNG)
    wait = life.retry_after(NOW)
    for _ in range(4):
        life.probed(alive=alive, now=NOW, config=CONFIG, rng=random.Random(1))
    assert (life.state, life.retry_after(NOW)) == (InstanceState.QUARANTINED, wait)


def test_nobody_blacklisted_comes_back_by_a_late_answer_of_a_health_check():
    life = Life(trusted=False)
    now = after_each_rest(life, Verdict.FOREIGN_REDIRECT, 3)
    life.probed(alive=True, now=now, config=CONFIG, rng=random.Random(1))
    assert life.state is InstanceState.BLACKLISTED
