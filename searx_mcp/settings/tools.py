"""Which tools the MCP server publishes, and their names."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from searx_mcp.models.base import refusal
from searx_mcp.models.spelling import did_you_mean, shown


class Tool(StrEnum):
    """The tools by their own names."""

    WEB_SEARCH = "web_search"
    WEB_FETCH = "web_fetch"
    READ_PAGE = "read_page"
    ANSWER = "answer"
    SEARCH_CORPUS = "search_corpus"
    CORPUS_STATUS = "corpus_status"
    INGEST = "ingest"
    SEARCH = "search"
    FETCH = "fetch"


_DEFAULT: Final = (Tool.WEB_SEARCH, Tool.WEB_FETCH, Tool.READ_PAGE, Tool.ANSWER)
PROFILES: Final[Mapping[str, tuple[Tool, ...]]] = MappingProxyType(
    {
        "default": _DEFAULT,
        "research": (*_DEFAULT, Tool.SEARCH_CORPUS, Tool.CORPUS_STATUS, Tool.INGEST),
        "small": (Tool.WEB_SEARCH, Tool.WEB_FETCH),
        "chatgpt": (Tool.SEARCH, Tool.FETCH),
    }
)
"""The tools of each profile, those most needed first."""

DEFAULTS: Final[Mapping[str, Mapping[str, int | str]]] = MappingProxyType(
    {
        "small": {
            "structured_output": "off",
            "search_token_budget": 1_500,
            "fetch_token_budget": 1_000,
            "fetch_token_limit": 4_000,
        },
        "chatgpt": {"fetch_token_budget": 8_000},
    }
)
"""Defaults of a profile. Chosen: small has text alone, which no client shows twice, and so few tokens that in
a context of 8,192, the default of many local models, two searches and two pages leave a third for the
conversation. ChatGPT expects the whole text of a document; 8,000 tokens are all of most pages, but not of a
book."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,62}")
"""Function names that the APIs of Anthropic, OpenAI and Gemini all accept; Gemini's clients are the ones with
the limit of 63 characters (`server/clients.toml`) and no digit first."""
_WANTED: Final = "1 to 63 ASCII letters, digits, - and _, starting with a letter or _"


def published_names(
    tools: Iterable[Tool], *, prefix: str, renamed: Mapping[str, str]
) -> dict[Tool, str]:
    """Return the names of the published tools.

    Args:
        tools: in the order of the list.
        prefix: of each name that is not in `renamed`.
        renamed: replacement names, by tool; also of tools that are not published.

    Returns:
        The published name of each tool.

    Raises:
        PydanticCustomError: `renamed` has an unknown tool, or a name is invalid.
    """
    for tool in renamed:
        if tool not in [*Tool]:
            raise refusal(
                "server.tool_names",
                f"{shown(tool)} is not a tool{did_you_mean(tool, [*Tool])}:"
                f" name one of {', '.join(Tool)}",
            )
    published: dict[Tool, str] = {}
    for tool in dict.fromkeys(tools):
        name = renamed.get(tool, f"{prefix}{tool}")
        if not _NAME.fullmatch(name):
            raise refusal(
                "server.tool_names" if tool in renamed else "server.tool_prefix",
                f"{shown(name)} cannot be the name of {tool}: choose {_WANTED}",
            )
        for other, taken in published.items():
            if name == taken:
                raise refusal(
                    "server.tool_names",
                    f"{shown(name)} names both {other} and {tool}: rename one of them",
                )
        published[tool] = name
    return published
