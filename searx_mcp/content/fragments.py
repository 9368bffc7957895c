"""HTML fragments as Markdown: summaries in feeds, READMEs, entries.

markdownify writes them. This module removes what a reader does not see, rewrites what markdownify would convert
wrongly or in quadratic time, and adds fences that cannot be closed by their content, tables with one line per row,
and escaping. Markdown that a fragment smuggles into its text must not become a link or an image of ours: a host
renders an image without being asked.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag
from bs4.exceptions import ParserRejectedMarkup
from markdownify import MarkdownConverter
from selectolax.lexbor import LexborNode

from searx_mcp.content.addresses import absolute
from searx_mcp.content.clean import clean
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.html.guards import guard, parse
from searx_mcp.content.html.hidden_elements import drop_hidden, drop_unseen
from searx_mcp.content.html.stylesheet import StyleSheet
from searx_mcp.content.markdown import (
    escape_line_starts,
    escape_words,
    fence,
    longest_backticks,
    safe_address,
)
from searx_mcp.content.normalize.code_blocks import CODE
from searx_mcp.content.tree import Removals
from searx_mcp.errors import ContentError, ErrorCode

_ALT_CHARS: Final = 300
_TEXT_ONLY: Final = "xmp,plaintext"
"""Their content is text that would become markup when it is serialized and parsed again."""

_MAX_COLSPAN: Final = 20
"""A span of 1,000, which browsers allow, would turn 1 MB of cells into 100 MB of pipes."""

_OWN: Final = frozenset({"a", "li", "pre", "table", "tr", "td", "th"})
_LIBRARY: Final = frozenset({
    "[document]", "article", "b", "blockquote", "br", "caption", "code", "dd", "del", "div", "dl",
    "dt", "em", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "ol", "p", "q",
    "s", "samp", "section", "strong", "ul",
})  # fmt: skip
"""markdownify finds converters by tag name, so <soup> would call its `convert_soup`."""

_LINE_BREAK = re.compile(r"\n(?!\n)")
_SPACE = re.compile(r"\s+")
_HEADING_MARK = re.compile(r"(?m)^#{1,6} ")
_BAR = re.compile(r"(?<!\\)\|")

_FAILURES: Final = (
    RecursionError, ParserRejectedMarkup, ValueError, TypeError, AttributeError, LookupError,
)  # fmt: skip
"""Errors that bs4 and markdownify are known to raise on unexpected markup."""

_BLOCKS: Final = frozenset({
    "article", "blockquote", "body", "br", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "li", "ol", "p", "pre", "section", "table", "ul",
})  # fmt: skip
"""Text after or inside one of these starts a line, where `-` and `#` are markup."""

_LAYOUT_CONTENT: Final = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
_TABLE_PARTS: Final = ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption")
_CODE: Final = ("code", "kbd", "samp")
_MARKED: Final = {
    **dict.fromkeys(("b", "del", "em", "i", "q", "s", "strong", *_CODE), "span"),
    "dd": "div",
}
"""Elements that write a mark before their content, and their replacements around code."""

_AS_DIV: Final = (
    "address", "details", "fieldset", "figure", "footer", "form", "header", "main", "nav",
    "summary",
)  # fmt: skip

_PARAGRAPHS: Final = _BLOCKS.union(_AS_DIV, _TABLE_PARTS, ["figcaption"]) - {"br"}
"""Elements that end a paragraph."""


def fragment_markdown(html: str, *, url: str, config: ContentConfig) -> str:
    """Convert a fragment.

    Args:
        html: markup from a feed or a README; any string.
        url: against which links are resolved.
        config: the limits, and whether fenced code stays.

    Returns:
        CommonMark with GFM tables, absolute links, images as alternative text; without raw HTML.

    Raises:
        ContentError: `extraction_failed`; the markup is larger or deeper than allowed, or the converter failed on
            it. Use its plain text instead.
    """
    # Cleaned before the conversion: removing a character later could join two harmless halves to markup.
    seen = clean(_seen(html, url=url))
    if len(seen.encode("utf-8", "replace")) > config.max_fragment_bytes:
        raise ContentError(
            f"the page is larger than the {config.max_fragment_bytes} bytes converted to Markdown",
            code=ErrorCode.EXTRACTION_FAILED,
        )
    try:
        soup = BeautifulSoup(seen, "html.parser")
        if _depth(soup) > config.max_fragment_depth:
            raise ContentError(
                f"the page nests elements deeper than the {config.max_fragment_depth} levels converted",
                code=ErrorCode.EXTRACTION_FAILED,
            )
        _prepare(soup)
        return str(_Converter(keep_code_blocks=config.keep_code_blocks).convert_soup(soup)).strip()
    except _FAILURES as exc:
        raise ContentError(
            "the page could not be converted to Markdown", code=ErrorCode.EXTRACTION_FAILED
        ) from exc


def _seen(html: str, *, url: str) -> str:
    """A fragment without what a reader does not see, with absolute links, images as alternative text."""
    tree = parse(guard(html))
    removals = Removals()
    drop_unseen(tree, removals)
    drop_hidden(tree, StyleSheet(), removals, is_page=False)
    CODE.rewrite(tree, removals)
    if tree.root is None or tree.body is None:
        return ""
    for node in tree.css(_TEXT_ONLY):
        node.replace_with(node.text())
    for node in [node for node in tree.root.traverse(include_text=True) if node.is_comment_node]:
        node.decompose()
    _describe_images(tree.body)
    _resolve_links(tree.body, url)
    return tree.body.html or ""


def _describe_images(root: LexborNode) -> None:
    """Replace images by their alternative text, if they have any."""
    for image in root.css("img"):
        alt = " ".join((image.attributes.get("alt") or "").split())
        alt = alt.translate({0x5B: "(", 0x5D: ")"})
        if alt:
            image.replace_with(f"[image: {alt[:_ALT_CHARS]}]")
        else:
            image.decompose()


def _resolve_links(root: LexborNode, base: str) -> None:
    """Make links absolute; one without a safe address loses it and stays as text."""
    for link in root.css("a,area"):
        href = link.attributes.get("href")
        if href is None:
            continue
        if address := absolute(base, href):
            link.attrs["href"] = address
        else:
            del link.attrs["href"]


def _depth(soup: BeautifulSoup) -> int:
    """The deepest nesting of elements, computed without recursion."""
    depths = {id(soup): 0}
    for tag in soup.find_all():
        depths[id(tag)] = depths[id(tag.parent)] + 1
    return max(depths.values())


def _prepare(soup: BeautifulSoup) -> None:
    """Rewrite what the converter would convert wrongly, or in quadratic time.

    Elements are emptied and renamed, not removed: bs4 searches all siblings of an element before it removes it, and
    100,000 <br> in one <pre> took minutes.
    """
    around: set[int] = set()
    for pre in soup.find_all("pre"):
        _keep_at_margin(pre, around)
    for code in soup.find_all(_CODE):
        if code.find_parent("pre") is None:
            _keep_on_line(code)
    for item in soup.find_all(["li", "dd"]):
        if not _is_in_place(item):
            item.name = "div"
    for ordered in soup.find_all("ol"):
        # markdownify counts the siblings before each item.
        start = _number(ordered.get("start"), default=1, most=999_999_999)
        for offset, item in enumerate(ordered.find_all("li", recursive=False)):
            item["value"] = str(start + offset)
    for block in soup.find_all(_AS_DIV):
        block.name = "div"
    _flatten_layout(soup)


def _keep_at_margin(pre: Tag, seen: set[int]) -> None:
    """Allow only the marks of quotes and lists on the line of a fence: anything else would break the fence.

    Args:
        pre: the block of code.
        seen: ids of the ancestors that were already visited; added to.
    """
    for parent in pre.parents:
        if id(parent) in seen:
            return
        seen.add(id(parent))
        if parent.name in _MARKED:
            parent.name = _MARKED[parent.name]


def _keep_on_line(code: Tag) -> None:
    """Keep code from ending a paragraph: the rest of it would become markup."""
    if code.find(_PARAGRAPHS) is not None:
        code.name = "span"
        return
    for line_break in code.find_all("br"):
        line_break.name = "span"
        line_break.append(" ")


def _is_in_place(item: Tag) -> bool:
    """Whether the mark of an item would begin a line: it is in a block, and not after text."""
    if item.parent is None or item.parent.name not in _PARAGRAPHS:
        return False
    before = item.previous_sibling
    while isinstance(before, NavigableString) and not before.strip():
        before = before.previous_sibling
    return before is None or (isinstance(before, Tag) and before.name in _PARAGRAPHS)


def _flatten_layout(soup: BeautifulSoup) -> None:
    """Turn layout tables into blocks: their cells contain blocks, which do not fit on a line."""
    layout: set[int] = set()
    for content in soup.find_all(_LAYOUT_CONTENT):
        table = content.find_parent("table")
        # If a table is already known, so are the tables around it.
        while table is not None and id(table) not in layout:
            layout.add(id(table))
            table = table.find_parent("table")
    parts = [
        part
        for part in soup.find_all(_TABLE_PARTS)
        if id(part if part.name == "table" else part.find_parent("table")) in layout
    ]
    for part in parts:
        part.name = "div"


class _Converter(MarkdownConverter):
    """markdownify with the rules of this module; one per page.

    It walks the tree, and calls `get_conv_fn` by the name of each element with the element, the Markdown of its
    children, and the names of its ancestors with the marks `_inline` (in a heading or a cell) and `_noformat` (in
    code).
    """

    def __init__(self, *, keep_code_blocks: bool) -> None:
        # `wrap` without a width joins the lines of a paragraph, and does not wrap.
        super().__init__(heading_style="atx", wrap=True, wrap_width=None)
        self._keep_code_blocks = keep_code_blocks

    def get_conv_fn(self, tag_name: str) -> Callable[..., str] | None:
        if tag_name in _OWN:
            return self._convert
        if tag_name not in _LIBRARY:
            return None
        inherited: Callable[..., str] = super().get_conv_fn(tag_name)  # type: ignore[misc] # missing in its stubs
        return inherited

    def escape(self, text: str, _parent_tags: Collection[str]) -> str:
        return escape_words(text)

    def process_text(self, el: NavigableString, parent_tags: Collection[str] = ()) -> str:
        text: str = super().process_text(el, parent_tags)  # type: ignore[misc] # missing in its stubs
        if "_noformat" in parent_tags:
            return text
        if _starts_line(el):
            text = escape_line_starts(text)
        if text[:1] in {"(", "[", ":"} and _character_before(el) in {"]", "!"}:
            return "\\" + text
        return text

    def _convert(self, el: Tag, text: str, parent_tags: Collection[str]) -> str:
        match el.name:
            case "a":
                markdown = text if "_noformat" in parent_tags else _link(el, text)
            case "li":
                markdown = _item(el, text)
            case "pre":
                markdown = _code_block(el, parent_tags) if self._keep_code_blocks else ""
            case "tr":
                markdown = f"|{text}\n" if text else ""
            case "table":
                markdown = _table(text)
            case _:
                markdown = _cell(el, text)
        return markdown


def _link(el: Tag, text: str) -> str:
    href = el.get("href")
    if not isinstance(href, str) or not text.strip():
        return text
    # "Look!" before a link must not turn it into an image.
    before = " " if text[0].isspace() or _character_before(el) == "!" else ""
    after = " " if text[-1].isspace() else ""
    label = _SPACE.sub(" ", _HEADING_MARK.sub("", text)).strip()
    return f"{before}[{label}]({safe_address(href)}){after}"


def _item(el: Tag, text: str) -> str:
    text = text.strip()
    is_ordered = el.parent is not None and el.parent.name == "ol"
    marker = f"{el.get('value', '1')}. " if is_ordered else "- "
    return marker + _LINE_BREAK.sub("\n" + " " * len(marker), text) + "\n" if text else "\n"


def _code_block(pre: Tag, parent_tags: Collection[str]) -> str:
    code = pre.get_text().strip("\n").rstrip()
    if not code:
        return ""
    if "_inline" in parent_tags:
        mark = "`" * (longest_backticks(code) + 1)
        return f" {mark} {_SPACE.sub(' ', code)} {mark} "
    inner = pre.find("code")
    named = inner.get_attribute_list("class") if isinstance(inner, Tag) else []
    language = str(named[0] or "").removeprefix("language-") if named else ""
    return f"\n\n{fence(code, language=language)}\n\n"


def _cell(el: Tag, text: str) -> str:
    span = _number(el.get("colspan"), default=1, most=1_000)
    content = _SPACE.sub(" ", text).strip().replace("|", "\\|")
    return f" {content} |" + " |" * (min(span, _MAX_COLSPAN) - 1)


def _table(text: str) -> str:
    """Rows with the delimiter row after the first, which GFM requires for a header."""
    caption, bar, rows = text.strip().partition("|")
    first, _, rest = (bar + rows).partition("\n")
    rule = "|" + " --- |" * (len(_BAR.findall(first)) - 1)
    table = f"{first}\n{rule}\n{rest}" if bar else ""
    return "\n\n" + "\n\n".join(filter(None, (caption.strip(), table))) + "\n\n"


def _starts_line(el: NavigableString) -> bool:
    before = el.previous_sibling
    if before is None:
        return el.parent is None or el.parent.name in _BLOCKS
    return isinstance(before, Tag) and before.name in _BLOCKS


def _character_before(el: PageElement) -> str:
    """The last character of the text before an element, anywhere in the tree."""
    for before in el.previous_elements:
        if isinstance(before, NavigableString) and before:
            return before[-1]
    return ""


def _number(value: object, *, default: int, most: int) -> int:
    """Read a number from an attribute; anything else is the default."""
    if (
        isinstance(value, str)
        and value.isascii()
        and value.isdigit()
        and len(value) <= len(str(most))
    ):
        return min(int(value), most)
    return default
