"""Formulas that stand in the page as elements: KaTeX, MathJax, MathML, and what wikis make of them.

Every one shows a drawing and carries its source beside it, mostly hidden. The source is put into the
element around both, so that whatever hides that element hides the source too: hidden text is never
made visible.
"""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.guards import guard, parse
from searx_mcp.content.normalize.elements import (
    ancestors,
    carry,
    classes,
    empty,
    is_attached,
    is_blank,
    new,
    put_in_place,
)
from searx_mcp.content.normalize.math.mathml import to_tex
from searx_mcp.content.normalize.math.tex import agrees, cleaned
from searx_mcp.content.normalize.names import MATH

FORMULAS: Final = 'math,mjx-container,.katex,script[type^="math/"]'
"""Of these a page with formulas has at least one, unless they are images."""

_STATED: Final = ("data-math", "data-latex", "data-tex", "data-entry", "data-expr", "data-formula")
_STATING: Final = ",".join(f"[{name}]" for name in _STATED)
_FORMULAS: Final = ".katex,.MathJax,mjx-container,math,.temml,.math-rendered"
_DISPLAY: Final = re.compile(r"display|block|equation")
_TEX: Final = "application/x-tex"
_DRAWN: Final = frozenset({
    "mathjax", "mathjax_display", "mathjax_preview", "mathjax_svg", "mathjax_svg_display",
    "mathjax_chtml", "mathjax_mhchem", "mjx-chtml", "mjxc-display", "mathjax_error",
})  # fmt: skip
"""What MathJax 2 puts in front of the script that holds the source."""

_MAX_FORMULAS: Final = 20_000


def standardise_formulas(tree: LexborHTMLParser) -> None:
    """Put the source of each formula into the element that shows it, as its only content."""
    for selector, rewrite in _DIALECTS:
        for node in tree.css(selector)[:_MAX_FORMULAS]:
            if is_attached(node):
                rewrite(tree, node)


def source_of(formula: LexborNode) -> str:
    """The LaTeX of a `math`: what it says of itself if it shows that too, else its structure."""
    annotation = formula.css_first(f'annotation[encoding="{_TEX}"],annotation[encoding="TeX"]')
    notes = formula.css("annotation,annotation-xml")
    said = [annotation.text() if annotation is not None else ""]
    if notes:
        kept = {note.mem_id for note in notes}
        seen = _text_without(formula, kept)
    else:
        seen = formula.text()
    said.append(formula.attributes.get("alttext") or "")
    for text in said:
        if text.strip() and agrees(text, seen):
            return text
    return to_tex(formula)


def _text_without(node: LexborNode, left_out: set[int]) -> str:
    parts = []
    for part in node.traverse(include_text=True):
        parent = part.parent
        if part.is_text_node and (parent is None or parent.mem_id not in left_out):
            parts.append(part.text_content or "")
    return "".join(parts)


def _put(tree: LexborHTMLParser, place: LexborNode, tex: str, *, is_block: bool) -> None:
    """Make the source the only content of an element."""
    tex = cleaned(tex, is_block=is_block)
    if not tex:
        return
    empty(place)
    place.insert_child(_formula(tree, tex, is_block=is_block), move=True)


def _formula(tree: LexborHTMLParser, tex: str, *, is_block: bool) -> LexborNode:
    return new(tree, MATH, tex, **({"display": "block"} if is_block else {}))


def _is_block(formula: LexborNode) -> bool:
    attributes = formula.attributes
    return attributes.get("display") == "block" or attributes.get("mode") == "display"


def _is_done(node: LexborNode) -> bool:
    return (
        any(around.tag == MATH for around in ancestors(node, 2)) or node.css_first(MATH) is not None
    )


def _of_script(tree: LexborHTMLParser, script: LexborNode) -> None:
    """MathJax 2: the script is the source, its drawing stands in front of it."""
    kind = (script.attributes.get("type") or "").lower()
    text = script.text()
    if kind.startswith("math/mml"):
        formula = parse(guard(text[:200_000])).css_first("math")
        text = source_of(formula) if formula is not None else ""
    elif not kind.startswith("math/tex"):
        return
    is_block = "mode=display" in kind.replace(" ", "")
    tex = cleaned(text, is_block=is_block)
    if not tex:
        return
    before = script.prev
    for _ in range(6):
        if before is None:
            break
        node, before = before, before.prev
        if is_blank(node):
            continue
        if not node.is_element_node or not _is_drawing(node):
            break
        node.decompose()
    put_in_place(script, _formula(tree, tex, is_block=is_block))


