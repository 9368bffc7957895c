"""Elements that contain blocks or are one: headings, quotes, callouts, figures, code, footnotes, lists."""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_line
from searx_mcp.content.writing.blocks import (
    MAX_LEVEL,
    Block,
    CodeLines,
    Footnote,
    Headline,
    Items,
    Paragraph,
    Quote,
    ThematicBreak,
)
from searx_mcp.content.writing.inline_text import escape
from searx_mcp.content.writing.paragraphs import CODE, STRONG, TextRun
from searx_mcp.content.writing.walker import Close, DomWalker, number, skip

_TITLE_CHARS: Final = 200
_CLOSING_MARKS = re.compile(r"(?:^|(?<= ))#(?=#*$)")
_IMAGE_WORDS = re.compile(r"\[image: ([^\[\]]*+)\]")

_CALLOUTS: Final = {
    "warning": "⚠️", "deprecated": "⚠️", "attention": "⚠️", "tip": "💡", "hint": "💡", "important": "❗",
    "caution": "⛔", "danger": "⛔", "error": "⛔", "success": "✅", "question": "❓", "example": "📝",
    "bug": "🐞",
}  # fmt: skip
_OTHER_CALLOUT: Final = "\u2139\ufe0f"
"""Also the sign of notes."""

_KIND_CHARS: Final = 30

_LANGUAGE = re.compile(r"(?:^|\s)language-([A-Za-z0-9+#_.-]{1,30})(?:\s|$)")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")

_MAX_NUMBER: Final = 999_999_999
"""The largest number of a list item (CommonMark, section 5.2)."""

_PARTS: Final = frozenset({"div", "p", "pre", "table", "ul"})
_BULLETS: Final = frozenset({"•", "◦", "‣", "–", "∗"})  # noqa: RUF001 - the signs themselves
_NEAR: Final = 4
"""Most elements between a list of terms and the definition that contains it."""


