"""One form for everything that pages write in many.

There are two steps, because style sheets hide in both directions. Formulas have their source in
hidden text, boxes of tasks and players are elements that are taken out as such: they are rewritten
first, where they stand, so that what hides them goes on hiding them. Code, callouts and footnotes
become text or move: for them everything hidden must be gone before.

A dialect is all in its own module, with what tells that a page has it. Here is only when its turn comes.
"""

from typing import Final

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.normalize.callouts import CALLOUTS, FOLDED_CALLOUTS
from searx_mcp.content.normalize.code_blocks import CODE
from searx_mcp.content.normalize.declarations import DECLARATIONS
from searx_mcp.content.normalize.footnotes import FOOTNOTES
from searx_mcp.content.normalize.formulas import (
    DRAWN_FORMULAS,
    FORMULA_IMAGES,
    FORMULAS,
    TYPED_FORMULAS,
)
from searx_mcp.content.normalize.players import LAZY_IMAGES, PLAYERS
from searx_mcp.content.normalize.posts import POSTS
from searx_mcp.content.normalize.tasks import TASKS
from searx_mcp.content.normalize.tree import ANY, Dialect
from searx_mcp.content.removals import Removals

_SOURCES: Final = (
    FORMULAS, TYPED_FORMULAS, FOLDED_CALLOUTS, FORMULA_IMAGES, TASKS, LAZY_IMAGES, PLAYERS,
)  # fmt: skip
_TEXT: Final = (POSTS, DRAWN_FORMULAS, DECLARATIONS, CODE, CALLOUTS, FOOTNOTES)


def normalize_sources(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite formulas, tasks and players; show lazy images and what callouts fold up.

    Formulas become the element that `tree` names, players links to what they play.

    Args:
        tree: a page with everything it came with, scripts included; it is changed.
        removals: of this page.
    """
    _rewrite(tree, removals, _SOURCES, _SOURCE_MARKS)


def normalize_text(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite posts, code, callouts and footnotes, and take formulas out of what drew them.

    Args:
        tree: after `normalize_sources`, without what is hidden by style; it is changed.
        removals: of this page.
    """
    _rewrite(tree, removals, _TEXT, _TEXT_MARKS)


def _rewrite(
    tree: LexborHTMLParser, removals: Removals, dialects: tuple[Dialect, ...], marks: str
) -> None:
    """Give a page to the dialects it has; one query tells of most that it has none of their elements."""
    names = {ANY, *(node.tag for node in tree.css(marks))}
    for dialect in dialects:
        if not names.isdisjoint(dialect.marks) and tree.css_first(dialect.selector) is not None:
            dialect.rewrite(tree, removals)


def _marks(dialects: tuple[Dialect, ...]) -> str:
    return ",".join(dialect.selector for dialect in dialects if ANY not in dialect.marks)


_SOURCE_MARKS: Final = _marks(_SOURCES)
_TEXT_MARKS: Final = _marks(_TEXT)
