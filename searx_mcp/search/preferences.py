"""Which sites an operator prefers, and which not."""

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from urllib.parse import urlsplit

from searx_mcp.content.terms import tokens
from searx_mcp.search.config import QualityConfig

PREFERRED = 0.3
"""What a preferred source is worth in quality: at the default strength one place, rarely two."""
DEMOTED = -0.6

_SHORTEST_NAME = 3
_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "gov", "go", "gob", "gouv", "ne", "net", "or", "org"}
)
"""Labels under which countries give out names, as in `co.uk`."""


def preference(url: str, query: str, config: QualityConfig) -> float:
    """What the address of a result is worth, in quality.

    Args:
        url: of the result.
        query: what was searched for; its words may name a site.
        config: the operator's rules.

    Returns:
        `DEMOTED`, 0 or `PREFERRED`; demoting wins.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    address = f"{host}{parts.path.lower()}"
    if _matches(host, address, config.demoted_domains):
        return DEMOTED
    is_named = config.prefer_named_sites and _is_named(host, query)
    return PREFERRED if is_named or _matches(host, address, config.preferred_domains) else 0.0


def _matches(host: str, address: str, patterns: Iterable[str]) -> bool:
    return any(
        _compiled(pattern).fullmatch(address if "/" in pattern else host) for pattern in patterns
    )


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    if "/" in pattern or "*" in pattern:
        return re.compile(translate(pattern))
    return re.compile(rf"(?:.*\.)?{re.escape(pattern)}")


def _is_named(host: str, query: str) -> bool:
    """Whether the name a site is registered under is a word of the query."""
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    name = labels[-1] if labels else ""
    return len(name) >= _SHORTEST_NAME and name in tokens(query)
