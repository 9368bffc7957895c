"""How long a host asks us to wait."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

SHORTEST: Final = 1.0
LONGEST: Final = 86_400.0
"""Seconds; what a host asks for beyond a day is its own concern."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the seconds of a Retry-After header (RFC 9110 §10.2.3), at least 1 and at most a day.

    A date counts from the answer's own Date header, so that neither clock needs to be right.

    Args:
        headers: of the answer, by name in any case.

    Returns:
        `None` if the header is missing or says nothing.
    """
    value, date = _header(headers, "retry-after"), _header(headers, "date")
    if value.isascii() and value.isdigit():
        # A number too long to be a float is as good as the longest wait.
        seconds = float(value) if len(value) <= len("86400") else LONGEST
    else:
        try:
            seconds = (parsedate_to_datetime(value) - parsedate_to_datetime(date)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            # TypeError: one of the dates has a zone and the other has not.
            return None
    return within_limits(seconds)


def within_limits(seconds: float) -> float:
    """Make a wait of a second at least, and a day at most."""
    return min(max(seconds, SHORTEST), LONGEST)


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip()
