"""Pools of instances and what happens to them."""

import random

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import CategoryFacts, ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Outcome, Proposal

NOW = 1_000_000.0
DAY = 86_400.0
OWN = "http://127.0.0.1:8888/"


def entry(name: str, grade: str | None = "A+", **fields) -> CatalogEntry:
    return CatalogEntry(url=f"https://{name}.example/", tls_grade=grade, http_grade=grade, **fields)


def pool(*entries: CatalogEntry, own=(), seed: int = 1, **config) -> InstancePool:
    return InstancePool(
        own=own, public=entries, config=PoolConfig(**config), rng=random.Random(seed), seed=seed
    )


def proposed(it: InstancePool, now: float, **wanted) -> Proposal:
    """Whom the pool proposes, which must be somebody."""
    proposal = it.propose(now, **wanted)
    assert proposal is not None
    return proposal


def ask(it: InstancePool, verdict: Verdict = Verdict.FULL, now: float = NOW, exclude=()) -> str:
    proposal = proposed(it, now, exclude=exclude)
    it.begin(proposal.url, now)
    it.report(proposal.url, Outcome(verdict, proposal.format, 0.5), now)
    return proposal.url


def facts(*, limiter: bool | None = None, **categories: CategoryFacts) -> ConfigFacts:
    return ConfigFacts(limiter_enabled=limiter, engines=("e",), categories=categories)
