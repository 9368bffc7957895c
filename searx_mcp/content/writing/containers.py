"""Elements that hold blocks or are a line: headings, quotes, callouts, figures, footnotes."""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_line
from searx_mcp.content.writing.blocks import (
    MAX_LEVEL,
    Block,
    Headline,
    Note,
    Paragraph,
    Quote,
    Rule,
)
from searx_mcp.content.writing.escaping import escape, escape_lines
from searx_mcp.content.writing.inline import STRONG, Part
from searx_mcp.content.writing.inlines import label_of
from searx_mcp.content.writing.reading import Close, Reading, skip

_TITLE_CHARS: Final = 200
_CLOSING_MARKS = re.compile(r"(?:^|(?<= ))#(?=#*$)")
_IMAGE_WORDS = re.compile(r"\[image: ([^\[\]]*+)\]")

_CALLOUTS: Final = {
    "warning": "⚠️", "deprecated": "⚠️", "attention": "⚠️",
    "note": "\u2139\ufe0f", "info": "\u2139\ufe0f",
    "tip": "💡", "hint": "💡",
    "important": "❗",
    "caution": "⛔", "danger": "⛔", "error": "⛔",
    "success": "✅", "question": "❓", "example": "📝", "bug": "🐞",
}  # fmt: skip
_OTHER_CALLOUT: Final = "\u2139\ufe0f"
_KIND_CHARS: Final = 30


def block(reading: Reading, _node: LexborNode) -> Close:
    """An element that is a paragraph, or holds some."""
    reading.flush()
    return Reading.flush


def rule(reading: Reading, _node: LexborNode) -> Close:
    """A line between two parts; of several in a row, one."""
    reading.flush()
    if reading.blocks and not isinstance(reading.blocks[-1], Rule):
        reading.blocks.append(Rule())
    return skip


def open_line(reading: Reading, finish: Callable[[], None], formats: int = 0) -> Close:
    """Begin what is one line, whatever stands in it.

    Args:
        reading: the walk.
        finish: makes it a block.
        formats: of the whole line.
    """
    reading.flush()
    before = reading.handlers, reading.finish_line, reading.formats
    reading.handlers, reading.finish_line = reading.modes.line, finish
    reading.formats |= formats

    def close(reading: Reading) -> None:
        finish()
        reading.handlers, reading.finish_line, reading.formats = before

    return close


def heading(reading: Reading, node: LexborNode) -> Close:
    """A heading. One inside of another ends that; what is left of it is a heading of its own."""
    if reading.finish_line is not None:
        reading.finish_line()
    level = int((node.tag or "h6")[1])
    anchor = clean_line(node.attributes.get("data-anchor") or "", _TITLE_CHARS)

    def finish() -> None:
        parts = reading.taken()
        if not parts:
            return
        if level > reading.style.max_heading_level:
            reading.blocks.append(bold_line(reading, parts))
            return
        title = _IMAGE_WORDS.sub(r"\1", "".join([part.text for part in parts]))
        # A heading is bold as it is.
        plain = [Part(part.text, part.formats & ~STRONG, part.link) for part in parts]
        text = _CLOSING_MARKS.sub(r"\#", reading.written(plain))
        reading.blocks.append(Headline(level, text, clean_line(title, _TITLE_CHARS), anchor))

    return open_line(reading, finish)


def summary(reading: Reading, _node: LexborNode) -> Close:
    """A line that stands for what is folded behind it."""

    def finish() -> None:
        if parts := reading.taken():
            reading.blocks.append(bold_line(reading, parts))

    return open_line(reading, finish)


def quote(reading: Reading, _node: LexborNode) -> Close:
    """What somebody else said."""
    if reading.level + 1 > MAX_LEVEL:
        return block(reading, _node)
    return open_blocks(reading, 1, lambda blocks: reading.blocks.append(Quote(blocks)))


def callout(reading: Reading, node: LexborNode) -> Close:
    """A labelled block: a paragraph of its own, or a quote whose end is seen."""
    attributes = node.attributes
    kind = clean_line(attributes.get("kind") or "note", _KIND_CHARS)
    title = clean_line(attributes.get("title") or "", _TITLE_CHARS)
    label = f"{_CALLOUTS.get(kind.lower(), _OTHER_CALLOUT)} {escape(kind.upper())}:"
    if title:
        label += f" {escape(title)}"

    def finish(blocks: list[Block]) -> None:
        first = blocks[0]
        if title or not isinstance(first, Paragraph):
            labelled = [Paragraph(label), *blocks]
        else:
            labelled = [Paragraph(f"{label} {first.text}"), *blocks[1:]]
        alone = len(labelled) == 1 or reading.level + 1 > MAX_LEVEL
        reading.blocks += labelled if alone else [Quote(labelled)]

    return open_blocks(reading, 1, finish)


def open_blocks(reading: Reading, levels: int, finish: Callable[[list[Block]], None]) -> Close:
    """Begin what holds blocks of its own.

    Args:
        reading: the walk.
        levels: by which its blocks are deeper.
        finish: is given its blocks, if there are any, once those around it are in force again.
    """
    reading.flush()
    before = reading.blocks, reading.frame
    own: list[Block] = []
    reading.blocks, reading.frame = own, None
    reading.level += levels

    def close(reading: Reading) -> None:
        reading.flush()
        reading.blocks, reading.frame = before
        reading.level -= levels
        if own:
            finish(own)

    return close


def figure(reading: Reading, node: LexborNode) -> Close:
    """What stands apart with a caption, which is also that of the images in it."""
    reading.flush()
    start, images, own = len(reading.blocks), len(reading.shown), reading.blocks
    caption = node.css_first("figcaption")

    def close(reading: Reading) -> None:
        reading.flush()
        urls = reading.shown[images:]
        if not urls or caption is None:
            return
        text = " ".join(caption.text().split())
        reading.targets.caption(urls, text)
        placeholder = f"[image: {text}]"
        for index in range(len(own) - 1, start - 1, -1):
            shown = own[index]
            if isinstance(shown, Paragraph) and shown.text == placeholder:
                del own[index]

    return close


def caption(reading: Reading, _node: LexborNode) -> Close:
    """What is said of a figure: apart from the text, and marked, so that readers can tell it from that."""
    reading.flush()
    if not reading.style.keep_captions:
        return skip

    def finish(blocks: list[Block]) -> None:
        reading.blocks += [
            Paragraph(f"[caption: {each.text}]") if isinstance(each, Paragraph) else each
            for each in blocks
        ]

    return open_blocks(reading, 0, finish)


def note(reading: Reading, node: LexborNode) -> Close:
    """A footnote, which stands at the end of the page."""
    label = label_of(reading, node)

    def finish(blocks: list[Block]) -> None:
        reading.notes.append(Note(label, blocks))

    return open_blocks(reading, 2, finish)


def bold_line(reading: Reading, parts: list[Part]) -> Paragraph:
    """Parts as a bold line, whose links are taken note of."""
    bold = [Part(part.text, part.formats | STRONG, part.link) for part in parts]
    return Paragraph(escape_lines(reading.written(bold)))
