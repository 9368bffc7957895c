"""Runs a call within the server's time limit, and reports its progress to the client."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol, TypeVar

from searx_mcp.errors import DeadlineError, ErrorCode, SearxMcpError
from searx_mcp.models.progress import Progress
from searx_mcp.render.structured import scrub
from searx_mcp.server.events import warn_when_slow
from searx_mcp.service import Service
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.verb import RequestT, ResponseT, Verb

_log = logging.getLogger("searx_mcp.server")

T = TypeVar("T")

_DELIVERY_SECONDS: Final = 0.5
"""Seconds to deliver the last progress message before the answer."""
_GRACE: Final = 0.5
"""Seconds after the limit in which the work may still end by itself, with a more specific error."""

_MARGIN: Final = 3.0
"""Seconds before the server's limit at which a service must end, so that its results can still be assembled and
formatted."""
_MARGIN_SHARE: Final = 0.2
"""Largest share of the limit that the margin may take."""
_LEAST_TIME: Final = 1.0


class ProgressListener(Protocol):
    """Receives the progress of a call: the context of an MCP call, or an equivalent."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Receive a short sentence and its number."""
        ...


async def perform_verb(
    verb: Verb[RequestT, ResponseT],
    request: RequestT,
    get: Callable[[], Awaitable[Service]],
    *,
    listener: ProgressListener | None,
    limit: float,
    settings: Settings,
) -> ResponseT:
    """Perform a verb within its time limit.

    Args:
        verb: verb to perform.
        request: arguments of the call.
        get: opens the service.
        listener: receives progress, if given.
        limit: time limit in seconds.
        settings: settings of the server.

    Raises:
        SearxMcpError: see `supervise`.
    """
    due = requested = verb.seconds(request)
    if verb.usual is not None:
        # A remote service knows its own defaults.
        usual = None if settings.remote.url else verb.usual(settings)
        seconds = requested or usual
        due = None if seconds is None else min(seconds, limit)
        if due != usual or not verb.has_limits:
            request = request.model_copy(update={"timeout": due and max(due, verb.least)})

    async def work(progress: Progress) -> ResponseT:
        if verb.usual is not None or not verb.is_timed:
            return await verb.act(await get(), request, progress)
        service, left = await _open_in_time(get, requested, limit)
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            return await verb.act(service, request.model_copy(update={"timeout": left}), progress)
        except DeadlineError as late:
            late.ran_out(left, loop.time() - started)
            raise

    return await supervise(listener, limit, work, otherwise=verb.writing().otherwise, due=due)


async def _open_in_time(
    get: Callable[[], Awaitable[Service]], requested: float | None, limit: float
) -> tuple[Service, float]:
    """Return the service, and the seconds it may take: those of the call, within what is left after opening it."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    service = await get()
    margin = min(_MARGIN, _MARGIN_SHARE * limit)
    left = max(_LEAST_TIME, limit - margin - (loop.time() - start))
    return service, min(requested or left, left)


async def supervise(
    listener: ProgressListener | None,
    limit: float,
    work: Callable[[Progress], Awaitable[T]],
    *,
    otherwise: str,
    due: float | None = None,
) -> T:
    """Run `work` within its deadline and report its progress to the client.

    Args:
        listener: receives progress, if given.
        limit: time limit in seconds.
        work: function to run; its argument reports progress.
        otherwise: advice for when the limit is exceeded.
        due: seconds after which the work should end by itself; `limit` by default.

    Raises:
        DeadlineError: the work has not ended half a second after the limit.
        SearxMcpError: the work failed; an unexpected error is logged and becomes an `internal` one.
    """
    deadline = min(due or limit, limit)
    async with _reporting_to(listener) as progress:
        with warn_when_slow(deadline) as is_almost_over:
            outcome = await _run(work(progress), limit, otherwise)
    if isinstance(outcome, DeadlineError) or (
        isinstance(outcome, SearxMcpError)
        and outcome.code is ErrorCode.TIMEOUT  # a page may also time out long before the deadline
        and is_almost_over()
    ):
        _log.error("server.timeout limit_s=%g", deadline)
    if isinstance(outcome, SearxMcpError):
        raise outcome
    return outcome


@asynccontextmanager
async def _reporting_to(listener: ProgressListener | None) -> AsyncIterator[Progress]:
    """Yield the function that reports progress to the listener, if there is one."""
    if listener is None:
        yield lambda _: None
        return
    messages: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        pump = group.create_task(_deliver(messages, listener))
        yield messages.put_nowait
        with suppress(TimeoutError):
            async with asyncio.timeout(_DELIVERY_SECONDS):
                await messages.join()
        pump.cancel()


async def _run(work: Awaitable[T], limit: float, otherwise: str) -> T | SearxMcpError:
    # Errors are returned, since a task group would wrap an exception in a group.
    try:
        async with asyncio.timeout(limit + _GRACE):
            return await work
    except TimeoutError:
        late = DeadlineError("The call was not completed", advice=otherwise)
        late.ran_out(limit, limit)
        return late
    except SearxMcpError as error:
        return error
    except Exception:  # noqa: BLE001 - a supervisor: whatever failed, the model gets an answer
        return internal_error()


def internal_error() -> SearxMcpError:
    """Log the current exception, and return an error that reveals none of it to the client."""
    _log.exception("server.call_failed")
    return SearxMcpError(
        "An internal error occurred in searx-mcp",
        advice="Try once more; the server log has the details.",
    )


async def _deliver(messages: "asyncio.Queue[str]", listener: ProgressListener) -> None:
    done = 0
    while True:
        message = await messages.get()
        done += 1
        try:
            await listener.report_progress(done, message=scrub(message))
        except Exception:  # noqa: BLE001 - a call must not fail because its client has gone
            _log.debug("server.progress_failed", exc_info=True)
        messages.task_done()
