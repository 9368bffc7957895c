"""Results of tools in the channels of the protocol: text, and structured content beside it.

A result may carry both. Some clients show the model only the one, some only the other, some both, so
each is complete by itself. Where a client is known to drop the text or to forward both, structured
content is left out: the text is the better reading for a model, and nobody pays twice. Reports behind
the list: `docs/decisions/channels.md`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from searx_mcp.render.public import scrub

Setting: TypeAlias = Literal["auto", "on", "off"]

_TEXT_ONLY = frozenset(
    {
        "claude-code",  # drops the text as soon as structured content is there (2.1.280)
        "cursor-vscode",  # shows structured content in place of the text
    }
)


def wants_structured(setting: Setting, client_name: str | None) -> bool:
    """Tell whether to attach structured content.

    Args:
        setting: `server.structured_output`.
        client_name: the name the client gave of itself, if it did.
    """
    if setting == "auto":
        return (client_name or "").strip().lower() not in _TEXT_ONLY
    return setting == "on"


class Channels:
    """Makes results for whichever client asks.

    Args:
        setting: `server.structured_output`.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def succeeded(
        self, text: str, data: Callable[[], Mapping[str, Any]], context: Context[Any, Any]
    ) -> CallToolResult:
        """A result: the text, and the data where the client reads them."""
        structured = scrub(data()) if self._is_wanted(context) else None
        return CallToolResult(
            content=[TextContent(type="text", text=scrub(text))], structured_content=structured
        )

    def failed(
        self, text: str, data: Mapping[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """A failure the model can read and act on."""
        structured = scrub(data) if self._is_wanted(context) else None
        return CallToolResult(
            content=[TextContent(type="text", text=scrub(text))],
            structured_content=structured,
            is_error=True,
        )

    def _is_wanted(self, context: Context[Any, Any]) -> bool:
        params = context.request_context.session.client_params
        name = params.client_info.name if params is not None else None
        return wants_structured(self._setting, name)
