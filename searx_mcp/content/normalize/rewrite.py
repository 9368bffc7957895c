"""Rewrites the many dialects of HTML to one form.

There are two steps, because style sheets hide in both directions. Formulas have their source in hidden text, and
task boxes and players are elements that are otherwise removed: they are rewritten first, in place, so that a style
that hides them still does. Code, callouts and footnotes become text or move: everything hidden must be removed
before.

A dialect is complete in its module, including how it is recognised. This module only sets the order.
"""

from typing import Final

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.normalize.code_blocks import CODE
from searx_mcp.content.normalize.documentation import CALLOUTS, DECLARATIONS, FOLDED_CALLOUTS
from searx_mcp.content.normalize.footnotes import FOOTNOTES
from searx_mcp.content.normalize.formulas import (
    DRAWN_FORMULAS,
    FORMULA_IMAGES,
    FORMULAS,
    TYPED_FORMULAS,
)
from searx_mcp.content.normalize.posts import POSTS
from searx_mcp.content.normalize.replaced import LAZY_IMAGES, PLAYERS, TASKS
from searx_mcp.content.tree import ANY, Dialect, Removals

_SOURCES: Final = (
    FORMULAS, TYPED_FORMULAS, FOLDED_CALLOUTS, FORMULA_IMAGES, TASKS, LAZY_IMAGES, PLAYERS,
)  # fmt: skip
_TEXT: Final = (POSTS, DRAWN_FORMULAS, DECLARATIONS, CODE, CALLOUTS, FOOTNOTES)


def normalize_sources(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite formulas, tasks and players; show lazy images and the folded content of callouts.

    Formulas become the element that `tree` names, players links to their content.

    Args:
        tree: the complete page, including scripts; changed in place.
        removals: of this page.
    """
    _rewrite(tree, removals, _SOURCES, _SOURCE_MARKS)


def normalize_text(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite posts, code, callouts and footnotes, and take formulas out of the elements that drew them.

    Args:
        tree: after `normalize_sources`, without what styles hide; changed in place.
        removals: of this page.
    """
    _rewrite(tree, removals, _TEXT, _TEXT_MARKS)


def _rewrite(
    tree: LexborHTMLParser, removals: Removals, dialects: tuple[Dialect, ...], marks: str
) -> None:
    """Rewrite the dialects that a page has; for most, one query shows that it has none of their elements."""
    names = {ANY, *(node.tag for node in tree.css(marks))}
    for dialect in dialects:
        if not names.isdisjoint(dialect.marks) and tree.css_first(dialect.selector) is not None:
            dialect.rewrite(tree, removals)


def _marks(dialects: tuple[Dialect, ...]) -> str:
    return ",".join(dialect.selector for dialect in dialects if ANY not in dialect.marks)


_SOURCE_MARKS: Final = _marks(_SOURCES)
_TEXT_MARKS: Final = _marks(_TEXT)
