"""One search result as a model sees it in the list."""

from searx_mcp.models.response import SearchResult
from searx_mcp.render.details import details
from searx_mcp.render.fence import one_line, one_url

MAX_TOKENS = 75
"""What one result may cost in the list; only a long address passes it."""

_TITLE_TOKENS = 25
_ENGINE_TOKENS = 8
_ENGINES_SHOWN = 3
_ATTRIBUTION_TOKENS = 30
_SHORTEST_CUT = 8
_DATE_LENGTH = 10


def title(result: SearchResult, boundary: str) -> str:
    """The title in one line."""
    return one_line(result.title, boundary, max_tokens=_TITLE_TOKENS) or "Untitled"


def head(result: SearchResult, number: int, boundary: str) -> str:
    """Title and address, which no result goes without, and why its page was not read if it was to be."""
    lines = (f"{number}. {title(result, boundary)}", one_url(result.url), unread(result, boundary))
    return "\n".join(filter(None, lines))


def unread(result: SearchResult, boundary: str) -> str:
    """Why the page of a result was not read, or nothing."""
    if not result.error_type:
        return ""
    status = f" ({result.status_code})" if result.status_code else ""
    return f"Page not read: {one_line(result.error_type, boundary, max_tokens=20)}{status}."


def origin(result: SearchResult, boundary: str, *, same_as: int | None = None) -> str:
    """The engines, the date, the details and the licence of a result in brackets, or nothing.

    Args:
        result: what it is about.
        boundary: of the fences.
        same_as: number of the result whose page says the same.
    """
    names = result.engines or ((result.engine,) if result.engine else ())
    shown = [one_line(n, boundary, max_tokens=_ENGINE_TOKENS) for n in names[:_ENGINES_SHOWN]]
    if len(names) > _ENGINES_SHOWN:
        shown.append(f"{len(names) - _ENGINES_SHOWN} more")
    parts = [", ".join(shown)] if shown else []
    if same_as is not None:
        parts.append(f"same text as {same_as}")
    if result.published_at:
        parts.append(one_line(result.published_at[:_DATE_LENGTH], boundary, max_tokens=12))
    parts.extend(filter(None, [details(result, boundary)]))
    if result.image:
        size = one_line(result.image.resolution, boundary, max_tokens=_ENGINE_TOKENS)
        parts.append(f"image {one_url(result.image.url)} {size}".rstrip())
    if result.attribution:
        parts.append(one_line(result.attribution, boundary, max_tokens=_ATTRIBUTION_TOKENS))
    return f"[{'; '.join(parts)}]" if parts else ""


def description(result: SearchResult, room: int, boundary: str) -> str:
    """The description in at most so many tokens; nothing rather than the first few words of it."""
    shown = one_line(result.description, boundary, max_tokens=room)
    return "" if room < _SHORTEST_CUT and shown.endswith("…") else shown
