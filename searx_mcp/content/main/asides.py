"""Lines of an article that are not its text: its author and date, picture credits, what to read next.

A line is an element that directly contains text and no block. Headings, items, cells and quotes do not count, and
no part of a line is removed.
"""

import re
from itertools import islice, pairwise
from typing import Final

from searx_mcp.content.main.related_links import paragraph_starts
from searx_mcp.content.main.sections import leads_away
from searx_mcp.content.main.text_density import INLINE, LONG_CHARS, Element, live
from searx_mcp.content.tree import CANONICAL, HEADINGS, RemovalRule, text_of

_LINES: Final = frozenset({
    "address", "aside", "center", "div", "figcaption", "figure", "footer", "header", "p", "section",
})  # fmt: skip
_INSIDE: Final = CANONICAL | {"blockquote", "dd", "dl", "dt", "li", "ol", "table", "td", "th", "ul"}

_MAX_CHARS: Final = 250
_MAX_WORDS: Final = 20
_MAX_EDGE_WORDS: Final = 12
_MAX_LABEL: Final = 40
_BESIDE_DATE: Final = 6
"""Words next to a date: "Last updated on" with a name, "4 min read"."""

_LINKED: Final = 0.9
_MAX_LINKS: Final = 6
"""Separate links with different texts; if there are more, they name the subjects of the text, as in a news
overview."""

_PICTURES: Final = frozenset({"figure", "figcaption"})

_CAPTION = re.compile(
    r"(?<![a-zA-Z])(?:captions?|bildunterschrift|bildtext|legende)(?![a-z])|Captions?(?![a-z])"
)
_NOT_AROUND: Final = CANONICAL | HEADINGS | {"a", "figcaption", "table"}
_CAPTIONS: Final = frozenset({"cite", "div", "em", "i", "p", "small", "span"})
_MAX_CAPTION: Final = 600
_COUNTER: Final = re.compile(
    r"\W*(?:[^\W\d_]+ )?\d+ ?(?:/|of|von|de|di|sur|van|из) ?\d+\W*", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"[^\W\d_]+\.? ?\d")
_CAPTION_WORDS: Final = 3
_UP: Final = 3
_FIGURE: Final = 30
"""Ancestors of a caption, and elements in each of them, in which its picture is searched for."""
_REPEATS: Final = 0.8
"""Share of a caption's words that its picture already has."""
_NO_CAPTION: Final = "img, h1, h2, h3, h4, h5, h6, table, pre, figcaption"
"""Not in a caption: an author who gives such a name to a box with a picture means the box."""


_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f\uff1a][)\]\"'\u201d\u00bb]*\Z")
_DATE = re.compile(
    r"\d{1,2}\.? (?:de )?[^\W\d_]{3,10}\.?,? (?:de )?(?:19|20)\d\d\b"
    r"|[^\W\d_]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d\b"
    r"|\b\d{1,2}[./-]\d{1,2}[./-](?:20)?\d\d\b|\b(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}\b"
    r"|(?:19|20)\d\d ?[\u5e74\ub144] ?\d{1,2}"
)
_VERSION = re.compile(r"\d\.\d")
_ADDRESS = re.compile(r"https?://\S+")
_CREDITS: Final = (
    r"(?:(?:photo(?:graph(?:y|ie)?)?|image|picture|illustration|imagen|immagine|foto|bild|screenshot|zdj\u0119cie|"
    r"\u0444\u043e\u0442\u043e)s?\W*(?:(?:image|photo|picture) )?"
    r"(?:credits?|courtesy|by|source|from|via|of|von|par|por|:|/|\u00a9|\(c\))"
    r"|credits?\b|cr\u00e9dits?\b|courtesy\b|\u00a9|\(c\)"
    r"|(?:source|quelle|fuente|fonte|bron|\u0438\u0441\u0442\u043e\u0447\u043d\u0438\u043a):)"
)
_CREDIT = re.compile(rf"\W*{_CREDITS}", re.IGNORECASE)
_CREDITED = re.compile(rf"\s*(?:\u00a9|\(c\)|[.!?(\[|/\u2013-]\s*{_CREDITS})", re.IGNORECASE)
"""Where the credit of a caption begins."""

