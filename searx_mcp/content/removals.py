"""What is removed from a page on its way to Markdown, with the rule that removed it."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from selectolax.lexbor import LexborNode


class RemovalRule(StrEnum):
    """Why a block of a page is not in its Markdown."""

    UNSEEN = "unseen"
    """A script, a control, or marked as hidden."""

    HIDDEN = "hidden"
    """Hidden by style."""

    PANEL = "panel"
    """A panel of tabs, or a folded text, whose label is hidden."""

    CODE = "code"
    """A label, a button or line numbers at a block of code."""

    POST = "post"
    """Controls that fold threads, scores, and repetitions in a post."""

    LANDMARK = "landmark"
    """Navigation, a dialog or an aside, by element or role."""

    HEADER = "header"
    FOOTER = "footer"
    FORM = "form"
    """A form to fill in, with its introduction."""

    CONSENT = "consent"
    """Asks for consent."""

    NAMED = "named"
    """Not content, by its class."""

    SECTION = "section"
    """A section that leads to other pages, by its heading."""

    CARDS = "cards"
    """A row of cards that lead to other pages."""

    LINKS = "links"
    """A list that contains only links."""

    REPEATED = "repeated"
    """A short link that recurs."""

    LINE = "line"
    """A byline, a date, a credit, or a label with links, around the text of an article."""

    CAPTION = "caption"
    """A caption of an article that is only a credit, or repeats the picture's alternative text."""

    BESIDE = "beside"
    """Next to the element with the content."""


class Removals:
    """Counts what is removed, by rule.

    Attributes:
        counts: blocks, by rule.
        texts: the removed texts, in order, with the rule; only on request.
    """

    def __init__(self, *, keeps_texts: bool = False) -> None:
        self.counts: Final[Counter[RemovalRule]] = Counter()
        self.texts: Final[list[tuple[RemovalRule, str]]] = []
        self._keeps_texts = keeps_texts

    def note(self, node: LexborNode, rule: RemovalRule) -> None:
        """Count a node that stays in the tree, but will not be written."""
        self.counts[rule] += 1
        if self._keeps_texts and (text := node.text(separator=" ").strip()):
            self.texts.append((rule, text))

    def remove(self, node: LexborNode, rule: RemovalRule) -> None:
        """Remove an element from the tree."""
        self.note(node, rule)
        node.decompose()

    def remove_all(self, nodes: Iterable[LexborNode], rule: RemovalRule) -> None:
        """Remove elements from the tree."""
        for node in nodes:
            self.remove(node, rule)

    def clear(self) -> None:
        """Start again, for the same page."""
        self.counts.clear()
        self.texts.clear()
