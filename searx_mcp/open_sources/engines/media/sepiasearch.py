"""sepiasearch."""

from typing import Final

from searx_mcp.open_sources.interface import Ask, OpenQuery, Parsed

NAME: Final = "sepiasearch"


def ask(query: OpenQuery) -> Ask | None:
    """TODO."""
    raise NotImplementedError


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """TODO."""
    raise NotImplementedError
