"""Which engines of an own instance are named, and what their answers teach."""

import random
from collections.abc import Iterable, Mapping

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Answer, Hit, Infobox, ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import CatalogEntry, EngineState
from searx_mcp.models.request import TimeRange
from searx_mcp.pool import engine_care
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.engine_care import EngineRecord, engine_reports, is_thin
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome

NOW = 1_000_000.0
OWN = "http://127.0.0.1:8888/"
GENERAL = InstanceQuery("q")
ENGINES = ("a", "b", "c", "d", "e")
REFUSED = "too many requests"
MINUTE = 60.0


def page(
    found: Mapping[str, int] | Iterable[str],
    failed: Mapping[str, str] | None = None,
    *,
    silent: Iterable[str] = (),
) -> ResultPage:
    """A page with five rows of each engine, or so many; `silent` ones answered without any."""
    counts = dict(found) if isinstance(found, Mapping) else dict.fromkeys(found, 5)
    hits = [
        Hit(f"https://{name}.example/{n}", "", n, engines=(name,))
        for name, count in counts.items()
        for n in range(1, count + 1)
    ]
    return ResultPage(
        hits=tuple(hits),
        unresponsive_engines=tuple(
            UnresponsiveEngine(engine=name, reason=reason)
            for name, reason in (failed or {}).items()
        ),
        timings=dict.fromkeys([*counts, *(failed or {}), *silent], 0.5),
    )


class Care:
    """The engines of one instance, as its record and the pool keep them."""

    def __init__(self) -> None:
        self.engines: tuple[EngineRecord, ...] = ()

    def choose(self, query: InstanceQuery, now: float) -> tuple[str, ...]:
        names = engine_care.choose(self.engines, query, now)
        assert names is not None
        self.engines = engine_care.asked(self.engines, names, now)
        return names

    def others(self, query: InstanceQuery, named: Iterable[str], now: float) -> tuple[str, ...]:
        names = engine_care.others(self.engines, query, tuple(named), now)
        self.engines = engine_care.asked(self.engines, names, now)
        return names

    def learn(self, query: InstanceQuery, answer: ResultPage, now: float) -> None:
        self.engines = engine_care.learned(self.engines, query, answer, now)


def cared(*pages: ResultPage, query: InstanceQuery = GENERAL) -> Care:
    """What is known after these answers, a second apart, the last one at `NOW`."""
    care = Care()
    for number, each in enumerate(pages, 1 - len(pages)):
        care.learn(query, each, NOW + number)
    return care


def record(care: Care, name: str) -> EngineRecord:
    (found,) = (each for each in care.engines if each.name == name)
    return found


@pytest.mark.parametrize(
    "failed",
    [
        pytest.param({}, id="all well"),
        pytest.param({"x": "unexpected crash: KeyError"}, id="one broken"),
        pytest.param({"x": "Suspended: timeout"}, id="one suspended for being slow"),
    ],
)
def test_the_instance_chooses_while_no_engine_is_refused(failed):
    assert cared(page(ENGINES, failed)).choose(GENERAL, NOW) == ()


@pytest.mark.parametrize(
    "reason",
    ["CAPTCHA", "too many requests", "access denied", "Suspended: CAPTCHA", "Suspended: access denied"],
)  # fmt: skip
def test_three_healthy_engines_are_named_once_one_was_refused(reason):
    care = cared(page(ENGINES, {"x": reason}))

    chosen = care.choose(GENERAL, NOW + 1)

    assert len(chosen) == 3
    assert set(chosen) < set(ENGINES)


def test_searches_go_to_all_healthy_engines_in_turn_also_before_the_first_is_answered():
    care = cared(page(ENGINES, {"x": REFUSED}))

    named = [name for n in range(5) for name in care.choose(GENERAL, NOW + 1 + n)]

    assert {name: named.count(name) for name in named} == dict.fromkeys(ENGINES, 3)


def test_the_turn_goes_on_when_answers_come_in():
    care = cared(page(ENGINES, {"x": REFUSED}))
    named: list[str] = []
    for n in range(10):
        chosen = care.choose(GENERAL, NOW + 1 + n)
        care.learn(InstanceQuery("q", engines=chosen), page(chosen), NOW + 1.5 + n)
        named += chosen

    assert {name: named.count(name) for name in named} == dict.fromkeys(ENGINES, 6)


def test_an_engine_that_failed_for_another_reason_rests_too_while_searches_are_spread():
    care = cared(page(ENGINES), page(ENGINES[1:], {"a": "timeout", "x": REFUSED}))

    assert not any("a" in care.choose(GENERAL, NOW + 1 + n) for n in range(9))
    assert "a" in care.choose(GENERAL, NOW + 5 * MINUTE)


