"""Counters of a server's events, for `/metrics` and the dashboard.

Labels never contain a query, the address of a page or a secret, and each has a bounded number of values.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Upper bounds in seconds, from a cached answer to the longest call."""
_MOST_SOURCES: Final = 100
_OTHERS: Final = "other"

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """What a metric is called.

    Attributes:
        name: name of the metric.
        help: description, one sentence.
        labels: names of the labels.
    """

    name: str
    help: str
    labels: Labels = ()


@dataclass(frozen=True, slots=True)
class Count(Described):
    """A counter for each combination of label values.

    Attributes:
        values: counts by label values, in the order of `labels`.
    """

    values: Counter[Labels] = field(default_factory=Counter)

    def add(self, *labels: str) -> None:
        """Add one."""
        self.values[labels] += 1

    def total(self, **wanted: str) -> int:
        """Return the sum of all counts with these label values."""
        places = [(self.labels.index(name), value) for name, value in wanted.items()]
        return sum(
            count
            for labels, count in self.values.items()
            if all(labels[place] == value for place, value in places)
        )


@dataclass(slots=True)
class Buckets:
    """The distribution of a duration.

    Attributes:
        counts: durations per bucket; the last is for those above all bounds.
        seconds: sum of the durations.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DurationHistogram(Described):
    """A histogram for each combination of label values; attributes as in `Count`."""

    values: dict[Labels, Buckets] = field(default_factory=dict)

    def add(self, seconds: float, *labels: str) -> None:
        """Add a duration in seconds."""
        buckets = self.values.setdefault(labels, Buckets())
        buckets.counts[bisect_left(BUCKETS, seconds)] += 1
        buckets.seconds += seconds


class Counters:
    """Counts what a server does; a listener of `searx_mcp.telemetry`.

    Attributes:
        in_flight: calls that run now, by front.
        sources: labels of the sources asked so far.
    """

    def __init__(self) -> None:
        self.calls = Count(
            "searx_mcp_calls_total",
            "Calls that ended. `code` is an error code, `ok` or `cancelled`.",
            ("front", "operation", "code"),
        )
        self.call_seconds = DurationHistogram(
            "searx_mcp_call_seconds", "Duration of calls.", ("front", "operation")
        )
        self.tokens = Count(
            "searx_mcp_token_calls_total",
            "Calls by name of the token; empty without `http.tokens_file`.",
            ("token",),
        )
        self.attempts = Count(
            "searx_mcp_attempts_total",
            "Search requests sent, by host of the instance or name of the open source. After the first "
            f"{_MOST_SOURCES}, `{_OTHERS}`.",
            ("source", "verdict"),
        )
        self.attempt_seconds = DurationHistogram(
            "searx_mcp_attempt_seconds", "Duration of search requests.", ("kind",)
        )
        self.lookups = Count(
            "searx_mcp_cache_lookups_total",
            "Cache lookups. `result` is `fresh`, `stale`, `if_error` or `miss`.",
            ("cache", "result"),
        )
        self.pages = Count(
            "searx_mcp_pages_total",
            "Pages read for calls, searches included. `code` is as above.",
            ("code",),
        )
        self.page_seconds = DurationHistogram(
            "searx_mcp_page_seconds", "Duration of reading a page."
        )
        self.probes = Count(
            "searx_mcp_probes_total", "Health checks. `result` is `up` or `down`.", ("result",)
        )
        self.in_flight: Counter[str] = Counter(mcp=0, rest=0)
        self.sources: set[str] = set()

    def __iter__(self) -> Iterator[Count | DurationHistogram]:
        """Iterate over all metrics, in the order of the documentation."""
        found = vars(self).values()
        return (each for each in found if isinstance(each, Count | DurationHistogram))

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Count an event if there is a counter for it."""
        match event:
            case "server.call" | "server.request":
                self.in_flight["mcp" if event == "server.call" else "rest"] += 1
                self.tokens.add(fields["caller"] or "")
            case "server.done":
                self._end("mcp", fields["tool"], fields)
            case "server.response":
                self._end("rest", fields["route"], fields)
            case "search.attempt":
                self._attempt(fields)
            case "search.cache_hit" | "fetch.cache_hit" | "search.cache_miss" | "fetch.cache_miss":
                cache = "answers" if event.startswith("search") else "pages"
                self.lookups.add(cache, fields.get("kind", "miss"))
            case "fetch.done":
                self.pages.add(fields["code"])
                self.page_seconds.add(fields["elapsed_ms"] / 1_000)
            case "search.probe":
                self.probes.add("up" if fields["alive"] else "down")
            case _:
                pass

    def _end(self, front: str, operation: str, fields: Mapping[str, Any]) -> None:
        self.in_flight[front] -= 1
        self.calls.add(front, operation, fields["code"])
        self.call_seconds.add(fields["ms"] / 1_000, front, operation)

    def _attempt(self, fields: Mapping[str, Any]) -> None:
        source = source_label(fields["source"])
        if source not in self.sources:
            if len(self.sources) >= _MOST_SOURCES:
                source = _OTHERS
            else:
                self.sources.add(source)
        self.attempts.add(source, str(fields["verdict"]))
        kind = "instance" if "://" in fields["source"] else "open_source"
        self.attempt_seconds.add(fields["elapsed_ms"] / 1_000, kind)


def source_label(source: str) -> str:
    """Return the host and path of an instance's address, without a user; any other name unchanged.

    Args:
        source: a base URL, or the name of an open source.
    """
    if "://" not in source:
        return source
    parts = urlsplit(source)
    return (parts.netloc.rpartition("@")[2] + parts.path).rstrip("/")
