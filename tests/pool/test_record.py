"""What is kept of an instance is all there is to know."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.instance import CatalogEntry, InstanceState
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.engine_care import EngineRecord
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import InstanceRecord, replaces
from searx_mcp.storage.state import read_record

LONGEST = 40 * 86_400.0
SKEW = 60.0

SIX_HOURS = 6 * 3_600
NOW = 1_000_000.0
URL = "https://a.example/"


def pool() -> InstancePool:
    return InstancePool(public=[CatalogEntry(url=URL)], config=PoolConfig(), rng=random.Random(1))


@given(
    steps=st.lists(st.tuples(st.floats(0, 50_000), st.sampled_from(Verdict)), max_size=25),
    later=st.floats(0, 100_000),
)
def test_a_pool_restored_from_its_records_answers_like_the_one_they_came_from(steps, later):
    original, restored, now = pool(), pool(), NOW
    for wait, verdict in steps:
        now += wait
        original.begin(URL, now)
        original.report(URL, Outcome(verdict, Format.HTML, 0.3, status_code=200, detail="d"), now)
    restored.restore(original.learned_since(0))
    now += later
    assert restored.snapshot(now) == original.snapshot(now)
    assert restored.learned_since(0) == original.learned_since(0)


def test_only_what_changed_is_given_to_be_kept():
    it = pool()
    assert it.learned_since(0) == {}
    it.begin(URL, NOW)
    it.report(URL, Outcome(Verdict.FULL, Format.HTML, 0.3), NOW)
    assert (set(it.learned_since(0)), it.learned_since(NOW)) == ({URL}, {})


def test_records_of_instances_that_are_gone_are_passed_over():
    it, other = pool(), pool()
    it.begin(URL, NOW)
    it.report(URL, Outcome(Verdict.FULL, Format.HTML, 0.3), NOW)
    records = it.learned_since(0)
    other.restore({"https://gone.example/": records[URL]})
    assert other.learned_since(0) == {}


PAST = PastOutcome(
    at=NOW - 3,
    verdict=Verdict.FULL,
    format=Format.HTML,
    status_code=200,
    elapsed_ms=300,
    detail="d",
)
ENGINE = EngineRecord(
    name="bing",
    searches=("general",),
    refused=1,
    reason="CAPTCHA",
    asked_at=NOW - 44,
    refused_at=NOW - 44,
    until=NOW + 45,
    gap=30.0,
    spell=3_600.0,
)
RECORD = InstanceRecord(
    url=URL,
    state=InstanceState.FAILING,
    until=NOW + 17,
    reason="It fails.",
    healthy_since=NOW - 18,
    last_at=NOW,
    successes=19,
    failures=20,
    consecutive_failures=21,
    observed=2.2,
    count=2.3,
    observed_at=NOW - 24,
    latency=2.5,
    latency_at=NOW - 26,
    latencies=(0.27,),
    outcomes=(PAST,),
    json_enabled=False,
    json_recheck=NOW + 28,
    json_listed=True,
    link_token=True,
    failing_episode=29,
    limit_episode=30,
    quarantine_episode=31,
    limits=(NOW - 32,),
    recent=(True,),
    without_engines=33,
    empty=34,
    degraded_at=NOW - 35,
    successes_in_a_row=36,
    overtaken=37,
    overtaken_at=NOW - 37,
    trust_violations=38,
    disagreement_streak=39,
    certificate_failures=40,
    bans=41,
    drift=42,
    last_verdict=Verdict.TIMEOUT,
    last_detail="It was slow.",
    facts=ConfigFacts(version="2026.1"),
    facts_at=NOW - 44,
    reset_at=NOW - 45,
    state_at=NOW - 46,
    robots_read_at=NOW - 43,
    engines=(ENGINE,),
    version=1,
)


def test_every_field_of_a_record_is_taken_over_and_given_out_again():
    assert RECORD.model_fields_set == set(InstanceRecord.model_fields), "name the new field"
    it = pool()
    assert it.record_of(URL) == InstanceRecord(url=URL, successes_in_a_row=3), "as new"
    it.restore({URL: RECORD})
    assert it.record_of(URL) == RECORD
    it.restore({URL: RECORD.model_copy(update={"successes": 99})})
    assert it.record_of(URL) == RECORD, "no news"


@pytest.mark.parametrize("ahead", [SKEW + 1, LONGEST])
def test_a_record_from_the_future_counts_as_written_now_with_what_is_left_of_each_wait(ahead):
    earlier = NOW - ahead
    moved = {
        name: getattr(RECORD, name) - ahead
        for name in (
            *("last_at", "until", "json_recheck", "observed_at", "latency_at", "healthy_since"),
            *("degraded_at", "overtaken_at", "robots_read_at", "facts_at", "reset_at", "state_at"),
        )
    }
    moved |= {
        "limits": (RECORD.limits[0] - ahead,),
        "outcomes": (PAST.model_copy(update={"at": PAST.at - ahead}),),
        "engines": (
            ENGINE.model_copy(
                update={
                    name: getattr(ENGINE, name) - ahead
                    for name in ("asked_at", "refused_at", "refused_since", "until")
                }
            ),
        ),
    }
    assert RECORD.settled(earlier) == RECORD.model_copy(update=moved)


def test_a_moved_time_is_not_rounded_to_one_after_now():
    at, now = 1_709_385_958.677_423_5, 145_355_962.435_210_1
    assert at - (at - now) > now
    assert InstanceRecord(url=URL, last_at=at, state_at=at).settled(now).last_at == now


@pytest.mark.parametrize("ahead", [-1e6, 0, SKEW])
def test_a_record_from_a_clock_a_little_ahead_stays_as_it_is(ahead):
    earlier = NOW - ahead
    shortened = {"until": min(RECORD.until, earlier + LONGEST)}
    assert RECORD.settled(earlier) == RECORD.model_copy(update=shortened)


def test_a_time_of_its_own_that_lies_ahead_is_cut():
    wrong = dict.fromkeys(("observed_at", "latency_at", "healthy_since", "degraded_at"), NOW + 1e9)
    record = RECORD.model_copy(
        update={
            **wrong,
            "robots_read_at": NOW + 1e9,
            "until": NOW + 1e9,
            "json_recheck": NOW + 1e9,
            "limits": (NOW - 1, NOW + 1e9),
            "outcomes": (PAST, PAST.model_copy(update={"at": NOW + 1e9})),
        }
    ).settled(NOW)
    assert {getattr(record, name) for name in (*wrong, "robots_read_at")} == {NOW + SKEW}
    assert record.until == record.json_recheck == NOW + LONGEST
    assert record.limits == (NOW - 1, NOW + SKEW)
    assert [past.at for past in record.outcomes] == [PAST.at, NOW + SKEW]


@pytest.mark.parametrize(
    ("incoming", "kept", "wins"),
    [
        (NOW, NOW, True),
        (NOW + 1, NOW, True),
        (NOW - 1, NOW, False),
        (NOW - 1, NOW + SKEW, False),
        (NOW - 1, NOW + SKEW + 1, True),
    ],
)
def test_the_later_record_stays_unless_its_clock_was_wrong(incoming, kept, wins):
    assert replaces(incoming, kept, NOW) is wins


def test_a_record_of_an_earlier_version_keeps_its_limit_from_before_an_answer_seen_here():
    limited = {"url": URL, "last_at": NOW, "state": "rate_limited", "until": NOW + 60}
    limit = read_record(URL, json.dumps(limited))
    assert limit is not None
    answered = InstanceRecord(url=URL, last_at=NOW - 9, state_at=NOW - 9)
    assert limit.joined(answered) == answered.joined(limit) == limit


def outcome(verdict: Verdict, elapsed: float = 0.5, status: int | None = 200) -> Outcome:
    return Outcome(verdict, Format.HTML, elapsed, status_code=status)


@pytest.mark.parametrize(
    ("verdict", "worth"),
    [
        (Verdict.FULL, 1.0),
        (Verdict.THIN, 0.6),
        (Verdict.EMPTY, 0.5),
        (Verdict.ENGINES_FAILED, 0.2),
        (Verdict.TIMEOUT, 0.0),
        (Verdict.UNTRUSTED, 0.0),
    ],
)
def test_an_answer_is_worth_what_a_caller_gets_of_it(verdict, worth):
    seen = InstanceRecord(url=URL)
    seen.observe(outcome(verdict), NOW)
    assert seen.mean_worth() == worth


def test_an_observation_counts_half_after_six_hours():
    seen = InstanceRecord(url=URL)
    seen.observe(outcome(Verdict.TIMEOUT), NOW)
    assert seen.count * seen.decay(NOW + SIX_HOURS) == 0.5
    seen.observe(outcome(Verdict.FULL), NOW + SIX_HOURS)
    assert seen.mean_worth() == pytest.approx(1 / 1.5)


def test_a_clock_put_back_makes_nothing_count_more_than_once():
    seen = InstanceRecord(url=URL)
    seen.observe(outcome(Verdict.FULL), NOW)
    assert seen.count * seen.decay(NOW - 10 * SIX_HOURS) == 1
    seen.observe(outcome(Verdict.FULL, elapsed=0.1), NOW - 10 * SIX_HOURS)
    assert (seen.mean_worth(), seen.latency) == (1, 0.5)


def test_a_peak_of_latency_is_believed_at_once_and_forgotten_with_time():
    seen = InstanceRecord(url=URL)
    seen.observe(outcome(Verdict.FULL, 0.2), NOW)
    seen.observe(outcome(Verdict.FULL, 4.0), NOW + 1)
    assert seen.latency == 4.0
    seen.observe(outcome(Verdict.FULL, 0.2), NOW + 2)
    assert 3.9 < (seen.latency or 0) < 4.0
    seen.observe(outcome(Verdict.FULL, 0.2), NOW + 2 + 3_000)
    assert 0.2 < (seen.latency or 0) < 0.25


def test_a_refused_connection_is_not_a_fast_answer_and_a_timeout_is_a_slow_one():
    seen = InstanceRecord(url=URL)
    seen.observe(outcome(Verdict.CONNECTION, 0.001, status=None), NOW)
    assert seen.latency is None
    seen.observe(outcome(Verdict.TIMEOUT, 5.0, status=None), NOW)
    assert seen.latency == 5.0


def test_a_rest_halves_the_trust_and_not_the_mean():
    seen = InstanceRecord(url=URL)
    for verdict in (Verdict.FULL, Verdict.TIMEOUT):
        seen.observe(outcome(verdict), NOW)
    seen.halve_trust()
    assert (seen.count * seen.decay(NOW), seen.mean_worth()) == (1, 0.5)


def test_the_last_ten_requests_are_remembered_as_they_were():
    seen = InstanceRecord(url=URL)
    for turn in range(12):
        seen.remember(outcome(Verdict.FULL, elapsed=turn / 1_000), NOW + turn + 0.12345)
    assert [past.elapsed_ms for past in seen.outcomes] == [*range(2, 12)]
    refused = Outcome(
        Verdict.RATE_LIMITED, Format.JSON, 0.2, status_code=429, detail="It is too much."
    )
    seen.remember(refused, NOW)
    last = seen.outcomes[-1]
    assert (last.at, last.verdict, last.format) == (NOW, Verdict.RATE_LIMITED, Format.JSON)
    assert (last.status_code, last.elapsed_ms, last.detail) == (429, 200, "It is too much.")
    seen.remember(Outcome(Verdict.FULL, Format.HTML, 0.1, trust_violation="It rewrites."), NOW)
    assert seen.outcomes[-1].detail == "It rewrites."


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [(1, 50, 1), (1, 95, 1), (2, 50, 1), (3, 50, 2), (20, 95, 19), (21, 95, 20), (60, 50, 35)],
)
def test_a_percentile_is_the_nearest_rank_of_the_last_fifty(count, percent, expected):
    seen = InstanceRecord(url=URL)
    for milliseconds in range(1, count + 1):
        seen.observe_latency(milliseconds / 1_000 + 0.0001, NOW)
    assert (seen.percentile(percent), len(seen.latencies)) == (expected / 1_000, min(count, 50))
