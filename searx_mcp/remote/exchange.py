"""One request to a service, with a JSON object as its response, and progress as server-sent events.

The response is untrusted: it is limited in size and time, and counted before it is parsed. In our own services,
events end in line feeds and have the JSON on one line, as `searx_mcp.server.rest.endpoint` writes them.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import pydantic_core

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import ErrorCode, FetchError, SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.models.progress import Progress
from searx_mcp.remote import errors
from searx_mcp.remote.sanitizing import progress_of
from searx_mcp.settings.server import RemoteConfig
from searx_mcp.urls.retry_after import retry_after

MAX_BYTES: Final = 32 << 20
"""Maximum bytes of a response: fifty pages of half a megabyte."""
_MAX_VALUES: Final = 1_000_000
"""Maximum values in a response. Each takes two bytes or more on the wire and 50 once parsed; a response of
fifty pages with 200 passages each has a twentieth of that."""
_PLAIN: Final = "application/json"
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]{1,60}\+)?json", re.IGNORECASE)


class Allowance(NamedTuple):
    """The time of one call.

    Attributes:
        seconds: length of the call.
        began: start of the call, in loop time.
    """

    seconds: float
    began: float

    @property
    def until(self) -> float:
        """End of the call, in loop time."""
        return self.began + self.seconds


class ServiceRoutes:
    """Makes requests to the routes of one service.

    Args:
        session: session that reaches only this service, adds its key and follows no redirects.
        config: address and timeout of the service.
    """

    def __init__(self, session: HttpSession, config: RemoteConfig) -> None:
        self._session = session
        self._config = config

    def allow(self, seconds: float | None = None) -> Allowance:
        """Start the clock of a call: `remote.timeout`, or fewer seconds if the caller wants fewer."""
        limit = self._config.timeout
        seconds = min(seconds or limit, limit)
        return Allowance(seconds, asyncio.get_running_loop().time())

    def extend(self, allowed: Allowance) -> Allowance:
        """Extend a call to `remote.timeout` from its start; the service itself enforces a shorter limit."""
        return allowed._replace(seconds=self._config.timeout)

    def timeout_error(self, allowed: Allowance) -> SearxMcpError:
        """Return the error of a call that timed out."""
        return errors.too_late(allowed.seconds, longest=self._config.timeout)

    async def ask(
        self,
        path: str,
        arguments: Mapping[str, object] | None,
        allowed: Allowance,
        *,
        query: str = "",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Send a request to a route; nothing is ever sent twice.

        Args:
            path: path of the route, such as `v1/search`.
            arguments: arguments to post as JSON; `None` for a GET.
            allowed: time of the call, which may already have started.
            query: encoded query string.
            progress: called with the progress; the route must support streaming.

        Raises:
            SearxMcpError: there is no response, it is an error, or it cannot be parsed.
        """
        request = self._request(path, arguments, query, progress)
        try:
            async with asyncio.timeout_at(allowed.until):
                response = await self._session.send(request)
        except TimeoutError as exc:
            raise self.timeout_error(allowed) from exc
        except FetchError as exc:
            if exc.code is ErrorCode.TIMEOUT:
                raise self.timeout_error(allowed) from exc
            raise errors.unreachable(exc) from exc
        if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            return await _read_json(response, path)
        body: object = None
        with suppress(SearxMcpError):
            body = await _read_json(response, path)
        wait = retry_after(response.headers)
        raise errors.refusal(response.status, body, path=f"/{path}", wait=wait)

    def _request(
        self,
        path: str,
        arguments: Mapping[str, object] | None,
        query: str,
        progress: Progress | None,
    ) -> Request:
        headers = {"Accept": f"{EVENTS}, {_PLAIN}" if progress is not None else _PLAIN}
        body = None
        if arguments is not None:
            headers["Content-Type"] = _PLAIN
            body = pydantic_core.to_json(dict(arguments))
        return Request(
            url=f"{self._config.url}{path}{f'?{query}' if query else ''}",
            headers=headers,
            timeout=self._config.timeout,
            max_bytes=MAX_BYTES,
            body=body,
            watch=None if progress is None else Events(progress),
        )


async def _read_json(response: Response, path: str) -> dict[str, Any]:
    content_type = response.headers.get("Content-Type", "").partition(";")[0].strip()
    is_stream = content_type.lower() == EVENTS
    if not (is_stream or _JSON.fullmatch(content_type)):
        raise errors.unreadable("is not JSON")
    if response.truncated:
        raise errors.unreadable(f"is incomplete: {response.notes[0]}")
    is_result, body = last_event(response.body) if is_stream else (True, response.body)
    read = _parse(body) if len(body) < 1 << 16 else await asyncio.to_thread(_parse, body)
    if is_result:
        return read
    raise errors.refusal(errors.status_of(read), read, path=f"/{path}", wait=None)


def _parse(body: bytes) -> dict[str, Any]:
    if sum(map(body.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise errors.unreadable(f"has more than {_MAX_VALUES:,} values")
    try:
        found: Any = pydantic_core.from_json(body, allow_inf_nan=False)  # limits its depth
    except ValueError:
        raise errors.unreadable("is not valid JSON") from None
    if not isinstance(found, dict):
        raise errors.unreadable("is not a JSON object")
    return found


EVENTS: Final = "text/event-stream"

_END: Final = b"\n\n"
_PROGRESS: Final = b"event: progress\ndata: "
_RESULT: Final = b"event: result\ndata: "
_ERROR: Final = b"event: error\ndata: "
_MAX_EVENTS: Final = 1_000
"""Maximum events of one call; a call that reads fifty pages sends some two hundred."""
_MAX_EVENT_BYTES: Final = 2_000
"""Maximum bytes of a progress event."""
_SENTENCE_CHARS: Final = 200


class Events:
    """Passes on the progress of a call while its response arrives.

    Args:
        progress: called with each message, in our words.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begin = 0
        self._searched = 0
        self._events_left = _MAX_EVENTS

    def __call__(self, body: bytearray) -> None:
        """Read the events that have arrived; each byte is read once, and none after the last event.

        Args:
            body: whole body so far.
        """
        while self._events_left and (end := body.find(_END, self._searched)) >= 0:
            self._events_left -= 1
            if end - self._begin < _MAX_EVENT_BYTES:
                self._report(bytes(body[self._begin : end]))
            self._begin = self._searched = end + len(_END)
        self._searched = max(self._searched, len(body) - 1)

    def _report(self, event: bytes) -> None:
        if not event.startswith(_PROGRESS):
            return
        try:
            content: Any = pydantic_core.from_json(event[len(_PROGRESS) :])
        except ValueError:
            return
        message = content.get("message") if isinstance(content, dict) else None
        if isinstance(message, str) and (line := clean_line(message, _SENTENCE_CHARS)):
            self._progress(progress_of(line))


def last_event(body: bytes) -> tuple[bool, bytes]:
    """Find the event that ends a response.

    Returns:
        Whether the event is a result, and its JSON.

    Raises:
        SearxMcpError: the response ends without one.
    """
    if body.endswith(_END):
        before = body.rfind(_END, 0, -len(_END))
        event = body[before + len(_END) if before >= 0 else 0 : -len(_END)]
        for head in (_RESULT, _ERROR):
            if event.startswith(head):
                return head == _RESULT, event[len(head) :]
    raise errors.unreadable("ends without a result")
