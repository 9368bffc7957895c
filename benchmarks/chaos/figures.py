"""What a run came to, and whether nobody was asked too much."""

import statistics
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.chaos.demand import Searched
from benchmarks.chaos.hosts import Host
from searx_mcp.models.attempt import Format
from searx_mcp.search.budget import instance_account
from searx_mcp.storage.state import Window


@dataclass(frozen=True, slots=True)
class Figures:
    """What one client's run came to.

    Attributes:
        searches: how many there were.
        answered: how many ended with an answer, an empty one included.
        found: how many ended with results.
        quantiles: real milliseconds that 50, 95 and 99 of 100 searches stayed below.
        calls: searches that reached an instance.
        per_query: calls for each search that was not answered from a cache.
        refused: calls that a limiter refused.
        most: by window of our budgets, the most calls that one instance saw in it.
        over_budget: what the instances are that saw more than our budgets allow.
        asked: how many instances were asked at all.
        busiest: share of the calls that the busiest instance had.
    """

    searches: int
    answered: int
    found: int
    quantiles: tuple[float, float, float]
    calls: int
    per_query: float
    refused: int
    most: Mapping[str, int]
    over_budget: tuple[str, ...]
    asked: int
    busiest: float


@dataclass(frozen=True, slots=True)
class Audit:
    """The books of a client that keeps accounts, against what arrived.

    Attributes:
        uncharged: calls that arrived without having been charged.
        overdrawn: instances to which more was charged than our budgets allow.
        transit: seconds of the fast clock from a charge to the arrival of its call, at most.
    """

    uncharged: int
    overdrawn: int
    transit: float


def summarise(
    searched: Sequence[Searched], hosts: Sequence[Host], *, transit: float = 0.0
) -> Figures:
    """Sum up a run.

    Args:
        searched: all searches.
        hosts: all instances, after the run.
        transit: seconds of the fast clock. A call that was long under way arrives close before
            the next one, though they left far enough apart: windows are counted this much shorter.
    """
    answers = [one.answer for one in searched if one.answer is not None]
    cuts = statistics.quantiles((one.seconds * 1_000 for one in searched), n=100)
    calls = [len(host.arrivals) for host in hosts]
    most: dict[str, int] = {}
    over = []
    for host in hosts:
        seen = [(window, _most(host.arrivals, window, transit)) for window in _windows(host)]
        for window, count in seen:
            most[_label(window)] = max(most.get(_label(window), 0), count)
        if any(count > window.limit for window, count in seen):
            over.append(host.kind)
    return Figures(
        searches=len(searched),
        answered=len(answers),
        found=sum(answer.results > 0 for answer in answers),
        quantiles=(cuts[49], cuts[94], cuts[98]),
        calls=sum(calls),
        per_query=sum(calls) / (len(searched) - sum(answer.cached for answer in answers)),
        refused=sum(host.limiter.refused for host in hosts),
        most=most,
        over_budget=tuple(sorted(over)),
        asked=sum(count > 0 for count in calls),
        busiest=max(calls) / sum(calls),
    )


def audit(charges: Mapping[str, Sequence[float]], hosts: Sequence[Host]) -> Audit:
    """Compare what a client charged with what arrived.

    Args:
        charges: when each call was charged, on the fast clock, by base URL.
        hosts: all instances, after the run.
    """
    uncharged = overdrawn = 0
    transit = 0.0
    for host in hosts:
        charged = charges.get(host.url, ())
        uncharged += max(0, len(host.arrivals) - len(charged))
        if len(charged) == len(host.arrivals):
            # A client asks a public instance one thing at a time, so that both are in order.
            ways = zip(host.arrivals, charged, strict=True)
            transit = max([transit, *(arrived - left for arrived, left in ways)])
        overdrawn += any(_most(charged, w) > w.limit for w in _windows(host))
    return Audit(uncharged, overdrawn, transit)


def _windows(host: Host) -> list[Window]:
    """What our budgets allow there; who never shows a page counts as wanting a link token."""
    account = instance_account(host.url, own=False, link_token=host.counts_by_month)
    return [window for window in account.windows if window.format is not Format.JSON]


def _most(times: Sequence[float], window: Window, transit: float = 0.0) -> int:
    """The most times that lie in a window, wherever it begins."""
    seconds = window.seconds - transit
    ordered = sorted(times)
    return max(
        (number + 1 - bisect_right(ordered, at - seconds) for number, at in enumerate(ordered)),
        default=0,
    )


def _label(window: Window) -> str:
    days = window.seconds / 86_400
    return f"in {days:g} d" if days >= 1 else f"in {window.seconds:g} s"
