"""The tools that the server publishes, and their names."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.table import PUBLISHED
from searx_mcp.verbs.verb import Published

_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")
_TOOL_NAME: Final = re.compile(r"\{(\w+)\}")


def catalog(settings: Settings) -> dict[str, Published]:
    """Return the published tools by published name, the most important first."""
    names = settings.server.published()
    is_small = settings.server.profile == "small"
    tools = {name: PUBLISHED[tool] for tool, name in names.items()}
    if is_small:
        tools = {name: _for_small_model(published) for name, published in tools.items()}
    return {
        name: replace(published, description=fill_in_names(published.description, names))
        for name, published in tools.items()
    }


def _for_small_model(published: Published) -> Published:
    """Return a tool with a shorter description and schema; it still accepts the arguments left out."""
    if not published.small:
        return published

    def schema(settings: Settings) -> dict[str, Any]:
        whole = published.schema(settings)
        kept = published.small_arguments
        properties = {name: rules for name, rules in whole["properties"].items() if name in kept}
        return {**whole, "properties": properties}

    return replace(published, description=published.small, schema=schema)


def fill_in_names(text: str, names: Mapping[Tool, str]) -> str:
    """Fill in the published names of tools, and omit sentences that name unpublished tools.

    Args:
        text: lines of sentences with tools in braces, such as `{web_fetch}`.
        names: published name of each tool.
    """
    lines = []
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(line)
        kept = [each for each in sentences if {*_TOOL_NAME.findall(each)} <= names.keys()]
        lines.append(_TOOL_NAME.sub(lambda found: names[Tool(found[1])], " ".join(kept)))
    return "\n".join(filter(None, lines))
