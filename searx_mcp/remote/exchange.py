"""One request to a service, and its answer as an object of JSON.

What comes back is a stranger's bytes: it is bounded in bytes and in time, and measured before it is parsed.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import pydantic_core

from searx_mcp.errors import ErrorCode, FetchError, SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.remote import errors
from searx_mcp.settings.remote import RemoteConfig
from searx_mcp.urls.retry_after import retry_after

MAX_BYTES: Final = 32 << 20
"""Of an answer: fifty pages of half a megabyte."""
_MAX_VALUES: Final = 1_000_000
"""Values of an answer. Each takes 50 bytes or more once it is parsed, and may take two on the way; an answer of
fifty pages with 200 passages each has a twentieth of that."""
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]{1,60}\+)?json", re.IGNORECASE)


class Exchange:
    """Asks the routes of one service.

    Args:
        session: sends to that service alone, adds its key and follows no redirects.
        config: where it is.
    """

    def __init__(self, session: HttpSession, config: RemoteConfig) -> None:
        self._session = session
        self._config = config

    async def ask(
        self, path: str, arguments: Mapping[str, object] | None, *, query: str = ""
    ) -> dict[str, Any]:
        """Ask a route; nothing is ever sent twice.

        Args:
            path: of the route, such as `v1/search`.
            arguments: posted as JSON; `None` for a GET.
            query: of the address, encoded.

        Raises:
            SearxMcpError: there is no answer, or it is no success, or nothing that can be read.
        """
        seconds = self._config.timeout
        try:
            async with asyncio.timeout(seconds):
                response = await self._session.send(self._request(path, arguments, query))
        except TimeoutError as exc:
            raise errors.too_late(seconds) from exc
        except FetchError as exc:
            if exc.code is ErrorCode.TIMEOUT:
                raise errors.too_late(seconds) from exc
            raise errors.unreachable(exc) from exc
        if response.status == HTTPStatus.OK:
            return await _answer(response)
        body: object = None
        with suppress(SearxMcpError):
            body = await _answer(response)
        wait = retry_after(response.headers)
        raise errors.refusal(response.status, body, path=f"/{path}", wait=wait)

    def _request(self, path: str, arguments: Mapping[str, object] | None, query: str) -> Request:
        headers = {"Accept": "application/json"}
        body = None
        if arguments is not None:
            headers["Content-Type"] = "application/json"
            body = pydantic_core.to_json(dict(arguments))
        return Request(
            url=f"{self._config.url}{path}{f'?{query}' if query else ''}",
            headers=headers,
            timeout=self._config.timeout,
            max_bytes=MAX_BYTES,
            body=body,
        )


async def _answer(response: Response) -> dict[str, Any]:
    content_type = response.headers.get("Content-Type", "").partition(";")[0].strip()
    if not _JSON.fullmatch(content_type):
        raise errors.unreadable("is not JSON")
    if response.truncated:
        raise errors.unreadable(f"is not whole: {response.notes[0]}")
    if len(response.body) < 1 << 16:
        return _parsed(response.body)
    return await asyncio.to_thread(_parsed, response.body)


def _parsed(body: bytes) -> dict[str, Any]:
    if sum(map(body.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise errors.unreadable(f"has more than {_MAX_VALUES:,} values")
    try:
        found: Any = pydantic_core.from_json(body, allow_inf_nan=False)  # bounds its depth
    except ValueError:
        raise errors.unreadable("cannot be read as JSON") from None
    if not isinstance(found, dict):
        raise errors.unreadable("is no object of JSON")
    return found
