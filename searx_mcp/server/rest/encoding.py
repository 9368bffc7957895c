"""Encoding and compression of response bodies."""

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
"""Characters or bytes of the largest answer that is encoded on the event loop, in .1 ms; compressing it takes .9 ms. The
way to a thread and back takes .1 ms of CPU time, and longer until the thread runs."""
_PLAIN: Final = frozenset({int, float, bool, type(None)})
_MIN_COMPRESSED: Final = 1_024
"""Bytes; a smaller body fits into one packet, so compressing it gains nothing."""
_GZIP_LEVEL: Final = 5
"""Compression level of gzip."""


def encode_json(data: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Encode JSON as one line of UTF-8, even if untrusted text has lone surrogates.

    Takes 1.5 ms per megabyte and holds the GIL.
    """
    try:
        return pydantic_core.to_json(data)
    except ValueError:  # a lone surrogate
        return pydantic_core.to_json(scrub(data))


def is_small(found: object) -> bool:
    """Tell whether encoding an answer here is faster than in a thread: its text has 32,000 characters at most."""
    left = SMALL
    todo: list[Any] = [found]
    for value in todo:  # grows by the fields of models and the items of lists
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


async def build_response(
    body: bytes, request: Request, headers: Mapping[str, str], status: int = HTTPStatus.OK
) -> Response:
    """Build a response, compressed with gzip if that pays and the client accepts it.

    Args:
        body: uncompressed body.
        request: request to respond to.
        headers: response headers, including the content type.
        status: HTTP status.
    """
    headers = dict(headers)
    if len(body) >= _MIN_COMPRESSED:
        headers["vary"] = "accept-encoding"
        if _accepts_gzip(request.headers.get("accept-encoding", "")):
            headers["content-encoding"] = "gzip"
            small = len(body) <= SMALL
            body = _compress(body) if small else await asyncio.to_thread(_compress, body)
    return Response(body, status, headers)


def _compress(body: bytes) -> bytes:
    """Compress a body without a timestamp, so that equal bodies give equal bytes."""
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)


def _accepts_gzip(accepted: str) -> bool:
    """Tell whether an Accept-Encoding header accepts gzip (RFC 9110, 12.5.3)."""
    weights = {}
    for each in accepted.lower().replace(" ", "").split(","):
        coding, _, weight = each.partition(";q=")
        weights[coding] = weight.strip("0.") != "" or weight == ""
    return weights.get("gzip", weights.get("*", False))