_BY = re.compile(
    r"\W*(?:(?:(?:written|posted|published|reviewed|edited|story|words|fact.checked) )?by|von|par|por|di|"
    r"door|av|autor(?:in)?|author|auteur|autore|\u0430\u0432\u0442\u043e\u0440)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"\W*(?:also|read|see|more|learn more|check out|lesen|mehr|lire|leer|lea|lee|leggi|leia|lees|"
    r"czytaj|\u0447\u0438\u0442\u0430\u0439\u0442\u0435)\b",
    re.IGNORECASE,
)


def take_out_asides(elements: list[Element], root: Element) -> None:
    """Remove the lines of an article that are not its text.

    Args:
        elements: of the page.
        root: contains the main content.
    """
    rule = _Asides(elements, root)
    links: list[Element] = []
    for element in live(elements, root):
        if _is_line(element):
            if rule.holds(element):
                element.take_out(RemovalRule.LINE)
            elif _is_only_link(element):
                links.append(element)
    if len({text_of(element.node) for element in links}) <= _MAX_LINKS:
        for element in links:
            element.take_out(RemovalRule.LINE)
    heading = _last_heading(elements, root)
    if heading is not None and not text_of(heading.node).endswith(("?", "\uff1f")):
        heading.take_out(RemovalRule.LINE)


def take_out_end(elements: list[Element], root: Element) -> None:
    """Remove the last lines of documentation: its version and date, and the program that made it."""
    lines = [
        element for element in live(elements, root) if element.run and element.tag not in INLINE
    ]
    for before, line in reversed(list(pairwise(lines))):
        shown = text_of(line.node)
        is_dated = _DATE.search(shown) and not _END.search(shown)
        is_beside = line.parent is not before.parent and (
            _VERSION.search(shown)
            or _CREDIT.match(shown)
            or (line.links and not _END.search(shown))
        )
        if (
            not _is_line(line)
            or before.tag in HEADINGS
            or len(_WORD.findall(shown)) > _MAX_WORDS
            or not (is_dated or is_beside)
        ):
            return
        line.take_out(RemovalRule.LINE)


def lead(elements: list[Element], title: Element, root: Element) -> list[Element]:
    """The paragraph between the title of an article and its text, with the prose after it in the same block.

    Many pages write it beside the text. A shorter line there is as often a motto, a caption or a byline.
    """
    rule = _Asides(elements, root)
    for element in live(elements):
        if (
            title.end <= element.start < root.start
            and element.text == element.run >= LONG_CHARS
            and element.tag not in INLINE
            and element.parent is not None
            and not (rule.holds(element) or _is_of_picture(element))
        ):
            return [
                part
                for part in element.parent.children
                if part.prose
                and not part.is_out
                and element.start <= part.start < part.end <= root.start
            ]
    return []


def _is_of_picture(line: Element) -> bool:
    return (
        line.tag == "figcaption"
        or line.is_inside(_PICTURES)
        or _CAPTION.search(line.names) is not None
    )


def captions(elements: list[Element], root: Element) -> list[Element]:
    """The captions of an article, including those recognised only by class names; only outermost ones.

    Of 239 lines with such names in WCXB dev, 214 are not part of the text.
    """
    found: list[Element] = []
    for element in live(elements, root):
        if (
            0 < element.text <= _MAX_CAPTION
            and (not found or element.start >= found[-1].end)
            and (element.tag == "figcaption" or _is_named_caption(element))
        ):
            found.append(element)
    return found


def words_beside(elements: list[Element], root: Element) -> set[str]:
    """The words in the paragraphs of an article."""
    starts = set(paragraph_starts(elements, root))
    texts = (elements[start].node.text().lower() for start in starts)
    return {word for text in texts for word in _WORD.findall(text)}


def _is_named_caption(element: Element) -> bool:
    return bool(
        element.names
        and element.tag in _CAPTIONS
        and _CAPTION.search(element.names)
        and not element.is_in_sentence
        and not element.is_inside(_NOT_AROUND)
        and element.node.css_first(_NO_CAPTION) is None
    )


def is_needed(caption: Element, said: set[str]) -> bool:
    """Whether a caption says more than a credit, a counter such as "1 of 5", or the picture's alternative text.

    A credit at its end does not count; it stays with what is needed.
    """
    shown = text_of(caption.node)
    if _COUNTER.fullmatch(shown) or _CREDIT.match(shown):
        return False
    words = _WORD.findall(_CREDITED.split(shown, maxsplit=1)[0].lower())
    if len(words) < _CAPTION_WORDS or _NUMBERED.match(shown):
        return _NUMBERED.match(shown) is not None
    for around in islice(caption.ancestors(), _UP):
        if around.elements > _FIGURE:
            break
        for image in around.node.css("img[alt]"):
            said = said | set(_WORD.findall((image.attributes.get("alt") or "").lower()))
    return sum(word in said for word in words) < _REPEATS * len(words)


class _Asides:
    """The rules for the lines of one root."""

    def __init__(self, elements: list[Element], root: Element) -> None:
        texts = paragraph_starts(elements, root)
        self._first, self._last = (texts[0], texts[-1]) if texts else (root.start, root.end)

    def holds(self, line: Element) -> bool:
        """Whether a line is not part of the text."""
        shown = text_of(line.node)
        words = len(_WORD.findall(shown))
        is_edge = not self._first <= line.start <= self._last
        if _leads_on(line, shown):
            return True
        if words > _MAX_WORDS:
            return False
        if _CREDIT.match(shown) or (not line.links and _ADDRESS.fullmatch(shown)):
            return True
        return is_edge and words <= _MAX_EDGE_WORDS and self._is_byline(shown)

    def _is_byline(self, shown: str) -> bool:
        if _END.search(shown):
            return False
        rest, dates = _DATE.subn(" ", shown)
        if dates:
            return len(_LETTERS.findall(rest)) <= _BESIDE_DATE
        return _BY.match(shown) is not None


def _is_line(element: Element) -> bool:
    return (
        element.tag in _LINES
        and 0 < element.run <= _MAX_CHARS
        and element.text == element.run
        and not element.is_inside(_INSIDE)
    )


def _leads_on(line: Element, shown: str) -> bool:
    """Whether a line is a label, such as "Read also:", followed by links."""
    if not 0 < line.run_linked < line.run:
        return False
    links = [text for link in line.node.css("a") if (text := text_of(link))]
    label, _, rest = shown.partition(links[0]) if links else (shown, "", "")
    for text in links[1:]:
        rest = rest.replace(text, "", 1)
    if len(label) > _MAX_LABEL or _LETTERS.search(rest):
        # With words between or after the links it is a sentence.
        return False
    return leads_away(label) or _ALSO.match(label) is not None


def _is_only_link(line: Element) -> bool:
    """Whether a line is a link that is neither a sentence nor an address."""
    if line.links != 1 or line.run_linked < _LINKED * line.run:
        return False
    shown = text_of(line.node)
    return (
        1 < len(_WORD.findall(shown)) <= _MAX_WORDS
        and "://" not in shown
        and not _END.search(shown)
        and line.node.css_first("img") is None
    )


def _last_heading(elements: list[Element], root: Element) -> Element | None:
    """The heading at the end with nothing below it."""
    found: Element | None = None
    for element in live(elements, root):
        if element.tag in HEADINGS and element.text:
            found = element
        elif found is not None and element.run and element.start >= found.end:
            found = None
    return found
