"""Conditions around the rules of a style sheet: whether they hold for everybody who reads the page."""

import re
from typing import Final

from searx_mcp.content.html.style.lengths import number

_QUERY = re.compile(
    r"(?:(only|not)\s++)?+(?:([a-z][a-z-]*+)(?:\s++and\b)?+)?\s*+((?:\([^()]*+\)\s*+(?:and\b)?\s*+)*+)"
)
_FEATURE = re.compile(r"\(([^()]*+)\)")
_LEAST = re.compile(r"(?:min-(?:device-)?(?:width|height)\s*:|(?:width|height)\s*>=?)\s*(.+)")
_MOST = re.compile(r"(?:max-(?:device-)?(?:width|height)\s*:|(?:width|height)\s*<=?)\s*(.+)")
_SMALL_SCREEN: Final = 320.0
"""Pixels; every screen is as wide and as high."""

_LARGE_SCREEN: Final = 4_000.0
_NO_SCREEN: Final = 100.0
_SCREENS: Final = frozenset({"", "all", "screen"})
_SUPPORTED = re.compile(
    r"(?:\(\s*(?:display\s*:\s*(?:none|block|inline|inline-block|flex|grid|table)|(?:color|background(?:-color)?)\s*:\s*[#\w]+"
    r"|(?:position|visibility|opacity|overflow|width|height|margin|padding|top|left)\s*:\s*[-\w.%]+)\s*\)(?:\s*(?:and|or)\s*)?)+"
)


def media(queries: str) -> bool | None:
    """Whether a list of media queries holds for everybody who reads on a screen.

    Returns:
        `None` if it holds for some of them.
    """
    answers = [_query(query.strip()) for query in queries.lower().split(",")]
    return True if True in answers else None if None in answers else False


def supports(condition: str) -> bool | None:
    """Whether every browser supports what is asked; `None` if that is not known."""
    return True if _SUPPORTED.fullmatch(condition.strip().lower()) else None


def _query(query: str) -> bool | None:
    found = _QUERY.fullmatch(query)
    if found is None:
        return None
    answers = [(found[2] or "") in _SCREENS, *map(_feature, _FEATURE.findall(found[3]))]
    answer = False if False in answers else None if None in answers else True
    return answer if answer is None or found[1] != "not" else not answer


def _feature(feature: str) -> bool | None:
    feature = feature.strip()
    if least := _LEAST.fullmatch(feature):
        size = number(least[1].strip())
        return True if size is not None and size <= _SMALL_SCREEN else None
    if most := _MOST.fullmatch(feature):
        size = number(most[1].strip())
        if size is None:
            return None
        return True if size >= _LARGE_SCREEN else False if size <= _NO_SCREEN else None
    return None
