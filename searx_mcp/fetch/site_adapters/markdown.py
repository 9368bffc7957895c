"""Markdown from texts of services and strangers.

Names are untrusted, so they never become markup. Prose is parsed and written anew: it is rendered to HTML
as its site would render it, and then converted like every page. Images become words, links become absolute,
comments and hidden elements are removed, code stays code. So one place decides which markup may leave this
package.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from yarl import URL

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.markdown import escape, fence, safe_address
from searx_mcp.errors import ContentError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_NAME: Final = 200
_MAX_URL: Final = 2_000
_MAX_VALUE: Final = 1_000
_BRACKETS: Final = str.maketrans("[]", "()")
_CLOSING_MARKS = re.compile(r"(?:(?<=\s)|^)(#+)$")

MAX_CHARS: Final = 100_000
"""Longer text is shown as source: writing it anew takes 1 to 8 µs a character, and up to 54 for text
written to slow it down (`docs/decisions/tiers.md`)."""

MAX_TOTAL: Final = 200_000
"""Limit of characters that are written anew, for all texts of a page."""

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


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """A link to write.

    Attributes:
        label: plain text.
        url: its target; without a web address, only the label is written.
    """

    label: str
    url: str


Value = str | MarkdownLink | int | None
"""Plain text, a link or a number; empty ones are not written."""


def heading(level: int, text: str) -> str:
    """Write a heading of plain text, cut to one line."""
    line = _CLOSING_MARKS.sub(r"\\\1", escape(clean_line(text, MAX_NAME)))
    return f"{'#' * level} {line}"


def facts(pairs: Iterable[tuple[str, Value]]) -> str:
    """Write a list of labels and values; labels are ours."""
    return "\n".join(
        f"- {written}" for label, value in pairs if (written := _written(value, label=f"{label}: "))
    )


def bullets(values: Iterable[Value]) -> str:
    """Write a list of values."""
    return "\n".join(f"- {written}" for value in values if (written := _written(value)))


def plain(text: str, most: int = MAX_NAME) -> str:
    """Write plain text on one line, as Markdown."""
    return escape(clean_line(text, most))


def link(label: str, url: str) -> str:
    """Write a link, or only its label if the address should not be followed."""
    shown = plain(label.translate(_BRACKETS))
    destination = web_address(url)
    return f"[{shown}]({destination})" if shown and destination else shown


def web_address(url: str) -> str:
    """Write a web address as a link destination; empty for any other."""
    if not 0 < len(url) <= _MAX_URL:
        return ""
    try:
        parsed = URL(clean_line(url, _MAX_URL))
    except ValueError:
        return ""
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        return ""
    return safe_address(str(parsed.with_user(None)))


def joined(*blocks: str) -> str:
    """Join blocks of Markdown, leaving out empty ones."""
    return "\n\n".join(stripped for block in blocks if (stripped := block.strip("\n")))


def capped(values: list[str], most: int) -> str:
    """Write names on one line, with the number of those left out."""
    shown = ", ".join(values[:most])
    return f"{shown} and {len(values) - most:,} more" if len(values) > most else shown


def size(count: int | None) -> str:
    """Write a number of bytes for a reader."""
    if count is None:
        return ""
    if count < 1 << 10:
        return f"{count} bytes"
    return f"{count / (1 << 10):,.0f} KB" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MB"


def _written(value: Value, *, label: str = "") -> str:
    """Write a value after its label; empty if it is empty."""
    match value:
        case None | "":
            return ""
        case int():
            return f"{label}{value:,}"
        case MarkdownLink(label=shown, url=url):
            written = link(shown, url)
            return f"{label}{written}" if written else ""
        case str():
            # Escape by position: after a label, it is not the beginning of a line.
            return plain(f"{label}{value}", len(label) + _MAX_VALUE) if value.strip() else ""


def from_markdown(text: str, *, base: str, root: str = "", shift: int = 0) -> str:
    """Rewrite Markdown.

    Args:
        text: Markdown with GFM tables and raw HTML.
        base: base address of relative links.
        root: base of links that start with a slash, without a trailing slash; that of the site if empty.
        shift: levels to lower headings by.

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
class ProseRewriter:
    """Rewrites the texts of one page, and shows as source what would take too long.

    Attributes:
        base: base address of relative links.
        root: base of links that start with a slash.
        room: characters left.
    """

    base: str
    root: str = ""
    room: int = MAX_TOTAL

    def write(self, text: str, *, shift: int = 0) -> str:
        """Rewrite a text; see `from_markdown`."""
        if len(text) > self.room:
            return _source(clean(text)) if text.strip() else ""
        self.room -= len(text)
        return from_markdown(text, base=self.base, root=self.root, shift=shift)


def _source(text: str) -> str:
    return fence(text.strip("\n"), language="markdown")


def _converted(html: str, *, base: str) -> str:
    from searx_mcp.content.fragments import (  # noqa: PLC0415 - 0.1 s that few calls need
        fragment_markdown,
    )

    try:
        return fragment_markdown(html, url=base, config=_CONTENT)
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
    """Return the text of the first heading in Markdown written here; empty if there is none."""
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
    """Return whether a parser finds no image and no HTML in rewritten Markdown.

    The converter ensures that; this checks again, since hosts trust a parser and not the converter.
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
