"""Bodies of answers as bytes, compressed where the client accepts it."""

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Any, Final

import pydantic_core
from starlette.requests import Request
from starlette.responses import Response

from searx_mcp.render.structured import scrub

SMALL: Final = 32_000
"""Characters or bytes of an answer that is written on the event loop, which takes .1 ms, and compressing it .9; to
hand it to a thread and back takes .1 ms of processor, and more until the thread has its turn."""
_PLAIN: Final = frozenset({int, float, bool, type(None)})
_LEAST_COMPRESSED: Final = 1_024
"""Bytes; less fits in one packet, so compressing it gains nothing."""
_LEVEL: Final = 5
"""Of gzip."""


def encoded(data: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Write JSON in one line of UTF-8, whatever strangers wrote into the data.

    It takes 1.5 ms a megabyte, in which no other thread runs.
    """
    try:
        return pydantic_core.to_json(data)
    except ValueError:  # lone surrogates
        return pydantic_core.to_json(scrub(data))


def is_small(found: object) -> bool:
    """Whether an answer is written sooner than handed to a thread: its text has 32,000 characters at most."""
    left = SMALL
    todo: list[Any] = [found]
    for value in todo:  # which grows: the fields of models, the items of lists
        kind = type(value)
        if kind is str:
            left -= len(value)
            if left < 0:
                return False
        elif kind is tuple or kind is list:
            todo += value
        elif kind is dict:
            todo += value.values()
        elif kind not in _PLAIN and not isinstance(value, Enum):
            todo += getattr(value, "__dict__", {}).values()
    return True


async def response_with(
    body: bytes, request: Request, headers: Mapping[str, str], status: int = HTTPStatus.OK
) -> Response:
    """Make a response, compressed with gzip if that pays and the client accepts it.

    Args:
        body: of the response.
        request: that it answers.
        headers: of the response, with its content type.
        status: of the response.
    """
    headers = dict(headers)
    if len(body) >= _LEAST_COMPRESSED:
        headers["vary"] = "accept-encoding"
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["content-encoding"] = "gzip"
            small = len(body) <= SMALL
            body = _compressed(body) if small else await asyncio.to_thread(_compressed, body)
    return Response(body, status, headers)


def _compressed(body: bytes) -> bytes:
    """Compress a body; without a time, so that the same body always gives the same bytes."""
    return gzip.compress(body, _LEVEL, mtime=0)


def _takes_gzip(accepted: str) -> bool:
    """Tell from the header Accept-Encoding whether an answer may be compressed (RFC 9110 12.5.3)."""
    weights = {}
    for each in accepted.lower().replace(" ", "").split(","):
        coding, _, weight = each.partition(";q=")
        weights[coding] = weight.strip("0.") != "" or weight == ""
    return weights.get("gzip", weights.get("*", False))
