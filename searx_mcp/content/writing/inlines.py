"""Elements inside of paragraphs: emphasis, links, images, code, formulas, notes, scripts above the line."""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.writing.blocks import Formula
from searx_mcp.content.writing.escaping import block_tex, inline_tex
from searx_mcp.content.writing.inline import (
    CODE,
    EMPHASIS,
    MARKUP,
    STRONG,
    STRUCK,
    Link,
    Part,
)
from searx_mcp.content.writing.reading import Close, Handler, Reading, skip
from searx_mcp.content.writing.targets import target
from searx_mcp.models.request import Images

_IMAGE_LEAD: Final = "image: "
_PIXELS = re.compile(r"([0-9]{1,4})(?:px)?")
_SMALL: Final = 80
"""Pixels of width or height up to which an image is an icon or a portrait."""

_MARK_CHARS: Final = 30
_PERMALINKS: Final = frozenset({
    "¶", "#", "§", "🔗", "⚓", "^", "↑", "↩", "⁋", "☍", "∞", "permalink", "anchor", "link",
    "direct link", "link to this heading", "link to this section", "permalink to this heading",
    "permalink to this headline", "section permalink", "copy link",
})  # fmt: skip
"""Words and signs of links to the very place they stand at."""

_RAISED = re.compile(r"(?=[^0-9+=/\u2212-]*[0-9+=/\u2212-])[\w+=/\u2212., ()-]{1,40}")
"""What means a power: it has a digit or an operator, so that ordinals (1st, 2e) and marks stay."""

_SIDE_BY_SIDE: Final = frozenset({"a", "b", "cite", "em", "i", "small", "span", "strong"})
_NAMED = re.compile(
    r"author|user|name|nick|date|time|ago|posted|score|points|votes|count|badge|label|tag|tab|role|rank"
)
"""In a class: a part of a line that is set apart by its style."""

_ONE_TERM = re.compile(r"[+\u2212-]?\w+(?:[.,]\w+)*")
_LABEL_CHARS: Final = 60
_NO_LABEL = re.compile(r"[^\w.-]+")


def apart(reading: Reading, _node: LexborNode) -> Close:
    """A date or a label, which is a word of its own."""
    reading.seam()
    return Reading.seam


def beside(reading: Reading, node: LexborNode) -> None:
    """An element right behind another one, of which one says that it is a name, a date or a label."""
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
        reading.seam()


def open_formats(formats: int) -> Handler:
    """A handler for an element that gives its text formats."""

    def handler(reading: Reading, _node: LexborNode) -> Close:
        before = reading.formats
        if not before & CODE:
            reading.formats = before | formats

        def close(reading: Reading) -> None:
            reading.formats = before

        return close

    return handler


def open_link(reading: Reading, node: LexborNode) -> Close | None:
    """A link; nested ones, and those that lead nowhere, are their text."""
    beside(reading, node)
    href = node.attributes.get("href")
    if href is None or reading.link is not None:
        return None
    address = reading.targets.resolve(href)
    is_here = href[:1] == "#" or reading.targets.is_here(address)
    is_line = reading.finish_line is not None
    link = Link(address) if address and not (is_here and is_line) else None
    reading.link = link
    parts, start, images = reading.parts, len(reading.parts), len(reading.shown)

    def close(reading: Reading) -> None:
        reading.link = None
        if is_here:
            _drop_permalink(reading, parts, start)
        if link is None:
            return
        if len(reading.shown) > images:
            _note_image_link(reading, link, parts, start)
        if reading.shown and reading.parts is parts and len(parts) > start:
            _drop_repeated_image(parts, start, link)

    return close


