"""How good an instance looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.instance import CatalogEntry, Uptime
from searx_mcp.pool.score import (
    grade_quality,
    latency_quality,
    live_score,
    prior,
    uptime_quality,
)

PERFECT = CatalogEntry(
    url="https://a.example/",
    tls_grade="A+",
    http_grade="A+",
    uptime=Uptime(day=100, week=100, month=100, year=100),
    search_success=100,
    search_latency=0.3,
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


def test_a_perfect_entry_has_a_prior_of_one_and_an_unknown_one_a_middling_prior():
    assert prior(PERFECT) == pytest.approx(1.0)
    assert 0.3 < prior(CatalogEntry(url="https://b.example/")) < 0.6


def test_a_catalog_that_found_nothing_counts_less_than_one_that_does_not_know():
    failed = PERFECT.model_copy(update={"search_success": 0.0})
    unknown = PERFECT.model_copy(update={"search_success": None})
    assert prior(failed) < prior(unknown) < prior(PERFECT)


@pytest.mark.parametrize("grade", ["A+", "A", "B-", "C", "D-", "F", "?", None])
def test_every_grade_has_a_quality(grade):
    assert 0 <= grade_quality(grade) <= 1


def test_own_observations_weigh_as_much_as_the_prior_after_four_requests():
    score = live_score(prior=1.0, observed=0.0, count=4, latency=0.1)
    assert score == pytest.approx(0.75 * 0.5 + 0.25)


PERCENT = st.one_of(st.none(), st.floats(0, 100))


@given(
    tls=st.sampled_from(["A+", "B", "F", None, "nonsense"]),
    success=PERCENT,
    latency=st.one_of(st.none(), st.floats(0, 1e6)),
    uptime=PERCENT,
    observed=st.one_of(st.none(), st.floats(0, 1)),
    count=st.floats(0, 1e6),
)
def test_prior_and_score_stay_between_zero_and_one(tls, success, latency, uptime, observed, count):
    entry = CatalogEntry(
        url="https://a.example/",
        tls_grade=tls,
        search_success=success,
        search_latency=latency,
        uptime=Uptime(week=uptime),
    )
    value = prior(entry)
    assert 0 <= value <= 1
    assert 0 <= live_score(prior=value, observed=observed, count=count, latency=latency) <= 1
