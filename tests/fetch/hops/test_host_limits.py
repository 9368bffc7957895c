"""How often one host may be asked, with a number for a clock."""

import math

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from searx_mcp.fetch.hops.host_limits import Gate, HostLimits, HostState, Limit

FREE = Limit.NONE


def host(
    *,
    max_per_host: int = 100,
    rate: int = 60,
    breaker_failures: int = 3,
    breaker_pause: float = 30.0,
) -> HostState:
    return HostState(HostLimits(max_per_host, rate, breaker_failures, breaker_pause))


def ask(state: HostState, now: float, *, succeeded: bool | None = True) -> None:
    assert state.gate(now).at <= now
    state.end(now, state.start(now), succeeded=succeeded)


def fail_until_open(state: HostState, now: float) -> None:
    while state.gate(now) == Gate(now, FREE):
        ask(state, now, succeeded=False)


@pytest.mark.parametrize(
    ("rate", "burst"), [(1, 5), (14, 5), (15, 5), (18, 6), (60, 20), (6_000, 2_000)]
)
def test_a_third_of_a_minute_and_at_least_five_may_go_at_once(rate, burst):
    state = host(rate=rate, max_per_host=10_000)
    sent = 0
    while state.gate(7.0).at <= 7.0:
        ask(state, 7.0)
        sent += 1
    assert sent == burst
    gate = state.gate(7.0)
    assert gate.limit is Limit.RATE
    assert gate.at == pytest.approx(7 + 60 / rate)


def test_a_host_that_was_left_alone_for_long_gets_no_more_than_a_burst():
    state = host(rate=60)
    ask(state, 0.0)
    for _ in range(20):
        ask(state, 10_000.0)
    assert state.gate(10_000.0).limit is Limit.RATE


def test_a_limit_that_ends_by_itself_is_told_before_a_slot_that_is_taken():
    state = host(max_per_host=1)
    state.start(0.0)
    state.pause(0.0, 60)
    assert state.gate(0.0) == Gate(60.0, Limit.PAUSE)
    assert state.gate(60.0) == Gate(math.inf, Limit.SLOTS)


def test_a_shorter_pause_does_not_end_a_longer_one():
    state = host()
    state.pause(0.0, 60)
    state.pause(1.0, 2)
    assert state.gate(2.0).at == 60


def test_failures_in_a_row_open_the_breaker_and_others_do_not():
    state = host(breaker_failures=3)
    for succeeded in (False, False, True, False, None, False):
        ask(state, 0.0, succeeded=succeeded)
    assert state.gate(0.0) == Gate(0.0, FREE)
    ask(state, 0.0, succeeded=False)
    assert state.gate(0.0) == Gate(30.0, Limit.BREAKER)


def test_a_trial_that_succeeds_closes_the_breaker_and_all_is_forgotten():
    state = host()
    fail_until_open(state, 0.0)
    ask(state, 30.0)
    ask(state, 30.0, succeeded=False)
    ask(state, 30.0, succeeded=False)
    assert state.gate(30.0) == Gate(30.0, FREE)
    ask(state, 30.0, succeeded=False)
    assert state.gate(30.0) == Gate(60.0, Limit.BREAKER)


@pytest.mark.parametrize(
    ("first", "pauses"),
    [
        (30.0, [30, 60, 120, 240, 480, 600, 600]),
        (1.0, [1, 2, 4, 8, 16, 32, 64]),
        (3_600.0, [3_600, 3_600]),
    ],
)
def test_each_trial_that_fails_doubles_the_pause_up_to_ten_minutes(first, pauses):
    state = host(breaker_pause=first)
    fail_until_open(state, 0.0)
    now, seen = 0.0, []
    for _ in pauses:
        opens = state.gate(now).at
        seen.append(opens - now)
        now = opens
        ask(state, now, succeeded=False)
    assert seen == pauses


def test_a_pause_never_overflows():
    assert HostLimits(1, 60, 1, 1.0).pause(10_000) == 600


