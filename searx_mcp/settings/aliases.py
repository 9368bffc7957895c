"""The server that processes share, as the sources of settings give it.

Its address may hold a password, so that nothing made here shows it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

REDIS_VARIABLE: Final = "SEARX_MCP_REDIS_URL"
"""Another name of `SEARX_MCP_REDIS__URL`, which beats it."""
UNSHOWN_REDIS: Final = frozenset({"redis", "redis.url", "redis.secret"})
"""Settings whose wrong values are not shown."""


def redis_leaves(environ: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], object, str]]:
    """The address in the variable of its own: the names that lead to it, itself, its origin."""
    if url := environ.get(REDIS_VARIABLE, ""):
        yield ("redis", "url"), url, f"environment {REDIS_VARIABLE}"