def open_image(reading: Reading, node: LexborNode) -> Close:
    """An image as its words, as a link, as itself, or as nothing."""
    attributes = node.attributes
    found = reading.targets.image(node, attributes)
    if found is None:
        _add_words(reading, _words(attributes.get("alt"), attributes), attributes)
        return skip
    url, words = found
    reading.shown.append(url)
    style = reading.style.images
    if reading.formats & CODE or style in {Images.ALT, Images.NONE}:
        _add_words(reading, words, attributes)
    elif style is Images.INLINE:
        shown = words.replace("\\", "\\\\").replace("`", "\\`").replace("<", "\\<")
        reading.add(f"![{shown}]({target(url)})", reading.formats | MARKUP)
    elif reading.link is not None:
        _write_words(reading, words or "image")
    else:
        reading.link = Link(url)
        reading.add(f"image: {words}" if words else "image", reading.formats)
        reading.link = None
    return skip


def line_break(reading: Reading, _node: LexborNode) -> Close:
    """A line of its own, which code and links have none of."""
    reading.line_break()
    return skip


def line_space(reading: Reading, _node: LexborNode) -> Close:
    """A space where what is read has one line."""
    reading.space()
    return skip


def open_quotation(reading: Reading, _node: LexborNode) -> Close:
    """A quotation in a sentence."""
    reading.add('"', reading.formats)
    reading.glue()

    def close(reading: Reading) -> None:
        reading.glue()
        reading.add('"', reading.formats)

    return close


def open_raised(reading: Reading, _node: LexborNode) -> Close:
    """A superscript: `x^2`, but 1st; without the mark, 10 to the power of 5 is 105."""
    return _script(reading, lambda text, before: _raised(text, before, "^"))


def open_lowered(reading: Reading, _node: LexborNode) -> Close:
    """A subscript: H2O, but `10_2`."""
    return _script(
        reading,
        lambda text, before: f"_{text}" if text[0].isdigit() and before.isdigit() else text,
    )


def open_reading_aid(reading: Reading, _node: LexborNode) -> Close:
    """How ruby says that its base is read, in parentheses behind it."""
    reading.glue()
    parts = reading.parts
    reading.add("(", reading.formats)
    reading.glue()
    start = len(parts)

    def close(reading: Reading) -> None:
        reading.glue()
        if reading.parts is parts and len(parts) == start:
            parts.pop()
        else:
            reading.add(")", reading.formats)
        reading.glue()

    return close


def formula(reading: Reading, node: LexborNode) -> Close:
    """A formula, between paragraphs if it stands by itself."""
    tex = _tex(reading, node)
    if node.attributes.get("display") != "block" or reading.finish_line is not None:
        return _inline_formula(reading, tex)
    reading.flush()
    if text := block_tex(tex, is_numbered=reading.is_numbered):
        reading.blocks.append(Formula(text))
    return skip


def line_formula(reading: Reading, node: LexborNode) -> Close:
    """A formula on a line that no block breaks."""
    return _inline_formula(reading, _tex(reading, node))


def reference(reading: Reading, node: LexborNode) -> Close:
    """Where a footnote is referred to."""
    label = label_of(reading, node)
    reading.add(f"[^{label}]", reading.formats & ~CODE | MARKUP)
    return skip


def task(reading: Reading, node: LexborNode) -> Close:
    """The box in front of a task."""
    reading.add("[x]" if "done" in node.attributes else "[ ]", MARKUP)
    reading.space()
    return skip


def label_of(reading: Reading, node: LexborNode) -> str:
    """The label of a footnote: its name, where that can be one, told apart from all others."""
    name = node.attributes.get("name") or ""
    known = reading.labels.get(name)
    if known is not None:
        return known
    wanted = _NO_LABEL.sub("-", clean_line(name, _LABEL_CHARS)).strip("-…") or "note"
    label = wanted if wanted not in reading.taken_labels else f"{wanted}-{len(reading.labels)}"
    while label in reading.taken_labels:
        label += "x"
    reading.taken_labels.add(label)
    reading.labels[name] = label
    return label


