"""Which instances a simulated pool has: drawn from the bundled list, some of them faulty."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.catalog import gate, parse_catalog
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.search.background.membership import read_bundled


class Fault(StrEnum):
    """What is wrong with an instance, all the time unless told otherwise."""

    NONE = "none"
    HUNG = "hung"
    """Takes the request and never answers."""
    LIMITED = "429"
    """Refuses from the first request on, whatever our pace."""
    FORBIDDEN = "403"
    SENT_HOME = "302"
    """Sends every search to the home page, as for a bot."""
    NO_ENGINES = "empty"
    """Answers without results: its engines failed."""
    GARBAGE = "garbage"
    """A 200 that is no result page."""
    SERVER_ERROR = "5xx"
    SLOW = "slow"
    """Answers around `SLOW_MEDIAN`, about every third time too late."""
    FLAPPING = "flapping"
    """Up and down in turns of some minutes."""
    NO_NAME = "dns"
    """Its name is gone."""


FAULTS = tuple(fault for fault in Fault if fault is not Fault.NONE)

_TELLS_NOTHING = frozenset(
    {Fault.HUNG, Fault.NO_NAME, Fault.GARBAGE, Fault.SERVER_ERROR, Fault.FORBIDDEN}
)
"""With these faults `/config` cannot be read either."""


class Access(StrEnum):
    """What an instance's limiter counts."""

    TOKEN = "link_token"  # noqa: S105 - the name of a setting
    """The rule for listed instances: three searches in thirty days without the token."""
    LIMITER = "limiter"
    """A limiter that wants no token."""
    OPEN = "open"
    """No limiter."""


@dataclass(frozen=True, slots=True)
class Host:
    """One simulated instance.

    Attributes:
        entry: as the pool under test sees it, gaps included.
        latency: median seconds of its answers.
        success: share of its answers that have results.
        uptime: share of requests that reach it.
        fault: what is wrong with it.
        access: what its limiter counts.
    """

    entry: CatalogEntry
    latency: float
    success: float
    uptime: float
    fault: Fault
    access: Access

    @property
    def url(self) -> str:
        """Its base URL."""
        return self.entry.url

    @property
    def facts(self) -> ConfigFacts | None:
        """What its `/config` says, or `None` when it cannot be read."""
        if self.fault in _TELLS_NOTHING:
            return None
        token = self.access is Access.TOKEN
        return ConfigFacts(
            limiter_enabled=self.access is not Access.OPEN, link_token=token, public_instance=token
        )


def bundled() -> tuple[CatalogEntry, ...]:
    """All instances of the bundled list that are reached over https, whatever their grade."""
    return gate(parse_catalog(read_bundled()), min_grade="F")


def working() -> tuple[CatalogEntry, ...]:
    """Those of them of which the list does not say that they never have results."""
    return tuple(entry for entry in bundled() if entry.search_success != 0)


def draw(
    entries: Sequence[CatalogEntry],
    count: int,
    *,
    faults: Sequence[Fault],
    accesses: Sequence[Access],
    rng: random.Random,
) -> tuple[Host, ...]:
    """Draw a pool.

    Where an entry lacks a figure, it behaves like a measured one drawn by lot; the pool sees its
    gaps all the same.

    Args:
        entries: to draw from.
        count: how many hosts, faulty ones included.
        faults: what is wrong with the first ones drawn.
        accesses: one for each host.
        rng: the dice.
    """
    measured = [entry for entry in entries if entry.search_latency is not None]
    drawn = rng.sample(entries, count)
    states = [*faults, *[Fault.NONE] * (count - len(faults))]
    return tuple(
        _host(entry, rng.choice(measured), fault, access)
        for entry, fault, access in zip(drawn, states, accesses, strict=True)
    )


def _host(entry: CatalogEntry, like: CatalogEntry, fault: Fault, access: Access) -> Host:
    return Host(
        entry=entry,
        latency=_first(entry.search_latency, like.search_latency, 1.0),
        success=_first(entry.search_success, like.search_success, 100.0) / 100,
        uptime=_first(entry.uptime.month, like.uptime.month, 100.0) / 100,
        fault=fault,
        access=access,
    )


def _first(*figures: float | None) -> float:
    return next(figure for figure in figures if figure is not None)
