"""Which tools the server publishes, under which names."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from searx_mcp.server import corpus_tools
from searx_mcp.server.tools import Published, fetch_tool, search_tool
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings


def _for_chatgpt(tool: Tool, settings: Settings) -> Published:
    from searx_mcp.server import chatgpt  # noqa: PLC0415 - few servers publish these

    return chatgpt.SEARCH if tool is Tool.SEARCH else chatgpt.fetch_tool(settings)


_MAKERS: Final[Mapping[Tool, Callable[[Settings], Published]]] = MappingProxyType(
    {
        Tool.WEB_SEARCH: search_tool,
        Tool.WEB_FETCH: fetch_tool,
        Tool.READ_PAGE: corpus_tools.read_page_tool,
        Tool.ANSWER: corpus_tools.answer_tool,
        Tool.SEARCH_CORPUS: corpus_tools.search_corpus_tool,
        Tool.CORPUS_STATUS: corpus_tools.corpus_status_tool,
        Tool.INGEST: corpus_tools.ingest_tool,
        Tool.SEARCH: partial(_for_chatgpt, Tool.SEARCH),
        Tool.FETCH: partial(_for_chatgpt, Tool.FETCH),
    }
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")
_NAMED: Final = re.compile(r"\{(\w+)\}")


def catalog(settings: Settings) -> dict[str, Published]:
    """Give the published tools by their published names, those most needed first."""
    names = settings.server.published()
    made = {name: _MAKERS[tool](settings) for tool, name in names.items()}
    return {
        name: replace(tool, description=told(tool.description, names))
        for name, tool in made.items()
    }


def told(text: str, names: Mapping[Tool, str]) -> str:
    """Name the published tools in a text of ours, and leave out what names one that is not published.

    Args:
        text: lines of sentences, in which tools stand in braces: `{web_fetch}`.
        names: of the published tools.
    """
    lines = []
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(line)
        kept = [each for each in sentences if {*_NAMED.findall(each)} <= names.keys()]
        lines.append(_NAMED.sub(lambda found: names[Tool(found[1])], " ".join(kept)))
    return "\n".join(filter(None, lines))
