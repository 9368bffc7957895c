"""The text of a page without a parser: for pages that defeat the one there is."""

import html
import re
from typing import Final

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[|\]\]>"
    r"|<(?P<raw>script|style|textarea|title|xmp|iframe|noembed|noframes)"
    r"(?=[ \t\n\f\r/>])(?:.*?</(?P=raw)(?=[ \t\n\f\r/>])[^>]*+>|.*)"
    r"|</?(?P<name>[a-zA-Z][a-zA-Z0-9]*+)[^>]*+(?:>|\Z)"
    r"|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, marks of XML, elements whose content is not read, tags, and what else the tokenizer drops.
Each piece is looked at once: what has no end takes the rest of the page."""

_TITLE = re.compile(r"<title(?:[ \t\n\f\r][^>]{0,1000})?>([^<]{0,2000})", re.IGNORECASE)

_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character reference beyond Unicode. `html.unescape` raises ValueError at 4,301 digits."""

_INLINE: Final = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
"""Elements that end no line; any other does."""

_CELLS: Final = frozenset({"td", "th"})
_SPACES = re.compile(r"\s+")


def stripped(page: str) -> str:
    """The text of a page, every block of it a paragraph.

    Nothing is known of its structure: menus are in it, and what a style hides.

    Args:
        page: HTML; any string. Linear in its length.

    Returns:
        Plain text, neither clean nor escaped.
    """
    text = _MARKUP.sub(_mark, _SPACES.sub(" ", page))
    paragraphs = (" ".join(line.split()) for line in unescaped(text).split("\n"))
    return "\n\n".join(filter(None, paragraphs))


def title_of(page: str) -> str:
    """The text of the first `<title>` of a page, or nothing."""
    found = _TITLE.search(page)
    return " ".join(unescaped(found[1]).split()) if found else ""


def unescaped(text: str) -> str:
    """Text with its character references replaced; unlike `html.unescape` it never raises."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def _mark(markup: re.Match[str]) -> str:
    name = (markup["name"] or "").lower()
    if not name or name in _INLINE:
        return ""
    return " " if name in _CELLS else "\n"
