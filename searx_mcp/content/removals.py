"""What is taken out of a page on its way to Markdown, each time with the rule that says so."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from selectolax.lexbor import LexborNode


class Rule(StrEnum):
    """Why a block of a page is not in its Markdown."""

    UNSEEN = "unseen"
    """A script, a control, or marked as hidden."""

    HIDDEN = "hidden"
    """Hidden by style."""

    PANEL = "panel"
    """A panel of tabs, or a folded text, whose label is hidden."""

    CODE = "code"
    """A label, a button or line numbers of a block of code."""

    POST = "post"
    """What folds threads, scores, and what is said twice in a post."""

    LANDMARK = "landmark"
    """Navigation, a dialog or an aside, by element or role."""

    HEADER = "header"
    FOOTER = "footer"
    FORM = "form"
    """A form to fill in, with what introduces it."""

    CONSENT = "consent"
    """Asks for consent."""

    NAMED = "named"
    """Said to be no content by its class."""

    SECTION = "section"
    """A section whose heading says that it leads elsewhere."""

    CARDS = "cards"
    """A row of cards that lead to other pages."""

    LINKS = "links"
    """A list of nothing but links."""

    REPEATED = "repeated"
    """A short link that recurs."""

    LINE = "line"
    """A byline, a date, a credit, or a label with links, around the text of an article."""

    CAPTION = "caption"
    """A caption of an article that says whose the picture is, or what the picture's words say."""

    BESIDE = "beside"
    """Stands beside what holds the content."""


class Removals:
    """Counts what is taken out, by rule.

    Attributes:
        counts: blocks, by rule.
        texts: what they said, in order, with the rule; only if that was asked for.
    """

    def __init__(self, *, keeps_texts: bool = False) -> None:
        self.counts: Final[Counter[Rule]] = Counter()
        self.texts: Final[list[tuple[Rule, str]]] = []
        self._keeps_texts = keeps_texts

    def note(self, node: LexborNode, rule: Rule) -> None:
        """Count what stays in the tree, but will not be written."""
        self.counts[rule] += 1
        if self._keeps_texts and (text := node.text(separator=" ").strip()):
            self.texts.append((rule, text))

    def remove(self, node: LexborNode, rule: Rule) -> None:
        """Take an element out of the tree."""
        self.note(node, rule)
        node.decompose()

    def remove_all(self, nodes: Iterable[LexborNode], rule: Rule) -> None:
        """Take elements out of the tree."""
        for node in nodes:
            self.remove(node, rule)

    def clear(self) -> None:
        """Begin again, for the same page."""
        self.counts.clear()
        self.texts.clear()
