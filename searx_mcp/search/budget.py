"""What a public instance allows us, before its own limiter has to say so.

Operators count requests per address over minutes, hours and days, and count refused ones too. The
windows keep below SearXNG's limiter (`docs/decisions/budgets.md`): 4 JSON an hour, 15 pages in
20 s and 150 in 10 min, and for clients without its link token 2 in 20 s, 10 in 10 min and 3 in 30
days. Own instances have no budget.
"""

from searx_mcp.models.attempt import Format
from searx_mcp.search.state.interface import Window

_DAY = 86_400.0
_SHORT = (
    Window(limit=3, seconds=3_600, format=Format.JSON),
    Window(limit=1, seconds=30, format=Format.HTML),
    Window(limit=8, seconds=600, format=Format.HTML),
)
_LINK_TOKEN = Window(limit=3, seconds=30 * _DAY)


def windows(*, own: bool, link_token: bool | None) -> tuple[Window, ...]:
    """The windows of one instance.

    Args:
        own: whether it is the user's own: then there are none.
        link_token: whether its pages carry the limiter's token; unknown counts as yes.
    """
    if own:
        return ()
    return _SHORT if link_token is False else (*_SHORT, _LINK_TOKEN)
