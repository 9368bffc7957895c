"""Reading, gating and grading the list of public instances."""

import json
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.errors import SettingsError
from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType, Tier, Uptime
from searx_mcp.pool.catalog import (
    OWN_PRIOR,
    MinGrade,
    Prior,
    catalog_age_days,
    gate,
    grade_quality,
    html_quality,
    latency_quality,
    overall_grade,
    parse_catalog,
    prior,
    tier_of,
    uptime_quality,
)

LISTED_AT = datetime(2026, 8, 5, tzinfo=UTC)
DAY = 86_400.0


def catalog_of(*entries: CatalogEntry | str) -> Catalog:
    rows = (CatalogEntry(url=entry) if isinstance(entry, str) else entry for entry in entries)
    return Catalog(listed_at=LISTED_AT, instances=tuple(rows))


def gated_urls(
    *entries: CatalogEntry | str, min_grade: MinGrade = "F", blocked: tuple[str, ...] = ()
) -> list[str]:
    kept = gate(
        catalog_of(*entries),
        min_grade=min_grade,
        blocked=blocked,
        allow=lambda url: url.raw_host in {"127.0.0.1", "::1"},
    )
    return [entry.url for entry in kept]


def test_a_catalog_is_read_with_what_is_known():
    row = {"url": "https://a.example/", "tls_grade": "A+", "uptime": {"month": 99.5}}
    text = json.dumps({"schema_version": 1, "listed_at": "2026-08-05", "instances": [row]})

    catalog = parse_catalog(text)

    assert catalog.instances == (
        CatalogEntry(url="https://a.example/", tls_grade="A+", uptime=Uptime(month=99.5)),
    )
    assert catalog.measured_at is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("", "is not JSON", id="empty"),
        pytest.param("<html>", "is not JSON", id="html"),
        pytest.param('{"listed_at": "2026', "is not JSON", id="cut-off"),
        pytest.param("[" * 10_000, "is not JSON", id="deeply-nested"),
        pytest.param('{"listed_at": NaN}', "is not JSON", id="not-a-number"),
        pytest.param("[]", "must be a JSON object", id="a-list"),
        pytest.param('{"schema_version": 2}', "has schema 2", id="newer-schema"),
        pytest.param('{"schema_version": 0}', "invalid 'schema_version'", id="no-such-schema"),
        pytest.param("{}", "invalid 'listed_at'", id="no-date"),
        pytest.param(
            '{"listed_at": "2026-08-05", "instances": [{"url": "https://a.example/"}, {}]}',
            "invalid 'instances.1.url'",
            id="no-url",
        ),
        pytest.param(
            '{"metadata": {}, "instances": {"https://a.example/": {}}}',
            "(and 2 more)",
            id="the-file-of-searx-space",
        ),
    ],
)
def test_an_unusable_catalog_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(SettingsError) as caught:
        parse_catalog(text)

    assert caught.value.field == "instances.catalog"
    assert sentence in caught.value.message


