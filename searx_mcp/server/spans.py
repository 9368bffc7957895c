"""OpenTelemetry spans of calls, search requests and pages.

Attributes never contain a query, the address of a page or a secret.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

from searx_mcp import __version__
from searx_mcp.errors import SettingsError
from searx_mcp.server.counters import source_label
from searx_mcp.telemetry import EventLog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

_log = EventLog("searx_mcp.server.spans")

NAME: Final = "searx-mcp"
_EXPORT_SECONDS: Final = 5.0
"""Seconds to deliver a batch to the collector, including retries."""
_SHUTDOWN_SECONDS: Final = 1.0
"""Seconds to deliver the last batch when a server stops."""
_NS_PER_MS: Final = 1_000_000
"""Nanoseconds per millisecond."""
_NOT_FAILURES: Final = frozenset({"ok", "cancelled"})

_Opened = tuple[Span, Token[context.Context]]


class Spans:
    """Creates a span for each call, search request and page; a listener of `searx_mcp.telemetry`.

    Args:
        tracer: creates the spans.
        clock: current Unix time in nanoseconds.
    """

    def __init__(self, tracer: Tracer, clock: Callable[[], int] = time.time_ns) -> None:
        self._tracer = tracer
        self._clock = clock
        self._opened: ContextVar[_Opened | None] = ContextVar("searx_mcp.server.span", default=None)

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Record an event in its trace if it has one."""
        match event:
            case "server.call":
                self._begin(f"call {fields['tool']}", SpanKind.INTERNAL, fields["caller"])
            case "server.request":
                self._begin(f"request {fields['route']}", SpanKind.SERVER, fields["caller"])
            case "server.done" | "server.response":
                self._end(fields["code"])
            case "search.attempt":
                attributes = {
                    "searx_mcp.source": source_label(fields["source"]),
                    "searx_mcp.verdict": str(fields["verdict"]),
                    "http.response.status_code": fields["status"],
                }
                self._record_finished("search attempt", fields["elapsed_ms"], attributes)
            case "fetch.done":
                attributes = {"searx_mcp.code": fields["code"]}
                self._record_finished("fetch page", fields["elapsed_ms"], attributes)
            case "search.cache_hit" | "fetch.cache_hit":
                details = {"searx_mcp.kind": fields["kind"]}
                trace.get_current_span().add_event(event, details, self._clock())
            case _:
                pass

    def _begin(self, name: str, kind: SpanKind, caller: str | None) -> None:
        span = self._tracer.start_span(name, kind=kind, start_time=self._clock())
        if caller:
            span.set_attribute("searx_mcp.token", caller)
        self._opened.set((span, context.attach(trace.set_span_in_context(span))))

    def _end(self, code: str) -> None:
        opened = self._opened.get()
        if opened is None:
            return
        span, token = opened
        self._opened.set(None)
        span.set_attribute("searx_mcp.code", code)
        if code not in _NOT_FAILURES:
            span.set_status(StatusCode.ERROR)
        span.end(self._clock())
        context.detach(token)

    def _record_finished(self, name: str, ms: float, attributes: Mapping[str, Any]) -> None:
        now = self._clock()
        known = {key: value for key, value in attributes.items() if value is not None}
        start = now - round(ms * _NS_PER_MS)
        span = self._tracer.start_span(
            name, kind=SpanKind.CLIENT, attributes=known, start_time=start
        )
        span.end(now)


@contextmanager
def continue_trace(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace in a request's `traceparent` header, if any.

    Args:
        headers: request headers.
    """
    token = context.attach(propagate.extract(headers))
    try:
        yield
    finally:
        context.detach(token)


@asynccontextmanager
async def tracing(url: str) -> AsyncIterator[Spans]:
    """Yield a listener that creates spans, and export them while the block runs.

    Args:
        url: URL of an OTLP/HTTP collector; empty if the program has set up OpenTelemetry itself.
    """
    if not url:
        yield Spans(trace.get_tracer(NAME, __version__))
        return
    provider = await asyncio.to_thread(_provider, url)
    try:
        yield Spans(provider.get_tracer(NAME, __version__))
    finally:
        await _shut_down(provider)


async def _shut_down(provider: "TracerProvider") -> None:
    """Send the last batch, without waiting for a hanging collector here or at the end of the process."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def work() -> None:
        provider.shutdown()
        with suppress(RuntimeError):  # the event loop has ended already
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=work, name="searx-mcp traces", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(_SHUTDOWN_SECONDS):
            await done.wait()


class _Exporter:
    """Wraps the library's exporter to log only once when the collector becomes unavailable."""

    def __init__(self, exporter: "SpanExporter", succeeded: object) -> None:
        self._exporter = exporter
        self._succeeded = succeeded
        self._is_unavailable = False

    def export(self, spans: "Sequence[ReadableSpan]") -> "SpanExportResult":
        result = self._exporter.export(spans)
        is_unavailable = result is not self._succeeded
        if is_unavailable and not self._is_unavailable:
            _log.warning("server.traces_away")
        elif self._is_unavailable and not is_unavailable:
            _log.info("server.traces_back")
        self._is_unavailable = is_unavailable
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def check_libraries() -> None:
    """Check, before a server starts, that it can send traces.

    Raises:
        SettingsError: the libraries are not installed.
    """
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter  # noqa: PLC0415 - optional
        import opentelemetry.sdk.trace  # noqa: F401, PLC0415 - optional
    except ModuleNotFoundError as exc:
        raise SettingsError(
            "server.traces",
            "the libraries for traces are not installed",
            advice="Install the extra: pip install 'searx-mcp[otel]'.",
        ) from exc


def _provider(url: str) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - optional
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - optional
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - optional
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - optional
        BatchSpanProcessor,
        SpanExportResult,
    )

    attributes = {"service.name": NAME, "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces", timeout=_EXPORT_SECONDS)
    # The library would log each failure with a traceback.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    logged = _Exporter(exporter, SpanExportResult.SUCCESS)
    provider.add_span_processor(BatchSpanProcessor(cast("SpanExporter", logged)))
    return provider
