"""The state machine of one instance: what counts against it, and what is forgiven."""

import random

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import InstanceState, Tier
from searx_mcp.pool.catalog import OWN_PRIOR, Standing
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import Member
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import OPTED_OUT, InstanceRecord

NOW = 1_000_000.0
HOUR = 3_600.0
DAY = 24 * HOUR
CONFIG = PoolConfig()
PAGE = ResultPage(hits=(Hit(url="https://a.example/", title="A", position=1),))
REASONS = {
    Verdict.TLS: "The TLS handshake or the certificate failed.",
    Verdict.FOREIGN_REDIRECT: "The answer is a redirect to https://elsewhere.example.",
}


def one(tier: Tier = Tier.A, **fields) -> Member:
    """A member with such a record."""
    member = Member("https://a.example/", Standing(tier, None, OWN_PRIOR))
    member.record = InstanceRecord(url=member.url, **fields)
    return member


def copied(member: Member, **fields) -> Member:
    copy = Member(member.url, member.standing)
    copy.record = member.record.model_copy(update=fields)
    return copy


def holding(it: Member, config: PoolConfig = CONFIG) -> Members:
    """The members of a pool that has no other."""
    members = Members(config, random.Random(1))
    members._members[it.url] = it
    return members


def learn(
    it: Member, *verdicts: Verdict, now: float = NOW, trust_violation: str = "", **fields
) -> Member:
    for verdict in verdicts:
        page = PAGE if verdict.ends_search or trust_violation else None
        detail = REASONS.get(verdict, "A sentence.")
        holding(it).begin(it.url, now)
        holding(it).report(
            it.url,
            Outcome(
                verdict,
                Format.HTML,
                0.5,
                page=page,
                detail=detail,
                trust_violation=trust_violation,
                **fields,
            ),
            now,
        )
    return it


def after_each_rest(it: Member, verdict: Verdict, times: int, **fields) -> float:
    """Fail as often as said, each time when its rest is over; gives the time then."""
    now = NOW
    for _ in range(times):
        now += it.record.retry_after(now) + 1
        learn(it, verdict, now=now, **fields)
    return now


def overtake(it: Member, times: int = 1, now: float = NOW) -> Member:
    for _ in range(times):
        holding(it).begin(it.url, now)
        holding(it).lost_to_hedge(it.url, 1.0, now)
    return it


def answered(verdict: Verdict, **fields):
    """Makes the event that an answer comes, to a request that may have left long before."""

    def come(it: Member, now: float, members: Members | None = None) -> None:
        page = PAGE if verdict.ends_search else None
        outcome = Outcome(verdict, Format.HTML, 0.5, page=page, detail="A sentence.", **fields)
        (members or holding(it)).report(it.url, outcome, now)

    return come


def again(times: int, event):
    def come(it: Member, now: float) -> None:
        for _ in range(times):
            event(it, now)

    return come


