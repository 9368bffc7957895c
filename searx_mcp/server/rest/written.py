"""Bodies of answers as bytes."""

import gzip
import json
from collections.abc import Mapping
from typing import Any, Final

from searx_mcp.render.public import scrub

LEAST_COMPRESSED: Final = 1_024
"""Bytes; one packet holds that, so that nothing would be won."""
_LEVEL: Final = 5
"""Of gzip."""


def encoded(data: Mapping[str, Any]) -> bytes:
    """Write JSON in one line of UTF-8, whatever strangers wrote into the data.

    The rows of a list are written one by one: the encoder lets no other thread run until it is done, and fifty
    pages in one go would hold up the event loop for 40 ms.
    """
    fields = (f"{_written(name)}:{_listed(value)}" for name, value in scrub(data).items())
    return f"{{{','.join(fields)}}}".encode()


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    return _written(value)


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compressed(body: bytes) -> bytes:
    """Compress a body with gzip, the same body always to the same bytes."""
    return gzip.compress(body, _LEVEL, mtime=0)


def takes_gzip(accepted: str) -> bool:
    """Tell from the header Accept-Encoding whether an answer may be compressed (RFC 9110 12.5.3)."""
    weights = {}
    for each in accepted.lower().replace(" ", "").split(","):
        coding, _, weight = each.partition(";q=")
        weights[coding] = weight.strip("0.") != "" or weight == ""
    return weights.get("gzip", weights.get("*", False))
