"""Settings that have a second name in the environment, and those that hold secrets.

No sentence made here shows a value: one may hold a password.
"""

from collections.abc import Iterator, Mapping
from typing import Final

ALIASES: Final[Mapping[str, tuple[str, str]]] = {
    "SEARX_MCP_REDIS_URL": ("redis", "url"),
    "SEARX_MCP_NAMESPACE": ("storage", "namespace"),
    "ENRIWEB_WEB_FETCH_DEFAULT_MAX_CHARS": ("web_fetch", "default_max_chars"),
}
"""Other names of `SEARX_MCP_<TABLE>__<KEY>`, which beats them."""
_SECRETS: Final = frozenset(
    {
        "redis.url",
        "redis.secret",
        "fetch.github_token",
        "fetch.headers",
        "open_sources.github_token",
        "open_sources.stackexchange_key",
    }
)
SECRETS: Final = _SECRETS | {key.partition(".")[0] for key in _SECRETS}
"""Settings whose wrong values are not shown, and their tables, which may be given whole."""


def alias_leaves(environ: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], object, str]]:
    """The settings named otherwise: the names that lead to each, its text, its origin."""
    for variable, names in ALIASES.items():
        if text := environ.get(variable, ""):
            yield names, text, f"environment {variable}"
