"""Elements inside paragraphs: emphasis, links, images, code, formulas, notes, superscripts and subscripts."""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_line
from searx_mcp.content.writing.blocks import Formula
from searx_mcp.content.writing.inline_text import block_tex, inline_tex
from searx_mcp.content.writing.paragraphs import (
    BREAK,
    CODE,
    EMPHASIS,
    MARKUP,
    STRONG,
    STRUCK,
    TextLink,
    TextRun,
)
from searx_mcp.content.writing.targets import target
from searx_mcp.content.writing.walker import Close, DomWalker, Handler, RunningText, skip
from searx_mcp.models.style import Images

_IMAGE_LEAD: Final = "image: "
_PIXELS = re.compile(r"([0-9]{1,4})(?:px)?")
_SMALL: Final = 80
"""Pixels of width or height up to which an image is an icon or an avatar."""

_MARK_CHARS: Final = 30
_PERMALINKS: Final = frozenset({
    "¶", "#", "§", "🔗", "⚓", "^", "↑", "↩", "⁋", "☍", "∞", "permalink", "anchor", "link",
    "direct link", "link to this heading", "link to this section", "permalink to this heading",
    "permalink to this headline", "section permalink", "copy link", "collapse", "show all",
})  # fmt: skip
"""Words and signs of links to their own position, and of links that only trigger scripts."""

_SOURCE: Final = re.compile(r"\[?(?:source|src)\]?", re.IGNORECASE)
_OF_SOURCE = re.compile(r"(?:^|\s)(?:src|srclink)(?:\s|$)")
"""The label of a link from a declaration to its source; the class of it or its line, if it has no brackets."""

_RAISED = re.compile(r"(?=[^0-9+=/\u2212-]*[0-9+=/\u2212-])[\w+=/\u2212., ()-]{1,40}")
"""A superscript that is an exponent: it has a digit or an operator, so that ordinals (1st, 2e) and marks stay."""

_SIDE_BY_SIDE: Final = frozenset({"a", "b", "cite", "em", "i", "small", "span", "strong"})
_NAMED = re.compile(
    r"author|user|name|nick|date|time|ago|posted|score|points|votes|count|badge|label|tag|tab|role|rank"
    r"|classifier|bibblock"
)
"""In a class: a part of a line that styles set apart."""

_ONE_TERM = re.compile(r"[+\u2212-]?\w+(?:[.,]\w+)*")


