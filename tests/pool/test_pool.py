"""Which instance is asked next."""

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage, UnresponsiveEngine
from searx_mcp.models.instance import CatalogEntry, Tier
from searx_mcp.models.request import TimeRange
from searx_mcp.pool.config_facts import CategoryFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from tests.pool.pools import DAY, NOW, OWN, ask, entry, facts, pool, proposed


def test_own_instances_come_before_public_ones_and_better_tiers_before_worse():
    it = pool(entry("b", "B"), entry("a", "A"), entry("best"), own=[OWN])
    order: list[str] = []
    while (proposal := it.propose(NOW, exclude=order)) is not None:
        order.append(proposal.url)
    assert order == [OWN, "https://best.example/", "https://a.example/", "https://b.example/"]


def test_own_instances_are_asked_for_json_and_public_ones_for_html():
    it = pool(entry("a"), own=[OWN])
    first = proposed(it, NOW)
    second = proposed(it, NOW, exclude=[OWN])
    assert (first.own, first.format) == (True, Format.JSON)
    assert (second.own, second.format) == (False, Format.HTML)


def test_an_empty_pool_proposes_nothing():
    it = pool()
    assert it.propose(NOW) is None
    assert it.earliest_retry(NOW) is None
    assert not it.has_own
    assert not it.has_public


def test_a_worse_tier_is_asked_when_the_better_one_rests():
    it = pool(entry("a"), entry("b", "B"))
    assert (ask(it, Verdict.RATE_LIMITED), ask(it)) == ("https://a.example/", "https://b.example/")
    assert ask(it, now=NOW + 3_600) == "https://a.example/"


def test_equal_instances_take_turns():
    it = pool(*(entry(name) for name in "abcd"))
    counts = Counter(ask(it) for _ in range(40))
    assert len(counts) == 4
    assert max(counts.values()) - min(counts.values()) <= 2, "each starts at a random point"


@pytest.mark.parametrize(
    ("success", "latency", "low", "high"),
    [(40, 4, 55, 420), pytest.param(0, 20, 49, 51, id="the worst has a twentieth of the best's")],
)
def test_better_instances_get_more_turns_but_not_all_of_them(success, latency, low, high):
    good = entry("good", search_success=100, search_latency=0.3)
    it = pool(good, entry("poor", search_success=success, search_latency=latency))
    counts = Counter(proposed(it, NOW).url for _ in range(1_050))
    assert low <= counts["https://poor.example/"] <= high


def test_turns_of_one_instance_are_spread_and_not_bunched():
    it = pool(*(entry(name) for name in "abc"), random_start=False)
    turns = [ask(it) for _ in range(30)]
    assert all(len(set(turns[i : i + 3])) == 3 for i in range(0, 30, 3))


def test_a_random_start_differs_between_installations_and_best_first_does_not():
    entries = [entry(f"i{n}", search_latency=0.3 + n / 10) for n in range(20)]
    random_starts = {ask(pool(*entries, seed=seed)) for seed in range(30)}
    fixed_starts = {ask(pool(*entries, seed=seed, random_start=False)) for seed in range(30)}
    assert len(random_starts) > 5
    assert fixed_starts == {"https://i0.example/"}


def test_an_installation_keeps_to_its_own_aperture_of_a_large_tier():
    entries = [entry(f"i{n}") for n in range(60)]
    seen = {
        frozenset(ask(it) for _ in range(120)) for it in (pool(*entries, seed=s) for s in (1, 2))
    }
    assert all(len(aperture) == 12 for aperture in seen)
    assert len(seen) == 2


def test_a_resting_instance_makes_room_in_the_aperture():
    it = pool(*(entry(f"i{n}") for n in range(13)))
    first = {ask(it) for _ in range(48)}
    resting = ask(it, Verdict.RATE_LIMITED)
    later = {ask(it) for _ in range(48)}
    assert resting not in later
    assert len(later - first) == 1


def test_newcomers_do_not_change_the_aperture_of_the_others():
    entries = [entry(f"i{n}") for n in range(40)]
    it = pool(*entries)
    before = it.aperture(NOW)
    it.enlist([], [*entries, entry("one-more")])
    assert len(set(before) & set(it.aperture(NOW))) >= 11


def test_the_aperture_of_the_health_checks_is_where_searches_go():
    it = pool(*(entry(f"i{n}") for n in range(40)), *(entry(f"b{n}", "B") for n in range(5)))
    aperture = it.aperture(NOW)
    assert len(aperture) == 12
    assert {ask(it) for _ in range(60)} == set(aperture)


