"""The state machine of one instance: what counts against it, and what is forgiven."""

import random
from dataclasses import replace

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.life import OPTED_OUT, Life
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


def answered(verdict: Verdict, **fields):
    """Makes the event that an answer comes, to a request that may have left long before."""

    def come(life: Life, now: float) -> None:
        page = PAGE if verdict.ends_search else None
        outcome = Outcome(verdict, Format.HTML, 0.5, page=page, detail="A sentence.", **fields)
        life.learn(outcome, now, config=CONFIG, rng=random.Random(1))

    return come


def again(times: int, event):
    def come(life: Life, now: float) -> None:
        for _ in range(times):
            event(life, now)

    return come


def probed(*, alive: bool):
    return lambda life, now: life.probed(alive=alive, now=now, config=CONFIG, rng=random.Random(1))


EVENTS = {
    "full": answered(Verdict.FULL),
    "thin": answered(Verdict.THIN),
    "empty": answered(Verdict.EMPTY),
    "bare": answered(Verdict.ENGINES_FAILED),
    "silent": answered(Verdict.TIMEOUT),
    "down": answered(Verdict.DNS),
    "limit": answered(Verdict.RATE_LIMITED),
    "block": answered(Verdict.BLOCKED),
    "other": answered(Verdict.NOT_SEARXNG),
    "astray": answered(Verdict.FOREIGN_REDIRECT),
    "json": lambda life, _now: life.refuse_format(),
    "revive": lambda life, now: life.revive(now),
    "out": lambda life, now: life.opt_out(now),
    "in": lambda life, now: life.opt_in(now),
    "rest": lambda life, now: life.rest(60, now),
    "alive": probed(alive=True),
    "dead": again(3, probed(alive=False)),
    "alone": again(5, lambda life, now: life.compared(agrees=False, now=now)),
    "agrees": lambda life, now: life.compared(agrees=True, now=now),
    "slow": again(3, lambda life, now: life.be_overtaken(now, config=CONFIG, rng=random.Random(1))),
    "begin": lambda life, now: life.begin(now),
}
STATES = {
    "new": Life(trusted=False),
    "healthy": learn(Life(trusted=False), Verdict.FULL),
    "degraded": learn(Life(trusted=False), *[Verdict.EMPTY] * 3),
    "alone": Life(trusted=True),
    "failing": learn(Life(trusted=False), Verdict.DNS),
    "limited": learn(Life(trusted=False), Verdict.RATE_LIMITED),
    "own, limited": learn(Life(trusted=True, own=True), Verdict.RATE_LIMITED),
    "own, blocked": learn(Life(trusted=True, own=True), Verdict.BLOCKED),
    "resting": learn(Life(trusted=False), Verdict.FULL),
    "on trial": Life(trusted=False, state=InstanceState.HALF_OPEN),
    "been healthy": Life(trusted=False, state=InstanceState.HALF_OPEN, healthy_since=NOW - DAY),
    "banned": learn(Life(trusted=False), Verdict.NOT_SEARXNG),
    "opted out": Life(trusted=False),
    "blacklisted": Life(trusted=False, bans=2),
}
EVENTS["alone"](STATES["alone"], NOW)
STATES["resting"].rest(HOUR, NOW)
STATES["opted out"].opt_out(NOW)
learn(STATES["blacklisted"], Verdict.FOREIGN_REDIRECT)
# What becomes of a state by an event: (h)ealthy, (d)egraded, (f)ailing, (r)ate limited, (q)uarantined,
# (o)pted out, (t)rial, (n)ew; a dot where state, reason and wait stay, a comma where the wait ends now.
TABLE = """
             full thin empty bare silent down limit block other astray json out in rest alive revive dead alone agrees slow begin
new          h    h    h     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
healthy      .    .    .     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
degraded     h    .    .     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
alone        .    .    .     .    .      f    r     r     .     .      .    o   .  r    .     .      f    .     h      .    .
failing      h    h    h     .    .      .    .     .     q     q      .    o   .  r    ,     ,      .    d     .      .    .
limited      .    .    .     .    .      .    .     .     .     .      .    o   .  r    .     ,      .    .     .      .    .
own, limited h    h    h     .    .      .    .     .     .     .      .    o   .  r    .     ,      .    .     .      .    .
own, blocked h    h    h     .    .      .    .     .     .     .      .    o   .  r    .     ,      .    .     .      .    .
resting      .    .    .     .    .      .    .     .     .     .      .    o   .  .    .     ,      .    .     .      .    .
on trial     h    h    h     n    f      f    r     r     q     q      n    o   .  r    .     .      f    d     .      f    .
been healthy h    h    h     h    f      f    r     r     q     q      n    o   .  r    .     .      f    d     .      f    .
banned       .    .    .     .    .      .    .     .     .     .      .    o   .  .    .     ,      .    .     .      .    .
opted out    .    .    .     .    .      .    .     .     .     .      .    .   ,  .    .     ,      .    .     .      .    .
blacklisted  .    .    .     .    .      .    .     .     .     .      .    .   .  .    .     .      .    .     .      .    .
"""
LETTERS = {
    "h": InstanceState.HEALTHY,
    "d": InstanceState.DEGRADED,
    "f": InstanceState.FAILING,
    "r": InstanceState.RATE_LIMITED,
    "q": InstanceState.QUARANTINED,
    "o": InstanceState.QUARANTINED,
    "t": InstanceState.HALF_OPEN,
    "n": InstanceState.NEW,
}
HEAD, *ROWS = TABLE.strip().splitlines()


