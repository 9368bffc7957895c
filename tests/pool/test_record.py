"""What is kept of an instance is all there is to know."""

import random

from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.pool import InstancePool

NOW = 1_000_000.0
URL = "https://a.example/"


def pool() -> InstancePool:
    return InstancePool(public=[CatalogEntry(url=URL)], config=PoolConfig(), rng=random.Random(1))


@given(
    steps=st.lists(st.tuples(st.floats(0, 50_000), st.sampled_from(Verdict)), max_size=25),
    later=st.floats(0, 100_000),
)
def test_a_pool_restored_from_its_records_answers_like_the_one_they_came_from(steps, later):
    original, restored, now = pool(), pool(), NOW
    for wait, verdict in steps:
        now += wait
        original.begin(URL, now)
        original.report(URL, Outcome(verdict, Format.HTML, 0.3, status_code=200, detail="d"), now)
    restored.restore(original.learned_since(0))
    now += later
    assert restored.snapshot(now) == original.snapshot(now)
    assert restored.learned_since(0) == original.learned_since(0)


def test_only_what_changed_is_given_to_be_kept():
    it = pool()
    assert it.learned_since(0) == {}
    it.begin(URL, NOW)
    it.report(URL, Outcome(Verdict.FULL, Format.HTML, 0.3), NOW)
    assert set(it.learned_since(0)) == {URL}
    assert it.learned_since(NOW) == {}


def test_records_of_instances_that_are_gone_are_passed_over():
    it, other = pool(), pool()
    it.begin(URL, NOW)
    it.report(URL, Outcome(Verdict.FULL, Format.HTML, 0.3), NOW)
    records = it.learned_since(0)
    other.restore({"https://gone.example/": records[URL]})
    assert other.learned_since(0) == {}
