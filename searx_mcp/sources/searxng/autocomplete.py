"""What an instance proposes while somebody types."""

import json
from typing import Final
from urllib.parse import urlencode

from searx_mcp.content.clean import clean_line
from searx_mcp.sources.searxng.request import neutralise

MAX_SUGGESTIONS: Final = 20
_MAX_LENGTH: Final = 200
_MAX_BODY: Final = 262_144


def suggest_url(base_url: str, text: str) -> str:
    """The address of the suggestions for a text; its own syntax is switched off as in a search."""
    return f"{base_url.rstrip('/')}/autocompleter?{urlencode({'q': neutralise(text)})}"


def parse_suggestions(body: bytes) -> tuple[str, ...]:
    """Read the suggestions, whichever of its two forms an instance chose; never raises.

    Browsers get `["text", ["suggestion", ...], [], {}]` (OpenSearch), pages `["suggestion", ...]`.

    Args:
        body: the decoded answer.

    Returns:
        At most 20 suggestions, each once, on one line of at most 200 characters; empty if the body
        is something else.
    """
    if len(body) > _MAX_BODY:
        return ()
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    match answer:
        case [str(), list(found), *_]:
            pass
        case list(found):
            pass
        case _:
            return ()
    lines = (clean_line(text, _MAX_LENGTH) for text in found if isinstance(text, str))
    return tuple(dict.fromkeys(filter(None, lines)))[:MAX_SUGGESTIONS]