@pytest.mark.parametrize(
    ("state", "event", "letter"),
    [
        (row[:13].strip(), event, letter)
        for row in ROWS
        for event, letter in zip(HEAD.split(), row[13:].split(), strict=True)
    ],
)
def test_what_happens_changes_a_state_only_if_it_speaks_against_it(state, event, letter):
    before = STATES[state]
    life = replace(before)
    EVENTS[event](life, NOW)
    wait = before.retry_after(NOW)
    if letter in ".,":
        assert (life.state, life.reason) == (before.state, before.reason)
        assert life.retry_after(NOW) == (0 if letter == "," else wait)
        return
    assert life.state is LETTERS[letter]
    assert (life.reason == OPTED_OUT) == (letter == "o")
    if letter in "frqo":
        assert life.retry_after(NOW) >= wait, "nothing shortens a wait"
        assert life.retry_after(NOW) > 0
    else:
        assert life.retry_after(NOW) == 0
    if letter in "hn":
        assert life.reason == ""


@pytest.mark.parametrize("event", ["full", "empty"])
def test_a_wait_that_an_answer_has_ended_lengthens_no_later_one(event):
    life = replace(STATES["failing"], empty=2)
    EVENTS[event](life, NOW)
    life.rest(10, NOW)
    assert life.retry_after(NOW) == 10


@pytest.mark.parametrize("state", ["failing", "limited", "resting", "banned", "opted out"])
def test_one_request_tries_it_when_the_wait_is_over_and_not_before(state):
    life = replace(STATES[state])
    wait = life.retry_after(NOW)
    assert not life.is_open(NOW + wait - 1)
    life.begin(NOW + wait - 1)
    assert life.state is STATES[state].state
    assert life.is_open(NOW + wait)
    life.begin(NOW + wait)
    assert life.state is InstanceState.HALF_OPEN


@pytest.mark.parametrize(
    ("event", "times", "trusted", "state"),
    [
        (Verdict.TIMEOUT, 3, True, InstanceState.FAILING),
        (Verdict.SERVER_ERROR, 3, False, InstanceState.FAILING),
        (Verdict.EMPTY, 3, False, InstanceState.DEGRADED),
        ("alone", 5, True, InstanceState.DEGRADED),
        ("dead", 3, True, InstanceState.FAILING),
        ("DNS, each time after its rest", 6, False, InstanceState.QUARANTINED),
        ("429, each time after its rest", 3, False, InstanceState.QUARANTINED),
        ("TLS, each time after its rest", 3, False, InstanceState.QUARANTINED),
        ("TLS, each time after its rest", 9, False, InstanceState.BLACKLISTED),
        ("offence", 3, False, InstanceState.QUARANTINED),
        ("redirect, each time after its rest", 3, False, InstanceState.BLACKLISTED),
    ],
)
def test_so_many_in_a_row_change_the_state_and_one_less_does_not(event, times, trusted, state):
    life, now = learn(Life(trusted=trusted), Verdict.FULL), NOW
    seen = []
    for _ in range(times):
        now += life.retry_after(now)
        match event:
            case Verdict():
                learn(life, event, now=now)
            case "alone":
                life.compared(agrees=False, now=now)
            case "dead":
                life.probed(alive=False, now=now, config=CONFIG, rng=random.Random(1))
            case "offence":
                learn(life, Verdict.FULL, now=now, offence="Some lead home.")
            case _:
                verdict = {
                    "DNS": Verdict.DNS,
                    "429": Verdict.RATE_LIMITED,
                    "TLS": Verdict.TLS,
                    "red": Verdict.FOREIGN_REDIRECT,
                }[event[:3]]
                learn(life, verdict, now=now)
        seen.append(life.state)
    assert seen.index(state) == times - 1
    assert life.reason


@pytest.mark.parametrize("limits", [(0, 10_000, DAY), (0, 10_000, DAY + 1)])
def test_limits_within_a_day_mean_that_we_are_not_wanted(limits):
    life = Life(trusted=False)
    for at in limits:
        learn(life, Verdict.RATE_LIMITED, now=NOW + at)
    is_unwanted = life.state is InstanceState.QUARANTINED
    assert is_unwanted == (limits[-1] - limits[0] <= DAY)
    assert "three times within a day" in life.reason or not is_unwanted