def probed(*, alive: bool):
    return lambda it, now: holding(it).probed(it.url, alive=alive, now=now)


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
    "json": answered(Verdict.JSON_OFF),
    "revive": lambda it, now: holding(it).revive(it.url, now),
    "out": lambda it, now: holding(it).read_robots(it.url, opted_out=True, now=now),
    "in": lambda it, now: holding(it).read_robots(it.url, opted_out=False, now=now),
    "rest": lambda it, now: holding(it).rest(it.url, 60, now),
    "alive": probed(alive=True),
    "dead": again(3, probed(alive=False)),
    "alone": again(5, lambda it, now: holding(it).record_agreement(it.url, agrees=False, now=now)),
    "agrees": lambda it, now: holding(it).record_agreement(it.url, agrees=True, now=now),
    "slow": again(3, lambda it, now: holding(it).lost_to_hedge(it.url, 1.0, now)),
    "begin": lambda it, now: holding(it).begin(it.url, now),
}
STATES = {
    "new": one(),
    "healthy": learn(one(), Verdict.FULL),
    "degraded": learn(one(), *[Verdict.EMPTY] * 3),
    "alone": one(Tier.OPEN),
    "failing": learn(one(), Verdict.DNS),
    "limited": learn(one(), Verdict.RATE_LIMITED),
    "own, limited": learn(one(Tier.OWN), Verdict.RATE_LIMITED),
    "own, blocked": learn(one(Tier.OWN), Verdict.BLOCKED),
    "resting": learn(one(), Verdict.FULL),
    "on trial": one(state=InstanceState.HALF_OPEN),
    "been healthy": one(state=InstanceState.HALF_OPEN, healthy_since=NOW - DAY),
    "banned": learn(one(), Verdict.NOT_SEARXNG),
    "opted out": one(),
    "blacklisted": one(bans=2),
}
EVENTS["alone"](STATES["alone"], NOW)
holding(STATES["resting"]).rest(STATES["resting"].url, HOUR, NOW)
holding(STATES["opted out"]).read_robots(STATES["opted out"].url, opted_out=True, now=NOW)
learn(STATES["blacklisted"], Verdict.FOREIGN_REDIRECT)
# What becomes of a state by an event: (h)ealthy, (d)egraded, (f)ailing, (r)ate limited, (q)uarantined,
# (o)pted out, (t)rial, (n)ew; a dot where state, reason and wait stay, a comma where the wait ends now.
TABLE = """
             full thin empty bare silent down limit block other astray json out in rest alive revive dead alone agrees slow begin
new          h    h    h     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
healthy      .    .    .     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
degraded     h    .    .     .    .      f    r     r     q     q      .    o   .  r    .     .      f    d     .      .    .
alone        .    .    .     .    .      f    r     r     .     .      .    o   .  r    .     .      f    .     h      .    .
failing      h    h    h     .    .      .    .     .     q     q      .    o   .  r    ,     .      .    d     .      .    .
limited      .    .    .     .    .      .    .     .     .     .      .    o   .  r    .     .      .    .     .      .    .
own, limited h    h    h     .    .      .    .     .     .     .      .    o   .  r    .     ,      .    .     .      .    .
own, blocked h    h    h     .    .      .    .     .     .     .      .    o   .  r    .     ,      .    .     .      .    .
resting      .    .    .     .    .      .    .     .     .     .      .    o   .  .    .     .      .    .     .      .    .
on trial     h    h    h     n    f      f    r     r     q     q      n    o   .  r    .     .      f    d     .      f    .
been healthy h    h    h     h    f      f    r     r     q     q      n    o   .  r    .     .      f    d     .      f    .
banned       .    .    .     .    .      .    .     .     .     .      .    o   .  .    .     .      .    .     .      .    .
opted out    .    .    .     .    .      .    .     .     .     .      .    .   ,  .    .     .      .    .     .      .    .
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
    it = copied(before)
    EVENTS[event](it, NOW)
    wait = before.record.retry_after(NOW)
    if letter in ".,":
        assert (it.record.state, it.record.reason) == (before.record.state, before.record.reason)
        assert it.record.retry_after(NOW) == (0 if letter == "," else wait)
        return
    assert it.record.state is LETTERS[letter]
    assert (it.record.reason == OPTED_OUT) == (letter == "o")
    if letter in "frqo":
        assert it.record.retry_after(NOW) >= wait, "nothing shortens a wait"
        assert it.record.retry_after(NOW) > 0
    else:
        assert it.record.retry_after(NOW) == 0
    if letter in "hn":
        assert it.record.reason == ""


@pytest.mark.parametrize("event", ["full", "empty"])
def test_a_wait_that_an_answer_has_ended_lengthens_no_later_one(event):
    it = copied(STATES["failing"], empty=2)
    EVENTS[event](it, NOW)
    holding(it).rest(it.url, 10, NOW)
    assert it.record.retry_after(NOW) == 10


@pytest.mark.parametrize("state", ["failing", "limited", "resting", "banned", "opted out"])
def test_one_request_tries_it_when_the_wait_is_over_and_not_before(state):
    it = copied(STATES[state])
    wait = it.record.retry_after(NOW)
    assert not it.record.is_open(NOW + wait - 1)
    holding(it).begin(it.url, NOW + wait - 1)
    assert it.record.state is STATES[state].record.state
    assert it.record.is_open(NOW + wait)
    holding(it).begin(it.url, NOW + wait)
    assert it.record.state is InstanceState.HALF_OPEN


@pytest.mark.parametrize(
    ("event", "times", "trusted", "state"),
    [
        (Verdict.TIMEOUT, 3, True, InstanceState.FAILING),
        (Verdict.SERVER_ERROR, 3, False, InstanceState.FAILING),
        (Verdict.CONNECTION, 3, False, InstanceState.FAILING),
        (Verdict.MALFORMED, 3, False, InstanceState.FAILING),
        (Verdict.EMPTY, 3, False, InstanceState.DEGRADED),
        ("alone", 5, True, InstanceState.DEGRADED),
        ("dead", 3, True, InstanceState.FAILING),
        ("DNS, each time after its rest", 6, False, InstanceState.QUARANTINED),
        ("429, each time after its rest", 3, False, InstanceState.QUARANTINED),
        ("TLS, each time after its rest", 3, False, InstanceState.QUARANTINED),
        ("TLS, each time after its rest", 9, False, InstanceState.BLACKLISTED),
        ("violation", 3, False, InstanceState.QUARANTINED),
        ("redirect, each time after its rest", 3, False, InstanceState.BLACKLISTED),
    ],
)
def test_so_many_in_a_row_change_the_state_and_one_less_does_not(event, times, trusted, state):
    it, now = learn(one(Tier.OPEN if trusted else Tier.A), Verdict.FULL), NOW
    seen = []
    for _ in range(times):
        now += it.record.retry_after(now)
        match event:
            case Verdict():
                learn(it, event, now=now)
            case "alone":
                holding(it).record_agreement(it.url, agrees=False, now=now)
            case "dead":
                holding(it).probed(it.url, alive=False, now=now)
            case "violation":
                learn(it, Verdict.FULL, now=now, trust_violation="Some lead home.")
            case _:
                verdict = {
                    "DNS": Verdict.DNS,
                    "429": Verdict.RATE_LIMITED,
                    "TLS": Verdict.TLS,
                    "red": Verdict.FOREIGN_REDIRECT,
                }[event[:3]]
                learn(it, verdict, now=now)
        seen.append(it.record.state)
    assert seen.index(state) == times - 1
    assert it.record.reason


@pytest.mark.parametrize("limits", [(0, 10_000, DAY), (0, 10_000, DAY + 1)])
def test_limits_within_a_day_mean_that_we_are_not_wanted(limits):
    it = one()
    for at in limits:
        learn(it, Verdict.RATE_LIMITED, now=NOW + at)
    is_unwanted = it.record.state is InstanceState.QUARANTINED
    assert is_unwanted == (limits[-1] - limits[0] <= DAY)
    assert "three times within a day" in it.record.reason or not is_unwanted


@pytest.mark.parametrize("engines", [1, 2])
def test_answers_without_engines_count_if_more_than_one_fails(engines):
    failed = tuple(UnresponsiveEngine(engine=str(n), reason="timeout") for n in range(engines))
    it = learn(one(), Verdict.FULL)
    for _ in range(3):
        page = ResultPage(unresponsive_engines=failed)
        holding(it).report(
            it.url, Outcome(Verdict.ENGINES_FAILED, Format.HTML, 0.5, page=page), NOW
        )
    assert (it.record.state is InstanceState.DEGRADED) == (engines > 1)


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
    it = learn(one(Tier.OPEN), *verdicts[:-1])
    assert it.record.is_open(NOW)
    learn(it, verdicts[-1])
    assert (it.record.state is InstanceState.FAILING) == is_failing


def test_more_failures_in_a_row_may_be_allowed_than_are_remembered():
    it, config = one(), CONFIG.model_copy(update={"max_consecutive_failures": 7})
    states = []
    for _ in range(7):
        answered(BAD)(it, NOW, holding(it, config))
        states.append(it.record.state)
    assert states.index(InstanceState.FAILING) == 6


def test_what_was_counted_before_a_rest_does_not_count_after_it():
    it = learn(one(Tier.OPEN), BAD, GOOD, BAD, GOOD, BAD)
    now = NOW + it.record.retry_after(NOW)
    learn(it, GOOD, BAD, BAD, now=now)
    assert it.record.state is InstanceState.HEALTHY


@pytest.mark.parametrize(("times", "seconds"), [(1, 30), (2, 60), (5, 480), (6, 600), (5_000, 600)])
def test_who_was_overtaken_is_behind_for_a_time_that_doubles_to_ten_minutes(times, seconds):
    it, now = one(Tier.OPEN), NOW
    for _ in range(times):
        now += 601
        overtake(it, now=now)
    assert it.record.is_behind(now + seconds - 1)
    assert not it.record.is_behind(now + seconds)
    assert it.record.state is InstanceState.NEW


def test_requests_that_are_overtaken_together_count_once():
    it = overtake(one(Tier.OPEN), 8)
    assert not it.record.is_behind(NOW + 30)


@pytest.mark.parametrize("verdict", [Verdict.FULL, Verdict.THIN, Verdict.EMPTY])
def test_an_answer_forgives_being_overtaken(verdict):
    assert not learn(overtake(one(Tier.OPEN)), verdict).record.is_behind(NOW)


@pytest.mark.parametrize(
    ("verdict", "state", "low", "high"),
    [
        (Verdict.DNS, InstanceState.FAILING, 15, 30),
        (Verdict.TLS, InstanceState.FAILING, 15, 30),
        (Verdict.REFUSED, InstanceState.FAILING, 15, 30),
        (Verdict.RATE_LIMITED, InstanceState.RATE_LIMITED, 600, 720),
        (Verdict.BLOCKED, InstanceState.RATE_LIMITED, DAY, 1.2 * DAY),
        (Verdict.CHALLENGE, InstanceState.RATE_LIMITED, DAY, 1.2 * DAY),
        (Verdict.NOT_SEARXNG, InstanceState.QUARANTINED, DAY, 1.2 * DAY),
    ],
)
def test_a_failure_that_will_repeat_takes_effect_at_once(verdict, state, low, high):
    it = learn(one(), verdict)
    assert it.record.state is state
    assert low <= it.record.retry_after(NOW) <= high


@pytest.mark.parametrize("event", ["silent", "slow"])
def test_failing_or_being_overtaken_on_trial_sends_it_back_for_longer(event):
    it, later = learn(one(), Verdict.DNS), NOW + 31
    holding(it).begin(it.url, later)
    EVENTS[event](it, later)
    assert it.record.state is InstanceState.FAILING
    assert 30 <= it.record.retry_after(later) <= 60


def test_three_good_answers_forget_the_failing_episodes():
    it = one()
    now = after_each_rest(it, Verdict.DNS, 3)
    now += it.record.retry_after(now)
    learn(it, *[Verdict.FULL] * 3, Verdict.DNS, now=now)
    assert it.record.retry_after(now) <= 30


@pytest.mark.parametrize(("seconds", "low", "high"), [(HOUR, 15, 30), (HOUR - 1, 120, HOUR)])
def test_an_hour_in_health_forgets_the_failing_episodes_and_less_does_not(seconds, low, high):
    it = one()
    now = after_each_rest(it, Verdict.DNS, 3)
    now += it.record.retry_after(now)
    learn(it, Verdict.FULL, now=now)
    learn(it, Verdict.DNS, now=now + seconds)
    assert low <= it.record.retry_after(now + seconds) <= high


def test_requests_that_fail_together_are_one_episode():
    it = one(Tier.OPEN)
    learn(it, *[Verdict.CONNECTION] * 3)
    wait = it.record.retry_after(NOW)
    learn(it, *[Verdict.CONNECTION] * 7)
    assert (it.record.failing_episode, it.record.retry_after(NOW)) == (1, wait)


def test_a_result_between_forgives_answers_without_any():
    it = learn(one(), *[Verdict.EMPTY, Verdict.EMPTY, Verdict.THIN] * 3)
    assert it.record.state is InstanceState.HEALTHY


@pytest.mark.parametrize(
    ("verdict", "trust_violation", "needed"),
    [
        (Verdict.TLS, "", 3),
        (Verdict.FULL, "4 of 10 results lead to the instance itself.", 3),
        (Verdict.UNTRUSTED, "All results lead to the instance itself.", 3),
        (Verdict.FOREIGN_REDIRECT, "", 1),
    ],
)
def test_whoever_breaks_trust_is_quarantined_and_after_three_times_blacklisted_for_good(
    verdict, trust_violation, needed
):
    it = one()
    now = after_each_rest(it, verdict, needed - 1, trust_violation=trust_violation)
    assert it.record.quarantine_episode == 0
    now += it.record.retry_after(now) + 1
    learn(it, verdict, now=now, trust_violation=trust_violation)
    assert (it.record.state, it.record.quarantine_episode) == (InstanceState.QUARANTINED, 1)
    assert DAY <= it.record.retry_after(now) <= 1.2 * DAY
    assert it.record.reason in {
        trust_violation,
        REASONS.get(verdict),
        "Its certificate failed three times in a row.",
    }
    for _ in range(2 * needed):
        now += it.record.retry_after(now) + 1
        learn(it, verdict, now=now, trust_violation=trust_violation)
    assert it.record.state is InstanceState.BLACKLISTED
    assert it.record.reason
    assert not it.record.is_open(now + 1_000 * DAY)
    assert it.record.retry_after(now) == 0


@pytest.mark.parametrize("tier", [Tier.OPEN, Tier.OWN])
@pytest.mark.parametrize(
    "verdict",
    [
        *(Verdict.DNS, Verdict.TLS, Verdict.FOREIGN_REDIRECT),
        *(Verdict.NOT_SEARXNG, Verdict.RATE_LIMITED),
    ],
)
def test_an_own_instance_is_neither_quarantined_nor_blacklisted(verdict, tier):
    it = one(tier)
    after_each_rest(it, verdict, 12)
    assert it.record.state not in {InstanceState.QUARANTINED, InstanceState.BLACKLISTED}
    assert it.record.bans == 0


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
def test_only_an_honest_page_with_results_between_forgives_violations_of_trust(between, forgiven):
    it = learn(one(), Verdict.FULL, Verdict.FULL, trust_violation="Some lead home.")
    for verdict in between:
        page = PAGE if verdict in {Verdict.FULL, Verdict.THIN} else ResultPage()
        holding(it).report(
            it.url, Outcome(verdict, Format.HTML, 0.5, page=None if verdict is BAD else page), NOW
        )
    learn(it, Verdict.FULL, trust_violation="Some lead home.")
    assert (it.record.state is InstanceState.HEALTHY) == forgiven
    learn(it, Verdict.FULL, Verdict.FULL, trust_violation="Some lead home.")
    assert it.record.state is InstanceState.QUARANTINED


@pytest.mark.parametrize(
    ("between", "forgiven"), [(Verdict.FULL, True), (Verdict.EMPTY, True), (Verdict.DNS, False)]
)
def test_a_good_answer_between_forgives_certificates(between, forgiven):
    it, now = one(), NOW
    for verdict in (Verdict.TLS, Verdict.TLS, between, Verdict.TLS):
        now += it.record.retry_after(now)
        learn(it, verdict, now=now)
    assert it.record.state is (InstanceState.FAILING if forgiven else InstanceState.QUARANTINED)


@pytest.mark.parametrize(
    ("successes", "wait"), [(1, (240, 288)), (2, (240, 288)), (3, (60, 72)), (4, (60, 72))]
)
def test_three_good_answers_forget_the_episodes_of_limits(successes, wait):
    config = CONFIG.model_copy(update={"limits_double": True})
    it, now = one(Tier.OPEN), NOW
    for at in range(3):
        now += it.record.retry_after(now)
        for verdict in [GOOD] * (successes if at == 2 else 0) + [Verdict.RATE_LIMITED]:
            holding(it).begin(it.url, now)
            holding(it, config).report(it.url, Outcome(verdict, Format.JSON, 0.1), now)
    low, high = wait
    assert low <= it.record.retry_after(now) <= high
