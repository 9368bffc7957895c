"""Log events of a server and its calls; `docs/reference/log.md` lists them."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from searx_mcp import __version__
from searx_mcp.telemetry import EventLog, Listener, heard_by

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from mcp.types import CallToolResult

    from searx_mcp.server.counters import Counters

_log = EventLog("searx_mcp.server")

_LONGEST_NAME: Final = 64
"""Maximum logged characters of a client's name, which the client chooses."""
_PREVIEW: Final = 500
"""Maximum characters of an answer at DEBUG."""
_WARNING_SHARE: Final = 0.8
"""Share of a deadline after which a warning is logged."""


@dataclass(slots=True)
class _Call:
    number: int
    code: str = "ok"
    is_over: bool = False

    @contextmanager
    def recording_outcome(self) -> Iterator[None]:
        """Record how the block ends, if by an exception."""
        try:
            yield
        except asyncio.CancelledError:
            self.code = "cancelled"
            raise
        except Exception:
            self.code = "internal"
            raise


_CALL: ContextVar[_Call | None] = ContextVar("searx_mcp.server.call", default=None)


def call_number() -> int | None:
    """Return the number of the current call, counted from the start of the server.

    Background work that a call has started belongs to no call.
    """
    call = _CALL.get()
    return call.number if call is not None and not call.is_over else None


@contextmanager
def lifetime(transport: str, *, profile: str) -> Iterator[Callable[[str], None]]:
    """Log when a server starts, and when and why it stops.

    Args:
        transport: `stdio` or `streamable-http`.
        profile: profile of published tools.

    Yields:
        A function to call once clients can reach the server, with its URL if it has one.
    """
    urls: list[str] = []

    def start(url: str = "") -> None:
        urls.append(url)
        _log.info(
            "server.start transport=%s url=%s profile=%s version=%s",
            *(transport, url or None, profile, __version__),
        )

    reason = "input_ended"
    try:
        yield start
    except asyncio.CancelledError:
        reason = "signal"
        raise
    except BaseException as exc:
        reason = type(exc).__name__
        raise
    finally:
        if urls:
            _log.info("server.stop transport=%s reason=%s", transport, reason)


