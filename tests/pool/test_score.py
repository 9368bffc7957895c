"""How good an instance looks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.instance import CatalogEntry, Uptime
from searx_mcp.pool.score import (
    OWN_PRIOR,
    Prior,
    Score,
    confidence,
    grade_quality,
    html_quality,
    latency_quality,
    prior,
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
