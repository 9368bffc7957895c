"""What an instance tells at `/config`: SearXNG of 2026, searx 1.1, and anything else."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.request import TimeRange
from searx_mcp.pool.config_facts import (
    CategoryFacts,
    ConfigFacts,
    access_factor,
    month_limited,
    parse_config,
)

MAX_TEXT = 2_000_000

ENGINE: dict[str, Any] = {
    "name": "bing",
    "categories": ["general", "web"],
    "enabled": True,
    "language_support": True,
    "languages": ["de", "en"],
    "paging": True,
    "regions": ["de-DE"],
    "safesearch": True,
    "shortcut": "bi",
    "time_range_support": True,
    "timeout": 3.0,
}
EVERYTHING = CategoryFacts(time_range=True, paging=True, both=True)
CONFIG: dict[str, Any] = {
    "categories": ["general", "web", "images"],
    "engines": [ENGINE, ENGINE | {"name": "qwant", "enabled": False}],
    "limiter": {
        "enabled": True,
        "botdetection.ip_limit.link_token": False,
        "botdetection.ip_lists.pass_searxng_org": True,
    },
    "public_instance": False,
    "version": "2026.8.22+9fea41204",
}
# As searx 1.1.0 of Debian answers: no limiter, no public_instance, other names for languages.
SEARX: dict[str, Any] = {
    "categories": ["general", "images"],
    "engines": [
        {
            "name": "wikipedia",
            "categories": ["general"],
            "enabled": True,
            "language_support": True,
            "paging": False,
            "safesearch": False,
            "shortcut": "wp",
            "supported_languages": ["de", "en"],
            "time_range_support": False,
            "timeout": 2.0,
        }
    ],
    "plugins": [{"name": "Hash plugin", "enabled": True}],
    "version": "1.1.0",
}


def facts_of(document: object) -> ConfigFacts:
    facts = parse_config(json.dumps(document))
    assert facts is not None
    return facts


def test_a_config_of_today_is_read():
    assert facts_of(CONFIG) == ConfigFacts(
        version="2026.8.22+9fea41204",
        limiter_enabled=True,
        link_token=False,
        public_instance=False,
        engines=("bing", "qwant"),
        categories={"general": EVERYTHING, "web": EVERYTHING},
    )


def test_a_config_of_searx_is_read():
    facts = facts_of(SEARX)

    assert facts.version == "1.1.0"
    assert (facts.limiter_enabled, facts.link_token, facts.public_instance) == (None, None, None)
    assert facts.engines == ("wikipedia",)
    assert facts.categories == {
        "general": CategoryFacts(time_range=False, paging=False, both=False)
    }
    assert facts.serves("general") is True
    assert facts.serves("general", TimeRange.DAY) is False
    assert access_factor(facts) == 0.5


@pytest.mark.parametrize(
    ("category", "time_range", "page", "serves"),
    [
        pytest.param("general", TimeRange.ANY, 1, True, id="has-an-engine"),
        pytest.param("images", TimeRange.ANY, 1, True, id="has-another"),
        pytest.param("music", TimeRange.ANY, 1, False, id="has-none"),
        pytest.param("files", TimeRange.ANY, 1, False, id="only-a-disabled-one"),
        pytest.param("general", TimeRange.WEEK, 1, True, id="one-of-two-can-do-time"),
        pytest.param("images", TimeRange.WEEK, 1, False, id="none-can-do-time"),
        pytest.param("images", TimeRange.ANY, 2, True, id="can-page"),
        pytest.param("news", TimeRange.ANY, 1, True, id="does-not-say-and-need-not"),
        pytest.param("news", TimeRange.DAY, 1, None, id="does-not-say"),
        pytest.param("general", TimeRange.DAY, 2, False, id="none-can-do-both"),
        pytest.param("it", TimeRange.DAY, 2, False, id="cannot-do-one-and-other-unknown"),
        pytest.param("map", TimeRange.DAY, 2, None, id="one-cannot-and-one-may"),
        pytest.param("web", TimeRange.DAY, 2, True, id="one-can-do-both-and-one-may"),
        pytest.param("20", TimeRange.ANY, 1, True, id="the-last-of-very-many"),
        pytest.param("21", TimeRange.ANY, 1, False, id="beyond-them"),
    ],
)
def test_a_category_is_served_by_an_engine_that_can_do_all_of_it(
    category, time_range, page, serves
):
    engines = [
        {"name": "a", "categories": ["general"], "time_range_support": True, "paging": False},
        {"name": "b", "categories": ["general", "images"], "time_range_support": False,
         "paging": True},
        {"name": "c", "categories": ["news"]},
        {"name": "d", "categories": ["files"], "enabled": False},
        {"name": "e", "categories": ["it"], "paging": False},
        {"name": "f", "categories": ["map", "web"], "time_range_support": True},
        {"name": "g", "categories": ["map"], "time_range_support": False, "paging": True},
        {"name": "h", "categories": ["web"], "time_range_support": True, "paging": True},
        {"name": "i", "categories": [*map(str, range(1, 22))]},
    ]  # fmt: skip

    assert facts_of({"engines": engines}).serves(category, time_range, page=page) is serves


ENGINES = st.lists(
    st.fixed_dictionaries(
        {"categories": st.lists(st.sampled_from(["general", "news"]), max_size=2)},
        optional={
            "enabled": st.booleans(),
            "time_range_support": st.booleans(),
            "paging": st.booleans(),
        },
    ),
    min_size=1,
    max_size=5,
)


@given(engines=ENGINES, in_time=st.booleans(), further=st.booleans())
def test_what_is_kept_of_a_category_tells_as_much_as_its_engines(engines, in_time, further):
    named = [engine | {"name": f"engine {n}"} for n, engine in enumerate(engines)]

    serves = facts_of({"engines": named}).serves(
        "news", TimeRange.DAY if in_time else TimeRange.ANY, page=2 if further else 1
    )

    asked = ["time_range_support"] * in_time + ["paging"] * further
    able = [
        [engine.get(key) for key in asked]
        for engine in named
        if "news" in engine["categories"] and engine.get("enabled", True)
    ]
    possible = [answers for answers in able if False not in answers]
    certain = [answers for answers in possible if None not in answers]
    assert serves is (True if certain else None if possible else False)


@pytest.mark.parametrize(
    ("engines", "serves"),
    [
        pytest.param(["bing"], True, id="enabled"),
        pytest.param(["qwant"], True, id="not-enabled-and-asked-for"),
        pytest.param(["nobody", "bing"], True, id="one-of-two"),
        pytest.param(["nobody"], False, id="unknown"),
        pytest.param([], True, id="none"),
    ],
)
def test_engines_asked_for_by_name_are_served_where_there_is_one(engines, serves):
    facts = facts_of(CONFIG)

    assert facts.serves("general", engines=engines) is serves
    assert facts.serves("no such category", engines=engines) is (serves and bool(engines))


@pytest.mark.parametrize(
    "engines",
    [
        pytest.param(None, id="null"),
        pytest.param([], id="empty"),
        pytest.param({}, id="object"),
        pytest.param("bing", id="word"),
        pytest.param([1, None], id="no-objects"),
        pytest.param([{"name": 1}], id="number-for-a-name"),
        pytest.param([{}], id="no-name"),
        pytest.param([{"name": f"{n:099}"} for n in range(81)], id="too-much"),
        pytest.param(
            [
                {"name": f"{n}", "categories": [f"{n * 20 + i:099}" for i in range(20)]}
                for n in range(5)
            ],
            id="too-many-categories",
        ),
    ],
)
def test_unreadable_engines_are_unknown_and_not_absent(engines):
    facts = facts_of(CONFIG | {"engines": engines})

    assert (facts.engines, facts.categories) == (None, {})
    assert facts.serves("general") is None
    assert facts.serves("general", engines=["bing"]) is None


@pytest.mark.parametrize(("count", "width", "read"), [(1_001, 1, 1_000), (80, 100, 80)])
def test_so_many_engines_are_read(count, width, read):
    engines = [{"name": f"{n:0{width}}"} for n in range(count)]
    assert len(facts_of(CONFIG | {"engines": engines}).engines or ()) == read


def test_an_instance_with_no_engine_enabled_serves_nothing():
    facts = facts_of(CONFIG | {"engines": [ENGINE | {"enabled": False}]})

    assert facts.serves("general") is False


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        pytest.param({"limiter": {"enabled": False}}, 1.0, id="no-limiter"),
        pytest.param(
            {"limiter": {"enabled": False}, "public_instance": True},
            1.0,
            id="limiter-not-installed",
        ),
        pytest.param({}, 0.6, id="limiter-without-token"),
        pytest.param(
            {"limiter": {"enabled": True, "botdetection.ip_limit.link_token": True}},
            0.25,
            id="link-token",
        ),
        pytest.param({"public_instance": True}, 0.25, id="public-forces-the-token"),
        pytest.param({"limiter": None, "public_instance": True}, 0.25, id="public-before-limiter"),
        pytest.param({"limiter": {"enabled": True}}, 0.5, id="token-unknown"),
        pytest.param({"limiter": {}}, 0.5, id="limiter-empty"),
        pytest.param({"limiter": None}, 0.5, id="limiter-unknown"),
        pytest.param({"limiter": "on"}, 0.5, id="limiter-a-word"),
        pytest.param({"limiter": False}, 1.0, id="limiter-a-truth-value"),
        pytest.param({"limiter": {"enabled": 0}}, 0.5, id="no-truth-value"),
    ],
)
def test_the_access_factor_follows_the_limiter(changes, factor):
    assert access_factor(facts_of(CONFIG | changes)) == factor


def test_without_facts_access_is_unknown():
    assert access_factor(None) == 0.5
    assert month_limited(None) is None


@pytest.mark.parametrize(
    ("facts", "limited"),
    [
        pytest.param(ConfigFacts(limiter_enabled=False), False, id="no-limiter"),
        pytest.param(
            ConfigFacts(limiter_enabled=False, link_token=True, public_instance=True),
            False,
            id="limiter-not-installed",
        ),
        pytest.param(ConfigFacts(limiter_enabled=True, link_token=False), False, id="no-token"),
        pytest.param(ConfigFacts(limiter_enabled=True, link_token=True), True, id="token"),
        pytest.param(
            ConfigFacts(limiter_enabled=True, link_token=False, public_instance=True),
            True,
            id="public-forces-the-token",
        ),
        pytest.param(ConfigFacts(limiter_enabled=True), None, id="token-unknown"),
        pytest.param(ConfigFacts(link_token=False), None, id="limiter-unknown"),
        pytest.param(ConfigFacts(), None, id="nothing-known"),
    ],
)
def test_the_month_is_limited_by_the_token(facts, limited):
    assert month_limited(facts) is limited


def test_facts_of_the_default_engines_are_small():
    """272 engines with names and categories as long as SearXNG's."""
    engines = [
        ENGINE | {"name": f"{n:011}", "categories": ["general", f"a category {n % 26}"]}
        for n in range(272)
    ]

    assert len(facts_of(CONFIG | {"engines": engines}).model_dump_json()) < 6_000


