"""The life of one instance."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.pool.catalog import Prior, Standing, latency_quality
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.member import Member, Score
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import InstanceRecord

NOW = 1_000_000.0
HOUR = 3_600
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
    return Member("https://a.example/", Standing(tier, "A+", Prior(0.8, 0.8, 0.8, 0.8, 0.8)))


def holding(it: Member) -> Members:
    """The members of a pool that has no other."""
    members = Members(CONFIG, random.Random(1))
    members._members[it.url] = it
    return members


def outcome(verdict: Verdict, **fields) -> Outcome:
    page = fields.pop("page", PAGE if verdict.ends_search else None)
    return Outcome(
        **{"verdict": verdict, "format": Format.HTML, "elapsed": 0.5, "page": page, **fields}
    )


def learn(it: Member, *verdicts: Verdict, now: float = NOW, **fields) -> Member:
    for verdict in verdicts:
        holding(it).begin(it.url, now)
        holding(it).report(it.url, outcome(verdict, **fields), now)
    return it


def test_after_its_time_an_instance_gets_one_trial_and_no_second_beside_it():
    it = learn(member(Tier.OWN), Verdict.DNS)
    later = NOW + 31
    assert it.is_eligible(later)
    holding(it).begin(it.url, later)
    assert it.record.state is InstanceState.HALF_OPEN
    assert not it.is_eligible(later)


def test_a_trial_given_up_leaves_the_door_half_open():
    it = learn(member(), Verdict.DNS)
    holding(it).begin(it.url, NOW + 31)
    holding(it).release(it.url)
    assert it.record.state is InstanceState.HALF_OPEN
    assert it.is_eligible(NOW + 31)


def test_answers_without_engines_degrade_an_instance_until_one_is_full():
    it = learn(member(), Verdict.FULL)
    weight = it.weight(NOW)
    learn(it, *[Verdict.ENGINES_FAILED] * 3, page=BARE)
    assert it.record.state is InstanceState.DEGRADED
    assert it.is_eligible(NOW)
    assert 0 < it.weight(NOW) < weight / 4
    assert [it.is_sidelined(NOW + since) for since in (0, HOUR - 1, HOUR)] == [True, True, False]
    assert learn(it, Verdict.THIN).record.state is InstanceState.DEGRADED
    assert learn(it, Verdict.FULL).record.state is InstanceState.HEALTHY


def test_json_switched_off_is_remembered_for_a_week_and_is_no_failure():
    it = member(Tier.OWN)
    assert it.format(NOW) is Format.JSON
    learn(it, Verdict.JSON_OFF, format=Format.JSON)
    assert (it.record.failures, it.record.json_enabled) == (0, False)
    assert (it.format(NOW + 6.99 * DAY), it.format(NOW + 7 * DAY)) == (Format.HTML, Format.JSON)


@pytest.mark.parametrize("verdict", [Verdict.ENGINES_FAILED, Verdict.JSON_OFF])
def test_a_trial_without_results_does_not_leave_the_door_half_open(verdict):
    it = learn(member(Tier.OWN), Verdict.DNS)
    learn(it, verdict, page=BARE, format=Format.JSON, now=NOW + 31)
    assert it.is_eligible(NOW + 31)
    assert it.record.state is InstanceState.NEW, "it has never answered"


@pytest.mark.parametrize(("retry_after", "seconds"), [(None, HOUR), (90.0, 90)])
def test_a_limit_for_json_leaves_an_own_instance_to_be_asked_for_pages(retry_after, seconds):
    it = learn(member(Tier.OWN), Verdict.FULL, format=Format.JSON)
    learn(it, Verdict.RATE_LIMITED, format=Format.JSON, retry_after=retry_after)
    learn(it, Verdict.FULL, format=Format.JSON)  # one that was under way
    assert (it.record.state, it.record.failures, it.record.json_enabled) == (
        InstanceState.HEALTHY,
        0,
        True,
    )
    assert it.is_eligible(NOW)
    assert (it.format(NOW + seconds - 1), it.format(NOW + seconds)) == (Format.HTML, Format.JSON)


@pytest.mark.parametrize(
    ("tier", "format_"), [(Tier.A, Format.JSON), (Tier.OPEN, Format.JSON), (Tier.OWN, Format.HTML)]
)
def test_a_stranger_that_limits_json_rests_and_so_does_whoever_limits_pages(tier, format_):
    it = learn(member(tier), Verdict.RATE_LIMITED, format=format_)
    assert it.record.state is InstanceState.RATE_LIMITED


def test_an_own_instance_seen_to_work_is_asked_at_once_and_for_json():
    it = learn(member(Tier.OWN), Verdict.JSON_OFF, format=Format.JSON)
    learn(it, Verdict.CHALLENGE)
    assert not it.is_eligible(NOW)
    holding(it).revive(it.url, NOW)
    assert it.is_eligible(NOW)
    assert it.format(NOW) is Format.JSON


@pytest.mark.parametrize(
    ("verdicts", "doubted", "behind"),
    [
        ([], False, False),
        (["overtaken"], True, True),
        (["overtaken", Verdict.FULL], False, False),
        ([Verdict.FULL, Verdict.TIMEOUT], True, False),
        ([Verdict.SERVER_ERROR], True, False),
        ([Verdict.SERVER_ERROR, Verdict.THIN], False, False),
    ],
)
def test_an_own_instance_whose_last_request_came_to_nothing_is_doubted(verdicts, doubted, behind):
    it = member(Tier.OWN)
    for verdict in verdicts:
        if verdict == "overtaken":
            holding(it).begin(it.url, NOW)
            holding(it).lost_to_hedge(it.url, 1.5, NOW)
        else:
            learn(it, verdict)
    assert (it.is_doubted(NOW), it.is_sidelined(NOW)) == (doubted, behind)


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


def test_a_public_instance_serves_one_request_at_a_time_and_an_own_one_any_number():
    for tier, expected in ((Tier.A, False), (Tier.OWN, True)):
        it = member(tier)
        holding(it).begin(it.url, NOW)
        assert it.is_eligible(NOW) is expected


def test_its_repr_shows_what_an_operator_wants_to_know():
    it = learn(member(), Verdict.FULL, Verdict.TIMEOUT)
    assert repr(it) == "<Member https://a.example/ A+ healthy 1 ok, 1 failed, 0 in flight>"


def test_a_host_that_says_when_to_come_back_is_left_alone_until_then():
    it = learn(member(), Verdict.SERVER_ERROR, retry_after=600.0)
    assert it.record.state is InstanceState.FAILING
    assert 600 <= it.record.retry_after(NOW) <= 660


def test_answers_whose_rows_nobody_can_read_are_counted():
    drifted, partly = ResultPage(rows_seen=4), ResultPage(hits=PAGE.hits, rows_seen=4)
    it = learn(member(), Verdict.MALFORMED, Verdict.MALFORMED, page=drifted)
    learn(it, Verdict.THIN, page=partly)
    learn(it, Verdict.EMPTY, page=ResultPage())
    assert it.record.drift == 2


def test_its_card_shows_what_is_known():
    it = learn(member(), Verdict.RATE_LIMITED, retry_after=100.0, status_code=429, detail="Slow.")
    it.record.facts = ConfigFacts(version="2026.1", limiter_enabled=True, link_token=False)
    learn(it, Verdict.FULL, now=NOW + 110, status_code=200)
    learn(it, Verdict.TIMEOUT, now=NOW + 110, elapsed=2.0006)
    learn(it, Verdict.TLS, now=NOW + 110, detail="Bad certificate.")
    card = it.report_card(NOW + 111)
    assert card.model_copy(update={"score": 0, "score_parts": {}}) == InstanceReport(
        url="https://a.example/",
        tier=Tier.A_PLUS,
        grade="A+",
        state=InstanceState.FAILING,
        score=0,
        successes=1,
        failures=3,
        consecutive_failures=2,
        latency=2.001,
        p50=0.5,
        p95=2.001,
        success=0.25,
        format=Format.HTML,
        last_verdict=Verdict.TLS,
        last_detail="Bad certificate.",
        reason="Bad certificate.",
        version="2026.1",
        limiter=True,
        link_token=False,
        retry_after=round(it.record.until - NOW - 111, 1),
    )
    assert set(card.score_parts) == {
        *(f"prior_{name}" for name in Prior._fields),
        *("prior", "observed", "confidence", "latency", "access", "format"),
    }
    assert (card.score_parts["prior_grade"], card.score_parts["access"]) == (0.8, 0.6)
    assert card.score == round(it.score(NOW + 111).total, 3) > 0


def test_the_card_of_an_instance_never_asked_knows_little():
    card = member().report_card(NOW)
    assert card.model_copy(update={"score": 0, "score_parts": {}}) == InstanceReport(
        url="https://a.example/",
        tier=Tier.A_PLUS,
        grade="A+",
        state=InstanceState.NEW,
        score=0,
        format=Format.HTML,
    )


EVENTS = {
    "report": lambda it: learn(it, Verdict.FULL, now=NOW + 5),
    "overtaken": lambda it: holding(it).lost_to_hedge(it.url, 1.0, NOW + 5),
    "agreement": lambda it: holding(it).record_agreement(it.url, agrees=True, now=NOW + 5),
    "rest": lambda it: holding(it).rest(it.url, 10, NOW + 5),
    "opt out": lambda it: holding(it).read_robots(it.url, opted_out=True, now=NOW + 5),
    "robots": lambda it: holding(it).read_robots(it.url, opted_out=False, now=NOW + 5),
    "probed": lambda it: holding(it).probed(it.url, alive=True, now=NOW + 5),
}


@pytest.mark.parametrize("event", EVENTS)
def test_whatever_is_learned_is_news_to_be_kept(event):
    it = learn(member(), Verdict.FULL)
    EVENTS[event](it)
    assert it.record.last_at == NOW + 5
    assert it.record.robots_read_at == (NOW + 5) * (event in {"opt out", "robots"})


@pytest.mark.parametrize("ending", ["report", "overtaken", "release"])
def test_a_request_that_ends_is_in_flight_no_more(ending):
    it = member()
    holding(it).begin(it.url, NOW)
    assert it.in_flight == 1
    if ending == "report":
        holding(it).report(it.url, outcome(Verdict.FULL), NOW)
    elif ending == "release":
        holding(it).release(it.url)
    else:
        EVENTS[ending](it)
    assert it.in_flight == 0


def test_being_overtaken_is_remembered_as_what_it_was():
    it = member()
    holding(it).begin(it.url, NOW)
    holding(it).lost_to_hedge(it.url, 1.5, NOW)
    card = it.report_card(NOW)
    assert (card.last_verdict, card.last_detail) == (
        Verdict.OVERTAKEN,
        "Another instance answered first.",
    )
    assert (card.latency, card.successes, card.failures) == (1.5, 0, 0)
    (past,) = it.record.outcomes
    assert (past.verdict, past.elapsed_ms) == (Verdict.OVERTAKEN, 1_500)


def test_the_violation_of_trust_of_an_answer_is_what_is_shown():
    it = learn(member(), Verdict.FULL, trust_violation="Some lead home.", detail="Fine.")
    assert it.report_card(NOW).last_detail == "Some lead home."


@pytest.mark.parametrize(("successes", "share"), [(0, 0.25), (1, 0.5), (2, 1.0), (3, 1.0)])
def test_its_share_of_turns_is_the_squared_score_and_less_while_it_comes_back(successes, share):
    it = learn(member(), Verdict.FULL, Verdict.TIMEOUT, *[Verdict.FULL] * successes)
    assert it.weight(NOW) == pytest.approx(it.score(NOW).total ** 2 * share)
    it.record.state = InstanceState.DEGRADED
    assert it.weight(NOW) == pytest.approx(it.score(NOW).total ** 2 * share * 0.2)


@pytest.mark.parametrize(
    ("own", "json", "factor"),
    [(False, None, 0.8), (False, True, 1.0), (False, False, 0.7), (True, False, 1.0)],
)
def test_the_format_is_a_factor_of_the_score_of_public_instances(own, json, factor):
    it = member(Tier.OWN if own else Tier.A)
    it.record.json_enabled = json
    score = it.score(NOW)
    assert (score.format, score.access) == (factor, 1.0 if own else 0.5)


def test_before_the_first_request_the_prior_is_what_is_observed():
    score = member().score(NOW)
    assert (score.prior, score.observed, score.confidence) == pytest.approx((0.8, 0.8, 0.0))
    assert score.latency == 0.8
    score = learn(member(), Verdict.THIN, status_code=200).score(NOW)
    assert (score.observed, score.confidence) == (0.6, 0.2)
    assert score.latency == pytest.approx(latency_quality(0.5))


def test_a_trial_that_succeeds_halves_the_trust_in_what_was_seen_before():
    it = learn(member(), *[Verdict.FULL] * 3, Verdict.DNS)
    before = it.record.count * it.record.decay(NOW + 31)
    learn(it, Verdict.FULL, now=NOW + 31)
    assert it.record.count * it.record.decay(NOW + 31) == pytest.approx((before + 1) / 2)


@pytest.mark.parametrize(
    ("latency", "since", "expected"),
    [(3.0, 0, False), (3.01, 0, True), (3.01, 3_599, True), (3.01, 3_600, False)],
)
def test_a_slow_instance_is_sidelined_for_an_hour(latency, since, expected):
    it = learn(member(), Verdict.FULL, elapsed=latency, status_code=200)
    assert it.is_sidelined(NOW + since) is expected
    own = learn(member(Tier.OWN), Verdict.FULL, elapsed=latency, status_code=200)
    assert not own.is_sidelined(NOW + since)


JSON_PAGE, HTML_PAGE = replace(PAGE, formats=("csv", "json")), replace(PAGE, formats=("csv",))


@pytest.mark.parametrize(
    ("tier", "fields", "enabled", "listed"),
    [
        (Tier.A, {"page": JSON_PAGE}, None, True),
        (Tier.A, {"page": HTML_PAGE}, False, False),
        (Tier.A, {"page": PAGE}, None, None),
        (Tier.OWN, {"page": HTML_PAGE}, None, None),
        (Tier.OWN, {"page": PAGE, "format": Format.JSON}, True, None),
        (Tier.OWN, {"page": None, "format": Format.JSON}, None, None),
    ],
)
def test_which_formats_work_is_learned_from_pages(tier, fields, enabled, listed):
    it = learn(member(tier), Verdict.FULL, **fields)
    assert (it.record.json_enabled, it.record.json_listed) == (enabled, listed)


@pytest.mark.parametrize(
    ("tier", "limiter", "token", "expected"),
    [
        (Tier.OWN, None, None, True),
        (Tier.OWN, True, True, True),
        (Tier.A, None, None, False),
        (Tier.A, True, None, False),
        (Tier.A, False, None, True),
        (Tier.A, False, False, True),
        (Tier.A, False, True, False),
        (Tier.OPEN, None, None, False),
    ],
)
def test_who_counts_no_requests(tier, limiter, token, expected):
    it = member(tier)
    if limiter is not None:
        it.record.facts = ConfigFacts(limiter_enabled=limiter)
    learn(it, Verdict.FULL, page=replace(PAGE, link_token=token))
    assert it.is_unlimited is expected


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ({"latency": 0.0}, 0.75),
        ({"prior": 0.0, "confidence": 0.0}, 0.25),
        ({"prior": 0.0, "confidence": 0.2}, 0.25 + 0.75 * 0.2),
        ({"observed": 0.0, "confidence": 0.2}, 0.25 + 0.75 * 0.8),
        ({"access": 0.25, "format": 0.8}, 0.2),
    ],
)
def test_a_score_is_made_of_its_parts(parts, total):
    assert Score(*[1.0] * 6)._replace(**parts).total == pytest.approx(total)


@pytest.mark.parametrize(("count", "value"), [(0, 0), (1, 0.2), (4, 0.5), (12, 0.75)])
def test_own_observations_weigh_as_much_as_the_prior_after_four_requests(count, value):
    it = member()
    it.record = InstanceRecord(url=it.url, count=count, observed_at=NOW)
    assert it.score(NOW).confidence == value


SHARE = st.floats(0, 1)


@given(
    parts=st.tuples(*[SHARE] * 6),
    part=st.sampled_from(["prior", "observed", "latency", "access", "format"]),
    more=SHARE,
)
def test_a_score_lies_between_zero_and_one_and_rises_with_each_of_its_parts(parts, part, more):
    score = Score(*parts)
    better = score._replace(**{part: max(getattr(score, part), more)})
    assert 0 <= score.total <= 1 + 1e-12
    assert better.total >= score.total - 1e-12