def test_what_began_before_the_breaker_opened_tells_nothing_more():
    state = host()
    early = [state.start(0.0) for _ in range(3)]
    fail_until_open(state, 0.0)
    state.end(1.0, early[0], succeeded=True)
    assert state.gate(1.0) == Gate(30.0, Limit.BREAKER)
    trial = state.start(30.0)
    state.end(31.0, early[1], succeeded=True)
    assert state.gate(31.0) == Gate(math.inf, Limit.BREAKER)
    state.end(32.0, trial, succeeded=True)
    state.end(33.0, early[2], succeeded=False)
    assert repr(state) == "<HostState 0 in flight, 0 failures, closed>"


def test_the_longest_of_several_limits_is_named():
    state = host(rate=60, max_per_host=30)
    for _ in range(20):
        ask(state, 0.0)
    state.pause(0.0, 0.5)
    assert state.gate(0.0).limit is Limit.RATE
    state.pause(0.0, 5)
    assert state.gate(0.0) == Gate(5.0, Limit.PAUSE)


def test_its_repr_tells_the_state_of_the_breaker():
    state = host()
    fail_until_open(state, 0.0)
    assert repr(state) == "<HostState 0 in flight, 3 failures, open>"
    state.start(30.0)
    assert repr(state) == "<HostState 1 in flight, 3 failures, half-open>"


MAX, RATE, FAILURES, PAUSE = 3, 30, 2, 10.0
BURST = 10


class HostMachine(RuleBasedStateMachine):
    """Whatever happens in whatever order, a host is not asked too often."""

    def __init__(self) -> None:
        super().__init__()
        self.state = host(
            max_per_host=MAX, rate=RATE, breaker_failures=FAILURES, breaker_pause=PAUSE
        )
        self.now = 0.0
        self.started: list[float] = []
        self.out: list[int] = []
        self.trials: list[int] = []
        self.closed_to = 0.0
        self.is_open = False
        self.paused_until = 0.0

    @rule(seconds=st.floats(0, 30) | st.floats(0, 2_000))
    def wait(self, seconds):
        self.now += seconds

    @rule()
    def start(self):
        gate = self.state.gate(self.now)
        if gate.at > self.now:
            assert gate.limit is not FREE
            return
        assert self.now >= self.closed_to
        assert self.now >= self.paused_until
        assert not self.trials
        self.started.append(self.now)
        era = self.state.start(self.now)
        self.out.append(era)
        if self.is_open:
            self.trials.append(era)

    @precondition(lambda self: self.out)
    @rule(index=st.integers(0, 20), succeeded=st.sampled_from([True, False, False, None]))
    def end(self, index, succeeded):
        era = self.out.pop(index % len(self.out))
        was_trial = era in self.trials
        self.state.end(self.now, era, succeeded=succeeded)
        if was_trial:
            self.trials.clear()
            if succeeded:
                self.is_open = False
        gate = self.state.gate(self.now)
        if gate.limit is Limit.BREAKER and gate.at < math.inf:
            self.is_open = True
            self.closed_to = gate.at
            assert gate.at - self.now <= 600

    @rule(seconds=st.floats(0, 5_000))
    def pause(self, seconds):
        self.state.pause(self.now, seconds)
        self.paused_until = max(self.paused_until, self.now + min(seconds, 600))

    @invariant()
    def no_more_are_under_way_than_there_are_slots(self):
        assert self.state.in_flight == len(self.out) <= MAX

    @invariant()
    def no_window_holds_more_than_the_bucket(self):
        for index, begin in enumerate(self.started):
            window = self.started[-1] - begin
            assert len(self.started) - index <= BURST + window * RATE / 60 + 1e-6

    @invariant()
    def at_most_one_trial_is_under_way(self):
        assert len(self.trials) <= 1

    @invariant()
    def it_is_never_closed_for_ever(self):
        gate = self.state.gate(self.now)
        assert gate.at < math.inf or self.out


TestHostMachine = HostMachine.TestCase
TestHostMachine.settings = settings(stateful_step_count=50, deadline=None)
