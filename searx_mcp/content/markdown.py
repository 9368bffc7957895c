"""HTML to Markdown, with markdownify.

What is written here and in `content/soup.py` on top of it: code languages, fences that hold, tables
on one line each, and escaping. Markdown that a page smuggles into its text must not become a link or
an image of ours: a host renders an image without being asked.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag
from bs4.exceptions import ParserRejectedMarkup
from markdownify import MarkdownConverter

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.escaping import ESCAPED, escape_line_starts, escape_words, safe_address
from searx_mcp.content.fences import fence, longest_backticks
from searx_mcp.content.soup import BLOCKS, number, prepare
from searx_mcp.errors import ContentError, ErrorCode

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+)"
    r"([A-Za-z0-9+#_.-]+)"
)
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_.-]{1,30}")
_NO_LANGUAGE: Final = frozenset({"default", "none", "text", "plaintext", "notranslate", "source"})
_LANGUAGE_ANCESTORS: Final = 3
"""Sphinx and GitHub name the language on a wrapper of <pre>, up to three levels out."""

_MAX_COLSPAN: Final = 20
"""A span of 1,000, which browsers allow, would make 1 MB of cells into 100 MB of pipes."""

_OWN: Final = frozenset({"a", "img", "li", "pre", "table", "tr", "td", "th"})
_LIBRARY: Final = frozenset({
    "[document]", "article", "b", "blockquote", "br", "caption", "code", "dd", "del", "div", "dl",
    "dt", "em", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "ol", "p", "q",
    "s", "samp", "section", "strong", "ul",
})  # fmt: skip
"""markdownify looks conversions up by tag name, so that <soup> would call its `convert_soup`."""

_LINE_BREAK = re.compile(r"\n(?!\n)")
_SPACE = re.compile(r"\s+")
_HEADING_MARK = re.compile(r"(?m)^#{1,6} ")
_BAR = re.compile(r"(?<!\\)\|")

_FAILURES: Final = (
    RecursionError, ParserRejectedMarkup, ValueError, TypeError, AttributeError, LookupError,
)  # fmt: skip
"""What bs4 and markdownify are known to raise on markup they did not expect."""


def to_markdown(html: str, *, config: ContentConfig) -> str:
    """Convert the main content of a page.

    Args:
        html: markup as `content.html.extract` hands it over: well-formed, without scripts, links
            absolute.
        config: the limits, and whether fenced code stays.

    Returns:
        CommonMark with GFM tables; without images, without raw HTML.

    Raises:
        ContentError: `extraction_failed`; the markup is larger or deeper than allowed, or the
            converter failed on it. The plain text is the way out.
    """
    if len(html.encode("utf-8", "replace")) > config.max_fragment_bytes:
        raise ContentError(
            f"the page is larger than the {config.max_fragment_bytes} bytes converted to Markdown",
            code=ErrorCode.EXTRACTION_FAILED,
        )
    try:
        soup = BeautifulSoup(html, "html.parser")
        if _depth(soup) > config.max_fragment_depth:
            raise ContentError(
                f"the page nests elements deeper than the {config.max_fragment_depth} levels converted",
                code=ErrorCode.EXTRACTION_FAILED,
            )
        prepare(soup)
        converter = _Converter(keep_code_blocks=config.keep_code_blocks)
        return str(converter.convert_soup(soup)).strip()
    except _FAILURES as exc:
        raise ContentError(
            "the page could not be converted to Markdown", code=ErrorCode.EXTRACTION_FAILED
        ) from exc


def _depth(soup: BeautifulSoup) -> int:
    """Elements inside each other at most, without recursion."""
    depths = {id(soup): 0}
    for tag in soup.find_all():
        depths[id(tag)] = depths[id(tag.parent)] + 1
    return max(depths.values())


class _Converter(MarkdownConverter):
    """markdownify with the rules of this module; one per page.

    It walks the tree, calling `get_conv_fn` for each element by name with the element, the Markdown
    of its children, and the names around it with the marks `_inline` (in a heading or a cell) and
    `_noformat` (in code).
    """

    def __init__(self, *, keep_code_blocks: bool) -> None:
        # `wrap` without a width joins the lines of a paragraph, and wraps nothing.
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
            case "img":
                markdown = _image(el)
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
    # "Look!" in front of a link must not make it an image.
    before = " " if text[0].isspace() or _character_before(el) == "!" else ""
    after = " " if text[-1].isspace() else ""
    label = _SPACE.sub(" ", _HEADING_MARK.sub("", text)).strip()
    return f"{before}[{label}]({safe_address(href)}){after}"


def _image(el: Tag) -> str:
    alt = el.get("alt")
    shown = _SPACE.sub(" ", ESCAPED.sub("", alt)).strip() if isinstance(alt, str) else ""
    return f"[image: {shown}]" if shown else ""


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
        longest = longest_backticks(code)
        mark = "`" * (longest + 1)
        return f" {mark} {_SPACE.sub(' ', code)} {mark} "
    return f"\n\n{fence(code, language=_code_language(pre))}\n\n"


def _cell(el: Tag, text: str) -> str:
    span = number(el.get("colspan"), default=1, most=1_000)
    content = _SPACE.sub(" ", text).strip().replace("|", "\\|")
    return f" {content} |" + " |" * (min(span, _MAX_COLSPAN) - 1)


def _table(text: str) -> str:
    """Rows as they came, with the rule under the first, which GFM takes for the head."""
    caption, bar, rows = text.strip().partition("|")
    first, _, rest = (bar + rows).partition("\n")
    rule = "|" + " --- |" * (len(_BAR.findall(first)) - 1)
    table = f"{first}\n{rule}\n{rest}" if bar else ""
    return "\n\n" + "\n\n".join(filter(None, (caption.strip(), table))) + "\n\n"


def _starts_line(el: NavigableString) -> bool:
    before = el.previous_sibling
    if before is None:
        return el.parent is None or el.parent.name in BLOCKS
    return isinstance(before, Tag) and before.name in BLOCKS


def _character_before(el: PageElement) -> str:
    """The last character of the text before an element, wherever in the tree that is."""
    for before in el.previous_elements:
        if isinstance(before, NavigableString) and before:
            return before[-1]
        if isinstance(before, Tag) and before.name == "img":
            return "]"
    return ""


def _code_language(pre: Tag) -> str:
    """The language a highlighter noted on <pre>, on its <code>, or on a wrapper of it."""
    code = pre.find("code")
    around = list(pre.parents)[:_LANGUAGE_ANCESTORS]
    for tag in [pre, *([code] if isinstance(code, Tag) else []), *around]:
        noted = tag.get("data-lang") or tag.get("data-language")
        named = [noted] if isinstance(noted, str) else _LANGUAGE_CLASS.findall(_classes(tag))
        for language in named:
            if _LANGUAGE.fullmatch(language) and language.lower() not in _NO_LANGUAGE:
                return language.lower()
    return ""


def _classes(tag: Tag) -> str:
    value = tag.get("class") or ""
    return value if isinstance(value, str) else " ".join(value)
