"""What the catalogues of publications have in common."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.sources.open.rows import MAX_NAME

MAX_NAMES: Final = 100
"""Authors or subjects of one work; papers of large experiments have thousands."""


def names(values: Iterable[str]) -> tuple[str, ...]:
    """The first names of a list as clean lines."""
    lines = (clean_line(value, MAX_NAME) for value in values)
    return tuple(islice((line for line in lines if line), MAX_NAMES))


def address(url: str) -> str | None:
    """A web address, or `None`."""
    return absolute_web("", url) or None


def cited(times: int | None) -> str:
    """How often a work is cited; empty if never or unknown."""
    return f"cited {times} times" if times else ""
