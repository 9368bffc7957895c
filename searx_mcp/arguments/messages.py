"""What an error of an argument shows of a value."""

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from searx_mcp.errors import InvalidArgumentError

SHOWN_LENGTH: Final = 60
MAX_RAW_LENGTH: Final = 20_000
"""What is longer is refused before anything else looks at it."""


def shown(value: object) -> str:
    """Show a value in an error message: at most 60 characters, escaped, whatever its size."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_LENGTH:
        return "a huge number"
    # The quotes alone make the start of a longer text too long, so that it ends in dots.
    text = repr(value[:SHOWN_LENGTH]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 3]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name is nearest to an unknown one; empty if none is near."""
    near = get_close_matches(name[:SHOWN_LENGTH], [*known], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def wrong(written: str, value: object, allowed: str) -> InvalidArgumentError:
    """The error for a value that is none of those allowed."""
    return InvalidArgumentError(written, f"{shown(value)} is not {allowed}")


def check_length(written: str, text: str, limit: int, *, unless: int | None = None) -> None:
    """Refuse a text of more than `limit` characters, or of more than `unless` if that is given.

    Raises:
        InvalidArgumentError: with the number of characters, and nothing of the text.
    """
    if len(text) > (unless or limit):
        raise InvalidArgumentError(written, f"has {len(text):,} characters; at most {limit:,}")