def _inline_formula(reading: Reading, tex: str) -> Close:
    if markdown := inline_tex(tex, is_numbered=reading.is_numbered):
        reading.add(markdown, reading.formats & ~CODE | MARKUP)
    return skip


def _tex(reading: Reading, node: LexborNode) -> str:
    tex, hidden = clean_counted(node.text())
    reading.hidden += hidden
    return tex


def _words(alt: str | None, attributes: dict[str, str | None]) -> str:
    """The words of an image that is not listed; nothing if it only counts visitors."""
    sizes = {attributes.get("width"), attributes.get("height")}
    if not alt or sizes & {"0", "1", "0px", "1px"}:
        return ""
    return clean_line(alt, 300).translate({0x5B: "(", 0x5D: ")"})


def _add_words(reading: Reading, words: str, attributes: dict[str, str | None]) -> None:
    """Write the words of an image if they say something; those of an emoji are itself."""
    if not words:
        return
    if not any(map(str.isalnum, words)):
        reading.add(words, reading.formats)
        return
    style = reading.style
    is_wanted = style.keep_image_words or style.images is not Images.ALT
    if (
        is_wanted
        and style.images is not Images.NONE
        and not _is_small(attributes)
        and reading.is_news(words)
    ):
        _write_words(reading, words)


def _is_small(attributes: dict[str, str | None]) -> bool:
    """Whether it is as small as icons and portraits of authors are."""
    sizes = (_PIXELS.fullmatch(attributes.get(name) or "") for name in ("width", "height"))
    return any(size is not None and int(size[1]) <= _SMALL for size in sizes)


def _write_words(reading: Reading, words: str) -> None:
    is_bare = reading.link is not None or reading.formats & CODE
    reading.space()
    reading.add(f"image: {words}" if is_bare else f"[image: {words}]", reading.formats)
    reading.space()


def _drop_permalink(reading: Reading, parts: list[Part], start: int) -> None:
    """Take out a link that only says where it stands."""
    if reading.parts is not parts or not 0 < len(parts) - start <= 2:  # noqa: PLR2004 - a sign and a word
        return
    text = "".join([part.text for part in parts[start:]]).strip()
    if len(text) > _MARK_CHARS:
        return
    words = text.rstrip("\ufe0e\ufe0f").casefold()
    is_sign = reading.finish_line is not None and not any(map(str.isalnum, words))
    if is_sign or words in _PERMALINKS:
        del parts[start:]


def _note_image_link(reading: Reading, link: Link, parts: list[Part], start: int) -> None:
    """List a link that is an image without words."""
    if reading.parts is parts and len(parts) == start and not link.is_written:
        reading.targets.note(link.address, "")


def _drop_repeated_image(parts: list[Part], start: int, link: Link) -> None:
    """Take out the words of an image that the words behind it repeat: in the link, or in its twin."""
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
        parts[at : at + 2] = [Part(lead + after.text.lstrip(" "), after.formats, after.link)]


def _script(reading: Reading, shown: Callable[[str, str], str]) -> Close:
    parts, start = reading.parts, len(reading.parts)

    def close(reading: Reading) -> None:
        if reading.parts is not parts or not 0 < start < len(parts):
            return
        raised = parts[start:]
        first, before = raised[0], parts[start - 1].text[-1]
        if first.text[0] == " " or any(
            part.link or part.formats & (CODE | MARKUP) for part in raised
        ):
            return
        text = shown("".join([part.text for part in raised]), before)
        parts[start:] = [Part(text, first.formats, first.link)]

    return close


def _raised(text: str, before: str, mark: str) -> str:
    if not (before.isalnum() or before in ")]") or _RAISED.fullmatch(text) is None:
        return text
    return f"{mark}{text}" if _ONE_TERM.fullmatch(text) else f"{mark}({text})"


strong: Final = open_formats(STRONG)
emphasis: Final = open_formats(EMPHASIS)
struck: Final = open_formats(STRUCK)
code: Final = open_formats(CODE)