def test_a_failing_instance_stays_in_the_aperture_of_the_health_checks_and_a_limited_one_does_not():
    it = pool(*(entry(name) for name in "abc"), own=[OWN])
    failing, limited = (
        ask(it, verdict, exclude=[OWN]) for verdict in (Verdict.DNS, Verdict.BLOCKED)
    )
    assert failing in it.aperture(NOW)
    assert limited not in it.aperture(NOW)
    assert OWN not in it.aperture(NOW)


def test_nobody_is_checked_when_nobody_may_be_asked():
    it = pool(entry("a"))
    ask(it, Verdict.BLOCKED)
    assert it.aperture(NOW) == ()


ABLE = CategoryFacts(time_range=True, paging=True, both=True)
NEITHER = CategoryFacts(time_range=False, paging=False, both=False)


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        (InstanceQuery("q"), {"a", "b", "c"}),
        (InstanceQuery("q", "science"), {"b", "c"}),
        (InstanceQuery("q", time_range=TimeRange.DAY), {"b", "c"}),
        (InstanceQuery("q", page=2), {"b", "c"}),
        (InstanceQuery("q", engines=("e",)), {"a", "b", "c"}),
        (InstanceQuery("q", engines=("other",)), {"c"}),
    ],
)
def test_a_search_goes_to_an_instance_whose_engines_can_serve_it(needs, expected):
    it = pool(*(entry(name) for name in "abc"))
    it.learn_facts("https://a.example/", facts(general=NEITHER), NOW)
    it.learn_facts("https://b.example/", facts(general=ABLE, science=ABLE), NOW)
    seen: set[str] = set()
    while (proposal := it.propose(NOW, exclude=seen, query=needs)) is not None and len(seen) < len(
        expected
    ):
        seen.add(proposal.url)
    assert seen == {f"https://{name}.example/" for name in expected}


def test_a_tier_is_left_for_an_instance_that_can_serve():
    it = pool(entry("best"), entry("b", "B"))
    it.learn_facts("https://best.example/", facts(general=ABLE), NOW)
    proposal = proposed(it, NOW, query=InstanceQuery("q", "science"))
    assert proposal.url == "https://b.example/"


BARE = ResultPage(
    unresponsive_engines=(
        UnresponsiveEngine(engine="a", reason="timeout"),
        UnresponsiveEngine(engine="b", reason="timeout"),
    )
)


def report(it: InstancePool, url: str, verdict: Verdict, elapsed: float = 0.5, page=None) -> None:
    it.begin(url, NOW)
    it.report(url, Outcome(verdict, Format.HTML, elapsed, status_code=200, page=page), NOW)


@pytest.mark.parametrize("why", ["without engines", "slow"])
def test_whoever_answered_without_engines_or_very_slowly_is_asked_after_everybody_else(why):
    it = pool(entry("best"), entry("b", "B"))
    url = "https://best.example/"
    if why == "slow":
        report(it, url, Verdict.FULL, 3.5)
    else:
        for _ in range(3):
            report(it, url, Verdict.ENGINES_FAILED, page=BARE)
    first, second = proposed(it, NOW), proposed(it, NOW, exclude=["https://b.example/"])
    assert (first.url, second.url) == ("https://b.example/", url)
    later = proposed(it, NOW + 3_600)
    assert later.url == url, "a bad impression does not hold for ever"


def test_an_own_instance_is_never_put_behind_public_ones():
    it = pool(entry("a"), own=[OWN])
    report(it, OWN, Verdict.FULL, 4.5)
    proposal = proposed(it, NOW)
    assert proposal.own


def test_when_nobody_is_known_to_serve_a_search_it_is_tried_all_the_same():
    it = pool(own=[OWN])
    it.learn_facts(OWN, facts(general=ABLE), NOW)
    assert it.propose(NOW, query=InstanceQuery("q", "science")) is not None


def test_a_hedge_goes_only_where_requests_are_not_counted():
    it = pool(*(entry(name) for name in "abc"))
    assert it.propose(NOW, unlimited=True) is None
    it.learn_facts("https://b.example/", facts(limiter=False, general=ABLE), NOW)
    proposal = proposed(it, NOW, unlimited=True)
    assert (proposal.url, proposal.is_unlimited) == ("https://b.example/", True)


