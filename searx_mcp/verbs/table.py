"""All operations of the service, and its tools by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, READ_PAGE, SEARCH_CORPUS
from searx_mcp.verbs.verb import Published, Verb
from searx_mcp.verbs.web import FETCH, RAW_SEARCH, SEARCH, WEB_FETCH, WEB_SEARCH

VERBS: Final[tuple[Verb[Any, Any], ...]] = (
    WEB_SEARCH,
    RAW_SEARCH,
    WEB_FETCH,
    READ_PAGE,
    ANSWER,
    CORPUS_STATUS,
    SEARCH_CORPUS,
    INGEST,
    SEARCH,
    FETCH,
)
"""In the order of the documentation."""
TOOLS: Final[Mapping[Tool, Verb[Any, Any]]] = MappingProxyType(
    {verb.tool: verb for verb in VERBS if verb.published is not None}
)
PUBLISHED: Final[Mapping[Tool, Published]] = MappingProxyType(
    {verb.tool: verb.published for verb in VERBS if verb.published is not None}
)