def test_facts_kept_by_a_newer_version_are_read():
    kept = {"version": "1", "mood": "good", "engines": ["a"], "categories": {"it": {"mood": 1}}}

    facts = ConfigFacts.model_validate_json(json.dumps(kept))

    assert facts.serves("it") is True


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("<!DOCTYPE html><title>SearXNG</title>", id="page"),
        pytest.param('{"version": "2026', id="cut"),
        pytest.param("[]", id="list"),
        pytest.param('{"error": "Too Many Requests"}', id="error"),
        pytest.param("[" * 200_000, id="deep"),
        pytest.param('{"version": "1"}' + " " * MAX_TEXT, id="too-long"),
    ],
)
def test_what_is_no_config_is_none(text):
    assert parse_config(text) is None


@pytest.mark.parametrize("version", [None, 2026, "", "\ud83d", "a\nb", ["1"]])
def test_an_odd_version_is_unknown(version):
    assert facts_of({"version": version}).version is None


def test_an_engine_listed_under_one_word_is_read():
    facts = facts_of({"engines": [{"name": "a", "categories": "it"}, {"name": "b"}]})

    assert facts.categories == {"it": CategoryFacts()}


def test_a_number_of_ten_thousand_digits_does_no_harm():
    facts = parse_config('{"version": "1", "safe_search": ' + "9" * 10_000 + "}")

    assert facts == ConfigFacts(version="1")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=150),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["version", "limiter", "enabled", "botdetection.ip_limit.link_token", "name",
                 "public_instance", "engines", "categories", "time_range_support", "paging"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@settings(deadline=None, max_examples=settings().max_examples // 2)
@given(JSON.map(json.dumps) | st.text(max_size=100))
def test_anything_is_facts_that_can_be_kept_or_none(text):
    facts = parse_config(text)

    assert 0 < access_factor(facts) <= 1
    if facts is not None:
        assert ConfigFacts.model_validate_json(facts.model_dump_json()) == facts
        assert facts.serves("general", TimeRange.DAY) in {True, False, None}
        assert (month_limited(facts) is True) == (access_factor(facts) == 0.25)


@pytest.fixture
def captured() -> list[tuple[str, str]]:
    """The captured configs in the folder SEARX_MCP_CAPTURES, by server; none without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    if not folder:
        return []
    root = Path(folder) / "searxng-captures"
    files = {"linktoken": "config.json", "htmlonly": "config.json", "all": "meta/config"}
    return [(name, (root / name / file).read_text("utf-8")) for name, file in files.items()]


def test_captured_configs_are_read(captured):
    factors = {"linktoken": 0.25, "htmlonly": 1.0, "all": 1.0}
    for name, text in captured:
        facts = parse_config(text)
        assert facts is not None
        assert facts.version == "2026.8.22+9fea41204"
        assert access_factor(facts) == factors[name], name
        assert len(facts.engines or ()) == 25
        assert facts.serves("general") is True
        assert facts.serves("science", TimeRange.YEAR, page=2) is True
        assert facts.serves("no such category") is False


@pytest.mark.parametrize(
    ("facts", "page_token", "factor"),
    [
        (None, True, 0.25),
        (None, False, 0.6),
        (ConfigFacts(limiter_enabled=False), True, 0.25),
        (ConfigFacts(limiter_enabled=False), False, 1.0),
        (ConfigFacts(public_instance=True), False, 0.6),
    ],
)
def test_what_its_pages_carry_overrules_what_config_says(facts, page_token, factor):
    assert access_factor(facts, page_token=page_token) == factor