def test_a_page_with_the_token_overrules_what_config_says():
    it = pool(entry("a"))
    it.learn_facts("https://a.example/", facts(limiter=False, general=ABLE), NOW)
    assert it.month_limited() == ()
    it.begin("https://a.example/", NOW)
    page = ResultPage(link_token=True)
    it.report("https://a.example/", Outcome(Verdict.EMPTY, Format.HTML, 0.1, page=page), NOW)
    assert it.month_limited() == ("https://a.example/",)
    assert it.propose(NOW, unlimited=True) is None


def test_the_month_counts_public_instances_that_may_want_the_token_and_are_not_given_up():
    it = pool(*(entry(name) for name in "abc"), own=[OWN])
    it.learn_facts("https://a.example/", facts(limiter=False), NOW)
    it.begin("https://b.example/", NOW)
    it.report("https://b.example/", Outcome(Verdict.NOT_SEARXNG, Format.HTML, 0.1), NOW)
    assert it.month_limited() == ("https://c.example/",)


def test_one_turn_in_twenty_explores_an_instance_known_to_want_no_token():
    it = pool(*(entry(f"i{n}") for n in range(30)))
    outside = next(url for url in it.public_urls() if url not in it.aperture(NOW))
    it.learn_facts(outside, facts(limiter=False), NOW)
    turns = [proposal.url for _ in range(1_000) if (proposal := it.propose(NOW)) is not None]
    assert 20 < turns.count(outside) < 90


def test_no_turn_explores_instances_that_may_want_the_token():
    it = pool(*(entry(f"i{n}") for n in range(30)))
    turns = {proposal.url for _ in range(500) if (proposal := it.propose(NOW)) is not None}
    assert turns == set(it.aperture(NOW))


def test_a_public_instance_that_lists_json_and_runs_no_limiter_is_asked_for_json():
    it = pool(entry("a"))
    url = "https://a.example/"
    it.learn_facts(url, facts(limiter=False), NOW)
    assert it.format_of(url, NOW) is Format.HTML
    it.begin(url, NOW)
    page = ResultPage(formats=("csv", "json"))
    it.report(url, Outcome(Verdict.EMPTY, Format.HTML, 0.1, page=page), NOW)
    assert it.format_of(url, NOW) is Format.JSON
    it.learn_facts(url, facts(limiter=True), NOW)
    assert it.format_of(url, NOW) is Format.HTML


def test_a_proposal_says_whether_the_robots_txt_was_read_within_the_last_day():
    it = pool(entry("a"), own=[OWN])
    own, public = proposed(it, NOW), proposed(it, NOW, exclude=[OWN])
    assert (own.robots_known, public.robots_known) == (True, False)
    it.read_robots(public.url, opted_out=False, now=NOW)
    for later, expected in ((DAY - 1, True), (DAY, False)):
        proposal = proposed(it, NOW + later, exclude=[OWN])
        assert proposal.robots_known is expected


def test_an_instance_that_opted_out_is_not_proposed_for_a_month():
    it = pool(entry("a"))
    it.begin("https://a.example/", NOW)
    it.read_robots("https://a.example/", opted_out=True, now=NOW)
    it.release("https://a.example/")
    assert it.propose(NOW + 30 * DAY - 1) is None
    (report,) = it.snapshot(NOW)
    assert report.reason == "Its robots.txt asks searx-mcp to stay away."
    proposal = proposed(it, NOW + 30 * DAY)
    assert (proposal.is_trial, proposal.robots_known) == (True, False)


def test_news_of_an_instance_that_has_left_is_passed_over():
    it = pool(entry("a"))
    it.learn_facts("https://gone.example/", facts(), NOW)
    it.probed("https://gone.example/", alive=False, now=NOW)
    assert len(it) == 1


def test_the_earliest_retry_is_that_of_the_first_resting_instance():
    it = pool(entry("a"), entry("b"))
    ask(it, Verdict.BLOCKED)
    ask(it, Verdict.DNS)
    assert 15 <= (it.earliest_retry(NOW) or 0) <= 30
    assert it.propose(NOW) is None


def test_when_all_own_instances_fail_the_longest_failing_one_may_still_be_tried():
    second = "http://127.0.0.1:8889/"
    it = pool(own=[OWN, second])
    failed = [ask(it, Verdict.DNS, now=NOW), ask(it, Verdict.DNS, now=NOW + 1)]
    proposal = proposed(it, NOW + 2)
    assert proposal.url in failed
    assert it.propose(NOW + 2, exclude=[proposal.url]) is None


