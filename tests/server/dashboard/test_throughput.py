"""The figures of the dashboard come from the counters of `/metrics`, and from the calls of an hour."""

from searx_mcp.server.counters import Counters
from searx_mcp.server.dashboard.routes import CallsByMinute, throughput_facts


class Clock:
    now = 90_000.0

    def __call__(self) -> float:
        return self.now


def test_calls_are_counted_by_the_minute_in_which_they_end():
    clock = Clock()
    calls = CallsByMinute(clock)
    for event in ("server.call", "server.done", "server.response", "search.attempt"):
        calls(event, {})
    clock.now += 120
    calls("server.done", {})
    assert calls.latest() == [*[0] * 57, 2, 0, 1]


def test_calls_of_more_than_an_hour_ago_are_forgotten():
    clock = Clock()
    calls = CallsByMinute(clock)
    calls("server.done", {})
    clock.now += 59 * 60
    assert calls.latest()[0] == 1
    clock.now += 60
    assert sum(calls.latest()) == 0
    calls("server.done", {})
    assert len(calls._ended) == 1


def test_failures_and_shares_of_the_caches_are_those_of_the_counters():
    counters = Counters()
    for code in ("ok", "ok", "cancelled", "internal"):
        counters.calls.add("rest", "search", code)
    for result in ("fresh", "stale", "miss"):
        counters.lookups.add("answers", result)
    facts = dict(throughput_facts(counters, [0] * 60))
    assert facts["Calls since the start"] == "4 (1 failed)"
    assert facts["Searches from the cache"] == "2 of 3 (66 %)"
    assert "Pages from the cache" not in facts
