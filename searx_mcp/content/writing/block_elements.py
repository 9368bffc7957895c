"""Elements that hold blocks or are one: headings, quotes, callouts, figures, code, footnotes."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_line
from searx_mcp.content.writing.blocks import (
    MAX_LEVEL,
    Block,
    Code,
    Headline,
    Note,
    Paragraph,
    Quote,
    Rule,
)
from searx_mcp.content.writing.inline_text import escape, escape_lines
from searx_mcp.content.writing.paragraphs import CODE, STRONG, Part
from searx_mcp.content.writing.walker import Close, DomWalker, Handlers, skip

_TITLE_CHARS: Final = 200
_CLOSING_MARKS = re.compile(r"(?:^|(?<= ))#(?=#*$)")
_IMAGE_WORDS = re.compile(r"\[image: ([^\[\]]*+)\]")

_CALLOUTS: Final = {
    "warning": "⚠️", "deprecated": "⚠️", "attention": "⚠️", "tip": "💡", "hint": "💡", "important": "❗",
    "caution": "⛔", "danger": "⛔", "error": "⛔", "success": "✅", "question": "❓", "example": "📝",
    "bug": "🐞",
}  # fmt: skip
_OTHER_CALLOUT: Final = "\u2139\ufe0f"
"""Of notes, too."""

_KIND_CHARS: Final = 30

_LANGUAGE = re.compile(r"(?:^|\s)language-([A-Za-z0-9+#_.-]{1,30})(?:\s|$)")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")


def block(walker: DomWalker, _node: LexborNode) -> Close:
    """An element that is a paragraph, or holds some."""
    walker.flush()
    return DomWalker.flush


def rule(walker: DomWalker, _node: LexborNode) -> Close:
    """A line between two parts; of several in a row, one."""
    walker.flush()
    if walker.blocks and not isinstance(walker.blocks[-1], Rule):
        walker.blocks.append(Rule())
    return skip


def heading(walker: DomWalker, node: LexborNode) -> Close:
    """A heading. One inside of another ends that; what is left of it is a heading of its own."""
    if walker.finish_line is not None:
        walker.finish_line()
    level = int((node.tag or "h6")[1])
    anchor = clean_line(node.attributes.get("data-anchor") or "", _TITLE_CHARS)

    def finish(parts: list[Part]) -> None:
        if level > walker.style.max_heading_level:
            walker.blocks.append(bold_line(walker, parts))
            return
        title = _IMAGE_WORDS.sub(r"\1", "".join([part.text for part in parts]))
        # A heading is bold as it is.
        plain = [Part(part.text, part.formats & ~STRONG, part.link) for part in parts]
        text = _CLOSING_MARKS.sub(r"\#", walker.written(plain))
        walker.blocks.append(Headline(level, text, clean_line(title, _TITLE_CHARS), anchor))

    return walker.open_line(finish)


def summary(walker: DomWalker, _node: LexborNode) -> Close:
    """A line that stands for what is folded behind it."""
    return walker.open_line(lambda parts: walker.blocks.append(bold_line(walker, parts)))


def quote(walker: DomWalker, node: LexborNode) -> Close:
    """The words of somebody else."""
    if walker.level + 1 > MAX_LEVEL:
        return block(walker, node)
    return walker.open_blocks(1, lambda blocks: walker.blocks.append(Quote(blocks)))


def callout(walker: DomWalker, node: LexborNode) -> Close:
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
        alone = len(labelled) == 1 or walker.level + 1 > MAX_LEVEL
        walker.blocks += labelled if alone else [Quote(labelled)]

    return walker.open_blocks(1, finish)


def figure(walker: DomWalker, node: LexborNode) -> Close:
    """Something apart with a caption, which is also that of the images in it."""
    walker.flush()
    start, images, own = len(walker.blocks), len(walker.targets.shown), walker.blocks
    caption = node.css_first("figcaption")

    def close(walker: DomWalker) -> None:
        walker.flush()
        urls = walker.targets.shown[images:]
        if not urls or caption is None:
            return
        text = " ".join(caption.text().split())
        walker.targets.caption(urls, text)
        placeholder = f"[image: {text}]"
        for index in range(len(own) - 1, start - 1, -1):
            shown = own[index]
            if isinstance(shown, Paragraph) and shown.text == placeholder:
                del own[index]

    return close


def caption(walker: DomWalker, _node: LexborNode) -> Close:
    """Words about a figure: apart from the text, and marked, so that readers can tell it from that."""
    walker.flush()
    if not walker.style.keep_captions:
        return skip

    def finish(blocks: list[Block]) -> None:
        walker.blocks += [
            Paragraph(f"[caption: {each.text}]") if isinstance(each, Paragraph) else each
            for each in blocks
        ]

    return walker.open_blocks(0, finish)


def note(walker: DomWalker, node: LexborNode) -> Close:
    """A footnote, which stands at the end of the page."""
    label = walker.footnotes.label_of(node)

    def finish(blocks: list[Block]) -> None:
        walker.footnotes.blocks.append(Note(label, blocks))

    return walker.open_blocks(2, finish)


def bold_line(walker: DomWalker, parts: list[Part]) -> Paragraph:
    """Parts as a bold line, whose links are taken note of."""
    bold = [Part(part.text, part.formats | STRONG, part.link) for part in parts]
    return Paragraph(escape_lines(walker.written(bold)))


def code_block(walker: DomWalker, node: LexborNode) -> Close:
    """Lines of code."""
    walker.flush()
    if not walker.style.keep_code_blocks:
        return skip
    inner = node.css_first("code")
    classes = (inner.attributes.get("class") if inner is not None else None) or ""
    named = _LANGUAGE.search(classes) or _LANGUAGE.search(node.attributes.get("class") or "")
    language = named[1].lower() if named else ""

    def finish(text: str) -> None:
        if code := _EMPTY_LINES.sub("", text).rstrip():
            walker.blocks.append(Code(language, code))

    return walker.open_code(finish)


def line_code(walker: DomWalker, _node: LexborNode) -> Close:
    """Code on a line that no block breaks."""
    walker.text.space()

    def finish(text: str) -> None:
        if line := " ".join(text.split()):
            walker.text.add(line, walker.text.formats | CODE)
            walker.text.space()

    return walker.open_code(finish)


def _code_break(walker: DomWalker, _node: LexborNode) -> Close:
    """A line break in code."""
    if isinstance(walker.frame, list):
        walker.frame.append("\n")
    return skip


def _code_line(walker: DomWalker, _node: LexborNode) -> Close:
    """An element in code that has lines of its own."""
    _end_code_line(walker)
    return _end_code_line


def _end_code_line(walker: DomWalker) -> None:
    lines = walker.frame
    if isinstance(lines, list) and lines and not lines[-1].endswith("\n"):
        lines.append("\n")


LINE_BREAKS_IN_CODE: Final[Handlers] = {
    "br": _code_break,
    **dict.fromkeys(("div", "p", "li", "tr", "ul", "ol", "table", "blockquote"), _code_line),
}
"""What elements mean in code; the text of all others is code as it is."""
