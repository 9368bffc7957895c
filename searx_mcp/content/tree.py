"""The tree of a page: our own elements, queries for others, small changes, and what is removed, by rule.

HTML has no element for formulas, callouts, footnotes and tasks. The elements named here represent them: the search
for the main content leaves them alone, and the Markdown writer knows no others. A page that uses the same names is
read as if it meant them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode


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


MATH: Final = "x-math"
"""LaTeX as its only text; `display="block"` for a formula outside a line."""

CALLOUT: Final = "x-callout"
"""A callout: `kind` in lower case, `title` if the page has one that differs from the kind."""

REFERENCE: Final = "x-reference"
"""A reference to a footnote; `name` of the note. It has no content."""

NOTES: Final = "x-notes"
"""The footnotes of the page, each a `NOTE`."""

NOTE: Final = "x-note"
"""One footnote with its `name`; without the link back."""

TASK: Final = "x-task"
"""The checkbox of a task; `done` if it is ticked. It has no content."""

CANONICAL: Final = frozenset({MATH, CALLOUT, REFERENCE, NOTES, NOTE, TASK, "pre", "code"})
"""Elements in the common form, which no rule of the search for the main content removes by themselves."""

ANY: Final = ""
"""The name of any element, among the marks of a dialect."""

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE
)
_STYLE_CHARS: Final = 2_000
_KEPT: Final = ("class", "style", "id", "hidden")
"""A style sheet may hide an element by these: its replacement must have them."""
_BLANK_SIBLINGS: Final = 8
_MOST_LOOKED_AT: Final = 400
"""Nodes that are read in an element that may be a label, a title or a button."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A construct that pages write in several ways, with its conversion to the common form.

    Attributes:
        marks: by element name, a selector for its further conditions: `{"img": "[alt]", "iframe": ""}`. A page
            without a match is never passed to `rewrite`. Most elements of a page fail by their name, in a third of
            the time; `ANY` costs a separate query.
        rewrite: changes a tree, and records what it removes.
    """

    marks: Mapping[str, str]
    rewrite: Callable[[LexborHTMLParser, Removals], None]

    @property
    def selector(self) -> str:
        """All marks."""
        return ",".join(f"{name}{condition}" for name, condition in self.marks.items())


def classes(node: LexborNode) -> list[str]:
    """The classes of an element, in lower case."""
    return (node.attributes.get("class") or "").lower().split()


def style(node: LexborNode) -> str:
    """The inline style of an element, in lower case; the beginning of a very long one."""
    return (node.attributes.get("style") or "")[:_STYLE_CHARS].lower()


def is_hidden(node: LexborNode) -> bool:
    """Whether the element itself declares that it is hidden; style sheets are not read."""
    return "hidden" in node.attributes or _HIDING.search(style(node)) is not None


def text_of(node: LexborNode) -> str:
    """All text in an element, with single spaces."""
    return " ".join(node.text().split())


def new(tree: LexborHTMLParser, tag: str, text: str = "", **attributes: str) -> LexborNode:
    """Create an element outside the tree."""
    node = tree.create_node(tag)
    for name, value in attributes.items():
        node.attrs[name] = value
    if text:
        node.insert_child(text)
    return node


def carry(old: LexborNode, node: LexborNode) -> None:
    """Copy the attributes by which style sheets may hide an element to its replacement."""
    attributes = old.attributes
    for name in _KEPT:
        if name in attributes and name not in node.attributes:
            node.attrs[name] = attributes[name] or ""


def put_in_place(old: LexborNode, node: LexborNode) -> None:
    """Replace an element of the tree by a new one."""
    old.insert_before(node, move=True)
    old.decompose()


def empty(node: LexborNode) -> None:
    """Remove all children."""
    for child in children(node):
        child.decompose()


def children(node: LexborNode) -> list[LexborNode]:
    """The children of an element, including texts."""
    found = []
    child = node.first_child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def move_children(source: LexborNode, target: LexborNode) -> None:
    """Move all children of an element to the end of another one."""
    for child in children(source):
        target.insert_child(child, move=True)


def ancestors(node: LexborNode, most: int) -> Iterator[LexborNode]:
    """The ancestors of a node, from the inside out, without `body`."""
    parent = node.parent
    for _ in range(most):
        if parent is None or parent.tag in {"body", "html", "-document"}:
            return
        yield parent
        parent = parent.parent


def is_attached(node: LexborNode) -> bool:
    """Whether a node is still in a tree: it has siblings or a parent."""
    return node.parent is not None


def is_blank(node: LexborNode) -> bool:
    """Whether it is a comment or a text of white space."""
    if node.is_text_node:
        return not (node.text_content or "").strip()
    return node.is_comment_node


def solid(node: LexborNode) -> list[LexborNode]:
    """The children that are not blank."""
    return [child for child in children(node) if not is_blank(child)]


def neighbour(node: LexborNode, *, forward: bool) -> LexborNode | None:
    """The next or previous sibling that is not blank, or the last one within a few steps; `None` if there is none."""
    found = node.next if forward else node.prev
    for _ in range(_BLANK_SIBLINGS):
        if found is None or not is_blank(found):
            return found
        found = found.next if forward else found.prev
    return found


def first_solid(node: LexborNode) -> LexborNode | None:
    """The first child that is not blank."""
    child = node.first_child
    while child is not None and is_blank(child):
        child = child.next
    return child


def is_alone(node: LexborNode) -> bool:
    """Whether a node has only blank siblings."""
    return neighbour(node, forward=False) is None and neighbour(node, forward=True) is None


def few(node: LexborNode, most: int) -> list[LexborNode]:
    """The children that are not blank; none if there are more than `most` children.

    Use it for a query on every child of an element: reading all of them would be quadratic.
    """
    found: list[LexborNode] = []
    child = node.first_child
    for _ in range(most):
        if child is None:
            return found
        if not is_blank(child):
            found.append(child)
        child = child.next
    return found if child is None else []


def short_text(node: LexborNode, most: int) -> str:
    """All text in an element with single spaces; empty if it is longer than `most` characters.

    It reads no further than it needs: an element with half the page costs next to nothing.
    """
    if node.is_text_node:
        text = " ".join((node.text_content or "").split())
        return text if len(text) <= most else ""
    parts = []
    size = 0
    for place, part in enumerate(node.traverse(include_text=True)):
        if part.is_text_node:
            text = part.text_content or ""
            size += len(text.strip())
            parts.append(text)
        if size > most or place > _MOST_LOOKED_AT:
            return ""
    text = " ".join("".join(parts).split())
    return text if len(text) <= most else ""


def has_text(node: LexborNode) -> bool:
    """Whether an element contains any text."""
    return any(
        part.is_text_node and not is_blank(part) for part in node.traverse(include_text=True)
    )
