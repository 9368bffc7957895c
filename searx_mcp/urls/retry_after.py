"""Parses how long a host asks us to wait."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

SHORTEST: Final = 1.0
LONGEST: Final = 86_400.0
"""Maximum seconds; longer requests are ignored."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Parse the seconds of a Retry-After header (RFC 9110 §10.2.3), at least 1 and at most a day.

    A date is relative to the answer's own Date header, so that neither clock needs to be right.

    Args:
        headers: of the answer, case-insensitive.

    Returns:
        `None` if the header is missing or invalid.
    """
    value, date = _header(headers, "retry-after"), _header(headers, "date")
    if value.isascii() and value.isdigit():
        # A number too large for a float counts as the longest wait.
        seconds = float(value) if len(value) <= len("86400") else LONGEST
    else:
        try:
            seconds = (parsedate_to_datetime(value) - parsedate_to_datetime(date)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            # TypeError: only one of the dates has a zone.
            return None
    return within_limits(seconds)


def within_limits(seconds: float) -> float:
    """Limit a wait to at least a second and at most a day."""
    return min(max(seconds, SHORTEST), LONGEST)


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip()
