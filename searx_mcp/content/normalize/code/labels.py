"""What stands around a block of code: its language, buttons, numbers of lines."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.code.languages import is_language_label, language_of_label
from searx_mcp.content.normalize.elements import ancestors, classes, has_text, neighbour, short_text

_COPY = re.compile(
    r"(?:copy|copied!?|copy code|copy to clipboard|copy link|run|run code|wrap|expand|collapse|edit"
    r"|toggle (?:word|line) wrap|ask ai|explain|open in .{1,20}|raw|download|show more|try it)\W*",
    re.IGNORECASE,
)
"""What buttons around code say."""

_LABEL_CHARS: Final = 60
_AROUND: Final = 4
"""Elements around a block that may hold its header; Mintlify and Prism need three."""

_STOP: Final = frozenset({"article", "main", "section", "li", "td", "th", "dd", "blockquote", "p"})
_CONTENT: Final = frozenset({
    "pre", "p", "ul", "ol", "dl", "table", "hr", "br", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption",
})  # fmt: skip
_MOST_AROUND: Final = 200
"""Elements around a block in which another one is looked for; what holds more is no frame."""


def take_labels(block: LexborNode) -> str:
    """Take out the label of the language and the buttons around a block.

    Args:
        block: in its form already, so that looking around it costs little.

    Returns:
        The language that a label has named.
    """
    language = ""
    node = block
    for around in (block, *ancestors(block, _AROUND)):
        if around.mem_id != block.mem_id and (around.tag in _STOP or not _holds_one(around)):
            break
        for forward in (False, True):
            beside = neighbour(node, forward=forward)
            if beside is not None and beside.is_element_node and _is_label(beside):
                language = language or language_of_label(_without_buttons(beside))
                beside.decompose()
        node = around
    return language


def _holds_one(around: LexborNode) -> bool:
    """Whether there is one block of code in a small element."""
    count = 0
    for place, node in enumerate(around.traverse()):
        count += node.tag == "pre"
        if count > 1 or place > _MOST_AROUND:
            return False
    return True


def _is_label(node: LexborNode) -> bool:
    """Whether an element beside code is a button, a list of line numbers or names the language."""
    if node.tag == "button":
        return True
    if node.tag in _CONTENT or node.css_first("pre,code,img,p,h1,h2,h3,h4,table") is not None:
        return False
    text = short_text(node, _LABEL_CHARS)
    if not text:
        return node.css_first("button") is not None and not has_text(node)
    if text.replace(" ", "").isdigit():
        return any("line" in word and "num" in word for word in classes(node))
    said = _without_buttons(node)
    return not said or is_language_label(said)


def _without_buttons(node: LexborNode) -> str:
    """What a header says beside its buttons."""
    words = []
    for part in node.traverse(include_text=True):
        if not part.is_text_node:
            continue
        text = " ".join((part.text_content or "").split())
        is_button = any(around.tag == "button" for around in ancestors(part, 6))
        if text and not is_button and not _COPY.fullmatch(text):
            words.append(text)
    return " ".join(words)


def label_inside(block: LexborNode, root: LexborNode) -> str:
    """The language that stands in a block above its code, as in a header within `pre`."""
    if block.mem_id == root.mem_id:
        return ""
    for part in block.traverse(include_text=True):
        if part.mem_id == root.mem_id:
            break
        if part.is_text_node and (found := language_of_label(part.text_content or "")):
            return found
    return ""