def test_engines_that_find_little_ride_along():
    care = cared(
        page({**dict.fromkeys(ENGINES, 9), "wikipedia": 1}, {"x": REFUSED}, silent=["sum"])
    )

    for n in range(4):
        assert set(care.choose(GENERAL, NOW + 1 + n)) > {"wikipedia", "sum"}


def test_a_refused_engine_is_left_alone_until_its_rest_ends():
    care = cared(page(ENGINES, {"x": REFUSED}))
    wait = record(care, "x").until - NOW

    early = [care.choose(GENERAL, NOW + wait - 1) for _ in range(9)]

    assert wait >= 5 * MINUTE
    assert not any("x" in chosen for chosen in early)
    assert "x" in care.choose(GENERAL, NOW + wait)


def test_a_suspension_that_lasts_is_looked_at_again_soon_and_counts_as_no_refusal():
    care = cared(page(ENGINES, {"x": REFUSED}), page(ENGINES, {"x": f"Suspended: {REFUSED}"}))
    before = record(cared(page(ENGINES, {"x": REFUSED})), "x")
    after = record(care, "x")

    assert (after.refused, after.gap) == (before.refused, before.gap) == (1, 30.0)
    assert after.until == before.until - 1
    later = NOW + 10 * MINUTE
    care.learn(GENERAL, page(ENGINES, {"x": f"Suspended: {REFUSED}"}), later)
    assert record(care, "x").until == later + 2 * MINUTE


def test_a_refusal_doubles_the_gap_and_answers_shorten_it():
    refused = page(ENGINES, {"x": REFUSED})
    care = cared(refused, refused)
    gap = record(care, "x").gap
    for _ in range(46):
        care.learn(GENERAL, page(["x"]), NOW)

    assert gap == 60.0
    assert record(care, "x").gap == pytest.approx(30.0, rel=0.01)
    for _ in range(99):
        care.learn(GENERAL, refused, NOW)
    assert record(care, "x").gap == 3_600.0


def test_an_engine_with_a_longer_gap_is_asked_less():
    care = cared(page("xabc", {"y": REFUSED}))
    slow = record(care, "x").model_copy(update={"gap": 60.0})
    care.engines = tuple(slow if each.name == "x" else each for each in care.engines)

    named = [name for n in range(1, 61) for name in care.choose(GENERAL, NOW + 10 * n)]

    assert 0 < named.count("x") <= 5
    assert min(named.count(name) for name in "abc") > 50


def test_the_instance_chooses_again_an_hour_after_a_refusal_and_later_after_a_second_one():
    refused = page(ENGINES, {"x": REFUSED})
    once, twice = cared(refused), cared(refused, refused)

    assert once.choose(GENERAL, NOW + 59 * MINUTE)
    assert not once.choose(GENERAL, NOW + 60 * MINUTE)
    assert twice.choose(GENERAL, NOW + 119 * MINUTE)
    assert not twice.choose(GENERAL, NOW + 120 * MINUTE)


@pytest.mark.parametrize("reason", ["timeout", "httpx.ReadTimeout", "Timed out"])
def test_an_engine_that_was_too_slow_holds_one_search_in_five_minutes(reason):
    care = cared(page(ENGINES, {"x": reason}))

    assert set(care.choose(GENERAL, NOW + 1)) == set(ENGINES)
    assert set(care.choose(GENERAL, NOW + 5 * MINUTE - 1)) == set(ENGINES)
    assert care.choose(GENERAL, NOW + 5 * MINUTE) == ()


def test_the_instance_chooses_where_all_engines_were_too_slow():
    care = cared(page([], dict.fromkeys(ENGINES, "timeout")))

    assert care.choose(GENERAL, NOW + 1) == ()


@pytest.mark.parametrize("reason", ["CAPTCHA", "too many requests", "Suspended: access denied"])
def test_while_all_engines_refuse_one_at_a_time_is_tried_after_pauses_that_grow(reason):
    care = cared(page({}, dict.fromkeys(ENGINES, reason)))
    tries = []
    for second in range(1, 5_000):
        names = engine_care.choose(care.engines, GENERAL, NOW + second)
        if names is not None:
            care.choose(GENERAL, NOW + second)
            failed = page({}, dict.fromkeys(names, reason))
            care.learn(InstanceQuery("q", engines=names), failed, NOW + second + 1)
            tries.append((second, names))

    assert [second for second, _ in tries] == [300, 600, 1_200, 2_100, 3_000, 3_900, 4_800]
    assert all(len(names) == 1 for _, names in tries)
    assert {names[0] for _, names in tries[:5]} == set(ENGINES)
    assert care.others(GENERAL, tries[-1][1], NOW + 5_000) == ()


