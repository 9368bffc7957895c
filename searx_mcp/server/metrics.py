"""What monitoring asks for: `/metrics`, in the format of Prometheus, and `/readyz`."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from searx_mcp import __version__
from searx_mcp.errors import ErrorCode
from searx_mcp.evidence.values import CorpusStatus
from searx_mcp.models.instance import InstanceState, PoolReport
from searx_mcp.server.backend import Backend
from searx_mcp.server.counters import (
    BUCKETS,
    Buckets,
    Count,
    Counters,
    Described,
    DurationHistogram,
    Labels,
    source_label,
)
from searx_mcp.server.events import note_unopened
from searx_mcp.server.identity import identity_of
from searx_mcp.server.web.policy import HttpRefusal

if TYPE_CHECKING:
    from prometheus_client import Metric
    from prometheus_client.registry import Collector

T = TypeVar("T")

_READ_SECONDS: Final = 4.0
"""Seconds to read the pool or the corpus, in addition to the timeout of Redis; Prometheus waits for ten."""
_POOL_SECONDS: Final = 5.0
"""Seconds for which scrapers share a report of the pool; each report reads a database."""
_CORPUS_SECONDS: Final = 60.0
"""Seconds for which scrapers share a report of the corpus, whose chunks take longer to count."""
_NOT_INSTALLED: Final = HttpRefusal(
    501,
    ErrorCode.INTERNAL,
    "The library for metrics is not installed: pip install 'searx-mcp[metrics]', then restart the server.",
)
_NOT_ALLOWED: Final = HttpRefusal(
    403,
    ErrorCode.UNAUTHORIZED,
    "The token does not allow metrics: set metrics = true for it in http.tokens_file.",
)


@dataclass(frozen=True, slots=True)
class Gauge(Described):
    """A number that goes up and down; attributes as in `Count`."""

    values: dict[Labels, float] = field(default_factory=dict)


class Gauges:
    """The gauges of one scrape.

    Args:
        in_flight: calls that run now, by front.
    """

    def __init__(self, in_flight: Mapping[str, int]) -> None:
        self.info = Gauge("searx_mcp_info", "The version, as a label.", ("version",))
        self.in_flight = Gauge("searx_mcp_calls_in_flight", "Calls in progress.", ("front",))
        self.instances = Gauge(
            "searx_mcp_instances",
            "Instances, open sources and keyed providers, by tier and state.",
            ("tier", "state"),
        )
        self.budget_left = Gauge(
            "searx_mcp_budget_left_searches",
            "Searches that the budgets of a tier allow now. Absent for a tier without budgets.",
            ("tier",),
        )
        self.month = Gauge(
            "searx_mcp_month_searches",
            "Budget that public instances share over 30 days. `part` is `capacity`, `spent`, `left_now`, "
            "`left_month` or `kept_back`.",
            ("part",),
        )
        self.source_state = Gauge(
            "searx_mcp_source_state",
            "1 for the current state of each source that this process has asked.",
            ("source", "tier", "state"),
        )
        self.source_score = Gauge(
            "searx_mcp_source_score",
            "Score of each source that this process has asked, 0 to 1.",
            ("source", "tier"),
        )
        self.catalog_age = Gauge(
            "searx_mcp_catalog_age_days", "Age of the list of public instances in days."
        )
        self.pages = Gauge(
            "searx_mcp_corpus_pages",
            "Pages in the configured corpus; absent before the first call.",
        )
        self.chunks = Gauge("searx_mcp_corpus_chunks", "Chunks of these pages.")
        self.bytes = Gauge("searx_mcp_corpus_bytes", "Size of the whole corpus.")
        self.unread = Gauge(
            "searx_mcp_unread",
            "1 if this part of the metrics could not be read: `pool` or `corpus`.",
            ("part",),
        )
        self.info.values[__version__,] = 1
        self.in_flight.values.update({(front,): count for front, count in in_flight.items()})

    def __iter__(self) -> Iterator[Gauge]:
        """Iterate over all gauges, in the order of the documentation."""
        return iter(vars(self).values())

    def read_pool(self, report: PoolReport | None, asked: Collection[str]) -> None:
        """Set the gauges of the pool.

        Args:
            report: report of the pool; `None` if unavailable.
            asked: labels of the sources that this process has asked.
        """
        self.unread.values["pool",] = float(report is None)
        if report is None:
            return
        for each in dict.fromkeys(row.tier for row in report.instances):
            self.instances.values.update({(each.value, state.value): 0 for state in InstanceState})
        left: Counter[Labels] = Counter()
        for row in report.instances:
            tier, state = row.tier.value, row.state.value
            self.instances.values[tier, state] += 1
            if row.budget_left is not None:
                left[tier,] += row.budget_left
            if (source := row.source or source_label(row.url)) in asked:
                self.source_state.values[source, tier, state] = 1
                self.source_score.values[source, tier] = row.score
        self.budget_left.values.update(left)
        if month := report.month:
            for part in ("capacity", "spent", "left_now", "left_month", "kept_back"):
                self.month.values[part,] = getattr(month, part)
        if report.catalog_age_days is not None:
            self.catalog_age.values[()] = report.catalog_age_days

    def read_corpus(self, status: CorpusStatus | None, *, failed: bool) -> None:
        """Set the gauges of the corpus.

        Args:
            status: size of the corpus; `None` if unavailable or not yet opened.
            failed: whether reading it failed.
        """
        self.unread.values["corpus",] = float(failed)
        if status is not None:
            self.pages.values[()] = status.documents
            self.chunks.values[()] = status.chunks
            self.bytes.values[()] = status.bytes


class Metrics:
    """Serves `/metrics`, without sending requests.

    Args:
        backend: backend whose calls are counted from now on.
    """

    def __init__(self, backend: Backend) -> None:
        self._counters = backend.log.counters
        limit = _READ_SECONDS + backend.settings.redis.timeout
        self._pool = _CachedReport(backend.instances, limit=limit, lifetime=_POOL_SECONDS)
        self._corpus = _CachedReport(backend.corpus_status, limit=limit, lifetime=_CORPUS_SECONDS)
        self._lock = asyncio.Lock()

    async def respond(self, request: Request) -> Response:
        """Respond to a scrape."""
        if not identity_of(request.scope).metrics:
            return _refusal_response(_NOT_ALLOWED, request)
        try:
            from prometheus_client.exposition import choose_encoder  # noqa: PLC0415 - optional
        except ModuleNotFoundError:
            return _refusal_response(_NOT_INSTALLED, request)
        async with self._lock:
            gauges = Gauges(self._counters.in_flight)
            gauges.read_pool(await self._pool.get(), self._counters.sources)
            gauges.read_corpus(await self._corpus.get(), failed=self._corpus.has_failed)
        # Copied on the event loop, which keeps counting while a thread formats them.
        families = [*map(_family, self._counters), *map(_family, gauges)]
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        body = await asyncio.to_thread(lambda: encode(_registry(families)))
        return Response(body, headers={"content-type": content_type, "cache-control": "no-store"})


class _CachedReport(Generic[T]):
    """Caches a report for some seconds, and notes whether reading it failed."""

    def __init__(
        self, read: Callable[[], Awaitable[T | None]], *, limit: float, lifetime: float
    ) -> None:
        self._read = read
        self._limit = limit
        self._lifetime = lifetime
        self._read_at: float | None = None
        self._report: T | None = None
        self.has_failed = False

    async def get(self) -> T | None:
        now = asyncio.get_running_loop().time()
        if self._report is None or self._read_at is None or now - self._read_at >= self._lifetime:
            self._read_at, self._report, self.has_failed = now, None, False
            try:
                async with asyncio.timeout(self._limit):
                    self._report = await self._read()
            except Exception:  # noqa: BLE001 - a gauge tells of any failure; calls log the reason
                self.has_failed = True
        return self._report


def _family(metric: Count | DurationHistogram | Gauge) -> "Metric":
    from prometheus_client import core  # noqa: PLC0415 - optional

    kinds: Mapping[type, Any] = {
        Count: core.CounterMetricFamily,
        Gauge: core.GaugeMetricFamily,
        DurationHistogram: core.HistogramMetricFamily,
    }
    family = kinds[type(metric)](metric.name, metric.help, labels=metric.labels)
    for labels, value in metric.values.items():
        if isinstance(value, Buckets):
            bounds = [*map(str, BUCKETS), "+Inf"]
            buckets = [*zip(bounds, accumulate(value.counts), strict=True)]
            family.add_metric(labels, buckets=buckets, sum_value=value.seconds)
        else:
            family.add_metric(labels, value)
    return cast("Metric", family)


def _registry(families: Collection["Metric"]) -> Any:  # noqa: ANN401 - the library may be missing
    """Return a registry of these families and the library's process metrics."""
    from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415 - optional

    class ScrapedFamilies:
        def collect(self) -> Collection["Metric"]:
            return families

    registry = CollectorRegistry()
    registry.register(cast("Collector", ScrapedFamilies()))
    ProcessCollector(registry=registry)
    return registry