@pytest.mark.parametrize("engines", [1, 2])
def test_answers_without_engines_count_if_more_than_one_fails(engines):
    failed = tuple(UnresponsiveEngine(engine=str(n), reason="timeout") for n in range(engines))
    life = learn(Life(trusted=False), Verdict.FULL)
    for _ in range(3):
        page = ResultPage(unresponsive_engines=failed)
        life.learn(
            Outcome(Verdict.ENGINES_FAILED, Format.HTML, 0.5, page=page),
            NOW,
            config=CONFIG,
            rng=random.Random(1),
        )
    assert (life.state is InstanceState.DEGRADED) == (engines > 1)


GOOD, BAD = Verdict.FULL, Verdict.TIMEOUT


@pytest.mark.parametrize(
    ("verdicts", "is_failing"),
    [
        ([BAD, BAD, GOOD, BAD], True),
        ([BAD, GOOD, BAD, GOOD, BAD], True),
        ([BAD, GOOD, GOOD, BAD, GOOD, BAD], False),
        ([BAD, BAD, GOOD, GOOD, GOOD, BAD], False),
        ([BAD, BAD, Verdict.ENGINES_FAILED, BAD], True),
    ],
)
def test_three_failures_among_the_last_five_are_too_many(verdicts, is_failing):
    life = learn(Life(trusted=True), *verdicts[:-1])
    assert life.is_open(NOW)
    learn(life, verdicts[-1])
    assert (life.state is InstanceState.FAILING) == is_failing


def test_what_was_counted_before_a_rest_does_not_count_after_it():
    life = learn(Life(trusted=True), BAD, GOOD, BAD, GOOD, BAD)
    now = NOW + life.retry_after(NOW)
    learn(life, GOOD, BAD, BAD, now=now)
    assert life.state is InstanceState.HEALTHY


@pytest.mark.parametrize(("times", "seconds"), [(1, 30), (2, 60), (5, 480), (6, 600), (5_000, 600)])
def test_who_was_overtaken_is_behind_for_a_time_that_doubles_to_ten_minutes(times, seconds):
    life, now = Life(trusted=True), NOW
    for _ in range(times):
        now += 601
        overtake(life, now=now)
    assert life.is_behind(now + seconds - 1)
    assert not life.is_behind(now + seconds)
    assert life.state is InstanceState.NEW


def test_requests_that_are_overtaken_together_count_once():
    life = overtake(Life(trusted=True), 8)
    assert not life.is_behind(NOW + 30)


@pytest.mark.parametrize("verdict", [Verdict.FULL, Verdict.THIN, Verdict.EMPTY])
def test_an_answer_forgives_being_overtaken(verdict):
    assert not learn(overtake(Life(trusted=True)), verdict).is_behind(NOW)


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


@pytest.mark.parametrize(
    ("between", "forgiven"),
    [
        ([], False),
        ([Verdict.FULL], True),
        ([Verdict.THIN], True),
        ([Verdict.EMPTY], False),
        ([Verdict.ENGINES_FAILED], False),
        ([Verdict.TIMEOUT], False),
    ],
)
def test_only_an_honest_page_with_results_between_forgives_offences(between, forgiven):
    life = learn(Life(trusted=False), Verdict.FULL, Verdict.FULL, offence="Some lead home.")
    for verdict in between:
        page = PAGE if verdict in {Verdict.FULL, Verdict.THIN} else ResultPage()
        life.learn(
            Outcome(verdict, Format.HTML, 0.5, page=None if verdict is BAD else page),
            NOW,
            config=CONFIG,
            rng=random.Random(1),
        )
    learn(life, Verdict.FULL, offence="Some lead home.")
    assert (life.state is InstanceState.HEALTHY) == forgiven
    learn(life, Verdict.FULL, Verdict.FULL, offence="Some lead home.")
    assert life.state is InstanceState.QUARANTINED


@pytest.mark.parametrize(
    ("between", "forgiven"), [(Verdict.FULL, True), (Verdict.EMPTY, True), (Verdict.DNS, False)]
)
def test_a_good_answer_between_forgives_certificates(between, forgiven):
    life, now = Life(trusted=False), NOW
    for verdict in (Verdict.TLS, Verdict.TLS, between, Verdict.TLS):
        now += life.retry_after(now)
        learn(life, verdict, now=now)
    assert life.state is (InstanceState.FAILING if forgiven else InstanceState.QUARANTINED)


@pytest.mark.parametrize(
    ("successes", "wait"), [(1, (240, 288)), (2, (240, 288)), (3, (60, 72)), (4, (60, 72))]
)
def test_three_good_answers_forget_the_episodes_of_limits(successes, wait):
    config = CONFIG.model_copy(update={"limits_double": True})
    life, now = Life(trusted=True), NOW
    for at in range(3):
        now += life.retry_after(now)
        for verdict in [GOOD] * (successes if at == 2 else 0) + [Verdict.RATE_LIMITED]:
            life.begin(now)
            life.learn(Outcome(verdict, Format.JSON, 0.1), now, config=config, rng=random.Random(1))
    low, high = wait
    assert low <= life.retry_after(now) <= high


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