def _is_drawing(node: LexborNode) -> bool:
    return not _DRAWN.isdisjoint(classes(node))


def _of_wiki(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    """MediaWiki: hidden MathML, and an image with the source as its words."""
    formula, image = wrapper.css_first("math"), wrapper.css_first("img[alt]")
    is_block = (formula is not None and _is_block(formula)) or (
        image is not None and any("display" in word for word in classes(image))
    )
    if image is not None:
        tex = image.attributes.get("alt") or (source_of(formula) if formula is not None else "")
        _put(tree, wrapper, tex, is_block=is_block)
    elif formula is not None:
        _put(tree, formula, source_of(formula), is_block=is_block)


def _of_attribute(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    """The source in an attribute of what holds nothing but the drawing."""
    if (wrapper.tag or "").startswith("mjx-") or wrapper.tag == "math":
        return
    drawing = wrapper.css_first(_FORMULAS)
    attributes = wrapper.attributes
    tex = next(filter(None, (attributes.get(name) for name in _STATED)), "")
    if drawing is None or not tex or len(wrapper.css(".katex,mjx-container")) > 1:
        return
    if any((around.tag or "").startswith("mjx-") for around in ancestors(wrapper, 2)):
        return
    if agrees(tex, wrapper.text()):
        named = f"{attributes.get('class') or ''} {drawing.attributes.get('class') or ''}".lower()
        is_block = _is_block(drawing) or _DISPLAY.search(named) is not None
        _put(tree, wrapper, tex, is_block=is_block)


def _of_katex(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    formula = wrapper.css_first("math")
    if formula is None:
        return
    is_block = "katex-display" in classes(wrapper) or _is_block(formula)
    drawn = wrapper.css_first(".katex-html")
    seen = drawn.text() if drawn is not None else ""
    tex = source_of(formula)
    if not seen.strip():
        # Nothing but the MathML: whatever hides that hides its source.
        _put(tree, formula, tex, is_block=is_block)
    elif agrees(tex, seen):
        _put(tree, wrapper, tex, is_block=is_block)


def _of_mathjax(tree: LexborHTMLParser, container: LexborNode) -> None:
    """MathJax 3 and 4: a drawing in its own elements or in SVG, mostly with MathML beside it."""
    if container.css_first("div,p") is not None:
        return  # never closed: the rest of the page is in it, with what that hides
    formula = container.css_first("math")
    drawn = container.css_first('mjx-math,svg g[data-mml-node="math"]')
    is_block = container.attributes.get("display") in {"true", "block"} or (
        formula is not None and _is_block(formula)
    )
    # Drawings in SVG may have been taken out as such.
    is_seen = (
        container.attributes.get("jax") == "SVG"
        or container.css_first("svg,mjx-math > *") is not None
    )
    if formula is not None:
        _put(tree, container if is_seen else formula, source_of(formula), is_block=is_block)
        return
    if drawn is None:
        return
    stated = drawn.attributes.get("data-latex") or ""
    structure = to_tex(drawn)
    tex = stated if stated and agrees(stated, structure.replace("\\", "")) else structure
    _put(tree, container, tex, is_block=is_block)


def _of_mathml(tree: LexborHTMLParser, formula: LexborNode) -> None:
    if not _is_done(formula):
        _put(tree, formula, source_of(formula), is_block=_is_block(formula))


_DIALECTS: Final[tuple[tuple[str, Callable[[LexborHTMLParser, LexborNode], None]], ...]] = (
    ('script[type^="math/"]', _of_script),
    (".mwe-math-element", _of_wiki),
    (_STATING, _of_attribute),
    (".katex-display", _of_katex),
    (".katex", _of_katex),
    ("mjx-container", _of_mathjax),
    ("math", _of_mathml),
)
"""Elements and how each is read, those around others first."""


def carried(tree: LexborHTMLParser, old: LexborNode, tex: str, *, is_block: bool) -> None:
    """Put a formula in the place of an element that cannot hold it, such as an image."""
    node = _formula(tree, tex, is_block=is_block)
    carry(old, node)
    put_in_place(old, node)
