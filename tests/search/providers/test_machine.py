"""Whatever instances do and in whatever order, a pool under searches keeps its promises."""

import asyncio
import random
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from typing_extensions import override

from searx_mcp.errors import DeadlineError, NoInstancesError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import CatalogEntry, InstanceState, Tier
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.budget import instance_account, month_account
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.simulated import PAGE, Behaviour, SimulatedUpstream
from tests.doubles.virtual_time import VirtualClock, VirtualLoop

OWN = ("http://own-1.example/", "http://own-2.example/")
GRADES = ("A+", "A+", "A", "B", "B")
PUBLIC = tuple(
    CatalogEntry(url=f"https://i{n}.example/", tls_grade=grade, http_grade=grade)
    for n, grade in enumerate(GRADES)
)
URLS = OWN + tuple(entry.url for entry in PUBLIC)
TIERS = {**dict.fromkeys(OWN, Tier.OWN)} | {
    entry.url: Tier(grade) for entry, grade in zip(PUBLIC, GRADES, strict=True)
}
VERDICTS = [verdict for verdict in Verdict if verdict is not Verdict.OVERTAKEN]


class SearchMachine(RuleBasedStateMachine):
    """Searches, failures, waits and restarts over a pool of own and public instances."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.runner = asyncio.Runner(loop_factory=lambda: VirtualLoop(self.clock))
        self.upstream = SimulatedUpstream(self.clock)
        self.state = MemoryStore()
        self.lifted = False
        self.pool = self.new_pool()

    @override
    def teardown(self):
        self.runner.close()

    def new_pool(self) -> InstancePool:
        rng = random.Random(7)
        pool = InstancePool(own=OWN, public=PUBLIC, config=PoolConfig(), rng=rng, seed=7)
        self.executor = InstanceSearch(
            pool=pool,
            upstream=self.upstream,
            state=self.state,
            config=SearchConfig(),
            spacing=RequestPacer((100, 500), rng),
            clock=self.clock,
        )
        return pool

    @rule(seconds=st.one_of(st.floats(0, 60), st.floats(0, 40 * 86_400)))
    def wait(self, seconds):
        self.clock.pass_by(seconds)

    @rule(
        url=st.sampled_from(URLS),
        seconds=st.sampled_from([0.05, 0.4, 2.0, 4.9, 60.0]),
        verdict=st.sampled_from(VERDICTS),
        retry_after=st.sampled_from([None, 1.0, 7_200.0]),
        token=st.sampled_from([None, True, False]),
        opted_out=st.sampled_from([False, False, False, True]),
        resolves=st.sampled_from([True, True, True, False]),
    )
    def behave(self, url, seconds, verdict, retry_after, token, opted_out, resolves):
        self.lifted |= token is False
        page = PAGE.__class__(hits=PAGE.hits, has_next=False, link_token=token)
        self.upstream.behaviours[url] = Behaviour(
            seconds, verdict, page, retry_after, opted_out, resolves
        )

    @rule(url=st.sampled_from(URLS), limiter=st.sampled_from([None, True, False]))
    def learn_facts(self, url, limiter):
        self.lifted |= limiter is False
        self.pool.learn_facts(url, ConfigFacts(limiter_enabled=limiter), self.clock())

    @rule(url=st.sampled_from(URLS), alive=st.booleans())
    def probe(self, url, alive):
        self.pool.probed(url, alive=alive, now=self.clock())

    @rule(count=st.integers(1, 6), seconds=st.sampled_from([0.05, 0.5, 3.0, 30.0]))
    def search(self, count, seconds):
        """Search several times at once; every search ends, by its deadline."""

        async def one(n: int) -> None:
            loop = asyncio.get_running_loop()
            deadline = loop.time() + seconds
            with suppress(NoInstancesError, DeadlineError):
                query = InstanceQuery(text=f"q{n}")
                await self.executor.run(SearchContext(query, 10, deadline))
            assert loop.time() <= deadline + 1e-6

        async def all_of_them() -> None:
            async with asyncio.TaskGroup() as group:
                for n in range(count):
                    group.create_task(one(n))
            assert asyncio.all_tasks() == {asyncio.current_task()}

        self.runner.run(all_of_them())

    @rule()
    def restart(self):
        """Another process takes over what this one learned: it stands where this one stood."""
        now = self.clock()
        records = self.pool.learned_since(0)
        before = self.pool.snapshot(now)
        self.pool = self.new_pool()
        self.pool.restore(records)
        assert (self.pool.snapshot(now), self.pool.learned_since(0)) == (before, records)

    @invariant()
    def every_search_sent_to_a_public_instance_was_charged(self):
        sent = Counter(sent.url for sent in self.upstream.sent if not sent.own)
        charged = Counter({url: len(rows) for url, rows in self.state._charges.items()})
        recent = self.clock() - 39 * 86_400
        if all(sent.at > recent for sent in self.upstream.sent):
            assert charged == sent

    @invariant()
    def nothing_is_out_when_nobody_searches(self):
        assert self.upstream.under_way.total() == 0
        assert all(member.in_flight == 0 for member in self.pool._members.values())

    @invariant()
    def nobody_is_asked_faster_than_the_windows_allow(self):
        for url in URLS[len(OWN) :]:
            times = {
                form: [s.at for s in self.upstream.sent if s.url == url and s.format is form]
                for form in Format
            }
            for window in instance_account(url, own=False, link_token=False).windows:
                assert window.format is not None
                assert_within(times[window.format], window.limit, window.seconds)

    @invariant()
    def the_month_is_not_overspent(self):
        """At least not while nobody is known to have no such window."""
        if self.lifted:
            return
        times = [sent.at for sent in self.upstream.sent if not sent.own]
        for window in month_account([entry.url for entry in PUBLIC]).windows:
            assert_within(times, window.limit, window.seconds)

    @invariant()
    def nobody_is_asked_after_the_deadline(self):
        assert all(sent.deadline > sent.at for sent in self.upstream.sent)

    @invariant()
    def scores_are_shares_and_nobody_rests_for_too_long_or_without_a_reason(self):
        for row in self.pool.snapshot(self.clock()):
            assert 0 <= row.score <= 1
            assert all(0 <= part <= 1 for part in row.score_parts.values())
            assert row.retry_after <= 36 * 86_400
            assert bool(row.reason) >= (row.state in WAITING)
            if row.url in OWN and row.state is InstanceState.RATE_LIMITED:
                assert row.retry_after <= 600

    @invariant()
    def a_tier_is_left_only_when_nobody_in_it_may_be_asked(self):
        now = self.clock()
        proposal = self.pool.propose(now)
        eligible = [member for member in self.pool._members.values() if member.is_eligible(now)]
        first = [member for member in eligible if not member.is_sidelined(now)] or eligible
        free = [TIERS[member.url] for member in first]
        free += [Tier.OWN for member in eligible if member.is_own]  # behind, and before strangers
        order = list(Tier)
        if proposal is None:
            assert not free
        elif proposal.own and Tier.OWN not in free:
            own = [self.pool._members[url] for url in OWN]
            assert all(member.record.state is InstanceState.FAILING for member in own), "panic"
        else:
            assert TIERS[proposal.url] is min(free, key=order.index)


WAITING = {
    InstanceState.RATE_LIMITED,
    InstanceState.FAILING,
    InstanceState.QUARANTINED,
    InstanceState.BLACKLISTED,
}


def assert_within(times: list[float], limit: int, seconds: float) -> None:
    """No sliding window of that length holds more than `limit` of the times."""
    times = sorted(times)
    for first, last in zip(times, times[limit:], strict=False):
        assert last - first >= seconds - 1e-6


TestSearchMachine = SearchMachine.TestCase
TestSearchMachine.settings = settings(
    max_examples=settings().max_examples // 2,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_the_check_of_windows_sees_one_request_too_many():
    assert_within([0.0, 10.0, 30.0], 2, 30)
    with pytest.raises(AssertionError):
        assert_within([0.0, 10.0, 29.0], 2, 30)
