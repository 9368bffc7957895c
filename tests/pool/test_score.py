"""How good an instance looks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import CatalogEntry, Uptime
from searx_mcp.pool.attempt import Outcome
from searx_mcp.pool.record import HALF_LIFE, InstanceRecord
from searx_mcp.pool.score import (
    OWN_PRIOR,
    PEAK_MEMORY,
    Prior,
    Score,
    confidence,
    grade_quality,
    halve_trust,
    html_quality,
    latency_quality,
    observe,
    observe_latency,
    prior,
    remember,
    uptime_quality,
)

PERFECT = CatalogEntry(
    url="https://a.example/",
    tls_grade="A+",
    http_grade="A+",
    html_grade="V",
    uptime=Uptime(day=100, week=100, month=100, year=100),
    search_success=100,
    search_latency=0.3,
    engines_working=1.0,
)


@pytest.mark.parametrize(
    ("seconds", "quality"),
    [(0.1, 1.0), (0.4, 1.0), (0.85, 0.75), (1.5, 0.56), (3.0, 0.33), (8.0, 0.0), (60.0, 0.0)],
)
def test_latency_quality_falls_logarithmically(seconds, quality):
    assert latency_quality(seconds) == pytest.approx(quality, abs=0.01)


@pytest.mark.parametrize(("percent", "quality"), [(99.5, 0.90), (99, 0.81), (95, 0.25), (50, 0)])
def test_uptime_quality_is_the_squared_distance_above_ninety_percent(percent, quality):
    uptime = Uptime(day=percent, week=percent, month=percent, year=percent)
    assert uptime_quality(uptime) == pytest.approx(quality, abs=0.01)


def test_missing_uptime_windows_do_not_count_against_an_instance():
    assert uptime_quality(Uptime(month=100)) == 1.0
    assert uptime_quality(Uptime()) == 0.5


@pytest.mark.parametrize(
    ("grades", "quality"),
    [
        ("A+", 1.0), ("B-", 0.7), ("F", 0.0), ("E, A+", 0.15), ("A+, ?", 1.0), ("?", 0.5),
        ("", 0.5), (None, 0.5), ("nonsense", 0.5),
    ],
)  # fmt: skip
def test_the_worst_known_grade_of_several_counts(grades, quality):
    assert grade_quality(grades) == quality


def test_each_grade_is_better_than_the_next_by_a_little():
    grades = ["A+", "A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "D-", "E", "F"]
    qualities = [grade_quality(grade) for grade in grades]
    assert (qualities[0], qualities[-1], grade_quality("G")) == (1.0, 0.0, 0.0)
    assert all(0 < better - worse <= 0.2 for better, worse in pairwise(qualities))


@pytest.mark.parametrize(
    ("grade", "quality"),
    [
        ("V", 1.0), ("F", 0.95), ("C", 0.85), ("Cjs", 0.6), ("E", 0.3), ("👁️", 0.0), ("V, js?", 0.8),
        ("js?", 0.4), ("C, ?", 0.68), (None, 0.5), ("Err", 0.5),
    ],
)  # fmt: skip
def test_changed_pages_count_less_and_unknown_files_a_fifth_less(grade, quality):
    assert html_quality(grade) == pytest.approx(quality)


def test_a_perfect_entry_has_a_prior_of_one_and_an_unknown_one_a_middling_prior():
    assert prior(PERFECT).total == pytest.approx(1.0)
    assert 0.3 < prior(CatalogEntry(url="https://b.example/")).total < 0.6


@pytest.mark.parametrize(
    ("part", "share"),
    [("success", 0.35), ("latency", 0.35), ("uptime", 0.15), ("grade", 0.1), ("engines", 0.05)],
)
def test_each_part_of_a_prior_has_its_share(part, share):
    assert Prior(*[0.0] * 5)._replace(**{part: 1.0}).total == pytest.approx(share)
    assert OWN_PRIOR.total == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changed", "part", "value"),
    [
        ({"tls_grade": "F"}, "grade", 0.4),
        ({"http_grade": "F"}, "grade", 0.75),
        ({"html_grade": "👁️"}, "grade", 0.85),
        ({"search_success": 60.0}, "success", 0.6),
        ({"search_success": 0.0}, "success", 0.15),
        ({"search_success": None}, "success", 0.35),
        ({"search_latency": None}, "latency", 0.4),
        ({"engines_working": None}, "engines", 0.5),
        ({"engines_working": 0.25}, "engines", 0.25),
        ({"uptime": Uptime(day=90, week=100, month=100, year=100)}, "uptime", 0.81),
        ({"uptime": Uptime(day=100, week=90, month=100, year=100)}, "uptime", 0.49),
        ({"uptime": Uptime(day=100, week=100, month=90, year=100)}, "uptime", 0.65**2),
        ({"uptime": Uptime(day=100, week=100, month=100, year=90)}, "uptime", 0.75**2),
    ],
)
def test_a_prior_is_read_off_the_figures_of_a_catalog(changed, part, value):
    found = prior(PERFECT.model_copy(update=changed))
    assert getattr(found, part) == pytest.approx(value)
    assert found._replace(**{part: 1.0}) == pytest.approx(prior(PERFECT))


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
    assert confidence(count) == value


SHARE = st.floats(0, 1)
PERCENT = st.one_of(st.none(), st.floats(0, 100))


@given(
    grades=st.lists(
        st.sampled_from(["A+", "B", "F", "E, ?", None, "nonsense"]), min_size=3, max_size=3
    ),
    success=PERCENT,
    latency=st.one_of(st.none(), st.floats(0, 1e6)),
    uptime=PERCENT,
    engines=st.one_of(st.none(), SHARE),
)
def test_every_part_of_a_prior_and_the_whole_lie_between_zero_and_one(
    grades, success, latency, uptime, engines
):
    tls, http, html = grades
    entry = CatalogEntry(
        url="https://a.example/",
        tls_grade=tls,
        http_grade=http,
        html_grade=html,
        search_success=success,
        search_latency=latency,
        uptime=Uptime(week=uptime),
        engines_working=engines,
    )
    value = prior(entry)
    assert all(0 <= part <= 1 for part in value)
    assert 0 <= value.total <= 1 + 1e-12


@given(parts=st.tuples(*[SHARE] * 5), index=st.integers(0, 4), more=SHARE)
def test_a_prior_rises_with_each_of_its_parts(parts, index, more):
    prior_ = Prior(*parts)
    part = Prior._fields[index]
    better = prior_._replace(**{part: max(parts[index], more)})
    assert better.total >= prior_.total


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
    seen = InstanceRecord(url="https://a.example/")
    observe(seen, outcome(verdict), NOW)
    assert seen.mean_worth() == worth


def test_nothing_is_known_before_the_first_request():
    assert InstanceRecord(url="https://a.example/").mean_worth() is None
    assert InstanceRecord(url="https://a.example/").count == 0


def test_an_observation_counts_half_after_six_hours():
    seen = InstanceRecord(url="https://a.example/")
    observe(seen, outcome(Verdict.TIMEOUT), NOW)
    assert seen.count * seen.decay(NOW + HALF_LIFE) == 0.5
    observe(seen, outcome(Verdict.FULL), NOW + HALF_LIFE)
    assert seen.mean_worth() == pytest.approx(1 / 1.5)


def test_a_clock_put_back_makes_nothing_count_more_than_once():
    seen = InstanceRecord(url="https://a.example/")
    observe(seen, outcome(Verdict.FULL), NOW)
    assert seen.count * seen.decay(NOW - 10 * HALF_LIFE) == 1
    observe(seen, outcome(Verdict.FULL, elapsed=0.1), NOW - 10 * HALF_LIFE)
    assert seen.mean_worth() == 1
    assert seen.latency == 0.5


def test_a_peak_of_latency_is_believed_at_once_and_forgotten_with_time():
    seen = InstanceRecord(url="https://a.example/")
    observe(seen, outcome(Verdict.FULL, 0.2), NOW)
    observe(seen, outcome(Verdict.FULL, 4.0), NOW + 1)
    assert seen.latency == 4.0
    observe(seen, outcome(Verdict.FULL, 0.2), NOW + 2)
    assert 3.9 < (seen.latency or 0) < 4.0
    observe(seen, outcome(Verdict.FULL, 0.2), NOW + 2 + 5 * PEAK_MEMORY)
    assert 0.2 < (seen.latency or 0) < 0.25


def test_a_refused_connection_is_not_a_fast_answer_and_a_timeout_is_a_slow_one():
    seen = InstanceRecord(url="https://a.example/")
    observe(seen, outcome(Verdict.CONNECTION, 0.001, status=None), NOW)
    assert seen.latency is None
    observe(seen, outcome(Verdict.TIMEOUT, 5.0, status=None), NOW)
    assert seen.latency == 5.0


def test_a_rest_halves_the_trust_and_not_the_mean():
    seen = InstanceRecord(url="https://a.example/")
    for verdict in (Verdict.FULL, Verdict.TIMEOUT):
        observe(seen, outcome(verdict), NOW)
    halve_trust(seen)
    assert (seen.count * seen.decay(NOW), seen.mean_worth()) == (1, 0.5)


def test_the_last_ten_requests_are_remembered_as_they_were():
    seen = InstanceRecord(url="https://a.example/")
    for turn in range(12):
        remember(seen, outcome(Verdict.FULL, elapsed=turn / 1_000), NOW + turn + 0.12345)
    assert [past.elapsed_ms for past in seen.outcomes] == [*range(2, 12)]
    refused = Outcome(
        Verdict.RATE_LIMITED, Format.JSON, 0.2, status_code=429, detail="It is too much."
    )
    remember(seen, refused, NOW)
    last = seen.outcomes[-1]
    assert (last.at, last.verdict, last.format) == (NOW, Verdict.RATE_LIMITED, Format.JSON)
    assert (last.status_code, last.elapsed_ms, last.detail) == (429, 200, "It is too much.")
    remember(seen, Outcome(Verdict.FULL, Format.HTML, 0.1, trust_violation="It rewrites."), NOW)
    assert seen.outcomes[-1].detail == "It rewrites."


def test_there_is_no_percentile_of_nothing():
    assert InstanceRecord(url="https://a.example/").percentile(50) is None


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [(1, 50, 1), (1, 95, 1), (2, 50, 1), (3, 50, 2), (20, 95, 19), (21, 95, 20), (60, 50, 35)],
)
def test_a_percentile_is_the_nearest_rank_of_the_last_fifty(count, percent, expected):
    seen = InstanceRecord(url="https://a.example/")
    for milliseconds in range(1, count + 1):
        observe_latency(seen, milliseconds / 1_000 + 0.0001, NOW)
    assert seen.percentile(percent) == expected / 1_000
    assert len(seen.latencies) == min(count, 50)
