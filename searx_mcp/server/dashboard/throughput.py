"""What the server has done, for the dashboard: calls per minute, and totals of the counters in `/metrics`."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from searx_mcp.server.counters import Counters
from searx_mcp.server.dashboard.markup import Html, element, join

_MINUTES: Final = 60
_MINUTE: Final = 60.0
_BAR: Final = (4, 24)
"""Width and height of a minute in the chart, in pixels."""
_PERCENT: Final = 100
_CACHES: Final = {"Searches from the cache": "answers", "Pages from the cache": "pages"}


class CallsByMinute:
    """Counts the finished calls per minute, for an hour; a listener of `searx_mcp.telemetry`.

    Args:
        clock: monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ended: Counter[int] = Counter()

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Count an event if it ends a call."""
        del fields
        if event in {"server.done", "server.response"}:
            now = self._minute()
            self._ended[now] += 1
            for minute in [each for each in self._ended if each <= now - _MINUTES]:
                del self._ended[minute]

    def latest(self) -> list[int]:
        """Return the calls of the last 60 minutes, the current minute last."""
        now = self._minute()
        return [self._ended[minute] for minute in range(now - _MINUTES + 1, now + 1)]

    def _minute(self) -> int:
        return int(self._clock() // _MINUTE)


def throughput_facts(counters: Counters, latest: list[int]) -> list[tuple[str, str]]:
    """Return the server's statistics since its start, as names and values.

    Args:
        counters: counters of the server.
        latest: calls per minute, from `CallsByMinute`.
    """
    calls = counters.calls.total()
    failed = calls - counters.calls.total(code="ok") - counters.calls.total(code="cancelled")
    facts = [
        ("Calls in the last hour", join((f"{sum(latest):,} ", _chart(latest)))),
        ("Calls since the start", f"{calls:,} ({failed:,} failed)"),
        ("Search requests sent", f"{counters.attempts.total():,}"),
    ]
    return facts + [
        (title, _share(counters, cache))
        for title, cache in _CACHES.items()
        if counters.lookups.total(cache=cache)
    ]


def _share(counters: Counters, cache: str) -> str:
    asked = counters.lookups.total(cache=cache)
    hits = asked - counters.lookups.total(cache=cache, result="miss")
    return f"{hits:,} of {asked:,} ({_PERCENT * hits // asked} %)"


def _chart(latest: list[int]) -> Html:
    """Build a bar chart: one bar per minute, as tall as the number of calls that ended in it."""
    width, height = _BAR
    most = max(latest)
    bars = (
        element(
            "rect",
            x=number * width,
            y=height - bar_height,
            width=width - 1,
            height=bar_height,
            class_="good",
        )
        for number, count in enumerate(latest)
        if (bar_height := max(2, round(height * count / most)) if count else 0)
    )
    size = width * len(latest)
    return element(
        "svg",
        *bars,
        role="img",
        aria_label=f"At most {most:,} {'call' if most == 1 else 'calls'} per minute",
        width=size,
        height=height,
        viewBox=f"0 0 {size} {height}",
    )