def test_engines_that_find_little_answer_alone_while_all_others_refuse():
    care = cared(page({"wikipedia": 1}, dict.fromkeys(ENGINES, REFUSED)))

    assert care.choose(GENERAL, NOW + 1) == ("wikipedia",)
    assert len(care.choose(GENERAL, NOW + 5 * MINUTE)) == 2


def test_the_first_that_answers_again_brings_the_others_back():
    care = cared(page({}, dict.fromkeys(ENGINES, REFUSED)))
    (tried,) = care.choose(GENERAL, NOW + 5 * MINUTE)
    care.learn(InstanceQuery("q", engines=(tried,)), page([tried]), NOW + 5 * MINUTE + 1)

    chosen = care.choose(GENERAL, NOW + 5 * MINUTE + 2)

    assert len(chosen) == 3
    assert set(care.others(GENERAL, (tried,), NOW + 5 * MINUTE + 2)) == set(ENGINES) - {tried}


def test_engines_that_only_failed_are_asked_while_those_that_were_refused_rest():
    failed = {**dict.fromkeys("abc", REFUSED), "d": "KeyError", "e": "timeout"}
    care = cared(page(ENGINES), page([], failed))

    assert set(care.choose(GENERAL, NOW + 1)) == {"d", "e"}


def test_the_others_are_the_healthy_ones_that_were_not_named():
    care = cared(page(ENGINES, {"x": REFUSED}))

    chosen = care.choose(GENERAL, NOW + 1)

    assert set(care.others(GENERAL, chosen, NOW + 1)) == set(ENGINES) - set(chosen)
    assert care.others(GENERAL, ENGINES, NOW + 1) == ()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(InstanceQuery("q", "news"), id="category"),
        pytest.param(InstanceQuery("q", time_range=TimeRange.WEEK), id="time range"),
    ],
)
def test_each_kind_of_search_has_engines_of_its_own(other):
    care = cared(page(ENGINES, {"x": REFUSED}))
    care.learn(other, page(["n1", "n2", "n3", "n4"]), NOW)

    assert care.choose(other, NOW + 1) == ()
    care.learn(other, page(["n1", "n2", "n3"], {"n4": "CAPTCHA"}), NOW + 1)
    assert set(care.choose(other, NOW + 2)) == {"n1", "n2", "n3"}
    assert record(care, "a").searches == ("general",)
    assert set(care.others(other, ("n1",), NOW + 1_000)) == {"n2", "n3", "n4"}


def test_an_engine_that_no_longer_takes_part_is_named_no_more():
    care = cared(page(ENGINES, {"x": REFUSED}))

    care.learn(InstanceQuery("q", engines=("a", "b", "c")), page(["a", "b"]), NOW + 1)

    assert (record(care, "c").searches, record(care, "d").searches) == ((), ("general",))


def test_an_engine_for_few_queries_stays_although_most_searches_leave_it_out():
    care = cared(page({**dict.fromkeys(ENGINES, 9), "currency": 1}), page(ENGINES, {"x": REFUSED}))

    chosen = care.choose(GENERAL, NOW + 1)
    care.learn(InstanceQuery("q", engines=chosen), page(chosen[:3]), NOW + 2)

    assert "currency" in chosen
    assert "currency" in care.choose(GENERAL, NOW + 3)


def test_an_answer_that_does_not_tell_who_was_asked_takes_nobody_out():
    care = cared(page(ENGINES, {"x": REFUSED}))

    care.learn(GENERAL, ResultPage(hits=page(["a"]).hits), NOW + 1)

    assert record(care, "b").searches == ("general",)


def test_a_further_page_which_not_all_engines_have_changes_no_kind():
    care = cared(page(ENGINES, {"x": REFUSED}))

    care.learn(InstanceQuery("q", page=2), page(["a", "new"]), NOW + 1)

    assert (record(care, "b").searches, record(care, "new").searches) == (("general",), ())


@pytest.mark.parametrize(
    ("found", "thin"),
    [
        pytest.param(page({"a": 7}), True, id="seven"),
        pytest.param(page({"a": 8}), False, id="eight"),
        pytest.param(ResultPage(), True, id="none"),
        pytest.param(ResultPage(answers=(Answer(text="42"),)), False, id="a direct answer"),
    ],
)
def test_an_answer_with_few_results_is_thin(found, thin):
    assert is_thin(found) is thin


def test_engines_named_by_the_caller_are_counted_and_join_no_kind():
    care = cared(page(["z"]), query=InstanceQuery("q", engines=("z",)))

    assert (record(care, "z").results, record(care, "z").searches) == (5, ())


