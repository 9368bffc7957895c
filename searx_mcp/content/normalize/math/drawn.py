"""Elements of formulas, which come in three dresses.

MathML itself, the elements such as `mjx-mfrac` with which MathJax draws it, and groups of SVG with
`data-mml-node`.
"""

from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.elements import children

_LAYOUT: Final = frozenset({"g", "svg", "defs", "path", "use", "rect", "title"})
_DRAWN: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "ms", "msup", "msub", "msubsup", "mfrac", "msqrt",
    "mroot", "mover", "munder", "munderover", "mtable", "mtr", "mlabeledtr", "mtd", "mfenced",
    "menclose", "mmultiscripts", "mstyle", "mpadded", "mphantom", "mspace", "merror", "semantics",
    "maction", "none", "mprescripts", "texatom",
})  # fmt: skip
"""Elements that MathJax draws; its others (`mjx-base`, `mjx-box`, …) only lay them out."""

_FIRST_CODE: Final = 0x20
_LAST_CODE: Final = 0x1FFFF


def parts(node: LexborNode) -> list[LexborNode]:
    """The elements in an element that mean something; MathJax's boxes are passed through."""
    found: list[LexborNode] = []
    todo = list(reversed(children(node)))
    while todo:
        child = todo.pop()
        if child.is_element_node:
            if name(child):
                found.append(child)
            else:
                todo.extend(reversed(children(child)))
    return found


def name(node: LexborNode) -> str:
    """The MathML element that an element is or draws; empty if it only lays out."""
    if (drawn := node.attributes.get("data-mml-node")) is not None:
        return drawn.lower()
    tag = (node.tag or "").lower()
    if tag.startswith("mjx-"):
        tag = tag[4:]
        return tag if tag in _DRAWN else ""
    return "" if tag in _LAYOUT else tag


def token(node: LexborNode) -> str:
    """The text of a token; of a drawing in SVG, that of the characters it uses."""
    said = " ".join(node.text().split())
    if said or not node.attributes.get("data-mml-node"):
        return said
    codes = [part.attributes.get("data-c") or "" for part in node.css("[data-c]")]
    return "".join(chr(int(code, 16)) for code in codes if _is_code(code))


def _is_code(code: str) -> bool:
    try:
        return _FIRST_CODE <= int(code, 16) <= _LAST_CODE
    except ValueError:
        return False