def _refusal_response(refusal: HttpRefusal, request: Request) -> Response:
    from starlette.responses import JSONResponse  # noqa: PLC0415 - seldom

    return JSONResponse(refusal.content(request.scope), refusal.status)


def reference() -> str:
    """Return the tables for the documentation."""
    rows = [(each.name, _KINDS[type(each)], each.labels, each.help) for each in Counters()]
    rows += [(each.name, _KINDS[Gauge], each.labels, each.help) for each in Gauges({})]
    lines = ["| Metric | Kind | Labels | Meaning |", "| --- | --- | --- | --- |"]
    for name, kind, labels, description in rows:
        shown = ", ".join(f"`{label}`" for label in labels)
        lines.append(f"| `{name}` | {kind} | {shown} | {description} |")
    return "\n".join([*lines, ""])


_KINDS: Final[Mapping[type, str]] = {
    Count: "counter",
    DurationHistogram: "histogram",
    Gauge: "gauge",
}


_CACHE_SECONDS: Final = 5.0
"""Seconds to reuse a result: the path needs no token, and each check reads a database."""
_TIMEOUT: Final = 4.0
"""Seconds for a check, in addition to the Redis timeout; probes wait ten or so at most."""


class Readiness:
    """Serves `/readyz`: 200 if there is an instance to query, else 503. A check sends no request.

    An unavailable Redis server does not count, since each process goes on without it; otherwise all replicas would be
    taken out of service at once.

    Args:
        backend: reports the pool.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = asyncio.Lock()
        self._checked_at: float | None = None
        self._code = ""

    async def respond(self, _: Request) -> Response:
        """Respond to one request."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._checked_at is None or now - self._checked_at >= _CACHE_SECONDS:
                self._code = await self._check()
                self._checked_at = now
        if self._code:
            # The details go to the log: this path needs no token.
            return JSONResponse({"status": "not ready", "code": self._code}, 503)
        return JSONResponse({"status": "ready"})

    async def _check(self) -> str:
        try:
            async with asyncio.timeout(_TIMEOUT + self._backend.settings.redis.timeout):
                report = await self._backend.instances()
        except Exception as exc:  # noqa: BLE001 - any failure means that the pool cannot be read
            note_unopened(exc)
            return ErrorCode.INTERNAL
        return "" if report.instances else ErrorCode.NO_INSTANCES_AVAILABLE