def test_what_an_engine_brings_is_counted():
    box = ResultPage(infoboxes=(Infobox(title="t", engine="wikidata"),))
    care = cared(page({"a": 2, "b": 7}), page({"a": 4}, {"b": "CAPTCHA", "c": "timeout"}), box)

    rows = {row.name: row for row in engine_reports(care.engines, NOW + 0.12)}

    assert list(rows) == ["b", "a", "wikidata", "c"]
    assert [row.results for row in rows.values()] == [7, 6, 1, 0]
    assert [row.state for row in rows.values()] == [
        EngineState.REFUSED, EngineState.WELL, EngineState.WELL, EngineState.FAILING,
    ]  # fmt: skip
    assert (rows["b"].answered, rows["b"].refused, rows["c"].failed) == (1, 1, 1)
    assert (rows["b"].reason, rows["b"].spared, rows["c"].spared) == ("CAPTCHA", True, False)
    assert [rows[name].retry_after for name in "ab"] == [0.0, 298.9]


def test_a_hundred_engines_are_remembered_at_most_the_latest_asked():
    care = cared(page(["old"]), page([f"e{n}" for n in range(100)]))

    assert len(care.engines) == 100
    assert "old" not in {each.name for each in care.engines}


def test_an_address_names_no_more_engines_than_it_can_hold():
    few = {f"r{n}": 1 for n in range(90)}
    care = cared(page({**dict.fromkeys(ENGINES, 9), **few}, {"x": REFUSED}))

    chosen = care.choose(GENERAL, NOW + 1)

    assert len(chosen) == 43
    assert len(care.others(GENERAL, chosen, NOW + 1)) == 40


def test_times_move_along_with_a_clock_that_was_put_back():
    engine = record(cared(page(ENGINES, {"x": REFUSED})), "x")

    moved = engine.moved(5_000.0, NOW - 4_940.0)
    cut = engine.moved(0.0, NOW - 5_000)

    assert (moved.asked_at, moved.refused_at) == (NOW - 5_000, NOW - 5_000)
    assert moved.until == engine.until - 5_000
    assert (cut.asked_at, cut.refused_at, cut.until) == (NOW - 5_000, NOW - 5_000, NOW - 4_700)


def searched(pool: InstancePool, url: str, answer: ResultPage) -> None:
    pool.begin(url, NOW)
    outcome = Outcome(Verdict.FULL, Format.JSON, 0.3, status_code=200, page=answer)
    pool.report(url, outcome, NOW, GENERAL)


@pytest.mark.parametrize(
    ("config", "query", "names"),
    [
        pytest.param(PoolConfig(), GENERAL, True, id="on"),
        pytest.param(PoolConfig(engine_care=False), GENERAL, False, id="off"),
        pytest.param(
            PoolConfig(), InstanceQuery("q", engines=("x",)), False, id="the caller chose"
        ),
        pytest.param(PoolConfig(), None, False, id="nothing said"),
    ],
)
def test_a_proposal_names_engines_of_an_own_instance(config, query, names):
    pool = InstancePool(own=[OWN], config=config, rng=random.Random(1))
    searched(pool, OWN, page(ENGINES, {"x": REFUSED}))

    proposal = pool.propose(NOW, query=query)

    assert proposal is not None
    assert bool(proposal.engines) is names


def test_an_instance_whose_engines_all_refuse_it_waits_for_the_first_and_says_why():
    pool = InstancePool(own=[OWN], rng=random.Random(1))
    searched(pool, OWN, page({}, dict.fromkeys("ab", REFUSED)))
    rests = pool.why_own_rests(NOW, GENERAL)
    assert pool.earliest_retry(NOW, GENERAL) == 5 * MINUTE
    assert rests is not None
    assert (rests.verdict, rests.format) == (Verdict.ENGINES_FAILED, Format.JSON)
    assert rests.detail.startswith("All its search engines refuse it (")


def test_nothing_is_learned_of_the_engines_of_a_public_instance():
    url = "https://a.example/"
    pool = InstancePool(public=[CatalogEntry(url=url)], rng=random.Random(1))
    searched(pool, url, page(ENGINES, {"x": REFUSED}))

    proposal = pool.propose(NOW, query=GENERAL)

    assert proposal is not None
    assert (proposal.engines, pool.record_of(url).engines) == ((), ())


def test_another_process_knows_what_was_learned():
    one, other = (InstancePool(own=[OWN], rng=random.Random(1)) for _ in range(2))
    searched(one, OWN, page(ENGINES, {"x": REFUSED}))

    kept = one.learned_since(0)[OWN].model_dump_json()
    other.restore({OWN: type(one.record_of(OWN)).model_validate_json(kept)})

    proposal = other.propose(NOW, query=GENERAL)
    assert proposal is not None
    assert len(proposal.engines) == 3
    assert other.snapshot(NOW)[0].engines == one.snapshot(NOW)[0].engines
