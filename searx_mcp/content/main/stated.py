"""The text that a page gives for its own in JSON-LD, found again in its elements."""

import re
from typing import Final

from searx_mcp.content.main.measure import Element, live

_MIN_CHARS: Final = 500
"""A shorter text is a description, which stands in many places."""

_ENDS: Final = 6
"""Words at the beginning and at the end by which the text is found."""

_LEAST: Final = 0.7
_MOST: Final = 1.5
"""Characters of the element that is taken for it, by those of the text."""

_FALLBACK_CHARS: Final = 150
_FALLBACK: Final = 0.5
"""With less than this of the text's characters in them, the elements do not hold it. WCXB dev product .598
with it, .593 without."""

_BLOCK: Final = 40
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"<[^<>]{1,500}>")
_BREAK: Final = re.compile(r"<(?:/p|br|/h[1-6]|/li|/div)\b[^<>]{0,100}>", re.IGNORECASE)


def element_of(body: str, elements: list[Element]) -> Element | None:
    """Find the element that holds a text and little else.

    Args:
        body: the text.
        elements: of the page.

    Returns:
        `None` if it is too short to be found, or is not there as it is said.
    """
    if len(body) < _MIN_CHARS:
        return None
    words = _words(body)
    begin, end = " ".join(words[:_ENDS]), " ".join(words[-_ENDS:])
    first: Element | None = None
    last: Element | None = None
    for element in live(elements):
        if element.run >= _BLOCK and element.elements < element.run:
            text = " ".join(_words(element.node.text()))
            if first is None and begin in text:
                first = element
            if end in text:
                last = element
    if first is None or last is None or last.start < first.start:
        return None
    around = _around(first, last)
    return around if _LEAST * len(body) <= around.text <= _MOST * len(body) else None


def fallback(body: str, roots: list[Element]) -> str:
    """The text itself, if the elements hold too little to be it.

    Returns:
        Plain text in paragraphs; empty if the elements are enough.
    """
    if len(body) < _FALLBACK_CHARS or sum(root.text for root in roots) >= _FALLBACK * len(body):
        return ""
    return _TAG.sub(" ", _BREAK.sub("\n\n", body)).strip() if "<" in body else body


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _around(first: Element, last: Element) -> Element:
    """The innermost element around both, or the one that is around the other."""
    if first.end >= last.end:
        return first
    return next(above for above in first.ancestors() if above.end >= last.end)
