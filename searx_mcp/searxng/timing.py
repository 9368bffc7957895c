"""How long engines took, out of the header that every answer of SearXNG has."""

import re
from collections.abc import Mapping
from typing import Final

from searx_mcp.searxng.fields import MAX_NAME, MAX_NAMES, line
from searx_mcp.searxng.numbers import number

_MAX_HEADER: Final = 16_384
_TOTAL = re.compile(r"(?:^|,) *total_[0-9]{1,4}_([^;,]{1,200});dur=([0-9.]{1,20})")


def server_timing(value: str) -> Mapping[str, float]:
    """Read a `Server-Timing` header.

    SearXNG writes `total;dur=9.1, render;dur=1.2, total_0_bing;dur=4.4, load_0_bing;dur=3.4`, in
    milliseconds. The whole page's entries and the time spent on loading are left out.

    Args:
        value: the header's value, of any length and content.

    Returns:
        Seconds by engine, at most 100 of them.
    """
    timings: dict[str, float] = {}
    for found in _TOTAL.finditer(value[:_MAX_HEADER]):
        engine, milliseconds = line(found[1], MAX_NAME), number(found[2])
        if engine and milliseconds is not None and len(timings) < MAX_NAMES:
            timings[engine] = round(milliseconds / 1000, 6)
    return timings
