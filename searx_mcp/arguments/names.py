"""The names of arguments, and which parameter each of them means."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from searx_mcp.arguments.messages import SHOWN_LENGTH, did_you_mean, shown
from searx_mcp.errors import InvalidArgumentError

_ALIASES = {
    "q": "query",
    **dict.fromkeys(("maxresults", "numresults", "count", "limit", "num", "topk"), "results_count"),
    **dict.fromkeys(("recency", "freshness", "timelimit", "days"), "time_range"),
    **dict.fromkeys(("lang", "searchlang"), "language"),
    **dict.fromkeys(("categories", "topic"), "category"),
    **{
        f"{verb}{thing}{plural}": name
        for name, verbs in {
            "allowed_domains": ("include", "included", "allow", "allowed"),
            "blocked_domains": ("exclude", "excluded", "block", "blocked"),
        }.items()
        for verb in verbs
        for thing in ("domain", "site")
        for plural in ("", "s")
    },
    **dict.fromkeys(("pageno", "pagenumber"), "page"),
    "start": "offset",
    "engine": "engines",
    **dict.fromkeys(("uri", "urls", "link"), "url"),
    **dict.fromkeys(("maxlength", "maxcharacters"), "max_chars"),
    "startindex": "offset",
}
"""Names that other servers and APIs have for the same: Brave, DuckDuckGo, Exa, Firecrawl, Tavily, the
reference fetch server, other servers for SearXNG. Folded; a tool takes those of its own parameters."""
_BLANK_MATTERS = frozenset({"query", "url", "time_range"})

Converters: TypeAlias = Mapping[str, Callable[[str, object], object]]
"""By parameter: takes an argument's name as written and its value, gives the request's value."""


def named(raw: Mapping[str, object], converters: Converters) -> dict[str, tuple[str, object]]:
    """Find the parameter behind each name; gives the name as written and the value."""
    parameters = {folded(name): name for name in converters}
    parameters |= {alias: name for alias, name in _ALIASES.items() if name in converters}
    found: dict[str, tuple[str, object]] = {}
    for written, value in raw.items():
        name = parameters.get(folded(written))
        if name is None:
            hint = did_you_mean(written, converters) or f"; known: {', '.join(converters)}"
            raise InvalidArgumentError(shown(written)[1:-1], f"is unknown{hint}")
        if value is None or (name not in _BLANK_MATTERS and is_blank(value)):
            continue
        if name in found:
            raise InvalidArgumentError(written, f"is the same as {found[name][0]}; give one")
        found[name] = (written, value)
    return found


def is_blank(value: object) -> bool:
    """Whether it is a text without a visible character."""
    return isinstance(value, str) and not value.strip()


def folded(text: str) -> str:
    """Reduce a spelling to what tells it from others; longer ones than we know stay as they are."""
    return re.sub(r"[ _-]", "", text).lower() if len(text) <= SHOWN_LENGTH else text
