"""How long an answer asks us to stay away, in any of the headers that services say it with."""

import re
from collections.abc import Mapping
from typing import Final

from searx_mcp.urls.retry_after import LONGEST, SHORTEST, retry_after

FORBIDDEN: Final = 3_600.0
"""Seconds after a 403 that gives no reason: mostly an address or a User-Agent that is not wanted."""

_REMAINING: Final = ("x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining")
_RESET: Final = ("x-ratelimit-reset", "x-rate-limit-reset", "ratelimit-reset")
_STRUCTURED = re.compile(r";\s*r=(\d{1,9})\b.*?;\s*t=(\d{1,9})\b")
"""`"api";r=0;t=12`: what remains and the seconds until it is filled up (IETF draft, RateLimit fields)."""
_NUMBER = re.compile(r"\d{1,12}")
_EPOCH: Final = 1_000_000_000
"""Larger numbers are a time and not a number of seconds."""


def pause(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds an answer asks for: its Retry-After, or the time until a spent quota is filled up.

    Args:
        headers: by name in any case.
        now: Unix seconds, for headers that name an instant.

    Returns:
        Between a second and a day; `None` if nothing asks for a pause.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    asked = retry_after(lower.get("retry-after", ""), date=lower.get("date", ""))
    if asked is not None:
        return asked
    structured = _STRUCTURED.search(f";{lower.get('ratelimit', '')[:200]}")
    if structured:
        return _bounded(float(structured[2])) if structured[1] == "0" else None
    if _first(lower, _REMAINING) != 0:
        return None
    reset = _first(lower, _RESET)
    if reset is None:
        return None
    return _bounded(reset - now if reset > _EPOCH else float(reset))


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = headers.get(name, "").strip()
        if _NUMBER.fullmatch(value):
            return int(value)
    return None


def _bounded(seconds: float) -> float:
    return min(max(seconds, SHORTEST), LONGEST)
