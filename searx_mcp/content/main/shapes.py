"""The shape of a block, measured on the block itself, whatever its name.

Names and headings only lower the threshold for removing a block. A block with its own content is removed only for
its shape: a thread of comments, teasers of other pages, lines about a person.
"""

import re
from bisect import bisect_left
from collections import Counter
from functools import cached_property
from typing import Final

from searx_mcp.content.main.text_density import Element, holds
from searx_mcp.content.tree import CALLOUT, HEADINGS, MATH, NOTES

_KINDS: Final = frozenset({"pre", MATH, CALLOUT, NOTES})
_LINKED: Final = 0.5
"""Linked share from which a table, definitions or a caption count as links."""

_SENTENCES: Final = 100
_LINKED_SENTENCES: Final = 0.25
"""Characters of a paragraph that is content by itself, and the share of it that may be linked."""

_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][)\]\"'\u201d\u00bb]*(?:\s|\Z)")
_MANY: Final = 2
_CAPTIONED: Final = "img,picture,video,table,pre"
_LEAST: Final = 20

_DATE: Final = re.compile(
    r"\d{1,2}\.? (?:de )?[^\W\d_]{3,10}\.?,? (?:de )?(?:19|20)\d\d\b"
    r"|[^\W\d_]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:at )?(?:19|20)\d\d\b"
    r"|\b\d{1,2}[./-]\d{1,2}[./-](?:20)?\d\d\b|\b(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}\b"
    r"|(?:19|20)\d\d ?[\u5e74\ub144] ?\d{1,2}|\b\d+ \w+ ago\b|\bvor \d+ \w+|\bhace \d+ \w+|\bil y a \d+ \w+"
)
_DIGIT: Final = re.compile(r"\d")
_DATE_LINE: Final = 120
"""Characters of a line with the date of a comment."""

_BESIDE_DATE: Final = 4
"""Most paragraphs of a comment, on average."""

_LINK_LINE: Final = 0.7
_TEASERS: Final = 2
_LINKED_TEASERS: Final = 0.08
"""Linked share of a line that is a link; least number of such lines, and least linked share of the text, in teasers."""

_ITEMS: Final = 3
_MOST: Final = 0.4
"""A block with more of a page's content than this is the content, whatever its shape."""

_PERSON: Final = 900
_WORD: Final = re.compile(r"[^\W\d_]+")
_FIRST: Final = 12
_NAME_CHARS: Final = 3
_SUBJECT: Final = 30
"""A page that says a word more often than this is about it. A section about it is not one about a person."""


class Shapes:
    """The shapes of the blocks of one page."""

    def __init__(self, elements: list[Element], author: str) -> None:
        self._elements = elements
        self._author = frozenset(word for word in _WORD.findall(author) if len(word) >= _NAME_CHARS)
        self._headings = [element.start for element in elements if element.tag in HEADINGS]
        self._contents = [element.start for element in elements if _is_content(element)]

    @cached_property
    def _words(self) -> Counter[str]:
        return Counter(_WORD.findall(self._elements[0].node.text(separator=" ")))

    @cached_property
    def _dates(self) -> list[int]:
        return [
            element.start
            for element in self._elements
            if element.tag == "time"
            or (
                0 < element.text <= _DATE_LINE
                # Most lines have no digit, which shows in a fiftieth of the time.
                and _DIGIT.search(text := element.node.text(separator=" "))
                and _DATE.search(text)
            )
        ]

    @cached_property
    def _link_lines(self) -> list[int]:
        return [
            element.start
            for element in self._elements
            if element.tag == "a"
            and element.text
            and element.parent is not None
            and element.run >= _LINK_LINE * element.parent.run
        ]

    def has_content(self, block: Element) -> bool:
        """Whether a block has its own content."""
        return _count(block, self._contents) > 0

    def has_dates(self, block: Element) -> bool:
        """Whether a block has dates, as readers' comments do."""
        return _count(block, self._dates) > 0

    def says_its_own(self, block: Element) -> bool:
        """Whether a block has its own content, and none of the shapes of boilerplate."""
        contents = _count(block, self._contents)
        if contents > _MOST * len(self._contents):
            return True
        return contents > 0 and not (
            contents <= _BESIDE_DATE * _count(block, self._dates)
            or self._is_of_teasers(block, contents)
            or self._is_about_person(block)
        )

    def is_list(self, block: Element) -> bool:
        """Whether a block is mostly a list of items that are not links, as ingredients are, and no form."""
        items = [one for one in self._elements[block.start : block.end] if one.tag == "li"]
        said = sum(item.run - item.run_linked for item in items)
        return (
            len(items) >= _ITEMS
            and 0 < block.text <= said * 2
            and block.node.css_first("form") is None
        )

    def _is_of_teasers(self, block: Element, contents: int) -> bool:
        """Whether there is a line that is a link for every piece of content in a block."""
        return (
            _count(block, self._link_lines) >= contents >= _TEASERS
            and block.linked >= _LINKED_TEASERS * block.text
        )

    def _is_about_person(self, block: Element) -> bool:
        """Whether a short block is about the page's author, or about a person whose name is repeated at its start."""
        if block.text > _PERSON or block.node.css_first("pre,table,dl,figure") is not None:
            return False
        words = _WORD.findall(block.node.text(separator=" "))[:_FIRST]
        if not self._author.isdisjoint(words):
            return True
        names = Counter(word for word in words if word[0].isupper() and len(word) >= _NAME_CHARS)
        repeated = [name for name, count in names.items() if count > 1]
        if not repeated or not holds(block, self._headings):
            return bool(repeated)
        return min(map(self._words.__getitem__, repeated)) <= _SUBJECT


def _count(block: Element, places: list[int]) -> int:
    return bisect_left(places, block.end) - bisect_left(places, block.start)


def _is_content(element: Element) -> bool:
    if element.tag in _KINDS:
        return True
    if element.run >= _SENTENCES and element.run_linked < _LINKED_SENTENCES * element.run:
        # An element with much more than its own line is not read.
        return element.text > 2 * element.run or len(_END.findall(element.node.text())) >= _MANY
    if element.text < _LEAST:
        return False
    if element.tag == "table":
        return _is_data(element)
    if element.linked > _LINKED * element.text:
        return False
    return element.tag == "dl" or (
        element.tag == "figure"
        and any(child.tag == "figcaption" and child.text for child in element.children)
        and element.node.css_first(_CAPTIONED) is not None
    )


def _is_data(table: Element) -> bool:
    parts = [table, *(part for part in table.children if part.tag != "tr")]
    rows = [row for part in parts for row in part.children if row.tag == "tr"]
    # Rows that describe a link: its type, a description.
    said = [row for row in rows if len(row.children) > 1 and row.linked < row.text]
    return (
        len(said) > 1
        and len(said) * 2 > len(rows)
        and not any(row.prose > _SENTENCES * len(row.children) for row in rows)
    )