def block(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin an element that is a paragraph, or contains some."""
    walker.flush()
    return DomWalker.flush


def rule(walker: DomWalker, _node: LexborNode) -> Close:
    """Add a thematic break; of several in a row, one."""
    walker.flush()
    if walker.blocks and not isinstance(walker.blocks[-1], ThematicBreak):
        walker.blocks.append(ThematicBreak())
    return skip


def heading(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a heading. A nested heading ends it; the rest becomes a separate heading."""
    if walker.finish_line is not None:
        walker.finish_line()
    level = int((node.tag or "h6")[1])
    anchor = clean_line(node.attributes.get("data-anchor") or "", _TITLE_CHARS)

    def finish(parts: list[TextRun]) -> None:
        if level > walker.style.max_heading_level:
            walker.blocks.append(walker.bold_line(parts))
            return
        title = _IMAGE_WORDS.sub(r"\1", "".join([part.text for part in parts]))
        # A heading is already bold.
        plain = [TextRun(part.text, part.formats & ~STRONG, part.link) for part in parts]
        text = _CLOSING_MARKS.sub(r"\#", walker.written(plain))
        walker.blocks.append(Headline(level, text, clean_line(title, _TITLE_CHARS), anchor))

    return walker.open_line(finish)


def summary(walker: DomWalker, node: LexborNode) -> Close:
    """Begin the label of folded content, unless its class hides it while the content is open."""
    if "hide" in (node.attributes.get("class") or ""):
        return skip
    around = node.parent
    if (
        around is not None
        and around.tag != "details"
        and _PARTS & {child.tag for child in node.iter()}
    ):
        # Nothing is folded: gi-docgen uses it for a part of the page.
        return block(walker, node)
    return walker.open_line(lambda parts: walker.blocks.append(walker.bold_line(parts)))


def quote(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a quotation."""
    if walker.level + 1 > MAX_LEVEL:
        return block(walker, node)
    return walker.open_blocks(1, lambda blocks: walker.blocks.append(Quote(blocks)))


def callout(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a callout: one paragraph, or a quote, which has a visible end."""
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
    """Begin a figure with a caption, which is also that of the images in it."""
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
    """Begin the caption of a figure: separate from the text, and marked, so that readers can distinguish it."""
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
    """Begin a footnote, which is written at the end of the page."""
    label = walker.footnotes.label_of(node)

    def finish(blocks: list[Block]) -> None:
        walker.footnotes.blocks.append(Footnote(label, blocks))

    return walker.open_blocks(2, finish)


def code_block(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a block of code."""
    walker.flush()
    if not walker.style.keep_code_blocks:
        return skip
    inner = node.css_first("code")
    classes = (inner.attributes.get("class") if inner is not None else None) or ""
    named = _LANGUAGE.search(classes) or _LANGUAGE.search(node.attributes.get("class") or "")
    language = named[1].lower() if named else ""

    def finish(text: str) -> None:
        if code := _EMPTY_LINES.sub("", text).rstrip():
            walker.blocks.append(CodeLines(language, code))

    return walker.open_code(finish)


def line_code(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin code on a line that no block breaks."""
    walker.text.space()

    def finish(text: str) -> None:
        if line := " ".join(text.split()):
            walker.text.add(line, walker.text.formats | CODE)
            walker.text.space()

    return walker.open_code(finish)


@dataclass(slots=True)
class ListState:
    """A list while it is read.

    Attributes:
        items: its items so far.
        number: of the next item, or `None` in a list without numbers.
        step: 1, or -1 if the numbers go down.
        strays: blocks in the list but in no item.
    """

    items: Items = field(default_factory=Items)
    number: int | None = None
    step: int = 1
    strays: list[Block] = field(default_factory=list)

    def settle(self) -> None:
        """Move strays to where a reader sees them: a list into the item before it, others into their own item."""
        if not self.strays:
            return
        if self.items.items and all(isinstance(block, Items) for block in self.strays):
            self.items.items[-1] += self.strays
        else:
            self.add(list(self.strays))
        self.strays.clear()

    def is_layout(self) -> bool:
        """Whether its items are sections: each begins with a heading, or the only one contains parts of a page."""
        items = self.items.items
        if self.number is not None:
            return False
        if len(items) == 1:
            return any(isinstance(block, Headline | ThematicBreak) for block in items[0])
        return all(isinstance(item[0], Headline) for item in items)

    def add(self, blocks: list[Block], value: int | None = None) -> None:
        """Add an item; an empty one only counts."""
        number = self.number if value is None or self.number is None else value
        if number is not None:
            self.number = min(max(number + self.step, 0), _MAX_NUMBER)
        if len(blocks) > 1 and isinstance(first := blocks[0], Paragraph):
            # Some pages also write the marker that a browser adds.
            is_marker = first.text in _BULLETS or first.text == f"{number}\\."
            blocks = blocks[is_marker:]
        if blocks:
            self.items.items.append(blocks)
            if number is not None:
                self.items.numbers.append(number)


@dataclass(slots=True)
class Terms:
    """A list of terms while it is read.

    Attributes:
        names: of terms that wait for their definitions.
        definitions: of these, without empty ones.
        is_defined: whether there was one, so that another term begins a new entry.
        items: finished terms, if the list is not flat.
    """

    names: list[str] = field(default_factory=list)
    definitions: list[list[Block]] = field(default_factory=list)
    is_defined: bool = False
    items: Items | None = None

    def settle(self, blocks: list[Block]) -> None:
        """Finish the waiting terms.

        Args:
            blocks: receives them if the list is flat.
        """
        if found := self._settled():
            if self.items is None:
                blocks += found
            else:
                self.items.items.append(found)

    def _settled(self) -> list[Block]:
        """Take the waiting terms with their definitions, as `**Term**: definition`."""
        names, definitions = ", ".join(self.names), self.definitions
        self.names, self.definitions, self.is_defined = [], [], False
        if not names:
            return [block for blocks in definitions for block in blocks]
        if not definitions:
            return [Paragraph(names)]
        lead = names if names.endswith(":**") else f"{names}:"
        if len(definitions) > 1:
            return [Paragraph(lead), Items(items=definitions)]
        first, *others = definitions[0]
        if isinstance(first, Paragraph):
            return [Paragraph(f"{lead} {first.text}"), *others]
        return [Paragraph(lead), first, *others]


def open_list(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a list; if it is nested too deep, it becomes the blocks of its items."""
    if walker.level + 2 > MAX_LEVEL:
        return block(walker, node)
    walker.flush()
    listing = ListState()
    if node.tag == "ol":
        attributes = node.attributes
        is_reversed = "reversed" in attributes
        count = sum(child.tag == "li" for child in node.iter()) if is_reversed else 1
        listing.number = number(attributes.get("start"), count)
        listing.step = -1 if is_reversed else 1
    before = walker.blocks, walker.frame
    walker.blocks, walker.frame = listing.strays, listing
    walker.level += 2

    def close(walker: DomWalker) -> None:
        walker.flush()
        listing.settle()
        walker.blocks, walker.frame = before
        walker.level -= 2
        if listing.is_layout():
            walker.blocks += [block for item in listing.items.items for block in item]
        elif listing.items.items:
            walker.blocks.append(listing.items)

    return close


def item(walker: DomWalker, node: LexborNode) -> Close:
    """Begin an item of the list around it, or of an implied list."""
    listing = walker.frame
    if not isinstance(listing, ListState):
        if walker.level + 2 > MAX_LEVEL:
            return block(walker, node)
        return walker.open_blocks(2, lambda blocks: _add_implied(walker.blocks, blocks))
    walker.flush()
    listing.settle()
    value = None
    if listing.number is not None:
        value = number(node.attributes.get("value"), -1)
        value = None if value < 0 else value
    close_blocks = walker.open_blocks(0, lambda blocks: listing.add(blocks, value))

    def close(walker: DomWalker) -> None:
        own = walker.blocks
        close_blocks(walker)
        if not own:
            listing.add([], value)

    return close


def terms(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a list of terms with their definitions; inside a definition, each term is an item."""
    is_nested = walker.level + 2 <= MAX_LEVEL and _is_in_definition(node)
    walker.flush()
    before, own = walker.frame, Terms(items=Items() if is_nested else None)
    walker.frame = own
    walker.level += 2 * is_nested

    def close(walker: DomWalker) -> None:
        walker.flush()
        own.settle(walker.blocks)
        if own.items is not None and own.items.items:
            walker.blocks.append(own.items)
        walker.frame = before
        walker.level -= 2 * is_nested

    return close


def _is_in_definition(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_NEAR):
        if around is None or around.tag in {"dd", "dl"}:
            break
        around = around.parent
    return around is not None and around.tag == "dd"


def term(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a term, in bold."""
    frame = walker.frame
    if isinstance(frame, Terms) and frame.is_defined:
        walker.flush()
        frame.settle(walker.blocks)

    def finish(parts: list[TextRun]) -> None:
        line = walker.bold_line(parts)
        if isinstance(frame, Terms):
            frame.names.append(line.text)
        else:
            walker.blocks.append(line)

    return walker.open_line(finish)


def definition(walker: DomWalker, node: LexborNode) -> Close:
    """Begin the definition of a term."""
    frame = walker.frame
    if not isinstance(frame, Terms) or walker.level + 2 > MAX_LEVEL:
        return block(walker, node)
    frame.is_defined = True
    return walker.open_blocks(2, frame.definitions.append)


def _add_implied(blocks: list[Block], item_blocks: list[Block]) -> None:
    last = blocks[-1] if blocks else None
    if isinstance(last, Items) and last.is_implied:
        last.items.append(item_blocks)
    else:
        blocks.append(Items(items=[item_blocks], is_implied=True))
