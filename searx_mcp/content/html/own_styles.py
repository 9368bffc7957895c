"""The declarations of elements themselves: `style` attributes, and presentational attributes older than CSS."""

from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.declarations import Value, colour, parse_declarations

MAX_INLINE: Final = 1_000_000
"""Characters in all `style` attributes of a page."""

_BY_ATTRIBUTE: Final = "font[color],[bgcolor],body[text],[background]"
WITH_OWN_STYLE: Final = f"[style],{_BY_ATTRIBUTE}"
_COLOURS: Final = {"bgcolor": "background-color", "color": "color", "text": "color"}


class OwnStyle(NamedTuple):
    """An element's own declarations; those of presentational attributes are weaker than all rules."""

    element: LexborNode
    style: dict[str, Value]
    is_attribute: bool


def own_styles(tree: LexborHTMLParser) -> tuple[list[OwnStyle], bool]:
    """Return the declarations of all elements, and whether some exceeded the limit and were left out."""
    found = [
        OwnStyle(element, _by_attribute(element), is_attribute=True)
        for element in tree.css(_BY_ATTRIBUTE)
    ]
    left = MAX_INLINE
    parsed: dict[str, dict[str, Value]] = {}
    for element in tree.css("[style]"):
        text = element.attributes.get("style") or ""
        left -= len(text)
        if left < 0:
            break
        if text not in parsed:
            parsed[text] = parse_declarations(text)
        if parsed[text]:
            found.append(OwnStyle(element, parsed[text], is_attribute=False))
    return found, left < 0


def _by_attribute(element: LexborNode) -> dict[str, Value]:
    """Return what presentational attributes declare (HTML, section 15.3)."""
    attributes = element.attributes
    style = {}
    for attribute, name in _COLOURS.items():
        text = (attributes.get(attribute) or "").strip().lower()
        for each in (text, f"#{text}"):
            if colour(each) is not None:
                style[name] = Value(each)
                break
    if attributes.get("background"):
        style["background-image"] = Value("url()")
    return style
