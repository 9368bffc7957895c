"""The life of one instance."""

import random
from dataclasses import replace

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import InstanceState, Tier
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import Member
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.score import Prior

NOW = 1_000_000.0
DAY = 86_400.0
CONFIG = PoolConfig()
PAGE = ResultPage(hits=(Hit(url="https://a.example/", title="A", position=1),))
BARE = ResultPage(
    unresponsive_engines=(
        UnresponsiveEngine(engine="a", reason="timeout"),
        UnresponsiveEngine(engine="b", reason="CAPTCHA"),
    )
)


def member(tier: Tier = Tier.A_PLUS) -> Member:
    return Member("https://a.example/", tier=tier, grade="A+", prior=Prior(0.8, 0.8, 0.8, 0.8, 0.8))


def outcome(verdict: Verdict, **fields) -> Outcome:
    page = fields.pop("page", PAGE if verdict.ends_search else None)
    return Outcome(
        **{"verdict": verdict, "format": Format.HTML, "elapsed": 0.5, "page": page, **fields}
    )


def learn(it: Member, *verdicts: Verdict, now: float = NOW, **fields) -> Member:
    for verdict in verdicts:
        it.begin(now)
        it.report(outcome(verdict, **fields), now, config=CONFIG, rng=random.Random(1))
    return it


@pytest.mark.parametrize("verdict", [Verdict.FULL, Verdict.THIN, Verdict.EMPTY])
def test_an_answer_makes_a_new_instance_healthy(verdict):
    it = learn(member(), verdict)
    assert it.state is InstanceState.HEALTHY
    assert (it.successes, it.failures) == (1, 0)


@pytest.mark.parametrize(
    "verdict", [Verdict.CONNECTION, Verdict.TIMEOUT, Verdict.SERVER_ERROR, Verdict.MALFORMED]
)
def test_an_instance_fails_after_three_failures_in_a_row(verdict):
    it = learn(member(), verdict, verdict)
    assert it.is_eligible(NOW)
    learn(it, verdict)
    assert it.state is InstanceState.FAILING
    assert not it.is_eligible(NOW)
    assert 15 <= it.life.retry_after(NOW) <= 30


def test_three_failures_among_the_last_five_count_like_three_in_a_row():
    bad, good = Verdict.TIMEOUT, Verdict.FULL
    it = learn(member(), bad, good, bad, good)
    assert it.state is InstanceState.HEALTHY
    assert learn(it, bad).state is InstanceState.FAILING


@pytest.mark.parametrize("verdict", [Verdict.DNS, Verdict.TLS, Verdict.REFUSED])
def test_a_failure_that_will_repeat_takes_effect_at_once(verdict):
    assert learn(member(), verdict).state is InstanceState.FAILING


@pytest.mark.parametrize(
    ("verdict", "low"),
    [(Verdict.RATE_LIMITED, 600), (Verdict.BLOCKED, DAY), (Verdict.CHALLENGE, DAY)],
)
def test_a_limit_or_a_block_is_waited_out(verdict, low):
    it = learn(member(), verdict)
    assert it.state is InstanceState.RATE_LIMITED
    assert low <= it.life.retry_after(NOW) <= low * 1.2
    assert not it.is_eligible(NOW + low - 1)
    assert it.is_eligible(NOW + low * 1.2)


def test_three_limits_within_a_day_mean_quarantine():
    it = member()
    for start in (NOW, NOW + 2_000, NOW + 6_000):
        learn(it, Verdict.RATE_LIMITED, now=start)
    assert it.state is InstanceState.QUARANTINED
    assert it.life.retry_after(NOW + 6_000) >= DAY


def test_three_limits_over_several_days_do_not():
    it = member()
    for start in (NOW, NOW + DAY, NOW + 3 * DAY):
        learn(it, Verdict.RATE_LIMITED, now=start)
    assert it.state is InstanceState.RATE_LIMITED


@pytest.mark.parametrize("verdict", [Verdict.NOT_SEARXNG, Verdict.FOREIGN_REDIRECT])
def test_another_program_at_a_public_address_is_quarantined(verdict):
    assert learn(member(), verdict).state is InstanceState.QUARANTINED


@pytest.mark.parametrize("verdict", [Verdict.NOT_SEARXNG, Verdict.FOREIGN_REDIRECT])
def test_an_own_instance_is_never_quarantined_for_it(verdict):
    assert learn(member(Tier.OWN), verdict).state is not InstanceState.QUARANTINED


def test_failing_six_times_over_means_quarantine_for_a_public_instance_only():
    for tier, expected in ((Tier.B, InstanceState.QUARANTINED), (Tier.OWN, InstanceState.FAILING)):
        it = member(tier)
        now = NOW
        for _ in range(6):
            learn(it, Verdict.DNS, now=now)
            now += it.life.retry_after(now) + 1
        assert it.state is expected


def test_after_its_time_an_instance_gets_one_trial_and_no_second_beside_it():
    it = learn(member(Tier.OWN), Verdict.DNS)
    later = NOW + 31
    assert it.is_eligible(later)
    it.begin(later)
    assert it.state is InstanceState.HALF_OPEN
    assert not it.is_eligible(later)


def test_a_trial_that_fails_sends_it_back_for_longer():
    it = learn(member(), Verdict.DNS)
    later = NOW + 31
    learn(it, Verdict.TIMEOUT, now=later)
    assert it.state is InstanceState.FAILING
    assert 30 <= it.life.retry_after(later) <= 60


def test_a_trial_given_up_leaves_the_door_half_open():
    it = learn(member(), Verdict.DNS)
    it.begin(NOW + 31)
    it.release()
    assert it.state is InstanceState.HALF_OPEN
    assert it.is_eligible(NOW + 31)


