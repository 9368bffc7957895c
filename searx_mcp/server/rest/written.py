"""Bodies of answers as bytes, compressed where the client accepts it."""

import asyncio
import gzip
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from searx_mcp.render.public import scrub

_LEAST_COMPRESSED: Final = 1_024
"""Bytes; less fits in one packet, so compressing it gains nothing."""
_LEVEL: Final = 5
"""Of gzip."""


def encoded(data: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Write JSON in one line of UTF-8, whatever strangers wrote into the data.

    The rows of a list are written one by one: the encoder lets no other thread run until it is done, and fifty
    pages in one go would hold up the event loop for 40 ms.
    """
    if not isinstance(data, Mapping):
        return _listed(scrub([*data])).encode()
    fields = (f"{_written(name)}:{_listed(value)}" for name, value in scrub(data).items())
    return f"{{{','.join(fields)}}}".encode()


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
            body = await asyncio.to_thread(_compressed, body)
    return Response(body, status, headers)


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    return _written(value)


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