class CallLog:
    """Logs the calls of one server, and numbers them."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._listeners: tuple[Listener, ...] = ()
        self._counters: Counters | None = None

    @property
    def counters(self) -> "Counters":
        """Counters of the calls since their first use; a stdio server needs none."""
        if self._counters is None:
            from searx_mcp.server.counters import Counters  # noqa: PLC0415 - a stdio server needs none

            self._counters = Counters()
            self.add_listener(self._counters)
        return self._counters

    def add_listener(self, listener: Listener) -> None:
        """Report every event of the calls that start from now on to a listener.

        Args:
            listener: called with each event.
        """
        self._listeners += (listener,)

    @contextmanager
    def call(
        self, tool: str, arguments: Mapping[str, Any], context: "Context[Any, Any]"
    ) -> Iterator[Callable[["CallToolResult"], None]]:
        """Log the start and the end of a call.

        Yields:
            A function to call with the result, if there is one.
        """
        from searx_mcp.server.identity import caller_of  # noqa: PLC0415 - no start needs it

        results: list[CallToolResult] = []
        with self._numbered_call() as call:
            _log.info(
                "server.call tool=%s client=%s protocol=%s caller=%s",
                *(tool, client_name(context)[:_LONGEST_NAME], context.protocol_version),
                caller_of(context).name or None,
            )
            _log_arguments(arguments)
            start = asyncio.get_running_loop().time()
            try:
                with call.recording_outcome():
                    yield results.append
            finally:
                _log_done(tool, call.code, _ms_since(start), *results)

    @contextmanager
    def request(
        self, route: str, arguments: Mapping[str, Any], *, request_id: str, caller: str
    ) -> Iterator[Callable[[int, int], None]]:
        """Log the start and the end of a REST request.

        Args:
            route: name of the operation.
            arguments: arguments of the request.
            request_id: id of the request, also in a header of the response.
            caller: name of the caller's token; empty for none.

        Yields:
            A function to call with the status and the bytes of the response, if there is one.
        """
        answer = (0, 0)

        def keep(status: int, size: int) -> None:
            nonlocal answer
            answer = (status, size)

        with self._numbered_call() as call:
            # DEBUG: the event of the response repeats it, so that a request is one line.
            _log.debug("server.request route=%s id=%s caller=%s", route, request_id, caller or None)
            _log_arguments(arguments)
            start = asyncio.get_running_loop().time()
            try:
                with call.recording_outcome():
                    yield keep
            finally:
                _log.info(
                    "server.response route=%s id=%s caller=%s code=%s status=%d ms=%d bytes=%d",
                    *(route, request_id, caller or None, call.code),
                    *(answer[0], _ms_since(start), answer[1]),
                )

    @contextmanager
    def _numbered_call(self) -> Iterator[_Call]:
        call = _Call(next(self._numbers))
        token = _CALL.set(call)
        try:
            with heard_by(self._listeners):
                yield call
        finally:
            call.is_over = True
            _CALL.reset(token)


def _log_arguments(arguments: Mapping[str, Any]) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("server.arguments json=%s", json.dumps(arguments, ensure_ascii=False))


def _ms_since(start: float) -> float:
    return (asyncio.get_running_loop().time() - start) * 1_000


def client_name(context: "Context[Any, Any]") -> str:
    """Return the name that the client sent; empty if it sent none."""
    params = context.request_context.session.client_params
    return params.client_info.name if params is not None else ""


def _log_done(tool: str, code: str, elapsed_ms: float, *results: "CallToolResult") -> None:
    text, structured = "", 0
    if results and _log.isEnabledFor(logging.INFO):
        text = "".join(getattr(part, "text", "") for part in results[0].content)
        data = results[0].structured_content
        structured = len(json.dumps(data, ensure_ascii=False)) if data is not None else 0
    _log.info(
        "server.done tool=%s code=%s ms=%d text_chars=%d text_tokens=%d structured_chars=%d",
        *(tool, code, elapsed_ms, len(text), _tokens(text), structured),
    )
    if text:
        _log.debug("server.preview text=%s", text[:_PREVIEW])


def _tokens(text: str) -> int:
    if not text:
        return 0
    from searx_mcp.render.tokens import estimate  # noqa: PLC0415 - no start needs it

    return estimate(text)


def note_failure(code: str) -> None:
    """Record the error code of the current call."""
    if (call := _CALL.get()) is not None:
        call.code = code


def note_empty() -> None:
    """Log a call that found nothing."""
    _log.warning("server.empty")


def note_budget(tokens: int) -> None:
    """Log the token budget of an answer."""
    _log.debug("server.budget tokens=%d", tokens)


def note_tokens(count: int) -> None:
    """Log how many tokens the tokens file has."""
    _log.info("server.tokens_read count=%d", count)


def note_tokens_unread(reason: str, count: int) -> None:
    """Log why the tokens file cannot be reloaded, and how many old tokens stay valid."""
    _log.error("server.tokens_unread reason=%s kept=%d", reason, count)


def note_guesses(address: str) -> None:
    """Log that an address has sent too many wrong tokens."""
    _log.warning("server.wrong_tokens address=%s", address)


def note_quota(caller: str) -> None:
    """Log that a caller has used up its quota."""
    _log.warning("server.quota_used caller=%s", caller)


def note_unopened(error: Exception) -> None:
    """Log why the search service could not be opened."""
    _log.error("server.not_opened reason=%s", type(error).__name__, exc_info=error)


@contextmanager
def warn_when_slow(seconds: float) -> Iterator[Callable[[], bool]]:
    """Warn once the block has taken four fifths of its time limit.

    Yields:
        A function that tells whether it has.
    """
    loop = asyncio.get_running_loop()
    warn_at = loop.time() + _WARNING_SHARE * seconds

    def warn() -> None:
        _log.warning("server.slow limit_s=%g elapsed_s=%g", seconds, _WARNING_SHARE * seconds)

    warning = loop.call_at(warn_at, warn)
    try:
        yield lambda: loop.time() >= warn_at
    finally:
        warning.cancel()
