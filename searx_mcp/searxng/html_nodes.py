"""What the readers of HTML ask of an element that may be missing."""

from selectolax.lexbor import LexborNode


def text(node: LexborNode | None) -> str:
    """The text of an element and all below it; empty without an element."""
    return node.text() if node is not None else ""


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute; empty without one, or without an element."""
    return (node.attributes.get(name) or "") if node is not None else ""


def labelled(node: LexborNode | None) -> str:
    """The text of a line that begins with its label in a `span`."""
    label = text(node.css_first("span")) if node is not None else ""
    return text(node).strip().removeprefix(label)


def after_colon(words: str) -> str:
    """What follows the label of a line; all of it without a colon."""
    label, colon, value = words.partition(":")
    return value if colon else label
