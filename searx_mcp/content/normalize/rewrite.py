"""One form for everything that pages write in many.

There are two steps, because style sheets hide in both directions. Formulas have their source in
hidden text, boxes of tasks and players are elements that are taken out as such: they are rewritten
first, where they stand, so that what hides them goes on hiding them. Code, callouts and footnotes
become text or move: for them everything hidden must be gone before.
"""

from typing import Final

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.normalize.callouts import CALLOUTS, FOLDED, standardise_callouts, unfold
from searx_mcp.content.normalize.code.blocks import CODE, standardise_code
from searx_mcp.content.normalize.elements import classes
from searx_mcp.content.normalize.footnotes.rewrite import standardise_footnotes
from searx_mcp.content.normalize.footnotes.sidenotes import SIDENOTES, TOGGLES
from searx_mcp.content.normalize.math.formulas import FORMULAS, standardise_formulas
from searx_mcp.content.normalize.math.images import IMAGES, standardise_images
from searx_mcp.content.normalize.math.settle import settle_formulas
from searx_mcp.content.normalize.math.typed import DRAWING, standardise_typed
from searx_mcp.content.normalize.names import MATH
from searx_mcp.content.normalize.players import (
    PLAYERS,
    SNIPPETS,
    show_lazy_images,
    standardise_players,
)
from searx_mcp.content.normalize.posts import standardise_posts
from searx_mcp.content.normalize.tasks import standardise_tasks

_SOURCES: Final = f"{FORMULAS},{DRAWING},{IMAGES},{PLAYERS},{SNIPPETS},{FOLDED},noscript,input"
_TEXT: Final = f"{CODE},{CALLOUTS},{SIDENOTES},{TOGGLES},{MATH},sup"
"""What each step is about. One query tells which parts of a step a page needs."""

_NO_FORMULAS: Final = frozenset({"img", "noscript", "input", *PLAYERS.split(",")})
_PLAYERS: Final = frozenset({"script", *PLAYERS.split(",")})
_CODE: Final = frozenset({"pre", "code", "td"})
_CODE_CLASSES: Final = frozenset(
    {"cm-content", "view-lines", "code-block", "codeblock", "ltx_listing"}
)
_BOXES: Final = frozenset({"div", "aside", "details", "section", "blockquote"})
_BESIDE: Final = frozenset({"span", "small", "aside", "label"})


def standardise_sources(tree: LexborHTMLParser) -> None:
    """Rewrite formulas, tasks and players; show lazy images and what callouts fold up.

    Formulas become what `content.standard.names` says, players links to what they play.

    Args:
        tree: a page with everything it came with, scripts included; it is changed.
    """
    tags = {node.tag for node in tree.css(_SOURCES)}
    if not tags <= _NO_FORMULAS:
        standardise_formulas(tree)
        standardise_typed(tree)
        unfold(tree)
    if "img" in tags:
        standardise_images(tree)
    if "input" in tags:
        standardise_tasks(tree)
    if "noscript" in tags:
        show_lazy_images(tree)
    if not tags.isdisjoint(_PLAYERS):
        standardise_players(tree)


def standardise_text(tree: LexborHTMLParser) -> None:
    """Rewrite code, callouts and footnotes, and take formulas out of what drew them.

    Args:
        tree: after `standardise_sources`, without what is hidden by style; it is changed.
    """
    standardise_posts(tree)
    found = tree.css(_TEXT)
    tags = {node.tag for node in found}
    if MATH in tags:
        settle_formulas(tree)
    words = {word for node in found if node.tag == "div" for word in classes(node)}
    if not (tags.isdisjoint(_CODE) and words.isdisjoint(_CODE_CLASSES)):
        standardise_code(tree)
    if not tags.isdisjoint(_BOXES):
        standardise_callouts(tree)
    has_sidenotes = not tags.isdisjoint(_BESIDE)
    standardise_footnotes(tree, has_raised="sup" in tags, has_sidenotes=has_sidenotes)
