"""A server that speaks the chat completions of OpenAI, and everything that can be wrong with its answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, Final

import aiohttp
from pydantic import BaseModel, Field, ValidationError
from yarl import URL

from benchmarks.choosing.table import Chosen
from searx_mcp.models.spelling import shown

DEADLINE: Final = 120.0
"""Seconds for one answer; a large model without a graphics card takes about one minute for these tools."""
MAX_BODY: Final = 1 << 20
"""Bytes; a call has some hundred."""
_CHUNK: Final = 1 << 16
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class Reason(StrEnum):
    """Why there is no answer."""

    UNREACHABLE = "unreachable"
    SILENT = "silent"
    REFUSED = "refused"
    FAILED = "failed"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"


class ModelServerError(Exception):
    """The server gave no answer that can be used.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class _Function(BaseModel):
    name: str = Field(max_length=200)
    arguments: str | dict[str, Any] | None = None


class _ToolCall(BaseModel):
    function: _Function


class _Message(BaseModel):
    tool_calls: list[_ToolCall] | None = Field(default=None, max_length=100)


class _Choice(BaseModel):
    message: _Message


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1, max_length=100)


class ModelServer:
    """Asks one model which tools it would call.

    Args:
        http: the connection; see `open_model_server`.
        address: of its chat completions.
        model: its name there.
        key: sent as a bearer token, unless empty.
        deadline: seconds for one answer.
    """

    def __init__(
        self, http: aiohttp.ClientSession, address: URL, model: str, key: str, deadline: float
    ) -> None:
        self._http = http
        self._address = address
        self._model = model
        self._key = key
        self._deadline = deadline

    async def choose(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> tuple[Chosen, ...]:
        """The calls that the model answers with; none if it answers with text alone.

        Raises:
            ModelServerError: there is no answer, or none that can be used.
        """
        asked = {"model": self._model, "messages": messages, "tools": tools, "stream": False}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with (
                asyncio.timeout(self._deadline),
                # Elsewhere the key would go to whoever the server names.
                self._http.post(
                    self._address, json=asked, headers=headers, allow_redirects=False
                ) as response,
            ):
                body = await _body(response)
                status = response.status
        except TimeoutError as exc:
            raise ModelServerError(
                Reason.SILENT, f"No answer within {self._deadline:g} s."
            ) from exc
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise ModelServerError(
                Reason.UNREACHABLE, f"The server cannot be reached ({type(exc).__name__})."
            ) from exc
        if status in {401, 403}:  # the body may quote the key
            raise ModelServerError(Reason.REFUSED, f"The server refuses the key ({status}).")
        if status != 200:
            text = body.decode("utf-8", "replace")
            said = shown(text.replace(self._key, "…") if self._key else text)
            raise ModelServerError(Reason.FAILED, f"The server answered with {status}: {said}")
        return _chosen(body)


@asynccontextmanager
async def open_model_server(
    base_url: str, model: str, *, key: str = "", deadline: float = DEADLINE
) -> AsyncIterator[ModelServer]:
    """Connect to a server.

    Args:
        base_url: what `/chat/completions` is appended to, such as `http://127.0.0.1:8080/v1`.
        model: its name there.
        key: sent as a bearer token, unless empty.
        deadline: seconds for one answer.

    Raises:
        ModelServerError: the address cannot be used, or would send the key over the net in the clear.
    """
    try:
        address = URL(base_url)
    except ValueError:
        address = URL()
    if address.scheme not in {"http", "https"} or not address.host or address.user:
        raise ModelServerError(
            Reason.UNREACHABLE, "--base-url must be an http(s) address without a user."
        )
    if key and address.scheme == "http" and address.host not in _LOOPBACK:
        raise ModelServerError(
            Reason.UNREACHABLE, "A key is sent over https, or to this machine; use one of both."
        )
    async with aiohttp.ClientSession(
        auto_decompress=False,
        headers={"Accept-Encoding": "identity"},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
    ) as http:
        path = address.path.rstrip("/") + "/chat/completions"
        yield ModelServer(http, address.with_path(path), model, key, deadline)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > MAX_BODY:
            raise ModelServerError(Reason.TOO_LARGE, f"The answer has more than {MAX_BODY} bytes.")
    return bytes(body)


def _chosen(body: bytes) -> tuple[Chosen, ...]:
    try:
        completion = _Completion.model_validate(json.loads(body))
    except (ValidationError, ValueError, RecursionError) as exc:
        raise ModelServerError(Reason.UNREADABLE, "The answer is no chat completion.") from exc
    calls = completion.choices[0].message.tool_calls or ()
    return tuple(Chosen(call.function.name, _arguments(call.function.arguments)) for call in calls)


def _arguments(written: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """Read arguments, which are JSON in a text; some servers give the object itself, or nothing for none."""
    if not isinstance(written, str):
        return written or {}
    try:
        read = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
