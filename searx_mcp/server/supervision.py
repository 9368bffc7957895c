"""The work of a tool, ended by the server's limit, with its progress told to the client."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from mcp.server.mcpserver import Context

from searx_mcp.errors import DeadlineError, ErrorCode, SearxMcpError
from searx_mcp.models.service import Progress
from searx_mcp.render.public import scrub
from searx_mcp.server.events import watched

_log = logging.getLogger("searx_mcp.server")

T = TypeVar("T")

_LAST_WORDS: Final = 0.5
"""Seconds a client has to take what it was told last, before the answer."""


async def supervise(
    context: Context[Any, Any],
    limit: float,
    work: Callable[[Progress], Awaitable[T]],
    *,
    otherwise: str,
    due: float | None = None,
) -> T:
    """Do `work` by its deadline and tell the client how it goes.

    Args:
        context: of the call.
        limit: seconds.
        work: takes what is told its progress.
        otherwise: advice where the limit was too short.
        due: seconds after which the work should end by itself; `limit` unless given.

    Raises:
        DeadlineError: after `limit` seconds.
        SearxMcpError: what the work raised; anything unforeseen becomes an `internal` one, logged.
    """
    messages: asyncio.Queue[str] = asyncio.Queue()
    deadline = min(due or limit, limit)
    async with asyncio.TaskGroup() as group:
        pump = group.create_task(_report(messages, context))
        with watched(deadline) as is_almost_over:
            outcome = await _settled(work(messages.put_nowait), limit, otherwise)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await messages.join()
        pump.cancel()
    if isinstance(outcome, DeadlineError) or (
        isinstance(outcome, SearxMcpError)
        and outcome.code is ErrorCode.TIMEOUT  # of a page; a host may time out long before
        and is_almost_over()
    ):
        _log.error("server.timeout limit_s=%g", deadline)
    if isinstance(outcome, SearxMcpError):
        raise outcome
    return outcome


async def _settled(work: Awaitable[T], limit: float, otherwise: str) -> T | SearxMcpError:
    # A value and not a raise: a task group would wrap an exception in a group of its own.
    try:
        async with asyncio.timeout(limit):
            return await work
    except TimeoutError:
        late = DeadlineError("The call was not done", advice=otherwise)
        late.ran_out(limit, limit)
        return late
    except SearxMcpError as error:
        return error
    except Exception:  # noqa: BLE001 - a supervisor: whatever it is, the model gets an answer
        _log.exception("server.call_failed")
        return SearxMcpError(
            "Something went wrong inside searx-mcp",
            advice="Try once more; the server's log has the details.",
        )


async def _report(messages: "asyncio.Queue[str]", context: Context[Any, Any]) -> None:
    done = 0
    while True:
        message = await messages.get()
        done += 1
        try:
            await context.report_progress(done, message=scrub(message))
        except Exception:  # noqa: BLE001 - a client that is gone must not fail the call
            _log.debug("server.progress_failed", exc_info=True)
        messages.task_done()