def apart(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a date or a label, which is a separate word."""
    walker.text.seam()
    return lambda walker: walker.text.seam()


def spaced(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a block on a line that no block breaks."""
    walker.text.space()
    return lambda walker: walker.text.space()


def beside(walker: DomWalker, node: LexborNode) -> None:
    """Separate adjacent elements if one of them is marked as a name, a date or a label."""
    before = node.prev
    if before is None or before.tag not in _SIDE_BY_SIDE:
        return
    own, other = node.attributes, before.attributes
    if node.tag == before.tag == "a":
        is_apart = own.get("href") != other.get("href")
    else:
        names = f"{own.get('class') or ''} {other.get('class') or ''}"
        is_apart = _NAMED.search(names.lower()) is not None
    if is_apart:
        walker.text.seam()


def open_formats(formats: int) -> Handler:
    """Make a handler for an element that gives its text formats."""

    def handler(walker: DomWalker, _node: LexborNode) -> Close:
        text = walker.text
        before = text.formats
        if not before & CODE:
            text.formats = before | formats

        def close(_: DomWalker) -> None:
            text.formats = before

        return close

    return handler


def open_link(walker: DomWalker, node: LexborNode) -> Close | None:
    """Begin a link; nested links, and links without a usable address, become their text."""
    beside(walker, node)
    href = node.attributes.get("href")
    if _leads_to_source(node, is_line=walker.finish_line is not None):
        return skip
    text, shown = walker.text, walker.targets.shown
    if href is None or text.link is not None:
        return None
    address = walker.targets.resolve(href)
    is_here = href[:1] == "#" or walker.targets.is_here(address)
    is_line = walker.finish_line is not None
    # An address of nothing but "#" is that of a button.
    link = (
        TextLink(address) if href.strip(" #!") and address and not (is_here and is_line) else None
    )
    text.link = link
    parts, start, images = text.parts, len(text.parts), len(shown)

    def close(walker: DomWalker) -> None:
        text.link = None
        if text.parts is not parts:
            return
        if is_here:
            _drop_permalink(parts, start, is_line=walker.finish_line is not None)
        if link is None:
            return
        if len(shown) > images and len(parts) == start and not link.is_written:
            # An image without alternative text.
            walker.targets.note(link.address, "")
        if shown and len(parts) > start:
            _drop_repeated_image(parts, start, link)

    return close


def open_image(walker: DomWalker, node: LexborNode) -> Close:
    """Write an image as its alternative text, as a link, as an image, or not at all."""
    attributes = node.attributes
    found = walker.targets.image(node, attributes)
    if found is None:
        _add_words(walker, _words(attributes.get("alt"), attributes), attributes)
        return skip
    url, words = found
    text, style = walker.text, walker.style.images
    if text.formats & CODE or style in {Images.ALT, Images.NONE}:
        _add_words(walker, words, attributes)
    elif style is Images.INLINE:
        shown = words.replace("\\", "\\\\").replace("`", "\\`").replace("<", "\\<")
        text.add(f"![{shown}]({target(url)})", text.formats | MARKUP)
    elif text.link is not None:
        _write_words(text, words or "image")
    else:
        text.link = TextLink(url)
        text.add(f"image: {words}" if words else "image")
        text.link = None
    return skip


def line_break(walker: DomWalker, _node: LexborNode) -> Close:
    """Break the line, except in code and links; a second break ends the paragraph."""
    text = walker.text
    if text.link is not None or text.formats & CODE:
        text.space()
    elif text.parts and text.parts[-1] is BREAK:
        walker.flush()
    elif text.parts:
        text.line_break()
    return skip


def line_space(walker: DomWalker, _node: LexborNode) -> Close:
    """Write a line break as a space where the text has one line."""
    walker.text.space()
    return skip


def open_quotation(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a quotation in a sentence."""
    walker.text.add('"')
    walker.text.glue()

    def close(walker: DomWalker) -> None:
        walker.text.glue()
        walker.text.add('"')

    return close


def open_raised(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a superscript: `x^2`, but 1st; without the mark, 10 to the power of 5 is 105."""
    return _script(walker, _raised)


def open_lowered(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a subscript: H2O, but `10_2`."""
    return _script(
        walker,
        lambda text, before: f"_{text}" if text[0].isdigit() and before.isdigit() else text,
    )


def open_reading_aid(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin the reading of a ruby base, in parentheses after it."""
    text = walker.text
    text.glue()
    parts = text.parts
    text.add("(")
    text.glue()
    start = len(parts)

    def close(_: DomWalker) -> None:
        text.glue()
        if text.parts is parts and len(parts) == start:
            parts.pop()
        else:
            text.add(")")
        text.glue()

    return close


def formula(walker: DomWalker, node: LexborNode) -> Close:
    """Write a formula, between paragraphs if it is a block and no line has begun that blocks do not break."""
    tex = walker.text.clean(node.text())
    if node.attributes.get("display") == "block" and walker.finish_line is None:
        walker.flush()
        if text := block_tex(tex, is_numbered=walker.is_numbered):
            walker.blocks.append(Formula(text))
    elif markdown := inline_tex(tex, is_numbered=walker.is_numbered):
        walker.text.add(markdown, walker.text.formats & ~CODE | MARKUP)
    return skip


def reference(walker: DomWalker, node: LexborNode) -> Close:
    """Write a reference to a footnote."""
    label = walker.footnotes.label_of(node)
    walker.text.add(f"[^{label}]", walker.text.formats & ~CODE | MARKUP)
    return skip


def task(walker: DomWalker, node: LexborNode) -> Close:
    """Write the checkbox of a task."""
    walker.text.add("[x]" if "done" in node.attributes else "[ ]", MARKUP)
    walker.text.space()
    return skip


def _words(alt: str | None, attributes: dict[str, str | None]) -> str:
    """The alternative text of an image that is not listed; empty for a tracking pixel."""
    sizes = {attributes.get("width"), attributes.get("height")}
    if not alt or sizes & {"0", "1", "0px", "1px"}:
        return ""
    return clean_line(alt, 300).translate({0x5B: "(", 0x5D: ")"})


def _add_words(walker: DomWalker, words: str, attributes: dict[str, str | None]) -> None:
    """Write the alternative text of an image if it adds something; that of an emoji is the emoji itself."""
    if not words:
        return
    if not any(map(str.isalnum, words)):
        walker.text.add(words)
        return
    style = walker.style
    is_wanted = style.keep_image_words or style.images is not Images.ALT
    if (
        is_wanted
        and style.images is not Images.NONE
        and not _is_small(attributes)
        and walker.targets.is_news(words)
    ):
        _write_words(walker.text, words)


def _is_small(attributes: dict[str, str | None]) -> bool:
    """Whether it is as small as icons and avatars of authors."""
    sizes = (_PIXELS.fullmatch(attributes.get(name) or "") for name in ("width", "height"))
    return any(size is not None and int(size[1]) <= _SMALL for size in sizes)


def _write_words(text: RunningText, words: str) -> None:
    is_bare = text.link is not None or text.formats & CODE
    text.space()
    text.add(f"image: {words}" if is_bare else f"[image: {words}]")
    text.space()


def _leads_to_source(node: LexborNode, *, is_line: bool) -> bool:
    """Whether a link leads from a declaration to its source, as documentation generators write it."""
    child = node.first_child
    if child is None or (child.next is not None and child.next.is_element_node):
        return False
    text = node.text() if not child.is_text_node else child.text_content or ""
    label = text.strip() if len(text) <= _MARK_CHARS else ""
    if _SOURCE.fullmatch(label) is None:
        return False
    names = [one.attributes.get("class") or "" for one in (node, node.parent) if one is not None]
    return (is_line and label[0] == "[") or any(map(_OF_SOURCE.search, names))


def _drop_permalink(parts: list[TextRun], start: int, *, is_line: bool) -> None:
    """Remove a link to its own position."""
    if not 0 < len(parts) - start <= 2:  # noqa: PLR2004 - a sign and a word
        return
    text = "".join([part.text for part in parts[start:]]).strip()
    if len(text) > _MARK_CHARS:
        return
    words = text.rstrip("\ufe0e\ufe0f").casefold()
    is_sign = is_line and not any(map(str.isalnum, words))
    if is_sign or words in _PERMALINKS:
        del parts[start:]


def _drop_repeated_image(parts: list[TextRun], start: int, link: TextLink) -> None:
    """Remove the alternative text of an image if the words after it repeat it: in the link, or in its twin."""
    at = start
    if start and (twin := parts[start - 1].link) is not None and twin.address == link.address:
        at = start - 1
    image = parts[at]
    text = (
        "".join([part.text for part in parts[max(at + 1, start) :]]).strip().rstrip(".…").casefold()
    )
    words = image.text.strip().casefold()
    if text and words.startswith(_IMAGE_LEAD) and words.removeprefix(_IMAGE_LEAD).startswith(text):
        after = parts[at + 1]
        lead = " " if image.text[0] == " " else ""
        parts[at : at + 2] = [TextRun(lead + after.text.lstrip(" "), after.formats, after.link)]


def _script(walker: DomWalker, shown: Callable[[str, str], str]) -> Close:
    parts, start = walker.text.parts, len(walker.text.parts)

    def close(_: DomWalker) -> None:
        if walker.text.parts is not parts or not 0 < start < len(parts):
            return
        raised = parts[start:]
        first, before = raised[0], parts[start - 1].text[-1]
        if first.text[0] == " " or any(
            part.link or part.formats & (CODE | MARKUP) for part in raised
        ):
            return
        text = shown("".join([part.text for part in raised]), before)
        parts[start:] = [TextRun(text, first.formats, first.link)]

    return close


def _raised(text: str, before: str) -> str:
    if not (before.isalnum() or before in ")]") or _RAISED.fullmatch(text) is None:
        return text
    return f"^{text}" if _ONE_TERM.fullmatch(text) else f"^({text})"


strong: Final = open_formats(STRONG)
emphasis: Final = open_formats(EMPHASIS)
struck: Final = open_formats(STRUCK)
code: Final = open_formats(CODE)
