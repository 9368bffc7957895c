"""What our own requests to an instance showed."""

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.observed import HALF_LIFE, PEAK_MEMORY, Observed
from searx_mcp.pool.outcome import Outcome

NOW = 1_000_000.0


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
    seen = Observed()
    seen.add(outcome(verdict), NOW)
    assert seen.mean() == worth


def test_nothing_is_known_before_the_first_request():
    assert Observed().mean() is None
    assert Observed().count_at(NOW) == 0


def test_an_observation_counts_half_after_six_hours():
    seen = Observed()
    seen.add(outcome(Verdict.TIMEOUT), NOW)
    assert seen.count_at(NOW + HALF_LIFE) == 0.5
    seen.add(outcome(Verdict.FULL), NOW + HALF_LIFE)
    assert seen.mean() == pytest.approx(1 / 1.5)


def test_a_clock_put_back_makes_nothing_count_more_than_once():
    seen = Observed()
    seen.add(outcome(Verdict.FULL), NOW)
    assert seen.count_at(NOW - 10 * HALF_LIFE) == 1
    seen.add(outcome(Verdict.FULL, elapsed=0.1), NOW - 10 * HALF_LIFE)
    assert seen.mean() == 1
    assert seen.latency == 0.5


def test_a_peak_of_latency_is_believed_at_once_and_forgotten_with_time():
    seen = Observed()
    seen.add(outcome(Verdict.FULL, 0.2), NOW)
    seen.add(outcome(Verdict.FULL, 4.0), NOW + 1)
    assert seen.latency == 4.0
    seen.add(outcome(Verdict.FULL, 0.2), NOW + 2)
    assert 3.9 < (seen.latency or 0) < 4.0
    seen.add(outcome(Verdict.FULL, 0.2), NOW + 2 + 5 * PEAK_MEMORY)
    assert 0.2 < (seen.latency or 0) < 0.25


def test_a_refused_connection_is_not_a_fast_answer_and_a_timeout_is_a_slow_one():
    seen = Observed()
    seen.add(outcome(Verdict.CONNECTION, 0.001, status=None), NOW)
    assert seen.latency is None
    seen.add(outcome(Verdict.TIMEOUT, 5.0, status=None), NOW)
    assert seen.latency == 5.0


def test_a_rest_halves_the_trust_and_not_the_mean():
    seen = Observed()
    for verdict in (Verdict.FULL, Verdict.TIMEOUT):
        seen.add(outcome(verdict), NOW)
    seen.halve()
    assert (seen.count_at(NOW), seen.mean()) == (1, 0.5)


def test_the_last_ten_requests_are_remembered_as_they_were():
    seen = Observed()
    for turn in range(12):
        seen.note(outcome(Verdict.FULL, elapsed=turn / 1_000), NOW + turn + 0.12345)
    assert [past.elapsed_ms for past in seen.outcomes] == [*range(2, 12)]
    refused = Outcome(
        Verdict.RATE_LIMITED, Format.JSON, 0.2, status_code=429, detail="It is too much."
    )
    seen.note(refused, NOW)
    last = seen.outcomes[-1]
    assert (last.at, last.verdict, last.format) == (NOW, Verdict.RATE_LIMITED, Format.JSON)
    assert (last.status_code, last.elapsed_ms, last.detail) == (429, 200, "It is too much.")
    seen.note(Outcome(Verdict.FULL, Format.HTML, 0.1, offence="It rewrites."), NOW)
    assert seen.outcomes[-1].detail == "It rewrites."


def test_there_is_no_percentile_of_nothing():
    assert Observed().percentile(50) is None


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [(1, 50, 1), (1, 95, 1), (2, 50, 1), (3, 50, 2), (20, 95, 19), (21, 95, 20), (60, 50, 35)],
)
def test_a_percentile_is_the_nearest_rank_of_the_last_fifty(count, percent, expected):
    seen = Observed()
    for milliseconds in range(1, count + 1):
        seen.add_latency(milliseconds / 1_000 + 0.0001, NOW)
    assert seen.percentile(percent) == expected / 1_000
    assert len(seen.latencies) == min(count, 50)