def test_a_returning_instance_starts_slowly():
    it = learn(member(), Verdict.FULL)
    full = it.weight(NOW)
    learn(it, Verdict.DNS)
    shares = []
    for _ in range(3):
        learn(it, Verdict.FULL, now=NOW + 40)
        shares.append(it.weight(NOW + 40))
    assert shares[0] < shares[1] < shares[2]
    assert shares[0] < full / 1.5


def test_three_good_answers_forget_the_failing_episodes():
    it = member()
    now = NOW
    for _ in range(3):
        learn(it, Verdict.DNS, now=now)
        now += it.life.retry_after(now) + 1
    learn(it, Verdict.FULL, Verdict.FULL, Verdict.FULL, now=now)
    learn(it, Verdict.DNS, now=now)
    assert it.life.retry_after(now) <= 30


def test_answers_without_engines_degrade_an_instance_until_one_is_full():
    it = learn(member(), Verdict.FULL)
    weight = it.weight(NOW)
    learn(it, *[Verdict.ENGINES_FAILED] * 3, page=BARE)
    assert it.state is InstanceState.DEGRADED
    assert it.is_eligible(NOW)
    assert 0 < it.weight(NOW) < weight / 4
    assert learn(it, Verdict.THIN).state is InstanceState.DEGRADED
    assert learn(it, Verdict.FULL).state is InstanceState.HEALTHY


def test_a_trial_that_finds_no_engines_does_not_leave_the_door_half_open():
    it = learn(member(), Verdict.DNS)
    learn(it, Verdict.ENGINES_FAILED, page=BARE, now=NOW + 31)
    assert it.state is InstanceState.HEALTHY


def test_json_switched_off_is_remembered_for_a_week_and_is_no_failure():
    it = member(Tier.OWN)
    assert it.format(NOW) is Format.JSON
    learn(it, Verdict.JSON_OFF, format=Format.JSON)
    assert (it.failures, it.json_enabled) == (0, False)
    assert it.format(NOW) is Format.HTML
    assert it.format(NOW + 8 * DAY) is Format.JSON


def test_json_switched_off_ends_a_trial_without_keeping_the_instance_waiting():
    it = learn(member(Tier.OWN), Verdict.DNS)
    learn(it, Verdict.JSON_OFF, format=Format.JSON, now=NOW + 31)
    assert it.is_eligible(NOW + 31)


def test_a_public_instance_is_asked_for_html():
    assert member().format(NOW) is Format.HTML


def test_a_json_answer_proves_that_json_is_on():
    assert learn(member(Tier.OWN), Verdict.FULL, format=Format.JSON).json_enabled is True


@pytest.mark.parametrize("token", [True, False])
def test_the_link_token_of_a_page_is_remembered(token):
    it = learn(member(), Verdict.FULL, page=replace(PAGE, link_token=token))
    learn(it, Verdict.FULL, page=PAGE)
    assert it.link_token is token


def test_the_score_falls_with_failures_and_forgets_them_with_time():
    it = learn(member(), Verdict.FULL, *[Verdict.TIMEOUT] * 2)
    low = it.score(NOW).total
    assert low < member().score(NOW).total
    assert low < it.score(NOW + 2 * DAY).total


def test_a_clock_that_jumps_back_does_not_blow_the_score_up():
    it = learn(member(), Verdict.FULL)
    assert it.score(NOW - DAY).total <= 1


def test_a_public_instance_serves_one_request_at_a_time_and_an_own_one_any_number():
    for tier, expected in ((Tier.A, False), (Tier.OWN, True)):
        it = member(tier)
        it.begin(NOW)
        assert it.is_eligible(NOW) is expected


def test_a_health_check_ends_a_failing_time():
    it = learn(member(Tier.OWN), Verdict.DNS)
    it.probed(alive=True, now=NOW + 1, config=CONFIG, rng=random.Random(1))
    assert it.is_eligible(NOW + 1)


def test_a_health_check_does_not_end_a_limit():
    it = learn(member(Tier.OWN), Verdict.RATE_LIMITED)
    it.probed(alive=True, now=NOW + 1, config=CONFIG, rng=random.Random(1))
    assert not it.is_eligible(NOW + 1)


def test_silence_at_three_health_checks_makes_an_instance_failing():
    it = learn(member(Tier.OWN), Verdict.FULL)
    for _ in range(3):
        assert it.state is InstanceState.HEALTHY
        it.probed(alive=False, now=NOW, config=CONFIG, rng=random.Random(1))
    assert it.state is InstanceState.FAILING


def test_its_repr_shows_what_an_operator_wants_to_know():
    it = learn(member(), Verdict.FULL, Verdict.TIMEOUT)
    assert repr(it) == "<Member https://a.example/ A+ healthy 1 ok, 1 failed, 0 in flight>"


def test_a_host_that_says_when_to_come_back_is_left_alone_until_then():
    it = learn(member(), Verdict.SERVER_ERROR, retry_after=600.0)
    assert it.state is InstanceState.FAILING
    assert 600 <= it.life.retry_after(NOW) <= 660


def test_answers_whose_rows_nobody_can_read_are_counted():
    drifted, partly = ResultPage(rows_seen=4), ResultPage(hits=PAGE.hits, rows_seen=4)
    it = learn(member(), Verdict.MALFORMED, Verdict.MALFORMED, page=drifted)
    learn(it, Verdict.THIN, page=partly)
    learn(it, Verdict.EMPTY, page=ResultPage())
    assert it.drift == 2
