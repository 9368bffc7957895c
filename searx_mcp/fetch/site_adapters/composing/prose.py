"""Markdown of strangers, read by a parser and written anew.

The text is rendered to HTML as its author's site would render it, and goes the way of every page from
there: images become words, links are made absolute, comments and hidden elements go, and what is code
stays code. So there is one place that decides what markup may leave this package.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from searx_mcp.content.clean import clean
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.fences import fence
from searx_mcp.errors import ContentError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_CHARS: Final = 100_000
"""Longer text is shown as its source: writing it anew takes 1 to 8 µs a character, and up to 54 for text
written to slow it down (`docs/decisions/tiers.md`)."""

MAX_TOTAL: Final = 200_000
"""Characters of all texts of a page that are written anew."""

_DEEPEST: Final = 6
_ACTIVE: Final = frozenset({"image", "html_inline"})
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.{0,50000}?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_HEADING = re.compile(r"#{1,6} (.+)")
_FENCE = re.compile(r"`{3,}")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_CONTENT: Final = ContentConfig()


def from_markdown(text: str, *, base: str, root: str = "", shift: int = 0) -> str:
    """Write Markdown anew.

    Args:
        text: Markdown with GFM tables and raw HTML.
        base: the address that relative links start from.
        root: the address that links from the root start from, without a slash at its end; that of the
            site if empty.
        shift: levels that headings go down.

    Returns:
        Clean Markdown without images and raw HTML; empty if there is no text.
    """
    text = clean(text)
    if len(text) > MAX_CHARS:
        return _source(text)
    html = _html(text, root=root, shift=shift)
    written = _converted(html, base=base)
    return written if _is_inert(written) else _source(text)


@dataclass(slots=True)
class Prose:
    """Writes the texts of one page anew, and shows as their source what would take too long.

    Attributes:
        base: the address that relative links start from.
        root: the address that links from the root start from.
        room: characters left.
    """

    base: str
    root: str = ""
    room: int = MAX_TOTAL

    def write(self, text: str, *, shift: int = 0) -> str:
        """Write a text anew; see `from_markdown`."""
        if len(text) > self.room:
            return _source(clean(text)) if text.strip() else ""
        self.room -= len(text)
        return from_markdown(text, base=self.base, root=self.root, shift=shift)


def from_html(html: str, *, base: str) -> str:
    """Write HTML as Markdown; empty if there is no text in it."""
    written = _converted(html, base=base)
    return written if _is_inert(written) else fence(clean(html).strip("\n"), language="html")


def _source(text: str) -> str:
    return fence(text.strip("\n"), language="markdown")


def _converted(html: str, *, base: str) -> str:
    from searx_mcp.content.html.fragment import (  # noqa: PLC0415 - 0.1 s that few calls need
        fragment_content,
    )
    from searx_mcp.content.markdown import to_markdown  # noqa: PLC0415 - likewise

    try:
        # Cleaned before it is converted: a character that vanishes later could join two halves of
        # markup that the converter found harmless apart.
        return to_markdown(clean(fragment_content(html, url=base)), config=_CONTENT)
    except ContentError:
        return ""


def front_matter(text: str) -> tuple[str, str]:
    """Split the metadata off a Markdown file.

    Returns:
        The YAML between the marks, empty if there is none, and the rest.
    """
    match = _FRONT_MATTER.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def first_heading(markdown: str) -> str:
    """The text of the first heading in Markdown that was written here; empty if there is none."""
    closing = ""
    for line in markdown.split("\n"):
        if closing:
            closing = "" if line == closing else closing
        elif fence_marks := _FENCE.match(line):
            closing = fence_marks[0]
        elif match := _HEADING.match(line):
            return _ESCAPE.sub("", match[1])
    return ""


def _html(text: str, *, root: str, shift: int) -> str:
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + shift, _DEEPEST)}"
        for child in token.children or ():
            href = child.attrGet("href")
            if root and isinstance(href, str) and href.startswith("/") and href[1:2] != "/":
                child.attrSet("href", root + href)
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered


def _is_inert(markdown: str) -> bool:
    """Whether a parser finds no image and no HTML in what was written.

    The converter sees to that; this looks again, since hosts obey a parser and not the converter.
    """
    for token in _parser().parse(markdown):
        children = token.children or ()
        if token.type == "html_block" or any(child.type in _ACTIVE for child in children):
            return False
    return True


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as above

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