def test_panic_is_no_way_around_a_limit():
    it = pool(own=[OWN])
    ask(it, Verdict.JSON_OFF)
    ask(it, Verdict.RATE_LIMITED)
    assert it.propose(NOW + 9) is None
    assert it.propose(NOW + 11) is not None


def test_why_its_owners_instance_rests_is_told_with_the_status_of_its_answer():
    it = pool(own=[OWN])
    it.begin(OWN, NOW)
    it.report(
        OWN, Outcome(Verdict.RATE_LIMITED, Format.HTML, 0.1, status_code=429, detail="Slow."), NOW
    )
    rests = it.why_own_rests(NOW, InstanceQuery("q"))
    assert rests is not None
    assert (rests.verdict, rests.status_code) == (Verdict.RATE_LIMITED, 429)
    assert rests.detail


def test_panic_serves_one_request_at_a_time():
    it = pool(own=[OWN])
    ask(it, Verdict.DNS)
    it.begin(OWN, NOW + 1)
    assert it.propose(NOW + 1) is None
    it.release(OWN)
    assert it.propose(NOW + 1) is not None


def test_one_address_listed_twice_is_one_instance():
    assert len(pool(entry("a"), entry("a", "B"))) == 1
    assert len(pool(CatalogEntry(url=OWN), own=[OWN])) == 1


def test_the_snapshot_lists_tiers_in_order_and_the_best_first():
    it = pool(
        entry("b", "B"),
        entry("slow", search_latency=5),
        entry("fast", search_latency=0.3),
        own=[OWN],
    )
    reports = it.snapshot(NOW)
    assert [report.url for report in reports] == [
        OWN,
        "https://fast.example/",
        "https://slow.example/",
        "https://b.example/",
    ]
    assert [report.tier for report in reports] == [Tier.OWN, Tier.A_PLUS, Tier.A_PLUS, Tier.B]


def test_its_repr_counts_states():
    it = pool(entry("a"), entry("b"))
    ask(it, Verdict.RATE_LIMITED)
    assert repr(it) == "<InstancePool [2 instances: 1 new, 1 rate_limited]>"


class PoolMachine(RuleBasedStateMachine):
    """Whatever happens in whatever order, the pool keeps its promises."""

    def __init__(self) -> None:
        super().__init__()
        self.it = pool(*(entry(f"i{n}", "A+" if n % 2 else "B") for n in range(4)), own=[OWN])
        self.now = NOW
        self.out: list[str] = []

    @rule(seconds=st.floats(0, 100_000))
    def wait(self, seconds):
        self.now += seconds

    @rule(exclude=st.sets(st.integers(0, 3)))
    def propose(self, exclude):
        excluded = {f"https://i{n}.example/" for n in exclude}
        proposal = self.it.propose(self.now, exclude=excluded)
        if proposal is None:
            return
        assert proposal.url not in excluded
        assert proposal.own or proposal.url not in self.out
        report = next(r for r in self.it.snapshot(self.now) if r.url == proposal.url)
        assert report.retry_after == 0 or (proposal.own and report.state == "failing")
        self.it.begin(proposal.url, self.now)
        self.out.append(proposal.url)

    @precondition(lambda self: self.out)
    @rule(index=st.integers(0, 20), verdict=st.sampled_from(Verdict))
    def report(self, index, verdict):
        url = self.out.pop(index % len(self.out))
        self.it.report(url, Outcome(verdict, Format.HTML, 0.3, status_code=200), self.now)

    @precondition(lambda self: self.out)
    @rule(index=st.integers(0, 20))
    def release(self, index):
        self.it.release(self.out.pop(index % len(self.out)))

    @invariant()
    def in_flight_is_what_is_out(self):
        flying = sum(member.in_flight for member in self.it._members.values())
        assert flying == len(self.out)

    @invariant()
    def scores_are_shares(self):
        assert all(0 <= report.score <= 1 for report in self.it.snapshot(self.now))

    @invariant()
    def nobody_rests_longer_than_the_longest_step(self):
        assert all(report.retry_after <= 36 * 86_400 for report in self.it.snapshot(self.now))


TestPoolMachine = PoolMachine.TestCase
TestPoolMachine.settings = settings(
    max_examples=settings().max_examples // 2, stateful_step_count=40, deadline=None
)
