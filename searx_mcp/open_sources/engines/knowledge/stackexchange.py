"""stackexchange."""

from collections.abc import Mapping
from typing import Final

from searx_mcp.open_sources.interface import Ask, OpenQuery, Parsed, RefusedError

NAME: Final = "stackexchange"


def ask(query: OpenQuery) -> Ask | None:
    """TODO."""
    raise NotImplementedError


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """TODO."""
    raise NotImplementedError


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """TODO."""
    raise NotImplementedError
