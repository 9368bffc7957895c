"""One request to a service, with a JSON object as its answer, and progress as server-sent events.

The answer is untrusted: it is limited in size and time, and counted before it is parsed. In our own services,
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
from searx_mcp.remote.words import progress_of
from searx_mcp.settings.remote import RemoteConfig
from searx_mcp.urls.retry_after import retry_after

MAX_BYTES: Final = 32 << 20
"""Maximum bytes of an answer: fifty pages of half a megabyte."""
_MAX_VALUES: Final = 1_000_000
"""Maximum values in an answer. Each takes two bytes or more on the wire and 50 once parsed; an answer of
fifty pages with 200 passages each has a twentieth of that."""
_PLAIN: Final = "application/json"
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]{1,60}\+)?json", re.IGNORECASE)


class Allowance(NamedTuple):
    """The time of one call.

    Attributes:
        seconds: of the call.
        began: its start, in loop time.
    """

    seconds: float
    began: float

    @property
    def until(self) -> float:
        """Its end, in loop time."""
        return self.began + self.seconds


class ServiceRoutes:
    """Makes requests to the routes of one service.

    Args:
        session: reaches only that service, adds its key and follows no redirects.
        config: its address.
    """

    def __init__(self, session: HttpSession, config: RemoteConfig) -> None:
        self._session = session
        self._config = config

    def allow(self, seconds: float | None = None) -> Allowance:
        """Start the time of a call: `remote.timeout`, or fewer seconds if its caller says so."""
        limit = self._config.timeout
        seconds = min(seconds or limit, limit)
        return Allowance(seconds, asyncio.get_running_loop().time())

    def whole(self, allowed: Allowance) -> Allowance:
        """Give a call all of `remote.timeout` from its start; the service observes a shorter limit."""
        return allowed._replace(seconds=self._config.timeout)

    def late(self, allowed: Allowance) -> SearxMcpError:
        """Make the error of a call whose time is over."""
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
            path: of the route, such as `v1/search`.
            arguments: posted as JSON; `None` for a GET.
            allowed: the time of the call, which may have started before.
            query: of the address, encoded.
            progress: called with the progress; the route must support streaming.

        Raises:
            SearxMcpError: there is no answer, it is an error, or it cannot be parsed.
        """
        request = self._request(path, arguments, query, progress)
        try:
            async with asyncio.timeout_at(allowed.until):
                response = await self._session.send(request)
        except TimeoutError as exc:
            raise self.late(allowed) from exc
        except FetchError as exc:
            if exc.code is ErrorCode.TIMEOUT:
                raise self.late(allowed) from exc
            raise errors.unreachable(exc) from exc
        if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            return await _answer(response, path)
        body: object = None
        with suppress(SearxMcpError):
            body = await _answer(response, path)
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


async def _answer(response: Response, path: str) -> dict[str, Any]:
    content_type = response.headers.get("Content-Type", "").partition(";")[0].strip()
    is_stream = content_type.lower() == EVENTS
    if not (is_stream or _JSON.fullmatch(content_type)):
        raise errors.unreadable("is not JSON")
    if response.truncated:
        raise errors.unreadable(f"is incomplete: {response.notes[0]}")
    is_result, body = last_event(response.body) if is_stream else (True, response.body)
    read = _parsed(body) if len(body) < 1 << 16 else await asyncio.to_thread(_parsed, body)
    if is_result:
        return read
    raise errors.refusal(errors.status_of(read), read, path=f"/{path}", wait=None)


def _parsed(body: bytes) -> dict[str, Any]:
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
_MOST: Final = 1_000
"""Maximum events of one call; a call that reads fifty pages sends some two hundred."""
_LONGEST: Final = 2_000
"""Maximum bytes of a progress event."""
_SENTENCE_CHARS: Final = 200


class Events:
    """Passes on the progress of a call while its answer arrives, and finds the last event at the end.

    Args:
        progress: called with each message, in our words.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begin = 0
        self._searched = 0
        self._left = _MOST

    def __call__(self, body: bytearray) -> None:
        """Read the events that have arrived; each byte is read once, and none after the last event.

        Args:
            body: from its beginning.
        """
        while self._left and (end := body.find(_END, self._searched)) >= 0:
            self._left -= 1
            if end - self._begin < _LONGEST:
                self._tell(bytes(body[self._begin : end]))
            self._begin = self._searched = end + len(_END)
        self._searched = max(self._searched, len(body) - 1)

    def _tell(self, event: bytes) -> None:
        if not event.startswith(_PROGRESS):
            return
        try:
            told: Any = pydantic_core.from_json(event[len(_PROGRESS) :])
        except ValueError:
            return
        message = told.get("message") if isinstance(told, dict) else None
        if isinstance(message, str) and (line := clean_line(message, _SENTENCE_CHARS)):
            self._progress(progress_of(line))


def last_event(body: bytes) -> tuple[bool, bytes]:
    """Find the event that ends an answer.

    Returns:
        Whether it is a result, and its JSON.

    Raises:
        SearxMcpError: there is none.
    """
    if body.endswith(_END):
        before = body.rfind(_END, 0, -len(_END))
        event = body[before + len(_END) if before >= 0 else 0 : -len(_END)]
        for head in (_RESULT, _ERROR):
            if event.startswith(head):
                return head == _RESULT, event[len(head) :]
    raise errors.unreadable("ends without a result")