@pytest.mark.parametrize(
    ("listed", "kept"),
    [
        ("https://a.example", "https://a.example/"),
        ("https://a.example/searx", "https://a.example/searx/"),
        ("https://a.example/searx/", "https://a.example/searx/"),
        ("https://a.example:443/", "https://a.example/"),
        ("https://a.example:8443/a%2Fb/", "https://a.example:8443/a%2Fb/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
    ],
)
def test_a_kept_address_ends_in_a_slash_and_keeps_its_path(listed, kept):
    assert gated_urls(listed) == [kept]


@pytest.mark.parametrize(
    "url",
    [
        "", "a.example", "//a.example/", "https://", "https://[::1", "https://a.example:99999/",
        "http://a.example/", "ftp://a.example/", "javascript:alert(1)", "https://user@a.example/",
        "https://user:secret@a.example/", "https://a.example/?q=1", "https://a.example/#top",
        "https://127.1/", "https://0x7f.0.0.1/", "https://2130706433/", "https://0177.0.0.1/",
        "https://192.168.0.7/", "https://8.8.8.8/", "https://[::ffff:127.0.0.1]/",
        "https://[::1%25eth0]/", "https://localhost/", "https://searx:8443/",
        "https://searx.internal/", "https://searx.local./", "https://searx.home.arpa/",
        "https://a..example/", "https://a.example:22/", "https://a.example:0/",
        "https://a.example:6379/", "https://hidden.onion/", "https://hidden.onion./",
        "https://hidden.i2p/",
    ],
)  # fmt: skip
def test_an_address_that_is_no_plain_https_base_is_dropped(url):
    assert gated_urls(url) == []


def test_plain_http_is_dropped_unless_allowed():
    assert gate(catalog_of("http://127.0.0.1/"), min_grade="F") == ()


def test_an_instance_reached_through_tor_is_dropped():
    entry = CatalogEntry(url="https://a.example/", network_type=NetworkType.TOR)

    assert gated_urls(entry) == []


def test_the_first_of_several_entries_of_one_origin_is_kept():
    assert gated_urls(
        "https://a.example/one/",
        "https://A.example/two/",
        "https://a.example:8443/",
        "https://b.example/",
    ) == ["https://a.example/one/", "https://a.example:8443/", "https://b.example/"]


@pytest.mark.parametrize(
    ("blocked", "kept"),
    [
        pytest.param("a.example", ["https://www.a.example/"], id="whole-host"),
        pytest.param("A.Example.", ["https://www.a.example/"], id="case-and-dot"),
        pytest.param("example", ["https://a.example/", "https://www.a.example/"], id="no-suffix"),
    ],
)
def test_a_blocked_host_is_dropped(blocked, kept):
    assert gated_urls("https://a.example/", "https://www.a.example/", blocked=(blocked,)) == kept


@pytest.mark.parametrize("blocked", ["bücher.example", "xn--bcher-kva.example"])
def test_an_international_host_is_blocked_in_either_spelling(blocked):
    assert gated_urls("https://bücher.example/", blocked=(blocked,)) == []


@pytest.mark.parametrize(
    ("min_grade", "kept"),
    [
        ("A+", "A+"),
        ("A", "A+ A A-"),
        ("B", "A+ A A- B+ B- ?"),
        ("C", "A+ A A- B+ B- ? C-"),
        ("F", "A+ A A- B+ B- ? C- D E F"),
    ],
)
def test_a_grade_worse_than_the_minimum_is_dropped(min_grade, kept):
    grades = ["A+", "A", "A-", "B+", "B-", "?", "C-", "D", "E", "F"]
    entries = [
        CatalogEntry(url=f"https://a{n}.example/", tls_grade=g) for n, g in enumerate(grades, 1)
    ]

    left = gate(catalog_of(*entries), min_grade=min_grade, blocked=())

    assert [entry.tls_grade for entry in left] == kept.split()


@pytest.mark.parametrize(
    ("tls", "http", "grade"),
    [
        ("A+", "A+", "A+"),
        ("A+", "A", "A"),
        ("A", "A-", "A-"),
        ("B+", "A-", "B+"),
        ("B", "B-", "B-"),
        ("C+", "B-", "C+"),
        ("A+", "F", "F"),
        ("A+", None, "A+"),
        (None, "C-", "C-"),
        ("?", "B", "B"),
        ("E, ?", "A+", "E"),
        ("A+, ?", None, "A+"),
        ("E, A+", None, "E"),
        ("V, E, A+", None, "E"),
        ("?", None, None),
        ("", "", None),
        ("a+", "A++", None),
        (None, None, None),
    ],
)
def test_the_worse_of_the_known_grades_counts(tls, http, grade):
    entry = CatalogEntry(url="https://a.example/", tls_grade=tls, http_grade=http)

    assert overall_grade(entry) == grade


@pytest.mark.parametrize(
    ("grade", "month", "tier"),
    [
        ("A+", 12.0, Tier.A_PLUS),
        ("A+", None, Tier.A_PLUS),
        ("A", 99.0, Tier.A),
        ("A-", 100.0, Tier.A),
        ("A-", None, Tier.A),
        ("A", 98.99, Tier.B),
        ("B+", 100.0, Tier.B),
        ("B", None, Tier.B),
        ("B-", 50.0, Tier.B),
        (None, 100.0, Tier.B),
        ("?", None, Tier.B),
        ("C+", 100.0, Tier.C),
        ("D-", None, Tier.C),
        ("E, ?", None, Tier.C),
        ("F", 100.0, Tier.C),
    ],
)
def test_the_tier_follows_from_the_grade_and_the_uptime_of_a_month(grade, month, tier):
    entry = CatalogEntry(url="https://a.example/", tls_grade=grade, uptime=Uptime(month=month))

    assert tier_of(entry) is tier


@pytest.mark.parametrize(
    ("after", "days"),
    [(-DAY, 0), (0.0, 0), (DAY - 1, 0), (DAY, 1), (100.5 * DAY, 100)],
)
def test_the_age_of_the_catalog_is_in_whole_days(after, days):
    now = LISTED_AT.timestamp() + after

    assert catalog_age_days(catalog_of(), now) == days


def test_a_date_without_a_zone_is_in_utc():
    catalog = Catalog(listed_at=LISTED_AT.replace(tzinfo=None))

    assert catalog_age_days(catalog, LISTED_AT.timestamp() + DAY) == 1


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


PERCENT = st.one_of(st.none(), st.floats(0, 100))


@given(
    grades=st.lists(
        st.sampled_from(["A+", "B", "F", "E, ?", None, "nonsense"]), min_size=3, max_size=3
    ),
    success=PERCENT,
    latency=st.one_of(st.none(), st.floats(0, 1e6)),
    uptime=PERCENT,
    engines=st.one_of(st.none(), st.floats(0, 1)),
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


@pytest.mark.parametrize(
    ("seconds", "quality"),
    [(0.1, 1.0), (0.4, 1.0), (0.85, 0.75), (1.5, 0.56), (3.0, 0.33), (8.0, 0.0), (60.0, 0.0)],
)
def test_latency_quality_falls_logarithmically(seconds, quality):
    assert latency_quality(seconds) == pytest.approx(quality, abs=0.01)


@pytest.mark.parametrize(
    ("part", "share"),
    [("success", 0.35), ("latency", 0.35), ("uptime", 0.15), ("grade", 0.1), ("engines", 0.05)],
)
def test_each_part_of_a_prior_has_its_share(part, share):
    assert Prior(*[0.0] * 5)._replace(**{part: 1.0}).total == pytest.approx(share)
    assert OWN_PRIOR.total == pytest.approx(1.0)


@given(parts=st.tuples(*[st.floats(0, 1)] * 5), index=st.integers(0, 4), more=st.floats(0, 1))
def test_a_prior_rises_with_each_of_its_parts(parts, index, more):
    prior_ = Prior(*parts)
    part = Prior._fields[index]
    better = prior_._replace(**{part: max(parts[index], more)})
    assert better.total >= prior_.total
